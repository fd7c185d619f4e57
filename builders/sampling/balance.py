"""Balance: equal counts of labels, labels assigned in equal numbers, rows removed until simple rules are at chance."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy  # its parts take a quarter of a second, and are loaded when they are first used

from discoprobe.builders import hashing
from discoprobe.builders.sampling.stratify import LENGTH_EDGES, STRATA_KEEP, strata, with_rank

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CLASSES, IN_CLASS = 5, 40
"""Largest number of classes of a measure, and smallest number of rows per class."""

CLASSES_OF_TWO = 4
"""Classes of each of two measures that are seen together."""

WAVES, TOGETHER, FURTHEST = 150, 3, 3.0
"""Number of rules on several measures together, number of measures that each sees, and number of standard deviations at
which differences are clipped."""

FAR = 2.0
"""Differences between a candidate and the others are clipped at this number of standard deviations."""


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


def equal_counts_by_length(rows: pl.DataFrame, by: str, *seed_key: str | int) -> pl.DataFrame:
    """Equal counts of ``by`` in every split and length stratum; five strata, fewer for small corpora."""
    overall = equal_counts(rows, by, ["split"], *seed_key)
    for n in (5, 3, 2):
        staged = rows.with_columns(_stratum=strata(pl.col("mean_words"), n))
        by_stratum = equal_counts(staged, by, ["split", "_stratum"], *seed_key).drop("_stratum")
        if (
            by_stratum.height >= STRATA_KEEP * overall.height
            and by_stratum["split"].n_unique() == overall["split"].n_unique()
        ):
            return by_stratum
    return overall


def assign_labels(rows: pl.DataFrame, n_labels: int, *seed_key: str | int) -> pl.DataFrame:
    """Gives each row one of ``n_labels`` labels, equally often in every split and, if possible, length stratum.

    A hash of its key gives each row an order of the labels. In hash order, each row gets the first label of its order
    that still has places. The remainder of a stratum (beyond a multiple of ``n_labels``) is treated together with the
    remainders of the other strata. At most ``n_labels - 1`` rows of a split get no label; they are left out.

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


def remove_bias(
    rows: pl.DataFrame, gains: Floats, *seed_key: str | int, few: int = 0, slack: float = 0.5,
    deviations: float = np.inf,
) -> pl.DataFrame:  # fmt: skip
    """One row of each key, or none, so that simple rules do about as well as chance in every split.

    A gain says for a row by how much a rule does better than chance: for a rule about two candidates 1 where it finds
    the right one, -1 where it finds the other, 0 where it cannot tell; for one about four, 3 and -1. First, rows are
    replaced by others of the same key; then rows are removed. Each step chooses the row that brings the sums of all
    gains nearest to zero, until no row brings them nearer. Hash order decides between equally good rows.

    Args:
        rows: ``key`` and ``split``; the rows of a key are alternatives, of which the first is taken where it may be.
        gains: of each rule on each row, in whole eighths (so that their sums are exact), shape (rows, rules).
        seed_key: what the hashes start with.
        few: number of keys of a split that are always kept.
        slack: sums of at most this count as zero.
        deviations: largest slack, in standard deviations of chance (the root of the number of keys in a split).

    Returns:
        The rows kept, in their order.
    """
    keys = rows["key"].to_numpy()
    order = np.argsort(~hashing.mix(keys, "level", *seed_key), kind="stable")
    keys, splits = keys[order], rows["split"].rank("dense").to_numpy()[order]
    stays = np.zeros(rows.height, dtype=bool)
    for split in np.unique(splits):
        here = splits == split
        _, first, units = np.unique(keys[here], return_index=True, return_inverse=True)
        units = np.argsort(np.argsort(first))[units]  # numbered in hash order
        most = min(slack, deviations * (units.max() + 1) ** 0.5)
        stays[order[here][_level(gains[order[here]], units, few, most)]] = True
    return rows.filter(stays)


def _level(gains: Floats, units: Ints, few: int, slack: float) -> Ints:
    """Numbers of the rows that stay: at most one of each unit."""
    chosen = np.unique(units, return_index=True)[1]
    sums, moves = gains[chosen].sum(axis=0), gains - gains[chosen[units]]
    squares = (moves**2).sum(axis=1)
    while (best := _nearest(sums, moves, squares, slack)) is not None:
        unit = units[best]
        chosen[unit], sums = best, sums + moves[best]
        here = np.flatnonzero(units == unit)
        moves[here] = gains[here] - gains[best]
        squares[here] = (moves[here] ** 2).sum(axis=1)
    moves = -gains[chosen]
    squares, there = (moves**2).sum(axis=1), np.ones(len(chosen), dtype=bool)
    while there.sum() > few and (best := _nearest(sums, moves, squares, slack)) is not None:
        sums, there[best], squares[best] = sums + moves[best], False, np.inf
    return chosen[there]


