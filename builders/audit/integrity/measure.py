"""The value of an integrity check with the rows that show it."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

EXAMPLES = 5
"""Row ids in a finding."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a check measured.

    Attributes:
        value: the measured value; None where the check does not apply.
        rows: ids of rows that show it.
        threshold: the threshold where it depends on the data; None for the one of the table.
        detail: one line for people.
    """

    value: float | None
    rows: tuple[str, ...] = ()
    threshold: float | None = None
    detail: str = ""


SKIPPED = Measure(None)


def measure_rows(frame: pl.DataFrame, *, share_of: int = 0, detail: str = "") -> Measure:
    """The number of different rows in ``frame`` (or their share), and the first of them.

    Rows are told apart by split and place; those of the last split come first, because they are what scores rest on.
    """
    rows = frame.unique(["split", "place"]).sort("split", "place", descending=[True, False])
    value = rows.height / share_of if share_of else rows.height
    return Measure(value, rows=examples(rows["id"].head(EXAMPLES).to_list()), detail=detail)


def examples(ids: Sequence[str]) -> tuple[str, ...]:
    """The first ids."""
    return tuple(ids[:EXAMPLES])
