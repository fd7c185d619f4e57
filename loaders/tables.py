"""Reads text files and containers of rows: JSON lines, JSON, CSV, TSV, parquet, and datasets of ``datasets``.

Bytes become characters (``read_text``, ``read_lines``): the encoding is the one that the user gives, the one of the
byte order mark, or UTF-8; files may be UTF-16 without a mark (``utf_16_of``). For raw text, whose language is known,
`raw.text_rows` also finds the code page of an old file.

Characters become rows in two ways. ``read_records`` and ``dataset_records`` give the rows of a corpus one at a time,
with their numbers: memory holds few of them, and reading continues after a malformed one. They use Python's modules for
JSON and CSV, because readers of whole columns can neither name the line of a malformed row nor continue after it, and
reject columns with both numbers and texts. ``read_table`` gives all rows of labelled data as a data frame with the
types of its values; separator, quoting and header are detected. ``read_fields`` gives lines of fields that have no
header. Files of labelled data may be compressed (``suffix_of``) or in an archive (``archives``).
"""

import bz2
import codecs
import csv
import gzip
import io
import itertools
import json
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
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

MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks and their encodings; UTF-32 comes first because its mark begins with that of UTF-16."""
UNDECODED: Final = re.compile("[\0\udc80-\udcff]")
"""A NUL byte, or a byte that does not belong to the encoding."""


def read_bytes(path: Path, name: str, n: int = -1) -> bytes:
    """The content of a file, or its first ``n`` bytes.

    Raises:
        DiscoprobeError: the file, which is ``name`` in the message, cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(n)
    except OSError as error:
        raise DiscoprobeError(f"{name}: cannot be read: {error.strerror}") from error


def read_text(path: Path, name: str, encoding: str = "") -> str:
    """The characters of a text file without byte order mark; line ends stay as they are.

    ``name`` is for messages. Without ``encoding`` the encoding is that of the byte order mark, else UTF-8.

    Raises:
        CorpusFormatError: a byte does not belong to the encoding, or the file is binary; the message has its position.
        DiscoprobeError: the file cannot be read.
        UsageError: Python does not know the encoding.
    """
    data = read_bytes(path, name)
    codec = _codec(data[:4], encoding)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        if encoding or not codec.startswith("utf-8") or b"\0" not in data:
            place = error.start + len(data) - len(error.object)
            expected = error.encoding.replace("utf-", "UTF-").replace("utf8", "UTF-8").replace("_", "-")
            remedy = "give its encoding with --encoding, such as cp1252"
            remedy = f"the encoding given is {encoding}; is it another?" if encoding else remedy
            problem = f"byte {data[place]:#04x} at position {place} is not {expected} ({error.reason}); {remedy}"
            raise CorpusFormatError(problem, path=name) from error
        text = "\0"  # it is binary, or UTF-16 without byte order mark
    if "\0" in text:
        where = f" at position {data.index(0)}" if codec.startswith("utf-8") else ""
        remedy = "if it is UTF-16 without byte order mark, name the encoding with --encoding utf-16-le (or -be)"
        raise CorpusFormatError(f"NUL byte{where}: not a text file; {remedy}", path=name)
    return text


def read_lines(path: Path, name: str, encoding: str = "") -> Generator[str]:
    r"""The lines of a text file with their ends (only ``\n``), one at a time, decoded as by :func:`read_text`.

    The lines before an invalid byte are given before the error is raised.
    """
    codec = _codec(read_bytes(path, name, 4), encoding)
    try:
        with path.open(encoding=codec, errors="surrogateescape", newline="\n") as file:
            for line in file:
                if UNDECODED.search(line):
                    read_text(path, name, encoding)  # raises the error with its position
                yield line
    except UnicodeDecodeError:
        read_text(path, name, encoding)  # the same


