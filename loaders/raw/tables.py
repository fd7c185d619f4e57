"""Reads tables of documents: JSON lines, parquet, CSV, TSV, ``datasets``, aligned texts.

JSON and CSV are read line by line with Python's modules, because readers of whole columns can neither name the line of
a malformed row nor continue after it, and reject columns with both numbers and texts. `msgspec` checks the cells.

Aligned texts (NTREX, WMT test sets) have a segment per line, and beside them a file with the document id of each line.
A segment counts as a sentence, since the translations of a document are aligned by segments. The first segment of a
document is its headline; this is so in all 123 documents of newstest2019.
"""

import csv
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec
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
from discoprobe.loaders.raw.document import (
    IDS,
    DropCounts,
    Part,
    ReadOptions,
    Row,
    document_id,
    laid_out,
    one_line,
    read_lines,
)

Records = Iterable[tuple[int, Mapping[str, Any] | CorpusFormatError]]
"""The number of each record, and the record or its error."""

KNOWN: Final = {
    "sentences": ("sentences", "sents"),
    "text": ("text", "content", "body", "document", "article", "raw_content", "paragraphs", "sections"),
    "id": ("id", "doc_id", "document_id", "docid", "_id", "name", "title", "url"),
    "genre": ("genre", "register", "domain"),
}
"""Option → the column names, in lower case, that are tried in this order if the user does not name the column."""
REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
ROWS_AT_ONCE: Final = 256
SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a character: JSON can express it, but UTF-8 cannot encode it."""
LONE_RETURN: Final = "a carriage return outside quotes, or lines that end with a carriage return only"
_TYPES: Final = {"str": "text", "int": "a number", "float": "a number", "array": "a list", "object": "an object"}
"""Words for the types that messages of `msgspec` name."""


class _Section(msgspec.Struct):
    text: str
    name: str | None = None


def find_columns(names: Sequence[str], options: ReadOptions, where: str) -> dict[str, str]:
    """Option → column, for the text or sentences, ids and genres: the columns that the user names, else known names.

    Raises:
        UsageError: a column that the user names is missing, or no column has a known name for the text.
        CorpusFormatError: several columns have the name of a chosen one.
    """
    if options.text and options.sentences:
        raise UsageError("--text and --sentences both name the column of the text; give one of them")
    chosen = {option: getattr(options, option) or known_column(names, known) for option, known in KNOWN.items()}
    chosen.pop("sentences" if options.text else "text" if chosen["sentences"] else "", None)
    found = {option: column for option, column in chosen.items() if column}
    for option, column in found.items():
        if column not in names:
            raise UsageError(f"{where}: no column '{column}' for --{option}; there are: {', '.join(names)}")
        if (n := names.count(column)) > 1:
            raise CorpusFormatError(f"{n} columns are called '{column}'; give each a name of its own", path=where)
    if not found.keys() & {"text", "sentences"}:
        raise UsageError(f"{where}: which column holds the text? Name it with --text: {', '.join(names)}")
    return found


def known_column(names: Sequence[str], wanted: Sequence[str]) -> str:
    """The column with the first of the ``wanted`` names that exists, in any case; empty if none does."""
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[name] for name in wanted if name in lower), "")


def table_rows(source: Path | str, name: str, options: ReadOptions, counts: DropCounts) -> Iterator[Row]:
    """The rows of a table file, a folder that ``datasets`` saved, or a dataset on the Hub, a few at a time in memory.

    ``name`` is for messages; ``counts`` counts malformed rows if the option ``on_error`` is ``"skip"``.

    Raises:
        CorpusFormatError: the file, or a row, is malformed.
        UsageError: the columns are not known.
        RemoteError: the Hub does not provide it.
        DiscoprobeError: it cannot be read, or has no such split.
    """
    if isinstance(source, str) or source.is_dir():
        yield from _dataset_rows(source, name, options, counts)
    elif (suffix := source.suffix.lower()) == ".parquet":
        yield from rows_of(_parquet(source, name, options), name, options, counts)
    else:
        with closing(read_lines(source, name, options.encoding)) as lines:
            delimiter = {".csv": ",", ".tsv": "\t"}.get(suffix)
            records = _csv(lines, name, options, delimiter) if delimiter else _json(lines, name)
            yield from rows_of(records, name, options, counts)


def rows_of(records: Records, name: str, options: ReadOptions, counts: DropCounts) -> Iterator[Row]:
    """Numbered records as rows; the first record tells which columns there are.

    The id of a row without an id, or with the id of an earlier row, is made of the name of the table and the number of
    the row, with ``~2``, ``~3``, … if an earlier row has that id.
    """
    columns: dict[str, str] = {}
    numbers: dict[str, int] = {}  # of rows, by id
    stem = document_id(str(PurePosixPath(name).with_suffix("")))
    for number, record in records:
        if not columns and isinstance(record, Mapping):
            columns = find_columns(list(record), options, name)
        try:
            row = _row(record, columns, f"{name}:{number}")
            if options.id:
                _check_id(row, options.id, numbers.get(row.id), name)
        except CorpusFormatError as error:
            counts.refuse(error, options.on_error)
            continue
        numbered = f"{stem}-{number:06}"
        own = itertools.chain([row.id, numbered], (f"{numbered}~{n}" for n in itertools.count(2)))
        unique = next(each for each in own if each and each not in numbers)
        numbers[unique] = number
        yield replace(row, id=unique)


def _check_id(row: Row, column: str, before: int | None, name: str) -> None:
    """Raise a CorpusFormatError for a row with no id in the column that the user names, or with an earlier row's id."""
    if not row.id:
        raise CorpusFormatError(f"no id in column '{column}'; name another one with --id", path=row.place)
    if before is not None:
        problem = f"id '{row.id}' names this row and {name}:{before}; name a column of unique ids with --id"
        raise CorpusFormatError(problem, path=row.place)


