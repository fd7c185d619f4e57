"""Leaves out rows that readers found faulty, and as many others as are needed to keep the labels balanced."""

import dataclasses
from collections import Counter
from collections.abc import Mapping

import polars as pl
import pyarrow as pa

from discoprobe.builders.config import TEXTS, Config, Shape, Unavailable
from discoprobe.builders.drop_reasons import meanings

FAULTY = "reader"
"""Drop reason, followed by the verdict."""
COUNTERPART = "reader-counterpart"


def without_rows(config: Config | Unavailable, excluded: Mapping[str, str]) -> Config | Unavailable:
    """A config without some of its rows; the others stay as they are.

    With a row, the other rows of its pair are removed. If it has no pair, one row of every other label is removed, from
    the same split and as near in length as possible, so that labels stay balanced.

    Args:
        config: what was built.
        excluded: verdict of the readers by row id; ids that the config does not have are ignored.
    """
    if isinstance(config, Unavailable) or not excluded:
        return config
    drops = Counter(config.drops)
    splits: dict[str, pa.Table] = {}
    used: dict[str, str] = {}
    for split, table in config.splits.items():
        rows = _facts(table, config.shape)
        faulty = rows.filter(pl.col("id").is_in(list(excluded)))
        counterparts = _counterparts(rows, faulty)
        used |= {row_id: excluded[row_id] for row_id in faulty["id"]}
        drops.update(f"{FAULTY} {excluded[row_id]}" for row_id in faulty["id"])
        drops.update({COUNTERPART: len(counterparts)} if counterparts else {})
        gone = {*faulty["id"], *counterparts}
        splits[split] = table.filter(pa.array([row_id not in gone for row_id in rows["id"]], pa.bool_()))
    if not used:
        return config
    if lost := _lost_labels(config, splits):
        reason = f"without the rows that readers found faulty, {lost}"
        return Unavailable(config.name, config.task, config.lang, reason, config.candidates, dict(drops))
    known = dict(config.meanings) | meanings({name: 1 for name in drops if name.startswith(FAULTY)}, {})
    return dataclasses.replace(config, splits=splits, drops=dict(drops), meanings=known, excluded=used)


def _facts(table: pa.Table, shape: Shape) -> pl.DataFrame:
    """What is needed of each row: ``id``, ``label``, ``pair_id``, ``length`` of its texts in characters."""
    several = pl.col("pair_id").is_duplicated()  # a row of a suite is a pair of texts by itself
    length = TEXTS[shape].list.eval(pl.element().str.len_chars()).list.sum().cast(pl.Int64)
    return pl.DataFrame(table).select("id", "label", pl.when(several).then("pair_id"), length=length)


def _counterparts(rows: pl.DataFrame, faulty: pl.DataFrame) -> set[str]:
    """Rows that go with the faulty ones: the rest of their pairs, and what balances the labels of the others."""
    pairs = faulty["pair_id"].drop_nulls().to_list()
    gone = {*rows.filter(pl.col("pair_id").is_in(pairs))["id"], *faulty["id"]}
    lost = Counter(rows.filter(pl.col("id").is_in(list(gone)))["label"].to_list())
    most = max(lost.values(), default=0)
    for label in sorted(rows["label"].unique()):
        free = rows.filter((pl.col("label") == label) & pl.col("pair_id").is_null() & ~pl.col("id").is_in(list(gone)))
        gone |= set(_nearest(free, faulty, most - lost[label]))
    return gone - set(faulty["id"])


def _nearest(free: pl.DataFrame, faulty: pl.DataFrame, n: int) -> list[str]:
    """The ``n`` rows whose lengths are nearest to those of the faulty ones."""
    if not n:
        return []
    distance = pl.min_horizontal((pl.col("length") - length).abs() for length in faulty["length"])
    return free.with_columns(_far=distance).sort("_far", "id")["id"].head(n).to_list()


def _lost_labels(config: Config, splits: Mapping[str, pa.Table]) -> str:
    """Which split has lost a label, in words; empty if none has."""
    for split, table in splits.items():
        left = set(table["label"].to_pylist())
        missing = [config.labels[label] for label in sorted(set(config.splits[split]["label"].to_pylist()) - left)]
        if missing:
            return f"{split} has no row of {', '.join(missing)}"
    return ""
