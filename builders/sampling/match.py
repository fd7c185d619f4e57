"""Equal counts of labels, with sentences that are matched on surface features.

Inside strata of length the sentences of one label are still a little longer, so rows are matched one by one. In every
cell each row of the rarest label is paired with the row of every other label that is most similar in characters, in
characters per word (plurals have more letters per word), in words with a capital (sentences in the past tense name more
people) and in punctuation marks. Then the pairs (larger sets with more labels) are removed that make the mean of a
label differ from that of the others: at most a fifth, more if labels differ much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from discoprobe.builders import hashing
from discoprobe.loaders.running_words import running_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

SURFACE: Final = ("n_running", "n_chars", "n_capitals", "n_marks")
"""Surface features: words of the text, characters, words with a capital, punctuation marks."""

WEIGHTS: Final = (1.0, 1.0, 0.5, 0.5)
"""Weights of the logarithms of characters, characters per word, capitals and punctuation marks."""

KEEP: Final = 0.8
"""Share of the sets of a split that is kept if the means then differ by less than ``ROUGH``."""

LEAST: Final = 0.3
"""Share that is kept whatever the means are."""

TOLERANCE: Final = 0.02
"""Largest difference between the mean of a label and the mean of all, in standard deviations. With four hundredths
between two labels no solver gains two points of accuracy."""

ROUGH: Final = 0.05
"""Difference that is worth more than a fifth of the sets: shallow trees of Polish are a standard deviation shorter."""

CALIPER: Final = 1.0
"""Largest distance between two matched rows, if there are enough such rows."""

NONE: Final = -1

LARGEST: Final = 2_000_000
"""Pairs of rows that are compared in one cell (16 MB); a larger cell is divided by length."""

CUTS: Final = (("n_running", 1), ("n_chars", 4), ("n_chars", 1))
"""Column and width of the bins by which a large cell is cut, one after the other."""


def surface(text: pl.Expr) -> list[pl.Expr]:
    """The columns ``SURFACE`` of texts."""
    counts = {
        "n_running": running_words(text).list.len(),
        "n_chars": text.str.len_chars(),
        "n_capitals": text.str.count_matches(r"\b\p{Lu}"),
        "n_marks": text.str.count_matches(r"[^\w\s]"),
    }
    return [count.cast(pl.Int32).alias(name) for name, count in counts.items()]


def match_labels(
    rows: pl.DataFrame, by: str, *seed_key: str | int, cell: tuple[str, ...] = (), least: int = 0, strict: bool = False
) -> pl.DataFrame:
    """Equally many rows of each value of ``by`` in every split (and ``cell``), that look alike.

    Args:
        rows: ``key``, ``split``, the columns of ``surface``, ``by`` and ``cell``.
        by: the column that is balanced.
        seed_key: what the hash starts with that decides between equally good rows.
        cell: columns inside whose values the balance holds too.
        least: so many rows of each value are kept, if there are so many, even if that leaves them less alike.
        strict: rows that have no like one are left out though there are fewer than ``least`` others.

    Returns:
        The rows kept, in their order. A cell in which a value is missing has none.
    """
    ordered = rows[hashing.ranking(rows["key"].to_numpy(), "even", *seed_key)].with_columns(_at=pl.int_range(pl.len()))
    points = _points(ordered)
    whole = _coupled(ordered, by, cell, points, CALIPER)
    if sum(map(len, whole)) < max(1, least) and not strict:
        whole = _coupled(ordered, by, cell, points, np.inf)
    share = max(LEAST, least / max(1, sum(map(len, whole))))
    kept = [ordered[_trimmed(sets, points, share).ravel()].select("key") for sets in whole]
    return rows.join(pl.concat([rows.select("key").clear(), *kept]), on="key", how="semi", maintain_order="left")


def _coupled(rows: pl.DataFrame, by: str, cell: tuple[str, ...], points: Floats, farthest: float) -> list[Ints]:
    """Sets of one row of each value, shape (sets, values), per split."""
    n_values = rows[by].n_unique()
    nothing = np.empty((0, n_values), np.int64)
    return [
        np.concatenate(
            [
                nothing,
                *(found for part in _cells(split, cell) for found in _sets(part, by, points, n_values, farthest, CUTS)),
            ]
        )
        for split in rows.partition_by("split", maintain_order=True)
    ]


def _cells(rows: pl.DataFrame, cell: tuple[str, ...]) -> list[pl.DataFrame]:
    return rows.partition_by(cell, maintain_order=True) if cell else [rows]


def _points(rows: pl.DataFrame) -> Floats:
    """Each row as a point, like ones being near: logarithms of what is counted, standardised and weighted."""
    logs = {name: np.log1p(rows[name].to_numpy().astype(np.float64)) for name in SURFACE}
    per_word = logs["n_chars"] - logs["n_running"]
    points = np.column_stack([logs["n_chars"], per_word, logs["n_capitals"], logs["n_marks"]])
    spread = points.std(axis=0) if rows.height else np.ones(len(WEIGHTS))
    return np.asarray(points / np.where(spread > 0, spread, 1.0) * WEIGHTS)


def _sets(  # noqa: PLR0913, PLR0917 (it calls itself)
    cell: pl.DataFrame, by: str, points: Floats, n_values: int, farthest: float, cuts: tuple[tuple[str, int], ...]
) -> Iterator[Ints]:
    """Sets of one row of each value, shape (sets, values): no array for a cell in which a value is missing."""
    groups = [group["_at"].to_numpy() for group in cell.sort(by, "_at").partition_by(by, maintain_order=True)]
    sizes = [len(group) for group in groups]
    if len(groups) < n_values:
        return
    if min(sizes) * max(sizes) > LARGEST and cuts:
        (column, width), *finer = cuts
        for part in cell.with_columns(_cut=pl.col(column) // width).partition_by("_cut", maintain_order=True):
            yield from _sets(part, by, points, n_values, farthest, tuple(finer))
        return
    rarest = groups[int(np.argmin(sizes))]
    sets = [group if group is rarest else _nearest(rarest, group, points, farthest) for group in groups]
    together = np.column_stack(sets)
    yield together[(together != NONE).all(axis=1)]


def _nearest(rows: Ints, others: Ints, points: Floats, farthest: float) -> Ints:
    """For each of ``rows`` one of ``others``, each used once, at the least distances in all; ``NONE`` if all are far.

    That a row stays alone costs as much as the distance ``farthest``: else of two labels of which one is longer all
    rows would be coupled, each with a longer one, and those that both have in common with none of the same length.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 (both take a quarter of a second)
    from scipy.spatial.distance import cdist  # noqa: PLC0415

    distances = cdist(points[rows], points[others], "sqeuclidean")
    if np.isfinite(farthest):
        distances = np.hstack([distances, np.full((len(rows), len(rows)), farthest**2)])
    _, found = linear_sum_assignment(distances)
    return np.asarray(np.append(others, np.full(len(rows), NONE))[found])


def _trimmed(sets: Ints, points: Floats, share: float) -> Ints:
    """The sets without those by which the values differ in mean length: one at a time the one that does most to it.

    ``share`` of them stays.
    """
    places = points[sets]
    away = (places - places.mean(axis=1, keepdims=True)).reshape(len(sets), points.shape[1] * sets.shape[1])
    own = (away**2).sum(axis=1)
    kept, total = np.ones(len(sets), dtype=bool), away.sum(axis=0)
    for left in range(len(sets), int(np.ceil(share * len(sets))), -1):
        if np.abs(total).max() <= (TOLERANCE if left > KEEP * len(sets) else ROUGH) * left:
            break
        change = np.where(kept, own - 2 * away @ total, np.inf)
        worst = int(np.argmin(change))
        if (total @ total + change[worst]) * left**2 >= total @ total * (left - 1) ** 2:
            break  # the mean would not be nearer without it
        kept[worst] = False
        total = total - away[worst]
    return sets[kept]