def _row(record: Mapping[str, Any] | CorpusFormatError, columns: Mapping[str, str], place: str) -> Row:
    if isinstance(record, CorpusFormatError):
        raise record
    option = "sentences" if "sentences" in columns else "text"
    content, parts = record.get(columns[option]), None
    try:
        if option == "sentences":
            nested = isinstance(content, list) and content and isinstance(content[0], list)
            lists = msgspec.convert(content, list[list[str]]) if nested else [msgspec.convert(content or [], list[str])]
            text, spans = laid_out(lists)
            parts = [Part(each, segmented=True) for each in spans]
        elif isinstance(content, list):
            has_sections = any(isinstance(part, dict) for part in content)
            text = "\n\n".join(_headed(content, place) if has_sections else msgspec.convert(content, list[str]))
        else:
            text = msgspec.convert(content, str | None) or ""
    except msgspec.ValidationError as error:
        problem = f"column '{columns[option]}'{_in_words(error)}; correct it, or name another column with --{option}"
        raise CorpusFormatError(problem, path=place) from error
    if half := SURROGATE.search(text):
        problem = f"column '{columns[option]}' holds half of a character (surrogate U+{ord(half[0]):04X}); remove it"
        raise CorpusFormatError(problem, path=place)
    name, genre = (record.get(columns[column]) if column in columns else None for column in ("id", "genre"))
    return Row(
        place, "" if name is None else document_id(str(name)), text, parts,
        "" if genre is None else one_line(str(genre)), extracted=isinstance(content, list),
    )  # fmt: skip


def _in_words(error: msgspec.ValidationError) -> str:
    """The place and the message of `msgspec` for a value: ``, item 1, name: expected text, found a number``."""
    problem, _, path = str(error).partition(" - at `$")
    expected, *found = [_TYPES.get(name, f"'{name}'") for name in re.findall(r"`(\w+)", problem)]
    place = re.sub(r"\[(\d+)\]", lambda index: f".item {int(index[1]) + 1}", path.strip("`")).replace(".", ", ")
    return f"{place}: expected {expected}, found {found[0]}" if found else f"{place}: no {expected}"


def _headed(content: list[Any], place: str) -> Iterator[str]:
    """Sections as Markdown; the name of the first section (the lead) becomes the title, other names headings."""
    for number, section in enumerate(msgspec.convert(content, list[_Section]), 1):
        heading = " ".join((section.name or "").split())
        if number > 1 and not heading:
            problem = f"section {number} has no name; only the first, the lead, may have none"
            raise CorpusFormatError(problem, path=place)
        yield from [f"{'#' * min(number, 2)} {heading}", section.text] if heading else [section.text]


def _json(lines: Iterable[str], name: str) -> Records:
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield number, msgspec.convert(json.loads(line), dict[str, Any])
        except (ValueError, RecursionError) as error:  # includes msgspec's error, and that for too long numbers
            why = _in_words(error) if isinstance(error, msgspec.ValidationError) else f": {error}"
            yield number, CorpusFormatError(f"not a JSON object{why}", path=name, line=number)