def _nearest(sums: Floats, moves: Floats, squares: Floats, slack: float) -> int | None:
    """The number of the move that brings ``sums`` nearest to zero; None if they are within ``slack`` or none does."""
    growth = squares + 2 * (moves @ sums)
    best = int(growth.argmin())
    return best if growth[best] < 0 and np.abs(sums).max() > slack else None


def ranks(values: Floats) -> Floats:
    """Gains of the rules "the right one has this rank among the candidates", without the lowest rank.

    Args:
        values: a measure of the candidates of each row, the right one first, shape (rows, candidates).

    Returns:
        Shape (rows, candidates - 1), as ``remove_bias`` takes it.
    """
    below, upto = ((order(values[:, 1:], values[:, :1])).sum(axis=1) for order in (np.less, np.less_equal))
    places = np.arange(values.shape[1])
    shares = (places >= below[:, None]) & (places <= upto[:, None])
    gains = len(places) * shares / shares.sum(axis=1, keepdims=True) - 1
    return _in_eighths(gains[:, 1:])


def differences(values: Floats) -> Floats:
    """Gains of a rule that sees by how many standard deviations the right one is above the others, as ``ranks``."""
    above = values[:, :1] - values[:, 1:].mean(axis=1, keepdims=True)
    spread = above.std() if len(above) else 0.0
    return _in_eighths(np.clip(above / (spread or 1.0), -FAR, FAR))


def classes(values: Floats) -> Floats:
    """Like ``ranks``, for the rules "the right one is in this class of values, and the others are not".

    The classes have about equally many rows, and there are fewer of them where there are few rows.
    """
    n_classes = max(1, min(CLASSES, len(values) // IN_CLASS))
    edges = np.unique(np.quantile(values, np.arange(1, n_classes) / n_classes)) if n_classes > 1 else np.empty(0)
    there = np.searchsorted(edges, values)[:, :, None] == np.arange(len(edges) + 1)
    return _in_eighths(there[:, 0] - there[:, 1:].mean(axis=1))


def classes_of_two(values: Floats, others: Floats) -> Floats:
    """Like ``classes``, for two measures together, each as its difference from the mean of the row.

    Such a rule may find the right one although neither measure finds it alone.
    """
    number = np.zeros(values.shape, dtype=np.int64)
    for measure in (values, others):
        above = measure - measure.mean(axis=1, keepdims=True)
        edges = np.quantile(above, np.arange(1, CLASSES_OF_TWO) / CLASSES_OF_TWO)
        number = CLASSES_OF_TWO * number + np.searchsorted(edges, above)
    there = number[:, :, None] == np.arange(CLASSES_OF_TWO**2)
    return np.asarray((values.shape[1] - 1) * there[:, 0] - there[:, 1:].sum(axis=1), dtype=np.float64)


def waves(measures: Sequence[Floats]) -> Floats:
    """Like ``differences``, for ``WAVES`` rules on several measures of two candidates together.

    Each rule is the sine of a sum of the differences of ``TOGETHER`` measures, with weights that a hash chooses (random
    features of a Gaussian kernel, Rahimi & Recht 2007). If all are at chance, differences are about as frequent as the
    opposite ones, so that hardly any function of them finds the right candidate.
    """
    above = np.stack([values[:, 0] - values[:, 1] for values in measures], axis=1)
    spread = above.std(axis=0) if len(above) else np.ones(len(measures))
    standard = np.clip(above / np.where(spread > 0, spread, 1.0), -FURTHEST, FURTHEST)
    rules = np.arange(WAVES)
    order = np.argsort([hashing.mix(rules, "measure", measure) for measure in range(len(measures))], axis=0)
    waves = np.zeros((len(above), WAVES))
    for place, measure in enumerate(order[:TOGETHER]):
        waves += standard[:, measure] * scipy.special.ndtri(hashing.unit(rules, "weight", place))
    return _in_eighths(np.sin(waves))


def _in_eighths(gains: Floats) -> Floats:
    return np.asarray(np.round(gains * 8) / 8)
