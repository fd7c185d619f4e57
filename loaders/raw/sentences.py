"""What segmentation and annotation give: sentences of tokens, with their places in the paragraph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from discoprobe.loaders.raw.document import Paragraph

MISSING: Final = "_"
LONGEST: Final = 512
"""A sentence with more words is a list or a text without stops; a parser needs memory for the square of the number."""
TOO_LONG: Final = "long-sentence"
UNREADABLE: Final = "unannotated-paragraph"


@dataclass(frozen=True, slots=True)
class Word:
    """A syntactic word; ``_`` for what is not known. ``head`` is the number of a word, ``0`` for the root."""

    form: str
    lemma: str = MISSING
    upos: str = MISSING
    xpos: str = MISSING
    feats: str = MISSING
    head: str = MISSING
    deprel: str = MISSING


@dataclass(frozen=True, slots=True)
class Token:
    """A token: where it is in the paragraph's text, and its words, several for a multiword token."""

    start: int
    end: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its tokens, or why it was left out."""

    tokens: tuple[Token, ...]
    left_out: str = ""


class Annotator(Protocol):
    """What finds sentences and words in paragraphs, and perhaps annotates them."""

    def annotate(self, paragraphs: Sequence[Paragraph], mends: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, in order; ``mends`` gets how many of their limits were mended, by kind."""


class Engine(Protocol):
    """A recipe of an annotator, small enough to be sent to another process."""

    @property
    def identity(self) -> Mapping[str, object]:
        """Everything in the annotator that its result depends on, as JSON values."""

    def load(self) -> Annotator:
        """The annotator, ready to work."""
