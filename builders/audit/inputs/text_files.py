"""Files of rows as tables of strings: their encoding, separator, quoting and header are detected."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from discoprobe.builders.audit.frame import UnreadableDataError

_NAMES = {
    "label", "labels", "text", "sentence", "sentence1", "sentence2", "sentence_a", "sentence_b", "id", "idx", "index",
    "question", "answer", "premise", "hypothesis", "gold_label", "target", "class", "category", "split", "lang",
    "language", "review", "title", "content", "score", "sentiment",
}  # fmt: skip
"""Columns whose names make a first line a header."""
_LOOKED_AT = 1000
_LONGEST_NAME = 30
_INDEX = "index"


_WHOLE = r'^"(?:[^"]|"")*"$'
_WITH_QUOTES = r'^"(?:[^"]|"")*""(?:[^"]|"")*"$'
"""A quoted field, and one that holds a quotation mark."""


class Table(NamedTuple):
    """The rows of a file, how they are written, and remarks for people (``UTF-16``, ``no header``)."""

    rows: pl.DataFrame
    kind: str
    notes: tuple[str, ...] = ()


def read_table_file(path: Path) -> Table:
    """The rows of a parquet, JSON, CSV or TSV file; one without suffix is read as TSV.

    Without a header, the columns are called ``column1``, ``column2`` and so on.

    Raises:
        UnreadableDataError: it cannot be parsed, or its suffix is not in ``SUFFIXES``.
    """
    if path.suffix not in _READERS:
        raise UnreadableDataError(f"{path}: files of rows end in {' '.join(SUFFIXES)}, not in '{path.suffix}'")
    try:
        return _READERS[path.suffix](path)
    except (pl.exceptions.PolarsError, OSError, ValueError, csv.Error) as error:
        if isinstance(error, pl.exceptions.NoDataError):
            return Table(pl.DataFrame(), path.suffix[1:])
        reason = str(error).strip().splitlines()[0]
        raise UnreadableDataError(f"{path}: not a readable {path.suffix[1:]} file: {reason}") from error


def unfolded(rows: pl.DataFrame) -> pl.DataFrame:
    """``rows`` with a column for each field of a struct: ``choices.text`` is the field ``text`` of ``choices``."""
    while structs := [name for name, dtype in rows.schema.items() if isinstance(dtype, pl.Struct)]:
        for name in structs:
            fields = rows[name].struct.fields
            rows = rows.with_columns(pl.col(name).struct.field(part).alias(f"{name}.{part}") for part in fields)
        rows = rows.drop(structs)
    return rows


def decoded(path: Path) -> tuple[str, tuple[str, ...]]:
    """The text of a file and a remark if it is not in UTF-8.

    Raises:
        UnreadableDataError: it is neither UTF-8 nor UTF-16.
    """
    content = path.read_bytes()
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return content.decode("utf-16"), ("UTF-16",)
    if len(content) > 1 and content[:200].count(0) >= len(content[:200]) // 3:
        return content.decode("utf-16-le" if content[1] == 0 else "utf-16-be"), ("UTF-16 without a byte order mark",)
    try:
        return content.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        raise UnreadableDataError(f"{path}: not UTF-8 text (byte {error.start}); convert it first") from error


def lines_of(path: Path) -> pl.DataFrame:
    """The tab-separated ``fields`` of each line that is not empty, without quoting, and its ``number``.

    X-Probe and RuSentEval have quoted some lines and not others; so each field is checked by itself.
    """
    text = decoded(path)[0]
    lines = pl.DataFrame({"line": text.split("\n")}).with_row_index("number", offset=1)
    lines = lines.filter(pl.col("line").str.contains(r"\S"))
    lines = lines.select("number", fields=pl.col("line").str.strip_suffix("\r").str.split("\t"))
    field = pl.element()
    quoted = field.str.contains(_WHOLE if _has_quoted_column(_fields(text)) else _WITH_QUOTES)
    bare = (
        pl.when(quoted).then(field.str.slice(1, field.str.len_chars() - 2).str.replace_all('""', '"')).otherwise(field)
    )
    return lines.with_columns(pl.col("fields").list.eval(bare)) if '"' in text else lines


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns.

    It does if all its fields are short and different, and one of them is a usual name, or stands above numbers, or none
    of them occurs again in its column although the values of some column do. The first may be empty: pandas writes its
    index without a name.
    """
    first, rest = [field.strip() for field in rows[0]], rows[1:]
    if len(first) > 1 and not first[0] and all(_is_number(row[0]) for row in rest if row):
        first = [_INDEX, *first[1:]]
    if len(set(first)) < len(first) or not all(0 < len(field) <= _LONGEST_NAME for field in first):
        return False
    if any(_is_number(field) or re.search(r"[.!?]$", field) for field in first):
        return False
    if any(field.lower() in _NAMES for field in first):
        return True
    columns = [column for column in zip(first, *rest, strict=False) if len(column) > 1]
    if any(all(_is_number(value) for value in below) for _, *below in columns):
        return True
    repeating = [column for column in columns if len(set(column[1:])) <= len(column) // 3]
    return bool(repeating) and all(name not in below for name, *below in columns)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[-+]?\d+(?:\.\d+)?\s*", text) is not None


def is_quoted(text: str) -> bool:
    """Whether the fields of tab-separated lines are quoted as in CSV, so that quotation marks are not text.

    They are if all fields of some column are quoted, if lines have the same number of fields only when they are read as
    quoted, or if every field that begins with a quotation mark is quoted and contains another, doubled one. A sentence
    that is a quotation contains no doubled one.
    """
    lines = _fields(text)
    opened = [field for fields in lines for field in fields if field.startswith('"') and len(field) > 1]
    if opened and len({len(fields) for fields in lines}) > 1:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter="\t") if row]
        return len({len(row) for row in rows}) == 1 < len(rows)
    return _has_quoted_column(lines) or bool(opened and all(re.search(_WITH_QUOTES, field) for field in opened))


