"""Are the sentences of a passage in their original order, when the last one stays in place?

Sentence order in the form of CoherenceGym (Beyer et al. 2021). Five consecutive sentences as they stand (`original`),
or with the first four in another order, chosen as in `so`, and the last in its place (`shuffled`). Both versions share
`pair_id` and end with the same sentence, so that a language model can be tested on the probability of that sentence
after contexts that differ in order only. `order` gives the source index of each sentence shown.
"""

from discoprobe.builders.passages.windows import ordering_task
from discoprobe.builders.task import Context
from discoprobe.loaders import hashing


def order(key: int, size: int, context: Context) -> list[int]:
    """All sentences but the last in another order, then the last one."""
    return [*hashing.permutation(key, size - 1, *context.seed_key).tolist(), size - 1]


TASK = ordering_task(5, order, version=5)
