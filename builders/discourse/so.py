"""Are the sentences of a passage in their original order?

Sentence ordering (Koto et al. 2021; discourse suite over UD, Godunova & Voloshina). Three to seven consecutive
sentences as they stand (`original`) or in a uniformly random other order (`shuffled`). Both versions share `pair_id`;
`order` gives the source index of each sentence shown, from which Kendall's tau is computed. Every passage of one
unbroken stretch has the same number of sentences, drawn by hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discoprobe.builders import chance
from discoprobe.builders.config import Shape
from discoprobe.builders.discourse_rows import orderings
from discoprobe.builders.stretches import stretch_keys
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    import polars as pl

SIZES = (3, 7)


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Passages of three to seven sentences, whole and shuffled."""
    least, most = SIZES
    runs = stretch_keys(frame)
    longest = np.clip(runs["length"].to_numpy().astype(np.int64), least, most)
    sizes = least + chance.pick(runs["key"].to_numpy(), longest - least + 1, *context.salt, "size")

    def shuffled(keys: np.ndarray, size: int) -> np.ndarray:
        return np.array([chance.permutation(int(key), size, *context.salt) for key in keys]).reshape(-1, size)

    return orderings(frame, context, sizes, shuffled)


TASK = Task(labels=("original", "shuffled"), shape=Shape.SEQUENCE, arrange=arrange, pairs=True, perturbation=True)
