"""Bins of sentence length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from discoprobe.builders.settings import Settings

BINS = 6


def bins(settings: Settings) -> dict[int, str]:
    """The bin (RuSentEval: six of equal width) of each number of words that a probing task permits."""
    least, most = settings.probing_words
    number = {words: (words - least) * BINS // (most - least + 1) for words in range(least, most + 1)}
    members = {n: [words for words, own in number.items() if own == n] for n in number.values()}
    return {words: f"{members[n][0]}-{members[n][-1]}" for words, n in number.items()}


def length_bin(settings: Settings, column: str = "n_words") -> pl.Expr:
    """The bin of a number of words; null for one that is not permitted."""
    return pl.col(column).cast(pl.Int64).replace_strict(bins(settings), default=None, return_dtype=pl.String)
