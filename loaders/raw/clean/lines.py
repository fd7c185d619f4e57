"""The lines of a text, and whether they are parts of wrapped paragraphs, sentences, or paragraphs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

LineKind = Literal["wrapped", "sentences", "paragraphs"]

_CLOSERS: Final = r"""["'»«›‹“”„’‘)\]}」』）*_]*"""
FINAL: Final = re.compile(rf"[.!?…:;。．！？：；।॥؟۔։።፧]\s*{_CLOSERS}\s*$")
"""The end of a line at which a sentence ends, or a list is announced."""
INNER: Final = re.compile(
    rf"(?:(?<=\w\w\w)[.!?…।؟۔።]{_CLOSERS}\s+[\"«„“”‘»›¿¡(\[–—-]*|[。！？]{_CLOSERS})(?P<next>[^\W\d_])"
)
"""The end of a sentence inside a line, unless a small letter follows; short abbreviations do not count."""
HEADING: Final = re.compile(r"\s*(?P<mark>={1,6}|\#{1,6}(?=\s))\s*(?P<title>[^\s=].*?)\s*(?:(?P=mark)|=+|\#+)?\s*$")
"""A heading in wiki markup or Markdown: ``== Title ==``, also without the signs at the end, ``## Title``."""

MAX_HEADING: Final = 200
"""Characters of the longest line that can be a heading."""
EVIDENCE: Final = 3
"""Least number of lines, not counting the last of each block, that tell what the lines are."""
ENDING: Final = 0.9
"""Least share of them that end a sentence, where lines are sentences or paragraphs.

Articles of Klexikon and of the German Wikipedia with a sentence per line: at least 0.92 in each of 233.
"""
SEVERAL: Final = 0.2
"""Share of them with several sentences above which lines are paragraphs; at most 0.17 in those articles."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a source.

    Attributes:
        start: where ``text`` begins in the source.
        end: where it ends.
        text: the line without white space at its ends; empty for a blank line.
        page_break: whether a form feed is in it or before it.
        indent: columns of white space before it.
    """

    start: int
    end: int
    text: str
    page_break: bool
    indent: int


def lines_of(source: str) -> list[Line]:
    r"""The lines of a text including blank ones; ``\n``, ``\r\n`` and, in a text without ``\n``, ``\r`` end a line."""
    line_end = "\r" if "\r" in source and "\n" not in source else "\n"
    lines = []
    at = 0
    for line in source.split(line_end):
        text = line.strip()
        start = at + len(line) - len(line.lstrip())
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()) if text else 0
        lines.append(Line(start, start + len(text), text, "\f" in line, indent))
        at += len(line) + 1
    return lines


def heading(line: str) -> re.Match[str] | None:
    """The match of a line that is marked as a heading."""
    return HEADING.match(line) if len(line) <= MAX_HEADING else None


def is_final(text: str) -> bool:
    """Whether a sentence ends at the end of a line."""
    return FINAL.search(text[-20:]) is not None


def inner_sentences(text: str) -> list[int]:
    """Where sentences begin inside a line, by punctuation; empty for a line with one sentence."""
    return [match.start("next") for match in INNER.finditer(text) if not match["next"].islower()]


def line_kind(blocks: Sequence[Sequence[str]]) -> LineKind:
    """What the lines of a document are, judged by those that are followed by another line of their block.

    They are parts of wrapped paragraphs unless nearly all of them end a sentence; then each is a sentence, or a
    paragraph if many have several sentences. With too few lines, a block is a paragraph and its lines are parts of it.
    """
    followed = [line for block in blocks for line in block[:-1]]
    if len(followed) < EVIDENCE or sum(map(is_final, followed)) < ENDING * len(followed):
        return "wrapped"
    several = sum(bool(inner_sentences(line)) for line in followed)
    return "paragraphs" if several > SEVERAL * len(followed) else "sentences"
