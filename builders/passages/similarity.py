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
from itertools import pairwise
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
    text = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    space = points == _SPACE
    rows, columns = [], []
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
        rows.append(text[:size][valid])
        columns.append((hashing.mix(code[valid], "gram") % np.uint64(width)).astype(np.int32))
    row, column = np.concatenate(rows), np.concatenate(columns)
    counts = scipy.sparse.coo_array((np.ones(len(row), dtype=np.float32), (row, column)), shape=(len(lengths), width))
    return scipy.sparse.csr_array(counts)


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
    def shares(self) -> SimilarityMeasure:
        """Shares of content words: which share of a sentence's words a context has."""
        return SimilarityMeasure(_words(self._frame, "content"), shares=True)

    @functools.cached_property
    def cosines(self) -> SimilarityMeasure:
        """TF-IDF cosines over character n-grams."""
        return SimilarityMeasure(
            _weighted(_incidence(self._frame, "grams", _flat(self._frame, "grams").to_numpy(), WIDTH))
        )

    @functools.cached_property
    def rare(self) -> SimilarityMeasure:
        """The same over n-grams that few sentences have: parts of names and of words about the topic."""
        weighted = self.cosines.weighted.copy()
        frequency = np.bincount(weighted.indices, minlength=weighted.shape[1])
        weighted.data[frequency[weighted.indices] > max(2.0, FREQUENT * weighted.shape[0])] = 0
        weighted.eliminate_zeros()
        return SimilarityMeasure(weighted)

    @functools.cached_property
    def words(self) -> SimilarityMeasure:
        """TF-IDF cosines over all words; function words such as *she* show who a passage is about."""
        return SimilarityMeasure(_weighted(_words(self._frame, "words")))


class SimilarityMeasure:
    """How similar sentences are to contexts (sets of sentences), by scalar products of their vectors.

    Attributes:
        weighted: the weight of each n-gram or word in each sentence.
        vectors: of the sentences: of length 1, as the audit's solver has them; of shares the words.
        sizes: what the products of a sentence are divided by.
    """

    def __init__(self, weighted: scipy.sparse.csr_matrix, *, shares: bool = False) -> None:
        """Takes weights for cosines, or with ``shares`` the words of each sentence, of which a context has a share."""
        self.weighted = self.vectors = weighted
        if shares:
            self._of_sum = _each_once
            self.sizes = np.maximum(np.asarray(weighted.sum(axis=1)).ravel(), 1)
        else:
            same_places = (weighted.data.copy(), weighted.indices, weighted.indptr)
            self._of_sum = _normalized
            self.vectors = _normalized(scipy.sparse.csr_matrix(same_places, shape=weighted.shape, copy=False))
            self.sizes = np.ones(weighted.shape[0], np.float32)

    def of(self, contexts: Rows, rows: Rows, pool: Rows) -> Values:
        """How much more similar to the i-th context each of ``pool`` is than the i-th of ``rows``: (contexts, pool)."""
        vectors = self._of_contexts(contexts)
        similar = (vectors @ self.vectors[pool].T).toarray() / self.sizes[pool]
        return np.asarray(similar - self._with_each(vectors, rows[:, None]))

    def with_each(self, contexts: Rows, candidates: Rows) -> Values:
        """How similar the i-th context is to each of the i-th ``candidates``: (contexts, candidates)."""
        pieces = [slice(start, start + AT_ONCE) for start in range(0, max(len(contexts), 1), AT_ONCE)]
        similar = [self._with_each(self._of_contexts(contexts[piece]), candidates[piece]) for piece in pieces]
        return np.concatenate(similar)

    def with_single(self, contexts: Rows, candidates: Rows) -> Values:
        """How similar each of the i-th ``candidates`` is to the single sentences of the i-th context (of cosines).

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

    def _of_contexts(self, contexts: Rows) -> scipy.sparse.csr_matrix:
        """The n-grams or words of the sentences of each context together."""
        summed = _members(contexts, self.weighted.shape[0]) @ self.weighted
        return self._of_sum(summed) if len(contexts) else summed  # scikit-learn refuses matrices without rows

    def _with_each(self, contexts: scipy.sparse.csr_matrix, candidates: Rows) -> Values:
        products = [contexts.multiply(self.vectors[rows]).sum(axis=1) for rows in candidates.T]
        return np.asarray(np.hstack(products) / self.sizes[candidates])


def _each_once(vectors: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Counts as 1, in place."""
    vectors.data[:] = 1
    return vectors


