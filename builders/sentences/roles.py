"""Words in a syntactic role, and their features."""

import functools
from typing import ClassVar, Final

import msgspec
import polars as pl

from discoprobe.builders.sentences.candidates import feature_task
from discoprobe.builders.sentences.feature_values import labelled
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, ProbingTask
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import LanguageSection

CLAUSE_ROLES: Final = ("nsubj", "obj", "iobj", "obl", "advmod", "aux", "cop", "xcomp", "ccomp", "advcl")
"""Relations that a word bears to the main predicate; subtypes count (``nsubj:pass``)."""

PHRASE_ROLES: Final = ("nmod", "amod", "det", "nummod", "acl", "appos", "conj", "case")
"""Relations inside phrases: the word may stand anywhere in the sentence."""

NOT_SIMPLE: Final = ("conj", "nummod")
"""Dependents by which a phrase agrees otherwise than its noun would: *the cat and the dog*, Turkish *üç adam* (three
man), Russian *погибло 500 человек* (a neuter verb)."""


class Argument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a noun looks like that is a subject or an object, and not an oblique that the treebank calls one.

    Attributes:
        cases: the values of Case that it may have, if it has one (empty: any).
        markers: lemmas of the adpositions that may mark it (Romanian *pe*, Hindi *को*); one with another is left out.
    """

    cases: frozenset[str] = frozenset()
    markers: frozenset[str] = frozenset()

    def in_case(self) -> pl.Expr:
        """Whether a word has one of the cases, or none."""
        if not self.cases:
            return pl.lit(value=True)
        shared = feat("Case").str.split(",").list.set_intersection(sorted(self.cases))
        return (shared.list.len() > 0).fill_null(value=True)


class ArgumentRules(LanguageSection, frozen=True):
    """The section ``[arguments]``: how subjects and objects are marked."""

    section: ClassVar[str] = "arguments"
    nsubj: Argument = Argument()
    obj: Argument = Argument()

    def of(self, role: str) -> Argument:
        """The rule for a role; one that admits every noun, where the section has none for the role."""
        return {"nsubj": self.nsubj, "obj": self.obj}.get(role, Argument())


def bearers(trees: Trees, role: str) -> pl.DataFrame:
    """The words that fill a role where exactly one word of the sentence does: columns of ``Trees.words``.

    ``role`` is ``root``, one of ``CLAUSE_ROLES`` (borne to the main predicate) or one of ``PHRASE_ROLES``.
    """
    if role == "root":
        return trees.roots
    words = trees.dependents if role in CLAUSE_ROLES else trees.words
    filling = words.filter(pl.col("rel") == role)
    return filling.filter(pl.len().over("sent") == 1)


def valued(feature: str) -> pl.Expr:
    """Whether a word has exactly one value of a feature and is spelled out."""
    value = feat(feature)
    return value.is_not_null() & ~value.str.contains(",", literal=True) & spelled_out()


def spelled_out() -> pl.Expr:
    """Whether a word is no abbreviation or symbol, whose form does not show the feature.

    Not all are marked with Abbr: Russian *см.*, French *M.*, the function *F*, the road *A36*.
    """
    form, noun = pl.col("form"), (pl.col("upos") == "NOUN").fill_null(value=False)
    symbol = ~form.str.contains(r"\p{L}") | (noun & form.str.contains(r"^\p{Lu}\d*$"))
    return feat("Abbr").is_null() & ~symbol & ~form.str.contains(".", literal=True)


def feature_of_noun(trees: Trees, context: Context, *, role: str, feature: str) -> pl.DataFrame:
    """Candidates: the one word in a role of the main predicate, a common noun, labelled with its value of a feature.

    No candidates are words with several values (``Gender=Fem,Masc``) or none, nouns that are coordinated or counted
    (also by a determiner that decides on their case, Polish *kilka kroków*), and those that the language's data show to
    be obliques: by an adposition, or by a case that the role has not.
    """
    rule = context.language.section(ArgumentRules).of(role)
    marker = pl.col("lemma").is_in(sorted(rule.markers)).fill_null(value=False)
    not_simple = pl.col("rel").is_in(NOT_SIMPLE) | ((pl.col("rel") == "case") & ~marker)
    return (
        bearers(trees, role)
        .filter(pl.col("upos") == "NOUN", valued(feature), rule.in_case())
        .join(trees.governing(not_simple), on="row", how="anti", maintain_order="left")
        .join(_counting(trees), on="row", how="left", maintain_order="left")
        .filter((pl.col("case_of_counting") == feat("Case").fill_null("")).fill_null(value=True))
        .select("sent", *labelled(feat(feature), feature), target="row")
    )


def noun_feature(role: str, feature: str, companions: tuple[str, ...] = ()) -> ProbingTask:
    """A task on a feature of the one common noun that bears a role to the main predicate.

    Args:
        role: a universal relation, ``nsubj`` or ``obj``.
        feature: a feature of Universal Dependencies, such as ``Number``.
        companions: features of the noun within whose values labels are balanced, where the treebank allows it.
    """
    return feature_task(feature, functools.partial(feature_of_noun, role=role), companions=companions, version=4)


def _counting(trees: Trees) -> pl.DataFrame:
    """The ``row`` of every word that a determiner counts, and the case of that, empty for one that governs the noun."""
    case = pl.when(pl.col("deprel") == "det:numgov").then(pl.lit("")).otherwise(feat("Case"))
    counting = trees.words.filter(pl.col("rel") == "det", (feat("NumType") == "Card") | (case == ""))
    heads = counting.select(row="head_row", case_of_counting=case)
    return heads.drop_nulls().unique("row", maintain_order=True)
