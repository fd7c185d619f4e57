"""Are two adjacent sentences in their original order?

Binary sentence ordering (DiscoEval, Chen et al. 2019). Two adjacent sentences of a document, in their order
(`in_order`) or exchanged (`swapped`). Both orders of every pair are rows of the same split, so the sentences by
themselves do not tell the label. In half of the pairs the first sentence is the longer one, in the other half the
second (in running text the first is the longer one a little more often). No sentence is in two pairs or ends with a
colon, and there is no gap in the source between the sentences of a pair.
"""

import numpy as np
import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.distractors import MOST_CHARACTERS
from discoprobe.builders.passages.windows import ordering_task
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.task import Context

FEW = 4
"""Pairs that ``remove_bias`` keeps in every split."""


def as_often_longer(frame: pl.DataFrame, pairs: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Pairs whose first sentence has more words (or as many and more characters) as often as the second has."""
    length = pl.col("n_words").cast(pl.Int64) * MOST_CHARACTERS + pl.col("n_chars")
    first, second = (frame[pairs["first"] + place].select(length).to_numpy() for place in (0, 1))
    return remove_bias(pairs, np.sign(first - second).astype(np.float64), *context.seed_key, few=FEW)


ASKS = "Are two sentences in order?"
TASK = ordering_task(2, labels=("in_order", "swapped"), shape=Shape.PAIR, ways=1, keep=as_often_longer, version=3)
