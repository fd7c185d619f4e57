"""Which of two sentences ends the passage?

Story cloze over running text (Mostafazadeh et al. 2016; discourse suite over UD, Godunova & Voloshina). Four
consecutive sentences and two endings: the sentence that follows and a distractor as in `nsp` (about half from later in
the same document, half from another document; matched in length and in words shared with the passage; used once). Rows
are chosen as in `nsp`, so that neither length nor similarity tells the right one. The label is the index of the right
ending; each index is right equally often.
"""

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.continuations import CONTEXT, ORIGINS, continuations
from discoprobe.builders.passages.window_rows import choice_rows, members
from discoprobe.builders.sampling.balance import assign_labels
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.task import Context, DiscourseTask, Sample

CHOICES = 2


def sample(frame: pl.DataFrame, context: Context, *, later: bool = True) -> Sample:
    """Each passage with its next sentence and a wrong one; without ``later`` always of another document."""
    continued = continuations(frame, context, later=later)
    labelled = assign_labels(continued.rows, CHOICES, *context.seed_key)
    kept = cap(labelled, context.settings, *context.seed_key, by=["label"])
    first = kept["first"].to_numpy()
    wrong = kept["intruder"].to_numpy()[:, None]
    origins = [[ORIGINS[later]] for later in kept["later"]]
    rows = choice_rows(kept, list(members(first, CONTEXT)), first + CONTEXT, wrong, origins)
    drops = continued.drops | {"odd": continued.rows.height - labelled.height}
    return Sample(rows, drops, candidates=continued.candidates)


TASK = DiscourseTask(labels=("0", "1"), shape=Shape.CHOICE, sample=sample, least=CONTEXT + 1, version=5)
