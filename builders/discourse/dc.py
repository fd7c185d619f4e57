"""Is the passage coherent, or does one of its sentences come from another text?

Discourse coherence (DiscoEval, Chen et al. 2019; Spanish: Araujo et al. 2022). A passage is six consecutive sentences
(`coherent`), or the same sentences with one of the second to the fifth replaced by a distractor: a sentence of another
document of the same corpus (`incoherent`). Both versions share `pair_id`, and `position` is the index of the
distractor. The distractor has about the length of the sentence that it replaces (the longer one has at most 20 % more
words and 30 % more characters), and shares about as many content words with the passage. In half of the pairs the
distractor is more similar to the passage, and to its neighbours, than the sentence that it replaces, by its characters
and by its words. In half of the pairs it is more typical of the corpus (a sentence of frequent words is similar to
every passage). It occurs in no other row and comes from the same split.

In DiscoEval lexical overlap alone reaches .71 on Wikipedia, more than every published encoder. Here, too, another
document usually has another topic. The strongest shortcut on the card shows how much of a score this explains: its
accuracy minus one half.
"""

import numpy as np
import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.distractors import ANY, CLOSE, Matching
from discoprobe.builders.passages.intruders import replaced_one, surroundings, with_donors
from discoprobe.builders.passages.measures import gains_of_similarity, slack
from discoprobe.builders.passages.similarity import Similarity
from discoprobe.builders.passages.window_rows import replaced_pairs
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.task import Context, DiscourseTask, Sample

SIZE, DONORS = 6, 0.15
PLACES = range(1, SIZE - 1)
FEW = 4
"""Pairs that a split may have whatever tells their intruders."""


def sample(frame: pl.DataFrame, context: Context, matching: Matching = CLOSE) -> Sample:
    """Passages of six sentences as they are, and with a distractor that resembles the sentence it replaces."""
    cut = with_donors(frame, context, SIZE, DONORS)
    how = matching if context.settings.match else ANY
    served = replaced_one(frame, cut, PLACES, context, how)
    even = served if how is ANY else _even(frame, served, context)
    rows = replaced_pairs(cap(even, context.settings, *context.seed_key, weight=2), SIZE)
    n_served = served["window"].n_unique()
    lost = {"no-matching-intruder": cut.windows.height - n_served, "unbalanced": n_served - even.height}
    return Sample(rows, cut.drops | lost, candidates=(cut.windows.height + cut.drops["donor"]) * 2)


def _even(frame: pl.DataFrame, served: pl.DataFrame, context: Context) -> pl.DataFrame:
    """One distractor for each window, so that in half of the windows it is more similar than the sentence it replaces.

    In large corpora (``context.in_blocks``) the size of the difference in similarity is balanced, too: in pairs of
    German Wikipedia this reduces the strongest shortcut from .67 to .57. In a treebank only four fifths of the pairs
    would be left.
    """
    true, rest, beside = surroundings(served, SIZE)
    candidates = np.column_stack([true, served["intruder"].to_numpy()])
    similarity = context.similarity or Similarity(frame)
    told = gains_of_similarity(similarity, rest, beside, candidates, sizes=context.in_blocks)
    return remove_bias(served, told, *context.seed_key, few=FEW, slack=slack(context), deviations=1.5)


TASK = DiscourseTask(
    labels=("coherent", "incoherent"), shape=Shape.SEQUENCE, sample=sample, pairs=True, least=SIZE, version=3
)
