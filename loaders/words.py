"""Words of text that is not annotated: how they are counted, compared and divided.

A script without spaces between words is one of `UNSPACED`; `is_unspaced` tells whether a text is written in one. (A
language has or lacks spaces by its file in ``languages``.) In these scripts every character is a running word.

`running_words` gives lower-cased words for measuring overlap and near-duplicates, `n_running_words` their number, and
`n_words` that number with two characters of unspaced text as a word. `word_count` counts the words between white space.
`tokens` and `lowered_words` are the units of the audit's baselines. `word_spans` divides at the word boundaries of
Unicode (https://www.unicode.org/reports/tr29/#Word_Boundaries): punctuation marks and symbols are words; an apostrophe
inside a word does not divide it, a hyphen does. `join_texts` makes one text of several.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Final

import numpy as np
import polars as pl
import regex

UNSPACED: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
"""A character of a script that puts no spaces between words, as a pattern for polars and ``regex``."""
_UNSPACED_LETTER: Final = regex.compile(UNSPACED)
_LETTER: Final = regex.compile(r"\w")
_WORD: Final = regex.compile(rf"{UNSPACED}|[\S--[{UNSPACED}\u0f0b\u0f0c]]+", regex.VERSION1)
"""U+0F0B and U+0F0C stand between the syllables of Tibetan."""
_MAYBE_UNSPACED: Final = re.compile("[\u0e00-\u1fff\u2e80-\U0010ffff]")
"""A range that includes all characters of ``UNSPACED`` and others; searching for it is ten times as fast."""

_PAIRS: Final = (pl.element() + pl.element().shift(-1)).drop_nulls()
"""Neighbouring elements of a list, joined."""
BOUNDARY: Final = regex.compile(r"\b", regex.WORD | regex.VERSION1)
ALPHANUMERIC: Final = regex.compile(r"\b(?:[^\p{L}\p{N}]\B)*[\p{L}\p{N}]", regex.WORD | regex.VERSION1)
"""The beginning of a word with a letter or digit."""
_SIMPLE_WORD: Final = r"(?:\p{L}+(?:[.:'‘’·]\p{L}+)*|[0-9]+(?:[.,;'‘’][0-9]+)*)+"
_NOT_SIMPLE: Final = (
    r"[^[\p{L}&&[\p{Latin}\p{Cyrillic}\p{Greek}\p{Armenian}\p{Georgian}]]0-9 \p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}"
    r""""'!?,;:./&*%€$§+=…·°]"""
)
"""For polars: such a word in a text of letters of these scripts, digits and common marks; any other character."""


def running_words(text: pl.Expr) -> pl.Expr:
    r"""The lower-cased words of each text as a list: sequences of letters, digits and combining marks (``\w``).

    In scripts without spaces between words, every character is a word.
    """
    spaced = text.str.to_lowercase().str.replace_all(f"({UNSPACED})", " $1 ")
    return spaced.str.extract_all(r"\w+")


def n_running_words(text: pl.Expr) -> pl.Expr:
    """How many `running_words` each text has."""
    return text.str.count_matches(rf"[\w&&{UNSPACED}]|[\w--{UNSPACED}]+")


def is_unspaced(text: pl.Expr) -> pl.Expr:
    """Whether a text is written mostly in a script without spaces between words."""
    return text.str.count_matches(UNSPACED) * 2 > text.str.count_matches(r"\w")


def join_texts(
    texts: Sequence[str], span: tuple[int, int] | None = None, between: Sequence[str] = ()
) -> tuple[str, tuple[int, int] | None]:
    """Texts as one, with a blank between them, but none beside a script without blanks between words.

    Args:
        texts: the sentences of a passage, or one sentence.
        span: characters of the texts with blanks between all of them.
        between: what stands between each text and the next, where it is not empty.

    Returns:
        The text, and where the same characters are in it.
    """
    text = "".join(texts)
    blank = " " if 2 * len(_UNSPACED_LETTER.findall(text)) <= len(_LETTER.findall(text)) else ""
    between = [mark or blank for mark in between or [""] * (len(texts) - 1)]
    text = "".join(chain.from_iterable(zip(texts, [*between, ""], strict=False)))
    if span is None:
        return text, None
    places = np.cumsum([len(text) + 1 for text in texts])
    shifts = np.cumsum([0, *(len(mark) - 1 for mark in between), 0])
    start, end = (place + int(shifts[(places <= place).sum()]) for place in span)
    return text, (start, end)


def word_count(text: str) -> int:
    """The number of words separated by white space; attached punctuation marks belong to their word.

    In scripts without spaces each character counts as a word, in Tibetan each syllable.
    """
    return len(text.split() if _MAYBE_UNSPACED.search(text) is None else _WORD.findall(text))


def word_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """The spans of the words in a part of a text, by Unicode's word boundaries."""
    end = len(text) if end is None else end
    edges = [start, *(match.start() for match in BOUNDARY.finditer(text, start, end)), end]
    for first, after in pairwise(edges):
        if after > first and not text[first:after].isspace():
            yield first, after


def n_alphanumeric_words(text: str) -> int:
    """The number of words, by Unicode's word boundaries, that contain a letter or digit."""
    return len(ALPHANUMERIC.findall(text))


def alphanumeric_words_of(texts: Sequence[str]) -> list[int]:
    """The same number for each of many texts: five times as fast where the words of a text are simple to find."""
    found = pl.Series(texts, dtype=pl.String).to_frame("text").select(
        n=pl.col("text").str.count_matches(_SIMPLE_WORD), simple=~pl.col("text").str.contains(_NOT_SIMPLE)
    )  # fmt: skip
    return [
        n if simple else n_alphanumeric_words(text) for text, (n, simple) in zip(texts, found.iter_rows(), strict=True)
    ]


CHARACTERS_PER_WORD = 2
"""In scripts without spaces: Chinese words have 1.7 characters on average, Thai and Japanese ones more."""


def n_words(text: pl.Expr, *, halves: bool = False) -> pl.Expr:
    """Words of a text; in scripts without spaces, two characters count as one.

    There, an odd number of characters is rounded down, or with ``halves`` gives half a word, so that a single character
    is more than nothing.
    """
    count = n_running_words(text)
    unspaced = count / CHARACTERS_PER_WORD if halves else count // CHARACTERS_PER_WORD
    return pl.when(is_unspaced(text)).then(unspaced).otherwise(count)


def mostly_unspaced(texts: pl.Series) -> bool:
    """Whether most of the texts are in a script without spaces."""
    share = texts.to_frame("text").select(is_unspaced(pl.col("text")).mean()).item()
    return bool(share is not None and share > 0.5)  # noqa: PLR2004  a majority


def tokens(text: pl.Expr, *, unspaced: bool) -> pl.Expr:
    """The tokens of each text as written, as a list: words and single punctuation marks.

    With ``unspaced`` they are pairs of neighbouring characters.
    """
    if not unspaced:
        return text.str.extract_all(r"\w+|[^\w\s]")
    return text.str.extract_all(r"\S").list.eval(_PAIRS)


def lowered_words(text: pl.Expr, *, unspaced: bool) -> pl.Expr:
    """The running words of each text as a list; pairs of neighbouring ones with ``unspaced``."""
    words = running_words(text)
    return words.list.eval(_PAIRS) if unspaced else words


def normal(text: pl.Expr) -> pl.Expr:
    """A text without regard to case and white space."""
    return text.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
