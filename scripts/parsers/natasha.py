"""Russian by natasha (https://github.com/natasha/natasha): slovnet's models, which its wheel holds, and pymorphy3.

``pip install natasha==1.6.0 pymorphy3``; then ``build run --lang ru --silver --parser scripts/parsers/natasha.py``.
"""

import functools
import importlib.metadata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import natasha
import pymorphy3
from razdel import tokenize

from discoprobe.loaders.corpus import Word
from discoprobe.loaders.raw.parsers import problem_of_words

PACKAGES = ("natasha", "slovnet", "navec", "razdel", "pymorphy3", "pymorphy3-dicts-ru")
POS = {"ADJF": "ADJ", "ADJS": "ADJ", "COMP": "ADJ", "INFN": "VERB", "PRTF": "VERB", "PRTS": "VERB", "GRND": "VERB"}
POS |= {"NPRO": "PRON", "ADVB": "ADV", "PREP": "ADP", "NUMR": "NUM", "PRCL": "PART", "PRED": "ADV"}


def describe(lang: str) -> Mapping[str, object]:
    """The versions of the packages; the models are part of ``natasha``."""
    if lang != "ru":
        raise ValueError(f"natasha has Russian models only, none of {lang}")
    return {"software": {name: importlib.metadata.version(name) for name in PACKAGES}}


@functools.cache
def _models() -> Any:
    vectors = natasha.NewsEmbedding()
    return natasha.NewsMorphTagger(vectors), natasha.NewsSyntaxParser(vectors)


@functools.cache
def _dictionary() -> Any:
    return pymorphy3.MorphAnalyzer()


@functools.lru_cache(maxsize=2**16)
def _lemma(form: str, pos: str) -> str:
    """The lemma of the first analysis with the part of speech, else of the first."""
    analyses = _dictionary().parse(form)
    same = [each for each in analyses if POS.get(str(each.tag.POS), str(each.tag.POS)) == pos.replace("PROPN", "NOUN")]
    return str((same or analyses)[0].normal_form)


def parse(_lang: str, sentences: Sequence[str]) -> Iterable[Sequence[Word] | None]:
    """The words of each sentence; None where the heads are no tree."""
    tagger, parser = _models()
    tokens = [list(tokenize(text)) for text in sentences]
    forms = [[token.text for token in of_sentence] for of_sentence in tokens if of_sentence]
    tagged, parsed = iter(tagger.map(forms)), iter(parser.map(forms))  # both in batches
    for text, of_sentence in zip(sentences, tokens, strict=True):
        if not of_sentence:
            yield None
            continue
        words = []
        for token, tags, arc in zip(of_sentence, next(tagged).tokens, next(parsed).tokens, strict=True):
            feats = "|".join(f"{name}={value}" for name, value in sorted((tags.feats or {}).items()))
            words.append(
                Word(
                    token.text,
                    _lemma(token.text, tags.pos),
                    tags.pos,
                    "",
                    feats,
                    int(arc.head_id),
                    arc.rel,
                    token.start,
                    token.stop,
                )
            )
        yield None if problem_of_words(words, text) else words
