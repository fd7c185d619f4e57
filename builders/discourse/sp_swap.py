"""Has a sentence of the passage changed places?

Sentence position as in Godunova & Voloshina's suite over UD. Five consecutive sentences in their order (`original`), or
with the fourth sentence and a random other one exchanged (`swapped`). No sentence ends with a colon. Both versions of
every passage are rows and share `pair_id`; `order` gives the source index of each sentence, and `position` the place to
which the fourth sentence went. In 33-67 % of the rows of the published suite the `swapped` version equals the original;
here it always differs.
"""

import numpy as np

from discoprobe.builders.passages.similarity import Rows
from discoprobe.builders.passages.windows import ordering_task
from discoprobe.builders.task import Context
from discoprobe.loaders import hashing

FOURTH = 3


def order(keys: hashing.Keys, size: int, context: Context) -> Rows:
    """The fourth sentence and another one in each other's place."""
    others = np.delete(np.arange(size), FOURTH)
    other = others[hashing.pick(keys, len(others), *context.seed_key, "other")]
    orders = np.tile(np.arange(size), (len(keys), 1))
    orders[:, FOURTH] = other
    orders[np.arange(len(keys)), other] = FOURTH
    return orders


ASKS = "Has a sentence moved?"
TASK = ordering_task(5, order, labels=("original", "swapped"), ways=1, moved=FOURTH, version=2)
