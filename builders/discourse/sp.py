"""Where in the passage does its first sentence belong?

Sentence position (DiscoEval, Chen et al. 2019). Five consecutive sentences, one of which has been moved to the front,
while the others keep their order. The label is its index (0-4) in the original passage; `order` gives the source index
of each sentence shown. No sentence ends with a colon or begins a document. In DiscoEval one does: for the labels 1-4
the second sentence is the first of the document, and on ROCStories the first one alone reaches .46 (majority .20).
"""

import numpy as np
import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.windows import labelled, reordered, single_rows, windows_of, without_introductions
from discoprobe.builders.task import Context, DiscourseTask, Sample

SIZE = 5
ORDERS = np.array([[label, *(place for place in range(SIZE) if place != label)] for label in range(SIZE)])


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Passages of five, one sentence of each moved to the front."""
    inner = without_introductions(frame).with_columns(passage=pl.when(pl.col("index") > 0).then("passage"))
    windows = windows_of(inner, context, SIZE)
    chosen = labelled(windows, SIZE, context, "unbalanced")
    moved = reordered(chosen["first"].to_numpy(), ORDERS[chosen["label"].to_numpy()], 0)
    return Sample(single_rows(chosen, moved), candidates=windows.height)


ASKS = "Where does the first belong?"
TASK = DiscourseTask(labels=("0", "1", "2", "3", "4"), shape=Shape.SEQUENCE, sample=sample, least=SIZE + 1, version=3)
