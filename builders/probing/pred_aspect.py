"""Aspect of the main predicate (RuSentEval PA aspect).

The label is the Aspect of the word of the main predicate that bears it, which is the root in the Slavic languages;
`target` names that word. Verbs that the treebank gives both aspects, or none, are left out, as are verbs of a clause
that is itself the predicate and forms that are ambiguous in part of speech or in Aspect, as far as dictionary, rules of
the language and corpus show it; no target form of the test split is a target in train.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.builders.config import Shape
from discoprobe.builders.predicate import feature_of_predicate, unmarked
from discoprobe.builders.probes import balanced
from discoprobe.builders.task import Context, Task

if TYPE_CHECKING:
    import polars as pl

    from discoprobe.builders.tree import Trees
    from discoprobe.loaders.language import LanguageData


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """The word of the main predicate that bears Aspect, and its value."""
    return feature_of_predicate(trees, context, feature="Aspect")


def lacks(language: LanguageData) -> str:
    """Why the language has no Aspect to probe."""
    return unmarked(language, feature="Aspect")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Aspect", split_by="target",
    needs=frozenset({"upos", "feats", "deps"}), lacks=lacks,
)  # fmt: skip
