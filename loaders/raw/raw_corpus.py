"""Raw text as documents in the order of their ids: from a file, a folder, a table or a dataset.

The documents depend on ids and contents only: text files, rows of a table and a dataset with the same texts give the
same documents. Memory holds one document, and hashes of all.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError, RemoteError, UnknownNameError, UsageError
from discoprobe.loaders.raw import files, tables
from discoprobe.loaders.raw.document import DropCounts, RawDocument
from discoprobe.loaders.raw.files import RawFile, document_id, read_text
from discoprobe.loaders.raw.options import COLUMNS, ReadOptions
from discoprobe.loaders.raw.paragraph_filters import filtered
from discoprobe.loaders.raw.plain_text import IDS, file_of_language, read_aligned, row_document
from discoprobe.loaders.raw.repetition import DiskList, RecurringLines, without_repeats
from discoprobe.loaders.raw.tables import Row
from discoprobe.loaders.raw.tei import read_tei

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

HUB: Final = "hf://"
"""Prefix of a dataset on the Hub; ``org/name`` without it is enough if there is no such folder."""


def read_documents(source: Path | str, options: ReadOptions | None = None) -> RawCorpus:
    """A raw corpus, whose documents are read by iterating over it.

    The source is a file or folder, or the id of a dataset on the Hub (``org/name``, ``hf://org/name``).

    Raises:
        DiscoprobeError: there is no such file. Errors in files are raised by iteration.
    """
    path = Path(source)
    name = str(source).removeprefix(HUB)
    if path.exists():
        return RawCorpus(path.resolve().name, path, options or ReadOptions())
    if tables.REPOSITORY.fullmatch(name):
        return RawCorpus(name, None, options or ReadOptions())
    raise DiscoprobeError(f"{source}: no such file or folder, and no id of a dataset on the Hub (org/name)")


@dataclass(slots=True)
class _Stored:
    """What was read of a corpus, on disk: rows and text files as rows, TEI works and aligned lines as documents."""

    texts: DiskList[Row | RawDocument]  # in the order in which they were read
    ids: list[str] = field(default_factory=list)  # of each row; for documents, that of their file
    taken: set[str] = field(default_factory=set)

    def unique(self, doc_id: str) -> str:
        """An id that nothing else has: itself, or with ``~2``, ``~3``, … where names give the same id."""
        unique, number = doc_id, 1
        while unique in self.taken:
            number += 1
            unique = f"{doc_id}~{number}"
        self.taken.add(unique)
        return unique

    def in_order(self) -> Iterator[tuple[str, Row | RawDocument]]:
        """Each text with its id, by id."""
        for number in sorted(range(len(self.ids)), key=self.ids.__getitem__):
            yield self.ids[number], self.texts[number]


@dataclass(slots=True)
class RawCorpus:
    """The documents of a source; each iteration reads it again."""

    name: str  # of the file or folder, or the id of a dataset on the Hub
    path: Path | None  # None for a dataset on the Hub
    options: ReadOptions
    counts: DropCounts = field(default_factory=DropCounts)  # what was removed, complete when iteration has ended

    def __iter__(self) -> Iterator[RawDocument]:
        """The documents in the order of their ids.

        Raises:
            CorpusFormatError: something in the source is malformed, and ``on_error`` is ``"stop"``.
            RemoteError: the Hub does not provide the dataset.
            DiscoprobeError: something cannot be read.
        """
        self.counts = DropCounts()
        with tempfile.TemporaryFile() as file:
            stored = _Stored(DiskList(file))
            self._read(stored)
            yield from usable_documents(stored.in_order, self.options, self.counts)

    def _read(self, stored: _Stored) -> None:
        if self.path is None:
            self._read_rows(tables.dataset_rows(self.name, self.name, self.options, self._refuse), self.name, stored)
            return
        found = self._files(self.path)
        is_table = [file.path.is_dir() or file.path.suffix.lower() in files.TABLES for file in found]
        for option in COLUMNS if not any(is_table) else ():
            if column := getattr(self.options, option):
                raise UsageError(f"{self.name}: --{option} names a column, '{column}', but there is no table")
        for file, has_rows in zip(found, is_table, strict=True):
            if has_rows:
                place = self.name if file.name == "." else file.place
                rows = tables.table_rows(file.path, place, self.options, self._refuse)
                self._read_rows(rows, place if file.path.is_dir() else file.name, stored)
            else:
                self._read_file(file, stored)

    def _files(self, path: Path) -> list[RawFile]:
        if path.is_file():
            files.check_kind(path)
        elif not (path / IDS).is_file():
            return files.files_in(path, self.counts)
        else:
            path = file_of_language(path, self.options.lang)
        return [RawFile(path, path.name)]

    def _read_file(self, file: RawFile, stored: _Stored) -> None:
        """Store a text file as a row, a TEI work or a file of aligned lines as documents."""
        doc_id = stored.unique(document_id(file.name))
        try:
            texts = self._texts(file, doc_id)
        except DiscoprobeError as error:
            self._refuse(error)
            return
        if not texts:
            self.counts.add("empty-document", file.place)
        for text in texts:
            stored.texts.append(text)
            stored.ids.append(doc_id)

    def _texts(self, file: RawFile, doc_id: str) -> Sequence[Row | RawDocument]:
        if file.path.suffix.lower() in files.TEI:
            return read_tei(file.path, file.place, doc_id, self.counts, self.options.min_document_words)
        text = read_text(file.path, file.place, self.options.encoding)
        ids = file.path.parent / IDS
        if not ids.is_file():
            return [Row(file.place, None, text)]
        documents = read_aligned(text, read_text(ids, ids.name), file.place, self.counts)
        return sorted(documents, key=lambda document: document.doc_id)

    def _read_rows(self, rows: Iterable[Row], name: str, stored: _Stored) -> None:
        """Store the rows of a table; they are numbered unless each has an id of its own."""
        ids: list[str | None] = []
        places: dict[str | None, str] = {}
        repeated = None
        refused = self.counts.reasons["unreadable"]
        try:
            for row in rows:
                stored.texts.append(row)
                ids.append(None if row.id is None else document_id(row.id))
                first = places.setdefault(ids[-1], row.place)
                repeated = repeated or (None if first == row.place else (ids[-1], row.place, first))
        except (UsageError, UnknownNameError, RemoteError):
            raise
        except DiscoprobeError as error:
            self._refuse(error)
        if not ids and refused == self.counts.reasons["unreadable"]:
            self.counts.add("empty-document", name)
        if repeated and self.options.id:
            problem = f"id '{repeated[0]}' names this row and {repeated[2]}; name a column of unique ids with --id"
            raise CorpusFormatError(problem, path=repeated[1])
        if repeated or None in places:
            stem = document_id(name.rpartition("/")[2].partition(".")[0] or name)
            ids = [f"{stem}-{number:06}" for number in range(1, len(ids) + 1)]
        stored.ids += [stored.unique(doc_id or "") for doc_id in ids]

    def _refuse(self, error: DiscoprobeError) -> None:
        """Raise an error, or count it as what is unreadable."""
        if self.options.on_error == "stop":
            raise error
        self.counts.add("unreadable", str(error))


def usable_documents(
    texts: Callable[[], Iterable[tuple[str, Row | RawDocument]]], options: ReadOptions, counts: DropCounts
) -> Iterator[RawDocument]:
    """The documents of rows without boilerplate, unusable paragraphs and repetitions, which ``counts`` counts.

    ``texts`` gives each row with the id of its document, or a document that was read already; it is called twice.
    """
    rows = (text for _, text in texts() if isinstance(text, Row))
    lines = RecurringLines((row.text for row in rows if row.text is not None), options.boilerplate)
    documents = (
        row_document(text, doc_id, options, counts, lines.boilerplate(text.text)) if isinstance(text, Row) else text
        for doc_id, text in texts()
    )
    usable = filter(None, (filtered(document, options, counts) for document in documents))
    yield from without_repeats(usable, options, counts)
