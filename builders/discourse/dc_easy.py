"""Is the passage coherent, or does one of its sentences come from another text? The easy form, for comparison.

As `dc`, but the intruder is drawn at random from the other documents of the split, as in DiscoEval (Chen et al. 2019)
and its Spanish version (Araujo et al. 2022): its topic and length may give it away. Scores on `dc` and `dc_easy` differ
by what topic words are worth; only `dc` measures coherence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.builders.config import Shape
from discoprobe.builders.discourse import dc
from discoprobe.builders.match import ANY
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    import polars as pl


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Passages of six, whole and with any sentence of another document in place of one of theirs."""
    return dc.arrange(frame, context, ANY)


_COMPARISON = "the published setting, kept for comparison: what it measures beside coherence is what `dc` removes"

TASK = Task(
    labels=("coherent", "incoherent"),
    shape=Shape.SEQUENCE,
    arrange=arrange,
    pairs=True,
    perturbation=True,
    exempt={"overlap": _COMPARISON},
)
