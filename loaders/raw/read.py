"""Reading raw text: a file, a folder, a table or a dataset to documents in the order of their ids.

What is given depends on ids and contents only: the same documents as text files, rows of a table or a dataset give the
same. One document is in memory at a time, and hashes of all.
"""

from __future__ import annotations

from contextlib import ExitStack
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
from discoprobe.loaders.raw import aligned, files, hub, tables
from discoprobe.loaders.raw.counts import Counts
from discoprobe.loaders.raw.document import RUNNING, RawDocument
from discoprobe.loaders.raw.duplicates import Lines, Repeats, Seen
from discoprobe.loaders.raw.encoding import read_text
from discoprobe.loaders.raw.files import SourceFile
from discoprobe.loaders.raw.filters import filtered, of_length, without, word_count
from discoprobe.loaders.raw.ids import document_id, numbered_id
from discoprobe.loaders.raw.options import ReadOptions
from discoprobe.loaders.raw.rows import row_document, text_of
from discoprobe.loaders.raw.spool import Spool, spool
from discoprobe.loaders.raw.tei import read_tei
from discoprobe.loaders.raw.txt import read_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from discoprobe.loaders.raw.tables import Row

    Load = Callable[[Counts, Lines], list[RawDocument]]

HUB: Final = "hf://"
"""What the name of a dataset on the Hub may begin with; ``org/name`` will do where there is no such folder."""


def read_documents(source: Path | str, options: ReadOptions | None = None) -> RawCorpus:
    """The documents of a raw corpus, to be iterated over.

    Args:
        source: a file or folder, or the id of a dataset on the Hub (``org/name``, ``hf://org/name``).
        options: how to read it.

    Raises:
        DiscoprobeError: there is no such file, or nothing in it that can be read. What is wrong inside is raised by
            iteration, before the first document is given out.
    """
    path = Path(source)
    name = str(source).removeprefix(HUB)
    if path.exists():
        return RawCorpus(path.resolve().name, path, "", options or ReadOptions())
    if hub.REPOSITORY.fullmatch(name):
        return RawCorpus(name, None, name, options or ReadOptions())
    raise DiscoprobeError(f"{source}: no such file or folder, and no id of a dataset on the Hub (org/name)")


@dataclass(slots=True)
class _Item:
    """What documents are read from; ``source``: the plain text, if it is such; ``place``: for messages."""

    key: str
    place: str
    load: Load
    source: Callable[[], str | None]


