"""What the root governs, in order (UD counterpart of SentEval TopConst).

The label is the sequence of universal relations of the root's dependents as they stand in the text (`nsubj_obj_obl`),
without subtypes and without punctuation, which SentEval excluded too: a class by final mark is no syntax. The 19 most
frequent sequences are classes, all others are `OTHER`; a corpus with too few sentences has fewer classes. Long
sentences have long sequences, so only sentences that have one of like length and punctuation in every other class are
taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders.sentences.candidates import balance_labels, unedited, usable_of, with_label_indices
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Context, ProbingTask, Sample

if TYPE_CHECKING:
    from discoprobe.builders.sentences.trees import Trees

SEQUENCES = 19
FEWEST = 2
"""Least number of sequences beside ``OTHER``."""
OTHER = "OTHER"


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Every sentence whose root governs more than punctuation, and the sequence."""
    del context
    spoken = trees.dependents.filter(pl.col("rel") != "punct")
    return spoken.group_by("sent", maintain_order=True).agg(label=pl.col("rel").str.join("_"))


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many sentences of each sequence in every split, that look alike."""
    usable, drops = usable_of(frame, context)
    names, kept = chosen_sequences(usable, context)
    drops["unbalanced"] = usable.height - kept.height
    if not names:
        reason = f"no {FEWEST} sequences have {context.settings.min_class} sentences each of like lengths"
        return Sample(pl.DataFrame(), drops, candidates=frame.height, reason=reason)
    return Sample(unedited(kept), drops, labels=names, candidates=frame.height)


def grouped(usable: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The candidates, ``OTHER`` in place of a sequence that is no class."""
    return usable.with_columns(label=pl.when(pl.col("label").is_in(names)).then("label").otherwise(pl.lit(OTHER)))


def chosen_sequences(usable: pl.DataFrame, context: Context) -> tuple[tuple[str, ...], pl.DataFrame]:
    """The labels and the rows: as many classes as leave ``min_class`` rows of each that look alike.

    The labels are the most frequent sequences, then ``OTHER``.
    """
    if context.decided:
        numbered = with_label_indices(grouped(usable, context.decided), context.decided)
        return context.decided, balance_labels(numbered, context, strict=True)
    counts = usable.group_by("label").len().sort(["len", "label"], descending=[True, False])
    enough = counts.filter(pl.col("len") >= context.settings.min_class)["label"].head(SEQUENCES).to_list()
    for number in range(len(enough), FEWEST - 1, -1):
        names = (*enough[:number], OTHER)
        kept = balance_labels(with_label_indices(grouped(usable, names), names), context, strict=True)
        if kept["split"].n_unique() == len(SPLITS) and kept.height >= len(names) * context.settings.min_class:
            return names, kept
    return (), usable.clear()


TASK = ProbingTask(select=select, sample=sample, needs=frozenset({"deps"}))
