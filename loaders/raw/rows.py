"""Rows of tables to documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.loaders.raw.clean import clean
from discoprobe.loaders.raw.document import RawDocument
from discoprobe.loaders.raw.tracked import Tracked, joined
from discoprobe.loaders.raw.txt import read_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.loaders.raw.counts import Counts
    from discoprobe.loaders.raw.document import Paragraph
    from discoprobe.loaders.raw.duplicates import Lines
    from discoprobe.loaders.raw.options import ReadOptions
    from discoprobe.loaders.raw.tables import Row


def text_of(row: Row) -> str | None:
    """The text that offsets of a row's document refer to: its cell, or the paragraphs of a list; None for sentences."""
    return "\n\n".join(row.text) if isinstance(row.text, list) else row.text


def row_document(row: Row, doc_id: str, options: ReadOptions, counts: Counts, lines: Lines) -> RawDocument:
    """The document of a row; sentences in lists are taken as they are, one paragraph for each list."""
    text = text_of(row)
    if text is None:
        return _segmented(row, doc_id, counts)
    found = read_plain(text, options, counts, row.place, lines.boilerplate(text))
    return RawDocument(
        doc_id,
        tuple(found.paragraphs),
        row.place,
        text,
        extracted=isinstance(row.text, list),
        genre=row.genre,
        gaps=frozenset(found.gaps),
    )


def _segmented(row: Row, doc_id: str, counts: Counts) -> RawDocument:
    lists = _paragraphs(row.sentences or [])
    source = "\n\n".join("\n".join(sentences) for sentences in lists)
    paragraphs: list[Paragraph] = []
    gaps: set[int] = set()
    at = 0
    for sentences in lists:
        parts: list[Tracked] = []
        for sentence in sentences:
            text = clean(Tracked(sentence, ((0, at),)), counts, row.place)
            at += len(sentence) + 1
            if text.text:
                parts.append(text)
                continue
            counts.add("empty-segment", row.place)
            if parts:
                paragraphs.append(_paragraph(parts))
                parts = []
            gaps.add(len(paragraphs))
        at += 1 if sentences else 2
        if parts:
            paragraphs.append(_paragraph(parts))
    kept = frozenset(i for i in gaps if 0 < i < len(paragraphs))
    return RawDocument(doc_id, tuple(paragraphs), row.place, source, extracted=True, genre=row.genre, gaps=kept)


def _paragraphs(sentences: Sequence[str] | Sequence[list[str]]) -> list[list[str]]:
    nested = [part for part in sentences if isinstance(part, list)]
    return nested or [[part for part in sentences if isinstance(part, str)]]


def _paragraph(parts: Sequence[Tracked]) -> Paragraph:
    text, spans = joined(parts)
    return text.paragraph(sentences=spans)
