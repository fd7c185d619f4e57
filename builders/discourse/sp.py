"""Where in the passage does its first sentence belong?

Sentence position (DiscoEval, Chen et al. 2019). Five consecutive sentences, one of which has been moved to the front
while the others keep their order; the label is the place (0-4) it came from. The passage never begins a document: in
DiscoEval the second sentence shown is the document's opening for labels 1-4, and the first sentence alone gives .46 on
ROCStories against a majority of .20. `order` gives the source index of each sentence shown.
"""

import numpy as np
import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.window_rows import members, single_rows, version, windows_of
from discoprobe.builders.sampling.balance import assign_labels
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.task import Context, DiscourseTask, Sample

SIZE = 5


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Passages of five, one sentence of each moved to the front."""
    inner = frame.with_columns(passage=pl.when(pl.col("index") > 0).then("passage"))
    windows, drops = windows_of(inner, context, SIZE)
    labelled = assign_labels(windows, SIZE, *context.seed_key)
    kept = cap(labelled, context.settings, *context.seed_key, by=["label"])
    label = kept["label"].to_numpy()
    order = np.argsort(np.where(np.arange(SIZE) == label[:, None], -1, np.arange(SIZE)), axis=1)
    shown = np.take_along_axis(members(kept["first"].to_numpy(), SIZE), order, axis=1)
    rows = single_rows(kept, version(shown, order, np.zeros(len(label), dtype=np.int64)))
    return Sample(rows, drops | {"unbalanced": windows.height - labelled.height}, candidates=windows.height)


TASK = DiscourseTask(labels=("0", "1", "2", "3", "4"), shape=Shape.SEQUENCE, sample=sample, least=SIZE + 1, version=2)
