"""Page numbers and running heads: lines that belong to the pages of a book and not to its text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.raw.clean.lines import is_final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from discoprobe.loaders.raw.clean.lines import Line

PAGE: Final = re.compile(r"[\[({<|*–—-]{0,2}\s*(?:[^\W\d_]{1,6}\.?\s+)?(?P<number>\d{1,4})\s*[\])}>|*–—-]{0,2}")
"""A line with a page number: ``12``, ``- 12 -``, ``[12]``, ``Seite 12``, ``p. 12``."""
DIGITS: Final = re.compile(r"\d+")
SEQUENCE: Final = 3
"""Least number of lines that count up as page numbers do."""
SKIPPED: Final = 3
"""Most pages from one page number to the next (title pages and plates have none)."""
REACH: Final = 2
"""A running head is at most so many lines away from a page number or page break."""
RECURS: Final = 3
"""A running head is found at least so often beside page numbers or page breaks."""


def page_lines(lines: Sequence[Line]) -> dict[int, str]:
    """The page numbers and running heads of a document: index of the line → ``page-number`` or ``running-head``.

    Numbers on lines by themselves are page numbers if they count up, and if one of them interrupts a sentence or is
    next to a form feed; numbers between complete paragraphs are headings of chapters. A running head recurs beside page
    numbers, with the same digits or others.
    """
    filled = [i for i, line in enumerate(lines) if line.text]
    numbers = _counting_up([(i, int(match["number"])) for i in filled if (match := PAGE.fullmatch(lines[i].text))])
    pages = dict.fromkeys(numbers, "page-number") if _are_pages(lines, filled, numbers) else {}
    breaks = [place for place, i in enumerate(filled) if lines[i].page_break or i in pages]
    return pages | dict.fromkeys(_running_heads([(i, lines[i].text) for i in filled], breaks, pages), "running-head")


def is_interrupted(before: str, after: str) -> bool:
    """Whether a sentence continues from one line to another."""
    first = next((letter for letter in after if letter.isalpha()), "")
    return not is_final(before) and (first.islower() or before.endswith(("-", ",")))


def _counting_up(numbers: Sequence[tuple[int, int]]) -> list[int]:
    """The lines of sequences of numbers that count up and are long enough."""
    sequences: list[list[int]] = []
    ending_with: dict[int, list[int]] = {}
    for i, number in numbers:
        before = next((number - step for step in range(1, SKIPPED + 1) if number - step in ending_with), None)
        if before is None:
            sequences.append(sequence := [])
        else:
            sequence = ending_with.pop(before)
        sequence.append(i)
        ending_with[number] = sequence
    return sorted(i for sequence in sequences if len(sequence) >= SEQUENCE for i in sequence)


def _are_pages(lines: Sequence[Line], filled: Sequence[int], numbers: Sequence[int]) -> bool:
    place = {i: n for n, i in enumerate(filled)}
    for i in numbers:
        if lines[i].page_break or (i + 1 < len(lines) and lines[i + 1].page_break):
            return True
        around = filled[place[i] - 1 : place[i] + 2] if place[i] else []
        if len(around) > 2 and is_interrupted(lines[around[0]].text, lines[around[2]].text):  # noqa: PLR2004 (1 + 1 + 1)
            return True
    return False


def _running_heads(filled: Sequence[tuple[int, str]], breaks: Sequence[int], pages: Collection[int]) -> Iterator[int]:
    """Indices of running heads among (index, text) of the lines that are not blank; ``breaks`` are places in that."""
    masked = [DIGITS.sub("0", text).casefold() for _, text in filled]
    beside: defaultdict[str, set[int]] = defaultdict(set)
    for at in breaks:
        for place in range(max(0, at - REACH), min(len(filled), at + REACH + 1)):
            i, text = filled[place]
            if i not in pages and not text[0].islower():
                beside[masked[place]].add(place)
    total = Counter(masked) if beside else Counter()
    for text, places in beside.items():
        if len(places) >= RECURS and len(places) * 2 > total[text] and any(map(str.isalpha, text)):
            yield from (filled[place][0] for place in sorted(places))
