"""How deep the dependency tree is (SentEval, X-Probe, RuSentEval TreeDepth).

The label is the number of edges on the longest path from the root to a word. Depth grows with length, so every bin of
length has equally many sentences of each depth in every split: in the published sets, whose cells were not filled
evenly, length still tells depth (X-Probe .25-.29 of .21; RuSentEval's classes hold 10-33 %). The depths are 5-9 where
the corpus has enough of them, else as many neighbouring depths (five to two) as have enough sentences of similar
lengths: dependency trees are flatter than SentEval's constituents, small treebanks have few deep ones, and sentences of
depth 3 and 7 have hardly a length in common.
"""

import polars as pl

from discoprobe.builders.sampling.length_bins import length_stratum
from discoprobe.builders.sentences.candidates import balance_labels, unedited, usable_of, with_label_indices
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import MIN_ROWS, SPLITS
from discoprobe.builders.task import Context, ProbingTask, Sample

DEEPEST = 20
LABELS = tuple(str(depth) for depth in range(1, DEEPEST + 1))
"""All depths; a config has two to five neighbouring ones."""
USUAL = ("5", "6", "7", "8", "9")
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


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many sentences of each depth in every bin of length, in every split."""
    usable, drops = usable_of(frame, context)
    names, rows = chosen_depths(usable.filter(pl.col("label").is_in(LABELS)), context)
    drops["unbalanced"] = usable.height - rows.height
    if not names:
        least = context.settings.min_class
        reason = f"fewer than {NUMBERS[-1]} neighbouring depths have {least} sentences of similar lengths"
        return Sample(pl.DataFrame(), drops, candidates=frame.height, reason=reason)
    return Sample(unedited(rows), drops, labels=names, candidates=frame.height)


def chosen_depths(usable: pl.DataFrame, context: Context) -> tuple[tuple[str, ...], pl.DataFrame]:
    """The depths of the config, as labels, and its rows.

    They are as many depths as leave ``ENOUGH`` rows that are matched; where none do, those that leave most rows, if
    these are ``min_class`` of each; else rows that are not matched are taken too.

    Args:
        usable: candidates with ``label`` (depth), ``split`` and ``cell``.
        context: the settings, and the depths where an earlier part of the corpus decided.
    """
    if context.decided:
        return context.decided, _balanced(usable, context.decided, context, strict=True)
    sizes, least = _sizes(usable), context.settings.min_class
    enough = [run for run in sizes if sizes[run] * len(run) >= ENOUGH]
    found: dict[tuple[str, ...], pl.DataFrame] = {}
    for tried in ({USUAL} & set(enough), *([run for run in enough if len(run) == number] for number in NUMBERS)):
        found |= {run: _balanced(usable, run, context, strict=True) for run in tried if run not in found}
        run = max(tried, key=lambda run: found[run].height, default=())
        if run and found[run].height >= ENOUGH:
            return run, found[run]
    likely = [
        max((run for run in sizes if len(run) == number), key=sizes.__getitem__, default=()) for number in NUMBERS
    ]
    for strict in (True, False):
        kept = {run: found.get(run, _balanced(usable, run, context, strict=strict)) for run in likely if run}
        run = max(kept, key=lambda run: kept[run].height, default=())
        if run and kept[run].height >= least * len(run) and kept[run]["split"].n_unique() == len(SPLITS):
            return run, kept[run]
    return (), usable.clear()


def _balanced(usable: pl.DataFrame, names: tuple[str, ...], context: Context, *, strict: bool) -> pl.DataFrame:
    return balance_labels(
        with_label_indices(usable.filter(pl.col("label").is_in(names)), LABELS), context, strict=strict
    )


def _sizes(usable: pl.DataFrame) -> dict[tuple[str, ...], int]:
    """For every run of neighbouring depths, how many sentences of each there are if all cells have equally many."""
    counts = usable.group_by("cell", "label").len()
    cells = counts.pivot("label", index="cell", values="len").fill_null(0)
    present = sorted(int(name) for name in cells.columns[1:])
    runs = [tuple(map(str, range(first, first + number))) for number in NUMBERS for first in present]
    possible = [run for run in runs if set(run) <= set(cells.columns)]
    return {run: int(cells.select(pl.min_horizontal(run)).sum().item()) for run in possible}


TASK = ProbingTask(labels=LABELS, select=select, sample=sample, needs=frozenset({"deps"}), decides=True, version=3)
