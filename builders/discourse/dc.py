"""Is the passage coherent, or does one of its sentences come from another text?

Discourse coherence (DiscoEval, Chen et al. 2019; Spanish: Araujo et al. 2022). Six consecutive sentences (`coherent`),
and the same with one of the second to the fifth replaced by a sentence of another document of the same corpus
(`incoherent`); both versions share `pair_id` and `position` names the intruder. The intruder is as long as the sentence
it replaces (within 20 % in words, 30 % in characters), shares as many content words with the passage as that one did,
is more like the passage than that one in as many pairs as not, stands nowhere else in the data, and comes from the same
split. In DiscoEval lexical overlap alone gives .71 on Wikipedia, more than every published encoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discoprobe.builders.config import Shape
from discoprobe.builders.intrusion import replaced_one, with_donors
from discoprobe.builders.level import levelled
from discoprobe.builders.match import ANY, CLOSE, Matching
from discoprobe.builders.rows import members, pair_rows, version
from discoprobe.builders.sampling import cap
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    import polars as pl

SIZE, DONORS = 6, 0.2
PLACES = range(1, SIZE - 1)
FEW = 4
"""Pairs that a split may have whether or not their intruders are more alike as often as less."""


def arrange(frame: pl.DataFrame, context: Context, matching: Matching = CLOSE) -> Arranged:
    """Passages of six, whole and with an intruder that resembles what it replaces."""
    cut = with_donors(frame, context, SIZE, DONORS)
    how = matching if context.settings.match else ANY
    served = replaced_one(frame, cut, PLACES, context, how)
    even = served if how is ANY else levelled(served, ("nearer",), *context.salt, few=FEW)
    kept = cap(even, context.settings, *context.salt, weight=2)
    first, position = kept["first"].to_numpy(), kept["position"].to_numpy()
    whole = members(first, SIZE)
    order = np.tile(np.arange(SIZE), (len(first), 1))
    broken, source = whole.copy(), order.copy()
    broken[np.arange(len(first)), position] = kept["intruder"].to_numpy()
    source[np.arange(len(first)), position] = -1
    versions = [version(whole, order), version(broken, source, position)]
    rows = pair_rows(kept["window"].to_numpy(), first, kept["split"], versions)
    lost = {"no-matching-intruder": cut.windows.height - served.height, "unbalanced": served.height - even.height}
    return Arranged(rows, cut.drops | lost, candidates=(cut.windows.height + cut.drops["donor"]) * 2)


TASK = Task(labels=("coherent", "incoherent"), shape=Shape.SEQUENCE, arrange=arrange, pairs=True, perturbation=True)
