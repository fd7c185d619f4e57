"""Reads labelled data: published formats, release folders, and tables of any kind.

``dataset_files`` finds the files of a dataset, ``text_files`` detects encoding and quoting. ``headerless`` reads lines
without header, ``column_tables`` reads tables, ``column_roles`` finds their text and label columns. If several formats
are possible, none is guessed: the message shows them and the option that names one.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from discoprobe.builders.audit.frame import AuditInput, Provenance, UnreadableDataError
from discoprobe.builders.audit.inputs.columns import pair_columns, read_columns, read_pairs
from discoprobe.builders.audit.inputs.data_files import Group, Table, groups, lines_of, read_table_file
from discoprobe.builders.audit.inputs.headerless import TABBED, Tabbed, guess_tabbed, spread_rows
from discoprobe.builders.audit.inputs.reading import NAMES, Read, Reading, Result, Skipped, described
from discoprobe.builders.audit.own_configs import class_names_of, own_shape, read_own
from discoprobe.loaders.errors import UnknownNameError

FORMATS = (*TABBED, "pairs", "table")
"""Names of formats: files without header, minimal pairs, tables."""

_SPLIT_COLUMNS = ("split", "data_split", "partition")

__all__ = ["FORMATS", "Read", "Reading", "Skipped", "read", "read_frames"]


def read(paths: str | Path | Sequence[str | Path], reading: Reading | None = None) -> Read:
    """Every dataset under some paths; what cannot be read is skipped and does not stop the rest.

    Args:
        paths: files, folders of files, a release folder, or configs of it. Files that are splits of one set are read
            together.
        reading: what the user says where the detection is wrong.

    Raises:
        UnreadableDataError: a path is not there, or nothing can be read; the message says what was expected.
        UnknownNameError: no such format.
    """
    reading = reading or Reading()
    if reading.format_name is not None and reading.format_name not in FORMATS:
        raise UnknownNameError("format", reading.format_name, FORMATS)
    listed = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    data: list[AuditInput] = []
    skipped: list[Skipped] = []
    detected = reading.format_name is None and not reading.names_columns
    for group in groups(listed, reading.split_names, spread=detected):
        try:
            labelled, left = _read(group, reading)
        except UnreadableDataError as error:
            skipped.append(Skipped(group.name, str(error).removeprefix(f"{group.name}: ")))
            continue
        data.append(labelled)
        skipped += left
    if not data:
        raise UnreadableDataError("; ".join(_line(one) for one in skipped))
    return Read(tuple(data), tuple(skipped))


def _line(skipped: Skipped) -> str:
    return skipped.reason if skipped.name in skipped.reason else f"{skipped.name}: {skipped.reason}"


def read_frames(
    name: str, splits: Mapping[str, pl.DataFrame], class_names: Mapping[str, tuple[str, ...]], reading: Reading
) -> Read:
    """Tables in memory as one dataset.

    Args:
        name: how reports call it.
        splits: name of the split → its rows; those of names that are no split are skipped.
        class_names: label column → the names that its numbers index.
        reading: what the user says where the detection is wrong.

    Raises:
        UnreadableDataError: no split is called train, validation or test, or a column is not there.
    """
    called = NAMES | dict(reading.split_names)
    known: dict[str, pl.DataFrame] = {}
    skipped: list[Skipped] = []
    for split, rows in splits.items():
        what = called.get(split) or called.get(split.split("_", maxsplit=1)[0])
        if what is None or what in known:
            reason = f"is another {what}" if what else "is neither train, validation nor test"
            skipped.append(Skipped(f"{name}: {split}", f"{reason}; say what it is with --split {split}=test"))
        else:
            known[what] = rows
    if not known:
        raise UnreadableDataError(
            f"{name}: no split is called train, validation or test, only {', '.join(splits)}; say what they are with "
            f"--split {next(iter(splits), 'x')}=test"
        )
    data, left = _from_tables(name, known, class_names, reading)
    return Read((data,), (*skipped, *left))


def _read(group: Group, reading: Reading) -> Result:
    if group.layout:
        return _with_files(spread_rows(group), group), ()
    format_name = reading.format_name
    if group.suffix in {".txt", ".tsv", ""} and not reading.names_columns and format_name in {None, *TABBED}:
        tabbed, broken = _tabbed(group)
        format_name = format_name or guess_tabbed(tabbed)
        if format_name is not None:
            data = TABBED[format_name](tabbed)
            return _with_files(data, group), broken
    tables, broken = _tables(group, read_table_file)
    notes = tuple(dict.fromkeys(note for table in tables.values() for note in table.notes))
    frames = {split: table.rows for split, table in tables.items()}
    names = class_names_of(next(iter(group.files.values()))[0])
    data, skipped = _from_tables(group.name, _divided(group.name, frames, reading), names, reading)
    if data.read and data.read.format != "config of discoprobe":
        kind = next(iter(tables.values())).kind
        data = described(data, format=f"{data.read.format}, {kind}", notes=(*notes, *data.read.notes))
    return _with_files(data, group), (*broken, *skipped)


def _from_tables(
    name: str, frames: Mapping[str, pl.DataFrame], class_names: Mapping[str, tuple[str, ...]], reading: Reading
) -> Result:
    first = next(iter(frames.values()))
    shape = own_shape(first)
    if shape is not None and not reading.names_columns and reading.format_name is None:
        return read_own(name, frames, shape, class_names), ()
    pairs = reading.format_name == "pairs" or (not reading.names_columns and pair_columns(first.columns) is not None)
    if pairs and reading.format_name in {None, "pairs"}:
        return read_pairs(name, frames, reading.text), ()
    return read_columns(name, frames, reading, class_names)


def _tabbed(group: Group) -> tuple[Tabbed, tuple[Skipped, ...]]:
    """The lines of each split that can be read."""
    tables, broken = _tables(group, lambda path: Table(lines_of(path).with_columns(file=pl.lit(path.name)), ""))
    place = pl.format("{}:{}", "file", "number")
    parts = [table.rows.select("fields", split=pl.lit(split), id=place) for split, table in tables.items()]
    return Tabbed(group.name, pl.concat(parts)), broken


def _tables(group: Group, read_file: Callable[[Path], Table]) -> tuple[dict[str, Table], tuple[Skipped, ...]]:
    """The rows of each split that can be read, and the splits that cannot.

    An empty split of a discoprobe config is in neither: the source of an imported config did not have it.
    """
    tables: dict[str, Table] = {}
    broken = []
    for split, files in group.files.items():
        try:
            parts = [read_file(path) for path in files]
        except UnreadableDataError as error:
            broken.append(Skipped(f"{group.name}: {split or 'test'}", str(error)))
            continue
        rows = pl.concat([part.rows for part in parts], how="diagonal_relaxed")
        if not rows.is_empty():
            tables[split or "test"] = parts[0]._replace(rows=rows)
        elif not own_shape(rows):
            broken.append(Skipped(f"{group.name}: {split or 'test'}", _empty(group, split)))
    if not tables:
        raise UnreadableDataError("; ".join(one.reason for one in broken) or f"{group.name}: no rows")
    return tables, tuple(broken)


def _empty(group: Group, split: str) -> str:
    return f"the {split or 'only'} split is empty ({', '.join(path.name for path in group.files[split])})"


def _divided(name: str, frames: Mapping[str, pl.DataFrame], reading: Reading) -> dict[str, pl.DataFrame]:
    """The rows of each split, by the column that names it if the user gave one."""
    column = reading.split_column or _split_column(frames)
    if column is None:
        return dict(frames)
    rows = pl.concat(list(frames.values()), how="diagonal_relaxed")
    if column not in rows.columns:
        raise UnreadableDataError(f"{name}: no column '{column}' for the split; there are {', '.join(rows.columns)}")
    called = NAMES | dict(reading.split_names)
    values = rows[column].cast(pl.String)
    unknown = sorted({value for value in values.unique().to_list() if str(value).lower() not in called}, key=str)
    if unknown:
        raise UnreadableDataError(
            f"{name}: '{column}' holds '{unknown[0]}', which is no split; say what it is with --split {unknown[0]}=test"
        )
    split = values.str.to_lowercase().replace_strict(called)
    return {name: rows.filter(split == name).drop(column) for name in split.unique(maintain_order=True).to_list()}


def _split_column(frames: Mapping[str, pl.DataFrame]) -> str | None:
    """The column that names the split of each row, if there is a single file whose name says no split."""
    if list(frames) != ["test"]:
        return None
    rows = frames["test"]
    named = [column for column in rows.columns if column.lower() in _SPLIT_COLUMNS and rows.schema[column] == pl.String]
    said = {column: set(rows[column].str.to_lowercase().unique().to_list()) for column in named}
    return next((column for column, splits in said.items() if len(splits) > 1 and splits <= set(NAMES)), None)


def _with_files(data: AuditInput, group: Group) -> AuditInput:
    names = {split or "test": tuple(path.name for path in files) for split, files in group.files.items()}
    if "" in group.files:  # the splits are those of a column
        names = dict.fromkeys(data.splits, names["test"])
    present = {split: files for split, files in names.items() if split in data.splits}
    return dataclasses.replace(data, read=dataclasses.replace(data.read or Provenance(""), files=present))
