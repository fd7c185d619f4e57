"""Labelled data under some paths, or in memory, as rows for the audit.

Each dataset (`data_files`) is read as what it is: lines without header (`headerless`), a config of discoprobe
(`own_configs`), minimal pairs, or a table whose columns have roles (`columns`). What cannot be read is skipped, with
the reason.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError, with_edited, with_neighbours_as_pairs
from discoprobe.builders.audit.inputs.columns import pair_columns, read_columns, read_pairs
from discoprobe.builders.audit.inputs.data_files import (
    NAMES,
    Group,
    Read,
    Reading,
    Result,
    Skipped,
    groups,
    with_provenance,
)
from discoprobe.builders.audit.inputs.headerless import guess_lines, read_lines, spread_rows
from discoprobe.builders.audit.inputs.published import LINES
from discoprobe.builders.audit.own_configs import own_shape, read_own
from discoprobe.builders.audit.task_types import with_task_type
from discoprobe.builders.config import Shape
from discoprobe.loaders.archives import unpacked
from discoprobe.loaders.errors import CorpusFormatError, UnknownNameError
from discoprobe.loaders.tables import Table, plain_name, read_fields, read_table

FORMATS = (*LINES, "pairs", "table")
"""Names of formats: files without header, minimal pairs, tables."""

SHOWN = 8
"""Most names that a message lists."""
_SPLIT_COLUMNS = ("split", "data_split", "partition")
_TRAIN = frozenset({"train", "training"})
"""Values that show by themselves that a column names splits; ``tr`` and ``te`` may be languages."""


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
    detected = reading.format_name is None and not reading.names_columns
    data, skipped = [], []
    try:
        with unpacked(listed) as places:
            found = groups(places, reading.split_names, spread=detected)
            of_files = {called for group in found for called in _names_of_files(group)}
            unmatched = tuple(called for called in reading.split_names if called not in of_files)
            for group in found:
                try:
                    rows, skipped_splits = _read_group(group, reading, unmatched)
                    data.append(_finished(rows, reading))
                except (UnreadableDataError, CorpusFormatError) as error:
                    skipped.append(Skipped(group.name, str(error).removeprefix(f"{group.name}: ")))
                    continue
                skipped += skipped_splits
    except CorpusFormatError as error:
        raise UnreadableDataError(str(error)) from error
    if not data:
        reasons = (s.reason if s.name in s.reason else f"{s.name}: {s.reason}" for s in skipped)
        raise UnreadableDataError("; ".join(reasons))
    return tuple(data), tuple(skipped)


def _finished(data: AuditInput, reading: Reading) -> AuditInput:
    """The data with edited texts known as such, and with what a row holds and is.

    Raises:
        UnreadableDataError: ``--edited`` or the task type does not fit.
    """
    if reading.edited and (data.shape is Shape.CHOICE or not data.external):
        raise UnreadableDataError(f"{data.name}: the columns say which text was edited: leave out --edited")
    data = with_task_type(with_edited(with_neighbours_as_pairs(data), reading.edited), reading.task_type)
    return with_provenance(data, row=data.row)


def _names_of_files(group: Group) -> list[str]:
    """What ``--split NAME=`` may call the files of a dataset: with suffix, and first without it."""
    files = [file for of_split in group.files.values() for file in of_split]
    return [called for file in files for called in (plain_name(file).stem, file.name, plain_name(file).name)]


def _check_split_names(name: str, reading: Reading, unmatched: Sequence[str], known: Sequence[object]) -> None:
    """Raises an error if the user says what a name stands for that no split, file or value has."""
    names = [str(each) for each in known]
    also = {*names, *map(str.lower, names), *(each.split("_", maxsplit=1)[0].lower() for each in names)}
    if wrong := next((called for called in unmatched if called not in also), ""):
        there = ", ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "")
        raise UnreadableDataError(
            f"{name}: --split {wrong}={reading.split_names[wrong]}: nothing has this name; there are {there}"
        )


def _read_group(group: Group, reading: Reading, unmatched: Sequence[str]) -> Result:
    """The rows of a dataset, with the names of their files; splits that cannot be read are skipped.

    ``unmatched`` are the names of ``reading.split_names`` that no file has.
    """
    data, skipped, called = None, tuple[Skipped, ...](), _names_of_files(group)[::3]
    if group.layout:
        _check_split_names(group.name, reading, unmatched, called)
        data = spread_rows(group, reading.encoding)
    elif (
        group.suffix in {".txt", ".tsv", ".tab", ""}
        and not reading.names_columns
        and reading.format_name in {None, *LINES}
    ):
        tables, skipped = _read_splits(group, reading.encoding, as_lines=True)
        place = pl.format("{}:{}", "file", "number")
        lines = pl.concat(table.rows.select("fields", split=pl.lit(split), id=place) for split, table in tables.items())
        format_name = reading.format_name or guess_lines(group.name, lines)
        if format_name:
            _check_split_names(group.name, reading, unmatched, called)
            if reading.pair:
                raise UnreadableDataError(f"{group.name}: lines without a header have no column '{reading.pair}'")
            data = read_lines(group.name, lines, format_name)
    if data is None:
        tables, skipped = _read_splits(group, reading.encoding, as_lines=False)
        first = next(iter(tables.values()))
        frames, skipped_arrays = _divide_by_column(group.name, tables, reading, unmatched, called)
        data, skipped_frames = _read_frames(group.name, frames, first.class_names, reading)
        skipped += (*skipped_arrays, *skipped_frames)
        if data.read and data.read.format != "config of discoprobe":
            notes = dict.fromkeys(note for table in tables.values() for note in table.notes)
            data = with_provenance(data, format=f"{data.read.format}, {first.kind}", notes=(*notes, *data.read.notes))
    files = {split or "test": tuple(path.name for path in paths) for split, paths in group.files.items()}
    if "" in group.files:  # the splits are those of a column
        files = dict.fromkeys(data.splits, files["test"])
    present = {split: names for split, names in files.items() if split in data.splits}
    return with_provenance(data, files=present), skipped


def _read_splits(group: Group, encoding: str, *, as_lines: bool) -> tuple[dict[str, Table], tuple[Skipped, ...]]:
    """The rows of each split that can be read, and the splits that cannot; lines without header as their fields.

    An empty split of a discoprobe config is in neither: the source of an imported config did not have it.
    """
    tables: dict[str, Table] = {}
    skipped = []
    for split, files in group.files.items():
        name = f"{group.name}: {split or 'test'}"
        try:
            if as_lines:
                lines = [(path.name, read_fields(path, encoding)) for path in files]
                parts = [Table(rows.with_columns(file=pl.lit(file)), "") for file, rows in lines]
            else:
                parts = [read_table(path, encoding) for path in files]
        except CorpusFormatError as error:
            skipped.append(Skipped(name, str(error)))
            continue
        rows = pl.concat([part.rows for part in parts], how="diagonal_relaxed")
        if not rows.is_empty():
            tables[split or "test"] = msgspec.structs.replace(parts[0], rows=rows)
        elif not own_shape(rows):
            names = ", ".join(path.name for path in files)
            skipped.append(Skipped(name, f"the {split or 'only'} split is empty ({names})"))
    if not tables:
        raise UnreadableDataError("; ".join(each.reason for each in skipped) or f"{group.name}: no rows")
    return tables, tuple(skipped)


def _divide_by_column(
    name: str, tables: Mapping[str, Table], reading: Reading, unmatched: Sequence[str], files: Sequence[str]
) -> tuple[Mapping[str, pl.DataFrame], tuple[Skipped, ...]]:
    """The rows of each split, by the column that names it: the one that the user gives, else one of a usual name.

    The latter, or one with the value ``train`` beside others that are splits, is used for a single file whose name says
    no split. The arrays of a JSON object are splits, too; those whose names are none are skipped. ``unmatched`` are the
    names of ``reading.split_names`` that none of ``files`` has, so that values must have them.
    """
    frames = {split: table.rows for split, table in tables.items()}
    column, called = reading.split_column, NAMES | dict(reading.split_names)
    arrays = next((table.split_column for table in tables.values() if table.split_column), "")
    if column is None and arrays:
        of_arrays = frames[next(iter(frames))].partition_by(arrays, as_dict=True, include_key=False)
        _check_split_names(name, reading, unmatched, [key[0] for key in of_arrays])
        return _name_splits(name, of_arrays, called)
    if column is None and list(frames) == ["test"]:
        for name_of_column, values in frames["test"].select(pl.col(pl.String)).to_dict().items():
            distinct = set(values.str.to_lowercase().unique().to_list())
            named = name_of_column.lower() in _SPLIT_COLUMNS or not distinct.isdisjoint(_TRAIN)
            if column is None and named and len(distinct) > 1 and distinct <= set(NAMES):
                column = name_of_column
    if column is None:
        _check_split_names(name, reading, unmatched, files)
        return frames, ()
    rows = pl.concat(list(frames.values()), how="diagonal_relaxed")
    if column not in rows.columns:
        raise UnreadableDataError(f"{name}: no column '{column}' for the split; there are {', '.join(rows.columns)}")
    splits = rows[column].cast(pl.String)
    _check_split_names(name, reading, unmatched, splits.unique().sort().to_list())
    unknown = sorted({value for value in splits.unique().to_list() if str(value).lower() not in called}, key=str)
    if unknown:
        raise UnreadableDataError(
            f"{name}: '{column}' holds '{unknown[0]}', which is no split; say what it is with --split {unknown[0]}=test"
        )
    splits = splits.str.to_lowercase().replace_strict(called)
    divided = {
        split: rows.filter(splits == split).drop(column) for split in splits.unique(maintain_order=True).to_list()
    }
    return divided, ()


def _name_splits(
    name: str, named: Mapping[Any, pl.DataFrame], called: Mapping[str, str]
) -> tuple[dict[str, pl.DataFrame], tuple[Skipped, ...]]:
    """Tables by the split that their names say; those whose names are no split are skipped.

    Raises:
        UnreadableDataError: no name says a split.
    """
    frames: dict[str, pl.DataFrame] = {}
    skipped: list[Skipped] = []
    for key, rows in named.items():
        split = str(key[0] if isinstance(key, tuple) else key)
        what = called.get(split) or called.get(split.lower()) or called.get(split.split("_", maxsplit=1)[0].lower())
        if what is None or what in frames:
            reason = f"is another {what}" if what else "is neither train, validation nor test"
            skipped.append(Skipped(f"{name}: {split}", f"{reason}; say what it is with --split {split}=test"))
        else:
            frames[what] = rows
    if not frames:
        names = [each.name.removeprefix(f"{name}: ") for each in skipped]
        raise UnreadableDataError(
            f"{name}: no split is called train, validation or test, only {', '.join(names)}; say what they are with "
            f"--split {next(iter(names), 'x')}=test"
        )
    return frames, tuple(skipped)


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
    divided, _ = _divide_by_column(
        name, {split: Table(rows, "") for split, rows in splits.items()}, reading, [*reading.split_names], [*splits]
    )
    frames, skipped = _name_splits(name, divided, NAMES | dict(reading.split_names))
    data, skipped_frames = _read_frames(name, frames, class_names, reading)
    return (_finished(data, reading),), (*skipped, *skipped_frames)


def _read_frames(
    name: str, frames: Mapping[str, pl.DataFrame], class_names: Mapping[str, tuple[str, ...]], reading: Reading
) -> Result:
    """Tables of the splits of a dataset: a config of discoprobe, minimal pairs, or columns with roles."""
    first = next(iter(frames.values()))
    shape = own_shape(first)
    if shape is not None and not reading.names_columns and reading.format_name is None:
        if reading.pair not in {None, "pair_id"}:
            raise UnreadableDataError(f"{name}: a config of discoprobe has its own pairs: leave out --pair")
        return read_own(name, frames, shape, class_names), ()
    others = reading.text or reading.choices or reading.label
    pairs = reading.format_name == "pairs" or (not others and pair_columns(first.columns) is not None)
    if pairs and reading.format_name in {None, "pairs"}:
        return read_pairs(name, frames, reading), ()
    return read_columns(name, frames, reading, class_names)
