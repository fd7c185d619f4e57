"""SentEval's sets that are spread over files: a file per column (SNLI, STS), or per class (MR, CR, SUBJ, MPQA)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError
from discoprobe.builders.audit.inputs.headerless import Tabbed, labelled_rows
from discoprobe.builders.audit.inputs.reading import described
from discoprobe.builders.audit.inputs.split_files import NAMES
from discoprobe.builders.audit.inputs.text_files import decoded

_CLASSES = ("pos", "neg", "neu", "positive", "negative", "neutral", "objective", "subjective")
"""Suffixes of files that hold one class each."""
_COLUMNS = ("labels", "s1", "s2")
_SCORES, _PAIRS = "STS.gs.", "STS.input."


class SpreadSet(NamedTuple):
    """The files of one set.

    Attributes:
        name: how reports call it.
        format: the sets of SentEval that are written so.
        columns: split → the files that hold its columns, the label's first.
        classes: label → the file that holds its texts; where there are no ``columns``.
    """

    name: str
    format: str
    columns: Mapping[str, tuple[Path, ...]]
    classes: Mapping[str, Path]

    @property
    def files(self) -> dict[str, tuple[Path, ...]]:
        """Split → its files."""
        return dict(self.columns) if self.columns else {"test": tuple(self.classes.values())}

    def read(self) -> AuditInput:
        """The rows.

        Raises:
            UnreadableDataError: a file is no text, or the files of a split have different numbers of lines.
        """
        parts = [_side_by_side(split, files) for split, files in self.columns.items()]
        parts += [_of_class(label, file) for label, file in self.classes.items()]
        lines = pl.concat(parts)
        if not self.classes:
            return labelled_rows(Tabbed(self.name, lines), self.format, "label, s1, s2")
        shuffled = lines[hashing.ranking([hashing.digest(row_id) for row_id in lines["id"]], "audit", "classes")]
        data = labelled_rows(Tabbed(self.name, shuffled), self.format, "label, text")
        return described(data, notes=("each file holds one class: the rows are in the order of a hash",))


def spread_sets(paths: Sequence[Path]) -> list[SpreadSet]:
    """The sets of this kind among files and the files of folders."""
    files = sorted({file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])})
    of_class: dict[Path, dict[str, Path]] = defaultdict(dict)
    of_split: dict[Path, dict[str, dict[str, Path]]] = defaultdict(lambda: defaultdict(dict))
    for file in files:
        kind = file.suffix[1:]
        if kind in _CLASSES:
            of_class[file.with_suffix("")][kind] = file
        elif file.stem in _COLUMNS and kind in NAMES:
            of_split[file.parent][NAMES[kind]][file.stem] = file
    found = [
        SpreadSet(stem.name, "one file per class (MR, CR, SUBJ, MPQA)", {}, by_label)
        for stem, by_label in of_class.items()
        if len(by_label) > 1
    ]
    for folder, by_split in of_split.items():
        complete = {
            split: tuple(by[name] for name in _COLUMNS) for split, by in by_split.items() if len(by) == len(_COLUMNS)
        }
        if complete:
            found.append(SpreadSet(folder.resolve().name, "SNLI of SentEval", complete, {}))
    return found + _scored(files)


def _scored(files: Sequence[Path]) -> list[SpreadSet]:
    """``STS.input.news.txt`` holds the pairs whose scores are in ``STS.gs.news.txt``."""
    pairs = [(file.with_name(file.name.replace(_PAIRS, _SCORES, 1)), file) for file in files if _PAIRS in file.name]
    return [
        SpreadSet(f"{file.parent.name}/{file.stem.replace(_PAIRS, '', 1)}", "STS", {"test": (scores, file)}, {})
        for scores, file in pairs
        if scores in files
    ]


def _side_by_side(split: str, files: Sequence[Path]) -> pl.DataFrame:
    columns = [_lines(file) for file in files]
    counts = {len(column) for column in columns}
    if len(counts) > 1:
        shown = ", ".join(f"{file} {len(column)}" for file, column in zip(files, columns, strict=True))
        raise UnreadableDataError(f"files of one set have different numbers of lines: {shown}")
    fields = [[*row[:-1], *row[-1].split("\t")] for row in zip(*columns, strict=True)]
    return _numbered(fields, split, files[-1])


def _of_class(label: str, file: Path) -> pl.DataFrame:
    return _numbered([[label, text] for text in _lines(file) if text.strip()], "test", file)


def _numbered(fields: list[list[str]], split: str, file: Path) -> pl.DataFrame:
    rows = pl.DataFrame({"fields": pl.Series(fields, dtype=pl.List(pl.String))}).with_row_index("number", offset=1)
    return rows.select("fields", split=pl.lit(split), id=pl.format("{}:{}", pl.lit(file.name), "number"))


def _lines(file: Path) -> list[str]:
    return [line.rstrip("\r") for line in decoded(file)[0].rstrip("\n").split("\n")]
