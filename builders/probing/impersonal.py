"""Is the main clause impersonal (RuSentEval ImpersonalSent)?

`impersonal`: the main predicate has no `nsubj`, `csubj` or `expl` and meets one of the language's conditions of an
impersonal clause (Russian neuter past *стемнело*, predicative *можно*). `personal`: it has an `nsubj`.
A clause without subject whose verb says that one was dropped, or does not say, is left out, so the task exists only in
languages whose data tell the two apart. The labels are balanced inside each cell of part of speech, VerbForm, Person,
Tense, Number, Gender and Voice of the root: a neuter verb, or a verb without a person, must not be the answer. Verbs
without forms (Polish *trzeba*) are left out, since no personal clause has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.predicate import meets_any, words_of_predicate
from discoprobe.builders.probes import balanced, if_enough
from discoprobe.builders.task import Arranged, Context, Task
from discoprobe.loaders.corpus import feat

if TYPE_CHECKING:
    from discoprobe.builders.tree import Trees
    from discoprobe.loaders.language import LanguageData

SUBJECTS = ("nsubj", "csubj", "expl")
FORM = ("VerbForm", "Person", "Tense", "Number", "Gender", "Voice")
"""What of the root's form is the same for both labels."""


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Main clauses with a subject, and those that take none."""
    rule = context.language.impersonal
    dropped = words_of_predicate(trees).filter(meets_any(rule.personal))["sent"]
    relation = pl.col("rel")
    subjects = trees.dependents.group_by("sent").agg(
        _subject=(relation == "nsubj").any(), _any=relation.is_in(SUBJECTS).any()
    )
    clauses = trees.roots.join(subjects, on="sent", how="left", maintain_order="left")
    has_none = ~pl.col("_any").fill_null(value=False) & ~pl.col("sent").is_in(dropped.unique().implode())
    label = (
        pl.when("_subject")
        .then(pl.lit("personal"))
        .when(has_none & meets_any(rule.impersonal))
        .then(pl.lit("impersonal"))
    )
    cell = pl.concat_str(pl.col("upos").cast(pl.String), *[feat(name).fill_null("") for name in FORM], separator=" ")
    formless = (pl.col("upos") == "VERB") & feat("VerbForm").is_null()
    return clauses.filter(~formless).select("sent", label=label, cell=cell).drop_nulls("label")


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Equally many of both labels in every cell."""
    return if_enough(balanced(frame, context), context.labels, context)


def lacks(language: LanguageData) -> str:
    """Why the language's data do not tell a dropped subject from none."""
    return "" if language.impersonal.available else language.impersonal.reason


TASK = Task(
    labels=("personal", "impersonal"), shape=Shape.SENTENCE, arrange=arrange, select=select, lacks=lacks,
    split_by="cluster", needs=frozenset({"upos", "feats", "deps"}),
)  # fmt: skip
