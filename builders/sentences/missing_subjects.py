"""Main clauses that have a subject, and those that take none, apart from those whose subject was dropped."""

from typing import ClassVar

import polars as pl

from discoprobe.builders.sentences.predicate import meets_any, words_of_predicate
from discoprobe.builders.sentences.roles import ArgumentRules
from discoprobe.builders.sentences.trees import Trees, with_dependents
from discoprobe.builders.task import Context
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import Availability, Condition


class ImpersonalRules(Availability, frozen=True):
    """The section ``[impersonal]``: which clauses without ``nsubj``, ``csubj`` and ``expl`` are impersonal.

    The conditions are on root, auxiliaries and copula.

    Attributes:
        personal: a clause in which a word meets one of them has an unexpressed personal subject and is left out.
        impersonal: else, a clause in which a word meets one of them is impersonal; any other is left out.
    """

    section: ClassVar[str] = "impersonal"
    available: bool = False
    reason: str = "no rule for this language tells a dropped personal subject from none"
    impersonal: tuple[Condition, ...] = ()
    personal: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if self.available != bool(self.impersonal):
            raise ValueError("`impersonal` needs conditions where the task is available, and only there")


SUBJECTS = ("nsubj", "csubj", "expl")
FORM = ("VerbForm", "Person", "Mood", "Tense", "Number", "Gender", "Voice")
"""What of the form of root and auxiliaries is the same for both labels."""


def personal_or_impersonal(trees: Trees, context: Context) -> pl.DataFrame:
    """Candidates: the main clauses that have a subject, ``personal``, and those that take none, ``impersonal``.

    Clauses that could have a subject that was dropped are left out. The ``cell`` says in which form root and finite
    auxiliaries are, with the lemmas of the auxiliaries.
    """
    rule = context.language.section(ImpersonalRules)
    words = trees.once(words_of_predicate)
    dropped, impersonal = (_sentences(words, meets_any(meant)) for meant in (rule.personal, rule.impersonal))
    subject = pl.col("rel") == "nsubj"
    unlike = (pl.col("upos") == "ADV") | ~context.language.section(ArgumentRules).of("nsubj").in_case()
    clauses = with_dependents(
        trees.roots, trees.dependents, subject=subject.any() & ~(subject & unlike).any(),
        any=pl.col("rel").is_in((*SUBJECTS, "ccomp")).any(),
    ).join(_helpers(words), on="sent", how="left", maintain_order="left")  # fmt: skip
    has_none = ~pl.col("any") & ~pl.col("sent").is_in(dropped) & pl.col("sent").is_in(impersonal)
    label = pl.when("subject").then(pl.lit("personal")).when(has_none).then(pl.lit("impersonal"))
    cell = pl.concat_str(_described(pl.col("upos").cast(pl.String)), pl.col("helpers").fill_null(""), separator=" + ")
    formless = (pl.col("upos") == "VERB") & feat("VerbForm").is_null()
    return clauses.filter(~formless).select("sent", label=label, cell=cell).drop_nulls("label")


def _sentences(words: pl.DataFrame, meant: pl.Expr) -> pl.Series:
    """The sentences in which a word of the predicate is ``meant``, without infinitives that have a finite auxiliary.

    Russian *будет читать* has a dropped subject, though its infinitive does not show this.
    """
    root, form = pl.col("place") == "root", feat("VerbForm")
    silent = root & (form == "Inf") & (~root & (form == "Fin")).any().over("sent")
    return words.filter(meant, ~silent.fill_null(value=False))["sent"].unique().implode()


def _helpers(words: pl.DataFrame) -> pl.DataFrame:
    """The finite auxiliaries and copulas of each predicate, as one string."""
    finite = words.filter(pl.col("place") != "root", feat("VerbForm") == "Fin").sort("sent", "index")
    return finite.group_by("sent").agg(helpers=_described(pl.col("lemma").fill_null("")).str.join(" + "))


def _described(name: pl.Expr) -> pl.Expr:
    """A word by a name and its form.

    Person=0 counts as 3: the zero person of Finnish has the form of the third (*voi*). Where it is a form of its own
    (Ukrainian *-но*), mood and tense keep it apart.
    """
    form = [feat(each).fill_null("") for each in FORM if each != "Person"]
    return pl.concat_str(name, feat("Person").replace("0", "3").fill_null(""), *form, separator=" ")
