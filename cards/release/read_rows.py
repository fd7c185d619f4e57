"""Readers' marks on the rows of a release: checked against the rows, and summed up per config."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
import pyarrow.parquet as pq

from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import ConfigEntry
from discoprobe.cards.readers.figures import ReaderFigures, figures
from discoprobe.cards.readers.marks import CANNOT_TELL, PLACES, TEXT_COLUMNS, Mark, read_marks, right_answer, shown_hash
from discoprobe.cards.release import parquet_files
from discoprobe.loaders.errors import DiscoprobeError

_Rows: TypeAlias = tuple[dict[str, str], dict[str, str]]
"""The right answer, and the hash of what is shown, of each row of a config by id."""


def _rows(folder: Path, config: str, entry: ConfigEntry) -> _Rows:
    """The rows of all splits of a config."""
    labels, shown = {}, {}
    for split in entry["counts"]:
        path = folder / config / parquet_files.file_name(split)
        with parquet_files.reading(path):
            present = [name for name in ("id", "label", *TEXT_COLUMNS) if name in pq.read_schema(path).names]
            table = pq.read_table(path, columns=present)
        for row in table.to_pylist():
            labels[row["id"]] = right_answer(row, entry["labels"])
            shown[row["id"]] = shown_hash(row, entry["labels"])
    return labels, shown


def figures_of(
    folder: Path, entries: dict[str, ConfigEntry], marks: Sequence[Mark]
) -> dict[str, dict[str, ReaderFigures]]:
    """What readers of each kind found in the configs of a release folder, by config; those nobody read are not there.

    ``marks`` are in the order of their times.
    """
    by_config = {}
    for config in sorted({mark.config for mark in marks} & entries.keys()):
        of_config = [mark for mark in marks if mark.kind == "reveal" or mark.config == config]
        if of_kinds := figures(of_config, *_rows(folder, config, entries[config])):
            by_config[config] = of_kinds
    return by_config


def checked_marks(release: Path, file: Path) -> list[Mark]:
    """The marks of a file that somebody else wrote, each of which names a row of the release.

    A mark without a hash of what its row shows gets that of the row as it is now.

    Raises:
        DiscoprobeError: the file is not there, or a mark names a row or an answer that the release does not have.
    """
    if not file.is_file():
        raise DiscoprobeError(f"{file} does not exist; give a file of marks, such as `build review` exports")
    marks, entries = read_marks(file), manifest.read(release)["configs"]
    if unknown := sorted({mark.config for mark in marks if mark.config} - entries.keys()):
        raise DiscoprobeError(f"{file}: {release} has no config {unknown[0]}; are the marks of another release?")
    known = {config: _rows(release, config, entries[config]) for config in {mark.config for mark in marks} - {""}}
    return [_checked(mark, known, entries, file) for mark in marks]


def _checked(mark: Mark, known: dict[str, _Rows], entries: dict[str, ConfigEntry], file: Path) -> Mark:
    if mark.kind == "reveal":
        return mark
    labels, shown = known[mark.config]
    if mark.row not in labels:
        raise DiscoprobeError(f"{file}: {mark.config} has no row {mark.row}; are the marks of another release?")
    if mark.kind == "answer" and mark.answer not in {*entries[mark.config]["labels"], *PLACES, CANNOT_TELL}:
        raise DiscoprobeError(f"{file}: '{mark.answer}' is not a label of {mark.config}")
    return mark if mark.shown else msgspec.structs.replace(mark, shown=shown[mark.row])
