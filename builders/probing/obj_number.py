"""Number of the direct object of the main clause (SentEval, X-Probe, RuSentEval ObjNumber).

The main predicate has exactly one `obj`, a common noun with one value of Number; the label is that value and `target`
names the noun. Coordinated and counted nouns are left out, as for `subj_number`, and so are forms that are ambiguous in
part of speech or in Number; no target form of the test split is a target in train.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.builders.config import Shape
from discoprobe.builders.probes import balanced
from discoprobe.builders.roles import feature_of_noun
from discoprobe.builders.task import Context, Task

if TYPE_CHECKING:
    import polars as pl

    from discoprobe.builders.tree import Trees


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """The one direct object of the main predicate and its Number."""
    del context
    return feature_of_noun(trees, "obj", "Number")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Number", split_by="target",
    needs=frozenset({"upos", "feats", "deps"}),
)  # fmt: skip
