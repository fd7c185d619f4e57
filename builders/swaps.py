"""Exchanging two adjacent words of a sentence.

Which capitals a swap leaves: each word keeps its own letters. Where a capital belongs to the position rather than to
the word, at the beginning of the sentence and after punctuation (a quotation, a colon), nothing is swapped, so that
both positions keep their capitalisation and names, acronyms and German nouns stay what they are. In X-Probe a
lower-case first token before a capitalised second gives away 6-10 % of the shifted sentences.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from discoprobe.builders import chance
from discoprobe.builders.probes import twins, usable_of
from discoprobe.builders.sampling import with_rank
from discoprobe.builders.task import Arranged, Context, Edit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discoprobe.builders.tree import Trees
    from discoprobe.loaders.language import Swaps


def adjacent_words(trees: Trees, context: Context) -> pl.DataFrame:
    """Pairs of adjacent words of which one depends on the other and which can be exchanged.

    Left out are punctuation, symbols, parts of multiword tokens and words that touch another (*l'homme*, *dit-il*; in a
    script without spaces all words touch), the first word of the sentence, words whose capital may be their position's,
    equal words, and a swap that would bring two equal words together or two that the language writes otherwise when
    they meet (French *de* before a vowel, *de le*; English *a* and *an*).

    Returns:
        ``sent``, ``index`` (of the left word), the UPOS and lemma of both (``left_upos`` …), ``inside`` (words, not
        punctuation, stand before and after the two), ``swapped`` (the two in the other order, in small letters) and
        ``plan``: their places in the text.
    """
    words = _with_neighbours(trees)
    pairs = words.filter(
        pl.col("sent") == pl.col("next_sent"),
        pl.col("index") + 1 == pl.col("next_index"),
        (pl.col("head") == pl.col("next_index")) | (pl.col("next_head") == pl.col("index")),
        *(_movable(side) for side in ("", "next_")),
        ~pl.col("opening"),
        ~(_capital(pl.col("form")) & (pl.col("before_upos") == "PUNCT")),
        _apart() if context.language.spaces else _differ_joined(),
        *(
            _unequal(one, other)
            for one, other in (("form", "next_form"), ("form", "after_form"), ("before_form", "next_form"))
        ),
        ~_contact(context.language.swaps),
    )
    return pairs.select(
        "sent", "index", left_upos="upos", right_upos="next_upos", left_lemma="lemma", right_lemma="next_lemma",
        inside=_inside(),
        swapped=pl.concat_str("next_form", "form", separator=" ").str.to_lowercase(),
        plan=pl.struct(a_start="start", a_end="end", b_start="next_start", b_end="next_end"),
    )  # fmt: skip


def _with_neighbours(trees: Trees) -> pl.DataFrame:
    """The words that have a place in the text, each with the next one, and what stands around the two."""
    words = trees.words.filter(pl.col("start").is_not_null()).with_columns(
        pl.col("upos").cast(pl.String), opening=(pl.col("upos") != "PUNCT").cum_sum().over("sent") <= 1
    )
    of_sentence = {name: pl.col(name).shift(1).over("sent") for name in ("upos", "end", "form")}
    after = {name: pl.col(name).shift(-2).over("sent") for name in ("upos", "start", "form")}
    return words.with_columns(
        pl.all().shift(-1).name.prefix("next_"),
        **{f"before_{name}": expr for name, expr in of_sentence.items()},
        **{f"after_{name}": expr for name, expr in after.items()},
    )


def _movable(side: str) -> pl.Expr:
    """Whether a word is one that a swap may move: a word of letters or digits, not part of a multiword token."""
    spoken = ~pl.col(f"{side}upos").is_in(["PUNCT", "SYM", "X"]) & pl.col(f"{side}form").str.contains(r"[\p{L}\p{N}]")
    return spoken & pl.col(f"{side}mwt").is_null()


def _unequal(one: str, other: str) -> pl.Expr:
    return (pl.col(one).str.to_lowercase() != pl.col(other).str.to_lowercase()).fill_null(value=True)


def _contact(rule: Swaps) -> pl.Expr:
    """Whether the swap brings words together that are written otherwise when they meet, or parts what depends on it."""
    form, after, before, following = (_small(f"{side}form") for side in ("", "next_", "before_", "after_"))
    meeting = ((before, after), (after, form), (form, following))
    vowel = r"^[haeiouyœæ]"
    elided = [one.is_in(sorted(rule.elides)) & _plain(other).str.contains(vowel) for one, other in meeting]
    pairs = [" ".join(pair) for pair in rule.contracts]
    contracted = [pl.concat_str(one, other, separator=" ").is_in(pairs) for one, other in meeting]
    sounding = [word.is_in(sorted(rule.sounds)) for word in (before, form, after)]
    return pl.any_horizontal(expr.fill_null(value=False) for expr in (*elided, *contracted, *sounding))


def _small(column: str) -> pl.Expr:
    return pl.col(column).str.to_lowercase()


def _plain(word: pl.Expr) -> pl.Expr:
    """The word without its accents."""
    return word.str.normalize("NFD").str.replace_all(r"\p{M}", "")


def _capital(word: pl.Expr) -> pl.Expr:
    return word.str.contains(r"^\p{Lu}")


def _apart() -> pl.Expr:
    """Whether white space or punctuation surrounds each of the two words, and a space stands between them."""
    left = (pl.col("before_end") < pl.col("start")) | (pl.col("before_upos") == "PUNCT")
    right = (pl.col("after_start") > pl.col("next_end")) | (pl.col("after_upos") == "PUNCT")
    return left & right.fill_null(value=True) & (pl.col("end") < pl.col("next_start"))


def _inside() -> pl.Expr:
    return ((pl.col("before_upos") != "PUNCT") & (pl.col("after_upos") != "PUNCT")).fill_null(value=False)


def _differ_joined() -> pl.Expr:
    """Whether two words without a space between them make another string in the other order (A + AA does not)."""
    return pl.concat_str("form", "next_form") != pl.concat_str("next_form", "form")


def one_of_each(pairs: pl.DataFrame, trees: Trees, context: Context) -> pl.DataFrame:
    """One of the pairs of each sentence, chosen by hash; candidates of a perturbation task."""
    keyed = pairs.join(trees.shard.sentences.select("sent", "key"), on="sent", maintain_order="left")
    place = chance.combine(keyed["key"].to_numpy(), keyed["index"].cast(pl.UInt64).to_numpy())
    hashed = keyed.with_columns(_hash=pl.Series(chance.mix(place, *context.salt, "pair"), dtype=pl.UInt64))
    chosen = hashed.sort("sent", "_hash", "index").unique("sent", keep="first", maintain_order=True)
    return chosen.select("sent", "swapped", "plan", label=pl.lit(context.labels[0])).join(
        word_bags(trees), on="sent", how="left", maintain_order="left"
    )


def distinct_twins(frame: pl.DataFrame, context: Context) -> Arranged:
    """Originals and swaps, no two words being swapped twice.

    A pair of frequent words (Chinese *一個*) swapped again and again would be learnt by heart.
    """
    usable, drops = usable_of(frame, context)
    ranked = with_rank(usable, ["swapped"], "one of a pair", *context.salt)
    single = (ranked.filter(pl.col("rank") == 1) if context.settings.match else ranked).drop("rank")
    made = twins(single, context)
    repeated = {"same-words-swapped": usable.height - single.height}
    return replace(made, drops=dict(made.drops) | drops | repeated, candidates=frame.height * 2)


def word_bags(trees: Trees) -> pl.DataFrame:
    """``sent`` and ``bag``: equal for sentences of the same words in any order.

    Of such sentences a perturbation of order shows one: another could be what the first becomes.
    """
    word = pl.col("form").str.to_lowercase().hash(0)
    return trees.words.group_by("sent", maintain_order=True).agg(bag=word.sum())


def swap(text: str, plan: Mapping[str, Any]) -> Edit:
    """The two words exchanged; what stands between them stays, and so do their letters."""
    first, second = text[plan["a_start"] : plan["a_end"]], text[plan["b_start"] : plan["b_end"]]
    between = text[plan["a_end"] : plan["b_start"]]
    return Edit(plan["a_start"], plan["b_end"], second + between + first)
