"""Equal counts of labels whose sentences are equally long.

Fixed strata of length are coarse where there are many rows and cost too many where there are few. Here rows of each
label are first matched with rows of the same number of words and nearly the same number of characters (plurals have
more letters per word), what is left over with rows that are a little less alike, and so on in wider and wider bins.
Hash order decides inside a bin, so a document more moves few of the others' rows.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from discoprobe.builders.sampling import STRATA_KEEP, with_rank

WIDTHS: Final = (1, 2, 4, 8)
"""Words per bin. Rows that find no match in the widest are used only where the others are too few."""

CHARACTERS: Final = 6
"""Characters per word of a bin's width: a word and its space."""


def even(rows: pl.DataFrame, by: str, *purpose: str | int, cell: tuple[str, ...] = ()) -> pl.DataFrame:
    """Equally many rows of each value of ``by`` in every split (and ``cell``), of like lengths.

    Args:
        rows: ``key``, ``split``, ``n_running`` (words of the text, as it is written), ``n_chars``, ``by`` and ``cell``.
        by: the column that is balanced.
        purpose: salt.
        cell: columns inside whose values the balance holds too.

    Returns:
        The rows kept, in their order. A cell in which a value is missing has none.
    """
    columns = ["split", *cell]
    n_values = rows[by].n_unique()
    left, matched = rows, rows.clear()
    for width in WIDTHS:
        binned = left.with_columns(
            _words=pl.col("n_running") // width, _characters=pl.col("n_chars") // (CHARACTERS * width)
        )
        found = _equal(binned, by, [*columns, "_words", "_characters"], n_values, *purpose)
        matched = pl.concat([matched, found.select(rows.columns)])
        left = rows.join(matched, on="key", how="anti", maintain_order="left")
    whole = _equal(rows, by, columns, n_values, *purpose)
    if matched.height < STRATA_KEEP * whole.height or matched["split"].n_unique() < whole["split"].n_unique():
        matched = pl.concat([matched, _equal(left, by, columns, n_values, *purpose).select(rows.columns)])
    return rows.join(matched, on="key", how="semi", maintain_order="left")


def _equal(rows: pl.DataFrame, by: str, inside: list[str], n_values: int, *purpose: str | int) -> pl.DataFrame:
    """Equally many rows of all ``n_values`` values of ``by`` in every cell; none of a cell in which one is missing."""
    counts = rows.group_by([*inside, by]).len().group_by(inside).agg(_n=pl.len(), _least=pl.col("len").min())
    quota = counts.filter(pl.col("_n") == n_values)
    ranked = with_rank(rows, [*inside, by], "even", *purpose)
    return ranked.join(quota, on=inside, nulls_equal=True).filter(pl.col("rank") <= pl.col("_least"))
