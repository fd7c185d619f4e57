"""Is the passage coherent, or does one of its sentences come from another text?

Discourse coherence (DiscoEval, Chen et al. 2019; Spanish: Araujo et al. 2022). A passage is six consecutive sentences
(`coherent`), or the same sentences with one of the second to the fifth replaced by a sentence of another document of
the same corpus (`incoherent`). Both versions share `pair_id`, and `position` is the place of the intruder. The intruder
has about the length of the sentence that it replaces (the longer one has at most 20 % more words and 30 % more
characters), and shares about as many content words with the passage. In half of the pairs the intruder is more similar
to the passage, and to its neighbours, than the sentence that it replaces, by its characters and by its words; in half
it is more typical of the corpus (a sentence of common words is like any passage). It occurs in no other row and comes
from the same split. In DiscoEval lexical overlap alone reaches .71 on Wikipedia, more than every published encoder.
Here, too, another document has another topic: what the strongest shortcut on the card reaches above one half is the
part of a score that it explains.
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
    """Passages of six, whole and with an intruder that resembles what it replaces."""
    cut = with_donors(frame, context, SIZE, DONORS)
    how = matching if context.settings.match else ANY
    served = replaced_one(frame, cut, PLACES, context, how)
    even = served if how is ANY else _even(frame, served, context)
    rows = replaced_pairs(cap(even, context.settings, *context.seed_key, weight=2), SIZE)
    n_served = served["window"].n_unique()
    lost = {"no-matching-intruder": cut.windows.height - n_served, "unbalanced": n_served - even.height}
    return Sample(rows, cut.drops | lost, candidates=(cut.windows.height + cut.drops["donor"]) * 2)


def _even(frame: pl.DataFrame, served: pl.DataFrame, context: Context) -> pl.DataFrame:
    """One intruder for each window: no measure of similarity tells it from what it stands in for.

    Where text is plenty it is not told by how much more similar it is either: in pairs of German Wikipedia this takes
    the strongest shortcut from .67 to .57. Of the pairs of a treebank it would leave four fifths.
    """
    true, rest, beside = surroundings(served, SIZE)
    candidates = np.column_stack([true, served["intruder"].to_numpy()])
    similarity = context.similarity or Similarity(frame)
    told = gains_of_similarity(similarity, rest, beside, candidates, sizes=context.in_blocks)
    return remove_bias(served, told, *context.seed_key, few=FEW, slack=slack(context), deviations=1.5)


TASK = DiscourseTask(
    labels=("coherent", "incoherent"), shape=Shape.SEQUENCE, sample=sample, pairs=True, least=SIZE, version=3
)
