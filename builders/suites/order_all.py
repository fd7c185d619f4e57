"""Is a passage more probable than the same sentences in another order?

Sentence order of CoherenceGym (Beyer et al. 2021), on running text. The good text is five consecutive sentences as they
stand, the bad one the same in another order, chosen as in `so`, but such that it takes sentences away from what they
refer to: one begins with a connective, or with a pronoun of the third person or a demonstrative among its first words,
and no longer follows its sentence. Where there are two such sentences or more, two at least are taken away. Passages
without any are left out: readers accept another order of them in three cases of ten. Every sentence is a region; the
whole texts are compared.
"""

from discoprobe.builders import hashing
from discoprobe.builders.discourse.order_last import PAPER
from discoprobe.builders.passages.window_rows import order_suite, ordering_task
from discoprobe.builders.task import Context

SIZE = 5


def order(key: int, context: Context) -> list[int]:
    """The sentences in another order."""
    return list(map(int, hashing.permutation(key, SIZE, *context.seed_key)))


TASK = order_suite(ordering_task(SIZE, order, PAPER))
