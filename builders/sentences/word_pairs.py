"""Disjoint pairs of words that can be swapped between two sentences; adding words changes few pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from discoprobe.builders import hashing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    import polars as pl

    Ints = npt.NDArray[np.int64]
    Agree = Callable[[Ints, Ints], npt.NDArray[np.bool_]]

_BITS: Final = 18
_STEP: Final = 2


class HashCounts:
    """How often words and bigrams occur in the corpora, by their hash.

    Takes lists of hashes, one list per sentence.
    """

    def __init__(self, seen: pl.Series) -> None:
        counted = seen.explode().drop_nulls().to_frame("hash").group_by("hash").len().sort("hash")
        self._hashes, self._counts = counted["hash"].to_numpy(), counted["len"].to_numpy().astype(np.int64)

    def of(self, wanted: hashing.Keys) -> npt.NDArray[np.int64]:
        """The count of each hash; 0 for one that is not there."""
        if not len(self._hashes):
            return np.zeros(len(wanted), np.int64)
        at = np.minimum(np.searchsorted(self._hashes, wanted), len(self._hashes) - 1)
        return np.where(self._hashes[at] == wanted, self._counts[at], 0)


def pair_words(
    cellings: Sequence[npt.ArrayLike], keys: npt.ArrayLike, owners: npt.ArrayLike, agree: Agree, *seed_key: str | int
) -> tuple[Ints, Ints]:
    """Disjoint pairs of rows that stand in the same cell and agree, at most one row of each owner.

    The rows of a cell are leaves of a binary trie of their hashes. From the leaves to the root, neighbours that meet in
    a node and agree become a pair; the others move up. So a row more or less changes only pairs above it.

    Args:
        cellings: numbers of the cell of each row; what finds no partner by the first numbers goes on to the next.
        keys: identity of each row (u64).
        owners: number of the owner of each row: once a row of an owner has a partner, its others need none.
        agree: for two arrays of rows, whether the first and the second ones may be a pair.
        seed_key: what the hashes start with.

    Returns:
        Two arrays: the rows of each pair.
    """
    keys, owners = np.asarray(keys, dtype=np.uint64), np.asarray(owners, dtype=np.int64)
    served = np.zeros(int(owners.max(initial=-1)) + 1, dtype=bool)
    found = [np.empty((2, 0), np.int64)]
    for attempt, cells in enumerate(cellings):
        hashes = hashing.mix(keys, "exchange", attempt, *seed_key)
        for bits in range(_BITS, -1, -_STEP):
            met = _neighbours(np.asarray(cells, dtype=np.int64), hashes, bits, np.flatnonzero(~served[owners]))
            met = met[:, agree(*met)]
            found.append(met[:, _first_of_owner(owners[met])])
            served[owners[found[-1]]] = True
    first, second = np.concatenate(found, axis=1)
    return first, second


def _first_of_owner(owners: Ints) -> npt.NDArray[np.bool_]:
    """Which pairs come first for both their owners; a pair of one owner does not count."""
    n = owners.shape[1]
    earliest = np.full(int(owners.max(initial=-1)) + 1, n)
    for side in owners:
        np.minimum.at(earliest, side, np.arange(n))
    first = (earliest[owners] == np.arange(n)).all(axis=0)
    return np.asarray(first & (owners[0] != owners[1]))


def _neighbours(cells: Ints, hashes: hashing.Keys, bits: int, rows: Ints) -> Ints:
    """Two and two of the rows of a cell whose hashes begin with the same bits, in hash order."""
    order = rows[np.lexsort((hashes[rows], cells[rows]))]
    prefix = hashes[order] >> np.uint64(64 - bits) if bits else np.zeros(len(order), np.uint64)
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (cells[order][1:] != cells[order][:-1]) | (prefix[1:] != prefix[:-1])
    at = np.arange(len(order))
    place = at - np.maximum.accumulate(np.where(begins, at, 0))
    second = np.flatnonzero(place % 2 == 1)
    return np.stack([order[second - 1], order[second]])
