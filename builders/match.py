"""Intruders and distractors that resemble what they stand in for.

A sentence put in another's place must not be told from it by its length or by the words it shares with its neighbours
(PEERS 2.1: lexical overlap alone solves DiscoEval's coherence task on Wikipedia at .71). So it is drawn from sentences
of other documents of the same split and corpus whose length is within 20 % and whose share of content words in common
with the context is as close as can be to the true sentence's. Each is used once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse
from sklearn.preprocessing import normalize

from discoprobe.builders import chance

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTLIST = 64
"""Candidates looked at per slot; what the first takers leave is enough for the others."""

_BLOCK = 256
_JITTER = 0.02


@dataclass(frozen=True, slots=True)
class Matching:
    """How alike an intruder must be to the sentence it stands in for.

    Attributes:
        words: largest difference in words, as a share of the true sentence's.
        chars: largest difference in characters, likewise.
        overlap: by how much the share of content words in common with the context may be below and above the true
            sentence's.
        same: columns in which the two agree.
        later: the intruder comes from later in the same document; otherwise from another document.
    """

    words: float = 0.2
    chars: float = 0.3
    overlap: tuple[float, float] = (0.08, 0.16)
    same: tuple[str, ...] = ("corpus", "split")
    later: bool = False


CLOSE = Matching()
ANY = Matching(words=np.inf, chars=np.inf, overlap=(np.inf, np.inf))


Gaps = npt.NDArray[np.float64]


class Shares:
    """Which share of a sentence's content words a context has, for many sentences and contexts."""

    def __init__(self, frame: pl.DataFrame) -> None:
        """Takes ``row`` numbers 0…n-1 and ``content`` (lists of hashed words)."""
        self.words = _incidence(frame, "content")
        self.words.data[:] = 1
        self.sizes = np.maximum(np.asarray(self.words.sum(axis=1)).ravel(), 1)

    def of(self, contexts: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], pool: npt.NDArray[np.int64]) -> Gaps:
        """By how much the share of each of ``pool`` is above that of the i-th row in the i-th context: (rows, pool)."""
        union = _members(contexts, self.words.shape[0]) @ self.words
        union.data[:] = 1
        own = np.asarray(union.multiply(self.words[rows]).sum(axis=1)).ravel() / self.sizes[rows]
        return np.asarray((union @ self.words[pool].T).toarray() / self.sizes[pool] - own[:, None])


class Cosines:
    """TF-IDF cosines between sentences and contexts, over the beginnings of words.

    The inverse document frequency is rounded to a power of two: a document more does not change it.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        """Takes ``row`` numbers 0…n-1 and ``stems`` (lists of hashed beginnings)."""
        counts = _incidence(frame, "stems")
        frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
        weights = np.round(np.log2((1 + counts.shape[0]) / (1 + frequency)))
        self.vectors = normalize(counts @ sparse.diags(weights.astype(np.float32)))

    def of(self, contexts: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], pool: npt.NDArray[np.int64]) -> Gaps:
        """By how much the cosine of each of ``pool`` is above that of the i-th row with the i-th context: (rows, pool)."""
        together = normalize(_members(contexts, self.vectors.shape[0]) @ self.vectors)
        own = np.asarray(together.multiply(self.vectors[rows]).sum(axis=1)).ravel()
        return np.asarray((together @ self.vectors[pool].T).toarray() - own[:, None])


def _incidence(frame: pl.DataFrame, column: str) -> sparse.csr_matrix:
    """How often each row has each of the values of a list column."""
    pairs = frame.select("row", column).explode(column).drop_nulls()
    ids = pairs[column].rank("dense").to_numpy().astype(np.int64) - 1 if pairs.height else np.empty(0, np.int64)
    ones = np.ones(pairs.height, dtype=np.float32)
    width = int(ids.max()) + 1 if len(ids) else 1
    return sparse.csr_matrix((ones, (pairs["row"].to_numpy(), ids)), shape=(frame.height, width))


def _members(contexts: npt.NDArray[np.int64], n_rows: int) -> sparse.csr_matrix:
    """Which rows each context holds: ``contexts`` is (n, k) row numbers, -1 where there is none."""
    n, k = contexts.shape
    flat, owner = contexts.ravel(), np.repeat(np.arange(n), k)
    there = flat >= 0
    return sparse.csr_matrix((np.ones(there.sum(), dtype=np.float32), (owner[there], flat[there])), shape=(n, n_rows))


@dataclass(frozen=True, slots=True)
class Slots:
    """Places where an intruder may stand; several slots of one window are alternatives.

    Attributes:
        window: key of the window (n).
        true: row of the sentence that is replaced (n).
        context: rows of the sentences around it (n, k), -1 where there are fewer.
        beside: rows of the sentences next to it (n, m), likewise.
        taken: rows of intruders that the window has already (n, m).
    """

    window: npt.NDArray[np.uint64]
    true: npt.NDArray[np.int64]
    context: npt.NDArray[np.int64]
    beside: npt.NDArray[np.int64]
    taken: npt.NDArray[np.int64] | None = None

    def present(self, slots: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Rows of all sentences that stand in the window of each of ``slots``: none of their like may come in."""
        parts = [self.true[slots, None], self.context[slots]] + ([] if self.taken is None else [self.taken[slots]])
        return np.concatenate(parts, axis=1)


