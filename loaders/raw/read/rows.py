"""Rows of tables, kept on disk until the order of their ids is known, and the documents that they become."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Generic, TypeVar

from discoprobe.loaders.raw.clean.markup import clean
from discoprobe.loaders.raw.document import Paragraph, RawDocument
from discoprobe.loaders.raw.read.plain_text import read_plain
from discoprobe.loaders.raw.text_with_offsets import TextWithOffsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.loaders.raw.clean.repetition import RecurringLines
    from discoprobe.loaders.raw.drop_counts import DropCounts
    from discoprobe.loaders.raw.options import ReadOptions

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """A document of a table.

    Attributes:
        place: file and row, ``notes.jsonl:12``, from 1: lines of JSON lines, rows of other tables.
        id: the cell that names the document; None if no column does.
        text: its text; None if the row has sentences.
        sentences: a list of sentences per paragraph; None if the row has a text.
        genre: its genre, or empty.
        extracted: whether ``text`` was joined from a list of paragraphs.
    """

    place: str
    id: str | None
    text: str | None
    sentences: list[list[str]] | None
    genre: str
    extracted: bool = False


class DiskList(Generic[T]):
    """Values in a file that this process wrote and reads; one at a time is in memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._offsets: list[int] = []

    def __len__(self) -> int:
        return len(self._offsets)

    def append(self, value: T) -> None:
        """Add a value at the end."""
        self._offsets.append(self._file.seek(0, 2))
        pickle.dump(value, self._file, pickle.HIGHEST_PROTOCOL)

    def __getitem__(self, number: int) -> T:
        self._file.seek(self._offsets[number])
        value: T = pickle.load(self._file)  # noqa: S301 (this process wrote it)
        return value


def row_document(row: Row, doc_id: str, options: ReadOptions, counts: DropCounts, lines: RecurringLines) -> RawDocument:
    """The document of a row; sentences in lists stay as they are, one paragraph for each list."""
    if row.text is None:
        return _segmented(row, doc_id, counts)
    content = read_plain(row.text, options, counts, row.place, lines.boilerplate(row.text))
    return RawDocument(
        doc_id, tuple(content.paragraphs), row.place, row.text, row.extracted, row.genre, frozenset(content.gaps)
    )


def _segmented(row: Row, doc_id: str, counts: DropCounts) -> RawDocument:
    lists = row.sentences or []
    source = "\n\n".join("\n".join(sentences) for sentences in lists)
    paragraphs: list[Paragraph] = []
    gaps: set[int] = set()
    at = 0
    for sentences in lists:
        run: list[TextWithOffsets] = []
        for sentence in sentences:
            text = clean(TextWithOffsets.of(sentence, at), counts, row.place)
            at += len(sentence) + 1
            if text.text:
                run.append(text)
                continue
            counts.add("empty-segment", row.place)
            paragraphs += _paragraphs(run)
            run = []
            gaps.add(len(paragraphs))
        at += 1 if sentences else 2
        paragraphs += _paragraphs(run)
    inner = frozenset(i for i in gaps if 0 < i < len(paragraphs))
    return RawDocument(doc_id, tuple(paragraphs), row.place, source, extracted=True, genre=row.genre, gaps=inner)


def _paragraphs(sentences: Sequence[TextWithOffsets]) -> list[Paragraph]:
    return [Paragraph.of_sentences(sentences)] if sentences else []
