"""Does this sentence follow the passage?

Next sentence prediction (discourse suite over UD, Godunova & Voloshina; Koto et al. 2021). A row has four consecutive
sentences and a candidate: the sentence that follows (`next`), or a distractor (`not_next`) from another document of the
same corpus and split; one from later in the same document often follows as well. A distractor is matched to the right
candidate in length (the longer one has at most 20 % more words and 30 % more characters), in the content words that it
shares with the passage, and in whether it follows a colon or ends with one. It occurs in no other row. Each passage is
in two rows, which share `pair_id`. Pairs are chosen so that no simple rule finds the right candidate, by its length,
its similarity to the passage, or how frequent its words are.
"""

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.continuations import CONTEXT, continuations
from discoprobe.builders.passages.windows import replaced_pairs
from discoprobe.builders.sampling.balance import cap
from discoprobe.builders.task import Context, DiscourseTask, Sample


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Each passage with the next sentence and with a wrong one."""
    passages, n_candidates = continuations(frame, context)
    capped = cap(passages, context.settings, *context.seed_key, weight=2)
    return Sample(replaced_pairs(capped, CONTEXT + 1), candidates=n_candidates * 2)


ASKS = "Does the sentence follow?"
TASK = DiscourseTask(
    labels=("next", "not_next"), shape=Shape.CANDIDATE, sample=sample, pairs=True, least=CONTEXT + 1, version=8
)
