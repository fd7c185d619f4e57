"""Are two adjacent sentences in their original order?

Binary sentence ordering (DiscoEval, Chen et al. 2019). Two neighbouring sentences of a document, in order (`in_order`)
or exchanged (`swapped`). Both orders of every pair are emitted and stand in the same split, so nothing that looks at
the sentences one by one can tell the label. No sentence stands in two pairs, and pairs never close over a gap in the
source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discoprobe.builders.config import Shape
from discoprobe.builders.discourse_rows import orderings
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    import polars as pl


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Pairs of neighbours in both orders."""
    return orderings(frame, context, 2, lambda keys: np.tile([1, 0], (len(keys), 1)))


TASK = Task(labels=("in_order", "swapped"), shape=Shape.PAIR, arrange=arrange, pairs=True, perturbation=True)
