"""Tables of documents as rows: JSON lines, parquet, CSV and TSV files, and Arrow tables of any origin.

JSON and CSV are read line by line with Python's modules: readers of whole columns can neither name the line of a
malformed row nor continue after it, and refuse columns that hold numbers and texts.
"""

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
from discoprobe.loaders.raw.options import COLUMNS
from discoprobe.loaders.raw.read.document_ids import one_line
from discoprobe.loaders.raw.read.encoding import read_lines
from discoprobe.loaders.raw.read.rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.options import ReadOptions

    Refuse = Callable[[CorpusFormatError], None]
    """Gets what is wrong with a row; raises it, or counts it and returns, and the row is dropped."""
    Records = Iterator[tuple[int, Mapping[str, Any]]]

SUFFIXES: Final = (".jsonl", ".ndjson", ".parquet", ".csv", ".tsv", ".arrow")
TEXT: Final = ("text", "content", "body", "document", "article", "raw_content", "paragraphs")
ID: Final = ("id", "doc_id", "document_id", "docid", "_id", "name", "title", "url")
GENRE: Final = ("genre", "register", "domain")
SENTENCES: Final = ("sentences", "sents")
"""Column names in lower case that are tried, in this order, where the user names no column."""
ROWS_AT_ONCE: Final = 256
SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a character, which JSON can express and no file can contain."""
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
"""Names of types in messages."""
LONE_RETURN: Final = "a carriage return outside quotes, or lines that end with a carriage return only"


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of columns; ``id`` and ``genre`` may be empty, and either ``text`` or ``sentences`` is."""

    text: str
    sentences: str
    id: str
    genre: str

    @property
    def used(self) -> list[str]:
        """The names that are not empty."""
        return [name for name in (self.text, self.sentences, self.id, self.genre) if name]


def find_columns(names: Sequence[str], options: ReadOptions, where: str) -> Columns:
    """The columns that hold text, sentences, ids and genres: those that the user names, else known names.

    Raises:
        UsageError: a column that the user names is missing, or no column is known to hold the text.
        CorpusFormatError: two columns have the name of one of them.
    """
    for option in COLUMNS:
        name = getattr(options, option)
        if name and name not in names:
            raise UsageError(f"{where}: no column '{name}' for --{option}; there are: {', '.join(names)}")
    if options.text and options.sentences:
        raise UsageError("--text and --sentences name the same thing twice: give one of them")
    lower = {name.lower(): name for name in reversed(names)}

    def known(candidates: Sequence[str]) -> str:
        return next((lower[name] for name in candidates if name in lower), "")

    sentences = options.sentences or ("" if options.text else known(SENTENCES))
    text = "" if sentences else options.text or known(TEXT)
    if not text and not sentences:
        raise UsageError(f"{where}: no column is called {TEXT[0]} or the like; name it with --text: {', '.join(names)}")
    columns = Columns(text, sentences, options.id or known(ID), options.genre or known(GENRE))
    for name in columns.used:
        if (n := names.count(name)) > 1:
            raise CorpusFormatError(f"{n} columns are called '{name}'; give each a name of its own", path=where)
    return columns


