"""Reading anybody's labelled data: peers' file formats, release folders, and tables of any kind.

A path is a file or a folder. Files that differ only in the name of their split (``train``, ``dev.tsv``, ``te.txt``) are
one data set; a folder can hold many. The format is told by the content of the files and can be given instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discoprobe.builders.audit.formats.files import Group, groups
from discoprobe.builders.audit.formats.pairs import read_pairs
from discoprobe.builders.audit.formats.tabbed import TABBED, guess_tabbed
from discoprobe.builders.audit.formats.table import Columns, load, read_loaded, read_table
from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError
from discoprobe.loaders.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def read_hub(name: str, *, config: str | None = None, text: Sequence[str] = (), label: str | None = None) -> AuditInput:
    """A data set that ``datasets.load_dataset`` loads: a folder, or a Hub id where there is network."""
    return read_loaded(name, load(name, config), Columns(tuple(text), label))


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
