"""Whether the dependency tree is shallow or deep: at most three edges from the root to a word, or six and more.

SentEval's TreeDepth with a gap: of automatic trees 37 to 58 % have another depth than the treebank, but few are on the
other side of the gap, so that this task can be filled with automatic annotation (a deep tree may then have five edges
in a treebank). Depth grows with length: of each number of words equally many sentences of both classes are used.
"""

import polars as pl

from discoprobe.builders.probing import tree_depth
from discoprobe.builders.sentences.candidates import balanced
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, ProbingTask

SHALLOW = 3
DEEP = 6


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Every sentence that has a tree, and as ``cell`` its number of words; none inside the gap can be used."""
    depth = pl.col("label").cast(pl.Int64)
    side = pl.when(depth <= SHALLOW).then(pl.lit("shallow")).when(depth >= DEEP).then(pl.lit("deep"))
    between = pl.when((depth > SHALLOW) & (depth < DEEP)).then(pl.lit("between-classes"))
    words = trees.shard.sentence_facts().select("sent", cell=pl.col("n_words").cast(pl.String))
    of_depth = tree_depth.select(trees, context).drop("cell").with_columns(hindrance=between, label=side)
    return of_depth.join(words, on="sent", maintain_order="left")


ASKS = "Shallow or deep tree?"
TASK = ProbingTask(
    select=select, sample=balanced, labels=("shallow", "deep"), needs=frozenset({"deps"}),
    reasons={"between-classes": "a tree of four or five edges, between the classes"},
    version=2,
)  # fmt: skip
