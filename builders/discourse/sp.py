"""Where in the passage does its first sentence belong?

Sentence position (DiscoEval, Chen et al. 2019). Five consecutive sentences, one of which has been moved to the front
while the others keep their order; the label is the place (0-4) it came from. The passage never begins a document: in
DiscoEval the second sentence shown is the document's opening for labels 1-4, and the first sentence alone gives .46 on
ROCStories against a majority of .20. `order` gives the source index of each sentence shown.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.discourse_rows import single_rows, windows_of
from discoprobe.builders.rows import members, version
from discoprobe.builders.sampling import assign_labels, cap
from discoprobe.builders.task import Arranged, Context, Task

SIZE = 5


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Passages of five, one sentence of each moved to the front."""
    inner = frame.with_columns(stretch=pl.when(pl.col("index") > 0).then("stretch"))
    windows, drops = windows_of(inner, context, SIZE)
    capped = cap(windows, context.settings, *context.salt)
    labelled = assign_labels(capped, SIZE, *context.salt)
    label = labelled["label"].to_numpy()
    order = np.argsort(np.where(np.arange(SIZE) == label[:, None], -1, np.arange(SIZE)), axis=1)
    shown = np.take_along_axis(members(labelled["first"].to_numpy(), SIZE), order, axis=1)
    rows = single_rows(labelled, version(shown, order, np.zeros(len(label), dtype=np.int64)))
    return Arranged(rows, drops | {"unbalanced": capped.height - labelled.height}, candidates=windows.height)


TASK = Task(labels=("0", "1", "2", "3", "4"), shape=Shape.SEQUENCE, arrange=arrange)