def _codec(start: bytes, encoding: str) -> str:
    """The codec of a file with certain first bytes: that of its byte order mark, unless another encoding is given."""
    try:
        declared = codecs.lookup(encoding).name.removesuffix("-sig") if encoding else ""
        io.TextIOWrapper(io.BytesIO(), declared or "utf-8")  # raises an error for codecs that give no text, as rot13
    except LookupError as error:
        raise UsageError(f"'{encoding}' is not an encoding of Python; examples: utf-8, cp1252, koi8-r") from error
    proven = next((codec for mark, codec in MARKS.items() if start.startswith(mark)), "")
    if proven and (declared or proven).startswith(proven.removesuffix("-sig")):
        return proven
    return f"{declared}-{sys.byteorder[0]}e" if declared in {"utf-16", "utf-32"} else declared or "utf-8"


COMPRESSED: Final = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
"""Suffix of a compressed file → what decompresses it."""


def plain_name(path: Path) -> Path:
    """The path without the suffix of its compression: ``train.tsv`` for ``train.tsv.gz``."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


def suffix_of(path: Path) -> str:
    """The suffix that says what a file holds, in small letters: ``.tsv`` for ``TRAIN.TSV.gz``."""
    return plain_name(path).suffix.lower()


WITHOUT_MARK: Final = "UTF-16 without a byte order mark"


def utf_16_of(data: bytes) -> str:
    """The codec of UTF-16 without a byte order mark, known by its zero bytes; empty for any other text."""
    start = data[:200]
    is_wide = len(start) > 1 and start.count(0) >= max(1, len(start) // 3)
    return ("utf-16-le" if data[1] == 0 else "utf-16-be") if is_wide else ""


def read_labelled_text(path: Path, encoding: str = "") -> tuple[str, tuple[str, ...]]:
    r"""The text of a file of labelled data, and remarks if it is not in UTF-8 or its lines end in ``\r`` alone.

    A compressed file is decompressed.

    Raises:
        CorpusFormatError: it is not in the ``encoding``; or, if that is not given, it has no byte order mark and is
            neither UTF-8 nor UTF-16.
        UsageError: Python does not know the encoding.
    """
    try:
        data = path.read_bytes()
        if decompress := COMPRESSED.get(path.suffix.lower()):
            data = decompress(data)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise CorpusFormatError(f"cannot be read: {first_line(error)}", path=str(path)) from error
    codec, remarks = _codec(data[:4], encoding), tuple[str, ...]()
    if not codec.startswith("utf-8"):
        remarks = (codec.upper(),)
    elif not encoding and (found := utf_16_of(data)):
        codec, remarks = found, (WITHOUT_MARK,)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        expected = codec.upper().removesuffix("-SIG")
        raise CorpusFormatError(
            f"not {expected} text (byte {error.start}); name its encoding with --encoding, such as cp1252",
            path=str(path),
        ) from error
    if "\r" in text and "\n" not in text:
        text, remarks = text.replace("\r", "\n"), (*remarks, "lines end in CR")
    return text, remarks


Records = Iterator[tuple[int, Mapping[str, Any] | CorpusFormatError]]
"""The number of each row, from 1, and the row or its error."""
Choose = Callable[[Sequence[str]], Collection[str]]
"""Which columns to read of those that there are; it is called before the first row is read, and may raise an error."""

TABLES: Final = (".jsonl", ".ndjson", ".parquet", ".csv", ".tsv")
"""The suffixes of containers that ``read_records`` reads in a corpus."""
LINES_OF_SEPARATOR: Final = 100
"""First lines of a CSV file by which its separator is found."""
TAB: Final = "\t"
PARQUET_BATCH: Final = 256
"""Number of rows of a parquet file that are in memory at a time."""
TYPES: Final = {"str": "text", "int": "a number", "float": "a number", "array": "a list", "object": "an object"}
"""Words for the types that messages of `msgspec` name."""


def read_records(
    path: Path, name: str, choose: Choose = list, encoding: str = "", note: Callable[[str], object] = str
) -> Records:
    """The rows of a parquet, CSV or TSV file, of JSON lines, or of a JSON array, which is read at once.

    The separator of CSV is found as in ``read_table``; ``note`` is told if it is no comma. TSV has tabs. Both have a
    header and quoting; rows that are blank are skipped, but counted in the
    numbers, in which the header of a CSV file is 0. JSON lines are numbered by line. ``name`` is for messages.

    Raises:
        CorpusFormatError: the file as a whole is malformed.
        DiscoprobeError: it cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        with reading_parquet(name, OSError), pq.ParquetFile(path, memory_map=True) as parquet:
            batches = parquet.iter_batches(PARQUET_BATCH, columns=[*choose(parquet.schema_arrow.names)])
            yield from enumerate((record for batch in batches for record in batch.to_pylist()), 1)
        return
    with closing(read_lines(path, name, encoding)) as all_lines:
        lines: Iterator[str] = all_lines
        if suffix in {".csv", ".tsv"}:
            first_lines, lines = _looked_at(lines, LINES_OF_SEPARATOR)
            separator = _separator("".join(first_lines), suffix) if suffix == ".csv" else "\t"
            if separator != {".csv": ",", ".tsv": "\t"}[suffix]:
                note(f"{name}: columns are separated by {'tabs' if separator == TAB else separator}")
            yield from _csv_records(lines, name, choose, separator)
            return
        first = next(lines, "")
        if not first.lstrip().startswith("["):
            yield from json_records(itertools.chain([first], lines), name)
            return
        try:
            values = json.loads("".join([first, *lines]))
        except (ValueError, RecursionError) as error:
            values = [error]
        for number, value in enumerate(values, 1):
            yield number, _json_object(value, name, number)


