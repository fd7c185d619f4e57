"""Exchanging two adjacent words of a sentence.

Which capitals a swap leaves: each word keeps its own letters. Where a capital belongs to the position rather than to
the word, at the beginning of the sentence and after punctuation (a quotation, a colon), nothing is swapped, so that
both positions keep their capitalisation and names, acronyms and German nouns stay what they are. In X-Probe a
lower-case first token before a capitalised second gives away 6-10 % of the shifted sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from discoprobe.builders import chance
from discoprobe.builders.task import Context, Edit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discoprobe.builders.tree import Trees


def adjacent_words(trees: Trees, context: Context) -> pl.DataFrame:
    """Pairs of adjacent words of which one depends on the other and which can be exchanged.

    Columns: ``sent``, ``index`` (of the left word), the UPOS and lemma of both (``left_upos`` …), ``inside`` (words, not
    punctuation, stand before and after the two), and ``plan``: the places of both words in the text. No punctuation, symbol, part of a multiword token or word that touches another
    (*l'homme*, *dit-il*; in a script without spaces all words touch) takes part, nor the first word of the sentence,
    nor a word whose capital may be its position's; the words differ.
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
        pl.col("form").str.to_lowercase() != pl.col("next_form").str.to_lowercase(),
    )
    return pairs.select(
        "sent", "index", left_upos="upos", right_upos="next_upos", left_lemma="lemma", right_lemma="next_lemma",
        inside=_inside(),
        plan=pl.struct(a_start="start", a_end="end", b_start="next_start", b_end="next_end"),
    )  # fmt: skip


def _with_neighbours(trees: Trees) -> pl.DataFrame:
    """The words that have a place in the text, each with the next one, and what stands around the two."""
    words = trees.words.filter(pl.col("start").is_not_null()).with_columns(
        pl.col("upos").cast(pl.String), opening=(pl.col("upos") != "PUNCT").cum_sum().over("sent") <= 1
    )
    of_sentence = {name: pl.col(name).shift(1).over("sent") for name in ("upos", "end")}
    after = {name: pl.col(name).shift(-2).over("sent") for name in ("upos", "start")}
    return words.with_columns(
        pl.all().shift(-1).name.prefix("next_"),
        **{f"before_{name}": expr for name, expr in of_sentence.items()},
        **{f"after_{name}": expr for name, expr in after.items()},
    )


def _movable(side: str) -> pl.Expr:
    """Whether a word is one that a swap may move: a word of letters or digits, not part of a multiword token."""
    spoken = ~pl.col(f"{side}upos").is_in(["PUNCT", "SYM", "X"]) & pl.col(f"{side}form").str.contains(r"[\p{L}\p{N}]")
    return spoken & pl.col(f"{side}mwt").is_null()


def _capital(word: pl.Expr) -> pl.Expr:
    return word.str.contains(r"^\p{Lu}")


def _apart() -> pl.Expr:
    """Whether white space or punctuation surrounds each of the two words, and a space stands between them."""
    left = (pl.col("before_end") < pl.col("start")) | (pl.col("before_upos") == "PUNCT")
    right = (pl.col("after_start") > pl.col("next_end")) | (pl.col("after_upos") == "PUNCT") | pl.col("after_upos").is_null()
    return left & right & (pl.col("end") < pl.col("next_start"))


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
    return chosen.select("sent", "plan", label=pl.lit(context.labels[0])).join(
        word_bags(trees), on="sent", how="left", maintain_order="left"
    )


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
