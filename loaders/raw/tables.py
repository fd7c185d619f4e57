"""Tables of documents: JSON lines, parquet, CSV and TSV files, and Arrow tables of any origin, to rows."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from discoprobe.loaders.errors import CorpusFormatError, UsageError
from discoprobe.loaders.raw.encoding import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.options import ReadOptions

SUFFIXES: Final = (".jsonl", ".ndjson", ".parquet", ".csv", ".tsv", ".arrow")
TEXT: Final = ("text", "content", "body", "document", "article", "raw_content", "paragraphs")
ID: Final = ("id", "doc_id", "document_id", "docid", "_id", "name", "title", "url")
GENRE: Final = ("genre", "register", "domain")
SENTENCES: Final = ("sentences", "sents")
"""Names that are tried for a column that is not named, the first first, in small letters."""
ROWS_AT_ONCE: Final = 256


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
    return Columns(text, sentences, options.id or guess(ID), options.genre or guess(GENRE))


def table_rows(path: Path, name: str, options: ReadOptions) -> Iterator[Row]:
    """The rows of a table file, in its order, a few at a time in memory.

    Raises:
        CorpusFormatError: the file is malformed; the message has the row.
        UsageError: the columns cannot be told.
        DiscoprobeError: the file cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson"}:
        records: Iterable[tuple[int, Mapping[str, Any]]] = _json(path, name, options.encoding)
    elif suffix in {".csv", ".tsv"}:
        records = _csv(path, name, options.encoding, "\t" if suffix == ".tsv" else ",")
    elif suffix == ".parquet":
        records = _parquet(path, name, options)
    else:
        records = _arrow(path, name)
    yield from rows_of(records, name, options)


def rows_of(records: Iterable[tuple[int, Mapping[str, Any]]], name: str, options: ReadOptions) -> Iterator[Row]:
    """Records, numbered as messages are to name them, as rows; the first tells which columns there are."""
    columns: Columns | None = None
    for index, (number, record) in enumerate(records):
        if columns is None:
            columns = find_columns(list(record), options, name)
        yield _row(record, columns, f"{name}:{number}", index)


def _row(record: Mapping[str, Any], columns: Columns, place: str, index: int) -> Row:
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
    name, genre = cell(columns.id), cell(columns.genre)
    if columns.id and name is None:
        raise CorpusFormatError(f"no id in column '{columns.id}'", path=place)
    return Row(
        place=place,
        id=None if name is None else str(name),
        number=index,
        text=(text or "") if columns.text else None,
        sentences=(sentences or []) if columns.sentences else None,
        genre="" if genre is None else str(genre),
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _kind(value: Any) -> str:
    return {int: "a number", float: "a number", bool: "a truth value", dict: "an object", list: "a list"}.get(
        type(value), f"a {type(value).__name__}"
    )


def _json(path: Path, name: str, encoding: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(read_lines(path, name, encoding), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise CorpusFormatError(f"no JSON: {error}; a line must be one object", path=name, line=number) from error
        if not isinstance(record, dict):
            raise CorpusFormatError(f"holds {_kind(record)}, not an object with columns", path=name, line=number)
        yield number, record


def _csv(path: Path, name: str, encoding: str, delimiter: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    limit = csv.field_size_limit(sys.maxsize)
    try:
        reader = csv.reader(read_lines(path, name, encoding), delimiter=delimiter, strict=True)
        header = next(reader, [])
        for number, cells in enumerate(reader, 1):
            if not cells:
                continue
            if len(cells) != len(header):
                problem = f"row {number} has {len(cells)} cells, the header has {len(header)}"
                raise CorpusFormatError(problem, path=name, line=reader.line_num)
            yield number, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise CorpusFormatError(f"malformed: {error}", path=name, line=reader.line_num) from error
    finally:
        csv.field_size_limit(limit)


def _parquet(path: Path, name: str, options: ReadOptions) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with pq.ParquetFile(path) as file:
            used = find_columns(file.schema_arrow.names, options, name).used
            yield from numbered(file.iter_batches(ROWS_AT_ONCE, columns=used))
    except (pa.ArrowException, OSError) as error:
        raise CorpusFormatError(f"no readable parquet file: {_first_line(error)}", path=name) from error


def _arrow(path: Path, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Arrow IPC, as a stream (what ``datasets`` writes) or as a file."""
    try:
        with pa.memory_map(str(path)) as source:
            try:
                batches: Iterable[pa.RecordBatch] = pa.ipc.open_stream(source)
            except pa.ArrowInvalid:
                file = pa.ipc.open_file(source)
                batches = (file.get_batch(i) for i in range(file.num_record_batches))
            yield from numbered(batches)
    except (pa.ArrowException, OSError) as error:
        raise CorpusFormatError(f"no readable Arrow file: {_first_line(error)}", path=name) from error


def numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of Arrow batches (or tables), counted from 1."""
    number = 0
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            for record in batch.slice(start, ROWS_AT_ONCE).to_pylist():
                number += 1
                yield number, record


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
