"""How long the sentence is (SentEval, X-Probe, RuSentEval SentLen).

Six bins of equal width over the permitted lengths: 5-25 words make 5-8, 9-11, 12-15, 16-18, 19-22 and 23-25
(RuSentEval). Length is counted in syntactic words of the treebank, punctuation included. This is a calibration task:
length *is* the label, and a count of spaces solves it almost perfectly; it shows whether a representation keeps what
other tasks are matched on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.builders.config import Shape
from discoprobe.builders.lengths import bins, length_bin
from discoprobe.builders.probes import cap_labels, finished, if_enough, usable_of, with_numbers
from discoprobe.builders.sampling import equalise
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    import polars as pl

    from discoprobe.builders.tree import Trees


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Every sentence and the bin of its length; null for one that is not of a permitted length."""
    return trees.shard.sentences.select("sent", label=length_bin(context.settings))


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Equally many sentences of each bin in every split."""
    usable, drops = usable_of(frame, context)
    names = tuple(dict.fromkeys(bins(context.settings).values()))
    numbered = with_numbers(usable, names)
    even = equalise(numbered, "label", ["split"], *context.salt) if context.settings.match else numbered
    kept = cap_labels(even, context)
    drops["unbalanced"] = numbered.height - kept.height
    made = Arranged(finished(kept), drops, labels=names, candidates=frame.height)
    return if_enough(made, names, context)


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=arrange, select=select, split_by="cluster", needs=frozenset({"text"}),
    exempt={
        "length": "the length is the label",
        "punctuation": "longer sentences have more marks",
        "case": "longer sentences have more names",
    },
)  # fmt: skip
