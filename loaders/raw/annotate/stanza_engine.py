"""Annotates many paragraphs at once with Stanza, on one thread or the GPU.

For Stanza every paragraph is a document, so that no sentence crosses paragraphs; if the input is already segmented,
every sentence is a document.
"""

import functools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from discoprobe.loaders.annotation_manifest import entries
from discoprobe.loaders.conllu.check import well_formed_feats
from discoprobe.loaders.conllu.write import MISSING, Word
from discoprobe.loaders.corpus import UPOS
from discoprobe.loaders.fetch.stanza_models import StanzaModels, damaged, require_stanza
from discoprobe.loaders.raw.annotate.placed_sentences import (
    LONG_SENTENCE,
    MAX_WORDS,
    UNANNOTATED,
    Sentence,
    Token,
    versions,
)
from discoprobe.loaders.raw.annotate.sentence_boundaries import corrected
from discoprobe.loaders.raw.document import Paragraph

TOKENIZERS: Final = ("tokenize", "mwt")
TAGS: Final = frozenset(UPOS.categories.to_list())
NOT_TOKENISED: Final = (ValueError, AssertionError, IndexError)
"""Errors that Stanza's tokeniser raises for text in which it cannot locate its tokens."""


def _device() -> str:
    import torch  # noqa: PLC0415 (takes seconds)

    return "cuda" if torch.cuda.is_available() else "cpu"


@dataclass(frozen=True, slots=True)
class StanzaEngine:
    """Stanza with certain models of one language."""

    models: StanzaModels
    device: str = field(default_factory=_device)  # ``cuda`` where there is a GPU, else ``cpu``

    @property
    def identity(self) -> Mapping[str, object]:
        """Versions, packages, hashes of the model files, and the device, since a GPU rounds differently."""
        return {
            "engine": "stanza",
            "software": versions("stanza", "torch"),
            "packages": dict(self.models.packages),
            "models": entries(self.models.files),
            "device": self.device,
        }

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, in order, with annotated tokens.

        Raises:
            UnsupportedError: Stanza is not installed.
            DiscoprobeError: a model cannot be loaded.
        """
        inputs = [(paragraph, paragraph.sentences or [(0, len(paragraph.text))]) for paragraph in paragraphs]
        texts = [paragraph.text[start:end] for paragraph, spans in inputs for start, end in spans]
        documents = iter(self._tokenised(texts))
        found = [
            [one for start, _ in spans for one in self._sentences(paragraph, start, next(documents), corrections)]
            for paragraph, spans in inputs
        ]
        words = self._tagged([one for sentences in found for one in sentences if one.tokens])
        return [
            [
                one._replace(tokens=tuple(_with_words(token, paragraph.text, words) for token in one.tokens))
                for one in each
            ]
            for paragraph, each in zip(paragraphs, found, strict=True)
        ]

    def _tokenised(self, texts: Sequence[str]) -> list[Any]:
        """Stanza's documents of texts, with tokens; None for a text that Stanza cannot read."""
        try:
            documents: list[Any] = _pipeline(self).bulk_process(texts, processors=TOKENIZERS)
        except NOT_TOKENISED:
            if len(texts) == 1:
                return [None]
            half = len(texts) // 2
            return [*self._tokenised(texts[:half]), *self._tokenised(texts[half:])]
        return documents

    def _sentences(self, paragraph: Paragraph, at: int, document: Any, corrections: Counter[str]) -> list[Sentence]:
        """The sentences in a tokenised document: a paragraph, or a sentence of the input that begins at an offset."""
        if document is None:
            return [Sentence(0, 0, dropped=UNANNOTATED)]
        tokens = [[_token(token, at) for token in sentence.tokens] for sentence in document.sentences]
        starts = [at]
        if paragraph.sentences is None:
            spans = [(of_sentence[0].start, of_sentence[-1].end) for of_sentence in tokens]
            starts = [start for start, _ in corrected(paragraph.text, self.models.lang, corrections, spans)]
        return [_sentence(of_sentence) for of_sentence in regrouped(tokens, starts) if of_sentence]

    def _tagged(self, sentences: Sequence[Sentence]) -> Iterator[Any]:
        """Stanza's words of sentences, annotated."""
        from stanza.models.common.doc import Document  # noqa: PLC0415 (takes seconds)

        forms = [[word.form for token in sentence.tokens for word in token.words] for sentence in sentences]
        document = Document([[{"id": i, "text": form} for i, form in enumerate(each, 1)] for each in forms])
        if sentences:
            taggers = [name for name, _ in self.models.packages if name not in TOKENIZERS]
            _pipeline(self).process(document, processors=taggers)
        return iter(document.iter_words())


