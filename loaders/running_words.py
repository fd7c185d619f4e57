"""Words of a running text, for overlap and near-duplicates: no annotation needed, any script."""

from typing import Final

import polars as pl

UNSPACED: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
"""A character of a script that puts no spaces between words, as a pattern for polars and ``regex``."""


def running_words(text: pl.Expr) -> pl.Expr:
    r"""The lower-cased words of each text as a list: sequences of letters, digits and combining marks (``\w``).

    Scripts without spaces between words give one-character words; callers that need longer units join them in pairs
    (``word_pairs``).
    """
    spaced = text.str.to_lowercase().str.replace_all(f"({UNSPACED})", " $1 ")
    return spaced.str.extract_all(r"\w+")


def n_running_words(text: pl.Expr) -> pl.Expr:
    """How many `running_words` each text has."""
    return text.str.count_matches(rf"[\w&&{UNSPACED}]|[\w--{UNSPACED}]+")


def is_unspaced(text: pl.Expr) -> pl.Expr:
    """Whether a text is written mostly in a script without spaces between words."""
    return text.str.count_matches(UNSPACED) * 2 > text.str.count_matches(r"\w")
