"""Classes and strata of sentence length, in words without punctuation."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import polars as pl

from discoprobe.builders.settings import Settings

BINS: Final = 6

SENTEVAL: Final = (5, 9, 13, 17, 21, 26, 29)
"""Where SentEval's bins begin (Conneau et al. 2018: 5-8, 9-12, 13-16, 17-20, 21-25, 26-28), and the end of the last."""


def edges(words: pl.Series, settings: Settings) -> list[int]:
    """Where the bins of a config begin, and the number of words after the last bin.

    Args:
        words: numbers of words of the candidates.
        settings: ``length_bins`` and ``probing_words``.

    Returns:
        Rising numbers, one more than there are bins. With ``quantile`` every bin has about equally many candidates.
    """
    least, most = settings.probing_words
    if settings.length_bins == "senteval":
        return [*(edge for edge in SENTEVAL if least <= edge <= most), most + 1]
    if settings.length_bins == "equal":
        return [least + -(-n * (most - least + 1) // BINS) for n in range(BINS)] + [most + 1]
    cuts = [words.quantile(n / BINS, "nearest") for n in range(1, BINS)]
    inner = sorted({int(cut) for cut in cuts if cut is not None and cut > least})
    return [least, *inner, most + 1]


def names(of_edges: list[int]) -> tuple[str, ...]:
    """The bins by their first and last numbers of words: ``5-8``."""
    return tuple(f"{first}-{after - 1}" for first, after in pairwise(of_edges))


def edges_of(bins: Sequence[str]) -> list[int]:
    """The edges of bins, from their ``names``."""
    bounds = [list(map(int, name.split("-"))) for name in bins]
    return [*(first for first, _ in bounds), bounds[-1][1] + 1]


def bin_of(words: pl.Expr, of_edges: list[int]) -> pl.Expr:
    """The name of the bin of each number of words; null outside the bins."""
    index = pl.sum_horizontal(pl.lit(0), *[(words >= edge).cast(pl.Int32) for edge in of_edges[1:-1]])
    inside = (words >= of_edges[0]) & (words < of_edges[-1])
    return pl.when(inside).then(index.replace_strict(dict(enumerate(names(of_edges))), return_dtype=pl.String))


def length_stratum(settings: Settings) -> pl.Expr:
    """The stratum of ``n_words``, out of six of equal width; null for a number of words that is not permitted."""
    least, most = settings.probing_words
    words = pl.col("n_words").cast(pl.Int64)
    stratum = (words - least) * BINS // (most - least + 1)
    return pl.when(words.is_between(least, most)).then(stratum.cast(pl.String))
