"""Rows left out so that what tells the answer by itself does so no more often than by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discoprobe.builders.sampling import with_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


def levelled(rows: pl.DataFrame, signs: Sequence[str], *purpose: str | int, few: int = 0) -> pl.DataFrame:
    """As many rows as may stay if each of ``signs`` is to add up to about nothing in every split.

    A sign says for a row by how much a rule does better than chance: for a rule about two candidates 1 where it finds
    the right one, -1 where it finds the other, 0 where it cannot tell; for one about four, 3 and -1. Of rows with the
    same signs hash order decides which go.

    Args:
        rows: ``key``, ``split`` and ``signs``.
        signs: columns of numbers, of few values each.
        purpose: salt.
        few: so many rows of a split stay in any case.

    Returns:
        The rows kept, in their order.
    """
    if rows.is_empty():
        return rows
    ranked = with_rank(rows, ["split", *signs], "level", *purpose)
    kinds = ranked.group_by("split", *signs).len("_n").sort("split", *signs)
    parts = [_with_quota(part, signs, few) for part in kinds.partition_by("split", maintain_order=True)]
    quota = pl.concat(parts).drop("_n")
    kept = ranked.join(quota, on=["split", *signs], how="left", maintain_order="left")
    return kept.filter(pl.col("rank") <= pl.col("_quota")).drop("rank", "_quota")


def _with_quota(kinds: pl.DataFrame, signs: Sequence[str], few: int) -> pl.DataFrame:
    """Adds ``_quota``: how many of the ``_n`` rows of each kind stay."""
    values = kinds.select(pl.col(*signs).cast(pl.Float64)).to_numpy()
    quota = _quota(values, kinds["_n"].to_numpy().astype(np.int64), few)
    return kinds.with_columns(_quota=pl.Series(quota))


def _quota(values: Floats, counts: Ints, few: int) -> Ints:
    """Takes away one row at a time, of the kind that brings the sums nearest to nothing, while they come nearer.

    Less than half of what one row may add is nothing.
    """
    left = counts.copy()
    slack = np.abs(values).max(axis=0) / 2

    def excess(sums: Floats) -> Floats:
        return np.asarray((np.maximum(np.abs(sums) - slack, 0) ** 2).sum(axis=-1))

    while left.sum() > few:
        sums = left @ values
        after = np.where(left[:, None] > 0, sums - values, np.inf)
        best = np.lexsort((-left, (after**2).sum(axis=1), excess(after)))[0]
        if excess(after[best]) >= excess(sums):
            break
        left[best] -= 1
    return left
