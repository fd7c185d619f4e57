"""How much sentences have in common with contexts: shares of content words, and TF-IDF cosines of n-grams and words.

Character n-grams of many texts at once, hashed into columns.

scikit-learn's ``char_wb`` analyser makes the same n-grams one Python string at a time, which takes minutes for the
solvers of one config. An array of code points needs a second.

Measures of candidates that need no understanding of the text: their lengths, and how similar they are to a passage.

Each function returns gains for ``remove_bias``: by how much a rule that sees one measure does better than chance on
each row. Candidates are numbers of sentences, shape (rows, candidates); the first is the right one.
"""

from __future__ import annotations

import functools
import math
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy  # a part of it is loaded when it is first used, which takes a third of a second

from discoprobe.builders.sampling.balance import classes, differences, ranks, waves
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import exploded

if TYPE_CHECKING:
    from collections.abc import Iterator


LONGEST, LONGEST_ACROSS = 4, 5
"""Characters of the longest n-grams inside words, and across blanks."""
FREQUENT = 0.01
"""A word that stands in more than this share of the sentences is no content word."""

WIDTH = 2**16
"""Columns that character n-grams of passages are hashed into."""
_SPACE = np.uint32(ord(" "))
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_PIECE = 500_000
"""Characters whose n-grams are in memory at a time."""


def char_grams(texts: pl.Series, width: int, *, across: bool = False) -> scipy.sparse.csr_array:
    """Counts of the character n-grams of each text, in ``width`` columns (a power of two), case kept.

    Counts are bytes, at most 255, because they are the largest features of an audit.

    Args:
        texts: null counts as empty.
        width: number of columns.
        across: count 1- to 5-grams of the text as it is written, also across blanks, as in scikit-learn's ``char`` with
            a space at both ends of a text. Otherwise 1- to 4-grams inside words are counted. Words are what white space
            separates, and have a space at both ends, as in ``char_wb``.
    """
    parts = [scipy.sparse.csr_array((0, width), dtype=np.uint8)]
    for part in char_grams_in_parts(texts, width, across=across):
        part.data = np.minimum(part.data, np.iinfo(np.uint8).max).astype(np.uint8)
        parts.append(part)
    return scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))


