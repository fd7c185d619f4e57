"""Are the sentences of a passage in their original order?

Sentence ordering (Koto et al. 2021; discourse suite over UD, Godunova & Voloshina). Three to seven consecutive
sentences as they stand (`original`) or in another order (`shuffled`): one of four random ones, chosen so that the label
can be told neither from the lengths of the first and last sentences nor from the similarity of neighbours. Both
versions share `pair_id`; `order` gives the source index of each sentence shown, from which Kendall's tau is computed.
All passages from one unbroken passage have the same number of sentences, chosen by hash.
"""

import numpy as np
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.config import Shape
from discoprobe.builders.passages.window_rows import WAYS, orderings
from discoprobe.builders.passages.windows import passage_keys
from discoprobe.builders.task import Context, DiscourseTask, Sample

SIZES = (3, 7)


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Passages of three to seven sentences, whole and shuffled."""
    least, most = SIZES
    runs = passage_keys(frame)
    longest = np.clip(runs["length"].to_numpy().astype(np.int64), least, most)
    sizes = least + hashing.pick(runs["key"].to_numpy(), longest - least + 1, *context.seed_key, "size")

    def shuffled(keys: np.ndarray, size: int) -> np.ndarray:
        return np.array([hashing.permutation(int(key), size, *context.seed_key) for key in keys]).reshape(-1, size)

    return orderings(frame, context, sizes, shuffled, ways=WAYS)


TASK = DiscourseTask(
    labels=("original", "shuffled"), shape=Shape.SEQUENCE, sample=sample, pairs=True, least=SIZES[0], version=2
)
