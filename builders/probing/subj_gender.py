"""Gender of the subject of the main clause (RuSentEval SubjGender).

The main predicate has exactly one `nsubj`, a common noun with one value of Gender; the label is that value and `target`
names the noun. The values are the treebank's (Com and Neut in Swedish); one that is too rare to be balanced is left
out, where RuSentEval always leaves out the neuter. Nouns that are coordinated or counted, that have an adposition or
that are in a case that no subject has are left out, as for `subj_number`: the verb does not agree with them. Forms that
are ambiguous in part of speech or in Gender are left out, as far as dictionary, rules of the language and corpus show
it, and no target form of the test split is a target in train.
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
    """The one subject of the main predicate and its Gender."""
    return feature_of_noun(trees, context.language, role="nsubj", feature="Gender")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Gender", split_by="target",
    needs=frozenset({"upos", "feats", "deps"}),
)  # fmt: skip
