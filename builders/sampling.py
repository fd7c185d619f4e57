"""Which rows are kept and which label each gets: balanced, and nearly the same after a document is added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discoprobe.builders import chance
from discoprobe.builders.settings import SPLITS

if TYPE_CHECKING:
    from discoprobe.builders.settings import Settings

LENGTH_EDGES = (10, 15, 20, 30)
"""Edges of the length strata, in words per sentence."""

STRATA_KEEP = 0.8
"""Strata are merged until balancing inside them keeps at least this share of what balancing without them keeps."""


def strata(words: pl.Expr, n: int) -> pl.Expr:
    """The length stratum of a row, out of ``n`` (1, 2, 3 or 5): fixed edges, so that no other row moves it."""
    edges = {1: (), 2: (15,), 3: (10, 20), 5: LENGTH_EDGES}[n]
    return pl.sum_horizontal(pl.lit(0, pl.Int64), *[(words > edge).cast(pl.Int64) for edge in edges])


def assign_labels(rows: pl.DataFrame, n_labels: int, *purpose: str | int) -> pl.DataFrame:
    """Gives each row one of ``n_labels`` labels, equally often in every split and length stratum.

    Each row asks for labels in an order of its own (a hash of its key); rows are served in hash order while a label has
    places left. Rows beyond a multiple of ``n_labels`` go without (they are left out).

    Args:
        rows: ``key``, ``split`` and ``mean_words``.
        n_labels: number of labels.
        purpose: salt.

    Returns:
        The rows that got a ``label``.
    """
    best = rows.clear().with_columns(label=pl.lit(0, pl.Int64))
    for n in (5, 3, 2, 1):
        cells = rows.with_columns(stratum=strata(pl.col("mean_words"), n))
        parts = [
            _serve(cell, n_labels, *purpose) for _, cell in cells.group_by("split", "stratum", maintain_order=True)
        ]
        served = pl.concat(parts).drop("stratum") if parts else best
        whole = sum(cell.height // n_labels * n_labels for cell in rows.partition_by("split"))
        if n == 1 or (served.height >= STRATA_KEEP * whole and served["split"].n_unique() == rows["split"].n_unique()):
            return served
    return best


def _serve(cell: pl.DataFrame, n_labels: int, *purpose: str | int) -> pl.DataFrame:
    keys = cell["key"].to_numpy()
    order = chance.ranking(keys, "serve", *purpose)
    wishes = np.argsort(
        np.stack([chance.mix(keys, "wish", label, *purpose) for label in range(n_labels)], axis=1), axis=1
    )
    free = np.full(n_labels, len(keys) // n_labels)
    labels = np.full(len(keys), -1)
    for row in order[: len(keys) // n_labels * n_labels]:
        wish = next(label for label in wishes[row] if free[label])
        free[wish] -= 1
        labels[row] = wish
    return cell.with_columns(label=pl.Series(labels, dtype=pl.Int64)).filter(pl.col("label") >= 0)


def with_rank(rows: pl.DataFrame, within: list[str], *purpose: str | int) -> pl.DataFrame:
    """Adds ``rank``, the place (from 1) of each row in the hash order of its like; ``key`` is unique."""
    hashed = rows.with_columns(rank=pl.Series(chance.mix(rows["key"].to_numpy(), *purpose)))
    return hashed.with_columns(pl.col("rank").rank("ordinal").over(within))


def equalise(rows: pl.DataFrame, by: str, cell: list[str], *purpose: str | int) -> pl.DataFrame:
    """Keeps equally many rows of each value of ``by`` in every ``cell``; hash order decides which.

    A cell in which a value is missing is left out whole.
    """
    values = rows[by].n_unique()
    ranked = with_rank(rows, [*cell, by], "equalise", *purpose)
    counts = rows.group_by([*cell, by]).len().group_by(cell).agg(_n=pl.len(), _least=pl.col("len").min())
    quota = counts.filter(pl.col("_n") == values).drop("_n")
    kept = ranked.join(quota, on=cell, nulls_equal=True, maintain_order="left").filter(
        pl.col("rank") <= pl.col("_least")
    )
    return kept.drop("rank", "_least")


def balance(rows: pl.DataFrame, by: str, *purpose: str | int, cell: tuple[str, ...] = ()) -> pl.DataFrame:
    """Equal counts of ``by`` in every split and length stratum (and ``cell``), with as many strata as the data bear."""
    columns = ["split", *cell]
    whole = equalise(rows, by, columns, *purpose)
    for n in (5, 3, 2):
        staged = rows.with_columns(_stratum=strata(pl.col("mean_words"), n))
        kept = equalise(staged, by, [*columns, "_stratum"], *purpose).drop("_stratum")
        if kept.height >= STRATA_KEEP * whole.height and kept["split"].n_unique() == whole["split"].n_unique():
            return kept
    return whole


def cap(windows: pl.DataFrame, settings: Settings, *purpose: str | int, weight: int = 1) -> pl.DataFrame:
    """At most the set number of rows per split, chosen by hash; each of ``windows`` (``key``) gives ``weight`` rows."""
    most = pl.col("split").replace_strict(
        {split: settings.size(split) // weight for split in SPLITS}, return_dtype=pl.Int64
    )
    return with_rank(windows, ["split"], "cap", *purpose).filter(pl.col("rank") <= most).drop("rank")
