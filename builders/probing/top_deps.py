"""Which dependents the root has, in order (UD counterpart of SentEval TopConst).

The label is the sequence of the universal relations of the root's dependents in the order of the text
(`nsubj_obj_obl`). Subtypes are ignored, and so is punctuation, as in SentEval: a class that is defined by the final
mark is not about syntax. The 19 most frequent sequences are classes, all others are `OTHER`; a corpus with too few
sentences has fewer classes. Long sentences have long sequences, so classes are matched on length and punctuation. If a
sequence would reduce the number of rows, because its sentences have other lengths, it also belongs to `OTHER`.
"""

import functools

import polars as pl

from discoprobe.builders.sentences.classes import class_task, frequent_classes
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context


def select(trees: Trees, _context: Context) -> pl.DataFrame:
    """Every sentence whose root governs more than punctuation, and the sequence."""
    spoken = trees.dependents.filter(pl.col("rel") != "punct")
    return spoken.group_by("sent", maintain_order=True).agg(label=pl.col("rel").str.join("_"))


SEQUENCES = functools.partial(frequent_classes, most=19, called="sequences")
TASK = class_task(select, SEQUENCES, needs=["deps"], version=4)
