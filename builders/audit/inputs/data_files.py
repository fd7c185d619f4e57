"""Which files are one dataset, and which of its splits each of them holds.

Files of rows as tables of strings: their encoding, separator, quoting and header are detected.
"""

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from discoprobe.builders.audit.frame import UnreadableDataError
from discoprobe.builders.audit.inputs.reading import NAMES
from discoprobe.builders.settings import SPLITS

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


_Sets = dict[tuple[Path, str, str], dict[str, list[Path]]]
"""(Folder, name without the split, suffix) → split → files."""

_LABELLED = {"annotated", "labeled", "labelled"}
"""Words in file names that belong neither to the name of the dataset nor to the split."""
_ORDER = (*SPLITS, "")
_SHARD = re.compile(r"-\d+-of-\d+$")
_ASIDE = {"readme", "license", "licence", "labelset", "manifest", "source", "changelog", "attribution", "audit"}
"""Stems of files that hold no data."""
_CLASSES = ("pos", "neg", "neu", "positive", "negative", "neutral", "objective", "subjective")
"""Suffixes of files that hold one class each."""
_COLUMNS = ("labels", "s1", "s2")
_SCORES, _PAIRS = "STS.gs.", "STS.input."


@dataclass(frozen=True, slots=True)
class Group:
    """The files of one dataset.

    Attributes:
        name: how reports call it: the folder, or the file without suffix.
        files: split name → files; ``""`` if the file name contains no split. The rows of a split are in its files one
            after the other; with a ``layout``, each file has one column or one class.
        suffix: of all files.
        layout: the sets of SentEval that have a file per column of a split, the label's first, or a file per class.
        classes: the label of each file, where there is a file per class.
    """

    name: str
    files: Mapping[str, tuple[Path, ...]]
    suffix: str = ""
    layout: str = ""
    classes: tuple[str, ...] = ()


def groups(paths: Sequence[Path], named: Mapping[str, str], *, spread: bool) -> list[Group]:
    """The datasets under some paths, in the order of their names; first those whose rows are spread over files.

    Files whose names differ only in the split are one dataset, and so are files given by name that say different
    splits. The files of a folder are those with a known suffix, and those without one whose names say a split. A train
    file beside others that have none (MNLI's ``train``, ``dev_matched``, ``dev_mismatched``) is the train split of each
    of them.

    Args:
        paths: files and folders.
        named: file name or stem → the split that it is.
        spread: whether to look for sets of SentEval that have a file per class or per column.

    Raises:
        UnreadableDataError: a path is not there, or holds no data files.
    """
    over_files = _spread_sets(paths) if spread else []
    apart = {file for group in over_files for files in group.files.values() for file in files}
    given = [path for path in paths if path.is_file() and path not in apart]
    in_folders = [group for path in paths if not path.is_file() for group in _in_folder(path, named, apart)]
    return [*over_files, *(_given_files(given, named) if given else []), *in_folders]


def _given_files(files: Sequence[Path], named: Mapping[str, str]) -> list[Group]:
    placed = [(file, file.resolve().parent, *_split_of(file, named)) for file in files]
    by_split = {split: file for file, _, split, _ in placed}
    if len(files) > 1 and "" not in by_split and len(by_split) == len(files) and len({f.suffix for f in files}) == 1:
        rests = {rest for *_, rest in placed}
        name = (rests.pop() if len(rests) == 1 else "") or files[0].resolve().parent.name
        return [_group(name, {split: [file] for split, file in by_split.items()}, files[0].suffix)]
    return _grouped(placed, lambda folder, rest: rest or folder.name)


def _in_folder(path: Path, named: Mapping[str, str], apart: Collection[Path]) -> list[Group]:
    if not path.exists():
        raise UnreadableDataError(f"{path}: no such file or folder")
    files = sorted(file for file in path.rglob("*") if file not in apart and _is_data(file, path))
    if not files and not any(path in file.parents for file in apart):
        raise UnreadableDataError(f"{path}: no data files; expected one of {' '.join(SUFFIXES)}")
    placed = []
    for file in files:
        split, rest = _split_of(file, named)
        folder = file.parent
        if not split and folder != path and (split := NAMES.get(folder.name.lower(), "")):
            folder = folder.parent  # train/a.jsonl, test/a.jsonl
        placed.append((file, folder, split, rest))
    return _grouped(
        placed,
        lambda folder, rest: "/".join(filter(None, [*folder.relative_to(path).parts, rest])) or path.resolve().name,
    )


