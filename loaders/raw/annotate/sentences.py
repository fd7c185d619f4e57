"""What segmentation and annotation return: sentences of tokens with their positions in the paragraph."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from discoprobe.loaders.raw.document import Paragraph

MISSING: Final = "_"
MAX_WORDS: Final = 512
"""Longer sentences are dropped: they are lists or text without punctuation, and a parser needs memory for the square of
the number of words."""
LONG_SENTENCE: Final = "long-sentence"
UNANNOTATED: Final = "unannotated-paragraph"
"""Reasons for which a sentence, or what the tokeniser cannot read, is dropped."""


@dataclass(frozen=True, slots=True)
class Word:
    """A syntactic word; ``_`` for unknown values. ``head`` is the number of a word, ``0`` for the root."""

    form: str
    lemma: str = MISSING
    upos: str = MISSING
    xpos: str = MISSING
    feats: str = MISSING
    head: str = MISSING
    deprel: str = MISSING


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its span in the paragraph's text, and its words, several for a multiword token."""

    start: int
    end: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """The tokens of a sentence, or the reason for which it is dropped."""

    tokens: tuple[Token, ...]
    dropped: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence of which only the place is known.

    Attributes:
        start: in the paragraph's text.
        end: in the paragraph's text.
        words: number of words with a letter or digit; None if they were not counted.
        dropped: the reason for which it is dropped, or empty.
    """

    start: int
    end: int
    words: int | None = None
    dropped: str = ""


def segments_of(sentences: Sequence[Sentence]) -> list[Segment]:
    """The places of annotated sentences, of which those without tokens are nothing or dropped."""
    return [
        Segment(sentence.tokens[0].start, sentence.tokens[-1].end, _spoken(sentence))
        if sentence.tokens
        else Segment(0, 0, 0, sentence.dropped)
        for sentence in sentences
        if sentence.tokens or sentence.dropped
    ]


def _spoken(sentence: Sentence) -> int:
    return sum(any(map(str.isalnum, word.form)) for token in sentence.tokens for word in token.words)


class Annotator(Protocol):
    """Finds sentences and words in paragraphs, and may annotate them."""

    def segment(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Segment]]:
        """The places of the sentences of each paragraph, in order; adds to the corrections, by kind."""

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, in order; adds to the corrections of sentence boundaries, by kind."""


class Engine(Protocol):
    """Makes an annotator; small enough to be sent to another process."""

    @property
    def identity(self) -> Mapping[str, object]:
        """Everything in the annotator that its result depends on, as JSON values."""

    def load(self) -> Annotator:
        """The annotator, ready to work."""


def versions(*packages: str) -> dict[str, str]:
    """The versions of installed packages, and of those that find sentence boundaries for every engine."""
    return {name: importlib.metadata.version(name) for name in sorted({*packages, "regex", "sentencex"})}
