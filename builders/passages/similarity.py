"""How much sentences have in common with contexts: shares of content words, and TF-IDF cosines of n-grams and words."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import scipy  # a part of it is loaded when it is first used, which takes a third of a second

from discoprobe.builders.passages.windows import WIDTH

if TYPE_CHECKING:
    import polars as pl

Rows = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
AT_ONCE: Final = 4_000
"""Contexts whose n-grams are in memory at a time."""


class Similarity:
    """Measures of similarity of the same sentences; each is computed once, when a task first needs it."""

    def __init__(self, frame: pl.DataFrame) -> None:
        """Takes what ``with_passages`` gives."""
        self._frame = frame

    @functools.cached_property
    def shares(self) -> Shares:
        """Shares of content words."""
        return Shares(self._frame)

    @functools.cached_property
    def cosines(self) -> Cosines:
        """TF-IDF cosines over character n-grams."""
        return Cosines(_incidence(self._frame, "grams", _flat(self._frame, "grams").to_numpy(), WIDTH))

    @functools.cached_property
    def words(self) -> Cosines:
        """TF-IDF cosines over all words; function words such as *she* show who a passage is about."""
        return Cosines(_words(self._frame, "words"))


class SimilarityMeasure:
    """How similar sentences are to contexts (sets of sentences), by scalar products of their vectors."""

    vectors: scipy.sparse.csr_matrix  # of the sentences
    sizes: npt.NDArray[np.floating]  # what the products of a sentence are divided by

    def of_contexts(self, contexts: Rows) -> scipy.sparse.csr_matrix:
        """The vector of each context."""
        raise NotImplementedError

    def of(self, contexts: Rows, rows: Rows, pool: Rows) -> Values:
        """How much more similar to the i-th context each of ``pool`` is than the i-th of ``rows``: (contexts, pool)."""
        vectors = self.of_contexts(contexts)
        similar = (vectors @ self.vectors[pool].T).toarray() / self.sizes[pool]
        return np.asarray(similar - self._with_each(vectors, rows[:, None]))

    def with_each(self, contexts: Rows, candidates: Rows) -> Values:
        """How similar the i-th context is to each of the i-th ``candidates``: (contexts, candidates)."""
        pieces = [slice(start, start + AT_ONCE) for start in range(0, max(len(contexts), 1), AT_ONCE)]
        similar = [self._with_each(self.of_contexts(contexts[piece]), candidates[piece]) for piece in pieces]
        return np.concatenate(similar)

    def _with_each(self, contexts: scipy.sparse.csr_matrix, candidates: Rows) -> Values:
        products = [contexts.multiply(self.vectors[rows]).sum(axis=1) for rows in candidates.T]
        return np.asarray(np.hstack(products) / self.sizes[candidates])


class Shares(SimilarityMeasure):
    """Which share of a sentence's content words a context has."""

    def __init__(self, frame: pl.DataFrame) -> None:
        """Takes ``row`` numbers 0…n-1 and ``content`` (lists of hashed words)."""
        self.vectors = _words(frame, "content")
        self.sizes = np.maximum(np.asarray(self.vectors.sum(axis=1)).ravel(), 1)

    def of_contexts(self, contexts: Rows) -> scipy.sparse.csr_matrix:
        """The words of each context, each once."""
        union = _members(contexts, self.vectors.shape[0]) @ self.vectors
        union.data[:] = 1
        return union


class Cosines(SimilarityMeasure):
    """TF-IDF cosines between sentences and contexts, as the audit's solver has them.

    The inverse document frequency is rounded: a document more does not change it.
    """

    def __init__(self, counts: scipy.sparse.csr_matrix) -> None:
        """Takes how often each sentence has each n-gram or word."""
        frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
        weights = np.round(1 + np.log((1 + counts.shape[0]) / (1 + frequency)))
        self.weighted = counts @ scipy.sparse.diags(weights.astype(np.float32))
        weighted = self.weighted
        same_places = (weighted.data.copy(), weighted.indices, weighted.indptr)
        self.vectors = _normalized(scipy.sparse.csr_matrix(same_places, shape=weighted.shape, copy=False))
        self.sizes = np.ones(counts.shape[0], np.float32)

    def of_contexts(self, contexts: Rows) -> scipy.sparse.csr_matrix:
        """The n-grams or words of the sentences of each context together, as vectors of length 1."""
        summed = _members(contexts, self.weighted.shape[0]) @ self.weighted
        return _normalized(summed) if len(contexts) else summed  # scikit-learn refuses matrices without rows

    def with_single(self, contexts: Rows, candidates: Rows) -> Values:
        """How similar each of the i-th ``candidates`` is to the single sentences of the i-th context.

        Shape (contexts, candidates, sentences).
        """
        similar = np.empty((len(contexts), candidates.shape[1], contexts.shape[1]))
        for start in range(0, len(contexts), AT_ONCE):
            piece = slice(start, start + AT_ONCE)
            beside = [self.vectors[rows] for rows in contexts[piece].T]
            for nth, rows in enumerate(candidates[piece].T):
                vectors = self.vectors[rows]
                for place, others in enumerate(beside):
                    similar[piece, nth, place] = vectors.multiply(others).sum(axis=1).A1
        return similar

    @functools.cached_property
    def typical(self) -> Values:
        """The cosine of each sentence with all sentences together: high for sentences of frequent words."""
        return np.asarray(self.vectors @ _normalized(scipy.sparse.csr_matrix(self.weighted.sum(axis=0))).toarray()[0])


def _normalized(vectors: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Scale vectors to length 1, in place."""
    from sklearn.preprocessing import normalize  # noqa: PLC0415 (takes a second)

    return normalize(vectors, copy=False)


def _flat(frame: pl.DataFrame, column: str) -> pl.Series:
    return frame[column].explode(empty_as_null=False, keep_nulls=False)


def _words(frame: pl.DataFrame, column: str) -> scipy.sparse.csr_matrix:
    """Which of the hashed words of a list column each row has: 1 or 0."""
    values, ids = np.unique(_flat(frame, column).to_numpy(), return_inverse=True)
    incidence = _incidence(frame, column, ids, len(values))
    incidence.data[:] = 1
    return incidence


def _incidence(frame: pl.DataFrame, column: str, ids: npt.NDArray[np.integer], width: int) -> scipy.sparse.csr_matrix:
    """How often each row has each of the values of a list column, which are numbered ``ids``."""
    sizes = frame[column].list.len().fill_null(0).to_numpy().astype(np.int64)
    edges = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    counts = (np.ones(len(ids), dtype=np.float32), ids.astype(np.int32), edges)
    matrix = scipy.sparse.csr_matrix(counts, shape=(frame.height, max(width, 1)))
    matrix.sum_duplicates()
    return matrix


def _members(contexts: Rows, n_rows: int) -> scipy.sparse.csr_matrix:
    """Which rows each context holds: ``contexts`` is (n, k) row numbers, -1 where there is none."""
    n, k = contexts.shape
    flat, owner = contexts.ravel(), np.repeat(np.arange(n), k)
    there = flat >= 0
    return scipy.sparse.csr_matrix(
        (np.ones(there.sum(), dtype=np.float32), (owner[there], flat[there])), shape=(n, n_rows)
    )