def table_rows(path: Path, name: str, options: ReadOptions, refuse: Refuse) -> Iterator[Row]:
    """The rows of a table file in their order, a few at a time in memory.

    Args:
        path: the file.
        name: its name in messages.
        options: which columns to take.
        refuse: called with what is wrong with a row.

    Raises:
        CorpusFormatError: the file as a whole is malformed.
        UsageError: the columns are not known.
        DiscoprobeError: the file cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson"}:
        records = _json(path, name, options.encoding, refuse)
    elif suffix in {".csv", ".tsv"}:
        records = _csv(path, name, options, refuse)
    else:
        records = _arrow(path, name, options)
    yield from rows_of(records, name, options, refuse)


def rows_of(
    records: Iterable[tuple[int, Mapping[str, Any]]], name: str, options: ReadOptions, refuse: Refuse
) -> Iterator[Row]:
    """Numbered records as rows; the first record tells which columns there are."""
    columns: Columns | None = None
    for number, record in records:
        if columns is None:
            columns = find_columns(list(record), options, name)
        try:
            yield _row(record, columns, f"{name}:{number}", id_needed=bool(options.id))
        except CorpusFormatError as error:
            refuse(error)


def _row(record: Mapping[str, Any], columns: Columns, place: str, *, id_needed: bool) -> Row:
    def cell(column: str) -> Any:
        return record.get(column) if column else None

    text, sentences = cell(columns.text), cell(columns.sentences)
    if not (text is None or isinstance(text, str) or _is_list(text)):
        raise CorpusFormatError(f"column '{columns.text}' holds {_kind(text)}, not a text", path=place)
    if not (sentences is None or _is_list(sentences) or _is_list_of_lists(sentences)):
        problem = f"column '{columns.sentences}' holds {_kind(sentences)}, not a list of sentences"
        raise CorpusFormatError(problem, path=place)
    for column in filter(None, (columns.text, columns.sentences)):
        if half := _surrogate(cell(column)):
            raise CorpusFormatError(f"column '{column}' holds half a character (U+{ord(half):04X})", path=place)
    name, genre = cell(columns.id), cell(columns.genre)
    if id_needed and name is None:
        raise CorpusFormatError(f"no id in column '{columns.id}'; name another one with --id", path=place)
    return Row(
        place=place,
        id=None if name is None else str(name),
        text=("\n\n".join(text) if isinstance(text, list) else text or "") if columns.text else None,
        sentences=_lists(sentences or []) if columns.sentences else None,
        genre="" if genre is None else one_line(str(genre)),
        extracted=isinstance(text, list),
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _is_list_of_lists(value: Any) -> bool:
    return isinstance(value, list) and all(_is_list(part) for part in value)


def _lists(sentences: list[Any]) -> list[list[str]]:
    return sentences if sentences and isinstance(sentences[0], list) else [sentences]


def _surrogate(value: Any) -> str:
    """The first surrogate in a text, or in lists of texts; empty if there is none."""
    if isinstance(value, list):
        return next(filter(None, map(_surrogate, value)), "")
    match = SURROGATE.search(value or "")
    return match[0] if match else ""


def _kind(value: Any) -> str:
    return KINDS.get(type(value), f"a {type(value).__name__}")


def _json(path: Path, name: str, encoding: str, refuse: Refuse) -> Records:
    for number, line in enumerate(read_lines(path, name, encoding), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # malformed, or a number of thousands of digits
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
    """The rows that are not blank, numbered from 0 for the header; after a malformed row it continues with the next."""
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


def _arrow(path: Path, name: str, options: ReadOptions) -> Records:
    """The records of a parquet file, or of Arrow IPC as a stream (what ``datasets`` writes) or a file."""
    kind = "parquet" if path.suffix.lower() == ".parquet" else "Arrow"
    try:
        with pa.memory_map(str(path)) as source:
            if kind == "parquet":
                parquet = pq.ParquetFile(source)
                used = find_columns(parquet.schema_arrow.names, options, name).used
                yield from numbered(parquet.iter_batches(ROWS_AT_ONCE, columns=used))
                return
            batches: Iterable[pa.RecordBatch]
            try:
                batches = table = pa.ipc.open_stream(source)
            except pa.ArrowInvalid:
                table = pa.ipc.open_file(source)
                batches = (table.get_batch(i) for i in range(table.num_record_batches))
            used = find_columns(table.schema.names, options, name).used
            yield from numbered(batch.select(used) for batch in batches)
    except (pa.ArrowException, OSError) as error:
        problem = f"no readable {kind} file: {str(error).strip().partition(chr(10))[0]}"
        raise CorpusFormatError(problem, path=name) from error


def numbered(batches: Iterable[pa.RecordBatch]) -> Records:
    """The records of Arrow batches or tables, numbered from 1."""
    numbers = itertools.count(1)
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            yield from zip(numbers, batch.slice(start, ROWS_AT_ONCE).to_pylist(), strict=False)
