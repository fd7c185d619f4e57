"""Mood of the main predicate (beside RuSentEval's tense, aspect and voice).

The label is the Mood of the word of the main predicate that bears it: the root, or its auxiliary or copula (Russian
*бы* makes the conditional); `target` names that word. Moods that are too rare to be balanced are left out, and so are
verbs of a clause that is itself the predicate. Forms that are ambiguous in part of speech or in Mood are left out, as
far as dictionary, rules of the language and corpus show it, and no target form of the test split is a target in train.
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
    """The word of the main predicate that bears Mood, and its value."""
    return feature_of_predicate(trees, context, feature="Mood")


def lacks(language: LanguageData) -> str:
    """Why the language has no Mood to probe."""
    return unmarked(language, feature="Mood")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Mood", split_by="target",
    needs=frozenset({"upos", "feats", "deps"}), lacks=lacks,
)  # fmt: skip
