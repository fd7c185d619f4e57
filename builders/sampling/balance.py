"""Equal counts of labels, labels given in equal numbers, and rows removed until simple rules are at chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.sampling.stratify import LENGTH_EDGES, STRATA_KEEP, strata, with_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


def equal_counts(rows: pl.DataFrame, by: str, cell: list[str], *seed_key: str | int) -> pl.DataFrame:
    """Keeps equally many rows of each value of ``by`` in every ``cell``; hash order decides which.

    A cell in which a value is missing is left out whole.
    """
    values = rows[by].n_unique()
    ranked = with_rank(rows, [*cell, by], "equalise", *seed_key)
    counts = rows.group_by([*cell, by]).len().group_by(cell).agg(_n=pl.len(), _least=pl.col("len").min())
    quota = counts.filter(pl.col("_n") == values).drop("_n")
    rows_kept = ranked.join(quota, on=cell, nulls_equal=True, maintain_order="left").filter(
        pl.col("rank") <= pl.col("_least")
    )
    return rows_kept.drop("rank", "_least")


def equal_counts_by_length(
    rows: pl.DataFrame, by: str, *seed_key: str | int, cell: tuple[str, ...] = ()
) -> pl.DataFrame:
    """Equal counts of ``by`` in every split and length stratum (and ``cell``), with as many strata as the data bear."""
    columns = ["split", *cell]
    overall = equal_counts(rows, by, columns, *seed_key)
    for n in (5, 3, 2):
        staged = rows.with_columns(_stratum=strata(pl.col("mean_words"), n))
        by_stratum = equal_counts(staged, by, [*columns, "_stratum"], *seed_key).drop("_stratum")
        if (
            by_stratum.height >= STRATA_KEEP * overall.height
            and by_stratum["split"].n_unique() == overall["split"].n_unique()
        ):
            return by_stratum
    return overall


def assign_labels(rows: pl.DataFrame, n_labels: int, *seed_key: str | int) -> pl.DataFrame:
    """Gives each row one of ``n_labels`` labels, equally often in every split and, if possible, length stratum.

    Each row ranks the labels by a hash of its key; rows are served in hash order while a label has places left. What a
    stratum has beyond a multiple of ``n_labels`` is served together with the remainders of the other strata. At most
    ``n_labels - 1`` rows of a split get no label; they are left out.

    Args:
        rows: ``key``, ``split`` and ``mean_words``.
        n_labels: number of labels.
        seed_key: what the hashes start with.

    Returns:
        The rows that got a ``label``, in their order.
    """
    stratified = rows.with_columns(_stratum=strata(pl.col("mean_words"), len(LENGTH_EDGES) + 1))
    in_strata = _served(stratified, ["split", "_stratum"], n_labels, *seed_key)
    remainder = stratified.join(in_strata, on="key", how="anti", maintain_order="left")
    labels = pl.concat([in_strata, _served(remainder, ["split"], n_labels, *seed_key)])
    return rows.join(labels, on="key", maintain_order="left")


def _served(rows: pl.DataFrame, within: list[str], n_labels: int, *seed_key: str | int) -> pl.DataFrame:
    """``key`` and ``label`` of rows, equally many of each label in every value of ``within``."""
    nothing = pl.DataFrame(schema={"key": pl.UInt64, "label": pl.Int64})
    parts = [_serve(part, n_labels, *seed_key) for part in rows.partition_by(within, maintain_order=True)]
    return pl.concat([nothing, *(part.select("key", "label") for part in parts)])


def _serve(cell: pl.DataFrame, n_labels: int, *seed_key: str | int) -> pl.DataFrame:
    keys = cell["key"].to_numpy()
    order = hashing.ranking(keys, "serve", *seed_key)
    wishes = np.argsort(
        np.stack([hashing.mix(keys, "wish", label, *seed_key) for label in range(n_labels)], axis=1), axis=1
    )
    free = np.full(n_labels, len(keys) // n_labels)
    labels = np.full(len(keys), -1)
    for row in order[: len(keys) // n_labels * n_labels]:
        wish = next(label for label in wishes[row] if free[label])
        free[wish] -= 1
        labels[row] = wish
    return cell.with_columns(label=pl.Series(labels, dtype=pl.Int64)).filter(pl.col("label") >= 0)


def remove_bias(rows: pl.DataFrame, signs: Sequence[str], *seed_key: str | int, few: int = 0) -> pl.DataFrame:
    """As many rows as may stay if each of ``signs`` is to add up to about nothing in every split.

    A sign says for a row by how much a rule does better than chance: for a rule about two candidates 1 where it finds
    the right one, -1 where it finds the other, 0 where it cannot tell; for one about four, 3 and -1. Of rows with the
    same signs hash order decides which go.

    Args:
        rows: ``key``, ``split`` and ``signs``.
        signs: columns of numbers, of few values each.
        seed_key: what the hashes start with.
        few: so many rows of a split stay in any case.

    Returns:
        The rows kept, in their order.
    """
    if rows.is_empty():
        return rows
    ranked = with_rank(rows, ["split", *signs], "level", *seed_key)
    kinds = ranked.group_by("split", *signs).len("_n").sort("split", *signs)
    parts = [_with_quota(part, signs, few) for part in kinds.partition_by("split", maintain_order=True)]
    quota = pl.concat(parts).drop("_n")
    rows_kept = ranked.join(quota, on=["split", *signs], how="left", maintain_order="left")
    return rows_kept.filter(pl.col("rank") <= pl.col("_quota")).drop("rank", "_quota")


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
