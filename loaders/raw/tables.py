"""Tables of documents as rows: JSON lines, parquet, CSV, TSV, ``datasets``.

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
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from discoprobe.loaders.errors import (
    CorpusFormatError,
    DiscoprobeError,
    RemoteError,
    UnknownNameError,
    UsageError,
    first_line,
)
from discoprobe.loaders.raw.files import one_line, read_lines
from discoprobe.loaders.raw.options import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.options import ReadOptions

    Refuse = Callable[[CorpusFormatError], None]
    """Gets what is wrong with a row; raises it, or counts it and returns, and the row is dropped."""
    Records = Iterable[tuple[int, Mapping[str, Any]]]

TEXT: Final = ("text", "content", "body", "document", "article", "raw_content", "paragraphs", "sections")
ID: Final = ("id", "doc_id", "document_id", "docid", "_id", "name", "title", "url")
GENRE: Final = ("genre", "register", "domain")
SENTENCES: Final = ("sentences", "sents")
"""Column names in lower case that are tried, in this order, where the user names no column."""
REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
LONGEST_NAME: Final = 150
"""Characters of the name of a section that are kept; a longer line would be no heading."""
ROWS_AT_ONCE: Final = 256
SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a character, which JSON can express and no file can contain."""
KINDS: Final = {
    **dict.fromkeys((int, float), "a number"),
    str: "a text",
    bytes: "bytes",
    bool: "a truth value",
    dict: "an object",
    list: "a list",
}
"""Names of types in messages."""
LONE_RETURN: Final = "a carriage return outside quotes, or lines that end with a carriage return only"


@dataclass(frozen=True, slots=True)
class Row:
    """A document of a table, or a text file; it has a text, or sentences in a list per paragraph."""

    place: str  # ``notes.jsonl:12``, from 1: lines of JSON lines, rows of other tables; a text file's name
    id: str | None  # the cell that names the document; None if no column does
    text: str | None
    sentences: list[list[str]] | None = None
    genre: str = ""
    extracted: bool = False  # whether ``text`` was joined from a list of paragraphs


class Columns(NamedTuple):
    """The names of columns; ``id`` and ``genre`` may be empty, and either ``text`` or ``sentences`` is."""

    text: str
    sentences: str
    id: str
    genre: str

    @property
    def used(self) -> list[str]:
        """The names that are not empty."""
        return list(filter(None, self))


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
    sentences = options.sentences or ("" if options.text else known_column(names, SENTENCES))
    text = "" if sentences else options.text or known_column(names, TEXT)
    if not text and not sentences:
        raise UsageError(f"{where}: no column is called {TEXT[0]} or the like; name it with --text: {', '.join(names)}")
    id_, genre = options.id or known_column(names, ID), options.genre or known_column(names, GENRE)
    columns = Columns(text, sentences, id_, genre)
    for name in columns.used:
        if (n := names.count(name)) > 1:
            raise CorpusFormatError(f"{n} columns are called '{name}'; give each a name of its own", path=where)
    return columns


def known_column(names: Sequence[str], wanted: Sequence[str]) -> str:
    """The column with the first of some names in any case; empty if there is none."""
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[name] for name in wanted if name in lower), "")


def table_rows(path: Path, name: str, options: ReadOptions, refuse: Refuse) -> Iterator[Row]:
    """The rows of a table file, or of a folder that ``datasets`` saved, in order, a few at a time in memory.

    ``name`` is for messages; ``refuse`` is called with what is wrong with a row.

    Raises:
        CorpusFormatError: the file as a whole is malformed.
        UsageError: the columns are not known.
        DiscoprobeError: it cannot be read, or has no such split.
    """
    if path.is_dir():
        return dataset_rows(path, name, options, refuse)
    suffix = path.suffix.lower()
    records = {".csv": _csv, ".tsv": _csv, ".parquet": _parquet}.get(suffix, _json)(path, name, options, refuse)
    return rows_of(records, name, options, refuse)


def rows_of(records: Records, name: str, options: ReadOptions, refuse: Refuse) -> Iterator[Row]:
    """Numbered records as rows; the first record tells which columns there are."""
    columns: Columns | None = None
    for number, record in records:
        columns = columns or find_columns(list(record), options, name)
        try:
            yield _row(record, columns, f"{name}:{number}", id_needed=bool(options.id))
        except CorpusFormatError as error:
            refuse(error)


def _row(record: Mapping[str, Any], columns: Columns, place: str, *, id_needed: bool) -> Row:
    text, sentences, name, genre = (record.get(column) if column else None for column in columns)
    if isinstance(text, list) and any(isinstance(part, dict) for part in text):
        text = _of_sections(text, place)
    if not (text is None or isinstance(text, str) or _is_list(text)):
        raise CorpusFormatError(f"column '{columns.text}' holds {_kind(text)}, not a text", path=place)
    if not (sentences is None or _is_list(sentences) or _is_list(sentences, _is_list)):
        problem = f"column '{columns.sentences}' holds {_kind(sentences)}, not a list of sentences"
        raise CorpusFormatError(problem, path=place)
    joined = "\n\n".join(text) if isinstance(text, list) else text or ""
    lists = sentences if sentences and isinstance(sentences[0], list) else [sentences or []]
    for column, content in ((columns.text, joined), (columns.sentences, "".join(map("".join, lists)))):
        if half := SURROGATE.search(content):
            raise CorpusFormatError(f"column '{column}' holds an unpaired surrogate (U+{ord(half[0]):04X})", path=place)
    if id_needed and name is None:
        raise CorpusFormatError(f"no id in column '{columns.id}'; name another one with --id", path=place)
    return Row(
        place=place,
        id=None if name is None else str(name),
        text=joined if columns.text else None,
        sentences=lists if columns.sentences else None,
        genre="" if genre is None else one_line(str(genre)),
        extracted=isinstance(text, list),
    )


