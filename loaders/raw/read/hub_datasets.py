"""Rows of datasets that ``datasets`` loads: folders written by ``save_to_disk``, and repositories on the Hub."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UsageError
from discoprobe.loaders.raw.read.tables import ROWS_AT_ONCE, find_columns, numbered, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from discoprobe.loaders.raw.options import ReadOptions
    from discoprobe.loaders.raw.read.rows import Row
    from discoprobe.loaders.raw.read.tables import Refuse

REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
SAVED: Final = ("dataset_dict.json", "state.json")
"""Files in a folder that ``save_to_disk`` wrote."""


def is_saved(folder: Path) -> bool:
    """Whether a folder was written by ``save_to_disk``."""
    return any((folder / name).is_file() for name in SAVED)


def saved_rows(folder: Path, name: str, options: ReadOptions, refuse: Refuse) -> Iterator[Row]:
    """The rows of a saved dataset, the splits in the order of their names.

    Raises:
        DiscoprobeError: the dataset is damaged, has no such split, or has no column of texts.
    """
    from datasets import load_from_disk  # noqa: PLC0415 - takes a second

    try:
        loaded = load_from_disk(str(folder))
    except Exception as error:  # whatever the library meets in a damaged folder
        raise DiscoprobeError(f"{name}: no dataset that `datasets` can load: {_first_line(error)}") from error
    for place, dataset in _splits(loaded, name, options):
        used = find_columns(dataset.column_names, options, place).used
        tables = dataset.select_columns(used).with_format("arrow").iter(ROWS_AT_ONCE)
        yield from rows_of(numbered(tables), place, options, refuse)


def hub_rows(repository: str, options: ReadOptions, refuse: Refuse) -> Iterator[Row]:
    """The rows of a dataset on the Hub, streamed; uses ``HF_ENDPOINT`` and ``HF_TOKEN``.

    Raises:
        RemoteError: the Hub does not provide it.
        DiscoprobeError: it has no such split, or no column of texts.
    """
    from datasets import load_dataset  # noqa: PLC0415 - takes a second

    try:
        loaded = load_dataset(repository, options.config or None, revision=options.revision or None, streaming=True)
        for place, dataset in _splits(loaded, repository, options):
            names = dataset.column_names or list(next(iter(dataset), {}))
            used = find_columns(names, options, place).used
            yield from rows_of(enumerate(dataset.select_columns(used), 1), place, options, refuse)
    except DiscoprobeError:
        raise
    except Exception as error:  # network, Hub and file formats: the library raises dozens of classes
        raise RemoteError(
            f"{repository}: no such folder, and no such dataset on the Hub: {_first_line(error)}"
        ) from error


def _splits(loaded: Any, name: str, options: ReadOptions) -> list[tuple[str, Any]]:
    """Each split that is read, with the name that stands before the numbers of its rows."""
    if not isinstance(loaded, dict):
        if options.split:
            raise UsageError(f"{name}: has no splits; leave out --split")
        return [(name, loaded)]
    if options.split and options.split not in loaded:
        raise UnknownNameError("split", options.split, loaded, remedy=f"in {name}")
    return [(f"{name}/{split}", loaded[split]) for split in sorted(loaded) if options.split in {"", split}]


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
