"""How deep the dependency tree is (SentEval, X-Probe, RuSentEval TreeDepth).

The label is the number of edges on the longest path from the root to a word. Depth grows with length, so every bin of
length has equally many sentences of each depth in every split. In the published sets the bins are not balanced, and
length still predicts depth (X-Probe: .25-.29, with a majority of .21; in RuSentEval a class has 10 to 33 % of the
rows). The classes are the depths 5 to 9 if the corpus has enough sentences of each. Otherwise they are two to five
neighbouring depths, as many as have enough sentences of similar lengths. This is often needed: dependency trees are
flatter than SentEval's constituency trees, small treebanks have few deep ones, and sentences of depth 3 and of depth 7
rarely have the same length.
"""

import functools

import polars as pl

from discoprobe.builders.sampling.length_bins import length_stratum
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

Run = tuple[str, ...]
"""Neighbouring depths, as labels."""
DEEPEST = 20
LABELS = tuple(str(depth) for depth in range(1, DEEPEST + 1))
"""All depths; a config has two to five neighbouring ones."""
USUAL: Run = ("5", "6", "7", "8", "9")
"""RuSentEval's depths."""
NUMBERS = (5, 4, 3, 2)
"""How many neighbouring depths a config may have."""
ENOUGH = sum(MIN_ROWS) + 10
"""Rows from which on more depths are better than more rows: those of a config, in whole sets of five."""


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Every sentence that has a tree, its depth, and as ``cell`` the stratum of its length."""
    depth = trees.words.group_by("sent", maintain_order=True).agg(
        pl.col("depth").max(), complete=pl.col("depth").is_not_null().all()
    )
    length = trees.shard.sentence_facts().select("sent", cell=length_stratum(context.settings))
    labelled = depth.filter("complete").select("sent", label=pl.col("depth").cast(pl.String))
    return labelled.join(length, on="sent", maintain_order="left")


def depths(usable: pl.DataFrame, context: Context) -> Classes:
    """The depths of the config and their rows.

    They are as many depths as leave ``ENOUGH`` rows that are matched; where none do, those that leave most rows, if
    these are ``min_class`` of each; else rows that are not matched are taken too.
    """

    @functools.cache
    def rows_of(run: Run, *, strict: bool = True) -> pl.DataFrame:
        return balance_labels(
            with_label_indices(usable.filter(pl.col("label").is_in(run)), LABELS), context, strict=strict
        )

    if context.decided:
        return Classes(context.decided, rows_of(context.decided))
    sizes, least = _sizes(usable), context.settings.min_class
    runs = [[run for run in sizes if len(run) == number] for number in NUMBERS]
    for tried in ([USUAL], *runs):
        enough = [run for run in tried if sizes.get(run, 0) * len(run) >= ENOUGH]
        run = max(enough, key=lambda run: rows_of(run).height, default=())
        if run and rows_of(run).height >= ENOUGH:
            return Classes(run, rows_of(run))
    likely = [max(tried, key=sizes.__getitem__) for tried in runs if tried]
    for strict in (True, False):
        rows = {run: rows_of(run, strict=strict) for run in likely}
        run = max(rows, key=lambda run: rows[run].height, default=())
        if run and in_all_splits(rows[run], least * len(run)):
            return Classes(run, rows[run])
    reason = f"fewer than {NUMBERS[-1]} neighbouring depths have {least} sentences of similar lengths"
    return Classes((), usable.clear(), reason)


def _sizes(usable: pl.DataFrame) -> dict[Run, int]:
    """For every run of neighbouring depths, how many sentences of each there are if all cells have equally many."""
    counts = usable.group_by("cell", "label").len()
    cells = counts.pivot("label", index="cell", values="len").fill_null(0)
    present = sorted(int(name) for name in cells.columns[1:])
    runs = [tuple(map(str, range(first, first + number))) for number in NUMBERS for first in present]
    possible = [run for run in runs if set(run) <= set(cells.columns)]
    return {run: int(cells.select(pl.min_horizontal(run)).sum().item()) for run in possible}


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many sentences of each depth in every bin of length, in every split."""
    return balanced_classes(frame, context, depths)


TASK = ProbingTask(labels=LABELS, select=select, sample=sample, needs=frozenset({"deps"}), decides=True, version=3)
