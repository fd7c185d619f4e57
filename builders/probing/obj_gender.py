"""Gender of the direct object of the main clause (RuSentEval ObjGender).

The main predicate has exactly one `obj`, a common noun with one value of Gender; the label is that value and `target`
names the noun. Coordinated and counted nouns and obliques that a treebank calls objects, by their case or adposition,
are left out, as for `obj_number`. Forms that are ambiguous in part of speech or in Gender are left out, as far as
dictionary, rules of the language and corpus show it, and no target form of the test split is a target in train.
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
    """The one direct object of the main predicate and its Gender."""
    return feature_of_noun(trees, context.language, role="obj", feature="Gender")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Gender", split_by="target",
    needs=frozenset({"upos", "feats", "deps"}),
)  # fmt: skip
