"""How deep the dependency tree is (SentEval, X-Probe, RuSentEval TreeDepth).

The label is the number of edges on the longest path from the root to a word. Depth grows with length, so every bin of
length has equally many sentences of each depth in every split. (In the published sets, length predicts depth.) The
classes are the depths 5 to 9 if the corpus has enough sentences of each. Otherwise they are two to five neighbouring
depths, as many as have enough sentences of similar lengths. This is often needed: dependency trees are flatter than
SentEval's constituency trees, and sentences of depth 3 and of depth 7 rarely have the same length.
"""

import functools

import polars as pl

from discoprobe.builders.sampling.balance import length_stratum
from discoprobe.builders.sentences.classes import class_task, neighbouring_classes
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Every sentence that has a tree, its depth, and as ``cell`` the stratum of its length."""
    depth = trees.sentence_depths.select("sent", label=pl.col("depth").cast(pl.String))
    length = trees.shard.sentence_facts().select("sent", cell=length_stratum(context.settings))
    return depth.join(length, on="sent", maintain_order="left")


DEPTHS = functools.partial(neighbouring_classes, usual=("5", "6", "7", "8", "9"), called="depths")
ASKS = "How deep is the tree?"
TASK = class_task(select, DEPTHS, needs=["deps"], labels=tuple(map(str, range(1, 21))), decides=True, version=3)
