"""Measures of candidates that need no understanding of the text: their lengths, and how similar they are to a passage.

Each function returns gains for ``remove_bias``: by how much a rule that sees one measure does better than chance on
each row. Candidates are numbers of sentences, shape (rows, candidates); the first is the right one.
"""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.passages.similarity import Rows, Similarity, SimilarityMeasure, Values
from discoprobe.builders.sampling.balance import classes, classes_of_two, differences, ranks, waves
from discoprobe.builders.task import Context

SLACK = 10.0
"""Rows of a split by which a rule may be better than chance. In 60 rows that is little more than the standard deviation
of chance; to remove it as well would make the choice of rows depend on every other row."""

SLACK_IN_BLOCKS = 3.0
"""The same for each block of a larger corpus: mostly the same rules are better in all blocks, and their rows add up."""


def slack(context: Context) -> float:
    """Number of rows of a split by which a rule may be better than chance."""
    return SLACK_IN_BLOCKS if context.in_blocks else SLACK


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
    words, characters, marks = (
        frame[name].to_numpy().astype(np.float64) for name in ("n_words", "n_chars", "n_punctuation")
    )
    lengths = [np.log1p(counts)[candidates] for counts in (words, words + marks, characters, marks)]
    of_lengths = [rule(values) for values in lengths for rule in (ranks, differences, classes)]
    return np.hstack([*of_lengths, gains_of_similarity(similarity, contexts, beside, candidates, sizes=True)])


def gains_of_similarity(
    similarity: Similarity, contexts: Rows, beside: Rows, candidates: Rows, *, sizes: bool
) -> npt.NDArray[np.float64]:
    """Gains of rules on which candidate is the most similar to its context, and with ``sizes`` on by how much.

    The other arguments are those of ``gains``.
    """
    rules = (ranks, differences) if sizes else (ranks,)
    similar = _similarities(similarity, contexts, beside, candidates)
    return np.hstack([rule(values) for values in similar for rule in rules])


def gains_of_each_sentence(
    similarity: Similarity, contexts: Rows, beside: Rows, candidates: Rows
) -> npt.NDArray[np.float64]:
    """Gains of rules on how similar each of two candidates is to single sentences, the least similar one first.

    The right candidate often resembles one of the sentences closely, and a distractor that is as similar to all of them
    together resembles each a little. In pairs of German Wikipedia in which the other measures of similarity were
    balanced, a tree ensemble found the right one by these cosines of words with an accuracy of .60. Further rules see
    several measures of similarity together. The arguments are those of ``gains``; no sentence of a context is missing.
    """
    values: list[Values] = []
    for measure in (similarity.cosines, similarity.words):
        by_size = np.sort(measure.with_single(contexts, candidates), axis=2)
        values += [*np.moveaxis(by_size, 2, 0), by_size.mean(axis=2)]
    single = [rule(of_candidates) for of_candidates in values for rule in (ranks, differences)]
    return np.hstack([*single, waves([*_similarities(similarity, contexts, beside, candidates), *values])])


def gains_of_two_measures(similarity: Similarity, contexts: Rows, candidates: Rows) -> npt.NDArray[np.float64]:
    """Gains of rules on two measures together, of the similarities by n-grams, by words and by content words.

    In a large corpus, a tree ensemble that sees two measures finds what neither shows alone. The arguments are those of
    ``gains``.
    """
    measures: list[SimilarityMeasure] = [similarity.cosines, similarity.words, similarity.shares]
    similar = [measure.with_each(contexts, candidates) for measure in measures]
    return np.hstack([classes_of_two(*two) for two in combinations(similar, 2)])


def _similarities(similarity: Similarity, contexts: Rows, beside: Rows, candidates: Rows) -> list[Values]:
    """Cosines with the context and with what is beside, shares of words in common, and how typical candidates are."""
    measures: list[SimilarityMeasure] = [similarity.cosines, similarity.words]
    compared = [(measure, rows) for measure in measures for rows in (contexts, beside)]
    return [
        *[measure.with_each(rows, candidates) for measure, rows in compared],
        similarity.shares.with_each(contexts, candidates),
        similarity.cosines.typical[candidates],
    ]


def gains_of_orders(frame: pl.DataFrame, similarity: Similarity, windows: pl.DataFrame) -> npt.NDArray[np.float64]:
    """Gains of simple rules that choose between the original order of a window and another order of its sentences.

    The rules use the lengths of the first, second and last sentence, the mean difference in length between neighbours,
    and the mean similarity of neighbours.

    Args:
        frame: all sentences, as ``with_passages`` gives them.
        similarity: of these sentences.
        windows: ``first`` (row), ``size`` and ``order``.
    """
    rules: list[npt.NDArray[np.float64]] = []
    by_size = windows.with_row_index("at").partition_by("size", maintain_order=True)
    for same_size in by_size:
        first, order = same_size["first"].to_numpy()[:, None], np.array(same_size["order"].to_list())
        versions = [first + np.sort(order, axis=1), first + order]
        rules.append(np.stack([_of_order(frame, similarity, shown) for shown in versions], axis=1))
    at = np.concatenate([same_size["at"].to_numpy() for same_size in by_size])
    measures = np.concatenate(rules)[np.argsort(at)]
    return np.hstack([differences(measures[:, :, rule]) for rule in range(measures.shape[2])])


def _of_order(frame: pl.DataFrame, similarity: Similarity, shown: Rows) -> npt.NDArray[np.float64]:
    """What is measured of windows, shape (windows, measures); ``shown`` are the rows of their sentences."""
    lengths = [np.log1p(frame[name].to_numpy().astype(np.float64))[shown] for name in ("n_words", "n_chars")]
    before, after = shown[:, :-1].ravel(), shown[:, 1:].ravel()
    measures: list[SimilarityMeasure] = [similarity.cosines, similarity.shares]
    beside = [measure.with_each(before[:, None], after[:, None]) for measure in measures]
    return np.column_stack(
        [
            *[length[:, place] for length in lengths for place in (0, 1, -1)],
            np.abs(np.diff(lengths[1], axis=1)).mean(axis=1),
            *[values.reshape(len(shown), -1).mean(axis=1) for values in beside],
        ]
    )
