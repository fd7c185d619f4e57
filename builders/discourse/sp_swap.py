"""Has a sentence of the passage changed places?

Sentence position as in Godunova & Voloshina's suite over UD. Five consecutive sentences as they stand in the document
(`original`), or with the fourth exchanged with a random other one (`swapped`). Both versions of every passage are
emitted and share `pair_id`; `order` gives the source index of each sentence and `position` the place to which the
fourth sentence went. In the published suite the swapped version was written out before the swap in 33-67 % of the rows;
here it always differs.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.config import Shape
from discoprobe.builders.passages.window_rows import orderings
from discoprobe.builders.task import Context, DiscourseTask, Sample

SIZE, FOURTH = 5, 3


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Passages of five, whole and with the fourth sentence swapped."""

    def swapped(keys: npt.NDArray[np.uint64], _size: int) -> npt.NDArray[np.int64]:
        order = np.tile(np.arange(SIZE), (len(keys), 1))
        other = np.delete(np.arange(SIZE), FOURTH)[hashing.pick(keys, SIZE - 1, *context.seed_key, "other")]
        order[np.arange(len(keys)), other], order[:, FOURTH] = FOURTH, other
        return order

    return orderings(frame, context, SIZE, swapped, moved=FOURTH)


TASK = DiscourseTask(labels=("original", "swapped"), shape=Shape.SEQUENCE, sample=sample, pairs=True, least=SIZE)