@contextmanager
def reading_parquet(name: str, *errors: type[Exception]) -> Iterator[None]:
    """Arrow's errors of reading the parquet file ``name``, and other ``errors``, as a CorpusFormatError."""
    try:
        yield
    except (pa.ArrowException, *errors) as error:
        raise CorpusFormatError(f"not a readable parquet file: {first_line(error)}", path=name) from error


def json_records(lines: Iterable[str], name: str) -> Records:
    """The rows in JSON lines."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:  # includes that for too long numbers
                value = error
            yield number, _json_object(value, name, number)


def _json_object(value: object, name: str, number: int) -> Mapping[str, Any] | CorpusFormatError:
    """A value if it is an object, else an error that says what it is; ``value`` may be the error of the JSON parser."""
    problem = f": {value}" if isinstance(value, Exception) else ""
    if not problem:
        try:
            return msgspec.convert(value, dict[str, Any])
        except msgspec.ValidationError as error:
            problem = type_problem(error)
    return CorpusFormatError(f"not a JSON object{problem}", path=name, line=number)


def type_problem(error: msgspec.ValidationError) -> str:
    """The place and the message of `msgspec` for a value: ``, item 1, name: expected text, found a number``."""
    problem, _, path = str(error).partition(" - at `$")
    expected, *actual = [TYPES.get(name, f"'{name}'") for name in re.findall(r"`(\w+)", problem)]
    place = re.sub(r"\[(\d+)\]", lambda index: f".item {int(index[1]) + 1}", path.strip("`")).replace(".", ", ")
    return f"{place}: expected {expected}, found {actual[0]}" if actual else f"{place}: no {expected}"


def _looked_at(lines: Iterator[str], n: int) -> tuple[list[str], Iterator[str]]:
    """The first lines, and an iterator over all; an error that they end with is raised by the latter."""
    first: list[str] = []

    def rest(error: DiscoprobeError | None) -> Iterator[str]:
        yield from first
        if error:
            raise error
        yield from lines

    try:
        first.extend(itertools.islice(lines, n))
    except DiscoprobeError as error:
        return first, rest(error)
    return first, rest(None)


def _csv_records(lines: Iterable[str], name: str, choose: Choose, separator: str) -> Records:
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    header: list[str] = []
    for number in itertools.count():
        problem = ""
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem, cells = f"malformed: {error}", []
            if "new-line character" in str(error):
                problem = "malformed: a carriage return outside quotes, or lines that end with a carriage return only"
        if cells is None:
            return
        if cells and not header:
            header = cells
            choose(header)
        elif cells and len(cells) == len(header):
            yield number, dict(zip(header, cells, strict=True))
        elif cells or problem:
            problem = problem or f"row {number} has {len(cells)} cells, the header has {len(header)}"
            yield number, CorpusFormatError(problem, path=name, line=reader.line_num)


def dataset_records(  # noqa: PLR0913 (one parameter per option)
    source: Path | str, name: str, choose: Callable[[Sequence[str], str], Collection[str]],
    *, split: str = "", config: str = "", revision: str = "",
) -> Iterator[tuple[str, int, Mapping[str, Any]]]:  # fmt: skip
    """The rows of a saved dataset, or of one on the Hub, which is streamed; splits are in alphabetical order.

    Each row comes with its number and the name of its split, which is that of the dataset if there are no splits;
    ``choose`` gets that name, too. ``HF_ENDPOINT`` and ``HF_TOKEN`` are used.

    Raises:
        RemoteError: the Hub does not provide it.
        UnknownNameError: it has no such split.
        UsageError: it has no splits.
        DiscoprobeError: it cannot be loaded.
    """
    from datasets import load_dataset, load_from_disk

    try:
        if isinstance(source, Path):
            loaded: Any = load_from_disk(str(source))
        else:
            loaded = load_dataset(source, config or None, revision=revision or None, streaming=True)
        if not isinstance(loaded, dict):
            if split:
                raise UsageError(f"{name}: has no splits; leave out --set split={split}")
            splits = {name: loaded}
        elif split and split not in loaded:
            raise UnknownNameError("split", split, loaded, remedy=f"({name} has {', '.join(sorted(loaded))})")
        else:
            splits = {f"{name}/{each}": loaded[each] for each in sorted(loaded) if split in {"", each}}
        for place, dataset in splits.items():
            used = [*choose(dataset.column_names or list(next(iter(dataset), {})), place)]
            for number, record in enumerate(dataset.select_columns(used).with_format(None), 1):
                yield place, number, record
    except DiscoprobeError:
        raise
    except Exception as error:  # network, Hub and damaged files: the library raises dozens of classes
        why = first_line(error)
        if isinstance(source, str):
            raise RemoteError(f"{name}: no such folder, and no such dataset on the Hub: {why}") from error
        raise DiscoprobeError(f"{name}: no dataset that `datasets` can load: {why}") from error


SPLIT_SUFFIXES: Final = (".train", ".dev", ".valid", ".test", ".all")
SUFFIXES: Final = (
    ".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".psv", ".txt", ".rels", *SPLIT_SUFFIXES,
)  # fmt: skip
"""The suffixes of containers that ``read_table`` reads; a file without suffix, or with a split as one, has lines."""
SEPARATORS: Final = ",;\t|"
USUAL_COLUMNS: Final = {
    "label", "labels", "text", "sentence", "sentence1", "sentence2", "sentence_a", "sentence_b", "id", "idx", "index",
    "question", "answer", "premise", "hypothesis", "gold_label", "target", "class", "category", "split", "lang",
    "language", "review", "title", "content", "score", "sentiment",
}  # fmt: skip
"""Columns whose names make a first line a header."""
LONGEST_COLUMN: Final = 30
"""Largest number of characters of the name of a column."""
SAMPLE_ROWS: Final = 1000
"""Number of rows that quoting and header are detected in."""
QUOTED: Final = r'^"(?:[^"]|"")*"$'
QUOTED_QUOTES: Final = r'^"(?:[^"]|"")*""(?:[^"]|"")*"$'
"""A quoted field, and one that contains a quotation mark."""


class Table(msgspec.Struct, frozen=True):
    """The rows of a file, how they are written, and remarks for people (``UTF-16``, ``no header``).

    ``class_names`` are the label names that ``datasets`` wrote into the metadata of a parquet file, by column.
    ``split_column`` has the name of the array that each row of a JSON object with several arrays was in.
    """

    rows: pl.DataFrame
    kind: str
    notes: tuple[str, ...] = ()
    class_names: Mapping[str, tuple[str, ...]] = {}
    split_column: str = ""


def read_table(path: Path, encoding: str = "") -> Table:
    """The rows of a parquet, JSON, CSV or TSV file; no rows for an empty file.

    The cells of CSV and TSV are texts: whether ``01`` is a number depends on what its column means. The separator of
    CSV is the one that divides all lines into the same number of fields, else the most frequent one in the first line.
    Lines of other files are divided at tabs; if there is none, at a bar, or at commas or semicolons below a header. A
    quotation mark in a TSV file is text, unless the file is quoted. Without a header, the columns are called
    ``column1``, ``column2`` and so on.

    Raises:
        CorpusFormatError: it cannot be parsed, or its suffix is not in ``SUFFIXES``.
    """
    suffix, name = suffix_of(path), str(path)
    if suffix and suffix not in SUFFIXES:
        raise CorpusFormatError(f"files of rows end in {' '.join(SUFFIXES)}, not in '{suffix}'", path=name)
    try:
        if suffix == ".parquet":
            rows = pl.read_parquet(path)
            metadata = pq.read_metadata(path).metadata or {}
            features = json.loads(metadata.get(b"huggingface", b"{}")).get("info", {}).get("features", {})
            classes = {
                column: tuple(feature["names"])
                for column, feature in features.items()
                if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
            }
            return Table(rows, "parquet", class_names=classes)
        text, notes = read_labelled_text(path, encoding)
        if not text.strip():
            return Table(pl.DataFrame(), suffix[1:].upper(), notes)
        if suffix in {".jsonl", ".ndjson", ".json"}:
            return _json_table(text, name, notes, in_lines=suffix != ".json")
        separator = _separator(text, suffix)
        quoted = separator != "\t" or suffix == ".csv" or _is_quoted(text)
        kind = {"\t": "CSV" if suffix == ".csv" else "TSV", "|": "values separated by |"}.get(separator, "CSV")
        notes = (*notes, "quoted") if quoted and separator == "\t" and suffix != ".csv" else notes
        csv.field_size_limit(sys.maxsize)
        sample = _csv_sample(text, separator, quoted=quoted)
        for number, row in enumerate(sample, 1):
            if len(row) > len(sample[0]):
                raise ValueError(f"row {number} has {len(row)} fields, the first {len(sample[0])}")
        header = has_header(sample)
        rows = pl.read_csv(
            text.encode(), separator=separator, quote_char='"' if quoted else None, infer_schema=False,
            has_header=header, new_columns=None if header else [f"column{n}" for n in range(1, len(sample[0]) + 1)],
        )  # fmt: skip
        stripped = [column.strip() for column in rows.columns]  # "id, text, label"
        rows = rows.rename(dict(zip(rows.columns, stripped, strict=True))) if len({*stripped}) == rows.width else rows
        return Table(rows, kind, notes if header else (*notes, "no header"))
    except pl.exceptions.NoDataError:
        return Table(pl.DataFrame(), suffix[1:])
    except (
        pl.exceptions.PolarsError, pa.ArrowException, OSError, ValueError, TypeError, OverflowError, RecursionError,
        csv.Error,
    ) as error:  # fmt: skip
        reason = str(error).strip().partition("\n")[0]
        raise CorpusFormatError(f"not a readable {suffix[1:] or 'text'} file: {reason}", path=name) from error


def _csv_sample(text: str, separator: str, *, quoted: bool) -> list[list[str]]:
    """The cells of the first rows that are not empty."""
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    return [row for row in itertools.islice(reader, SAMPLE_ROWS) if row]


def _separator(text: str, suffix: str) -> str:
    first = text.split("\n", 1)[0]
    if suffix != ".csv" and "\t" in first:
        return "\t"
    widths = {}
    for separator in SEPARATORS:
        if separator in first:
            with suppress(csv.Error):
                sample = _csv_sample(text, separator, quoted=True)
                divides = suffix in {".csv", ".psv"} or separator == "|" or has_header(sample)
                if divides and len({len(row) for row in sample}) == 1:
                    widths[separator] = len(sample[0])
    usual = max(SEPARATORS, key=first.count) if suffix == ".csv" else "\t"
    return max(widths, key=lambda separator: (widths[separator], separator == usual), default=usual)


def _json_table(text: str, name: str, notes: tuple[str, ...], *, in_lines: bool) -> Table:
    """JSON lines, or one value, as ``_json_rows`` reads it.

    ``in_lines``: whether the suffix says that it has one value per line.
    """
    first = text.lstrip().split("\n", 1)[0]
    several = "\n" in text.strip()
    with suppress(ValueError):  # the value continues in the next line
        in_lines |= isinstance(json.loads(first), dict | list) and several
    if in_lines and not first.startswith("["):
        try:
            if first.startswith("{"):
                return Table(pl.read_ndjson(text.encode(), infer_schema_length=None), "JSON lines", notes)
            raise pl.exceptions.ComputeError("the first line holds no object")
        except pl.exceptions.PolarsError:  # values of several types in a column
            records = [record for _, record in json_records(text.split("\n"), name)]
            if error := next((record for record in records if isinstance(record, CorpusFormatError)), None):
                raise error from None
            return Table(pl.DataFrame(records, infer_schema_length=None, strict=False), "JSON lines", notes)
    if in_lines and several and first.startswith("["):
        with suppress(ValueError):  # an array that begins with an array: [["text", "label"],
            lines = [json.loads(line) for line in text.split("\n") if line.strip()]
            return Table(_json_rows(lines)[0], "JSON lines", notes)
    rows, split_column = _json_rows(json.loads(text))
    return Table(rows, "JSON", notes, split_column=split_column)


def _json_rows(value: object) -> tuple[pl.DataFrame, str]:
    """The rows of a JSON value, and the column that says in which of several arrays they were.

    It is an array of objects, or of arrays of values; or an object with an array per column, per split, or with one
    array of rows; with an object per row; or as pandas writes it (``columns``, ``index``, ``data``).
    """
    if isinstance(value, dict):
        if isinstance(value.get("columns"), list) and isinstance(value.get("data"), list):
            value = [dict(zip(value["columns"], row, strict=True)) for row in value["data"]]
        elif len(value) > 1 and all(isinstance(row, dict) and row for row in value.values()):
            columns = [inner for inner in value.values() if not all(key.isdecimal() for key in inner)]
            value = [{"id": key, **row} for key, row in value.items()] if columns else value
    if isinstance(value, dict):
        arrays = {key: rows for key, rows in value.items() if isinstance(rows, list) and rows
                  and isinstance(rows[0], dict | list)}  # fmt: skip
        of_rows = [key for key, rows in arrays.items() if isinstance(rows[0], dict)]
        if len(of_rows) == 1 and len(arrays) == 1:
            value = arrays[of_rows[0]]
        elif arrays and len(arrays) == sum(isinstance(rows, list | dict) for rows in value.values()) and (
            len(of_rows) == len(arrays) or len({len(rows) for rows in arrays.values()}) > 1
        ):  # fmt: skip
            parts = {key: _json_rows(rows)[0] for key, rows in arrays.items()}
            column = next(
                name for name in ("split", "array") if all(name not in part.columns for part in parts.values())
            )
            tagged = [part.with_columns(pl.lit(key).alias(column)) for key, part in parts.items()]
            return pl.concat(tagged, how="diagonal_relaxed"), column
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        if len({len(row) for row in value}) > 1:
            raise ValueError("arrays with different numbers of values")
        value = [{f"column{n}": cell for n, cell in enumerate(row, 1)} for row in value]
    if not (isinstance(value, dict) or (isinstance(value, list) and all(isinstance(row, dict) for row in value))):
        raise ValueError('values without names of columns; write an object per row, such as {"text": …, "label": …}')
    if isinstance(value, dict):
        value = {column: list(of.values()) if isinstance(of, dict) else of for column, of in value.items()}
        lengths = {column: len(of) for column, of in value.items() if isinstance(of, list)}
        if len(set(lengths.values())) > 1:
            examples = ", ".join(f"'{column}' {n}" for column, n in list(lengths.items())[:6])
            raise ValueError(
                f"an object with arrays of several lengths ({examples}); write each split into its own file"
            )
    return pl.DataFrame(value, infer_schema_length=None, strict=False), ""


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns.

    It does if all its fields are short and different, and one of them is a usual name, or stands above numbers, or none
    of them occurs again in its column although the values of some column do. The first may be empty: pandas writes its
    index without a name; above numbers of rows it shows that the row is no row of data, whose names may then repeat.
    """
    first, rest = [field.strip() for field in rows[0]], rows[1:]
    numbered = len(first) > 1 and not first[0] and all(_is_number(row[0]) for row in rest if row)
    first = ["index", *first[1:]] if numbered else first
    repeats = not numbered and len(set(first)) < len(first)
    if repeats or not all(0 < len(field) <= LONGEST_COLUMN for field in first):
        return False
    if any(_is_number(field) or re.search(r"[.!?]$", field) for field in first):
        return False
    if any(field.lower() in USUAL_COLUMNS for field in first):
        return True
    columns = [column for column in zip(first, *rest, strict=False) if len(column) > 1]
    if any(all(map(_is_number, below)) for _, *below in columns):
        return True
    repeating = [column for column in columns if len(set(column[1:])) <= len(column) // 3]
    return bool(repeating) and all(name not in below for name, *below in columns)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[-+]?\d+(?:\.\d+)?\s*", text) is not None


def _is_quoted(text: str) -> bool:
    """Whether the fields of tab-separated lines are quoted as in CSV, so that quotation marks are not text.

    They are if all fields of some column are quoted, if lines have the same number of fields only when they are read as
    quoted, or if every field that begins with a quotation mark is quoted and contains another, doubled one. A sentence
    that is a quotation contains no doubled one.
    """
    lines = _sample_fields(text)
    opened = [field for fields in lines for field in fields if field.startswith('"') and len(field) > 1]
    if opened and len({len(fields) for fields in lines}) > 1:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter="\t") if row]
        return len({len(row) for row in rows}) == 1 < len(rows)
    return _has_quoted_column(lines) or bool(opened and all(re.search(QUOTED_QUOTES, field) for field in opened))


