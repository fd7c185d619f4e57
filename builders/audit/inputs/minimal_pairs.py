"""Minimal pairs: a good and a bad sentence per row (BLiMP, RuBLiMP, MultiBLiMP)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.audit.frame import SCHEMA, AuditInput, UnreadableDataError, conform
from discoprobe.builders.audit.inputs.split_files import PAIR_COLUMNS, pair_columns
from discoprobe.builders.config import Shape

if TYPE_CHECKING:
    from discoprobe.builders.audit.inputs.split_files import Group


def read_pairs(group: Group) -> AuditInput:
    """The pairs of a group of files as choices between two sentences, the good one in a place drawn by hash.

    Raises:
        UnreadableDataError: no two columns hold the pair, or a sentence is missing.
    """
    splits = [_choices(group.name, split, frame) for split, frame in group.tables().items()]
    rows = conform(pl.concat(splits), Shape.CHOICE)
    labels = ("first", "second")
    return AuditInput(group.name, Shape.CHOICE, labels, rows, perturbation=True, natural=True, external=True)


def _choices(name: str, split: str, frame: pl.DataFrame) -> pl.DataFrame:
    columns = pair_columns(frame.columns)
    if columns is None:
        expected = " or ".join("/".join(pair) for pair in PAIR_COLUMNS)
        raise UnreadableDataError(f"{name}: no columns of minimal pairs ({expected}) among {', '.join(frame.columns)}")
    good, bad = columns
    missing = frame.filter(pl.col(good).is_null() | pl.col(bad).is_null()).height
    if missing:
        raise UnreadableDataError(f"{name}: {missing} rows of {split} lack the {good} or the {bad}")
    label = hashing.pick(range(frame.height), 2, name, split, "place of the good sentence")
    rows = frame.select(good=pl.col(good).cast(pl.String), bad=pl.col(bad).cast(pl.String)).with_columns(
        label=pl.Series(label)
    )
    in_order = (
        pl.when(pl.col("label") == 0).then(pl.concat_list("good", "bad")).otherwise(pl.concat_list("bad", "good"))
    )
    return rows.select("label", texts=in_order, split=pl.lit(split, dtype=SCHEMA["split"]))
