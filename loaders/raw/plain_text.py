"""Plain text as paragraphs: blocks between blank lines, headings, page numbers and running heads, divided words.

Aligned texts (NTREX, WMT test sets) have a segment per line and, beside them, a file with the document of each line.
Segments count as sentences: the translations of a document are aligned by them. The first segment of a document is its
headline, in all 123 documents of newstest2019.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

import langcodes

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError
from discoprobe.loaders.raw.document import Paragraph, Part, RawDocument, Row, TextWithOffsets
from discoprobe.loaders.raw.files import document_id
from discoprobe.loaders.raw.lines import (
    heading,
    is_final,
    is_interrupted,
    line_kind,
    lines_of,
    markdown_lines,
    page_lines,
)
from discoprobe.loaders.raw.markup import LineEndHyphens, clean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.document import DropCounts
    from discoprobe.loaders.raw.lines import Line, LineKind
    from discoprobe.loaders.raw.options import ReadOptions

TITLE_CHARACTERS: Final = 80
TITLE_WORDS: Final = 12
"""A line by itself that is not longer may be a heading."""
INTRODUCTION_WORDS: Final = 6
"""The same for a line that ends with a colon: it introduces a list."""
PROSE: Final = 2 / 3
"""Share of blocks that end with a sentence from which a short block that does not is a heading."""
INDENT: Final = 2
"""Least number of columns by which the first line of a paragraph is indented."""
IDS: Final = "DOCUMENT_IDS.tsv"
CODE: Final = re.compile(r"[.-]")
MACRO: Final = {"ar": "arb", "fa": "pes", "zh": "cmn"}
"""Languages whose aligned files are named after a language that they include."""


@dataclass(slots=True)
class _Block:
    """Lines that belong together; ``gap``: something was removed before them; ``title``: they are a heading."""

    lines: list[Line]
    gap: bool = False
    title: bool = False


def row_document(
    row: Row, options: ReadOptions, counts: DropCounts, boilerplate: Collection[str] = frozenset()
) -> RawDocument:
    """The document of a row or text file without the lines that are ``boilerplate``; ``counts`` has what is removed.

    Sentences in lists stay as they are, one paragraph for each list.
    """
    if row.parts is not None:
        given = tuple(_given(row, row.parts, counts))
        return RawDocument(row.id, given, row.place, row.text, row.extracted, row.genre)
    lines = lines_of(row.text)
    removed = {i: "boilerplate" for i, line in enumerate(lines) if line.text in boilerplate}
    blocks = list(_blocks(lines, counts, row.place, removed | markdown_lines(lines)))
    bodies = [block for block in blocks if not block.title]
    kind = options.lines
    if kind == "auto":
        kind = line_kind([[line.text for line in block.lines] for block in bodies])
    _mark_titles(bodies, next((line.start for line in lines if line.text), 0))
    reader = _BlockReader(row.text, LineEndHyphens(row.text, options.lang), counts, row.place)
    paragraphs: list[Paragraph] = []
    levels: dict[int, int] = {}
    for block in blocks:
        read = [paragraph for paragraph in reader.paragraphs(block, kind) if paragraph.text]
        if read and block.gap:
            read[0] = replace(read[0], gap=True)
        if read and block.title and (marked := heading(block.lines[0].text)):
            levels[len(paragraphs)] = len(marked["mark"])
        paragraphs += read
    sections = tuple(_in_sections(paragraphs, levels))
    return RawDocument(row.id, sections, row.place, row.text, row.extracted, row.genre)


def _in_sections(paragraphs: Sequence[Paragraph], levels: Mapping[int, int]) -> Iterator[Paragraph]:
    """The paragraphs with the numbers of their sections, where there are headings.

    ``levels`` has the level of each marked heading by the place of its paragraph: 1 for ``# Title``, 2 for ``## Part``.
    A heading with which the text begins, and which stands above all others, is the title and begins no section.
    """
    others = [level for place, level in levels.items() if place]
    has_title = 0 in levels and all(levels[0] < level for level in others)
    section = 0
    for place, paragraph in enumerate(paragraphs):
        section += place in levels and not (has_title and place == 0)
        yield replace(paragraph, section=section) if len(levels) > has_title else paragraph


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


@dataclass(frozen=True, slots=True)
class _BlockReader:
    source: str
    hyphens: LineEndHyphens
    counts: DropCounts
    place: str

    def paragraphs(self, block: _Block, kind: LineKind) -> Iterator[Paragraph]:
        if block.title:
            line = block.lines[0]
            match = heading(line.text)
            start, end = match.span("title") if match else (0, len(line.text))
            yield Paragraph(self._cleaned(line.start + start, line.start + end), "heading")
        elif kind == "wrapped":
            for lines in _indented(block.lines):
                yield self._wrapped(lines)
        else:
            texts = [self._cleaned(line.start, line.end) for line in block.lines]
            filled = [text for text in texts if text.text]
            yield from map(Paragraph, texts) if kind == "paragraphs" else [Paragraph.of_sentences(filled)]

    def _wrapped(self, lines: Sequence[Line]) -> Paragraph:
        """Lines as one paragraph without the lines that were removed between them; divided words are joined."""
        start = lines[0].start
        between = [(line.end, following.start) for line, following in pairwise(lines)]
        removed = [(a - start, b - start, "\n") for a, b in between if self.source[a:b].strip()]
        text = TextWithOffsets.of(self.source[start : lines[-1].end], start).replace(removed)
        hyphens = self.hyphens.edits(text.text)
        self.counts.add("line-hyphen", self.place, len(hyphens))
        return Paragraph(clean(text.replace(hyphens), self.counts, self.place))

    def _cleaned(self, start: int, end: int) -> TextWithOffsets:
        return clean(TextWithOffsets.of(self.source[start:end], start), self.counts, self.place)


def _indented(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """The paragraphs of a block, each beginning with an indented line; the whole block if there are none."""
    first = min(line.indent for line in lines) + INDENT
    begins = [
        i
        for i in range(1, len(lines))
        if lines[i].indent >= first > lines[i - 1].indent and is_final(lines[i - 1].text)
    ]
    for start, end in zip([0, *begins], [*begins, len(lines)], strict=True):
        yield lines[start:end]


def _given(row: Row, parts: Sequence[Part], counts: DropCounts) -> Iterator[Paragraph]:
    """The paragraphs of a row in parts; an empty sentence ends a paragraph and is a gap."""
    for part in parts:
        spans = ((TextWithOffsets.of(row.text[start:end], start)) for start, end in part.spans)
        texts = [clean(text, counts, row.place, markup=row.markup) for text in spans]
        if not part.segmented:
            yield Paragraph(texts[0], part.kind, speaker=part.speaker, gap=part.gap)
            continue
        gap = part.gap
        for filled, run in groupby(texts, key=lambda text: bool(text.text)):
            if filled:
                yield Paragraph.of_sentences(list(run), gap=gap)
            else:
                counts.add("empty-segment", row.place, sum(1 for _ in run))
            gap = not filled


def file_of_language(folder: Path, lang: str) -> Path:
    """The file of a language in a folder of aligned texts, with names as ``newstest2019-ref.deu.txt``.

    Raises:
        DiscoprobeError: there is no such file, or there are several.
    """
    if not lang:
        raise DiscoprobeError(
            f"{folder}: has the same documents in many languages; say which with --lang, or name a file"
        )
    codes = {lang, MACRO.get(lang, lang)}
    with suppress(LookupError):  # a code that has no other form
        codes.add(langcodes.Language.get(lang).to_alpha3())
    paths = sorted(folder.glob("*.txt"))
    files = [path for path in paths if codes & set(CODE.split(path.name.removesuffix(".txt"))[1:])]
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise DiscoprobeError(f"{folder}: one file of language '{lang}' expected, found: {names}; name a file")
    return files[0]


def aligned_rows(source: str, ids: str, name: str) -> list[Row]:
    """The documents of an aligned text, in the order of the file; ``ids`` has the id of the document of each line.

    Raises:
        CorpusFormatError: the numbers of ids and segments differ, or the lines of a document are not together.
    """
    lines, labels = (lines_of(text)[: -1 if text.endswith("\n") else None] for text in (source, ids))
    if len(lines) != len(labels):
        raise CorpusFormatError(f"has {len(lines)} lines, {IDS} beside it has {len(labels)}", path=name)
    rows: dict[str, Row] = {}
    for label, group in groupby(range(len(lines)), lambda number: labels[number].text):
        of_document = list(group)
        if label in rows:
            problem = f"document '{label}' continues here after another one: {IDS} must keep its lines together"
            raise CorpusFormatError(problem, path=name, line=of_document[0] + 1)
        headline, *spans = [(lines[number].start, lines[number].end) for number in of_document]
        parts = (Part([headline], "heading"), Part(spans, segmented=True))
        rows[label] = Row(name, document_id(label), source, parts)
    return list(rows.values())
