"""Which split a group belongs to: a document, a target form, or a cluster of near duplicates.

A hash of its key places every group, so that it stays where it is whatever else is in the corpus. In small corpora
the hash may give a split much less usable material than its share. Then as few groups as possible are moved. No split
stays without material where three groups have some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.settings import SHARES, SPLITS

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

Split = pl.Enum(SPLITS)

ENOUGH: Final = 0.8
"""In a large corpus a split with this part of its share needs no further groups. The hash gives it to a thousand groups
of like size nearly always."""

ENOUGH_OF_FEW: Final = 0.95
"""The same in a small corpus. More would move many groups for little."""

LARGE: Final = 2000
"""Usable material (windows, candidates) from which on a corpus is large. In a smaller one every split gets its share,
nearly, because configs are close to the least number of rows."""


def split_of(keys: npt.ArrayLike, seed: int, weights: npt.ArrayLike | None = None) -> pl.Series:
    """The split of each group.

    Args:
        keys: identity of each group (u64), each once.
        seed: seed of the build.
        weights: usable material of each group (passages, candidates); equal for all if None. A group without material
            stays where the hash puts it.

    Returns:
        Enum series ``split``. Shares of the total weight are those of ``SHARES``, as far as whole groups allow.
    """
    keys = np.asarray(keys, dtype=np.uint64)
    places = np.searchsorted(np.cumsum(SHARES)[:-1], hashing.unit(keys, seed, "split"), side="right")
    if weights is not None:
        order = hashing.ranking(keys, seed, "split")
        places[order] = _with_shares(places[order], np.asarray(weights, dtype=np.float64)[order])
    return pl.Series("split", places.astype(np.uint8)).replace_strict(dict(enumerate(SPLITS)), return_dtype=Split)


def _with_shares(places: Ints, weights: Floats) -> Ints:
    """The places of groups (in hash order), changed until every split has enough of its share."""
    places = places.copy()
    loaded = np.flatnonzero(weights > 0)
    target = weights.sum() * np.array(SHARES)
    needed = target * (ENOUGH if weights.sum() >= LARGE else ENOUGH_OF_FEW)
    _fill_empty(places, weights, loaded)
    while len(loaded):
        totals = np.bincount(places[loaded], weights[loaded], minlength=len(SPLITS)).astype(np.float64)
        if (totals >= needed).all():
            break
        gain, move, goal = _best_move(places, weights, loaded, totals, target)
        if gain <= 0:
            break
        places[loaded[move]] = goal
    return places


def _fill_empty(places: Ints, weights: Floats, loaded: Ints) -> None:
    """Gives every split without material the lightest group of the heaviest split that has several."""
    for split in range(len(SPLITS)):
        counts = np.bincount(places[loaded], minlength=len(SPLITS))
        if counts[split] or not (counts > 1).any():
            continue
        totals = np.bincount(places[loaded], weights[loaded], minlength=len(SPLITS))
        giver = int(np.argmax(np.where(counts > 1, totals, -1)))
        own = loaded[places[loaded] == giver]
        places[own[np.argmin(weights[own])]] = split


def _best_move(places: Ints, weights: Floats, loaded: Ints, totals: Floats, target: Floats) -> tuple[float, int, int]:
    """The move of one group that brings the totals nearest to the target: its gain, its place in ``loaded``, its split.

    Distances are squared and relative to the share of the split. A group never leaves a split without material.
    """
    counts = np.bincount(places[loaded], minlength=len(SPLITS))
    own, size = places[loaded], weights[loaded]
    excess = totals - target
    gains = np.stack(
        [
            (excess[own] ** 2 - (excess[own] - size) ** 2) / target[own]
            + (excess[goal] ** 2 - (excess[goal] + size) ** 2) / target[goal]
            for goal in range(len(SPLITS))
        ]
    )
    gains[own, np.arange(len(own))] = 0
    gains[:, counts[own] < 2] = 0  # noqa: PLR2004 (the last group of its split)
    goal, move = np.unravel_index(int(np.argmax(gains)), gains.shape)
    return float(gains[goal, move]), int(move), int(goal)
