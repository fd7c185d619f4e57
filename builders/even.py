"""Equal counts of labels whose sentences are equally long.

Inside strata of length the longer sentences are still more often of one label, so rows are chosen by their own length:
in every cell all rows of the rarest label are coupled with as many of each other label that are most like them in
characters and in characters per word (plurals have more letters per word). Of these couples (with more labels, larger
sets) those go that make one label longer than another on the whole, at most a fifth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from discoprobe.builders import chance

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

KEEP: Final = 0.8
"""Share of the sets of a split that stays, whatever it does to the means."""

TOLERANCE: Final = 0.02
"""Difference between the mean of a label and of all, in standard deviations, that is left. No solver gets two points of
accuracy out of four hundredths between two labels."""

LARGEST: Final = 2_000_000
"""Couples of rows that are compared in one cell (16 MB); a larger cell is cut by length."""

CUTS: Final = (("n_running", 1), ("n_chars", 4), ("n_chars", 1))
"""Column and width of the bins by which a large cell is cut, one after the other."""


def even(rows: pl.DataFrame, by: str, *purpose: str | int, cell: tuple[str, ...] = (), least: int = 0) -> pl.DataFrame:
    """Equally many rows of each value of ``by`` in every split (and ``cell``), of like lengths.

    Args:
        rows: ``key``, ``split``, ``n_running`` (words of the text, as it is written), ``n_chars``, ``by`` and ``cell``.
        by: the column that is balanced.
        purpose: salt: of rows that are equally good hash order decides.
        cell: columns inside whose values the balance holds too.
        least: so many rows of each value are kept, if there are so many, even if that leaves their lengths less alike.

    Returns:
        The rows kept, in their order. A cell in which a value is missing has none.
    """
    n_values = rows[by].n_unique()
    ordered = rows[chance.ranking(rows["key"].to_numpy(), "even", *purpose)].with_columns(_at=pl.int_range(pl.len()))
    points = _points(ordered)
    nothing = np.empty((0, n_values), np.int64)
    whole = [
        np.concatenate(
            [nothing, *(found for part in _cells(split, cell) for found in _sets(part, by, points, n_values, CUTS))]
        )
        for split in ordered.partition_by("split", maintain_order=True)
    ]
    share = max(KEEP, least / max(1, sum(map(len, whole))))
    kept = np.concatenate([nothing, *(_trimmed(sets, points, share) for sets in whole)])
    return rows.join(ordered[kept.ravel()].select("key"), on="key", how="semi", maintain_order="left")


def _cells(rows: pl.DataFrame, cell: tuple[str, ...]) -> list[pl.DataFrame]:
    return rows.partition_by(cell, maintain_order=True) if cell else [rows]


def _points(rows: pl.DataFrame) -> Floats:
    """Each row as a point, like lengths being near: logarithms of characters and characters per word, standardised."""
    characters = np.log1p(rows["n_chars"].to_numpy().astype(np.float64))
    per_word = characters - np.log1p(rows["n_running"].to_numpy().astype(np.float64))
    points = np.column_stack([characters, per_word])
    spread = points.std(axis=0) if rows.height else np.ones(2)
    return np.asarray(points / np.where(spread > 0, spread, 1.0))


def _sets(
    cell: pl.DataFrame, by: str, points: Floats, n_values: int, cuts: tuple[tuple[str, int], ...]
) -> Iterator[Ints]:
    """Sets of one row of each value, shape (sets, values): no array for a cell in which a value is missing."""
    groups = [group["_at"].to_numpy() for group in cell.sort(by, "_at").partition_by(by, maintain_order=True)]
    sizes = [len(group) for group in groups]
    if len(groups) < n_values:
        return
    if min(sizes) * max(sizes) > LARGEST and cuts:
        (column, width), *finer = cuts
        for part in cell.with_columns(_cut=pl.col(column) // width).partition_by("_cut", maintain_order=True):
            yield from _sets(part, by, points, n_values, tuple(finer))
        return
    rarest = groups[int(np.argmin(sizes))]
    yield np.column_stack([group if group is rarest else _nearest(rarest, group, points) for group in groups])


def _nearest(rows: Ints, others: Ints, points: Floats) -> Ints:
    """For each of ``rows`` one of ``others``, each used once, at the least distances in all."""
    _, found = linear_sum_assignment(cdist(points[rows], points[others], "sqeuclidean"))
    return np.asarray(others[found])


def _trimmed(sets: Ints, points: Floats, share: float) -> Ints:
    """The sets without those by which the values differ in mean length: one at a time the one that does most to it.

    ``share`` of them stays.
    """
    places = points[sets]
    away = (places - places.mean(axis=1, keepdims=True)).reshape(len(sets), 2 * sets.shape[1])
    own = (away**2).sum(axis=1)
    kept, total = np.ones(len(sets), dtype=bool), away.sum(axis=0)
    for left in range(len(sets), int(np.ceil(share * len(sets))), -1):
        if np.abs(total).max() <= TOLERANCE * left:
            break
        change = np.where(kept, own - 2 * away @ total, np.inf)
        worst = int(np.argmin(change))
        if (total @ total + change[worst]) * left**2 >= total @ total * (left - 1) ** 2:
            break  # the mean would not be nearer without it
        kept[worst] = False
        total = total - away[worst]
    return sets[kept]
