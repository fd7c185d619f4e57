"""Strata of sentence length, ranks inside strata, and the largest number of rows."""

from collections.abc import Sequence

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.settings import SPLITS, Settings

LENGTH_EDGES = (10, 15, 20, 30)
"""Edges of the length strata, in words per sentence."""

REPEATED = 2
"""Most pairs of a config with the same ``wording``, such as subject and verb (*they are*): a model could learn it."""

STRATA_KEEP = 0.8
"""Strata are merged until balancing inside them keeps at least this share of what balancing without them keeps."""


def strata(words: pl.Expr, n: int) -> pl.Expr:
    """The length stratum of a row, out of ``n`` (2, 3 or 5). The edges are fixed, so that no other row moves it."""
    edges = {2: (15,), 3: (10, 20), 5: LENGTH_EDGES}[n]
    return pl.sum_horizontal(pl.lit(0, pl.Int64), *[(words > edge).cast(pl.Int64) for edge in edges])


def with_rank(rows: pl.DataFrame, within: Sequence[str], *seed_key: str | int) -> pl.DataFrame:
    """Adds ``rank``, the place (from 1) of each row in hash order among the rows with the same values of ``within``.

    Args:
        rows: ``key`` (unique) and the columns ``within``.
        within: columns.
        seed_key: what the hash starts with.
    """
    hashed = rows.with_columns(rank=pl.Series(hashing.mix(rows["key"].to_numpy(), *seed_key)))
    return hashed.with_columns(pl.col("rank").rank("ordinal").over(within))


def first_of_each(rows: pl.DataFrame, within: Sequence[str], *seed_key: str | int) -> pl.DataFrame:
    """The first row in hash order of each value of the columns ``within``."""
    return with_rank(rows, within, *seed_key).filter(pl.col("rank") == 1).drop("rank")


def in_both_directions(rows: pl.DataFrame, within: Sequence[str], up: str, *seed_key: str | int) -> pl.DataFrame:
    """As many rows one way as the other for the same values of some columns; two of them share ``ring``.

    Args:
        rows: ``key``, the columns ``within``, and ``up``, whether a change goes one way or the other.
        within: columns.
        up: a column of truth values.
        seed_key: what the hash starts with.
    """
    ranked = with_rank(rows, [*within, up], "direction", *seed_key)
    least = pl.min_horizontal(pl.col(up).sum().over(within), (~pl.col(up)).sum().over(within))
    kept = ranked.filter(pl.col("rank") <= least)
    return kept.with_columns(ring=pl.col("key").min().over([*within, "rank"])).drop("rank")


def cap(
    rows: pl.DataFrame, settings: Settings, *seed_key: str | int, weight: int = 1, by: Sequence[str] = ()
) -> pl.DataFrame:
    """At most the set number of rows per split, chosen by hash; those of a ``ring`` (all of one size) go together.

    Args:
        rows: ``key``, ``split`` and the columns ``by``.
        settings: the sizes.
        seed_key: what the hash starts with.
        weight: how many rows of the config each row gives.
        by: columns whose values get equal shares of the size.
    """
    if "ring" in rows.columns and rows.height:
        one = rows.unique("ring", keep="first", maintain_order=True)
        chosen = cap(one.drop("ring"), settings, *seed_key, weight=weight * rows.height // one.height, by=by)
        rings = one.filter(pl.col("key").is_in(chosen["key"].implode()))["ring"]
        return rows.filter(pl.col("ring").is_in(rings.implode()))
    n_values = max(rows.select(pl.struct(by).n_unique()).item(), 1) if by else 1
    sizes = {split: settings.size(split) // (weight * n_values) for split in SPLITS}
    most = pl.col("split").cast(pl.String).replace_strict(sizes, return_dtype=pl.Int64)
    return with_rank(rows, ["split", *by], "cap", *seed_key).filter(pl.col("rank") <= most).drop("rank")
