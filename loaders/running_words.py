"""Words of a running text, for overlap and near-duplicates: no annotation needed, any script."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"


def running_words(text: pl.Expr) -> pl.Expr:
    r"""The lower-cased words of each text as a list: runs of letters, digits and marks (``\w``).

    Scripts that put no spaces between words give one-character words, of which callers that need longer units make
    pairs (``word_pairs``).
    """
    spaced = text.str.to_lowercase().str.replace_all(f"({_UNSPACED})", " $1 ")
    return spaced.str.extract_all(r"\w+")


def is_unspaced(text: pl.Expr) -> pl.Expr:
    """Whether a text is written mostly in a script without spaces between words."""
    return text.str.count_matches(_UNSPACED) * 2 > text.str.count_matches(r"\w")