def _csv(lines: Iterable[str], name: str, options: ReadOptions, delimiter: str) -> Records:
    """The rows that are not blank; the header has number 0. Reading continues after a malformed row."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] = []
    for number in itertools.count():
        problem = ""
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem, cells = f"malformed: {LONE_RETURN if 'new-line character' in str(error) else error}", []
        if cells is None:
            return
        if cells and not header:
            header = cells
            find_columns(header, options, name)
        elif cells and len(cells) == len(header):
            yield number, dict(zip(header, cells, strict=True))
        elif cells or problem:
            problem = problem or f"row {number} has {len(cells)} cells, the header has {len(header)}"
            yield number, CorpusFormatError(problem, path=name, line=reader.line_num)


def _parquet(path: Path, name: str, options: ReadOptions) -> Records:
    try:
        with pq.ParquetFile(path, memory_map=True) as parquet:
            used = [*find_columns(parquet.schema_arrow.names, options, name).values()]
            batches = parquet.iter_batches(ROWS_AT_ONCE, columns=used)
            yield from enumerate((record for batch in batches for record in batch.to_pylist()), 1)
    except (pa.ArrowException, OSError) as error:
        raise CorpusFormatError(f"not a readable parquet file: {first_line(error)}", path=name) from error


def _dataset_rows(source: Path | str, name: str, options: ReadOptions, counts: DropCounts) -> Iterator[Row]:
    """The rows of a saved dataset, or of one on the Hub, which is streamed; splits are in alphabetical order.

    ``HF_ENDPOINT`` and ``HF_TOKEN`` are used.
    """
    from datasets import load_dataset, load_from_disk  # noqa: PLC0415 - takes a second

    try:
        if isinstance(source, Path):
            loaded: Any = load_from_disk(str(source))
        else:
            loaded = load_dataset(source, options.config or None, revision=options.revision or None, streaming=True)
        for place, dataset in _splits(loaded, name, options):
            names = dataset.column_names or list(next(iter(dataset), {}))
            used = [*find_columns(names, options, place).values()]
            yield from rows_of(enumerate(dataset.select_columns(used).with_format(None), 1), place, options, counts)
    except DiscoprobeError:
        raise
    except Exception as error:  # network, Hub and damaged files: the library raises dozens of classes
        why = first_line(error)
        if isinstance(source, str):
            raise RemoteError(f"{name}: no such folder, and no such dataset on the Hub: {why}") from error
        raise DiscoprobeError(f"{name}: no dataset that `datasets` can load: {why}") from error


def _splits(loaded: Any, name: str, options: ReadOptions) -> list[tuple[str, Any]]:
    """The splits to read, each with the name that is used with row numbers in places and ids."""
    if not isinstance(loaded, dict):
        if options.split:
            raise UsageError(f"{name}: has no splits; leave out --set split={options.split}")
        return [(name, loaded)]
    if options.split and options.split not in loaded:
        raise UnknownNameError("split", options.split, loaded, remedy=f"({name} has {', '.join(sorted(loaded))})")
    return [(f"{name}/{split}", loaded[split]) for split in sorted(loaded) if options.split in {"", split}]


def aligned_rows(source: str, ids: str, name: str) -> list[Row]:
    """The documents of an aligned text, in the order of the file; ``ids`` has the id of the document of each line.

    Raises:
        CorpusFormatError: the numbers of ids and segments differ, or the lines of a document are not together.
    """
    lines, labels = (text.removesuffix("\n").split("\n") for text in (source, ids))
    if len(lines) != len(labels):
        raise CorpusFormatError(f"has {len(lines)} lines, {IDS} beside it has {len(labels)}", path=name)
    _, (spans,) = laid_out([lines])
    rows: dict[str, Row] = {}
    for label, group in itertools.groupby(range(len(lines)), lambda number: labels[number].strip()):
        first, *others = list(group)
        if label in rows:
            problem = f"document '{label}' continues here after another one: {IDS} must keep its lines together"
            raise CorpusFormatError(problem, path=name, line=first + 1)
        parts = (Part([spans[first]], "heading"), Part([spans[number] for number in others], segmented=True))
        rows[label] = Row(name, document_id(label), source, parts)
    return list(rows.values())