def intruders(
    frame: pl.DataFrame, slots: Slots, pool: npt.NDArray[np.int64], *purpose: str | int, matching: Matching = CLOSE
) -> pl.DataFrame:
    """One intruder for each window that finds one.

    Args:
        frame: all sentences (``row``, ``corpus``, ``split``, ``doc_key``, ``cluster``, ``n_words``, ``n_chars``, ``key``, ``content``).
        slots: where an intruder may stand.
        pool: rows that may be intruders; each is used at most once.
        purpose: salt.
        matching: how alike they must be.

    Returns:
        ``slot`` (index into ``slots``) and ``intruder`` (row), one row per window served.
    """
    shares, cosines = Shares(frame), Cosines(frame)
    sides = frame.select(pl.struct(matching.same).rank("dense")).to_series().to_numpy()
    found: dict[int, list[int]] = {}
    for side in np.unique(sides[slots.true]):
        inside = np.flatnonzero(sides[slots.true] == side)
        mine = pool[sides[pool] == side]
        if len(mine):
            for slot, options in _shortlists(frame, (shares, cosines), slots, inside, mine, matching, purpose):
                found[slot] = options
    return _first_come(slots, found, purpose)


def _shortlists(
    frame: pl.DataFrame, measures: tuple[Shares, Cosines], slots: Slots, inside: npt.NDArray[np.int64], pool: npt.NDArray[np.int64],
    matching: Matching, purpose: tuple[str | int, ...],
) -> Iterator[tuple[int, list[int]]]:  # fmt: skip
    """For each slot the rows of its best intruders, nearest in overlap first."""
    keys = frame["key"].to_numpy()
    shares, cosines = measures
    below, above = matching.overlap
    for at in range(0, len(inside), _BLOCK):
        block = inside[at : at + _BLOCK]
        true = slots.true[block]
        allowed = _allowed(frame, true, pool, matching) & _unlike(frame, slots.present(block), pool)
        salted = chance.combine(keys[true][:, None], keys[pool][None, :])
        scores = _JITTER * chance.unit(salted, "intruder", *purpose)
        if matching.overlap != ANY.overlap:
            gaps = shares.of(slots.context[block], true, pool)
            allowed &= (gaps >= -below) & (gaps <= above)
            scores += _cost(gaps)
            for around in (slots.context, slots.beside):
                scores += _cost(cosines.of(around[block], true, pool))
        yield from _nearest(block, np.where(allowed, scores, np.inf), pool)


def _allowed(
    frame: pl.DataFrame, true: npt.NDArray[np.int64], pool: npt.NDArray[np.int64], matching: Matching
) -> npt.NDArray[np.bool_]:
    """Which of the pool may stand for which true sentence: by document and length."""
    documents = frame["doc_key"].to_numpy()
    same_document = documents[true][:, None] == documents[pool]
    later = pool > true[:, None]
    allowed = (same_document & later) if matching.later else ~same_document
    for name, most in (("n_words", matching.words), ("n_chars", matching.chars)):
        sizes = frame[name].to_numpy()
        allowed &= np.abs(sizes[pool] - sizes[true][:, None]) <= most * sizes[true][:, None]
    return allowed


def _unlike(
    frame: pl.DataFrame, present: npt.NDArray[np.int64], pool: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which of the pool resemble no sentence that is there already."""
    clusters = frame["cluster"].to_numpy().astype(np.int64)
    there = np.where(present >= 0, clusters[present], -1)
    return np.logical_and.reduce([column[:, None] != clusters[pool] for column in there.T])


def _cost(gaps: Gaps) -> Gaps:
    """How bad a difference is: to share less counts twice, because most sentences of other documents share less."""
    return np.where(gaps < 0, -2 * gaps, gaps)


def _nearest(
    block: npt.NDArray[np.int64], scores: npt.NDArray[np.float64], pool: npt.NDArray[np.int64]
) -> Iterator[tuple[int, list[int]]]:
    top = min(_SHORTLIST, len(pool))
    best = np.argpartition(scores, top - 1, axis=1)[:, :top]
    for line, slot in enumerate(block):
        order = best[line][np.argsort(scores[line, best[line]], kind="stable")]
        yield int(slot), [int(pool[j]) for j in order if np.isfinite(scores[line, j])]


def _first_come(slots: Slots, found: dict[int, list[int]], purpose: tuple[str | int, ...]) -> pl.DataFrame:
    used: set[int] = set()
    served: set[int] = set()
    chosen: list[tuple[int, int]] = []
    for slot in _turns(slots, purpose):
        window = int(slots.window[slot])
        if window in served:
            continue
        taken = next((row for row in found.get(slot, ()) if row not in used), None)
        if taken is not None:
            used.add(taken)
            served.add(window)
            chosen.append((slot, taken))
    return pl.DataFrame(chosen, schema={"slot": pl.Int64, "intruder": pl.Int64}, orient="row").sort("slot")


def _turns(slots: Slots, purpose: tuple[str | int, ...]) -> Iterator[int]:
    """Slots in hash order of their windows, the slots of a window in an order of its own."""
    place = chance.combine(slots.window, slots.true.astype(np.uint64) - slots.context[:, 0].astype(np.uint64))
    order = np.lexsort((chance.mix(place, "slot", *purpose), slots.window, chance.mix(slots.window, "turn", *purpose)))
    return iter(order.tolist())
