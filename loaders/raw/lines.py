"""The lines of a text, and what they are: parts of wrapped paragraphs, sentences, or paragraphs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Form = Literal["wrapped", "sentences", "paragraphs"]

_CLOSERS: Final = r"""["'»«›‹“”„’‘)\]}」』）*_]*"""
FINAL: Final = re.compile(rf"[.!?…:;。．！？：；।॥؟۔։።፧]\s*{_CLOSERS}\s*$")
"""The end of a line at which a sentence ends, or is about to go on in a list."""
INNER: Final = re.compile(
    rf"(?:(?<=\w\w\w)[.!?…।؟۔።]{_CLOSERS}\s+[\"«„“”‘»›¿¡(\[–—-]*|[。！？]{_CLOSERS})(?P<next>[^\W\d_])"
)
"""The end of a sentence inside a line, unless a small letter follows; short abbreviations do not count."""
HEADING: Final = re.compile(r"\s*(?P<mark>={1,6}|\#{1,6}(?=\s))\s*(?P<title>[^\s=].*?)\s*(?:(?P=mark)|=+|\#+)?\s*$")
"""A heading of a wiki or of Markdown: ``== Title ==``, also without the signs at the end, ``## Title``."""

LONGEST_HEADING: Final = 200
EVIDENCE: Final = 3
"""So many lines that are not the last of their block are needed to tell what lines are."""
ENDING: Final = 0.9
"""Share of them that end with a sentence, where lines are sentences or paragraphs.

Articles of Klexikon and of the German Wikipedia with a sentence per line: 0.92 at least in each of 233.
"""
SEVERAL: Final = 0.2
"""Share of them with the end of a sentence inside, from which lines are paragraphs; 0.17 at most in those articles."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a source: where it is, and its characters without white space at the ends.

    ``page_break`` says that a form feed stands in it or before it, ``indent`` by how much it is indented.
    """

    start: int
    end: int
    text: str
    page_break: bool
    indent: int

    @property
    def blank(self) -> bool:
        """Whether nothing is in it."""
        return not self.text


def lines_of(source: str) -> list[Line]:
    r"""The lines of a text, blank ones too; ``\n``, ``\r\n`` and, where there is no other, ``\r`` end a line."""
    end = "\r" if "\r" in source and "\n" not in source else "\n"
    found = []
    at = 0
    for line in source.split(end):
        text = line.strip()
        start = at + len(line) - len(line.lstrip())
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()) if text else 0
        found.append(Line(start, start + len(text), text, "\f" in line, indent))
        at += len(line) + 1
    return found


def heading(line: str) -> re.Match[str] | None:
    """The match of a line that is marked as a heading."""
    return HEADING.match(line) if len(line) <= LONGEST_HEADING else None


def is_final(text: str) -> bool:
    """Whether a line ends where a sentence does."""
    return FINAL.search(text[-20:]) is not None


def has_inner_end(text: str) -> bool:
    """Whether a sentence ends inside a line."""
    return any(not match["next"].islower() for match in INNER.finditer(text))


def form_of_lines(blocks: Sequence[Sequence[str]]) -> Form:
    """What the lines of a document are, by those that are followed by another one in their block.

    They are parts of wrapped paragraphs unless nearly all of them end with a sentence; then each is a sentence, or a
    paragraph if many have several sentences. With too few lines to tell, blocks are paragraphs and lines parts of them.
    """
    followed = [line for block in blocks for line in block[:-1]]
    if len(followed) < EVIDENCE or sum(map(is_final, followed)) < ENDING * len(followed):
        return "wrapped"
    return "paragraphs" if sum(map(has_inner_end, followed)) > SEVERAL * len(followed) else "sentences"
