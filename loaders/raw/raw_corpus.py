"""Reads raw text from a file, a folder, a table or a dataset, as documents in the order of their ids.

The documents depend on ids and contents only: text files, a table and a dataset with the same texts give the same
documents. Memory holds one document, and hashes of all.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from discoprobe.loaders.catalogue.hub_texts import HUB
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UsageError
from discoprobe.loaders.raw import tables
from discoprobe.loaders.raw.document import DropCounts, RawDocument, Row
from discoprobe.loaders.raw.files import TEI, RawFile, check_kind, document_id, files_in, read_text
from discoprobe.loaders.raw.options import COLUMNS, ReadOptions
from discoprobe.loaders.raw.paragraph_filters import Spool, filtered, with_boilerplate, without_repeats
from discoprobe.loaders.raw.plain_text import row_document
from discoprobe.loaders.raw.tei import read_tei


def read_documents(source: Path | str, options: ReadOptions | None = None) -> "RawCorpus":
    """A raw corpus; iterating over it reads the documents.

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
    raise DiscoprobeError(f"{source}: no such file or folder, and not the id of a dataset on the Hub (org/name)")


@dataclass(slots=True)
class RawCorpus:
    """The documents of a source; each iteration reads it again."""

    name: str  # of the file or folder, or the id of a dataset on the Hub
    path: Path | None  # None for a dataset on the Hub
    options: ReadOptions
    counts: DropCounts = field(default_factory=DropCounts)  # what was removed, complete when iteration has ended
    files: list[RawFile] = field(default_factory=list)  # that were read, by name

    def __iter__(self) -> Iterator[RawDocument]:
        """The documents in the order of their ids.

        Raises:
            CorpusFormatError: something in the source is malformed, and ``on_error`` is ``"stop"``.
            RemoteError: the Hub does not provide the dataset.
            DiscoprobeError: something cannot be read.
        """
        self.counts = DropCounts()
        with closing(Spool[Row]()) as rows:
            self._read(rows)
            yield from usable_documents(rows, self.options, self.counts)

    def _read(self, rows: Spool[Row]) -> None:
        """Add the rows of all files under unique ids: ``~2``, ``~3``, … are appended to ids that occur again."""
        again: Counter[str] = Counter()
        self.files = self._found()
        for file in self.files:
            refused, empty = self.counts.reasons["unreadable"], True
            try:
                for row in self._rows(file):
                    empty, unique = False, row.id
                    while not rows.add(unique, replace(row, id=unique)):
                        again[row.id] += 1
                        unique = f"{row.id}~{again[row.id] + 1}"
            except (UsageError, UnknownNameError, RemoteError):
                raise
            except DiscoprobeError as error:
                self.counts.refuse(error, self.options.on_error)
            if empty and refused == self.counts.reasons["unreadable"]:
                self.counts.add("empty-document", file.place)

    def _found(self) -> list[RawFile]:
        """The files of the source, by name; a dataset on the Hub counts as one without path."""
        if self.path is None:
            return [RawFile(None, self.name)]
        if self.path.is_file():
            check_kind(self.path)
            found = [RawFile(self.path, self.path.name)]
        else:
            found = files_in(self.path, self.counts)
            for ids, n in Counter(file.ids for file in found if file.ids).items():
                if n > 1:
                    problem = f"has {n} texts beside {ids.name}, which are the same documents; name the file to read"
                    raise DiscoprobeError(f"{ids.parent}: {problem}")
        for option in () if any(file.is_table for file in found) else COLUMNS:
            if column := getattr(self.options, option):
                raise UsageError(f"{self.name}: --{option} names a column, '{column}', but there is no table")
        return found

    def _rows(self, file: RawFile) -> Iterable[Row]:
        path, options = file.path, self.options
        if path is None or file.is_table:
            name = self.name if path is None or file.name == "." else file.place
            return tables.table_rows(path or self.name, name, options, self.counts)
        doc_id = document_id(file.name)
        if path.suffix.lower() in TEI:
            return read_tei(path, file.place, doc_id, self.counts, options.min_document_words)
        text, ids = read_text(path, file.place, options.encoding), file.ids
        return (
            tables.aligned_rows(text, read_text(ids, ids.name), file.place) if ids else [Row(file.place, doc_id, text)]
        )


def usable_documents(rows: Iterable[Row], options: ReadOptions, counts: DropCounts) -> Iterator[RawDocument]:
    """The documents of rows without boilerplate, unusable paragraphs and repetitions, which ``counts`` counts.

    The rows are iterated over twice.
    """
    with_lines = with_boilerplate(rows, options.boilerplate)
    documents = (row_document(row, options, counts, boilerplate) for row, boilerplate in with_lines)
    usable = filter(None, (filtered(document, options, counts) for document in documents))
    return without_repeats(usable, options, counts)
