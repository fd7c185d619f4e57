"""Are two adjacent sentences in their original order?

Binary sentence ordering (DiscoEval, Chen et al. 2019). Two neighbouring sentences of a document, in order (`in_order`)
or exchanged (`swapped`). Both orders of every pair are emitted and stand in the same split, so nothing that looks at
the sentences one by one can tell the label. The first sentence is the longer one in as many pairs as the second: texts
have the longer one first a little more often. No sentence stands in two pairs, and pairs never close over a gap in the
source.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.window_rows import orderings
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.task import Context, DiscourseTask, Sample

FEW = 4
"""Pairs that a split may have whichever sentence is the longer one."""


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Pairs of neighbours in both orders."""

    def select(windows: pl.DataFrame) -> pl.DataFrame:
        longer = _first_is_longer(frame, windows["first"].to_numpy())
        return remove_bias(windows, longer[:, None], *context.seed_key, few=FEW)

    return orderings(frame, context, 2, lambda keys, _: np.tile([1, 0], (len(keys), 1)), select=select)


def _first_is_longer(frame: pl.DataFrame, first: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """1 where the first sentence of a pair has more words, or as many and more characters; -1 where the second has."""
    words, characters = (np.diff(frame[name].to_numpy().astype(np.int64))[first] for name in ("n_words", "n_chars"))
    return -np.sign(np.where(words, words, characters)).astype(np.float64)


TASK = DiscourseTask(labels=("in_order", "swapped"), shape=Shape.PAIR, sample=sample, pairs=True, version=2)
