"""Raw text as documents in the order of their ids: from a file, a folder, a table or a dataset.

The documents depend on ids and contents only: text files, rows of a table and a dataset with the same texts give the
same documents. Memory holds one document, and hashes of all.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.errors import (
    CorpusFormatError,
    DiscoprobeError,
    RemoteError,
    UnknownNameError,
    UsageError,
)
from discoprobe.loaders.raw.clean.paragraph_filters import filtered, word_count
from discoprobe.loaders.raw.clean.repetition import RecurringLines, without_repeats
from discoprobe.loaders.raw.document import RawDocument
from discoprobe.loaders.raw.drop_counts import DropCounts
from discoprobe.loaders.raw.options import COLUMNS, ReadOptions
from discoprobe.loaders.raw.read import aligned_lines, folder, hub_datasets, tables
from discoprobe.loaders.raw.read.document_ids import document_id
from discoprobe.loaders.raw.read.encoding import read_text
from discoprobe.loaders.raw.read.folder import RawFile
from discoprobe.loaders.raw.read.plain_text import read_plain
from discoprobe.loaders.raw.read.rows import DiskList, Row, row_document
from discoprobe.loaders.raw.read.tei import read_tei

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

HUB: Final = "hf://"
"""Prefix of a dataset on the Hub; ``org/name`` without it is enough if there is no such folder."""


def read_documents(source: Path | str, options: ReadOptions | None = None) -> RawCorpus:
    """A raw corpus, whose documents are read by iterating over it.

    Args:
        source: a file or folder, or the id of a dataset on the Hub (``org/name``, ``hf://org/name``).
        options: how to read it.

    Raises:
        DiscoprobeError: there is no such file. Errors in files are raised by iteration.
    """
    path = Path(source)
    name = str(source).removeprefix(HUB)
    if path.exists():
        return RawCorpus(path.resolve().name, path, options or ReadOptions())
    if hub_datasets.REPOSITORY.fullmatch(name):
        return RawCorpus(name, None, options or ReadOptions())
    raise DiscoprobeError(f"{source}: no such file or folder, and no id of a dataset on the Hub (org/name)")


@dataclass(slots=True)
class _Input:
    """A file or row.

    Attributes:
        doc_id: of its document, or of its first.
        place: for messages.
        load: reads its documents.
        text: its text if that is plain text with lines, else None.
    """

    doc_id: str
    place: str
    load: Callable[[DropCounts, RecurringLines], list[RawDocument]]
    text: Callable[[], str | None] = lambda: None


@dataclass(slots=True)
class RawCorpus:
    """The documents of a source; each iteration reads it again.

    Attributes:
        name: of the file or folder, or the id of a dataset on the Hub.
        path: the file or folder; None for a dataset on the Hub.
        options: how it is read.
        counts: what was removed, complete when iteration has ended.
    """

    name: str
    path: Path | None
    options: ReadOptions
    counts: DropCounts = field(default_factory=DropCounts)

    def __iter__(self) -> Iterator[RawDocument]:
        """The documents in the order of their ids.

        Raises:
            CorpusFormatError: something in the source is malformed, and ``on_error`` is ``"stop"``.
            RemoteError: the Hub does not provide the dataset.
            DiscoprobeError: something cannot be read.
        """
        self.counts = DropCounts()
        with tempfile.TemporaryFile(prefix="discoprobe-") as rows, tempfile.TemporaryFile() as documents:
            inputs = sorted(self._inputs(DiskList(rows)), key=lambda item: item.doc_id)
            filtered_documents = self._filtered(inputs, self._recurring_lines(inputs))
            if self.options.duplicates:
                filtered_documents = without_repeats(filtered_documents, self.options, self.counts, DiskList(documents))
            for document in filtered_documents:
                self.counts.documents += 1
                self.counts.paragraphs += len(document.running)
                self.counts.words += sum(word_count(paragraph.text) for paragraph in document.running)
                yield document

    # Inputs

    def _inputs(self, rows: DiskList[Row]) -> list[_Input]:
        taken: set[str] = set()
        if self.path is None:
            return self._row_inputs(
                hub_datasets.hub_rows(self.name, self.options, self._refuse), rows, self.name, taken
            )
        files = self._files(self.path)
        self._check_columns(files)
        return [item for file in files for item in self._inputs_of(file, rows, taken)]

    def _files(self, path: Path) -> list[RawFile]:
        if path.is_file():
            folder.check_kind(path)
            return [RawFile(path, path.name)]
        if (path / aligned_lines.IDS).is_file():
            file = aligned_lines.file_of_language(path, self.options.lang)
            return [RawFile(file, file.name)]
        return folder.files_in(path, self.counts)

    def _check_columns(self, files: Sequence[RawFile]) -> None:
        """Raise an error if the user names a column and there is no table."""
        if any(file.path.is_dir() or file.path.suffix.lower() in tables.SUFFIXES for file in files):
            return
        for option in COLUMNS:
            if column := getattr(self.options, option):
                raise UsageError(f"{self.name}: --{option} names a column, '{column}', and there is no table")

    def _inputs_of(self, file: RawFile, rows: DiskList[Row], taken: set[str]) -> list[_Input]:
        suffix = file.path.suffix.lower()
        if file.path.is_dir():
            name = self.name if file.name == "." else file.place
            saved = hub_datasets.saved_rows(file.path, name, self.options, self._refuse)
            return self._row_inputs(saved, rows, name, taken)
        if suffix in tables.SUFFIXES:
            table = tables.table_rows(file.path, file.place, self.options, self._refuse)
            return self._row_inputs(table, rows, file.name, taken)
        if suffix not in folder.TEI and (ids := aligned_lines.ids_beside(file.path)):
            return [self._aligned_input(file, ids)]
        doc_id = _unique(document_id(file.name), taken)
        return [self._tei_input(file, doc_id) if suffix in folder.TEI else self._plain_input(file, doc_id)]

    def _plain_input(self, file: RawFile, doc_id: str) -> _Input:
        def text() -> str:
            return read_text(file.path, file.place, self.options.encoding)

        def load(counts: DropCounts, lines: RecurringLines) -> list[RawDocument]:
            source = text()
            content = read_plain(source, self.options, counts, file.place, lines.boilerplate(source))
            return [RawDocument(doc_id, tuple(content.paragraphs), file.place, source, gaps=frozenset(content.gaps))]

        return _Input(doc_id, file.place, load, text)

    def _tei_input(self, file: RawFile, doc_id: str) -> _Input:
        def load(counts: DropCounts, _: RecurringLines) -> list[RawDocument]:
            return read_tei(file.path, file.place, doc_id, counts, self.options.min_document_words)

        return _Input(doc_id, file.place, load)

    def _aligned_input(self, file: RawFile, ids: Path) -> _Input:
        def load(counts: DropCounts, _: RecurringLines) -> list[RawDocument]:
            source = read_text(file.path, file.place, self.options.encoding)
            documents = aligned_lines.read_aligned(source, read_text(ids, ids.name), file.place, counts)
            return sorted(documents, key=lambda document: document.doc_id)

        return _Input(document_id(file.name), file.place, load)

    def _row_inputs(self, table: Iterable[Row], rows: DiskList[Row], name: str, taken: set[str]) -> list[_Input]:
        """An input per row; rows are numbered unless each has an id of its own."""
        first = len(rows)
        ids: list[str | None] = []
        places: list[str] = []
        for row in self._readable(table, name):
            rows.append(row)
            ids.append(None if row.id is None else document_id(row.id))
            places.append(row.place)
        if len(set(ids)) < len(ids) or None in ids:
            if self.options.id:
                raise _repeated_id(ids, places)
            stem = document_id(name.rpartition("/")[2].partition(".")[0] or name)
            ids = [f"{stem}-{number:06}" for number in range(1, len(ids) + 1)]
        return [
            self._row_input(rows, number, _unique(doc_id or "", taken), place)
            for number, (doc_id, place) in enumerate(zip(ids, places, strict=True), first)
        ]

    def _row_input(self, rows: DiskList[Row], number: int, doc_id: str, place: str) -> _Input:
        def load(counts: DropCounts, lines: RecurringLines) -> list[RawDocument]:
            return [row_document(rows[number], doc_id, self.options, counts, lines)]

        return _Input(doc_id, place, load, lambda: rows[number].text)

    def _readable(self, table: Iterable[Row], name: str) -> Iterator[Row]:
        """The rows of a table until it cannot be read; a table without rows is counted."""
        refused = self.counts.reasons["unreadable"]
        empty = True
        try:
            for row in table:
                empty = False
                yield row
        except (UsageError, UnknownNameError, RemoteError):
            raise
        except DiscoprobeError as error:
            self._refuse(error)
        if empty and refused == self.counts.reasons["unreadable"]:
            self.counts.add("empty-document", name)

    def _refuse(self, error: DiscoprobeError) -> None:
        """Raise an error, or count it as what is unreadable."""
        if self.options.on_error == "stop":
            raise error
        self.counts.add("unreadable", str(error))

    # Documents

    def _recurring_lines(self, inputs: list[_Input]) -> RecurringLines:
        lines = RecurringLines()
        for item in inputs if self.options.boilerplate else ():
            try:
                text = item.text()
            except DiscoprobeError:
                if self.options.on_error == "stop":
                    raise
                continue  # it is counted when it is loaded
            if text is not None:
                lines.add(text)
        lines.close(self.options.boilerplate)
        return lines

    def _filtered(self, inputs: list[_Input], lines: RecurringLines) -> Iterator[RawDocument]:
        for item in inputs:
            try:
                documents = item.load(self.counts, lines)
            except DiscoprobeError as error:
                self._refuse(error)
                continue
            if not documents:
                self.counts.add("empty-document", item.place)
            for document in documents:
                usable = filtered(document, self.options, self.counts)
                if usable is not None:
                    yield usable


def _repeated_id(ids: Sequence[str | None], places: Sequence[str]) -> CorpusFormatError:
    """The error for the first id that an earlier row has."""
    first: dict[str | None, str] = {}
    for doc_id, place in zip(ids, places, strict=True):
        if first.setdefault(doc_id, place) != place:
            problem = f"id '{doc_id}' names this row and {first[doc_id]}; name a column of unique ids with --id"
            return CorpusFormatError(problem, path=place)
    raise AssertionError(ids)


def _unique(doc_id: str, taken: set[str]) -> str:
    """An id that no other document has: itself, or with ``~2``, ``~3``, … where names give the same id."""
    unique = doc_id
    number = 1
    while unique in taken:
        number += 1
        unique = f"{doc_id}~{number}"
    taken.add(unique)
    return unique