def char_grams_in_parts(texts: pl.Series, width: int, *, across: bool = False) -> Iterator[scipy.sparse.csr_array]:
    """The same counts in parts: one matrix for each half million characters, so that memory holds one part."""
    text = pl.col("text").fill_null("")
    text = text if across else text.str.replace_all(r"\s+", " ")
    padded = texts.to_frame("text").select(pl.concat_str(pl.lit(" "), text, pl.lit(" ")).alias("text"))["text"]
    lengths = padded.str.len_chars().to_numpy().astype(np.int64)
    cuts = np.flatnonzero(np.diff(np.cumsum(lengths) // _PIECE)) + 1
    bounds = [0, *cuts.tolist(), len(padded)]
    yield from (_grams(padded[a:b], lengths[a:b], width, across=across) for a, b in pairwise(bounds) if b > a)


def _grams(padded: pl.Series, lengths: npt.NDArray[np.int64], width: int, *, across: bool) -> scipy.sparse.csr_array:
    points = np.frombuffer("".join(padded.to_list()).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    text = np.repeat(np.arange(len(lengths), dtype=np.int64) * width, lengths)
    space = points == _SPACE
    cells = []  # of each n-gram, the number of its text times the width plus its column
    code = np.zeros(len(points), dtype=np.uint64)
    inside = np.ones(len(points), dtype=bool)
    for n in range(1, (LONGEST_ACROSS if across else LONGEST) + 1):
        size = max(0, len(points) - n + 1)
        code = code[:size] * _MULTIPLIER + points[n - 1 :] + np.uint64(1)
        if across:
            valid = text[:size] == text[n - 1 :]
        else:
            inside = inside[:size] & ~(space[n - 2 : n - 2 + size] if n > 2 else np.zeros(size, dtype=bool))  # noqa: PLR2004
            valid = inside & ~(space[:size] & space[n - 1 :]) if n <= 2 else inside  # noqa: PLR2004  blanks alone
        column = hashing.mix(code[valid], "gram") % np.uint64(width)
        cells.append(text[:size][valid] + column.astype(np.int64))
    every = np.sort(np.concatenate(cells))
    first = np.flatnonzero(np.diff(every, prepend=-1))
    different, counts = every[first], np.diff(first, append=len(every)).astype(np.float32)
    ends = np.searchsorted(different, np.arange(len(lengths) + 1) * width)
    return scipy.sparse.csr_array(
        (counts, (different % width).astype(np.int32), ends.astype(np.int32)), shape=(len(lengths), width)
    )


Rows = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
AT_ONCE: Final = 4_000
"""Contexts whose n-grams are in memory at a time."""
DENSE: Final = 0.04
"""What more than this share of the sentences has is multiplied as a dense matrix: above it, that is the faster way."""
LARGEST_CONTEXT: Final = 16
"""Sentences of a context at most."""
EXACT: Final = 2.0**24
"""Up to this number, single precision has all whole numbers."""


class Similarity:
    """Measures of similarity of the same sentences; each is computed once, when a task first needs it."""

    def __init__(self, frame: pl.DataFrame) -> None:
        """Takes what ``with_passages`` gives."""
        self._frame = frame

    @functools.cached_property
    def shares(self) -> SharesOfWords:
        """Shares of content words: which share of a sentence's words a context has."""
        return SharesOfWords(_words(self._frame, "content"))

    @functools.cached_property
    def cosines(self) -> Cosines:
        """TF-IDF cosines over character n-grams."""
        return Cosines(*_weighted(_incidence(self._frame, "grams", _flat(self._frame, "grams").to_numpy(), WIDTH)))

    @functools.cached_property
    def rare(self) -> Cosines:
        """The same over n-grams that few sentences have: parts of names and of words about the topic."""
        weighted, frequency = self.cosines.weighted, self.cosines.frequency
        few = frequency <= max(2.0, FREQUENT * weighted.shape[0])
        return Cosines(_of_columns(weighted, few), np.where(few, frequency, 0))

    @functools.cached_property
    def words(self) -> Cosines:
        """TF-IDF cosines over all words; function words such as *she* show who a passage is about."""
        return Cosines(*_weighted(_words(self._frame, "words")))


class Cosines:
    """Cosines of sentences with contexts (sets of sentences), whose vectors are the sums of those of their sentences.

    Weights are whole numbers, and so are all products of vectors. Single precision adds them exactly in any order, so
    that every library and machine has the same products. Only the products are divided by the lengths of the vectors.

    Attributes:
        weighted: the weight of each n-gram or word in each sentence.
        frequency: in how many sentences each of them is.
        lengths: of the vectors of the sentences.
    """

    def __init__(self, weighted: scipy.sparse.csr_matrix, frequency: Rows) -> None:
        """Takes whole numbers."""
        self.frequency = frequency
        self.squares = _squares(weighted)
        self.lengths = _roots(self.squares)
        exact = LARGEST_CONTEXT * self.lengths.max(initial=0) ** 2 < EXACT
        self.weighted = weighted.astype(np.float32 if exact else np.float64, copy=False)
        self._products = ProductsOfPairs(self.weighted)

    @functools.cached_property
    def _parts(self) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
        """The weights of what is frequent, in columns without gaps, and of everything else."""
        frequent = self.frequency > DENSE * self.weighted.shape[0]
        return _of_columns(self.weighted, frequent, close=True), _of_columns(self.weighted, ~frequent)

    def of(self, contexts: Rows, rows: Rows, pool: Rows) -> Values:
        """How much more similar to the i-th context each of ``pool`` is than the i-th of ``rows``: (contexts, pool).

        Most of what two sentences have in common is frequent: it is multiplied as dense matrices.
        """
        frequent, others = self._parts
        members = _members(contexts, self.weighted.shape[0])
        dense, sparse = (members @ frequent).toarray(), members @ others
        products = dense @ frequent[pool].toarray().T + (sparse @ others[pool].T).toarray()
        with_row = (dense * frequent[rows].toarray()).sum(axis=1) + _products(sparse, others[rows])
        lengths = _roots(np.square(dense, dtype=np.float64).sum(axis=1) + _squares(sparse))
        similar = products / self.lengths[pool] - (with_row / self.lengths[rows])[:, None]
        return np.asarray(similar / lengths[:, None])

    def with_each(self, contexts: Rows, candidates: Rows) -> Values:
        """How similar the i-th context is to each of the i-th ``candidates``: (contexts, candidates)."""
        products = self._products.of(candidates[:, :, None], contexts[:, None, :]).sum(axis=2)
        return np.asarray(products / self._lengths_of_contexts(contexts)[:, None] / self.lengths[candidates])

    def _lengths_of_contexts(self, contexts: Rows) -> Values:
        """The lengths of the vectors of contexts: squares of sentences, and twice the products of each two of them."""
        there = contexts >= 0
        squares = np.where(there, self.squares[contexts], 0.0).sum(axis=1)
        for first, second in combinations(range(contexts.shape[1]), 2):
            squares += 2 * self._products.of(contexts[:, first], contexts[:, second])
        return _roots(squares)

    def with_single(self, contexts: Rows, candidates: Rows) -> Values:
        """How similar each of the i-th ``candidates`` is to the single sentences of the i-th context.

        Shape (contexts, candidates, sentences).
        """
        return self.between(candidates[:, :, None], contexts[:, None, :])

    def between(self, rows: Rows, others: Rows) -> Values:
        """The cosine of each of ``rows`` with that of ``others``, which are broadcast together."""
        return np.asarray(self._products.of(rows, others) / (self.lengths[rows] * self.lengths[others]))

    @functools.cached_property
    def typical(self) -> Values:
        """The cosine of each sentence with all sentences together: high for sentences of frequent words."""
        every = np.asarray(self.weighted.sum(axis=0, dtype=np.float64)).ravel()
        length = math.sqrt(math.fsum((every * every).tolist())) or 1.0
        return np.asarray(self.weighted @ every / (self.lengths * length))


class SharesOfWords:
    """The share of the words of sentences that contexts (sets of sentences) have."""

    def __init__(self, words: scipy.sparse.csr_matrix) -> None:
        """Takes which words each sentence has: 1 or 0."""
        self._words, self._sizes = words, np.maximum(np.asarray(words.sum(axis=1)).ravel(), 1)
        self._products = ProductsOfPairs(words)

    def of(self, contexts: Rows, rows: Rows, pool: Rows) -> Values:
        """By how much the share of each of ``pool`` in the i-th context is larger than that of the i-th of ``rows``."""
        words = self._of_contexts(contexts)
        shares = (words @ self._words[pool].T).toarray() / self._sizes[pool]
        return np.asarray(shares - (_products(words, self._words[rows]) / self._sizes[rows])[:, None])

    def with_each(self, contexts: Rows, candidates: Rows) -> Values:
        """The share of each of the i-th ``candidates`` in the i-th context: (contexts, candidates)."""
        shares = np.empty(candidates.shape)
        for piece in _pieces(len(contexts)):
            words = self._of_contexts(contexts[piece])
            shares[piece] = np.stack([_products(words, self._words[rows]) for rows in candidates[piece].T], axis=1)
        return np.asarray(shares / self._sizes[candidates])

    def between(self, rows: Rows, others: Rows) -> Values:
        """The share of each of ``others`` in that of ``rows``."""
        return np.asarray(self._products.of(rows, others) / self._sizes[others])

    def _of_contexts(self, contexts: Rows) -> scipy.sparse.csr_matrix:
        """Which words each context has."""
        words = _members(contexts, self._words.shape[0]) @ self._words
        words.data[:] = 1
        return words


def _pieces(n: int) -> list[slice]:
    """Parts of ``n`` contexts."""
    return [slice(start, start + AT_ONCE) for start in range(0, n, AT_ONCE)]


def _products(left: scipy.sparse.csr_matrix, right: scipy.sparse.csr_matrix) -> Values:
    """The product of each vector with that of the same number."""
    return np.asarray(left.multiply(right).sum(axis=1)).ravel()


class ProductsOfPairs:
    """Products of two sentences' vectors. Those that several tasks or measures need are computed once."""

    def __init__(self, vectors: scipy.sparse.csr_matrix) -> None:
        """Takes the vectors of all sentences."""
        self._vectors = vectors
        self._pairs, self._known = np.empty(0, np.int64), np.empty(0)

    def of(self, rows: Rows, others: Rows) -> Values:
        """The product of each of ``rows`` with that of ``others``, which are broadcast together; 0 for the row -1."""
        n = self._vectors.shape[0]
        first, second = np.minimum(rows, others), np.maximum(rows, others)
        pairs, of_pair = np.unique(np.where(first < 0, -1, first * n + second), return_inverse=True)
        new = np.setdiff1d(pairs[pairs >= 0], self._pairs, assume_unique=True)
        products = np.empty(len(new))
        for piece in _pieces(len(new)):
            products[piece] = _products(self._vectors[new[piece] // n], self._vectors[new[piece] % n])
        at = np.searchsorted(self._pairs, new)
        self._pairs, self._known = np.insert(self._pairs, at, new), np.insert(self._known, at, products)
        found = np.zeros(len(pairs))
        found[pairs >= 0] = self._known[np.searchsorted(self._pairs, pairs[pairs >= 0])]
        return found[of_pair].reshape(first.shape)


def _squares(vectors: scipy.sparse.csr_matrix) -> Values:
    """The sum of the squares of each vector."""
    squares = (vectors.data.astype(np.float64) ** 2, vectors.indices, vectors.indptr)
    return np.asarray(scipy.sparse.csr_matrix(squares, shape=vectors.shape, copy=False).sum(axis=1)).ravel()


def _roots(squares: Values) -> Values:
    """Roots, what vectors are divided by: 1 for one without a weight."""
    return np.sqrt(np.where(squares > 0, squares, 1.0))


def _of_columns(
    vectors: scipy.sparse.csr_matrix, columns: npt.NDArray[np.bool_], *, close: bool = False
) -> scipy.sparse.csr_matrix:
    """The vectors with some columns only; with ``close``, these are numbered anew."""
    chosen = np.flatnonzero(columns[vectors.indices])
    ends = np.searchsorted(chosen, vectors.indptr)
    indices, width = vectors.indices[chosen], len(columns)
    if close:
        indices, width = (np.cumsum(columns, dtype=np.int32) - 1)[indices], max(int(columns.sum()), 1)
    return scipy.sparse.csr_matrix((vectors.data[chosen], indices, ends), shape=(vectors.shape[0], width))


def _weighted(counts: scipy.sparse.csr_matrix) -> tuple[scipy.sparse.csr_matrix, Rows]:
    """Counts times inverse document frequencies, which are rounded: a document more does not change them.

    And in how many documents each column is.
    """
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = np.round(1 + np.log((1 + counts.shape[0]) / (1 + frequency)))
    counts.data *= weights.astype(np.float32)[counts.indices]
    return counts, frequency


def _flat(frame: pl.DataFrame, column: str) -> pl.Series:
    return exploded(frame.select(column), column)[column]


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
    is_row = flat >= 0
    return scipy.sparse.csr_matrix(
        (np.ones(is_row.sum(), dtype=np.float32), (owner[is_row], flat[is_row])), shape=(n, n_rows)
    )


class Comparison:
    """The candidates of each row, and the sentences that it shows beside them. Each measure is computed once."""

    def __init__(
        self, frame: pl.DataFrame, similarity: Similarity | None, contexts: Rows, beside: Rows, candidates: Rows
    ) -> None:
        """Takes what is compared.

        Args:
            frame: all sentences, as ``with_passages`` gives them.
            similarity: of these sentences, if it is at hand.
            contexts: the rows that each row shows beside its candidates, -1 where there are fewer, shape (rows,
                sentences).
            beside: those of them that are next to the candidate, likewise.
            candidates: the candidates of each row.
        """
        self._frame, self.similarity = frame, similarity or Similarity(frame)
        self.contexts, self.beside, self.candidates = contexts, beside, candidates

    @functools.cached_property
    def lengths(self) -> list[Values]:
        """Logarithms of the numbers of words, of words and punctuation marks, of characters and of marks."""
        words, characters, marks = (
            self._frame[name].to_numpy().astype(np.float64) for name in ("n_words", "n_chars", "n_punctuation")
        )
        return [np.log1p(counts)[self.candidates] for counts in (words, words + marks, characters, marks)]

    @functools.cached_property
    def similarities(self) -> list[Values]:
        """Cosines with the context and with what is beside, shares of words, and how typical candidates are."""
        cosines, words = self.similarity.cosines, self.similarity.words
        compared = [(measure, rows) for measure in (cosines, words) for rows in (self.contexts, self.beside)]
        return [
            *[measure.with_each(rows, self.candidates) for measure, rows in compared],
            self.similarity.shares.with_each(self.contexts, self.candidates),
            cosines.typical[self.candidates],
        ]


def gains(compared: Comparison) -> npt.NDArray[np.float64]:
    """Gains of rules on numbers of words, characters and punctuation marks, and on measures of similarity."""
    return np.hstack([gains_of_lengths(compared), gains_of_similarity(compared, sizes=True)])


def gains_of_lengths(compared: Comparison) -> npt.NDArray[np.float64]:
    """Gains of rules on numbers of words, characters and punctuation marks."""
    return np.hstack([rule(values) for values in compared.lengths for rule in (ranks, differences, classes)])


def gains_of_similarity(compared: Comparison, *, sizes: bool) -> npt.NDArray[np.float64]:
    """Gains of rules on which candidate is the most similar to its context, and with ``sizes`` on by how much."""
    rules = (ranks, differences) if sizes else (ranks,)
    return np.hstack([rule(values) for values in compared.similarities for rule in rules])


def gains_of_sentences(compared: Comparison) -> npt.NDArray[np.float64]:
    """Gains of rules on how similar each of two candidates is to the context, and to its sentences, the least first.

    The right candidate often resembles one of the sentences closely, and a distractor that is as similar to all of them
    together resembles each a little. In pairs of German Wikipedia in which the measures of ``gains_of_similarity`` were
    balanced, a tree ensemble found the right one by cosines of words with single sentences with an accuracy of .60;
    where these were balanced, too, rare n-grams, which the two share if they have a topic, still gave it away (.62).
    Further rules see several measures together. No sentence of a context is missing.
    """
    similarity, candidates = compared.similarity, compared.candidates
    values = list(compared.similarities)
    values += [similarity.rare.with_each(rows, candidates) for rows in (compared.contexts, compared.beside)]
    for measure in (similarity.cosines, similarity.words, similarity.rare):
        by_size = np.sort(measure.with_single(compared.contexts, candidates), axis=2)
        values += [*np.moveaxis(by_size, 2, 0), by_size.mean(axis=2)]
    single = [rule(of_candidates) for of_candidates in values for rule in (ranks, differences)]
    return np.hstack([*single, waves(values)])


def gains_of_measures_together(compared: Comparison) -> npt.NDArray[np.float64]:
    """Gains of rules on several measures of length and similarity together.

    In a large corpus, a tree ensemble that sees two measures finds what neither shows alone: of four candidates the
    right one was rarely the one with many words and few characters.
    """
    return waves([*compared.lengths, *compared.similarities])


def orders_of(windows: pl.DataFrame) -> Rows:
    """The ``order`` of windows that all have as many sentences, shape (windows, sentences)."""
    return windows["order"].explode().to_numpy().reshape(windows.height, -1)


def gains_of_orders(frame: pl.DataFrame, similarity: Similarity, windows: pl.DataFrame) -> npt.NDArray[np.float64]:
    """Gains of simple rules that choose between the original order of a window and another order of its sentences.

    The rules use the lengths of the first and second sentence and of the last one that any order moves, the mean
    difference in length between neighbours, and the mean similarity of neighbours.

    Args:
        frame: all sentences, as ``with_passages`` gives them.
        similarity: of these sentences.
        windows: ``first`` (row), ``size`` and ``order``.
    """
    rules: list[npt.NDArray[np.float64]] = []
    by_size = windows.with_row_index("at").partition_by("size", maintain_order=True)
    orders = [orders_of(same_size) for same_size in by_size]
    stay = min(int((order != np.sort(order, axis=1))[:, ::-1].argmax(axis=1).min()) for order in orders)
    for same_size, order in zip(by_size, orders, strict=True):
        first = same_size["first"].to_numpy()[:, None]
        versions = [first + np.sort(order, axis=1), first + order]
        rules.append(np.stack([_of_order(frame, similarity, rows, -1 - stay) for rows in versions], axis=1))
    at = np.concatenate([same_size["at"].to_numpy() for same_size in by_size])
    measures = np.concatenate(rules)[np.argsort(at)]
    return np.hstack([differences(measures[:, :, rule]) for rule in range(measures.shape[2])])


def _of_order(frame: pl.DataFrame, similarity: Similarity, shown: Rows, last: int) -> npt.NDArray[np.float64]:
    """What is measured of windows, shape (windows, measures).

    ``shown`` are the rows of their sentences, ``last`` is the last place whose sentence is not always the same.
    """
    lengths = [np.log1p(frame[name].to_numpy().astype(np.float64))[shown] for name in ("n_words", "n_chars")]
    before, after = shown[:, :-1].ravel(), shown[:, 1:].ravel()
    beside = [measure.between(before, after) for measure in (similarity.cosines, similarity.shares)]
    return np.column_stack(
        [
            *[length[:, place] for length in lengths for place in (0, 1, last)],
            np.abs(np.diff(lengths[1], axis=1)).mean(axis=1),
            *[values.reshape(len(shown), -1).mean(axis=1) for values in beside],
        ]
    )
