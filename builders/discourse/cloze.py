"""Which of two sentences ends the passage?

Story cloze over running text (Mostafazadeh et al. 2016; discourse suite over UD, Godunova & Voloshina). Four
consecutive sentences and two endings: the sentence that follows and a distractor as in `nsp` (from another document;
matched in length, shared words and colons; used once). Rows are chosen as in `nsp`, so that neither length nor
similarity tells the right one. The label is the index of the right ending; each index is right equally often.
"""

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.continuations import CONTEXT, FROM_OTHERS, Kinds, continuations
from discoprobe.builders.passages.windows import choice_rows, labelled
from discoprobe.builders.task import Context, DiscourseTask, Sample


def sample(frame: pl.DataFrame, context: Context, kinds: Kinds = FROM_OTHERS) -> Sample:
    """Each passage with its next sentence and a wrong one; ``condition`` says of which of ``kinds``."""
    passages, n_candidates = continuations(frame, context, kinds)
    chosen = labelled(passages, 2, context, "odd", by=["distractor"])
    rows = choice_rows(chosen, *(chosen.select(column).rows() for column in ("distractor_row", "distractor")))
    return Sample(rows.with_columns(condition=chosen["distractor"]), candidates=n_candidates)


ASKS = "Which ending is right?"
TASK = DiscourseTask(labels=("0", "1"), shape=Shape.CHOICE, sample=sample, least=CONTEXT + 1, version=8)