def _weighted(counts: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Counts times inverse document frequencies, which are rounded: a document more does not change them."""
    frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
    weights = np.round(1 + np.log((1 + counts.shape[0]) / (1 + frequency)))
    return counts @ scipy.sparse.diags(weights.astype(np.float32))


def _normalized(vectors: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Scale vectors to length 1, in place."""
    from sklearn.preprocessing import normalize  # noqa: PLC0415 (takes a second)

    return normalize(vectors, copy=False)


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


def gains(
    frame: pl.DataFrame, similarity: Similarity, contexts: Rows, beside: Rows, candidates: Rows
) -> npt.NDArray[np.float64]:
    """Gains of rules on numbers of words, characters and punctuation marks, and on measures of similarity.

    Args:
        frame: all sentences, as ``with_passages`` gives them.
        similarity: of these sentences.
        contexts: the rows that each row shows beside its candidates, -1 where there are fewer, shape (rows, sentences).
        beside: those of them that are next to the candidate, likewise.
        candidates: the candidates of each row.
    """
    of_similarity = gains_of_similarity(similarity, contexts, beside, candidates, sizes=True)
    return np.hstack([gains_of_lengths(frame, candidates), of_similarity])


def gains_of_lengths(frame: pl.DataFrame, candidates: Rows) -> npt.NDArray[np.float64]:
    """Gains of rules on numbers of words, characters and punctuation marks; the arguments are those of ``gains``."""
    lengths = _lengths(frame, candidates)
    return np.hstack([rule(values) for values in lengths for rule in (ranks, differences, classes)])


def _lengths(frame: pl.DataFrame, candidates: Rows) -> list[Values]:
    """Logarithms of the numbers of words, of words and punctuation marks, of characters and of punctuation marks."""
    words, characters, marks = (
        frame[name].to_numpy().astype(np.float64) for name in ("n_words", "n_chars", "n_punctuation")
    )
    return [np.log1p(counts)[candidates] for counts in (words, words + marks, characters, marks)]


def gains_of_similarity(
    similarity: Similarity, contexts: Rows, beside: Rows, candidates: Rows, *, sizes: bool
) -> npt.NDArray[np.float64]:
    """Gains of rules on which candidate is the most similar to its context, and with ``sizes`` on by how much.

    The other arguments are those of ``gains``.
    """
    rules = (ranks, differences) if sizes else (ranks,)
    similar = _similarities(similarity, contexts, beside, candidates)
    return np.hstack([rule(values) for values in similar for rule in rules])


def gains_of_sentences(
    similarity: Similarity, contexts: Rows, beside: Rows, candidates: Rows
) -> npt.NDArray[np.float64]:
    """Gains of rules on how similar each of two candidates is to the context, and to its sentences, the least first.

    The right candidate often resembles one of the sentences closely, and a distractor that is as similar to all of them
    together resembles each a little. In pairs of German Wikipedia in which the measures of ``gains_of_similarity`` were
    balanced, a tree ensemble found the right one by cosines of words with single sentences with an accuracy of .60;
    where these were balanced, too, rare n-grams, which the two share if they have a topic, still gave it away (.62).
    Further rules see several measures together. The arguments are those of ``gains``; no sentence of a context is
    missing.
    """
    values = _similarities(similarity, contexts, beside, candidates)
    values += [similarity.rare.with_each(rows, candidates) for rows in (contexts, beside)]
    for measure in (similarity.cosines, similarity.words, similarity.rare):
        by_size = np.sort(measure.with_single(contexts, candidates), axis=2)
        values += [*np.moveaxis(by_size, 2, 0), by_size.mean(axis=2)]
    single = [rule(of_candidates) for of_candidates in values for rule in (ranks, differences)]
    return np.hstack([*single, waves(values)])


def gains_of_measures_together(
    frame: pl.DataFrame, similarity: Similarity, contexts: Rows, beside: Rows, candidates: Rows
) -> npt.NDArray[np.float64]:
    """Gains of rules on several measures of length and similarity together; the arguments are those of ``gains``.

    In a large corpus, a tree ensemble that sees two measures finds what neither shows alone: of four candidates the
    right one was rarely the one with many words and few characters.
    """
    return waves([*_lengths(frame, candidates), *_similarities(similarity, contexts, beside, candidates)])


def _similarities(similarity: Similarity, contexts: Rows, beside: Rows, candidates: Rows) -> list[Values]:
    """Cosines with the context and with what is beside, shares of words in common, and how typical candidates are."""
    compared = [(measure, rows) for measure in (similarity.cosines, similarity.words) for rows in (contexts, beside)]
    return [
        *[measure.with_each(rows, candidates) for measure, rows in compared],
        similarity.shares.with_each(contexts, candidates),
        similarity.cosines.typical[candidates],
    ]


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
    orders = [np.array(same_size["order"].to_list()) for same_size in by_size]
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
    measures = similarity.cosines, similarity.shares
    beside = [measure.with_each(before[:, None], after[:, None]) for measure in measures]
    return np.column_stack(
        [
            *[length[:, place] for length in lengths for place in (0, 1, last)],
            np.abs(np.diff(lengths[1], axis=1)).mean(axis=1),
            *[values.reshape(len(shown), -1).mean(axis=1) for values in beside],
        ]
    )
