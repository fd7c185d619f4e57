"""Plain text as paragraphs: what its lines are, headings, and what is no running text.

Lines are parts of wrapped paragraphs, sentences, or paragraphs. Code, formulas, tables and lists of Markdown, page
numbers and running heads are removed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal

from discoprobe.loaders.raw.document import Paragraph, Part, RawDocument, TextWithOffsets, joined
from discoprobe.loaders.raw.markup import LineEndHyphens, clean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from discoprobe.loaders.raw.document import DropCounts, Row, Span
    from discoprobe.loaders.raw.options import ReadOptions

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

TITLE_CHARACTERS: Final = 80
TITLE_WORDS: Final = 12
"""A line by itself that is not longer may be a heading."""
INTRODUCTION_WORDS: Final = 6
"""The same for a line that ends with a colon: it introduces a list."""
PROSE: Final = 2 / 3
"""Share of blocks that end with a sentence from which a short block that does not is a heading."""
INDENT: Final = 2
"""Least number of columns by which the first line of a paragraph is indented."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without white space at its ends, empty if it is blank, and where it begins and ends in the source."""

    start: int
    end: int
    text: str
    page_break: bool  # a form feed is in it or before it
    indent: int  # columns of white space before it


@dataclass(slots=True)
class _Block:
    """Lines that belong together; ``gap``: something was removed before them; ``title``: they are a heading."""

    lines: list[Line]
    gap: bool = False
    title: bool = False


def row_document(
    row: Row, options: ReadOptions, counts: DropCounts, boilerplate: Collection[str] = frozenset()
) -> RawDocument:
    """The document of a row without the lines that are ``boilerplate``; ``counts`` has what is removed."""
    parts = row.parts if row.parts is not None else _parts(row, options, counts, boilerplate)
    hyphens = LineEndHyphens(row.text, options.lang) if row.parts is None else None
    found: list[tuple[Paragraph, int]] = []
    gap = False
    for part in parts:
        gap |= part.gap
        for paragraph in _paragraphs(row, part, hyphens, counts):
            if paragraph is not None:
                found.append((replace(paragraph, gap=True) if gap else paragraph, part.level))
            gap = paragraph is None
    return RawDocument(row.id, tuple(_in_sections(found)), row.place, row.text, row.extracted, row.genre)


def _in_sections(found: Sequence[tuple[Paragraph, int]]) -> Iterator[Paragraph]:
    """Paragraphs with the numbers of their sections if there are marked headings; each comes with its level, else 0.

    A heading with which the text begins, and which stands above all others (``# Title``), begins no section.
    """
    levels = [level for _, level in found]
    has_title = bool(levels and levels[0]) and all(levels[0] < level for level in levels[1:] if level)
    is_divided = sum(map(bool, levels)) > has_title
    section = 0
    for place, (paragraph, level) in enumerate(found):
        section += bool(level) and not (has_title and place == 0)
        yield replace(paragraph, section=section) if is_divided else paragraph


def _paragraphs(row: Row, part: Part, hyphens: LineEndHyphens | None, counts: DropCounts) -> Iterator[Paragraph | None]:
    """A part as a paragraph, in plain text (``hyphens``) without divided words; none if only markup is in it.

    Elsewhere an empty sentence is a gap, given as None, with paragraphs on both sides.
    """
    texts = [TextWithOffsets.of(row.text[start:end], start) for start, end in part.spans]
    if not part.segmented:
        text, _ = joined(texts, "\n")
        if hyphens is not None:
            edits = hyphens.edits(text.text)
            counts.add("line-hyphen", row.place, len(edits))
            text = text.replace(edits)
        text = clean(text, counts, row.place, markup=row.markup)
        if text.text:
            yield Paragraph(text, part.kind, speaker=part.speaker)
        return
    cleaned = [clean(text, counts, row.place, markup=row.markup) for text in texts]
    if hyphens is not None:
        cleaned = [text for text in cleaned if text.text]
    for is_filled, run in groupby(cleaned, lambda text: bool(text.text)):
        sentences = list(run)
        if is_filled:
            text, spans = joined(sentences)
            yield Paragraph(text, part.kind, tuple(spans), speaker=part.speaker)
        else:
            counts.add("empty-segment", row.place, len(sentences))
            yield None


