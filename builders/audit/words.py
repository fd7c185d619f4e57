"""Units of text that the checks count: sentences, words, tokens."""

from __future__ import annotations

import polars as pl

from discoprobe.builders.audit.thresholds import LEAK_WORDS
from discoprobe.loaders.running_words import is_unspaced, running_words

CHARACTERS_PER_WORD = 2
"""In scripts without spaces: Chinese words have 1.7 characters on average, Thai and Japanese ones more."""


def n_words(text: pl.Expr) -> pl.Expr:
    """Words of a text; in scripts without spaces, two characters count as one."""
    count = running_words(text).list.len()
    return pl.when(is_unspaced(text)).then(count // CHARACTERS_PER_WORD).otherwise(count)


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
    characters = text.str.extract_all(r"\S")
    return characters.list.eval((pl.element() + pl.element().shift(-1)).drop_nulls())


def lowered_words(text: pl.Expr, *, unspaced: bool) -> pl.Expr:
    """The words of each text without regard to case, as a list; pairs of characters with ``unspaced``."""
    words = running_words(text)
    return words.list.eval((pl.element() + pl.element().shift(-1)).drop_nulls()) if unspaced else words


def sentences(rows: pl.DataFrame) -> pl.DataFrame:
    """The sentences of rows, each once per row, originals of perturbed ones included.

    Columns: split, place, id, ``sentence`` (case-folded, white space collapsed); only sentences of ``LEAK_WORDS`` words
    or more, because shorter ones repeat naturally.
    """
    texts = pl.concat_list("texts", pl.concat_list("original").list.drop_nulls()).list.unique()
    long = rows.select("split", "place", "id", sentence=texts).explode("sentence", empty_as_null=False)
    distinct = long.select(pl.col("sentence").unique()).with_columns(key=normal(pl.col("sentence")))
    distinct = distinct.filter(n_words(pl.col("sentence")) >= LEAK_WORDS)
    return long.join(distinct, on="sentence").select("split", "place", "id", sentence="key").unique(maintain_order=True)


def normal(text: pl.Expr) -> pl.Expr:
    """A text without regard to case and white space."""
    return text.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
