"""Character n-grams of many texts at once, hashed into columns.

scikit-learn's ``char_wb`` analyser makes the same n-grams one Python string at a time, which takes minutes for the
solvers of one config. An array of code points needs a second.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy  # a part of it is loaded when it is first used, which takes a third of a second

from discoprobe.builders import hashing

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 4
_SPACE = np.uint32(ord(" "))
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_PIECE = 500_000
"""Characters whose n-grams are in memory at a time."""


def char_grams(texts: pl.Series, width: int) -> scipy.sparse.csr_array:
    """Counts of the 1- to 4-grams inside the words of each text, in ``width`` columns (a power of two), case kept.

    Words are what white space separates, and have a space at both ends, as in scikit-learn's ``char_wb``.
    """
    parts = [*char_grams_in_parts(texts, width), scipy.sparse.csr_array((0, width), dtype=np.float32)]
    return scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))


def char_grams_in_parts(texts: pl.Series, width: int) -> Iterator[scipy.sparse.csr_array]:
    """The same counts in parts: one matrix for each half million characters, so that memory holds one part."""
    text = pl.col("text").fill_null("").str.replace_all(r"\s+", " ")
    padded = texts.to_frame("text").select(pl.concat_str(pl.lit(" "), text, pl.lit(" ")).alias("text"))["text"]
    lengths = padded.str.len_chars().to_numpy().astype(np.int64)
    cuts = np.flatnonzero(np.diff(np.cumsum(lengths) // _PIECE)) + 1
    bounds = [0, *cuts.tolist(), len(padded)]
    yield from (_grams(padded[a:b], lengths[a:b], width) for a, b in pairwise(bounds) if b > a)


def _grams(padded: pl.Series, lengths: npt.NDArray[np.int64], width: int) -> scipy.sparse.csr_array:
    points = np.frombuffer("".join(padded.to_list()).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    text = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    space = points == _SPACE
    rows, columns = [], []
    code = np.zeros(len(points), dtype=np.uint64)
    inside = np.ones(len(points), dtype=bool)
    for n in range(1, LONGEST + 1):
        size = len(points) - n + 1
        code = code[:size] * _MULTIPLIER + points[n - 1 :] + np.uint64(1)
        inside = inside[:size] & ~(space[n - 2 : n - 2 + size] if n > 2 else np.zeros(size, dtype=bool))  # noqa: PLR2004
        valid = inside & ~(space[:size] & space[n - 1 :]) if n <= 2 else inside  # noqa: PLR2004  blanks alone
        rows.append(text[:size][valid])
        columns.append((hashing.mix(code[valid], "gram") % np.uint64(width)).astype(np.int32))
    row, column = np.concatenate(rows), np.concatenate(columns)
    counts = scipy.sparse.coo_array((np.ones(len(row), dtype=np.float32), (row, column)), shape=(len(lengths), width))
    return scipy.sparse.csr_array(counts)
