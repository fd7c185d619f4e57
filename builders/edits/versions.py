"""A sentence of the corpus in two versions: as it is, and edited.

``exchange_words`` makes rings of words, in which each sentence gets the word of another one. More words in the corpus
change few rings. ``counts_of`` tells how often words occur.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.sampling.balance import cap
from discoprobe.builders.sentences.candidates import if_enough, unedited, usable_of
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Edit, Sample
from discoprobe.loaders import hashing


def original_and_edited(frame: pl.DataFrame, context: Context) -> Sample:
    """Two rows per candidate: the original (label 0) and its edited form (label 1), with the same ``pair``."""
    usable = usable_of(frame, context)
    capped = context.drops.keep(usable, cap(usable, context.settings, *context.seed_key, weight=2), "over-size")
    return if_enough(Sample(in_two_versions(capped), candidates=frame.height * 2), context.labels, context)


def in_two_versions(rows: pl.DataFrame, **edited: pl.Expr | str) -> pl.DataFrame:
    """The original (label 0) and the edited form (label 1) of each row, with its key as ``pair``.

    ``edited`` gives the columns whose values differ in the edited form.
    """
    return pl.concat(
        unedited(rows).with_columns(
            label=pl.lit(label, pl.Int64), edited=pl.lit(bool(label)), pair="key",
            key=pl.Series(hashing.mix(rows["key"].to_numpy(), "row", label)), **(edited if label else {}),
        )
        for label in (0, 1)
    )  # fmt: skip


def planned_edit(_text: str, plan: Mapping[str, Any]) -> Edit:
    """The edit that a plan describes: ``new`` takes the place of what stands from ``start`` to ``end``."""
    return Edit(plan["start"], plan["end"], plan["new"])


def word_bags(trees: Trees) -> pl.DataFrame:
    """``sent`` and ``bag``: equal for sentences of the same words in any order.

    A task that changes the order of words uses only one of them, because another could equal its edited version.
    """
    word = hashing.hashed(pl.col("form").str.to_lowercase())
    return trees.words.group_by("sent", maintain_order=True).agg(bag=word.sum())


Ints = npt.NDArray[np.int64]
Fits = Callable[[Ints, Ints], npt.NDArray[np.bool_]]

LEVELS: Final = (18, 15, 12, 9, 6, 4, 2, 0)
"""Bits of the hashes by which rows are divided, from the leaves of the trie to its root."""

MOST: Final = 32
"""Rows of a node that are looked at together."""


HashCounts = Callable[[hashing.Keys], Ints]
"""How often words and bigrams occur in the corpora, by their hashes."""


def counts_of(seen: pl.Series) -> HashCounts:
    """The counts of hashes in lists, one list per sentence or null; 0 for a hash that is in none."""
    counted = seen.explode().drop_nulls().to_frame("hash").group_by("hash").len().sort("hash")
    known, counts = counted["hash"].to_numpy(), counted["len"].to_numpy().astype(np.int64)

    def count(hashes: hashing.Keys) -> Ints:
        if not len(known):
            return np.zeros(len(hashes), np.int64)
        at = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        return np.where(known[at] == hashes, counts[at], 0)

    return count


def exchange_words(
    cellings: Sequence[npt.ArrayLike], keys: npt.ArrayLike, owners: npt.ArrayLike, fits: Fits, *seed_key: str | int
) -> tuple[Ints, Ints, Ints]:
    """Rings of rows of a cell, each of which gets the word of the next; at most one row of each owner.

    So every word that is put into a sentence is taken from another one. The rows of a cell are leaves of a binary trie
    of their hashes. From the leaves to the root, as many rows as can be of those that meet in a node are put into
    rings; the others move up. So a row more or less changes only the rings near it.

    Args:
        cellings: several divisions into cells, as the number of the cell of each row, -1 for none; rows that find no
            ring in the first division are tried in the next.
        keys: identity of each row (u64).
        owners: number of the owner of each row: once a row of an owner is in a ring, its others need none.
        fits: for two arrays of rows, whether the word of the second may take the place of that of the first.
        seed_key: what the hashes start with.

    Returns:
        Three arrays: the rows, the rows whose words they get, and the number of the ring.
    """
    keys, owners = np.asarray(keys, dtype=np.uint64), np.asarray(owners, dtype=np.int64)
    served = np.zeros(int(owners.max(initial=-1)) + 1, dtype=bool)
    rings: list[Ints] = []
    for attempt, cells in enumerate(cellings):
        hashes, of_cell = hashing.mix(keys, "exchange", attempt, *seed_key), np.asarray(cells, dtype=np.int64)
        unserved = np.lexsort((hashes, of_cell))[(of_cell < 0).sum() :]
        for bits in LEVELS:
            unserved = unserved[~served[owners[unserved]]]
            # Nodes: the rows of each cell whose hashes have the same prefix, in hash order, at most MOST at a time, and
            # of each owner one. Nodes of one row have nobody to exchange with.
            cell, hashed = of_cell[unserved], hashes[unserved]
            prefix = hashed >> np.uint64(64 - bits) if bits else np.zeros(len(unserved), np.uint64)
            begins = np.ones(len(unserved) + 1, dtype=bool)
            begins[1:-1] = (cell[1:] != cell[:-1]) | (prefix[1:] != prefix[:-1])
            together = ~(begins[:-1] & begins[1:])
            order, begins = unserved[together], begins[:-1][together]
            place = np.arange(len(order)) - np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
            node = np.cumsum(begins | (place % MOST == 0)) - 1
            _, first = np.unique(node * (int(owners.max(initial=0)) + 1) + owners[order], return_index=True)
            first.sort()
            sizes = np.bincount(node[first], minlength=0)
            rows, sizes = order[first][sizes[node[first]] > 1], sizes[sizes > 1]
            for ring in _rings(rows, sizes, fits):
                if not served[owners[ring]].any():
                    served[owners[ring]] = True
                    rings.append(ring)
    nothing = np.empty(0, np.int64)
    return (
        np.concatenate([nothing, *rings]),
        np.concatenate([nothing, *(np.roll(ring, -1) for ring in rings)]),
        np.repeat(np.arange(len(rings)), [len(ring) for ring in rings]).astype(np.int64),
    )


def _rings(rows: Ints, sizes: Ints, fits: Fits) -> Iterator[Ints]:
    """As many rows of each node as possible, in rings of which each row may get the word of the next."""
    from scipy.optimize import linear_sum_assignment

    ends = np.cumsum(sizes)
    beside = np.repeat(sizes, sizes)  # for each row the number of rows of its node
    first = np.repeat(np.arange(len(rows)), beside)
    second = (
        np.arange(len(first)) - np.repeat(np.cumsum(beside) - beside, beside) + np.repeat(ends - sizes, sizes)[first]
    )
    allowed = fits(rows[first], rows[second]) & (first != second)
    squares = sizes**2
    starts = np.cumsum(squares) - squares
    possible = np.add.reduceat(allowed, starts, dtype=np.int64) if len(sizes) else sizes
    for n in np.flatnonzero(possible > 1):
        node = rows[ends[n] - sizes[n] : ends[n]]
        table = allowed[starts[n] : starts[n] + squares[n]].reshape(len(node), len(node))
        alone = np.where(np.eye(len(node), dtype=bool), 1, len(node) + 1)
        _, following = linear_sum_assignment(np.where(table, 0, alone))
        # The cycles of the permutation, each from its lowest number on, without what stays where it is.
        seen: set[int] = set()
        for start in np.flatnonzero(following != np.arange(len(following))).tolist():
            cycle, at = [], start
            while at not in seen:
                seen.add(at)
                cycle.append(at)
                at = int(following[at])
            if cycle:
                yield node[cycle]
