"""Words in a syntactic role, and their features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from discoprobe.loaders.corpus import feat

if TYPE_CHECKING:
    from discoprobe.builders.tree import Trees

CLAUSE_ROLES: Final = ("nsubj", "obj", "iobj", "obl", "advmod", "aux", "cop", "xcomp", "ccomp", "advcl")
"""Relations that a word bears to the main predicate; subtypes count (``nsubj:pass``)."""

PHRASE_ROLES: Final = ("nmod", "amod", "det", "nummod", "acl", "appos", "conj", "case")
"""Relations inside phrases: the word may stand anywhere in the sentence."""

NOT_SIMPLE: Final = ("conj", "nummod")
"""Dependents by which the number of a phrase differs from its noun's: *the cat and the dog*, Turkish *üç adam* (three
man), Russian *два стола* (two table's)."""


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


def feature_of_noun(trees: Trees, role: str, feature: str) -> pl.DataFrame:
    """Candidates: the one word in a role of the main predicate, a common noun, labelled with its value of a feature.

    Words with several values (``Gender=Fem,Masc``) or none are no candidates; where Number is asked for, neither are
    nouns that are coordinated or counted.
    """
    nouns = bearers(trees, role).filter(pl.col("upos") == "NOUN", valued(feature))
    if feature == "Number":
        nouns = nouns.join(_complex(trees), on="row", how="anti", maintain_order="left")
    return nouns.select("sent", label=feat(feature), target="row")


def _complex(trees: Trees) -> pl.DataFrame:
    """Words whose phrase has a number of its own."""
    return (
        trees.words.filter(pl.col("rel").is_in(NOT_SIMPLE))
        .select(row=pl.col("head_row").cast(trees.words.schema["row"]))
        .unique()
    )
