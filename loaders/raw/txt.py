"""Plain text to paragraphs: blocks between blank lines, headings, page furniture, divided words."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.raw.clean import clean
from discoprobe.loaders.raw.furniture import interrupted, page_furniture
from discoprobe.loaders.raw.hyphens import Divisions
from discoprobe.loaders.raw.lines import form_of_lines, heading, is_final, lines_of
from discoprobe.loaders.raw.tracked import Tracked, joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from discoprobe.loaders.raw.counts import Counts
    from discoprobe.loaders.raw.document import Paragraph
    from discoprobe.loaders.raw.lines import Form, Line
    from discoprobe.loaders.raw.options import ReadOptions

TITLE_CHARACTERS: Final = 80
TITLE_WORDS: Final = 12
"""A line by itself with no more characters and words may be a heading."""
INTRODUCTION_WORDS: Final = 6
"""The same of a line that ends with a colon: what it announces is a list, not a sentence."""
PROSE: Final = 2 / 3
"""Share of blocks that end with a sentence, from which a short one that does not is taken for a heading."""
INDENT: Final = 2
"""Columns by which the first line of a paragraph is indented, at least."""


@dataclass(slots=True)
class Text:
    """Paragraphs of a source, and which of them do not continue the one before."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    gaps: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Block:
    """Lines that belong together, in which others may have been taken out; ``gap``: something is missing before it."""

    lines: list[Line]
    gap: bool = False
    title: bool = False


def read_plain(
    source: str,
    options: ReadOptions,
    counts: Counts,
    place: str,
    boilerplate: Collection[str] = frozenset(),
) -> Text:
    """The paragraphs of a text.

    Args:
        source: its characters, to which the paragraphs' offsets refer.
        options: what lines are, and the language.
        counts: gets what is taken out.
        place: where the text is, for ``counts``.
        boilerplate: lines that are left out, since they recur in other documents.
    """
    blocks = list(_blocks(lines_of(source), counts, place, boilerplate))
    bodies = [block for block in blocks if not block.title]
    form = options.lines
    if form == "auto":
        form = form_of_lines([[line.text for line in block.lines] for block in bodies])
    _mark_titles(bodies)
    found = Text()
    reader = _Reader(source, Divisions(source, options.lang), counts, place)
    for block in blocks:
        paragraphs = [paragraph for paragraph in reader.paragraphs(block, form) if paragraph.text]
        if block.gap and paragraphs:
            found.gaps.add(len(found.paragraphs))
        found.paragraphs += paragraphs
    return found


def _blocks(lines: Sequence[Line], counts: Counts, place: str, recurring: Collection[str]) -> Iterator[_Block]:
    furniture = page_furniture(lines)
    before_furniture = _before_furniture(lines, furniture)
    open_block = _Block([])
    after_furniture = False
    for i, line in enumerate(lines):
        if reason := furniture.get(i):
            counts.add(reason, place)
            after_furniture = True
            continue
        boilerplate = line.text in recurring
        title = heading(line.text) is not None
        if line.blank and (after_furniture or i in before_furniture):
            continue
        goes_on = not after_furniture or not open_block.lines or interrupted(open_block.lines[-1].text, line.text)
        after_furniture = False
        if line.blank or boilerplate or title or not goes_on:
            if open_block.lines:
                yield open_block
                open_block = _Block([])
            if boilerplate:
                counts.add("boilerplate", place)
                open_block.gap = True
            elif title:
                yield _Block([line], gap=open_block.gap, title=True)
                open_block = _Block([])
            elif line.blank:
                continue
            else:
                open_block.lines.append(line)
        else:
            open_block.lines.append(line)
    if open_block.lines:
        yield open_block


def _before_furniture(lines: Sequence[Line], furniture: Collection[int]) -> set[int]:
    """The blank lines after which comes one that belongs to the page: those around it end no paragraph."""
    found: set[int] = set()
    follows = False
    for i in reversed(range(len(lines))):
        if not lines[i].blank:
            follows = i in furniture
        elif follows:
            found.add(i)
    return found


def _mark_titles(blocks: Sequence[_Block]) -> None:
    """Mark short lines by themselves that end no sentence, or announce a list, in a text whose paragraphs do."""
    if sum(is_final(block.lines[-1].text) for block in blocks) < PROSE * len(blocks):
        return
    for block in blocks:
        line = block.lines[0].text
        words = INTRODUCTION_WORDS if line.endswith(":") else TITLE_WORDS
        short = len(line) <= TITLE_CHARACTERS and len(line.split()) <= words
        block.title = len(block.lines) == 1 and short and (line.endswith(":") or not is_final(line))


@dataclass(frozen=True, slots=True)
class _Reader:
    source: str
    divisions: Divisions
    counts: Counts
    place: str

    def paragraphs(self, block: _Block, form: Form) -> Iterator[Paragraph]:
        if block.title:
            yield self._title(block.lines[0])
        elif form == "paragraphs":
            for line in block.lines:
                yield self._cleaned(line.start, line.end).paragraph()
        elif form == "sentences":
            yield self._sentences(block.lines)
        else:
            for lines in _indented(block.lines):
                yield self._wrapped(lines)

    def _title(self, line: Line) -> Paragraph:
        match = heading(line.text)
        start, end = match.span("title") if match else (0, len(line.text))
        return self._cleaned(line.start + start, line.start + end).paragraph("heading")

    def _sentences(self, lines: Sequence[Line]) -> Paragraph:
        cleaned = [self._cleaned(line.start, line.end) for line in lines]
        text, spans = joined([part for part in cleaned if part.text])
        return text.paragraph(sentences=spans)

    def _wrapped(self, lines: Sequence[Line]) -> Paragraph:
        """The lines as one paragraph; furniture between them is left out, divided words are put together."""
        start = lines[0].start
        between = [(line.end, following.start) for line, following in pairwise(lines)]
        furniture = [(a - start, b - start, "\n") for a, b in between if self.source[a:b].strip()]
        text = Tracked(self.source[start : lines[-1].end], ((0, start),)).replace(furniture)
        divided = self.divisions.edits(text.text)
        self.counts.add("line-hyphen", self.place, len(divided))
        return clean(text.replace(divided), self.counts, self.place).paragraph()

    def _cleaned(self, start: int, end: int) -> Tracked:
        return clean(Tracked(self.source[start:end], ((0, start),)), self.counts, self.place)


def _indented(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """The paragraphs of a block whose first lines are indented; the block itself if indentation says nothing."""
    least = min(line.indent for line in lines)
    begins = [
        i
        for i in range(1, len(lines))
        if lines[i].indent >= least + INDENT and lines[i - 1].indent < least + INDENT and is_final(lines[i - 1].text)
    ]
    for start, end in zip([0, *begins], [*begins, len(lines)], strict=True):
        yield lines[start:end]
