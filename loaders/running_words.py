"""Words of a running text, for overlap and near-duplicates: no annotation needed, any script."""

import re
from typing import Final

import polars as pl
import regex

UNSPACED: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
"""A character of a script that puts no spaces between words, as a pattern for polars and ``regex``."""
_WORD: Final = regex.compile(rf"{UNSPACED}|[\S--{UNSPACED}]+", regex.VERSION1)
_MAYBE_UNSPACED: Final = re.compile("[\u0e00-\u1fff\u2e80-\U0010ffff]")
"""A range with all characters of scripts without spaces, which is looked for ten times as fast."""


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


def word_count(text: str) -> int:
    """The number of words between white space, punctuation included; each letter in scripts without spaces."""
    return len(text.split() if _MAYBE_UNSPACED.search(text) is None else _WORD.findall(text))