def _sample_fields(text: str) -> list[list[str]]:
    """The tab-separated fields of the first lines."""
    lines = text.split("\n", SAMPLE_ROWS)[:SAMPLE_ROWS]
    return [line.rstrip("\r").split("\t") for line in lines if line.strip()]


def _has_quoted_column(lines: Sequence[Sequence[str]]) -> bool:
    return any(all(re.search(QUOTED, field) for field in column) for column in zip(*lines, strict=False))


def read_fields(path: Path, encoding: str = "") -> pl.DataFrame:
    """The tab-separated ``fields`` of each line that is not empty, and its ``number``; the first line is no header.

    X-Probe and RuSentEval have quoted some lines and not others; so each field is checked by itself.
    """
    text, _ = read_labelled_text(path, encoding)
    lines = pl.DataFrame({"line": text.split("\n")}).with_row_index("number", offset=1)
    lines = lines.filter(pl.col("line").str.contains(r"\S"))
    lines = lines.select("number", fields=pl.col("line").str.strip_suffix("\r").str.split("\t"))
    if '"' not in text:
        return lines
    field = pl.element()
    quoted = field.str.contains(QUOTED if _has_quoted_column(_sample_fields(text)) else QUOTED_QUOTES)
    bare = field.str.slice(1, field.str.len_chars() - 2).str.replace_all('""', '"')
    return lines.with_columns(pl.col("fields").list.eval(pl.when(quoted).then(bare).otherwise(field)))
