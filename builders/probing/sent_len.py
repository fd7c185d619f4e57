"""How long the sentence is (SentEval, X-Probe, RuSentEval SentLen).

Words are counted as in the treebank, with symbols such as *%* and without punctuation. By default the classes are six
ranges of length that have equally many sentences in the corpus, so that no class is empty; the presets `rusenteval` and
`senteval` use the published ranges. This is a calibration task: length *is* the label, and a count of spaces solves it
almost perfectly. It shows whether a representation keeps what the other tasks are matched on.
"""

import polars as pl

from discoprobe.builders.sampling.balance import bin_of, edges, edges_of, names
from discoprobe.builders.sentences.classes import class_task, equally_many, unlabelled
from discoprobe.builders.task import Context, Sample


def ranges(usable: pl.DataFrame, context: Context) -> Sample:
    """As many rows of each range of length."""
    cuts = edges_of(context.decided) if context.decided else edges(usable["n_words"], context.settings)
    labelled = usable.with_columns(label=bin_of(pl.col("n_words"), cuts))
    return Sample(equally_many(labelled, names(cuts), context), names(cuts))


EXEMPT = {
    "length": "the length is the label",
    "punctuation": "longer sentences have more punctuation marks",
    "case": "longer sentences have more names",
    "surface": "longer sentences have more stops, quotes and dashes",
}

ASKS = "How long is the sentence?"
TASK = class_task(unlabelled, ranges, needs=["text"], each=True, exempt=EXEMPT)
