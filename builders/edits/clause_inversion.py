"""Two coordinated clauses that change places, if only their order shows that they did.

X-Probe lower-cased names and acronyms and treated verb phrases as clauses, so the first word alone reveals the label
(*Was*: 676 of 682).
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.edits.anaphora import is_anaphoric, with_ties
from discoprobe.builders.edits.versions import original_and_edited, word_bags
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.sentences.candidates import usable_of
from discoprobe.builders.sentences.clauses import clause_words
from discoprobe.builders.sentences.connectives import Connectives
from discoprobe.builders.sentences.feature_values import has
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Edit, Sample
from discoprobe.loaders.languages.language import LanguageData

PAIRED = r"""["«»„“”‘’「」『』‹›()\[\]{}（）]"""
"""Marks that come in pairs; a clause could take one of them along."""

LONGER = (1, 4, 8)
"""Differences in words. Which clause is longer by at least one of these numbers must not predict the order."""

PLACES = ("a_start", "a_end", "b_start", "b_end")
PLAN = pl.Struct(dict.fromkeys(PLACES, pl.Int64) | {"a_head": pl.String, "b_head": pl.String})


def invertible_sentences(trees: Trees, context: Context) -> pl.DataFrame:
    """Sentences of two clauses that can be exchanged."""
    words = trees.once(clause_words)
    joined = _coordinations(words)
    second = pl.Series(trees.descends_from(joined["row"].to_numpy()) >= 0)
    placed = words.with_columns(second=second).join(joined.select("sent", "cc_index"), on="sent", maintain_order="left")
    clauses = _clauses(with_ties(placed, context.language)).filter(
        *(_independent(side, context.language) for side in "ab"), pl.col("b_tied"), ~pl.col("a_tied")
    )
    found = trees.with_text(clauses).filter(~pl.col("text").str.contains(PAIRED))
    plans = pl.Series("plan", [_heads(row, context.language) for row in found.to_dicts()], dtype=PLAN)
    longer = pl.col("a_n") - pl.col("b_n")
    candidates = found.select("sent", "a_upos", "b_upos", plans, longer=longer, label=pl.lit(context.labels[0]))
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
    ``feats``, ``words``, all its forms in lower case, and ``tied``, whether a word ties it to another clause. The
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


def _independent(side: str, language: LanguageData) -> pl.Expr:
    """Whether a clause may be first: it begins with no anaphoric word, clitic, connective or interjection."""
    of = functools.partial(has, column=f"{side}_feats")
    connectives = "|".join(sorted(map(re.escape, language.section(Connectives).forms))) or "$^"
    connected = pl.col(f"{side}_words").str.contains(rf"^(?:{connectives})(?: |$)")
    clitic = of("Reflex", "Yes") | of("Variant", "Short") | of("Clitic", "Yes")
    bound = is_anaphoric(f"{side}_", language) | clitic | (pl.col(f"{side}_upos") == "INTJ") | connected
    return ~bound.fill_null(value=False)


def _heads(row: dict[str, Any], language: LanguageData) -> dict[str, Any]:
    """Where the clauses are, and the first two characters of each, capitalised as needed in the other's place.

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


def original_and_inverted(frame: pl.DataFrame, context: Context) -> Sample:
    """Originals and inversions; neither the lengths of the clauses nor their first words predict the order."""
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
