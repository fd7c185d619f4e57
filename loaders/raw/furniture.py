"""What belongs to the pages of a book and not to its text: page numbers and running heads."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.raw.lines import is_final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from discoprobe.loaders.raw.lines import Line

PAGE: Final = re.compile(r"[\[({<|*–—-]{0,2}\s*(?:[^\W\d_]{1,6}\.?\s+)?(?P<number>\d{1,4})\s*[\])}>|*–—-]{0,2}")
"""A line with a page number: ``12``, ``- 12 -``, ``[12]``, ``Seite 12``, ``p. 12``."""
DIGITS: Final = re.compile(r"\d+")
SEQUENCE: Final = 3
"""So many numbers must count pages."""
SKIPPED: Final = 3
"""Pages at most between two that have a number (title pages and plates have none)."""
REACH: Final = 2
"""A running head is among so many lines beside a page number or page break."""
RECURS: Final = 3
"""So often a line beside page breaks must recur to be a running head."""


def page_furniture(lines: Sequence[Line]) -> dict[int, str]:
    """The lines of a document that are furniture of pages: index and reason.

    Numbers on lines by themselves are page numbers if they count up, and if one of them interrupts a sentence or stands
    beside a form feed: numbers between complete paragraphs are headings of chapters. A running head recurs beside them,
    its digits aside.
    """
    filled = [i for i, line in enumerate(lines) if not line.blank]
    numbers = _counting([(i, int(match["number"])) for i in filled if (match := PAGE.fullmatch(lines[i].text))])
    found = dict.fromkeys(numbers, "page-number") if _are_pages(lines, filled, numbers) else {}
    edges = {place for place, i in enumerate(filled) if lines[i].page_break or i in found}
    if edges:
        found |= dict.fromkeys(_running_heads(lines, filled, edges, found), "running-head")
    return found


def _counting(numbers: Sequence[tuple[int, int]]) -> list[int]:
    """The lines of the longest stretches of numbers that count up."""
    runs: list[list[int]] = []
    ends_with: dict[int, list[int]] = {}
    for i, number in numbers:
        before = next((number - step for step in range(1, SKIPPED + 1) if number - step in ends_with), None)
        if before is None:
            runs.append(run := [])
        else:
            run = ends_with.pop(before)
        run.append(i)
        ends_with[number] = run
    return sorted(i for run in runs if len(run) >= SEQUENCE for i in run)


def _are_pages(lines: Sequence[Line], filled: Sequence[int], numbers: Iterable[int]) -> bool:
    place = {i: n for n, i in enumerate(filled)}
    for i in numbers:
        if lines[i].page_break or (i + 1 < len(lines) and lines[i + 1].page_break):
            return True
        before, after = place[i] - 1, place[i] + 1
        if before >= 0 and after < len(filled) and interrupted(lines[filled[before]].text, lines[filled[after]].text):
            return True
    return False


def interrupted(before: str, after: str) -> bool:
    """Whether a sentence goes on from one line to another."""
    first = next((letter for letter in after if letter.isalpha()), "")
    return not is_final(before) and (first.islower() or before.endswith(("-", ",")))


def _running_heads(
    lines: Sequence[Line], filled: Sequence[int], edges: set[int], taken: Iterable[int]
) -> Iterable[int]:
    beside = defaultdict(set)
    known = set(taken)
    for edge in sorted(edges):
        for place in range(max(0, edge - REACH), min(len(filled), edge + REACH + 1)):
            if filled[place] not in known and not lines[filled[place]].text[0].islower():
                beside[_masked(lines[filled[place]].text)].add(place)
    total = Counter(_masked(lines[i].text) for i in filled)
    for text, places in beside.items():
        if len(places) >= RECURS and len(places) * 2 > total[text] and any(map(str.isalpha, text)):
            yield from (filled[place] for place in sorted(places))


def _masked(text: str) -> str:
    return DIGITS.sub("0", text).casefold()
