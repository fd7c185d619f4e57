"""Which dependents the root has, in order (UD counterpart of SentEval TopConst).

The label is the sequence of the universal relations of the root's dependents in the order of the text
(`nsubj_obj_obl`). Subtypes are ignored, and so is punctuation, as in SentEval: a class that is defined by the final
mark is not about syntax. The 19 most frequent sequences are classes, all others are `OTHER`; a corpus with too few
sentences has fewer classes. Long sentences have long sequences, so classes are matched on length and punctuation. If a
sequence would reduce the number of rows, because its sentences have other lengths, it also belongs to `OTHER`.
"""

import functools
from itertools import combinations

import polars as pl

from discoprobe.builders.sampling.label_sets import by_frequency
from discoprobe.builders.sampling.stratify import with_rank
from discoprobe.builders.sentences.candidates import (
    Classes,
    balance_labels,
    balanced_classes,
    in_all_splits,
    with_label_indices,
)
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import MIN_ROWS
from discoprobe.builders.task import Context, ProbingTask, Sample

SEQUENCES = 19
FEWEST = 2
"""Least number of sequences beside ``OTHER``."""
FIRST = 6
"""Sequences, the most frequent, that the first ``FEWEST`` are chosen from."""
OTHER = "OTHER"
OTHERS = 10
"""So many sentences of ``OTHER`` are looked at for each of the rarest sequence; more match hardly better."""
ENOUGH = sum(MIN_ROWS) + 20
"""Rows from which on more sequences are better than more rows: those of a config, in whole sets of twenty."""


def select(trees: Trees, _context: Context) -> pl.DataFrame:
    """Every sentence whose root governs more than punctuation, and the sequence."""
    spoken = trees.dependents.filter(pl.col("rel") != "punct")
    return spoken.group_by("sent", maintain_order=True).agg(label=pl.col("rel").str.join("_"))


def grouped(usable: pl.DataFrame, names: tuple[str, ...], context: Context) -> pl.DataFrame:
    """The candidates, ``OTHER`` in place of a sequence that is no class; of these the first in hash order."""
    named = pl.col("label").is_in(names)
    labelled = with_rank(
        usable.with_columns(label=pl.when(named).then("label").otherwise(pl.lit(OTHER))),
        ["label"], "others", *context.seed_key,
    )  # fmt: skip
    rarest = pl.col("label").filter(pl.col("label") != OTHER).unique_counts().min()
    return labelled.filter((pl.col("label") != OTHER) | (pl.col("rank") <= OTHERS * rarest)).drop("rank")


def sequences(usable: pl.DataFrame, context: Context) -> Classes:
    """The classes: frequent sequences, then ``OTHER``, with equally many rows matched on surface features.

    The first ``FEWEST`` sequences are those that together give the most rows. Another one is added if the
    number of rows does not fall, or ``ENOUGH`` are left: then more classes are better than more rows.
    """

    @functools.cache
    def rows_of(names: tuple[str, ...]) -> pl.DataFrame:
        labels = (*names, OTHER)
        return balance_labels(with_label_indices(grouped(usable, names, context), labels), context, strict=True)

    def size(names: tuple[str, ...]) -> int:
        return rows_of(names).height

    if context.decided:
        return Classes(context.decided, rows_of(context.decided[:-1]))
    least = context.settings.min_class
    frequent = by_frequency(usable, "label").filter(pl.col("len") >= least)["label"].head(SEQUENCES).to_list()
    names = max(combinations(frequent[:FIRST], FEWEST), key=size, default=())
    for name in frequent:
        if names and name not in names and size((*names, name)) >= min(ENOUGH, max(size(names), 1)):
            names = (*names, name)
    if names and in_all_splits(rows_of(names), least * (len(names) + 1)):
        return Classes((*names, OTHER), rows_of(names))
    return Classes((), usable.clear(), f"fewer than {FEWEST} sequences have {least} sentences of similar lengths")


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many sentences of each sequence in every split, matched on surface features."""
    return balanced_classes(frame, context, sequences)


TASK = ProbingTask(select=select, sample=sample, needs=frozenset({"deps"}), version=4)
