"""Words and tokens of texts, as the checks and solvers count them."""

import polars as pl

from discoprobe.loaders.running_words import is_unspaced, n_running_words, running_words

CHARACTERS_PER_WORD = 2
"""In scripts without spaces: Chinese words have 1.7 characters on average, Thai and Japanese ones more."""


def n_words(text: pl.Expr) -> pl.Expr:
    """Words of a text; in scripts without spaces, two characters count as one."""
    count = n_running_words(text)
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


def normal(text: pl.Expr) -> pl.Expr:
    """A text without regard to case and white space."""
    return text.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
