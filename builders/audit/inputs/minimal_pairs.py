"""Minimal pairs: a good and a bad sentence per row (BLiMP, RuBLiMP, MultiBLiMP)."""

from collections import Counter
from collections.abc import Mapping

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.audit.frame import SCHEMA, AuditInput, Provenance, UnreadableDataError, conform
from discoprobe.builders.audit.inputs.split_files import PAIR_COLUMNS, pair_columns
from discoprobe.builders.config import Shape


def read_pairs(name: str, splits: Mapping[str, pl.DataFrame], text: tuple[str, ...] = ()) -> AuditInput:
    """Pairs as choices between two sentences, the good one in a place drawn by hash.

    ``text`` names the columns of the good and the bad sentence, where their names are none of `PAIR_COLUMNS`.

    Raises:
        UnreadableDataError: no two columns hold the pair, or no pair is complete.
    """
    columns = (text[0], text[1]) if len(text) == 2 else pair_columns(next(iter(splits.values())).columns)  # noqa: PLR2004
    if columns is None:
        expected, there = " or ".join("/".join(pair) for pair in PAIR_COLUMNS), next(iter(splits.values())).columns
        raise UnreadableDataError(
            f"{name}: no columns of minimal pairs ({expected}) among {', '.join(there)}; name the good and the bad one "
            "with --text"
        )
    counts: Counter[str] = Counter()
    rows = conform(
        pl.concat([_choices(name, split, of, columns, counts) for split, of in splits.items()]), Shape.CHOICE
    )
    if rows.is_empty():
        raise UnreadableDataError(f"{name}: no pair of '{columns[0]}' and '{columns[1]}' is complete")
    about = Provenance("minimal pairs", columns={"good": columns[:1], "bad": columns[1:]}, left_out=dict(counts))
    labels = ("first", "second")
    return AuditInput(name, Shape.CHOICE, labels, rows, perturbation=True, natural=True, external=True, read=about)


def _choices(
    name: str, split: str, frame: pl.DataFrame, columns: tuple[str, str], counts: Counter[str]
) -> pl.DataFrame:
    lacking = [column for column in columns if column not in frame.columns]
    if lacking:
        raise UnreadableDataError(f"{name}: the {split} split has no column '{lacking[0]}'")
    good, bad = (pl.col(column).cast(pl.String) for column in columns)
    complete = frame.select(good=good, bad=bad).drop_nulls()
    if missing := frame.height - complete.height:
        counts["no text"] += missing
    label = hashing.pick(range(complete.height), 2, name, split, "place of the good sentence")
    rows = complete.with_columns(label=pl.Series(label, dtype=pl.Int64))
    in_order = (
        pl.when(pl.col("label") == 0).then(pl.concat_list("good", "bad")).otherwise(pl.concat_list("bad", "good"))
    )
    return rows.select("label", texts=in_order, split=pl.lit(split, dtype=SCHEMA["split"]))
