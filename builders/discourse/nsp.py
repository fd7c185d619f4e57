"""Does this sentence follow the passage?

Next sentence prediction (discourse suite over UD, Godunova & Voloshina; Koto et al. 2021). Four consecutive sentences
and a candidate: the sentence that follows (`next`) or another one (`not_next`). About half of the wrong ones stand
later in the same document, half come from another document of the same corpus and split; all are matched to the right
one in length (20 % in words, 30 % in characters) and in the content words they share with the passage, and stand in no
other row. Each passage is emitted with both candidates, which share `pair_id`. With distractors from anywhere, TF-IDF
cosine finds the right one of four at .85-.94 (Koto et al.'s published sets).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discoprobe.builders.config import Shape
from discoprobe.builders.continuation import CONTEXT, continuations
from discoprobe.builders.rows import members, pair_rows, version
from discoprobe.builders.sampling import cap
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    import polars as pl


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Each passage with the next sentence and with a wrong one."""
    found = continuations(frame, context)
    kept = cap(found.rows, context.settings, *context.salt, weight=2)
    first = kept["first"].to_numpy()
    right = members(first, CONTEXT + 1)
    wrong = np.column_stack([members(first, CONTEXT), kept["wrong"].to_numpy()])
    order = np.tile(np.arange(CONTEXT + 1), (len(first), 1))
    versions = [version(right, order), version(wrong, order, CONTEXT)]
    rows = pair_rows(kept["window"].to_numpy(), first, kept["split"], versions)
    return Arranged(rows, found.drops, candidates=found.candidates * 2)


TASK = Task(labels=("next", "not_next"), shape=Shape.CANDIDATE, arrange=arrange, pairs=True, perturbation=True)
