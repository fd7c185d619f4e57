"""Which values of an open label set become classes.

Classes are balanced, so the rarest class decides on the number of rows: with ten duals and thousands of singulars and
plurals, ten of each would be left. So rare values are left out. Of all sets of at least two values that keep at least
the share ``CLASSES_KEEP`` of the largest possible number of rows, the one with the most values is chosen.

Other features of the target can predict its label: most plural nouns of a treebank are feminine, and perfective verbs
are past. Labels are balanced within the values of such companions.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from discoprobe.builders.settings import SPLITS
from discoprobe.loaders.corpus import feat

CLASSES_KEEP = 0.75
"""Share of the largest possible number of rows that a set of classes must keep: more classes cost at most a quarter."""

MOST_VALUES = 10
"""Sets are made of this number of values, the most frequent ones; there are 1,013 such sets."""


NAMED = 5
"""Values that a message names."""


@dataclass(frozen=True, slots=True)
class LabelSet:
    """What was chosen.

    ``names`` are the classes, in alphabetical order; ``left_out`` are the other values, each with the reason why its
    candidates are not used; ``reason`` says why there are no classes.
    """

    names: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


def by_frequency(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """The values of a column and the number of their rows, ``len``, the most frequent first."""
    return rows.group_by(by).len().sort(["len", by], descending=[True, False])


def most_frequent(rows: pl.DataFrame, by: str) -> str:
    """The ``NAMED`` most frequent values of a column with their numbers of rows, for a message."""
    return ", ".join(f"{value} {n}" for value, n in by_frequency(rows, by).head(NAMED).iter_rows())


def frequent_in_splits(rows: pl.DataFrame, by: str, least: int) -> list[str]:
    """The values of a column that have ``least`` rows, and some in every split, in alphabetical order."""
    counts = rows.group_by(by).agg(n=pl.len(), splits=pl.col("split").n_unique()).sort(by)
    return counts.filter(pl.col("n") >= least, pl.col("splits") == len(SPLITS))[by].to_list()


def choose_labels(frame: pl.DataFrame, least: int, within: Sequence[str] = ()) -> LabelSet:
    """The classes of candidates with an open label set.

    Args:
        frame: usable candidates: ``split``, ``label`` (name) and ``cell`` (rows are balanced inside each value).
        least: fewest rows of a class.
        within: features that ``cell`` has the values of, for the reason.
    """
    counts = dict(by_frequency(frame, "label").iter_rows())
    if names := _best(frame, list(counts)[:MOST_VALUES], least):
        return LabelSet(names, {name: f"rare-value {name}" for name in counts if name not in names})
    if not counts:
        return LabelSet((), reason="no candidates are left")
    left_out = {name: f"rare-value {name}" if n < least else "unbalanced" for name, n in counts.items()}
    named = ", ".join(f"{name} {n}" for name, n in counts.items())
    same = f" of the same {' and '.join(within)}" if within else ""
    reason = f"no two values have {least} balanced rows{same} in all splits (candidates left: {named})"
    return LabelSet((), left_out, reason)


def with_companions(frame: pl.DataFrame, companions: Sequence[str], keep: float, least: int = 0) -> pl.DataFrame:
    """The candidates with the values of companion features in their ``cell``.

    Args:
        frame: usable candidates: ``split``, ``label`` (name), ``cell`` and ``target_feats``.
        companions: names of features.
        keep: a companion is left out if balancing within its values keeps less than this share of the rows: a treebank
            may give it to one label only, as Gender to Dutch nouns in the singular.
        least: fewest rows that balancing within a companion must keep.
    """
    for name in companions:
        value = pl.format("{}={}", pl.lit(name), feat(name, "target_feats").fill_null("-"))
        finer = frame.with_columns(cell=pl.concat_str("cell", value, separator=" ", ignore_nulls=True))
        if _most_rows(finer) >= max(least, keep * _most_rows(frame)):
            frame = finer
    return frame


def _most_rows(frame: pl.DataFrame) -> int:
    """Rows of the two values that together have most."""
    values = frame["label"].drop_nulls().unique().sort().to_list()
    counts = _counts_in_cells(frame, values)
    return max((_n_balanced(counts, names) for names in itertools.combinations(values, 2)), default=0) if values else 0


def _best(frame: pl.DataFrame, values: list[str], least: int) -> tuple[str, ...]:
    """The set with most values among those that have ``least`` rows of each value and nearly as many as any set."""
    counts = _counts_in_cells(frame, values)
    n_rows: dict[tuple[str, ...], int] = {}
    for n in range(2, len(values) + 1):
        for names in itertools.combinations(values, n):
            if (rows := _n_balanced(counts, names)) >= least * n:
                n_rows[tuple(sorted(names))] = rows
    enough = CLASSES_KEEP * max(n_rows.values(), default=0)
    good = [names for names, rows in n_rows.items() if rows >= enough]
    return max(good, key=lambda names: (len(names), n_rows[names], names), default=())


def _counts_in_cells(frame: pl.DataFrame, values: list[str]) -> pl.DataFrame:
    """Candidates of each value (a column) by split and cell."""
    counted = frame.filter(pl.col("label").is_in(values)).group_by("split", "cell", "label").len()
    return counted.pivot(on="label", index=["split", "cell"], values="len").fill_null(0) if counted.height else counted


def _n_balanced(counts: pl.DataFrame, names: tuple[str, ...]) -> int:
    """How many rows are left when ``names`` are balanced inside every split and cell; 0 if a split has none."""
    rows = counts.select("split", rows=pl.min_horizontal(names) * len(names))
    per_split = rows.filter(pl.col("rows") > 0).group_by("split").agg(pl.col("rows").sum())
    return int(per_split["rows"].sum()) if per_split.height == len(SPLITS) else 0