def _of_sections(sections: list[Any], place: str) -> list[str]:
    """The sections of a document as Markdown: the name of the first, the lead, as title, the others as headings."""
    parts: list[str] = []
    for number, section in enumerate(sections, 1):
        if not isinstance(section, dict):
            problem = f"section {number} is {_kind(section)}, not an object with name and text"
            raise CorpusFormatError(problem, path=place)
        name, text = section.get("name") or "", section.get("text")
        if not isinstance(name, str) or not isinstance(text, str):
            held = f"name is {_kind(name)}, text {'missing' if text is None else _kind(text)}"
            raise CorpusFormatError(f"section {number}: {held}; both must be texts", path=place)
        heading = " ".join(name.split())[:LONGEST_NAME]
        if number > 1 and not heading:
            problem = f"section {number} has no name; only the first, the lead, may have none"
            raise CorpusFormatError(problem, path=place)
        parts += [f"{'#' * min(number, 2)} {heading}", text] if heading else [text]
    return parts


def _is_list(value: Any, has_kind: Callable[[Any], bool] = lambda part: isinstance(part, str)) -> bool:
    """Whether a value is a list of texts, or of what a function tells."""
    return isinstance(value, list) and all(map(has_kind, value))


def _kind(value: Any) -> str:
    return KINDS.get(type(value), f"a {type(value).__name__}")


def _json(path: Path, name: str, options: ReadOptions, refuse: Refuse) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(read_lines(path, name, options.encoding), 1):
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


def _csv(path: Path, name: str, options: ReadOptions, refuse: Refuse) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows that are not blank, numbered from 0 for the header; after a malformed row it continues with the next."""
    limit = csv.field_size_limit(sys.maxsize)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    reader = csv.reader(read_lines(path, name, options.encoding), delimiter=delimiter, strict=True)
    header: list[str] = []
    try:
        for number in itertools.count():
            try:
                cells = next(reader, None)
            except csv.Error as error:
                why = LONE_RETURN if "new-line character" in str(error) else str(error)
                refuse(CorpusFormatError(f"malformed: {why}", path=name, line=reader.line_num))
                continue
            if cells is None:
                return
            if cells and not header:
                header = cells
                find_columns(header, options, name)
            elif len(cells) == len(header):
                yield number, dict(zip(header, cells, strict=True))
            elif cells:
                problem = f"row {number} has {len(cells)} cells, the header has {len(header)}"
                refuse(CorpusFormatError(problem, path=name, line=reader.line_num))
    finally:
        csv.field_size_limit(limit)


def _parquet(path: Path, name: str, options: ReadOptions, _: Refuse) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with pq.ParquetFile(path, memory_map=True) as parquet:
            used = find_columns(parquet.schema_arrow.names, options, name).used
            batches = parquet.iter_batches(ROWS_AT_ONCE, columns=used)
            yield from enumerate((record for batch in batches for record in batch.to_pylist()), 1)
    except (pa.ArrowException, OSError) as error:
        raise CorpusFormatError(f"no readable parquet file: {first_line(error)}", path=name) from error


def dataset_rows(source: Path | str, name: str, options: ReadOptions, refuse: Refuse) -> Iterator[Row]:
    """The rows of a folder that ``datasets`` saved, or of a dataset on the Hub by its id, streamed, split by split.

    ``HF_ENDPOINT`` and ``HF_TOKEN`` are used. The splits are in the order of their names.

    Raises:
        RemoteError: the Hub does not provide it.
        DiscoprobeError: it cannot be read, or has no such split, or no column of texts.
    """
    from datasets import load_dataset, load_from_disk  # noqa: PLC0415 - takes a second

    try:
        if isinstance(source, str):
            loaded = load_dataset(source, options.config or None, revision=options.revision or None, streaming=True)
        else:
            loaded = load_from_disk(str(source))
        for place, dataset in _splits(loaded, name, options):
            names = dataset.column_names or list(next(iter(dataset), {}))
            used = find_columns(names, options, place).used
            yield from rows_of(enumerate(dataset.select_columns(used).with_format(None), 1), place, options, refuse)
    except DiscoprobeError:
        raise
    except Exception as error:  # network, Hub and damaged files: the library raises dozens of classes
        why = first_line(error)
        if isinstance(source, str):
            raise RemoteError(f"{name}: no such folder, and no such dataset on the Hub: {why}") from error
        raise DiscoprobeError(f"{name}: no dataset that `datasets` can load: {why}") from error


def _splits(loaded: Any, name: str, options: ReadOptions) -> list[tuple[str, Any]]:
    """Each split that is read, with the name that stands before the numbers of its rows."""
    if not isinstance(loaded, dict):
        if options.split:
            raise UsageError(f"{name}: has no splits; leave out --split")
        return [(name, loaded)]
    if options.split and options.split not in loaded:
        raise UnknownNameError("split", options.split, loaded, remedy=f"in {name}")
    return [(f"{name}/{split}", loaded[split]) for split in sorted(loaded) if options.split in {"", split}]
