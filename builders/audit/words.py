"""Units of text that the checks count: sentences, words, tokens."""

import polars as pl

from discoprobe.builders.audit.thresholds import LEAK_WORDS
from discoprobe.loaders.running_words import UNSPACED, is_unspaced, running_words

CHARACTERS_PER_WORD = 2
"""In scripts without spaces: Chinese words have 1.7 characters on average, Thai and Japanese ones more."""


def n_words(text: pl.Expr) -> pl.Expr:
    """Words of a text; in scripts without spaces, two characters count as one."""
    count = text.str.count_matches(rf"[\w&&{UNSPACED}]|[\w--{UNSPACED}]+")
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


def sentences(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """The sentences of rows, each once per row, originals of perturbed ones included.

    Only sentences of ``LEAK_WORDS`` words or more, because shorter ones repeat naturally.

    Returns:
        ``split``, ``place``, ``id`` and the number of the ``sentence``; and the text of each number (case-folded, white
        space collapsed).
    """
    texts = pl.concat_list("texts", pl.concat_list("original").list.drop_nulls()).list.unique()
    long = rows.select("split", "place", "id", text=texts).explode("text", empty_as_null=False)
    long = long.with_columns(text=pl.col("text").hash(), _text="text")
    distinct = (
        long.unique("text", maintain_order=True).select("text", "_text").filter(n_words(pl.col("_text")) >= LEAK_WORDS)
    )
    distinct = distinct.select("text", key=normal(pl.col("_text")))
    known = distinct.select(pl.col("key").unique(maintain_order=True)).with_row_index("sentence")
    numbered = distinct.join(known, on="key").select("text", "sentence")
    numbers = long.drop("_text").join(numbered, on="text", maintain_order="left").drop("text")
    return numbers.unique(maintain_order=True), known["key"]


def normal(text: pl.Expr) -> pl.Expr:
    """A text without regard to case and white space."""
    return text.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
