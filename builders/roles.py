"""Words in a syntactic role, and their features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from discoprobe.loaders.corpus import feat
from discoprobe.loaders.language import Argument

if TYPE_CHECKING:
    from discoprobe.builders.tree import Trees
    from discoprobe.loaders.language import LanguageData

CLAUSE_ROLES: Final = ("nsubj", "obj", "iobj", "obl", "advmod", "aux", "cop", "xcomp", "ccomp", "advcl")
"""Relations that a word bears to the main predicate; subtypes count (``nsubj:pass``)."""

PHRASE_ROLES: Final = ("nmod", "amod", "det", "nummod", "acl", "appos", "conj", "case")
"""Relations inside phrases: the word may stand anywhere in the sentence."""

NOT_SIMPLE: Final = ("conj", "nummod")
"""Dependents by which a phrase agrees otherwise than its noun would: *the cat and the dog*, Turkish *üç adam* (three
man), Russian *погибло 500 человек* (a neuter verb)."""


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


def feature_of_noun(trees: Trees, language: LanguageData, *, role: str, feature: str) -> pl.DataFrame:
    """Candidates: the one word in a role of the main predicate, a common noun, labelled with its value of a feature.

    No candidates are words with several values (``Gender=Fem,Masc``) or none, nouns that are coordinated or counted,
    and those that the language's data show to be obliques: by an adposition, or by a case that the role has not.
    """
    rule = language.arguments.get(role, Argument())
    cases = feat("Case").str.split(",")
    in_case = cases.list.set_intersection(sorted(rule.cases)).list.len() > 0 if rule.cases else pl.lit(value=True)
    marker = pl.col("lemma").is_in(sorted(rule.markers)).fill_null(value=False)
    not_simple = pl.col("rel").is_in(NOT_SIMPLE) | ((pl.col("rel") == "case") & ~marker)
    return (
        bearers(trees, role)
        .filter(pl.col("upos") == "NOUN", valued(feature), in_case.fill_null(value=True))
        .join(_heads_of(trees, not_simple), on="row", how="anti", maintain_order="left")
        .select("sent", label=feat(feature), target="row")
    )


def _heads_of(trees: Trees, dependents: pl.Expr) -> pl.DataFrame:
    """The ``row`` of every word that has one of these dependents."""
    heads = trees.words.filter(dependents).select(row=pl.col("head_row").cast(trees.words.schema["row"]))
    return heads.drop_nulls().unique()
