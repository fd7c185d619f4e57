"""What the root governs, in order (UD counterpart of SentEval TopConst).

The label is the sequence of universal relations of the root's dependents as they stand in the text (`nsubj_obj_obl`),
without subtypes and without punctuation, which SentEval excluded too: a class by final mark is no syntax. The 19 most
frequent sequences are classes, all others are `OTHER`; a corpus with too few sentences has fewer classes. Long
sentences have long sequences, so every bin of length has equally many sentences of each class in every split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.probes import balance_labels, finished, usable_of, with_numbers
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    from discoprobe.builders.settings import Settings
    from discoprobe.builders.tree import Trees

SEQUENCES = 19
FEWEST = 2
"""Least number of sequences beside ``OTHER``."""
OTHER = "OTHER"
STRATA = (6, 4, 3)
"""Numbers of length strata of equal width; in Korean two strata still let length tell the sequence."""


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Every sentence whose root governs more than punctuation, and the sequence."""
    del context
    spoken = trees.dependents.filter(pl.col("rel") != "punct")
    return spoken.group_by("sent", maintain_order=True).agg(label=pl.col("rel").str.join("_"))


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Equally many sentences of each sequence in every stratum of length, in every split."""
    usable, drops = usable_of(frame, context)
    least = context.settings.min_class
    names, n = chosen_sequences(usable, context.settings)
    if not names:
        reason = f"no {FEWEST} sequences have {least} sentences each of like lengths"
        return Arranged(pl.DataFrame(), drops, candidates=frame.height, reason=reason)
    numbered = with_numbers(grouped(usable, names), names).with_columns(cell=_stratum(n, context.settings))
    kept = balance_labels(numbered, context)
    drops["unbalanced"] = usable.height - kept.height
    return Arranged(finished(kept), drops, labels=names, candidates=frame.height)


def grouped(usable: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The candidates, ``OTHER`` in place of a sequence that is no class."""
    return usable.with_columns(label=pl.when(pl.col("label").is_in(names)).then("label").otherwise(pl.lit(OTHER)))


def chosen_sequences(usable: pl.DataFrame, settings: Settings) -> tuple[tuple[str, ...], int]:
    """The labels, and the number of length strata that they are matched in: the most that leave ``min_class`` of each.

    The labels are the most frequent sequences, then ``OTHER``. More classes come before more strata.
    """
    counts = usable.group_by("label").len().sort(["len", "label"], descending=[True, False])
    frequent = counts["label"].head(SEQUENCES).to_list()
    for number in range(len(frequent), FEWEST - 1, -1):
        names = (*frequent[:number], OTHER)
        classed = grouped(usable, names)
        for n in STRATA:
            if _size(classed.with_columns(cell=_stratum(n, settings)), len(names)) >= settings.min_class:
                return names, n
    return (), 0


def _stratum(n: int, settings: Settings) -> pl.Expr:
    """The stratum of a sentence, out of ``n`` of equal width over the permitted lengths."""
    least, most = settings.probing_words
    return (pl.col("mean_words") - least).cast(pl.Int64) * n // (most - least + 1)


def _size(classed: pl.DataFrame, number: int) -> int:
    """Sentences of each class after balancing; 0 where a split has none."""
    counts = classed.group_by("split", "cell", "label").len()
    cells = counts.group_by("split", "cell").agg(classes=pl.len(), least=pl.col("len").min())
    kept = cells.filter(pl.col("classes") == number)
    return int(kept["least"].sum()) if kept["split"].n_unique() == len(SPLITS) else 0


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=arrange, select=select, split_by="cluster", needs=frozenset({"deps"}),
)  # fmt: skip
