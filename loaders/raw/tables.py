"""Tables of documents: JSON lines, parquet, CSV and TSV files, and Arrow tables of any origin, to rows."""

from __future__ import annotations

import csv
import itertools
import json
import re
import sys
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from discoprobe.loaders.errors import CorpusFormatError, UsageError
from discoprobe.loaders.raw.encoding import read_lines
from discoprobe.loaders.raw.ids import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.options import ReadOptions

    Refuse = Callable[[CorpusFormatError], None]
    """Is given what is wrong with a row: raises it, or counts it, and then the row is left out."""
    Records = Iterator[tuple[int, Mapping[str, Any]]]

SUFFIXES: Final = (".jsonl", ".ndjson", ".parquet", ".csv", ".tsv", ".arrow")
TEXT: Final = ("text", "content", "body", "document", "article", "raw_content", "paragraphs")
ID: Final = ("id", "doc_id", "document_id", "docid", "_id", "name", "title", "url")
GENRE: Final = ("genre", "register", "domain")
SENTENCES: Final = ("sentences", "sents")
"""Names that are tried for a column that is not named, the first first, in small letters."""
ROWS_AT_ONCE: Final = 256
HALF: Final = re.compile("[\ud800-\udfff]")
"""Half of a character, which JSON can write and no file can hold."""


KINDS: Final[Mapping[type, str]] = MappingProxyType(
    {
        str: "a text",
        bytes: "bytes",
        int: "a number",
        float: "a number",
        bool: "a truth value",
        dict: "an object",
        list: "a list",
    }
)
"""What messages call a value by its type."""
LONE_RETURN: Final = "a carriage return outside quotes, or lines that end with a carriage return only"


@dataclass(frozen=True, slots=True)
class Row:
    """A document of a table.

    Attributes:
        place: the file and row: ``notes.jsonl:12``, counted from 1 (lines for JSON lines, rows for the others).
        id: the cell that names it, None if no column does.
        number: how many rows of the file come before it.
        text: its text; a list of paragraphs; or None, if there are sentences.
        sentences: its sentences, or lists of them, one per paragraph.
        genre: its genre, or nothing.
    """

    place: str
    id: str | None
    number: int
    text: str | list[str] | None
    sentences: list[str] | list[list[str]] | None
    genre: str


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns of a table; ``id`` and ``genre`` may be empty, and one of the others is."""

    text: str
    sentences: str
    id: str
    genre: str

    @property
    def used(self) -> list[str]:
        """Those that there are."""
        return [name for name in (self.text, self.sentences, self.id, self.genre) if name]


def find_columns(names: Sequence[str], options: ReadOptions, where: str) -> Columns:
    """The columns of a table that hold text, sentences, ids and genres: named by the user, or known by their names.

    Raises:
        UsageError: a column that the user names is not there, or none can be told to hold the text.
        CorpusFormatError: two columns have the name of one of them.
    """
    for option in ("text", "id", "genre", "sentences"):
        name = getattr(options, option)
        if name and name not in names:
            raise UsageError(f"{where}: no column '{name}' for --{option}; there are: {', '.join(names)}")
    small = {name.lower(): name for name in reversed(names)}

    def guess(known: Sequence[str]) -> str:
        return next((small[name] for name in known if name in small), "")

    sentences = options.sentences or ("" if options.text else guess(SENTENCES))
    text = "" if sentences and not options.text else options.text or guess(TEXT)
    if options.text and options.sentences:
        raise UsageError("--text and --sentences name the same thing twice: give one of them")
    if not text and not sentences:
        raise UsageError(f"{where}: no column is called {TEXT[0]} or the like; name it with --text: {', '.join(names)}")
    found = Columns(text, sentences, options.id or guess(ID), options.genre or guess(GENRE))
    for name in found.used:
        if (n := names.count(name)) > 1:
            raise CorpusFormatError(f"{n} columns are called '{name}'; give each a name of its own", path=where)
    return found


def table_rows(path: Path, name: str, options: ReadOptions, refuse: Refuse) -> Iterator[Row]:
    """The rows of a table file, in its order, a few at a time in memory.

    Args:
        path: the file.
        name: what messages call it.
        options: which columns to take.
        refuse: gets what is wrong with a row, with its place.

    Raises:
        CorpusFormatError: the file as a whole is malformed.
        UsageError: the columns cannot be told.
        DiscoprobeError: the file cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson"}:
        records = _json(path, name, options.encoding, refuse)
    elif suffix in {".csv", ".tsv"}:
        records = _csv(path, name, options, refuse)
    elif suffix == ".parquet":
        records = _parquet(path, name, options)
    else:
        records = _arrow(path, name, options)
    yield from rows_of(records, name, options, refuse)


def rows_of(
    records: Iterable[tuple[int, Mapping[str, Any]]], name: str, options: ReadOptions, refuse: Refuse
) -> Iterator[Row]:
    """Records, numbered as messages are to name them, as rows; the first tells which columns there are."""
    columns: Columns | None = None
    for index, (number, record) in enumerate(records):
        if columns is None:
            columns = find_columns(list(record), options, name)
        try:
            yield _row(record, columns, f"{name}:{number}", index, named=bool(options.id))
        except CorpusFormatError as error:
            refuse(error)


