"""Which of two sentences ends the passage?

Story cloze over running text (Mostafazadeh et al. 2016; discourse suite over UD, Godunova & Voloshina). Four
consecutive sentences and two endings: the sentence that follows and a distractor as in `nsp` (about half from later in
the same document, half from another document; matched in length and in words shared with the passage; used once). The
label is the index of the right ending; each index is right equally often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.builders.config import Shape
from discoprobe.builders.continuation import CONTEXT, continuations
from discoprobe.builders.discourse_rows import choice_rows
from discoprobe.builders.rows import members
from discoprobe.builders.sampling import assign_labels, cap
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    import polars as pl

CHOICES = 2


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Each passage with its next sentence and a wrong one."""
    found = continuations(frame, context)
    kept = assign_labels(cap(found.rows, context.settings, *context.salt), CHOICES, *context.salt)
    first = kept["first"].to_numpy()
    wrong = kept["wrong"].to_numpy()[:, None]
    rows = choice_rows(kept, list(members(first, CONTEXT)), first + CONTEXT, wrong)
    drops = found.drops | {"odd": found.rows.height - kept.height}
    return Arranged(rows, drops, candidates=found.candidates)


TASK = Task(labels=("0", "1"), shape=Shape.CHOICE, arrange=arrange)