def _grouped(placed: Iterable[tuple[Path, Path, str, str]], name: Callable[[Path, str], str]) -> list[Group]:
    """Groups files into datasets.

    Args:
        placed: each file with its folder, its split, and its name without the split.
        name: makes the name of a dataset from its folder and the name of its files without the split.
    """
    by_set: _Sets = {}
    for file, folder, split, rest in placed:
        by_set.setdefault((folder, rest, file.suffix), {}).setdefault(split, []).append(file)
    complete = _with_shared_train(by_set)
    return [_group(name(folder, rest), by_split, suffix) for (folder, rest, suffix), by_split in complete.items()]


def _with_shared_train(by_set: _Sets) -> _Sets:
    """Gives datasets without a train file the train file of their folder that they share, if there is exactly one.

    A shared train file has no name besides its split (``train`` beside ``test`` and ``test_expert``), or belongs to no
    dataset with other splits (``train`` beside ``dev_matched`` and ``dev_mismatched``).
    """
    trains: dict[tuple[Path, str], list[str]] = {}
    for (parent, rest, suffix), by_split in by_set.items():
        if "train" in by_split and (not rest or len(by_split) == 1):
            trains.setdefault((parent, suffix), []).append(rest)
    complete: _Sets = {}
    used = set()
    for (parent, rest, suffix), by_split in by_set.items():
        shared = trains.get((parent, suffix), [])
        train = {}
        if len(shared) == 1 and "train" not in by_split and "" not in by_split:
            used.add((parent, shared[0], suffix))
            train = {"train": by_set[parent, shared[0], suffix]["train"]}
        complete[parent, rest, suffix] = train | by_split
    return {key: by_split for key, by_split in complete.items() if key not in used or set(by_split) != {"train"}}


def _group(name: str, by_split: Mapping[str, Sequence[Path]], suffix: str) -> Group:
    return Group(name, {split: tuple(by_split[split]) for split in _ORDER if split in by_split}, suffix)


def _is_data(file: Path, root: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
    named = file.suffix in SUFFIXES or (not file.suffix and _split_of(file, {})[0] != "")
    return file.is_file() and named and file.stem.lower() not in _ASIDE and not hidden


def _split_of(file: Path, named: Mapping[str, str]) -> tuple[str, str]:
    """The split that a file name contains, and the name without it: ``dc-train.tsv`` is ("train", "dc")."""
    if given := named.get(file.name) or named.get(file.stem):
        return given, ""
    parts = re.split(r"([-_.])", _SHARD.sub("", file.stem))
    at = next((i for i, part in enumerate(parts) if part.lower() in NAMES), None)
    if at is None:
        return "", file.stem
    rest = ["" if part.lower() in _LABELLED else part for part in parts[:at] + parts[at + 1 :]]
    return NAMES[parts[at].lower()], re.sub(r"([-_.])[-_.]+", r"\1", "".join(rest)).strip("-_.")


def _spread_sets(paths: Sequence[Path]) -> list[Group]:
    """SentEval's sets whose rows are spread over files, among files and the files of folders.

    There is a file per class (MR, CR, SUBJ, MPQA), per column (SNLI), or one of scores and one of pairs (STS).
    """
    files = sorted({file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])})
    of_class: dict[Path, dict[str, Path]] = defaultdict(dict)
    of_split: dict[Path, dict[str, dict[str, Path]]] = defaultdict(lambda: defaultdict(dict))
    for file in files:
        kind = file.suffix[1:]
        if kind in _CLASSES:
            of_class[file.with_suffix("")][kind] = file
        elif file.stem in _COLUMNS and kind in NAMES:
            of_split[file.parent][NAMES[kind]][file.stem] = file
    by_class = [
        Group(
            stem.name, {"test": tuple(by.values())}, layout="one file per class (MR, CR, SUBJ, MPQA)", classes=tuple(by)
        )
        for stem, by in of_class.items()
        if len(by) > 1
    ]
    columns = {
        folder: {
            split: tuple(by[name] for name in _COLUMNS) for split, by in splits.items() if len(by) == len(_COLUMNS)
        }
        for folder, splits in of_split.items()
    }
    by_column = [
        Group(folder.resolve().name, splits, layout="SNLI of SentEval") for folder, splits in columns.items() if splits
    ]
    return [*by_class, *by_column, *_scored(files)]


def _scored(files: Sequence[Path]) -> list[Group]:
    """``STS.input.news.txt`` holds the pairs whose scores are in ``STS.gs.news.txt``."""
    pairs = [(file.with_name(file.name.replace(_PAIRS, _SCORES, 1)), file) for file in files if _PAIRS in file.name]
    return [
        Group(f"{file.parent.name}/{file.stem.replace(_PAIRS, '', 1)}", {"test": (scores, file)}, layout="STS")
        for scores, file in pairs
        if scores in files
    ]
