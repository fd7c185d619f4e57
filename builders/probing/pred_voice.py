"""Voice of the main predicate (RuSentEval PV voice).

A clause is Pass where one of the language's marks says so: a passive auxiliary (`aux:pass`), a passive subject
(`nsubj:pass`), Voice=Pass of the root, or an auxiliary such as Spanish *ser* with a participle, and the root has a form
that can be passive (in German a participle, not *zu erreichen*). It is Act where the root is a verb that could be
passive and nothing leaves the voice undecided, as a reflexive does in many languages, or a passive infinitive below the
root. Other clauses are left out, as are those with a copula, whose root is a state (*is closed*), an infinitive or the
verb of a clause that is itself the predicate. In a language without data the label is Voice of the root. `target` is
the root. Forms that are ambiguous in part of speech or in Voice are left out, as far as dictionary, rules of the
language and corpus show it, and no target form of the test split is a target in train.
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
    """The main predicate and its voice."""
    return feature_of_predicate(trees, context, feature="Voice")


def lacks(language: LanguageData) -> str:
    """Why the language has no Voice to probe."""
    return unmarked(language, feature="Voice")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Voice", split_by="target",
    needs=frozenset({"upos", "deps"}), lacks=lacks,
)  # fmt: skip
