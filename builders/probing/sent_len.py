"""How long the sentence is (SentEval, X-Probe, RuSentEval SentLen).

Words are counted as in the treebank, without punctuation. By default the classes are six ranges of length that have
equally many sentences in the corpus, so that no class is empty; the presets `rusenteval` and `senteval` use the
published ranges. This is a calibration task: length *is* the label, and a count of spaces solves it almost perfectly.
It shows whether a representation keeps what the other tasks are matched on.
"""

import polars as pl

from discoprobe.builders.sampling.length_bins import bin_of, edges, edges_of, names
from discoprobe.builders.sentences.candidates import Classes, balanced_classes, equally_many, if_enough
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, ProbingTask, Sample


def select(trees: Trees, _context: Context) -> pl.DataFrame:
    """Every sentence; the corpus decides on the classes."""
    return trees.shard.sentences.select("sent", label=pl.lit(None, pl.String))


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many sentences of each range of length in every split."""
    made = balanced_classes(frame, context, ranges)
    return if_enough(made, made.labels, context)


def ranges(usable: pl.DataFrame, context: Context) -> Classes:
    """The ranges of length, and as many rows of each."""
    cuts = edges_of(context.decided) if context.decided else edges(usable["n_words"], context.settings)
    labelled = usable.with_columns(label=bin_of(pl.col("n_words"), cuts))
    return Classes(names(cuts), equally_many(labelled, names(cuts), context))


TASK = ProbingTask(
    select=select,
    sample=sample,
    needs=frozenset({"text"}),
    exempt={
        "length": "the length is the label",
        "punctuation": "longer sentences have more punctuation marks",
        "case": "longer sentences have more names",
    },
)
