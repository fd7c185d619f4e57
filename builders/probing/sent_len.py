"""How long the sentence is (SentEval, X-Probe, RuSentEval SentLen).

Words are counted as in the treebank, without punctuation. By default the classes are six ranges of length that have
equally many sentences in the corpus, so that no class is empty; the presets `rusenteval` and `senteval` use the
published ranges. This is a calibration task: length *is* the label, and a count of spaces solves it almost perfectly.
It shows whether a representation keeps what the other tasks are matched on.
"""

import polars as pl

from discoprobe.builders.sampling.balance import equal_counts
from discoprobe.builders.sampling.length_bins import bin_of, edges, edges_of, names
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.sentences.candidates import if_enough, unedited, usable_of, with_label_indices
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, ProbingTask, Sample


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Every sentence; the corpus decides on the classes."""
    del context
    return trees.shard.sentences.select("sent", label=pl.lit(None, pl.String))


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Equally many sentences of each range of length in every split."""
    usable, drops = usable_of(frame, context)
    of_edges = edges_of(context.decided) if context.decided else edges(usable["n_words"], context.settings)
    labels = names(of_edges)
    labelled = usable.with_columns(label=bin_of(pl.col("n_words"), of_edges))
    numbered = with_label_indices(labelled, labels)
    matched = numbered
    if context.settings.match and not context.decided:
        matched = equal_counts(numbered, "label", ["split"], *context.seed_key)
    rows = cap(matched, context.settings, *context.seed_key, by=["label"])
    drops["unbalanced"] = usable.height - rows.height
    return if_enough(Sample(unedited(rows), drops, labels, frame.height), labels, context)


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
