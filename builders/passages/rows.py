"""Rows of discourse tasks made from windows of sentences: the few forms that the ten tasks share."""

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders import hashing


def members(first: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """The rows of each window: (windows, size)."""
    return first[:, None] + np.arange(size)


def describe(frame: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Adds to windows what sampling needs.

    ``split``, ``key``, ``mean_words``, ``same`` (a sentence occurs twice in it) and ``content_key`` (equal for windows
    of the same sentences in any order).
    """
    rows = windows.select("window", row=pl.int_ranges("first", pl.col("first") + pl.col("size"))).explode("row")
    texts = frame.select(pl.col("row").cast(pl.Int64), "split", "n_words", "text_key")
    facts = (
        rows.join(texts, on="row", how="left", maintain_order="left")
        .group_by("window", maintain_order=True)
        .agg(
            split=pl.col("split").first(),
            mean_words=pl.col("n_words").mean(),
            same=pl.col("text_key").n_unique() < pl.len(),
            content_key=pl.col("text_key").sort(),
        )
    )
    return windows.join(facts, on="window", maintain_order="left").with_columns(key=pl.col("window"))


def distinct(windows: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Drops windows in which a sentence occurs twice and windows of the same sentences as another."""
    own = windows.filter(~pl.col("same"))
    single = own.sort("window").unique("content_key", keep="first", maintain_order=True)
    drops = {"sentence-twice": windows.height - own.height, "duplicate": own.height - single.height}
    return single.drop("content_key", "same"), drops


def spread(frame: pl.DataFrame, taken: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The rows of usable sentences that are not ``taken``: the pool for intruders.

    A document's first sentence is not in it: it is a headline or a lead, and what it would stand in for never is one.
    """
    usable = frame.select(pl.col("passage").is_not_null() & (pl.col("index") > 0)).to_series().to_numpy().copy()
    usable[taken] = False
    return np.flatnonzero(usable)


def pair_rows(
    windows: npt.NDArray[np.uint64], first: npt.NDArray[np.int64], split: pl.Series, versions: list[pl.DataFrame]
) -> pl.DataFrame:
    """Rows that come in sets: the i-th row of every version shares the pair of the i-th window.

    ``versions[label]`` has ``members``, ``order`` and ``position`` for each window.
    """
    parts = [
        version.with_columns(
            key=pl.Series(hashing.mix(windows, "row", label), dtype=pl.UInt64),
            pair=pl.Series(windows, dtype=pl.UInt64),
            label=pl.lit(label, pl.Int64),
            split=split,
            row=pl.Series(first, dtype=pl.Int64),
        )
        for label, version in enumerate(versions)
    ]
    return pl.concat(parts)


def version(
    shown: npt.NDArray[np.int64] | list[list[int]], order: npt.NDArray[np.int64] | list[list[int]],
    position: npt.NDArray[np.int64] | int = -1,
) -> pl.DataFrame:  # fmt: skip
    """The sentences shown (rows), their source order inside the window, and the edited position."""
    n = len(shown)
    return pl.DataFrame(
        {
            "members": pl.Series(list(map(list, shown)), dtype=pl.List(pl.Int64)),
            "order": pl.Series(list(map(list, order)), dtype=pl.List(pl.Int32)),
            "position": pl.Series(np.broadcast_to(np.asarray(position), (n,)).astype(np.int32)),
        }
    )
