"""Number of the direct object of the main clause (SentEval, X-Probe, RuSentEval ObjNumber).

The main predicate has exactly one `obj`, a common noun with one value of Number; the label is that value and `target`
names the noun. Coordinated and counted nouns are left out, as for `subj_number`, and so are obliques that a treebank
calls objects: nouns in a case that no direct object has (a Turkish dative) or with an adposition other than a mark of
objects (Romanian *pe*, Persian *را*); Spanish *a* marks both and is none. Forms that are ambiguous in part of speech or
in Number are left out, as far as dictionary, rules of the language and corpus show it; no target form of the test split
is a target in train.
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
    return feature_of_noun(trees, context.language, role="obj", feature="Number")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Number", split_by="target",
    needs=frozenset({"upos", "feats", "deps"}),
)  # fmt: skip
