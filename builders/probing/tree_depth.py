"""How deep the dependency tree is (SentEval, X-Probe, RuSentEval TreeDepth).

The label is the number of edges on the longest path from the root to a word. Depth grows with length, so every bin of
length has equally many sentences of each depth in every split: in the published sets, whose cells were not filled
evenly, length still tells depth (X-Probe .25-.29 of .21; RuSentEval's classes hold 10-33 %). The depths are 5-9 where
the corpus has enough of them, else the five (four, three) neighbouring depths that give most rows: dependency trees are
flatter than SentEval's constituents, and small treebanks have few deep ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders.sampling.length_bins import length_stratum
from discoprobe.builders.sentences.candidates import balance_labels, unedited, usable_of, with_label_indices
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Context, ProbingTask, Sample

if TYPE_CHECKING:
    from discoprobe.builders.sentences.trees import Trees

DEEPEST = 20
LABELS = tuple(str(depth) for depth in range(1, DEEPEST + 1))
"""All depths; a config has three to five neighbouring ones."""
USUAL = (5, 6, 7, 8, 9)
"""RuSentEval's depths."""
NUMBERS = (5, 4, 3)
"""How many neighbouring depths a config may have."""
ENOUGH = 100
"""Sentences of each depth from which on a number of depths, or the usual ones, are taken though others give more."""


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Every sentence that has a tree, its depth, and as ``cell`` the stratum of its length."""
    depth = trees.words.group_by("sent", maintain_order=True).agg(
        pl.col("depth").max(), complete=pl.col("depth").is_not_null().all()
    )
    length = trees.shard.sentence_lengths().select("sent", cell=length_stratum(context.settings))
    labelled = depth.filter("complete").select("sent", label=pl.col("depth").cast(pl.String))
    return labelled.join(length, on="sent", maintain_order="left")


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many sentences of each depth in every bin of length, in every split."""
    usable, drops = usable_of(frame, context)
    names = context.decided or chosen_depths(usable.filter(pl.col("label").is_in(LABELS)), context.settings.min_class)
    if not names:
        reason = (
            f"no {NUMBERS[-1]} neighbouring depths have {context.settings.min_class} sentences each of like lengths"
        )
        return Sample(pl.DataFrame(), drops, candidates=frame.height, reason=reason)
    numbered = with_label_indices(usable.filter(pl.col("label").is_in(names)), LABELS)
    kept = balance_labels(numbered, context)
    drops["unbalanced"] = usable.height - kept.height
    return Sample(unedited(kept), drops, labels=names, candidates=frame.height)


def chosen_depths(usable: pl.DataFrame, least: int) -> tuple[str, ...]:
    """The depths of the config, as labels; none where three neighbouring ones cannot be balanced.

    Args:
        usable: candidates with ``label`` (depth), ``split`` and ``cell``.
        least: fewest sentences of each depth.
    """
    sizes = _sizes(usable)
    if sizes.get(USUAL, 0) >= ENOUGH:
        return tuple(map(str, USUAL))
    for enough in (ENOUGH, least):
        for number in NUMBERS:
            best = max((run for run in sizes if len(run) == number), key=lambda run: sizes[run], default=())
            if sizes.get(best, 0) >= enough:
                return tuple(map(str, best))
    return ()


def _sizes(usable: pl.DataFrame) -> dict[tuple[int, ...], int]:
    """For every run of neighbouring depths, how many sentences of each balancing leaves."""
    counts = usable.group_by("split", "cell", "label").len()
    cells = counts.pivot("label", index=["split", "cell"], values="len").fill_null(0)
    present = sorted(int(name) for name in cells.columns[2:])
    runs = [tuple(range(first, first + number)) for number in NUMBERS for first in present]
    return {run: _size(cells, run) for run in runs if set(run) <= set(present)}


def _size(cells: pl.DataFrame, run: tuple[int, ...]) -> int:
    """Sentences of each depth after balancing; 0 where a split has none."""
    least = cells.select("split", n=pl.min_horizontal([str(depth) for depth in run]))
    kept = least.group_by("split").agg(pl.col("n").sum()).filter(pl.col("n") > 0)
    return int(kept["n"].sum()) if kept.height == len(SPLITS) else 0


TASK = ProbingTask(labels=LABELS, select=select, sample=sample, needs=frozenset({"deps"}), decides=True, version=2)
