"""Sentences and words by rule, for languages and machines without a model.

Sentences are those of Wikimedia's ``sentencex``: it has rules and abbreviations of its own for the languages in
:data:`OWN_RULES`, and the rules of a related language or general ones for the rest. Words are those of Unicode's word
boundaries (https://www.unicode.org/reports/tr29/#Word_Boundaries), as ``regex`` finds them: punctuation and symbols are
words too, an apostrophe inside a word does not divide it, a hyphen does. They are counted, not annotated.
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import regex
import sentencex

from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.language import language_data
from discoprobe.loaders.raw.boundaries import mended
from discoprobe.loaders.raw.sentences import LONGEST, TOO_LONG, Sentence, Token, Word

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping, Sequence

    from discoprobe.loaders.raw.document import Paragraph, Span

OWN_RULES: Final = (
    *("am", "ar", "bg", "bn", "ca", "da", "de", "el", "en", "es", "fi", "fr", "gu", "hi", "hy", "it", "kk", "kn"),
    *("ml", "mr", "nl", "pa", "pl", "pt", "ru", "sk", "ta", "te", "uk"),
)
"""Languages that sentencex 1.0 has rules for; Japanese and Burmese, which it has too, are written without spaces."""
WITHOUT_SPACES: Final = frozenset(
    ("bo", "dz", "gan", "hak", "hsn", "ja", "km", "lo", "lzh", "my", "nan", "th", "wuu", "yue", "zh")
)
"""Languages written without spaces between words: no rule finds the words, only a dictionary or a model does."""
BOUNDARY: Final = regex.compile(r"\b", regex.WORD | regex.VERSION1)


@dataclass(frozen=True, slots=True)
class RuleEngine:
    """Segmentation by rule in one language."""

    lang: str

    @property
    def identity(self) -> Mapping[str, object]:
        """The libraries whose version decides where sentences and words end."""
        return {
            "engine": "rules",
            "software": {name: importlib.metadata.version(name) for name in ("regex", "sentencex")},
        }

    def load(self) -> RuleSegmenter:
        """The segmenter.

        Raises:
            UnsupportedError: the language is written without spaces.
        """
        if self.lang in WITHOUT_SPACES or not language_data(self.lang).spaces:
            raise UnsupportedError(
                f"'{self.lang}' is written without spaces, and no rule tells its words apart; it needs a Stanza model "
                f"(pip install 'discoprobe[stanza]', --stanza-dir)"
            )
        return RuleSegmenter(self.lang)


class RuleSegmenter:
    """Segments paragraphs."""

    def __init__(self, lang: str) -> None:
        self._lang = lang

    def annotate(self, paragraphs: Sequence[Paragraph], mends: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, in order: those that it came with, else those that the rules find."""
        return [[self._sentence(one.text, span) for span in self._spans(one, mends)] for one in paragraphs]

    def _spans(self, paragraph: Paragraph, mends: Counter[str]) -> Sequence[Span]:
        if paragraph.sentences is None:
            found = sentencex.get_sentence_boundaries(self._lang, paragraph.text)
            limits = [(one["start_index"], one["end_index"]) for one in found]
            return mended(paragraph.text, limits, self._lang, mends)
        spans = paragraph.sentences
        return [span for span in spans if paragraph.text[slice(*span)].strip()]

    def _sentence(self, text: str, span: Span) -> Sentence:
        tokens = tuple(Token(start, end, (Word(text[start:end]),)) for start, end in words(text, *span))
        return Sentence((), TOO_LONG) if len(tokens) > LONGEST else Sentence(tokens)


def words(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Where the words of a part of a text are."""
    end = len(text) if end is None else end
    edges = [start, *(found.start() for found in BOUNDARY.finditer(text, start, end)), end]
    for left, right in pairwise(edges):
        if right > left and not text[left:right].isspace():
            yield left, right
