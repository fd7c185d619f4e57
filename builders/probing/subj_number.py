"""Number of the subject of the main clause (SentEval, X-Probe, RuSentEval SubjNumber).

The main predicate has exactly one `nsubj`, a common noun with one value of Number; the label is that value and `target`
names the noun. Nouns that are coordinated (*the cat and the dog*) or counted by a numeral (Russian *два стола*, Turkish
*üç adam*) are left out: the number of such a phrase is not that of its noun; and so are those with an adposition or in
a case that no subject has (a Russian genitive), with which the verb does not agree. Forms that are ambiguous in part of
speech or in Number are left out, as far as dictionary, rules of the language and corpus show it, and no target form of
the test split is a target in train: SentEval and X-Probe repeat their nouns, so that a model may remember them. Labels
are balanced inside strata of length, which gives X-Probe's away.
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
    """The one subject of the main predicate and its Number."""
    return feature_of_noun(trees, context.language, role="nsubj", feature="Number")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Number", split_by="target",
    needs=frozenset({"upos", "feats", "deps"}),
)  # fmt: skip