def _parts(row: Row, options: ReadOptions, counts: DropCounts, boilerplate: Collection[str]) -> Iterator[Part]:
    """The paragraphs and headings of plain text."""
    lines = lines_of(row.text)
    removed = {i: "boilerplate" for i, line in enumerate(lines) if line.text in boilerplate}
    blocks = list(_blocks(lines, counts, row.place, removed | markdown_lines(lines)))
    bodies = [block for block in blocks if not block.title]
    kind = options.lines
    if kind == "auto":
        kind = line_kind([[line.text for line in block.lines] for block in bodies])
    _mark_titles(bodies, next((line.start for line in lines if line.text), 0))
    for block in blocks:
        for number, part in enumerate(_parts_of_block(block, kind)):
            yield part._replace(gap=block.gap and not number)


def _parts_of_block(block: _Block, kind: LineKind) -> list[Part]:
    spans = [(line.start, line.end) for line in block.lines]
    if block.title:
        match, start = heading(block.lines[0].text), spans[0][0]
        if match is None:
            return [Part(spans, "heading")]
        return [Part([(start + match.start("title"), start + match.end("title"))], "heading", level=len(match["mark"]))]
    if kind == "wrapped":
        return [Part(spans[start:end]) for start, end in _indented(block.lines)]
    return [Part(spans, segmented=True)] if kind == "sentences" else [Part([span]) for span in spans]


def _blocks(lines: Sequence[Line], counts: DropCounts, place: str, removed: Mapping[int, str]) -> Iterator[_Block]:
    """The blocks of a text without lines that belong to pages; a sentence that a page break interrupts is in one.

    ``removed`` has the reason for which other lines are removed, by their index.
    """
    pages = page_lines(lines)
    block = _Block([])
    for is_between, group in groupby(range(len(lines)), lambda i: i in pages or not (lines[i].text or i in removed)):
        indices = list(group)
        if is_between:
            reasons = [pages[i] for i in indices if i in pages]
            for reason in reasons:
                counts.add(reason, place)
            after = lines[indices[-1] + 1].text if indices[-1] + 1 < len(lines) else ""
            if block.lines and not (reasons and is_interrupted(block.lines[-1].text, after)):
                yield block
                block = _Block([])
            continue
        for i in indices:
            is_title = heading(lines[i].text) is not None
            if block.lines and (i in removed or is_title):
                yield block
                block = _Block([])
            if i in removed:
                counts.add(removed[i], place)
                block.gap = True
            elif is_title:
                yield _Block([lines[i]], gap=block.gap, title=True)
                block = _Block([])
            else:
                block.lines.append(lines[i])
    if block.lines:
        yield block


def _mark_titles(blocks: Sequence[_Block], start: int) -> None:
    """Mark short lines by themselves that end no sentence or introduce a list, where paragraphs end sentences.

    The first line of the text, which begins at ``start``, may be of any length.
    """
    if sum(is_final(block.lines[-1].text) for block in blocks) < PROSE * len(blocks):
        return
    if blocks and blocks[0].lines[0].start == start and len(blocks[0].lines) == 1:
        blocks[0].title = not is_final(blocks[0].lines[0].text)
    for block in blocks:
        line = block.lines[0].text
        words = INTRODUCTION_WORDS if line.endswith(":") else TITLE_WORDS
        short = len(line) <= TITLE_CHARACTERS and len(line.split()) <= words
        block.title |= len(block.lines) == 1 and short and (line.endswith(":") or not is_final(line))


def _indented(lines: Sequence[Line]) -> list[Span]:
    """The paragraphs of a block (first line, end), each beginning with an indented line; the block if none is."""
    first = min(line.indent for line in lines) + INDENT
    begins = [
        i
        for i in range(1, len(lines))
        if lines[i].indent >= first > lines[i - 1].indent and is_final(lines[i - 1].text)
    ]
    return list(zip([0, *begins], [*begins, len(lines)], strict=True))


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