@functools.lru_cache(maxsize=1)
def _pipeline(engine: StanzaEngine) -> Any:
    """Stanza with the models of an engine; the last one stays in memory, so that a process loads it once."""
    require_stanza()
    import stanza  # noqa: PLC0415 (imports torch)
    import torch  # noqa: PLC0415 (takes seconds)

    torch.set_num_threads(1)
    models = engine.models
    try:
        return stanza.Pipeline(
            models.code, dir=str(models.folder), package=None, processors=dict(models.packages), download_method=None,
            device=engine.device, verbose=False, logging_level="CRITICAL",
        )  # fmt: skip
    except MemoryError:
        raise
    except Exception as error:  # unpickling a truncated file, or one that is no model, raises many classes
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        raise damaged(models.folder / models.code, why, models.lang, models.folder) from error


def regrouped(sentences: Sequence[Sequence[Token]], starts: Sequence[int]) -> list[list[Token]]:
    """The tokens of ``sentences``, divided into sentences that begin at the characters ``starts`` instead.

    Dots at the end of one sentence and the beginning of the next (a divided ellipsis) become one token.
    """
    found: list[list[Token]] = [[] for _ in starts]
    for tokens in sentences:
        for i, token in enumerate(tokens):
            sentence = found[max(0, bisect_right(starts, token.start) - 1)]
            if i == 0 and sentence and sentence[-1].end == token.start and _are_dots(sentence[-1], token):
                last = sentence.pop()
                token = Token(last.start, token.end, (Word(last.words[0].form + token.words[0].form),))  # noqa: PLW2901
            sentence.append(token)
    return found


def _are_dots(*tokens: Token) -> bool:
    return not "".join(word.form for token in tokens for word in token.words).strip(".…")


def _token(token: Any, at: int) -> Token:
    return Token(token.start_char + at, token.end_char + at, tuple(Word(word.text) for word in token.words))


def _sentence(tokens: Sequence[Token]) -> Sentence:
    """A sentence of these tokens; it is dropped if it is too long to be annotated."""
    long = sum(len(token.words) for token in tokens) > MAX_WORDS
    return Sentence(tokens[0].start, tokens[-1].end, () if long else tuple(tokens), LONG_SENTENCE if long else "")


def _with_words(token: Token, text: str, words: Iterator[Any]) -> Token:
    """The token with the annotation of the next words of Stanza.

    The form of a single word is taken from the text, since Stanza writes ``<UNK>`` for very long ones.
    """
    forms = [word.form for word in token.words] if token.words[1:] else [text[token.start : token.end]]
    return token._replace(words=tuple(_word(next(words), form) for form in forms))


def _word(word: Any, form: str) -> Word:
    """A word whose cells a CoNLL-U reader accepts, whatever the model predicts."""
    return Word(
        form=_cell(form),
        lemma=_cell(word.lemma),
        upos=word.upos if word.upos in TAGS else MISSING,
        xpos=_cell(word.xpos),
        feats=word.feats if word.feats and well_formed_feats(word.feats) else MISSING,
        head=MISSING if word.head is None or word.deprel is None else str(word.head),
        deprel=_cell(word.deprel),
    )


def _cell(value: str | None) -> str:
    return " ".join((value or "").split()) or MISSING
