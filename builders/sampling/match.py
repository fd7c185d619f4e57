"""Equal counts of labels, with sentences that are matched on surface features.

Within a stratum of length, the sentences of one label may still be a little longer. So this module finds the largest
set of rows in which every label has equally many rows in every cell and every class of length, and the same means: of
characters, characters per word (plurals have more letters per word), words with a capital (sentences in the past tense
name more people), commas and other punctuation marks. This is cardinality matching with fine balance (Zubizarreta,
Paredes & Rosenbaum 2014), solved as a linear program.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders import hashing
from discoprobe.loaders.running_words import n_running_words

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SURFACE: Final = ("n_running", "n_chars", "n_capitals", "n_commas", "n_marks")
"""Surface features: words of the text, characters, words with a capital, commas, other punctuation marks."""

COMMA: Final = "[,،、，]"

TOLERANCE: Final = 0.02
"""Largest difference between the mean of a label and a value common to all, in standard deviations. With four
hundredths between two labels no solver gains two points of accuracy."""

CLASSES: Final = 10
"""Classes of length at most."""

IN_CLASS: Final = 20
"""Rows of the rarest label for each class of length: with fewer, classes would be unequal by chance."""

PENALTY: Final = 1000.0
"""What a difference beyond the tolerance costs, so that there is one only where ``least`` asks for it."""

TIES: Final = 1e-4
"""Largest worth of a row by its hash: of equally large sets the same one is chosen on every machine."""

SOLVED: Final = 1e-6
"""Accuracy of the solution."""


def surface(text: pl.Expr) -> list[pl.Expr]:
    """The columns ``SURFACE`` of texts."""
    counts = {
        "n_running": n_running_words(text),
        "n_chars": text.str.len_chars(),
        "n_capitals": text.str.count_matches(r"(?:^|\W)\p{Lu}"),
        "n_commas": text.str.count_matches(COMMA),
        "n_marks": text.str.count_matches(r"[^\w\s]"),
    }
    counts["n_marks"] -= counts["n_commas"]
    return [count.cast(pl.Int32).alias(name) for name, count in counts.items()]


def match_labels(
    rows: pl.DataFrame, by: str, *seed_key: str | int, cell: tuple[str, ...] = (), least: int = 0,
    of: tuple[str, ...] = ("",),
) -> pl.DataFrame:  # fmt: skip
    """Equally many rows of each value of ``by`` in every split (and ``cell``), matched on surface features.

    Args:
        rows: ``key``, ``split``, the columns of ``surface`` of every text, ``by`` and ``cell``.
        by: the column that is balanced.
        seed_key: what the hash starts with; it decides between equally good rows.
        cell: columns inside whose values the balance holds too.
        least: number of rows of each value that are kept, if there are as many, even if they match less closely.
        of: the suffix of the columns of ``surface`` for each text of a row.

    Returns:
        The rows kept, in their order. A cell in which a value is missing has none.
    """
    ordered = rows[hashing.ranking(rows["key"].to_numpy(), "even", *seed_key)].with_columns(
        _at=pl.int_range(pl.len()),
        _label=pl.col(by).rank("dense").cast(pl.Int64) - 1,
        _cell=pl.struct("split", *cell).rank("dense").cast(pl.Int64) - 1,
    )
    points = np.hstack([_points(ordered, text) for text in of])
    shared = ordered.filter(pl.col("_label").n_unique().over("_cell") == rows[by].n_unique())
    rarest = shared.group_by("split", "_cell", "_label").len().group_by("split", "_cell").agg(pl.col("len").min())
    supply = dict(rarest.group_by("split").agg(pl.col("len").sum()).iter_rows())
    wanted = min(1.0, least / max(1, sum(supply.values())))
    parts = shared.partition_by("split", maintain_order=True) if shared.height else []
    kept = [
        _largest(part, points[part["_at"].to_numpy()], of, math.ceil(wanted * supply[part["split"][0]]))
        for part in parts
    ]
    return rows.join(pl.concat([rows.select("key").clear(), *kept]), on="key", how="semi", maintain_order="left")


def _points(rows: pl.DataFrame, text: str) -> Floats:
    """Each row as a point: the logarithms of what is counted in one of its texts, standardised."""
    logs = {name: np.log1p(rows[f"{name}{text}"].to_numpy().astype(np.float64)) for name in SURFACE}
    per_word = logs["n_chars"] - logs["n_running"]
    rest = [logs[name] for name in SURFACE if name not in {"n_running", "n_chars"}]
    points = np.column_stack([logs["n_chars"], per_word, *rest])
    spread = points.std(axis=0) if rows.height else np.ones(points.shape[1])
    return np.asarray((points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)) if rows.height else points


def _largest(split: pl.DataFrame, points: Floats, of: tuple[str, ...], least: int) -> pl.DataFrame:
    """The ``key`` of the rows of a split that are kept.

    The program may take parts of a few rows. Of every cell and label those rows are kept of which it takes most, as
    many as the parts add up to.
    """
    in_class = np.hstack([_classes(split, text) for text in of])
    labels, cells = (np.unique(split[name].to_numpy(), return_inverse=True)[1] for name in ("_label", "_cell"))
    parts, sizes = _program(
        labels.astype(np.int64),
        cells.astype(np.int64),
        np.hstack([points, in_class]),
        np.array([TOLERANCE] * points.shape[1] + [0.0] * in_class.shape[1]),
        TIES * hashing.unit(split["key"].to_numpy(), "match"),
        least,
    )
    taken = split.with_columns(_part=pl.Series(parts), _of_cell=pl.Series(_rounded(sizes)[cells])).sort(
        "_part", descending=True, maintain_order=True
    )
    return taken.filter(pl.int_range(pl.len()).over("_cell", "_label") < pl.col("_of_cell")).select("key")


def _classes(split: pl.DataFrame, text: str) -> npt.NDArray[np.bool_]:
    """Which class of length one text of each row is in, shape (rows, classes), which have about equally many rows."""
    rarest = int(split.group_by("_label").len()["len"].min())  # type: ignore[arg-type]
    n_classes = min(CLASSES, max(1, rarest // IN_CLASS))
    characters = split[f"n_chars{text}"].to_numpy()
    edges = np.quantile(characters, np.arange(1, n_classes) / n_classes)
    place = np.searchsorted(edges, characters, side="left")
    return np.asarray(place[:, None] == np.unique(place))


def _rounded(sizes: Floats) -> Ints:
    """Whole numbers whose sum is that of the sizes, rounded; the largest fractions are rounded up."""
    whole = np.floor(sizes + SOLVED).astype(np.int64)
    up = np.argsort(whole - sizes, kind="stable")[: round(sizes.sum()) - whole.sum()]
    whole[up] += 1
    return whole


def _program(  # noqa: PLR0913, PLR0917 (what a linear program consists of)
    labels: Ints, cells: Ints, features: Floats, tolerances: Floats, ties: Floats, least: int
) -> tuple[Floats, Floats]:
    """The part of each row, from 0 to 1, in the largest balanced set, and its rows per label in every cell.

    Args:
        labels: number of the label of each row.
        cells: number of the cell of each row; every cell has every label.
        features: what is balanced, shape (rows, features).
        tolerances: largest difference, per feature, between the mean of a label and a value common to all.
        ties: worth of each row, so small that it decides between equally large sets only.
        least: rows per label that are taken, even if the features differ more.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 (takes a quarter of a second)
    from scipy.sparse import block_array, coo_array  # noqa: PLC0415

    n_rows, n_features = features.shape
    n_labels, n_cells = int(labels.max()) + 1, int(cells.max()) + 1
    in_cell = coo_array(
        (np.ones(n_rows), (labels * n_cells + cells, np.arange(n_rows))), shape=(n_labels * n_cells, n_rows)
    )
    row, feature = features.nonzero()
    of_label = (features[row, feature], (labels[row] * n_features + feature, row))
    sums = coo_array(of_label, shape=(n_labels * n_features, n_rows))
    size, common = (np.tile(np.eye(n), (n_labels, 1)) for n in (n_cells, n_features))
    allowed = np.repeat(np.tile(tolerances, n_labels)[:, None], n_cells, axis=1)
    # The variables: part of each row; rows per label in each cell; of each feature the common sum and the excess.
    equal = block_array([[in_cell, -size, coo_array((len(size), 2 * n_features))]])
    atmost = block_array(
        [
            [sums, -allowed, -common, -common],
            [-sums, -allowed, common, -common],
            [None, -np.ones((1, n_cells)), None, None],
        ]
    )
    excess = (0, None) if least else (0, 0)
    found = linprog(
        np.concatenate([-ties, -np.ones(n_cells), np.zeros(n_features), np.full(n_features, PENALTY)]),
        A_ub=atmost, b_ub=np.append(np.zeros(atmost.shape[0] - 1), -least), A_eq=equal, b_eq=np.zeros(equal.shape[0]),
        bounds=[(0, 1)] * n_rows + [(0, None)] * n_cells + [(None, None)] * n_features + [excess] * n_features,
    )  # fmt: skip
    return found.x[:n_rows], found.x[n_rows : n_rows + n_cells]
