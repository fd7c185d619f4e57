"""The lines of a text: what they are parts of, and which are no running text.

Lines are parts of wrapped paragraphs, sentences, or paragraphs. Code, formulas, tables and lists of Markdown, page
numbers and running heads are removed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

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

FENCE: Final = re.compile(r"(?P<fence>`{3,}|~{3,}|\$\$|\\\[)")
CLOSING: Final = {"$$": "$$", "\\[": "\\]"}
"""What ends a block that another sign opens."""
MARKDOWN_HEADING: Final = re.compile(r"#{1,6}\s+\S")
ROW: Final = re.compile(r"\|.*\||\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?$")
"""A row of a table, or the line under its head."""
ITEM: Final = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+\S")
FORMULA: Final = re.compile(r"\$[^$]+\$[.,;]?$|\\\(.+\\\)[.,;]?$|\\begin\{")

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


@dataclass(frozen=True, slots=True)
class Line:
    """A line without white space at its ends, empty if it is blank, and where it begins and ends in the source."""

    start: int
    end: int
    text: str
    page_break: bool  # a form feed is in it or before it
    indent: int  # columns of white space before it


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


def markdown_lines(lines: Sequence[Line]) -> dict[int, str]:
    """The lines of Markdown to remove: index of the line → ``code``, ``formula``, ``table`` or ``list``.

    Items are a list only in a text that has headings, tables or blocks of code as Markdown writes them, since a turn of
    a dialogue begins like an item: there, if several follow each other, or if no sentence ends at the end of one.
    """
    reasons = dict(_fenced(lines))
    for reason, pattern in (("table", ROW), ("formula", FORMULA)):
        reasons |= {i: reason for i, line in enumerate(lines) if i not in reasons and pattern.match(line.text)}
    if reasons or any(MARKDOWN_HEADING.match(line.text) for line in lines):
        reasons |= dict.fromkeys(_items(lines), "list")
    return reasons


def _fenced(lines: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """The lines from each fence to the one that closes it; a fence that nothing closes is text."""
    i = 0
    while i < len(lines):
        opening = FENCE.match(lines[i].text)
        end = _closing(lines, i, opening["fence"]) if opening else None
        if opening and end is not None:
            kind = "formula" if opening["fence"] in CLOSING else "code"
            yield from ((at, kind) for at in range(i, end + 1))
            i = end
        i += 1


def _closing(lines: Sequence[Line], start: int, fence: str) -> int | None:
    closing = CLOSING.get(fence, fence)
    if fence in CLOSING and closing in lines[start].text[len(fence) :]:
        return start
    return next((at for at in range(start + 1, len(lines)) if closing in lines[at].text), None)


def _items(lines: Sequence[Line]) -> Iterator[int]:
    """The items of lists, with the indented lines that continue them."""
    marked = [ITEM.match(line.text) is not None for line in lines]
    inside = False
    for i, line in enumerate(lines):
        beside = (i > 0 and marked[i - 1]) or (i + 1 < len(lines) and marked[i + 1]) or inside
        inside = (marked[i] and (beside or not is_final(line.text))) or (inside and bool(line.text) and line.indent > 0)
        if inside:
            yield i


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
    """Whether a number is next to a form feed, or between two halves of a sentence."""
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
