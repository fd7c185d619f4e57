"""Which split a group belongs to: a document, a target form, or a cluster of near duplicates.

A hash of its key assigns every group to a split, independent of the other groups. In small corpora
the hash may give a split much less usable material than its share. Then as few groups as possible are moved. No split
stays without material if three groups have some, and every split has two documents if the corpus has six.

How many rows a split keeps is known only after matching, which removes more from small splits. ``corrected_shares``
computes the shares for another attempt.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.settings import MIN_ROWS, SHARES, SPLITS
from discoprobe.loaders import hashing

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

Split = pl.Enum(SPLITS)

ENOUGH: Final = 0.8
"""In a large corpus a split with this part of its share needs no further groups. The hash gives it to a thousand groups
of like size nearly always."""

ENOUGH_OF_FEW: Final = 0.95
"""The same in a small corpus. More would move many groups for little."""

MOST_CHANGE: Final = 2.0
"""Largest factor by which a share changes in one attempt; the effect of larger changes on matching is unpredictable."""

MATCHED: Final = 1.1
"""How many more rows than wanted a split gets that is filled first, since other splits give other matches."""

LARGE: Final = 2000
"""Usable material (windows, candidates) from which on a corpus is large. In a smaller one every split gets its share,
nearly, because configs are close to the least number of rows."""


def split_of(
    keys: npt.ArrayLike, seed: int, weights: npt.ArrayLike | None = None, shares: tuple[float, ...] = SHARES,
    fewest: int = 1,
) -> pl.Series:  # fmt: skip
    """The split of each group.

    Args:
        keys: identity of each group (u64), each once.
        seed: seed of the build.
        weights: usable material of each group (passages, candidates); equal for all if None. A group without material
            stays where the hash puts it.
        shares: of the splits.
        fewest: groups with material that every split has, where there are so many; else every split has one.

    Returns:
        Enum series ``split``. The splits get these shares of the total weight, as far as whole groups allow.
    """
    keys = np.asarray(keys, dtype=np.uint64)
    places = np.searchsorted(np.cumsum(shares)[:-1], hashing.unit(keys, seed, "split"), side="right")
    if weights is not None:
        order = hashing.ranking(keys, seed, "split")
        places[order] = _with_shares(places[order], np.asarray(weights, dtype=np.float64)[order], shares, fewest)
    return _split_names(places)


def _split_names(places: Ints) -> pl.Series:
    return pl.Series("split", places.astype(np.uint8)).replace_strict(dict(enumerate(SPLITS)), return_dtype=Split)


def with_splits_of_sets(rows: pl.DataFrame, by: str, *seed_key: str | int, cell: tuple[str, ...] = ()) -> pl.DataFrame:
    """Assign matched sets (one row per label) to splits; adds ``split``.

    The rows of a set have the same cell and similar lengths. Sets are divided as ``MIN_ROWS`` are, in hash order.

    Args:
        rows: ``key``, ``n_chars``, ``by`` and ``cell``; equally many of each label in every cell.
        by: the column of labels.
        seed_key: what the hash starts with.
        cell: columns inside whose values labels are balanced.
    """
    if rows.is_empty():
        return rows
    ordered = rows.sort(*cell, "n_chars", "key").with_columns(_set=pl.int_range(pl.len()).over(by))
    sets = ordered.group_by("_set").agg(key=pl.col("key").min()).sort("_set")
    n, least = sets.height, -(-np.array(MIN_ROWS) // rows[by].n_unique())
    sizes = least * min(1.0, n / least.sum())
    sizes = np.ceil(sizes + np.array(MIN_ROWS) / sum(MIN_ROWS) * max(0, n - sizes.sum()))
    in_splits: Ints = np.minimum(sizes, [n, n // 3, n // 2]).astype(np.int64)  # test and validation are rounded up
    in_splits[0] = n - in_splits[1:].sum()
    splits = np.empty(n, dtype=np.int64)
    splits[hashing.ranking(sets["key"].to_numpy(), "split", *seed_key)] = np.repeat(np.arange(len(SPLITS)), in_splits)
    of_sets = sets.select("_set", split=_split_names(splits))
    return rows.drop("split", strict=False).join(
        ordered.select("key", "_set").join(of_sets, on="_set").drop("_set"), on="key", maintain_order="left"
    )


def corrected_shares(shares: tuple[float, ...], counts: Sequence[int]) -> tuple[float, ...] | None:
    """The shares for another attempt, if other splits would give every split enough rows or fill an empty one.

    Args:
        shares: the shares that were tried.
        counts: rows that they gave in each split.

    Returns:
        Each share, larger or smaller as its split has too few or too many rows compared with ``MIN_ROWS``; None if
        every split has enough, or if all together have too few and none is empty.
    """
    total, least = sum(counts), np.array(MIN_ROWS)
    lacking = total >= least.sum() and any(n < few for n, few in zip(counts, MIN_ROWS, strict=True))
    if not total or not (lacking or min(counts) == 0):
        return None
    change = total * least / least.sum() / np.maximum(counts, 1)
    changed = np.array(shares) * change.clip(1 / MOST_CHANGE, MOST_CHANGE)
    return tuple((changed / changed.sum()).tolist())


def test_first(n_rows: int, sizes: Sequence[float]) -> tuple[float, ...]:
    """The shares with which rows fill test, then validation, and then train; matching loses some of them.

    Args:
        n_rows: rows that there are.
        sizes: rows that are wanted in train, validation and test.
    """
    test = min(1.0, MATCHED * sizes[2] / max(n_rows, 1))
    validation = min(1.0 - test, MATCHED * sizes[1] / max(n_rows, 1))
    return max(0.0, 1.0 - test - validation), validation, test


def _with_shares(places: Ints, weights: Floats, shares: tuple[float, ...], fewest: int) -> Ints:
    """The places of groups (in hash order), changed until every split has enough of its share.

    First, every split with too few groups gets the lightest group of the heaviest split that has more. Then one group
    after the other moves, until every split has what it needs or no move brings the totals nearer.
    """
    places = places.copy()
    loaded = np.flatnonzero(weights > 0)
    target = weights.sum() * np.array(shares)
    needed = target * (ENOUGH if weights.sum() >= LARGE else ENOUGH_OF_FEW)
    for least in range(1, fewest + 1 if len(loaded) >= fewest * len(SPLITS) else 2):
        for split in range(len(SPLITS)):
            counts = np.bincount(places[loaded], minlength=len(SPLITS))
            if counts[split] < least and (counts > least).any():
                loads = np.bincount(places[loaded], weights[loaded], minlength=len(SPLITS))
                giver = int(np.argmax(np.where(counts > least, loads, -1)))
                of_giver = loaded[places[loaded] == giver]
                places[of_giver[np.argmin(weights[of_giver])]] = split
        while len(loaded):
            totals = np.bincount(places[loaded], weights[loaded], minlength=len(SPLITS)).astype(np.float64)
            if (totals >= needed).all():
                break
            gain, move, goal = _best_move(places, weights, loaded, totals, target, least)
            if gain <= 0:
                break
            places[loaded[move]] = goal
    return places


def _best_move(  # noqa: PLR0913, PLR0917 (the state of the search)
    places: Ints, weights: Floats, loaded: Ints, totals: Floats, target: Floats, least: int
) -> tuple[float, int, int]:
    """The move of one group that brings the totals nearest to the target: its gain, its place in ``loaded``, its split.

    Distances are squared and relative to the share of the split. A group never leaves a split with less than
    ``least`` groups.
    """
    counts = np.bincount(places[loaded], minlength=len(SPLITS))
    of_group, size = places[loaded], weights[loaded]
    excess = totals - target
    gains = np.stack(
        [
            (excess[of_group] ** 2 - (excess[of_group] - size) ** 2) / target[of_group]
            + (excess[goal] ** 2 - (excess[goal] + size) ** 2) / target[goal]
            for goal in range(len(SPLITS))
        ]
    )
    gains[of_group, np.arange(len(of_group))] = 0
    gains[:, counts[of_group] <= least] = 0
    goal, move = np.unravel_index(int(np.argmax(gains)), gains.shape)
    return float(gains[goal, move]), int(move), int(goal)
