"""Tense of the main predicate (SentEval Tense, X-Probe PastPresent, RuSentEval PV tense).

The label is the Tense of the word of the main predicate that bears it: the root, or its finite auxiliary or copula
where the language marks tense there; `target` names that word. A compound tense has the tense of its finite word (*hat
gesagt* is Pres) unless the language's data say otherwise (Catalan *va cantar* and Croatian *je radio* are Past; then
the main verb is the target); a conditional or subjunctive, whose past is no past (Russian *написал бы*, German
*könnte*), is left out, and so are a Turkish verb with the past copula (*anlatırdı*, an aorist that is no present) and a
clause whose predicate is a clause (*the best was that they agree*). SentEval and X-Probe know past and present alone;
here every tense that is frequent enough is a class. Forms that are ambiguous in part of speech or in Tense are left
out, as far as dictionary, rules of the language and corpus show it, and no target form of the test split is a target in
train: else the tense of a sentence is read off remembered verbs (character n-grams reach 85 % to 98 %).
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
    """The word of the main predicate that bears Tense, and its value."""
    return feature_of_predicate(trees, context, feature="Tense")


def lacks(language: LanguageData) -> str:
    """Why the language has no Tense to probe."""
    return unmarked(language, feature="Tense")


TASK = Task(
    labels=(), shape=Shape.SENTENCE, arrange=balanced, select=select, feature="Tense", split_by="target",
    needs=frozenset({"upos", "feats", "deps"}), lacks=lacks,
)  # fmt: skip
