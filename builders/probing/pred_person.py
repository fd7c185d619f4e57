"""Person of the main predicate (beside RuSentEval's tense, aspect and voice).

The label is the Person of the word of the main predicate that bears it: the root, or its finite auxiliary or copula;
`target` names that word. It is read from forms that show it alone (English *am*, *reads*, not *tested*), not from a
Turkish verb whose ending is a copula of another person, nor from the verb of a clause that is itself the predicate.
Forms that are ambiguous in part of speech or in Person (Spanish *cantaba*) are left out, as far as dictionary, rules of
the language and corpus show it, and no target form of the test split is a target in train.
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
    """The word of the main predicate that bears Person, and its value."""
    return feature_of_predicate(trees, context, feature="Person")


def lacks(language: LanguageData) -> str:
    """Why the language has no Person to probe."""
    return unmarked(language, feature="Person")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Person", split_by="target",
    needs=frozenset({"upos", "feats", "deps"}), lacks=lacks,
)  # fmt: skip