def _fields(text: str) -> list[list[str]]:
    """The fields of the first lines."""
    first = text.split("\n", _LOOKED_AT)[:_LOOKED_AT]
    return [line.rstrip("\r").split("\t") for line in first if line.strip()]


def _has_quoted_column(lines: Sequence[Sequence[str]]) -> bool:
    return any(all(re.search(_WHOLE, field) for field in column) for column in zip(*lines, strict=False))


def _csv(path: Path) -> Table:
    text, notes = decoded(path)
    head = text.split("\n", 1)[0]
    separator = max("\t,;", key=head.count)
    return _separated(text, separator, "CSV", notes, quote='"')


def _tsv(path: Path) -> Table:
    """A quotation mark in a TSV file is text, unless the file is quoted (``is_quoted``)."""
    text, notes = decoded(path)
    quoted = is_quoted(text)
    return _separated(text, "\t", "TSV", (*notes, "quoted") if quoted else notes, quote='"' if quoted else None)


def _separated(text: str, separator: str, kind: str, notes: tuple[str, ...], quote: str | None) -> Table:
    if not text.strip():
        return Table(pl.DataFrame(), kind, notes)
    sample = io.StringIO(text, newline="")
    csv.field_size_limit(1 << 30)
    reader = csv.reader(sample, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE)
    first = [row for _, row in zip(range(_LOOKED_AT), reader, strict=False) if row]
    for number, row in enumerate(first, 1):
        if len(row) > len(first[0]):
            raise ValueError(f"row {number} has {len(row)} fields, the first {len(first[0])}")
    header = has_header(first)
    rows = pl.read_csv(
        text.encode(), separator=separator, quote_char=quote, infer_schema_length=None, has_header=header,
        new_columns=None if header else [f"column{place}" for place in range(1, len(first[0]) + 1)],
    )  # fmt: skip
    return Table(rows, kind, notes if header else (*notes, "no header"))


def _json(path: Path) -> Table:
    """A JSON array of rows, an object of columns, an object with one array of rows, or JSON lines."""
    text, notes = decoded(path)
    if not _is_one_value(text, lines=path.suffix != ".json"):
        return Table(_json_lines(path, text), "JSON lines", notes)
    value = json.loads(text)
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list) and inner and isinstance(inner[0], dict)]
        value = lists[0] if len(lists) == 1 else value
    if isinstance(value, list) and not all(isinstance(row, dict) for row in value):
        raise ValueError("an array of values without names of columns")
    if isinstance(value, dict):
        value = {name: list(of.values()) if isinstance(of, dict) else of for name, of in value.items()}
        lengths = {name: len(of) for name, of in value.items() if isinstance(of, list)}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"'{name}' {n}" for name, n in list(lengths.items())[:6])
            raise ValueError(f"an object with arrays of several lengths ({shown}); write each split into its own file")
    return Table(pl.DataFrame(value, infer_schema_length=None, strict=False), "JSON", notes)


def _is_one_value(text: str, *, lines: bool) -> bool:
    """Whether a file is one JSON value, such as an array, and not one per line; ``lines``: as its suffix says."""
    if lines or text.lstrip()[:1] == "[":
        return text.lstrip()[:1] == "["
    try:
        json.loads(text.split("\n", 1)[0])
    except ValueError:
        return True
    return not text.strip().count("\n")


def _json_lines(path: Path, text: str) -> pl.DataFrame:
    try:
        return pl.read_ndjson(text.encode(), infer_schema_length=None)
    except pl.exceptions.PolarsError:
        rows = []
        for number, line in enumerate(text.split("\n"), 1):
            try:
                if line.strip():
                    rows.append(json.loads(line))
            except ValueError as error:
                raise UnreadableDataError(f"{path}:{number}: not JSON: {error}") from error
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)


_READERS: Mapping[str, Callable[[Path], Table]] = {
    ".parquet": lambda path: Table(pl.read_parquet(path), "parquet"),
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _tsv,
    ".txt": _tsv,
    ".rels": _tsv,
    "": _tsv,
}
SUFFIXES = tuple(suffix for suffix in _READERS if suffix)