def _row(record: Mapping[str, Any], columns: Columns, place: str, index: int, *, named: bool) -> Row:
    """A record as a row; ``named`` says that the user has named the column of ids, so that each has to have one."""

    def cell(column: str) -> Any:
        return record.get(column) if column else None

    text, sentences = cell(columns.text), cell(columns.sentences)
    if columns.text and not (text is None or isinstance(text, str) or _is_list(text)):
        raise CorpusFormatError(f"column '{columns.text}' holds {_kind(text)}, not a text", path=place)
    nested = isinstance(sentences, list) and all(_is_list(part) for part in sentences)
    if columns.sentences and not (sentences is None or nested or _is_list(sentences)):
        raise CorpusFormatError(
            f"column '{columns.sentences}' holds {_kind(sentences)}, not a list of sentences", path=place
        )
    for column in filter(None, (columns.text, columns.sentences)):
        if half := _half(cell(column)):
            raise CorpusFormatError(f"column '{column}' holds half a character (U+{ord(half):04X})", path=place)
    name, genre = cell(columns.id), cell(columns.genre)
    if named and name is None:
        raise CorpusFormatError(f"no id in column '{columns.id}'; name another one with --id", path=place)
    return Row(
        place=place,
        id=None if name is None else str(name),
        number=index,
        text=(text or "") if columns.text else None,
        sentences=(sentences or []) if columns.sentences else None,
        genre="" if genre is None else one_line(str(genre)),
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _half(value: Any) -> str:
    """The first half of a character in a text, or in lists of texts; empty if there is none."""
    if isinstance(value, list):
        return next(filter(None, map(_half, value)), "")
    found = HALF.search(value or "")
    return found[0] if found else ""


def _kind(value: Any) -> str:
    return KINDS.get(type(value), f"a {type(value).__name__}")


def _json(path: Path, name: str, encoding: str, refuse: Refuse) -> Records:
    for number, line in enumerate(read_lines(path, name, encoding), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # JSONDecodeError, or a number of thousands of digits
            refuse(CorpusFormatError(f"no JSON: {error}; a line must be one object", path=name, line=number))
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            refuse(CorpusFormatError(f"holds {_kind(record)}, not an object with columns", path=name, line=number))


def _csv(path: Path, name: str, options: ReadOptions, refuse: Refuse) -> Records:
    limit = csv.field_size_limit(sys.maxsize)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    reader = csv.reader(read_lines(path, name, options.encoding), delimiter=delimiter, strict=True)
    try:
        rows = _csv_rows(reader, name, refuse)
        _, header = next(rows, (0, []))
        if header:
            find_columns(header, options, name)
        for number, cells in rows:
            if len(cells) == len(header):
                yield number, dict(zip(header, cells, strict=True))
            else:
                problem = f"row {number} has {len(cells)} cells, the header has {len(header)}"
                refuse(CorpusFormatError(problem, path=name, line=reader.line_num))
    finally:
        csv.field_size_limit(limit)


def _csv_rows(reader: Any, name: str, refuse: Refuse) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV reader that are not blank, numbered from 0; after a malformed one it goes on with the next."""
    for number in itertools.count():
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            why = LONE_RETURN if "new-line character" in str(error) else str(error)
            refuse(CorpusFormatError(f"malformed: {why}", path=name, line=reader.line_num))
            continue
        if cells:
            yield number, cells


def _parquet(path: Path, name: str, options: ReadOptions) -> Records:
    try:
        with pq.ParquetFile(path) as file:
            used = find_columns(file.schema_arrow.names, options, name).used
            yield from numbered(file.iter_batches(ROWS_AT_ONCE, columns=used))
    except (pa.ArrowException, OSError) as error:
        raise CorpusFormatError(f"no readable parquet file: {_first_line(error)}", path=name) from error


def _arrow(path: Path, name: str, options: ReadOptions) -> Records:
    """Arrow IPC, as a stream (what ``datasets`` writes) or as a file."""
    try:
        with pa.memory_map(str(path)) as source:
            try:
                file = pa.ipc.open_stream(source)
                batches: Iterable[pa.RecordBatch] = file
            except pa.ArrowInvalid:
                file = pa.ipc.open_file(source)
                batches = (file.get_batch(i) for i in range(file.num_record_batches))
            find_columns(file.schema.names, options, name)
            yield from numbered(batches)
    except (pa.ArrowException, OSError) as error:
        raise CorpusFormatError(f"no readable Arrow file: {_first_line(error)}", path=name) from error


def numbered(batches: Iterable[pa.RecordBatch]) -> Records:
    """The rows of Arrow batches (or tables), counted from 1."""
    number = 0
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            for record in batch.slice(start, ROWS_AT_ONCE).to_pylist():
                number += 1
                yield number, record


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
