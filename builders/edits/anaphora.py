"""Anaphoric words, and which of them refer to the clause before theirs.

One reader judged inversions of clauses. Without a rule, 30 of 77 were good sentences (*Kenseth walked away, and the car
burst into flames*); where a word of the second clause refers to the first, 15 of 57 were, and with stricter rules 18 of
55 and 15 of 44.
"""

import functools
from typing import ClassVar

import polars as pl

from discoprobe.builders.sentences.feature_values import has
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import Availability, LanguageData

NOUNS, OBJECTS = ("NOUN", "PROPN"), ("obj", "iobj")


class CoordInvRules(Availability, frozen=True):
    """The section ``[coord_inv]``: whether clauses can be exchanged, and words that need another clause before theirs.

    Attributes:
        anaphoric: lemmas and forms of anaphoric words.
    """

    section: ClassVar[str] = "coord_inv"
    anaphoric: frozenset[str] = frozenset()


def with_ties(words: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """Adds ``ties``: whether a word refers to something before its clause; for the second clause, to the first one.

    In the first clause these are demonstrative determiners, and anaphors without a noun before them in the clause (an
    object of the predicate may follow a noun, unless it doubles a noun object: *el límite sur lo forma la costa*). In
    the second clause, an anaphor must also be a possessive or depend on the predicate, and agree with a subject or
    object of the first clause; a demonstrative must be a pronoun with gender, because *this* can refer to anything. A
    word with a relative clause of its own, or before a noun with one, does not count.
    """
    rel, upos = pl.col("rel"), pl.col("upos").cast(pl.String)
    anaphor = is_anaphoric("", language) & (rel != "expl")
    own = pl.col("depth") == 1 + pl.col("second").cast(pl.Int64)
    described = words.filter(rel == "acl")["head_row"].unique().implode()
    described_self = pl.when(upos == "DET").then("head_row").otherwise("row").is_in(described)
    noun = upos.is_in(NOUNS) | ((rel == "nsubj") & ~has("Person", "1", "2"))
    after_noun = noun.fill_null(value=False).cum_sum().shift(1, fill_value=0).over("sent", "second") > 0
    doubles = (own & rel.is_in(OBJECTS) & upos.is_in(NOUNS)).cum_sum().over("sent", "second") > 0
    free = anaphor & ~(after_noun & ~(own & rel.is_in(OBJECTS) & ~doubles))
    pointing = has("PronType", "Dem")
    certain = ~pointing | (has("Gender", "Com", "Fem", "Masc") & (upos != "DET"))
    of_first = free & certain & (own | has("Poss", "Yes")) & _agrees(words, own)
    ties = pl.when("second").then(of_first).otherwise(free | ((upos == "DET") & pointing)) & ~described_self
    return words.with_columns(ties=ties.fill_null(value=False))


def _agrees(words: pl.DataFrame, own: pl.Expr) -> pl.Expr:
    """Whether a subject or object of the first clause, or what is coordinated with one, agrees with a word."""
    rel, upos = pl.col("rel"), pl.col("upos").cast(pl.String)
    argument = ~pl.col("second") & own & rel.is_in(("nsubj", *OBJECTS))
    arguments = words.filter(argument)["row"].implode()
    in_first = upos.is_in(NOUNS) & (argument | ((rel == "conj") & pl.col("head_row").is_in(arguments)))
    owned = (upos != "PRON") & has("Poss", "Yes")
    number = pl.when(owned).then(feat("Number[psor]")).otherwise(feat("Number"))
    nouns, plurals = (kind.sum().over("sent") for kind in (in_first, in_first & has("Number", "Plur")))
    plural, singular = (plurals > 0) | (nouns > 1), nouns > plurals
    numbered = (in_first & feat("Number").is_not_null()).any().over("sent")
    unknown = (nouns > 0) & (feat("Gender").is_not_null() | ~numbered)
    agrees = pl.when(number == "Plur").then(plural).when(number == "Sing").then(singular).otherwise(unknown)
    for gender in ("Masc", "Fem"):
        of_gender = in_first & ((upos == "PROPN") | has("Gender", gender))
        agrees &= of_gender.any().over("sent") | ~((upos == "PRON") & has("Gender", gender))
    return agrees


def is_anaphoric(side: str, language: LanguageData) -> pl.Expr:
    """Whether a word, or the first one of a ``side``, is an anaphor.

    These are personal pronouns of the third person, demonstrative pronouns, possessives of neither the first nor the
    second person, and pronouns and determiners that the language data list. Reflexives do not count, because they refer
    to their own clause; nor do articles that look like a listed word (*der*).
    """
    upos, feats = pl.col(f"{side}upos").cast(pl.String), f"{side}feats"
    of = functools.partial(has, column=feats)
    other_pronoun = of("PronType", "Art", "Emp", "Ind", "Int", "Neg", "Rcp", "Rel", "Tot")
    reflexive, listed = of("Reflex", "Yes"), sorted(language.section(CoordInvRules).anaphoric)
    pronoun = (upos == "PRON") & ((of("Person", "3") & ~other_pronoun) | of("PronType", "Dem"))
    speaker = of("Person", "1", "2") | of("Person[psor]", "1", "2")
    owner = upos.is_in(["DET", "PRON", "ADJ"]) & of("Poss", "Yes") & ~speaker
    article = of("PronType", "Art") | (feat("Definite", feats).is_not_null() & feat("PronType", feats).is_null())
    homonym = ((upos == "DET") & article) | ~upos.is_in(["PRON", "DET"])
    named = pl.any_horizontal(pl.col(f"{side}lemma", f"{side}form").str.to_lowercase().is_in(listed))
    return (pronoun | owner | (named & ~homonym)) & ~reflexive
