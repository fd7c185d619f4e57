"""Reading anybody's labelled data: peers' file formats, release folders, and tables of any kind.

A path is a file or a folder. Files that differ only in the name of their split (``train``, ``dev.tsv``, ``te.txt``) are
one data set; a folder can hold many. The format is told by the content of the files and can be given instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError
from discoprobe.builders.audit.inputs.column_tables import Columns, read_named_splits, read_table
from discoprobe.builders.audit.inputs.headerless import TABBED, guess_tabbed
from discoprobe.builders.audit.inputs.minimal_pairs import read_pairs
from discoprobe.builders.audit.inputs.split_files import Group, groups
from discoprobe.loaders.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

FORMATS = (*TABBED, "pairs", "table")
"""Names of formats: SentEval, X-Probe, DiscoEval (label first), DiscoEval BSO, minimal pairs, tables."""


def read(
    path: str | Path, *, format_name: str | None = None, text: Sequence[str] = (), label: str | None = None
) -> tuple[AuditInput, ...]:
    """Every data set under a path.

    Args:
        path: a file, a folder of files, a release folder, or one config of it.
        format_name: one of ``FORMATS`` where the guess is wrong.
        text: columns of a table that hold the text, in order, where the guess is wrong.
        label: column of a table that holds the label, where the guess is wrong.

    Raises:
        UnreadableDataError: nothing there can be read; the message says what was expected.
        UnknownNameError: no such format.
    """
    if format_name is not None and format_name not in FORMATS:
        raise UnknownNameError("format", format_name, FORMATS)
    columns = Columns(tuple(text), label)
    return tuple(_read(group, format_name or _guess(group, columns), columns) for group in groups(Path(path)))


def read_frames(
    name: str,
    splits: Mapping[str, pl.DataFrame],
    class_names: Mapping[str, tuple[str, ...]],
    *,
    text: Sequence[str] = (),
    label: str | None = None,
) -> AuditInput:
    """Tables in memory as one data set.

    Args:
        name: how reports call it.
        splits: name of the split → its rows; splits of other names than usual are left out.
        class_names: label column → the names that its numbers index.
        text: columns that hold the text, in order, where the guess is wrong.
        label: column that holds the label, where the guess is wrong.

    Raises:
        UnreadableDataError: no split is called train, validation or test, or a column is not there.
    """
    return read_named_splits(name, splits, class_names, Columns(tuple(text), label))


def _guess(group: Group, columns: Columns) -> str:
    if group.suffix in {".txt", ".tsv"} and not columns.given and (tabbed := guess_tabbed(group)):
        return tabbed
    return "pairs" if group.has_columns_of_pairs() and not columns.given else "table"


def _read(group: Group, format_name: str, columns: Columns) -> AuditInput:
    if format_name in TABBED:
        return TABBED[format_name](group)
    data = read_pairs(group) if format_name == "pairs" else read_table(group, columns)
    if not data.splits:
        raise UnreadableDataError(f"{group.name}: no rows")
    return data
