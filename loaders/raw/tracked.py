"""A text whose characters remember where in the source they come from, through every edit."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.raw.document import Paragraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from discoprobe.loaders.raw.document import Break, Kind, Span

HANGUL_PARTS: Final = range(0x1160, 0x1200)
"""Hangul vowels and final consonants, which compose with what is before them by rule, not by table."""
WORD: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Tracked:
    """A text and its ``breaks``, as in :class:`discoprobe.loaders.raw.document.Paragraph`."""

    text: str
    breaks: tuple[Break, ...] = ((0, 0),)

    def replace(self, edits: Iterable[tuple[int, int, str]]) -> Tracked:
        """The text with spans replaced: (start, end, new text), in order and without overlap.

        Each new character stands for the whole of the span it replaces.
        """
        old = _Map(self.breaks)
        parts: list[str] = []
        breaks: list[Break] = []
        at = new = 0
        for start, end, text in edits:
            breaks += old.inside(at, start, new)
            parts += (self.text[at:start], text)
            new += start - at
            breaks += _edge(new, old.end(start), old.begin(start))
            for i in range(1, len(text)):
                breaks += _edge(new + i, old.end(end), old.begin(start))
            new += len(text)
            breaks += _edge(new, old.end(end), old.begin(end)) if text else _edge(new, old.end(start), old.begin(end))
            at = end
        if not parts:
            return self
        breaks += old.inside(at, len(self.text) + 1, new)
        parts.append(self.text[at:])
        return Tracked("".join(parts), _simplified([(0, old.begin(0)), *breaks]))

    def sub(self, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str]) -> tuple[Tracked, int]:
        """The text with every match replaced, and how many there were."""
        found = [(*match.span(), by if isinstance(by, str) else by(match)) for match in pattern.finditer(self.text)]
        return self.replace(found), len(found)

    def cut(self, start: int, end: int) -> Tracked:
        """The part from ``start`` to ``end``."""
        old = _Map(self.breaks)
        breaks = [(0, old.begin(start)), *old.inside(start, end, 0)]
        if end > start:
            breaks.append((end - start, old.end(end)))
        return Tracked(self.text[start:end], _simplified(breaks))

    def stripped(self) -> Tracked:
        """The text without white space at both ends."""
        end = len(self.text.rstrip())
        start = len(self.text) - len(self.text.lstrip())
        return self if (start, end) == (0, len(self.text)) else self.cut(min(start, end), end)

    def composed(self) -> tuple[Tracked, int]:
        """The text in NFC, and how many places were not."""
        if unicodedata.is_normalized("NFC", self.text):
            return self, 0
        edits = [
            (start, end, new)
            for word in WORD.finditer(self.text)
            if not unicodedata.is_normalized("NFC", word[0])
            for start, end in _clusters(word[0], word.start())
            if (new := unicodedata.normalize("NFC", self.text[start:end])) != self.text[start:end]
        ]
        return self.replace(edits), len(edits)

    def paragraph(self, kind: Kind = "text", sentences: Sequence[Span] | None = None) -> Paragraph:
        """As a paragraph of a document."""
        return Paragraph(self.text, self.breaks, kind, None if sentences is None else tuple(sentences))


def joined(parts: Sequence[Tracked], between: str = " ") -> tuple[Tracked, list[Span]]:
    """Texts one after the other, and the span of each; ``between`` is whatever stands between them in the source."""
    breaks: list[Break] = []
    spans: list[Span] = []
    at = 0
    for part in parts:
        if spans:
            at += len(between)
        breaks += [(at + position, source) for position, source in part.breaks]
        spans.append((at, at + len(part.text)))
        at += len(part.text)
    return Tracked(between.join(part.text for part in parts), tuple(breaks) or ((0, 0),)), spans


class _Map:
    """From positions of a text to positions of its source; as a paragraph's, but quick for many positions."""

    def __init__(self, breaks: Sequence[Break]) -> None:
        self.breaks = breaks
        self.positions = [position for position, _ in breaks]

    def begin(self, position: int) -> int:
        at = self.breaks[bisect_right(self.positions, position) - 1]
        return at[1] + position - at[0]

    def end(self, position: int) -> int:
        i = bisect_left(self.positions, position)
        if i == len(self.breaks) or self.positions[i] > position:
            i -= 1
        at = self.breaks[max(i, 0)]
        return at[1] + position - at[0]

    def inside(self, start: int, end: int, new: int) -> Iterator[Break]:
        """The breaks strictly between two positions, moved so that ``start`` comes to ``new``."""
        for i in range(bisect_right(self.positions, start), bisect_left(self.positions, end)):
            yield self.positions[i] - start + new, self.breaks[i][1]


def _edge(position: int, end: int, begin: int) -> list[Break]:
    """The breaks at a position before which the source ends at ``end``, and after which it goes on at ``begin``."""
    return [(position, end)] if end == begin else [(position, end), (position, begin)]


def _simplified(breaks: Iterable[Break]) -> tuple[Break, ...]:
    """The same map with no break that says what the one before it says."""
    kept: list[Break] = []
    for position, group in groupby(breaks, key=itemgetter(0)):
        first, *others = group
        last = others[-1] if others else first
        if position == 0:
            kept.append(last)
        elif last != first:
            kept += (first, last)
        elif first[1] - position != kept[-1][1] - kept[-1][0]:
            kept.append(first)
    return tuple(kept)


def _clusters(word: str, offset: int) -> Iterator[Span]:
    """The spans of a word that can be composed one by one: a character and those that may compose with it."""
    starts = [i for i, letter in enumerate(word) if not i or not (unicodedata.combining(letter) or _joins(letter))]
    for start, end in pairwise([*starts, len(word)]):
        yield offset + start, offset + end


def _joins(letter: str) -> bool:
    return ord(letter) in HANGUL_PARTS or letter in _second_parts()


@cache
def _second_parts() -> frozenset[str]:
    """The characters that stand second in a canonical decomposition (Unicode Standard Annex 15)."""
    found = set()
    for code in range(0xC0, 0x30000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):  # noqa: PLR2004 - a pair
            found.add(chr(int(parts[1], 16)))
    return frozenset(found)