@dataclass(slots=True)
class RawCorpus:
    """The documents of a source; ``counts`` tells what was taken out, once iteration is over.

    Every iteration reads the source anew.
    """

    name: str
    path: Path | None
    repository: str
    options: ReadOptions
    counts: Counts = field(default_factory=Counts)

    def __iter__(self) -> Iterator[RawDocument]:
        """The documents, in the order of their ids.

        Raises:
            CorpusFormatError: something in the source is malformed, and ``on_error`` is ``"stop"``.
            RemoteError: the Hub does not give the dataset.
            DiscoprobeError: something cannot be read.
        """
        self.counts = Counts()
        with ExitStack() as stack:
            rows = stack.enter_context(spool())
            items = sorted(self._items(rows), key=lambda item: item.key)
            lines = self._recurring_lines(items)
            repeats = self._repeats(items, lines)
            number = -1
            for document in self._filtered(items, lines, self.counts):
                number += 1
                kept = self._without_repeats(document, number, repeats)
                if kept is not None:
                    self._count(kept)
                    yield kept

    def _count(self, document: RawDocument) -> None:
        running = [paragraph for paragraph in document.paragraphs if paragraph.kind in RUNNING]
        self.counts.documents += 1
        self.counts.paragraphs += len(running)
        self.counts.words += sum(word_count(paragraph.text) for paragraph in running)

    # what there is

    def _items(self, rows: Spool) -> list[_Item]:
        if self.path is None:
            return self._row_items(hub.hub_rows(self.repository, self.options, self._refuse), rows, self.name, {})
        found: list[_Item] = []
        taken: dict[str, str] = {}
        listed = self._files(self.path)
        self._check_columns(listed)
        for file in listed:
            found += self._items_of(file, rows, taken)
        return found

    def _files(self, path: Path) -> list[SourceFile]:
        if path.is_file():
            files.check_kind(path)
            return [SourceFile(path, path.name)]
        if (path / aligned.IDS).is_file():
            file = aligned.file_of_language(path, self.options.lang)
            return [SourceFile(file, file.name)]
        return files.files_in(path, self.counts)

    def _check_columns(self, listed: Sequence[SourceFile]) -> None:
        """Refuses to pass over a column that the user names, where there is no table."""
        if any(_is_table(file.path) for file in listed):
            return
        for option in ("text", "id", "genre", "sentences"):
            if column := getattr(self.options, option):
                raise UsageError(f"{self.name}: --{option} names a column, '{column}', and there is no table")

    def _refuse(self, error: DiscoprobeError) -> None:
        """Raises what is wrong with a row, or counts it."""
        if self.options.on_error == "stop":
            raise error
        self.counts.add("unreadable", str(error))

    def _items_of(self, file: SourceFile, rows: Spool, taken: dict[str, str]) -> list[_Item]:
        suffix = file.path.suffix.lower()
        if file.path.is_dir():
            name = self.name if file.name == "." else file.place
            return self._row_items(hub.saved_rows(file.path, name, self.options, self._refuse), rows, name, taken)
        if suffix in tables.SUFFIXES:
            found = tables.table_rows(file.path, file.place, self.options, self._refuse)
            return self._row_items(found, rows, file.name, taken)
        if suffix in files.TEI:
            return [self._tei_item(file, _free(document_id(file.name), file.place, taken))]
        if ids := aligned.ids_beside(file.path):
            return [self._aligned_item(file, ids)]
        return [self._plain_item(file, _free(document_id(file.name), file.place, taken))]

    def _plain_item(self, file: SourceFile, doc_id: str) -> _Item:
        def source() -> str:
            return read_text(file.path, file.place, self.options.encoding)

        def load(counts: Counts, lines: Lines) -> list[RawDocument]:
            text = source()
            found = read_plain(text, self.options, counts, file.place, lines.boilerplate(text))
            return [RawDocument(doc_id, tuple(found.paragraphs), file.place, text, gaps=frozenset(found.gaps))]

        return _Item(doc_id, file.place, load, source)

    def _tei_item(self, file: SourceFile, doc_id: str) -> _Item:
        def load(counts: Counts, _: Lines) -> list[RawDocument]:
            return read_tei(file.path, file.place, doc_id, counts, self.options.min_document_words)

        return _Item(doc_id, file.place, load, lambda: None)

    def _aligned_item(self, file: SourceFile, ids: Path) -> _Item:
        def load(counts: Counts, _: Lines) -> list[RawDocument]:
            source = read_text(file.path, file.place, self.options.encoding)
            found = aligned.read_aligned(source, read_text(ids, ids.name), file.place, counts)
            return sorted(found, key=lambda document: document.doc_id)

        return _Item(document_id(file.name), file.place, load, lambda: None)

    def _row_items(self, found: Iterable[Row], rows: Spool, name: str, taken: dict[str, str]) -> list[_Item]:
        numbers: list[int] = []
        ids: list[str | None] = []
        places: list[str] = []
        for row in self._readable(found, name):
            numbers.append(rows.add(row))
            ids.append(None if row.id is None else document_id(row.id))
            places.append(row.place)
        stem = name.rpartition("/")[2].partition(".")[0] or name
        repeated = _first_repeated(ids)
        if repeated is not None and self.options.id:
            first, second = places[ids.index(ids[repeated])], places[repeated]
            problem = f"id '{ids[repeated]}' names this row and {first}; name a column of unique ids with --id"
            raise CorpusFormatError(problem, path=second)
        if repeated is not None or None in ids:
            ids = [numbered_id(stem, n) for n in range(1, len(ids) + 1)]
        return [
            self._row_item(rows, number, _free(doc_id or "", place, taken), place)
            for number, doc_id, place in zip(numbers, ids, places, strict=True)
        ]

    def _readable(self, found: Iterable[Row], name: str) -> Iterator[Row]:
        """The rows of a table up to where it cannot be read; one without any row is counted."""
        refused = self.counts.reasons["unreadable"]
        empty = True
        try:
            for row in found:
                empty = False
                yield row
        except (UsageError, UnknownNameError, RemoteError):
            raise
        except DiscoprobeError as error:
            self._refuse(error)
        if empty and refused == self.counts.reasons["unreadable"]:
            self.counts.add("empty-document", name)

    def _row_item(self, rows: Spool, number: int, doc_id: str, place: str) -> _Item:
        def load(counts: Counts, lines: Lines) -> list[RawDocument]:
            return [row_document(rows.row(number), doc_id, self.options, counts, lines)]

        return _Item(doc_id, place, load, lambda: text_of(rows.row(number)))

    # what recurs

    def _recurring_lines(self, items: list[_Item]) -> Lines:
        lines = Lines()
        if self.options.boilerplate:
            for item in items:
                try:
                    text = item.source()
                except DiscoprobeError:
                    if self.options.on_error == "stop":
                        raise
                    continue
                if text is not None:
                    lines.add(text)
        lines.close(self.options.boilerplate)
        return lines

    def _repeats(self, items: list[_Item], lines: Lines) -> Repeats:
        if not self.options.duplicates:
            return Repeats({}, {})
        seen = Seen()
        for document in self._filtered(items, lines, Counts()):
            seen.add(document)
        return seen.repeats()

    def _filtered(self, items: list[_Item], lines: Lines, counts: Counts) -> Iterator[RawDocument]:
        for item in items:
            try:
                documents = item.load(counts, lines)
            except DiscoprobeError as error:
                if self.options.on_error == "stop":
                    raise
                counts.add("unreadable", str(error))
                continue
            if not documents:
                counts.add("empty-document", item.place)
            for document in documents:
                kept = filtered(document, self.options, counts)
                if kept is not None:
                    yield kept

    def _without_repeats(self, document: RawDocument, number: int, repeats: Repeats) -> RawDocument | None:
        if reason := repeats.documents.get(number):
            self.counts.add(reason, document.source)
            return None
        if number not in repeats.paragraphs:
            return document
        kept = without(document, lambda i, _: repeats.paragraphs[number].get(i), self.counts)
        return of_length(kept, self.options, self.counts)


def _is_table(path: Path) -> bool:
    """Whether a file is a table, or a folder a saved dataset."""
    return path.is_dir() or path.suffix.lower() in tables.SUFFIXES


def _first_repeated(ids: list[str | None]) -> int | None:
    """The index of the first id that an earlier one equals."""
    known: set[str] = set()
    for i, doc_id in enumerate(ids):
        if doc_id in known:
            return i
        if doc_id is not None:
            known.add(doc_id)
    return None


def _free(doc_id: str, place: str, taken: dict[str, str]) -> str:
    """An id that no other document has: itself, or with ``~2``, ``~3``, … where names give the same id."""
    found = doc_id
    number = 1
    while found in taken:
        number += 1
        found = f"{doc_id}~{number}"
    taken[found] = place
    return found
