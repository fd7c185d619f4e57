"""Does this sentence follow the passage?

Next sentence prediction (discourse suite over UD, Godunova & Voloshina; Koto et al. 2021). A row has four consecutive
sentences and a candidate: the sentence that follows (`next`), or another one (`not_next`). About half of the wrong
candidates come from later in the same document, the others from another document of the same corpus and split;
`distractor` says which. All are matched to the right candidate in length (the longer one has at most 20 % more words
and 30 % more characters) and in the content words that they share with the passage, and occur in no other row. Pairs
are chosen so that neither length, nor similarity to the passage, nor how common the words are tells the right one. Each
passage has both candidates in two rows that share `pair_id`. With distractors from anywhere, TF-IDF cosine finds the
right one of four at .85-.94 (in the published sets of Koto et al.).
"""

import numpy as np
import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.continuations import CONTEXT, ORIGINS, continuations
from discoprobe.builders.passages.window_rows import members, pair_rows, version
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.task import Context, DiscourseTask, Sample


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Each passage with the next sentence and with a wrong one."""
    continued = continuations(frame, context)
    capped = cap(continued.rows, context.settings, *context.seed_key, weight=2)
    first = capped["first"].to_numpy()
    right = members(first, CONTEXT + 1)
    wrong = np.column_stack([members(first, CONTEXT), capped["intruder"].to_numpy()])
    order = np.tile(np.arange(CONTEXT + 1), (len(first), 1))
    versions = [version(right, order), version(wrong, order, CONTEXT)]
    origin = pl.Series([ORIGINS[later] for later in capped["later"]], dtype=pl.String)
    versions = [
        versions[0].with_columns(distractor=pl.lit(None, pl.String)),
        versions[1].with_columns(distractor=origin),
    ]
    rows = pair_rows(capped["window"].to_numpy(), first, capped["split"], versions)
    return Sample(rows, continued.drops, candidates=continued.candidates * 2)


TASK = DiscourseTask(
    labels=("next", "not_next"), shape=Shape.CANDIDATE, sample=sample, pairs=True, least=CONTEXT + 1, version=5
)
