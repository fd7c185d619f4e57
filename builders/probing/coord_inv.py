"""Whether two coordinated clauses have changed places (SentEval, X-Probe CoordInv).

The sentence consists of two full clauses, each with its own subject, joined by one coordinating conjunction. In
`inverted` the clauses are exchanged (*Ann left and Bob missed her.* - *Bob missed her and Ann left.*); the conjunction,
the punctuation beside it and the final punctuation stay in their places. The clause that now comes first gets a
capital. The other one loses its capital, unless its first word is a name or has a capital in its lemma (*I*, German
nouns). X-Probe lower-cased names and acronyms and treated verb phrases as clauses, so that the first word alone tells
the label (*Was*: 676 of 682). Sentences with quotes or brackets are left out.

The order of the clauses must be fixed: the second clause contains a pronoun or possessive that refers to a subject or
object of the first clause, and the first clause contains no such word. The word agrees with its antecedent; it depends
on the predicate, or is the possessive of a word that depends on it; and no noun comes before it in its own clause,
unless it is an object. It is never the first word of the clause, since it would then be the first word of the inverted
sentence. Words that can also refer to an earlier sentence do not count: *then*, *also*, *this mineral*.

Original and inverted sentence share `pair_id`. Sentences are chosen so that neither the lengths of the clauses nor the
parts of speech with which they begin tell the order.

One reader judged sentences that were not used to develop the rule. Of 30 inversions shown alone, the reader took 3 for
originals; of 57 pairs, the reader found the original in 56. But 15 of these 57 inversions (26 %, 17 to 39) would be
possible in a text, after sentences that name the antecedent of the pronoun. If this matters to you, compare the two
rows of a pair. Without the rule, 30 of 77 inversions were good sentences (*Kenseth walked away, and the car burst into
flames*); with stricter rules 18 of 55 and 15 of 44 were. Few sentences remain: one of 241 coordinations in English
treebanks.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.sentences.candidates import original_and_edited, usable_of
from discoprobe.builders.sentences.clauses import clause_words
from discoprobe.builders.sentences.connectives import Connectives
from discoprobe.builders.sentences.feature_values import has
from discoprobe.builders.sentences.swaps import word_bags
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Edit, ProbingTask, Sample
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import Availability, LanguageData


class CoordInvRules(Availability, frozen=True):
    """The section ``[coord_inv]``: whether clauses can be exchanged, and words that need another clause before theirs.

    Attributes:
        anaphoric: lemmas and forms of anaphoric words.
    """

    section: ClassVar[str] = "coord_inv"
    anaphoric: frozenset[str] = frozenset()


LABELS = ("original", "inverted")
PAIRED = r"""["«»„“”‘’「」『』‹›()\[\]{}（）]"""
"""Marks that come in pairs; a clause could take one of them along."""
LONGER = (1, 4, 8)
"""Differences in words. That a clause is longer by at least one of these must not tell the order."""
NOUNS, OBJECTS = ("NOUN", "PROPN"), ("obj", "iobj")
PLACES = ("a_start", "a_end", "b_start", "b_end")
PLAN = pl.Struct(dict.fromkeys(PLACES, pl.Int64) | {"a_head": pl.String, "b_head": pl.String})


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """Sentences of two clauses that can be exchanged."""
    words = trees.once(clause_words)
    joined = _coordinations(words)
    second = pl.Series(trees.descends_from(joined["row"].to_numpy()) >= 0)
    placed = words.with_columns(second=second).join(joined.select("sent", "cc_index"), on="sent", maintain_order="left")
    clauses = _clauses(_with_ties(placed, context.language)).filter(
        *(_independent(side, context.language) for side in "ab"), pl.col("b_tied"), ~pl.col("a_tied")
    )
    found = trees.with_text(clauses).filter(~pl.col("text").str.contains(PAIRED))
    plans = pl.Series("plan", [_heads(row, context.language) for row in found.to_dicts()], dtype=PLAN)
    longer = pl.col("a_n") - pl.col("b_n")
    candidates = found.select("sent", "a_upos", "b_upos", plans, longer=longer, label=pl.lit(LABELS[0]))
    return candidates.join(trees.once(word_bags), on="sent", how="left", maintain_order="left")


def _coordinations(words: pl.DataFrame) -> pl.DataFrame:
    """The one clause coordinated with the main one, where both have subjects and one word is their conjunction.

    ``sent``, ``row``, and ``cc_index`` of the conjunction. No third clause with a subject is coordinated; phrases
    inside the two may have conjunctions of their own.
    """
    nested = words.filter(pl.col("rel") == "conj", pl.col("depth") > 1, "subject", "clausal").select("sent")
    conj = words.filter(pl.col("rel") == "conj", pl.col("depth") == 1).filter(pl.len().over("sent") == 1)
    roots = words.filter(pl.col("head") == 0, pl.col("subject"))
    ends = pl.concat([roots, conj]).select(head_row="row")
    governing = words["head_row"].drop_nulls().unique().implode()
    single = (
        words.filter((pl.col("rel") == "cc") | (pl.col("upos") == "CCONJ"))
        .join(ends, on="head_row", how="semi")
        .filter(pl.len().over("sent") == 1, ~pl.col("row").is_in(governing), pl.col("mwt").is_null())
        .select("sent", cc="row", cc_index="index")
    )
    both = conj.filter("subject").select("sent", "row", "cc").join(single, on=["sent", "cc"])
    return both.join(roots, on="sent", how="semi").join(nested, on="sent", how="anti").sort("sent")


def _clauses(words: pl.DataFrame) -> pl.DataFrame:
    """Where the two clauses stand, their number of words and first words, if nothing else is in the sentence.

    Columns ``a_…`` are of the first, ``b_…`` of the second: ``start``, ``end``, ``n``, ``form``, ``lemma``, ``upos``,
    ``feats``, ``words``, all its forms in small letters, and ``tied``, whether a word ties it to another clause. The
    argument has ``second``, whether a word belongs to the coordinated clause, ``cc_index``, and ``ties``.
    """
    spoken = pl.col("upos") != "PUNCT"
    left, right = pl.col("index") < pl.col("cc_index"), pl.col("index") > pl.col("cc_index")
    final = spoken.reverse().cum_sum().reverse().over("sent") == 0
    sides = {"a": left & spoken, "b": right & ~final}
    measures = {
        f"{name}_{what}": expr
        for name in sides
        for what, expr in {
            "start": pl.col("start").filter(name).min(),
            "end": pl.col("end").filter(name).max(),
            "n": (pl.col(name) & spoken).sum().cast(pl.Int32),
            **{what: pl.col(what).filter(name).first() for what in ("form", "lemma", "upos", "feats")},
            "words": pl.col("form").filter(pl.col(name) & spoken).str.to_lowercase().str.join(" "),
            "tied": (pl.col("ties") & pl.col(name)).any(),
        }.items()
    }
    apart = (left & spoken & pl.col("second")) | (right & spoken & ~pl.col("second"))
    sided = words.with_columns(pl.col("upos").cast(pl.String), **sides).group_by("sent", maintain_order=True)
    return sided.agg(**measures, mixed=apart.any(), opening=pl.col("upos").first()).filter(
        ~pl.col("mixed"), pl.col("opening") != "PUNCT", pl.col("b_upos") != "PUNCT",
        pl.col("a_end") < pl.col("b_start"), (pl.col("a_upos") == "AUX") == (pl.col("b_upos") == "AUX"),
    )  # fmt: skip


def _with_ties(words: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """Adds ``ties``: whether a word takes up something named before its clause; in the second clause, in the first one.

    That is an anaphor that no noun of its clause stands before, unless it is an object of the predicate and not one
    that doubles another (*el límite sur lo forma la costa*), or a demonstrative before a noun. In the second clause it
    is only a possessive or a dependent of the predicate, with which a subject or object of the first agrees, and no
    demonstrative without gender (*this*), which may be anything. A word with a relative clause of its own, or before a
    noun with one, takes up nothing.
    """
    rel, upos = pl.col("rel"), pl.col("upos").cast(pl.String)
    anaphor = _anaphoric("", language) & (rel != "expl")
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


def _anaphoric(side: str, language: LanguageData) -> pl.Expr:
    """Whether a word, or the first one of a ``side``, takes up something named before.

    A personal pronoun of the third person or a demonstrative one, a possessive of neither the first nor the second
    person, or a pronoun or determiner that the language data list. A reflexive takes up its own clause; an article
    may be written as a listed word is (*der*).
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


def _independent(side: str, language: LanguageData) -> pl.Expr:
    """Whether a clause may be first: it begins with no anaphoric word, clitic, connective or interjection."""
    of = functools.partial(has, column=f"{side}_feats")
    connectives = "|".join(sorted(map(re.escape, language.section(Connectives).forms))) or "$^"
    connected = pl.col(f"{side}_words").str.contains(rf"^(?:{connectives})(?: |$)")
    clitic = of("Reflex", "Yes") | of("Variant", "Short") | of("Clitic", "Yes")
    bound = _anaphoric(f"{side}_", language) | clitic | (pl.col(f"{side}_upos") == "INTJ") | connected
    return ~bound.fill_null(value=False)


def _heads(row: dict[str, Any], language: LanguageData) -> dict[str, Any]:
    """Where the clauses stand, and the first two characters of each as they stand in the other's place.

    The capital stays in a name, an acronym, an abbreviation (*M.*), and a word whose lemma has it; it may be of two
    letters (Dutch *IJ*).
    """
    first, second = (row["text"][row[start] :][:2] for start in ("a_start", "b_start"))
    capital = next((letters for letters in language.capitals.values() if first.startswith(letters)), first[:1])
    lemma, rest = (row["a_lemma"] or "")[: len(capital)], row["a_form"][len(capital) :]
    own = row["a_upos"] == "PROPN" or lemma.isupper() or rest[:1].isupper() or rest.endswith(".")
    small = first if own else language.lower(capital) + first[len(capital) :]
    places = {name: row[name] for name in PLACES}
    return places | {"a_head": small, "b_head": language.capitalise(second) if first[:1].isupper() else second}


def invert(text: str, plan: Mapping[str, Any]) -> Edit:
    """The two clauses exchanged; what stands between and after them stays."""
    first, second = text[plan["a_start"] : plan["a_end"]], text[plan["b_start"] : plan["b_end"]]
    between = text[plan["a_end"] : plan["b_start"]]
    moved = plan["b_head"] + second[2:] + between + plan["a_head"] + first[2:]
    return Edit(plan["a_start"], plan["b_end"], moved)


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Originals and inversions; neither the length nor the first words of clauses tell the order."""
    usable, drops = usable_of(frame, context)
    even = remove_bias(usable, _gains(usable), *context.seed_key) if context.settings.match else usable
    made = original_and_edited(even, context, drops | {"unbalanced": usable.height - even.height})
    return replace(made, candidates=frame.height * 2)


def _gains(rows: pl.DataFrame) -> npt.NDArray[np.float64]:
    """Gains of the rules that the longer clause is first, or the clause that begins with a certain part of speech."""
    longer, (first, second) = rows["longer"].to_numpy(), (rows[f"{side}_upos"].to_numpy() for side in "ab")
    lengths = [(np.abs(longer) >= words) * np.sign(longer) for words in LONGER]
    kinds = [1.0 * (first == upos) - (second == upos) for upos in np.unique([*first, *second])]
    return np.column_stack([*lengths, *kinds])


TASK = ProbingTask(
    labels=LABELS,
    select=select,
    sample=sample,
    edit=invert,
    lacks=CoordInvRules.lacking,
    needs=frozenset({"upos", "deps"}),
    pairs=True,
    version=6,
)
