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
from discoprobe.loaders.raw.document import Paragraph, RawDocument, TextWithOffsets
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
    from discoprobe.loaders.raw.tables import Row

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
    row: Row, doc_id: str, options: ReadOptions, counts: DropCounts, boilerplate: Collection[str] = frozenset()
) -> RawDocument:
    """The document of a row or text file without the lines that are ``boilerplate``; ``counts`` has what is removed.

    Sentences in lists stay as they are, one paragraph for each list.
    """
    if row.text is None:
        return _segmented(row, doc_id, counts)
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
    return RawDocument(doc_id, sections, row.place, row.text, row.extracted, row.genre)


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
    before_page_line = _blank_before(lines, pages)
    block = _Block([])
    after_page_line = False
    for i, line in enumerate(lines):
        if reason := pages.get(i):
            counts.add(reason, place)
            after_page_line = True
            continue
        if not line.text and (after_page_line or i in before_page_line):
            continue
        interrupted = not after_page_line or not block.lines or is_interrupted(block.lines[-1].text, line.text)
        after_page_line = False
        is_title = heading(line.text) is not None
        if block.lines and (not line.text or i in removed or is_title or not interrupted):
            yield block
            block = _Block([])
        if i in removed:
            counts.add(removed[i], place)
            block.gap = True
        elif is_title:
            yield _Block([line], gap=block.gap, title=True)
            block = _Block([])
        elif line.text:
            block.lines.append(line)
    if block.lines:
        yield block


def _blank_before(lines: Sequence[Line], pages: Collection[int]) -> set[int]:
    """The blank lines that are followed by a line of ``pages``: they do not end a paragraph."""
    blank: set[int] = set()
    follows = False
    for i in reversed(range(len(lines))):
        if lines[i].text:
            follows = i in pages
        elif follows:
            blank.add(i)
    return blank


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


def _segmented(row: Row, doc_id: str, counts: DropCounts) -> RawDocument:
    """The document of a row with lists of sentences; an empty sentence ends a paragraph and is a gap."""
    lists = row.sentences or []
    source = "\n\n".join("\n".join(sentences) for sentences in lists)
    paragraphs: list[Paragraph] = []
    gap = False
    at = 0
    for sentences in lists:
        texts = []
        for sentence in sentences:
            texts.append(clean(TextWithOffsets.of(sentence, at), counts, row.place))
            at += len(sentence) + 1
        at += 1 if sentences else 2
        for filled, run in groupby(texts, key=lambda text: bool(text.text)):
            if filled:
                paragraphs.append(replace(Paragraph.of_sentences(list(run)), gap=gap))
            else:
                counts.add("empty-segment", row.place, sum(1 for _ in run))
            gap = not filled
    return RawDocument(doc_id, tuple(paragraphs), row.place, source, extracted=True, genre=row.genre)


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


def read_aligned(source: str, ids: str, name: str, counts: DropCounts) -> list[RawDocument]:
    """The documents of an aligned text, in the order of the file; ``ids`` has the id of the document of each line.

    Raises:
        CorpusFormatError: the numbers of ids and segments differ, or the lines of a document are not together.
    """
    lines, names = _complete(source), [line.text for line in _complete(ids)]
    if len(lines) != len(names):
        raise CorpusFormatError(f"has {len(lines)} lines, {IDS} beside it has {len(names)}", path=name)
    documents: dict[str, RawDocument] = {}
    for label, group in groupby(enumerate(lines), key=lambda entry: names[entry[0]]):
        rows = list(group)
        if label in documents:
            problem = f"document '{label}' continues here after another one: {IDS} must keep its lines together"
            raise CorpusFormatError(problem, path=name, line=rows[0][0] + 1)
        documents[label] = _aligned(source, [line for _, line in rows], document_id(label), name, counts)
    return list(documents.values())


def _complete(text: str) -> list[Line]:
    """The lines of a text, without the empty one after a final line end."""
    lines = lines_of(text)
    return lines[:-1] if text.endswith("\n") else lines


def _aligned(source: str, lines: Sequence[Line], doc_id: str, name: str, counts: DropCounts) -> RawDocument:
    """A document: its first segment is the headline, and an empty segment ends a paragraph."""
    cleaned = [clean(TextWithOffsets.of(source[line.start : line.end], line.start), counts, name) for line in lines]
    counts.add("empty-segment", name, sum(not text.text for text in cleaned))
    groups = [list(group) for filled, group in groupby(cleaned, key=lambda text: bool(text.text)) if filled]
    headline = [Paragraph(groups[0].pop(0), "heading")] if groups else []
    paragraphs = [*headline, *(Paragraph.of_sentences(sentences) for sentences in groups if sentences)]
    return RawDocument(doc_id, tuple(replace(paragraph, gap=True) for paragraph in paragraphs), name, source)
