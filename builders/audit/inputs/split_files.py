"""Files on disk as splits of data sets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders.audit.frame import UnreadableDataError
from discoprobe.builders.settings import SPLITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

SUFFIXES = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt")
NAMES = {
    "train": "train",
    "training": "train",
    "tr": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "va": "validation",
    "dev": "validation",
    "test": "test",
    "te": "test",
}
"""What people call a split → what it is."""

_ORDER = (*SPLITS, "")
_SHARD = re.compile(r"-\d+-of-\d+$")
_ASIDE = {"readme", "license", "licence", "labelset", "manifest", "source", "changelog", "attribution", "audit"}
"""Files beside data, by stem."""


@dataclass(frozen=True, slots=True)
class Group:
    """The files of one data set.

    Attributes:
        name: how reports call it: the folder, or the file without suffix.
        files: split name → files; ``""`` where the name of the file says nothing.
        suffix: of all files.
    """

    name: str
    files: dict[str, tuple[Path, ...]]
    suffix: str

    def tables(self) -> dict[str, pl.DataFrame]:
        """The rows of each split as a table; the lone split without a name is ``test``."""
        read = {
            split or "test": pl.concat([table(path) for path in files], how="diagonal_relaxed")
            for split, files in self.files.items()
        }
        for split, frame in read.items():
            if frame.is_empty():
                raise UnreadableDataError(f"{self.name}: the {split} split is empty ({self._where(split)})")
        return read

    def lines(self) -> dict[str, list[tuple[str, list[str]]]]:
        """The tab-separated fields of each line with the id of the line (``te.txt:12``), by split."""
        found = {split: [row for path in files for row in _lines(path)] for split, files in self.files.items()}
        for split, rows in found.items():
            if not rows:
                raise UnreadableDataError(f"{self.name}: the {split or 'only'} split is empty ({self._where(split)})")
        return found

    def first_lines(self, n: int) -> list[list[str]]:
        """Fields of the first lines of some split."""
        path = next(iter(self.files.values()))[0]
        return [fields for _, fields in _lines(path)[:n]]

    def has_columns_of_pairs(self) -> bool:
        """Whether the files are tables with a good and a bad sentence."""
        path = next(iter(self.files.values()))[0]
        return pair_columns(table(path).columns) is not None

    def _where(self, split: str) -> str:
        return ", ".join(path.name for path in self.files.get(split, self.files.get("", ())))


PAIR_COLUMNS = (
    ("sentence_good", "sentence_bad"),
    ("source_sentence", "target_sentence"),
    ("sen", "wrong_sen"),
    ("good", "bad"),
    ("grammatical", "ungrammatical"),
)
"""Columns of minimal pairs: BLiMP, RuBLiMP, MultiBLiMP and common names; the acceptable sentence comes first."""


def pair_columns(columns: list[str]) -> tuple[str, str] | None:
    """The two columns of a minimal pair among ``columns``."""
    return next((pair for pair in PAIR_COLUMNS if set(pair) <= set(columns)), None)


def groups(path: Path) -> list[Group]:
    """The data sets under a path, in the order of their names."""
    if not path.exists():
        raise UnreadableDataError(f"{path}: no such file or folder")
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if _is_data(file))
    if not files:
        raise UnreadableDataError(f"{path}: no data files; expected one of {' '.join(SUFFIXES)}")
    found: dict[tuple[Path, str, str], dict[str, list[Path]]] = {}
    for file in files:
        split, rest = _split_of(file)
        found.setdefault((file.parent, rest, file.suffix), {}).setdefault(split, []).append(file)
    return [
        Group(
            _name(path, parent, rest), {split: tuple(by_split[split]) for split in _ORDER if split in by_split}, suffix
        )
        for (parent, rest, suffix), by_split in found.items()
    ]


def _is_data(file: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.parts)
    return file.is_file() and file.suffix in SUFFIXES and file.stem.lower() not in _ASIDE and not hidden


def _split_of(file: Path) -> tuple[str, str]:
    """The split a file name says, and the name without it: ``dc-train.tsv`` is ("train", "dc")."""
    parts = re.split(r"([-_.])", _SHARD.sub("", file.stem))
    at = next((i for i, part in enumerate(parts) if part.lower() in NAMES), None)
    if at is None:
        return "", file.stem
    return NAMES[parts[at].lower()], "".join(parts[:at] + parts[at + 1 :]).strip("-_.").replace("..", ".")


def _name(root: Path, parent: Path, rest: str) -> str:
    inside = parent.relative_to(root).parts if root.is_dir() else ()
    return "/".join([*inside, *([rest] if rest else [])]) or parent.resolve().name


def table(path: Path) -> pl.DataFrame:
    """The rows of a parquet, JSON, CSV or TSV file.

    Raises:
        UnreadableDataError: it cannot be parsed.
    """
    try:
        return _READERS[path.suffix](path)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        if isinstance(error, pl.exceptions.NoDataError):
            return pl.DataFrame()
        reason = str(error).strip().splitlines()[0]
        raise UnreadableDataError(f"{path}: not a readable {path.suffix[1:]} file: {reason}") from error


def _csv(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, separator=_separator(path), infer_schema_length=None)


def _separator(path: Path) -> str:
    """The one of tab, comma and semicolon that the header has most of."""
    with path.open(encoding="utf-8", errors="replace") as file:
        header = file.readline()
    return max("\t,;", key=header.count)


def _tsv(path: Path) -> pl.DataFrame:
    """Without quoting: a quotation mark in a TSV of sentences is one."""
    return pl.read_csv(path, separator="\t", quote_char=None, infer_schema_length=None)


_READERS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".jsonl": lambda path: pl.read_ndjson(path, infer_schema_length=None),
    ".ndjson": lambda path: pl.read_ndjson(path, infer_schema_length=None),
    ".json": lambda path: pl.read_json(path, infer_schema_length=None),
    ".csv": _csv,
    ".tsv": _tsv,
    ".txt": _tsv,
}


def _lines(path: Path) -> list[tuple[str, list[str]]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableDataError(f"{path}: not UTF-8 text (byte {error.start}); convert it first") from error
    lines = enumerate(text.split("\n"), start=1)
    return [(f"{path.name}:{number}", line.removesuffix("\r").split("\t")) for number, line in lines if line.strip()]
