"""Adjacent words whose order a language fixes: the corpora show it, or the data of the language say it.

Where order is free, a swap is often as good as the original. Without a rule, a reader accepted 13 of 30 Russian swaps
and 5 of 30 Spanish ones; of pairs whose order the corpora fix, 16 of 152 in Russian, Polish, Czech, Finnish, Hungarian
and Latin, and none of 22 in ten languages.
"""

from typing import Annotated, ClassVar

import msgspec
import polars as pl

from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context
from discoprobe.loaders.languages.language import UPOS, LanguageData, LanguageSection, Upos

KNOWN = 50
"""Occurrences from which on the order of two kinds of words is known."""

FREE = 0.02
"""Share of occurrences in the other order from which on the language does not fix the order."""

UposPair = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(UPOS)}) ({'|'.join(UPOS)})$")]


class NgramShiftRules(LanguageSection, frozen=True):
    """The section ``[ngram_shift]``: pairs of words whose swap is ungrammatical in nearly all contexts.

    Attributes:
        patterns: two parts of speech in the order of the text (``ADP NOUN``).
        lemmas: narrows a part of speech, in whichever pair it stands, to some lemmas (Russian PART: *не* alone).
    """

    section: ClassVar[str] = "ngram_shift"
    patterns: tuple[UposPair, ...] = ()
    lemmas: dict[Upos, frozenset[str]] = msgspec.field(default_factory=dict)


def fixed_orders(orders: pl.Series) -> pl.Series:
    """The orders that occur often enough to be known, and hardly ever the other way round.

    Args:
        orders: the order of every pair of adjacent words of a corpus.
    """
    counts = orders.drop_nulls().value_counts(name="n").rename({orders.name: "order"})
    reverse = pl.col("order").str.replace_many(["<", ">"], [">", "<"])
    both = (
        counts.with_columns(other=reverse)
        .join(counts.select(other="order", n_other="n"), on="other", how="left")
        .with_columns(pl.col("n_other").fill_null(0))
    )
    share = pl.col("n_other") / (pl.col("n") + pl.col("n_other"))
    return both.filter(pl.col("n") >= KNOWN, share < FREE).sort("order")["order"]


def no_patterns(language: LanguageData) -> str:
    """Why a language has no pairs of words with a fixed order; empty where patterns are listed."""
    listed = language.section(NgramShiftRules).patterns
    return "" if listed else "no pairs of words with a fixed order are listed for this language"


def in_patterns(pairs: pl.DataFrame, _trees: Trees, context: Context) -> pl.DataFrame:
    """The pairs inside a phrase that match a pattern of the language, with lemmas that its parts of speech may have."""
    rule = context.language.section(NgramShiftRules)
    return pairs.filter(
        pl.concat_str("left_upos", "right_upos", separator=" ").is_in(rule.patterns),
        *(_allowed(side, upos, lemmas) for side in ("left", "right") for upos, lemmas in rule.lemmas.items()),
    )


def _allowed(side: str, upos: str, lemmas: frozenset[str]) -> pl.Expr:
    listed = pl.col(f"{side}_lemma").str.to_lowercase().is_in(sorted(lemmas))
    return (pl.col(f"{side}_upos") != upos) | listed.fill_null(value=False)
