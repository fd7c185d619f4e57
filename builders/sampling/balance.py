"""Balance: which labels a config has, and which rows stay so that they are equally frequent and simple rules at chance.

The rarest label decides on the number of rows: with ten duals and thousands of singulars and plurals, ten of each would
be left. So ``choose_labels`` leaves rare values of an open label set out: of all sets of at least two values that keep
at least the share ``CLASSES_KEEP`` of the largest possible number of rows, it takes the one with the most values. Other
features of the target can predict its label: most plural nouns of a treebank are feminine, and perfective verbs are
past. Labels are balanced within the values of such companions (``with_companions``).

From top to bottom: the labels; strata of sentence length and ranks in hash order; ``cap``, the set sizes; bins of
length as labels; ``equal_counts`` of labels; ``assign_labels`` to rows that could have any; ``remove_bias``, which
removes rows until simple rules are at chance, and the gains of such rules; ``match_labels`` on surface features.

Within a stratum of length, the sentences of one label may still be a little longer. So ``match_labels`` finds the
largest set of rows in which every label has equally many rows in every cell and every class of length, and the same
means: of characters, characters per word (plurals have more letters per word), words with a capital (sentences in the
past tense name more people), commas and other punctuation marks. This is cardinality matching with fine balance
(Zubizarreta, Paredes & Rosenbaum 2014), solved as a linear program.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy  # its parts take a quarter of a second, and are loaded when they are first used

from discoprobe.builders.settings import MIN_ROWS, SPLITS, Settings
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.words import n_running_words

CLASSES_KEEP = 0.75
"""Share of the largest possible number of rows that a set of classes must keep: more classes cost at most a quarter."""

MOST_VALUES = 10
"""Sets are made of this number of values, the most frequent ones; there are 1,013 such sets."""

NAMED = 5
"""Values that a message names."""

LENGTH_EDGES = (10, 15, 20, 30)
"""Edges of the length strata, in words per sentence."""

REPEATED = 2
"""Most pairs of a config with the same ``wording``, such as subject and verb (*they are*): a model could learn it."""

FINE = 2**20
"""Measures are rounded to this part: the last bits of a logarithm depend on the processor (AVX-512 has others), and a
sum that is zero on one machine would not be on the next."""

STRATA_KEEP = 0.8
"""Strata are merged until balancing inside them keeps at least this share of what balancing without them keeps."""


Supported = tuple[tuple[str, ...], Mapping[str, str], str]
"""The labels that a corpus supports; the others, each with the reason why its candidates are not used; and why there
are no labels, empty if there are some."""


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


def choose_labels(frame: pl.DataFrame, least: int, within: Sequence[str] = ()) -> Supported:
    """The labels of candidates with an open label set.

    Args:
        frame: usable candidates: ``split``, ``label`` (name) and ``cell`` (rows are balanced inside each value).
        least: fewest rows of a class.
        within: features that ``cell`` has the values of, for the reason.
    """
    counts = dict(by_frequency(frame, "label").iter_rows())
    if names := _best(frame, list(counts)[:MOST_VALUES], least):
        left_out = {name: f"rare-value {name}" for name in counts if name not in names}
        return names, left_out, ""
    if not counts:
        return (), {}, "no candidates are left"
    left_out = {name: f"rare-value {name}" if n < least else "unbalanced" for name, n in counts.items()}
    named = ", ".join(f"{name} {n}" for name, n in counts.items())
    same = f" of the same {' and '.join(within)}" if within else ""
    reason = f"no two values have {least} balanced rows{same} in all splits (candidates left: {named})"
    return (), left_out, reason


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
    paired = ranked.filter(pl.col("rank") <= least)
    return paired.with_columns(ring=pl.col("key").min().over([*within, "rank"])).drop("rank")


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
        first = rows.unique("ring", keep="first", maintain_order=True)
        chosen = cap(first.drop("ring"), settings, *seed_key, weight=weight * rows.height // first.height, by=by)
        rings = first.filter(pl.col("key").is_in(chosen["key"].implode()))["ring"]
        return rows.filter(pl.col("ring").is_in(rings.implode()))
    n_values = max(rows.select(pl.struct(by).n_unique()).item(), 1) if by else 1
    sizes = {split: settings.size(split) // (weight * n_values) for split in SPLITS}
    most = pl.col("split").cast(pl.String).replace_strict(sizes, return_dtype=pl.Int64)
    return with_rank(rows, ["split", *by], "cap", *seed_key).filter(pl.col("rank") <= most).drop("rank")


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


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CLASSES_BALANCE, IN_CLASS_BALANCE = 5, 40
"""Largest number of classes of a measure, and smallest number of rows per class."""

WAVES, TOGETHER, FURTHEST = 200, 3, 3.0
"""Number of rules on several measures together, number of measures that each sees, and number of standard deviations at
which differences are clipped."""

FAR = 2.0
"""Differences between a candidate and the others are clipped at this number of standard deviations."""


STEPS = 15
"""Parts into which ``steps`` divides the values of a measure."""

AHEAD = 64
"""Moves whose products with all rows are computed at a time."""

KNOWN = 2**24
"""Most numbers in the products that are kept until their moves are made: 64 MB."""

SINGLE = 2.0**16
"""Products of eighths are whole 64ths, which single precision adds exactly up to 2^18. The product of two moves is at
most four times the largest sum of the squares of a row, so that it is exact if this sum is smaller."""


def equal_counts(rows: pl.DataFrame, by: str, cell: list[str], *seed_key: str | int) -> pl.DataFrame:
    """Keeps equally many rows of each value of ``by`` in every ``cell``; hash order decides which.

    A cell in which a value is missing is left out whole.
    """
    values = rows[by].n_unique()
    ranked = with_rank(rows, [*cell, by], "equalise", *seed_key)
    counts = rows.group_by([*cell, by]).len().group_by(cell).agg(_n=pl.len(), _least=pl.col("len").min())
    quota = counts.filter(pl.col("_n") == values).drop("_n")
    rows_kept = ranked.join(quota, on=cell, nulls_equal=True, maintain_order="left").filter(
        pl.col("rank") <= pl.col("_least")
    )
    return rows_kept.drop("rank", "_least")


def equal_counts_by_length(rows: pl.DataFrame, by: str, *seed_key: str | int) -> pl.DataFrame:
    """Equal counts of ``by`` in every split and length stratum; five strata, fewer for small corpora."""
    overall = equal_counts(rows, by, ["split"], *seed_key)
    for n in (5, 3, 2):
        staged = rows.with_columns(_stratum=strata(pl.col("mean_words"), n))
        by_stratum = equal_counts(staged, by, ["split", "_stratum"], *seed_key).drop("_stratum")
        if (
            by_stratum.height >= STRATA_KEEP * overall.height
            and by_stratum["split"].n_unique() == overall["split"].n_unique()
        ):
            return by_stratum
    return overall


def assign_labels(rows: pl.DataFrame, n_labels: int, *seed_key: str | int) -> pl.DataFrame:
    """Gives each row one of ``n_labels`` labels, equally often in every split and, if possible, length stratum.

    A hash of its key gives each row an order of the labels. In hash order, each row gets the first label of its order
    that still has places. The remainder of a stratum (beyond a multiple of ``n_labels``) is treated together with the
    remainders of the other strata. At most ``n_labels - 1`` rows of a split get no label; they are left out.

    Args:
        rows: ``key``, ``split`` and ``mean_words``.
        n_labels: number of labels.
        seed_key: what the hashes start with.

    Returns:
        The rows that got a ``label``, in their order.
    """
    stratified = rows.with_columns(_stratum=strata(pl.col("mean_words"), len(LENGTH_EDGES) + 1))
    in_strata = _equal_labels(stratified, ["split", "_stratum"], n_labels, *seed_key)
    remainder = stratified.join(in_strata, on="key", how="anti", maintain_order="left")
    labels = pl.concat([in_strata, _equal_labels(remainder, ["split"], n_labels, *seed_key)])
    return rows.join(labels, on="key", maintain_order="left")


def _equal_labels(rows: pl.DataFrame, within: list[str], n_labels: int, *seed_key: str | int) -> pl.DataFrame:
    """``key`` and ``label`` of rows, equally many of each label in every value of ``within``."""
    cells = [pl.DataFrame(schema={"key": pl.UInt64, "label": pl.Int64})]
    for cell in rows.partition_by(within, maintain_order=True):
        keys = cell["key"].to_numpy()
        order = hashing.ranking(keys, "serve", *seed_key)
        wishes = np.argsort(
            np.stack([hashing.mix(keys, "wish", label, *seed_key) for label in range(n_labels)], axis=1), axis=1
        )
        free = np.full(n_labels, len(keys) // n_labels)
        labels = np.full(len(keys), -1)
        for row in order[: len(keys) // n_labels * n_labels]:
            wish = next(label for label in wishes[row] if free[label])
            free[wish] -= 1
            labels[row] = wish
        labelled = cell.select("key", label=pl.Series(labels, dtype=pl.Int64))
        cells.append(labelled.filter(pl.col("label") >= 0))
    return pl.concat(cells)


def remove_bias(
    rows: pl.DataFrame, gains: Floats, *seed_key: str | int, few: int = 0, slack: float = 0.5,
    deviations: float = np.inf,
) -> pl.DataFrame:  # fmt: skip
    """One row of each key, or none, so that simple rules do about as well as chance in every split.

    A gain says for a row by how much a rule does better than chance: for a rule about two candidates 1 where it finds
    the right one, -1 where it finds the other, 0 where it cannot tell; for one about four, 3 and -1. First, rows are
    replaced by others of the same key; then rows are removed. Each step chooses the row that brings the sums of all
    gains nearest to zero, until no row brings them nearer. Hash order decides between equally good rows.

    Args:
        rows: ``key`` and ``split``; the rows of a key are alternatives, of which the first is taken where it may be.
        gains: of each rule on each row, in whole eighths (so that their sums are exact), shape (rows, rules).
        seed_key: what the hashes start with.
        few: number of keys of a split that are always kept.
        slack: sums of at most this count as zero.
        deviations: largest slack, in standard deviations of chance (the root of the number of keys in a split).

    Returns:
        The rows kept, in their order.
    """
    keys = rows["key"].to_numpy()
    order = np.argsort(~hashing.mix(keys, "level", *seed_key), kind="stable")
    keys, splits = keys[order], rows["split"].rank("dense").to_numpy()[order]
    stays = np.zeros(rows.height, dtype=bool)
    for split in np.unique(splits):
        here = splits == split
        _, first, units = np.unique(keys[here], return_index=True, return_inverse=True)
        units = np.argsort(np.argsort(first))[units]  # numbered in hash order
        most = min(slack, deviations * (units.max() + 1) ** 0.5)
        stays[order[here][_level(gains[order[here]], units, few, most)]] = True
    return rows.filter(stays)


def _level(gains: Floats, units: Ints, few: int, slack: float) -> Ints:
    """Numbers of the rows that stay: at most one of each unit, whose rows follow each other.

    A move changes the sums of the gains; ``growth`` is by how much it makes the sum of their squares larger. It is
    computed once. A move that is made changes that of another by twice the product of the two.
    """
    largest = np.einsum("ij,ij->i", gains, gains).max()
    gains = gains.astype(np.float32 if largest < SINGLE else np.float64)
    first = np.unique(units, return_index=True)[1]
    ends, chosen = np.append(first[1:], len(units)), first.copy()
    sums, now = gains[chosen].sum(axis=0, dtype=np.float64), chosen[units]
    moves = gains - gains[now]
    growth, products = _growth(moves, sums), _Products(gains, moves)
    while (best := _nearest(growth, sums, slack)) is not None:
        product = products.with_move(best, growth)
        sums += moves[best]
        growth += 2 * (product - product[now])
        unit = units[best]
        here = slice(first[unit], ends[unit])
        chosen[unit] = now[here] = best
        moves[here] = gains[here] - gains[best]
        growth[here] = _growth(moves[here], sums)
        products.forget(here)
    moves, stays = -gains[chosen], np.ones(len(chosen), dtype=bool)
    growth, products, n_left = _growth(moves, sums), _Products(moves, moves), len(chosen)
    while n_left > few and (best := _nearest(growth, sums, slack)) is not None:
        growth += 2 * products.with_move(best, growth)
        sums += moves[best]
        stays[best], growth[best] = False, np.inf
        n_left -= 1
    return chosen[stays]


def _growth(moves: Floats, sums: Floats) -> Floats:
    """By how much each move makes the sum of the squares of ``sums`` larger."""
    return np.asarray(np.einsum("ij,ij->i", moves, moves) + 2 * (moves @ sums))


def _nearest(growth: Floats, sums: Floats, slack: float) -> int | None:
    """The number of the move that brings ``sums`` nearest to zero; None if they are within ``slack`` or none does."""
    best = int(growth.argmin())
    return best if growth[best] < 0 and np.abs(sums).max() > slack else None


class _Products:
    """The products of all rows with a move, computed for many moves at a time: for those that may be made next.

    A product of two matrices takes a small part of the time of as many products of a matrix and a vector.
    """

    def __init__(self, rows: Floats, moves: Floats) -> None:
        self._rows, self._moves, self._known = rows, moves, dict[int, Floats]()

    def with_move(self, move: int, growth: Floats) -> Floats:
        """The product of each row with the move that has the least ``growth``, and is made now."""
        if move not in self._known:
            if len(self._known) * len(self._rows) > KNOWN:
                self._known.clear()
            unknown = growth.copy()
            unknown[list(self._known)] = np.inf
            n = min(AHEAD, len(growth))
            ahead = np.union1d(np.argpartition(unknown, n - 1)[:n], move)
            self._known.update(zip(ahead.tolist(), self._moves[ahead] @ self._rows.T, strict=True))
        return self._known.pop(move)

    def forget(self, moves: slice) -> None:
        """Makes the products with these moves, which have changed, be computed again."""
        for move in range(moves.start, moves.stop):
            self._known.pop(move, None)


def ranks(values: Floats) -> Floats:
    """Gains of the rules "the right one has this rank among the candidates", without the lowest rank.

    Args:
        values: a measure of the candidates of each row, the right one first, shape (rows, candidates).

    Returns:
        Shape (rows, candidates - 1), as ``remove_bias`` takes it.
    """
    below, upto = ((order(values[:, 1:], values[:, :1])).sum(axis=1) for order in (np.less, np.less_equal))
    places = np.arange(values.shape[1])
    shares = (places >= below[:, None]) & (places <= upto[:, None])
    gains = len(places) * shares / shares.sum(axis=1, keepdims=True) - 1
    return _in_eighths(gains[:, 1:])


def differences(values: Floats) -> Floats:
    """Gains of a rule that sees by how many standard deviations the right one is above the others, as ``ranks``."""
    above = values[:, :1] - values[:, 1:].mean(axis=1, keepdims=True)
    spread = above.std() if len(above) else 0.0
    return _in_eighths(np.clip(above / (spread or 1.0), -FAR, FAR))


def classes(values: Floats) -> Floats:
    """Like ``ranks``, for the rules "the right one is in this class of values, and the others are not".

    The classes have about equally many rows, and there are fewer of them where there are few rows.
    """
    n_classes = max(1, min(CLASSES_BALANCE, len(values) // IN_CLASS_BALANCE))
    edges = np.unique(np.quantile(values, np.arange(1, n_classes) / n_classes)) if n_classes > 1 else np.empty(0)
    in_class = np.searchsorted(edges, values)[:, :, None] == np.arange(len(edges) + 1)
    return _in_eighths(in_class[:, 0] - in_class[:, 1:].mean(axis=1))


def steps(values: Floats) -> Floats:
    """Like ``ranks``, for the rules "the right one is above this value, and the others are not", as decision trees ask.

    The values are quantiles: every fifteenth candidate is between two of them.
    """
    edges = np.unique(np.quantile(values, np.arange(1, STEPS) / STEPS)) if len(values) else np.empty(0)
    above = values[:, :, None] > edges
    return _in_eighths(above[:, 0] - above[:, 1:].mean(axis=1))


def waves(measures: Sequence[Floats]) -> Floats:
    """Like ``differences``, for ``WAVES`` rules on several measures of the candidates together.

    Each rule scores a candidate by the sine of a sum of ``TOGETHER`` measures, with weights that a hash chooses (random
    features of a Gaussian kernel, Rahimi & Recht 2007), and each measure is how far the candidate is above the mean of
    the others. If no score is higher for the right candidate on average, hardly any function of the measures finds it.
    Of two candidates, one is as far above the other as that is below it, so that the sine of the difference is enough;
    of more, a phase lets rules find a candidate that is in the middle.
    """
    values = np.stack(measures, axis=2)
    n_others = values.shape[1] - 1
    above = values - (values.sum(axis=1, keepdims=True) - values) / n_others
    spread = above[:, 0].std(axis=0) if len(above) else np.ones(len(measures))
    standard = np.clip(above / np.where(spread > 0, spread, 1.0), -FURTHEST, FURTHEST)
    rules = np.arange(WAVES)
    order = np.argsort([hashing.mix(rules, "measure", measure) for measure in range(len(measures))], axis=0)
    angles = np.zeros((*values.shape[:2], WAVES))
    for place, measure in enumerate(order[:TOGETHER]):
        angles += standard[:, :, measure] * scipy.special.ndtri(hashing.unit(rules, "weight", place))
    scores = np.sin(angles + (2 * np.pi * hashing.unit(rules, "phase") if n_others > 1 else 0.0))
    return _in_eighths(n_others / 2 * (scores[:, 0] - scores[:, 1:].mean(axis=1)))


def _in_eighths(gains: Floats) -> Floats:
    return np.asarray(np.round(gains * 8) / 8)


SURFACE: Final = ("n_running", "n_chars", "n_capitals", "n_commas", "n_marks")
"""Surface features: words of the text, characters, words with a capital, commas, other punctuation marks."""

COMMA: Final = "[,،、，]"

TOLERANCE: Final = 0.02
"""Largest difference between the mean of a label and a value common to all, in standard deviations. With four
hundredths between two labels no solver gains two points of accuracy."""

DEVIATIONS: Final = 0.14
"""The same in a split with fewer rows than ``MIN_ROWS``, in standard errors of the difference between two means (the
root of 2/n for n rows per label). Two labels whose means differ by d standard deviations are told apart with an
accuracy of .5 + .2 d, so one mean gives a solver at most .22 of the standard error of its accuracy, and five at once
half of it."""

CLASSES_MATCH: Final = 10
"""Classes of length at most."""

IN_CLASS_MATCH: Final = 20
"""Rows of the rarest label for each class of length: with fewer, classes would be unequal by chance."""

SHAPES_MATCH: Final = 2000
"""Rows of the rarest label of a split from which on the second moments of lengths are matched, too. With equal means, a
label of longer words and sentences still has more that are long in both; in sets of 10,000 rows with strong differences
the audit found that in one of three (accuracy .546), and finds .533, .516 and .528 with equal second moments. In fewer
rows nobody finds it."""

SMALL: Final = MappingProxyType(dict(zip(SPLITS, MIN_ROWS, strict=True)))
"""Rows from which on a split is as large as a published one must be."""

PENALTY: Final = 1000.0
"""What a difference beyond the tolerance costs, so that there is one only where ``least`` asks for it."""

TIES: Final = 1e-4
"""Largest worth of a row by its hash: of equally large sets the same one is chosen on every machine."""

EXACT: Final = 1e-10
"""Tolerance of the solver, its least: with the default, versions of scipy end at other sets that are as good."""
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


def match_labels(  # noqa: PLR0913 (one parameter per condition)
    rows: pl.DataFrame, by: str, *seed_key: str | int, cell: tuple[str, ...] = (), least: int = 0,
    of: tuple[str, ...] = ("",), small: Mapping[str, int] = SMALL,
) -> pl.DataFrame:  # fmt: skip
    """Equally many rows of each value of ``by`` in every split (and ``cell``), matched on surface features.

    The means of labels differ by at most ``TOLERANCE``; in a small split by at most ``DEVIATIONS``.

    Args:
        rows: ``key``, ``split``, the columns of ``surface`` of every text, ``by`` and ``cell``.
        by: the column that is balanced.
        seed_key: what the hash starts with; it decides between equally good rows.
        cell: columns inside whose values the balance holds too.
        least: number of rows of each value that are kept, if there are as many, even if they match less closely.
        of: the suffix of the columns of ``surface`` for each text of a row.
        small: the number of rows below which a split is small; for a block of a larger corpus none is, because the
            differences of all blocks add up.

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
    share = min(1.0, least / max(1, sum(supply.values())))
    parts = shared.partition_by("split", maintain_order=True) if shared.height else []
    sets = [rows.select("key").clear()]
    for part in parts:
        split, at = part["split"][0], part["_at"].to_numpy()
        fewest = math.ceil(share * supply[split])
        matched_on = points[at]
        if int(part.group_by("_label").len()["len"].min()) >= SHAPES_MATCH:  # type: ignore[arg-type]
            matched_on = np.hstack([matched_on, _second_moments(matched_on, len(of))])
        largest = _largest_balanced_set(part, matched_on, of, fewest, TOLERANCE)
        wider = DEVIATIONS * math.sqrt(2 / supply[split])
        if wider > TOLERANCE and largest.height < small.get(split, 0):
            largest = _largest_balanced_set(part, matched_on, of, fewest, wider)
        sets.append(largest)
    return rows.join(pl.concat(sets), on="key", how="semi", maintain_order="left")


def _points(rows: pl.DataFrame, text: str) -> Floats:
    """Each row as a point: the logarithms of what is counted in one of its texts, standardised."""
    logs = {name: np.log1p(rows[f"{name}{text}"].to_numpy().astype(np.float64)) for name in SURFACE}
    per_word = logs["n_chars"] - logs["n_running"]
    rest = [logs[name] for name in SURFACE if name not in {"n_running", "n_chars"}]
    points = np.column_stack([logs["n_chars"], per_word, *rest])
    spread = points.std(axis=0) if rows.height else np.ones(points.shape[1])
    standard = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0) if rows.height else points
    return np.asarray(np.rint(FINE * standard) / FINE)


def _second_moments(points: Floats, n_texts: int) -> Floats:
    """Per text the squares of the lengths of texts and words, and their product, standardised."""
    moments = []
    for of_text in np.split(points, n_texts, axis=1):
        length, word = of_text[:, 0], of_text[:, 1]
        moments += [length * length, word * word, length * word]
    columns = np.column_stack(moments)
    spread = columns.std(axis=0)
    return np.asarray(np.rint(FINE * (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)) / FINE)


def _largest_balanced_set(
    split: pl.DataFrame, points: Floats, of: tuple[str, ...], least: int, tolerance: float
) -> pl.DataFrame:
    """The ``key`` of the rows of a split that are kept.

    The classes of length have about equally many rows. The program may take parts of a few rows. Of every cell and
    label those rows are kept of which it takes most, as many as the parts add up to; the largest fractions are rounded
    up.
    """
    rarest = int(split.group_by("_label").len()["len"].min())  # type: ignore[arg-type]
    n_classes = min(CLASSES_MATCH, max(1, rarest // IN_CLASS_MATCH))
    of_texts = []
    for text in of:
        characters = split[f"n_chars{text}"].to_numpy()
        edges = np.quantile(characters, np.arange(1, n_classes) / n_classes)
        place = np.searchsorted(edges, characters, side="left")
        of_texts.append(place[:, None] == np.unique(place))
    in_class = np.hstack(of_texts)
    labels, cells = (np.unique(split[name].to_numpy(), return_inverse=True)[1] for name in ("_label", "_cell"))
    parts, sizes = _solve_program(
        labels.astype(np.int64),
        cells.astype(np.int64),
        np.hstack([points, in_class]),
        np.array([tolerance] * points.shape[1] + [0.0] * in_class.shape[1]),
        TIES * hashing.unit(split["key"].to_numpy(), "match"),
        least,
    )
    rounded = np.floor(sizes + SOLVED).astype(np.int64)
    rounded[np.argsort(rounded - sizes, kind="stable")[: round(sizes.sum()) - rounded.sum()]] += 1
    taken = split.with_columns(_part=pl.Series(parts), _of_cell=pl.Series(rounded[cells])).sort(
        "_part", descending=True, maintain_order=True
    )
    return taken.filter(pl.int_range(pl.len()).over("_cell", "_label") < pl.col("_of_cell")).select("key")


def _solve_program(  # noqa: PLR0913, PLR0917 (what a linear program consists of)
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
    from scipy.optimize import linprog

    n_rows, n_features = features.shape
    n_labels, n_cells = int(labels.max()) + 1, int(cells.max()) + 1
    in_cell = scipy.sparse.coo_array(
        (np.ones(n_rows), (labels * n_cells + cells, np.arange(n_rows))), shape=(n_labels * n_cells, n_rows)
    )
    row, feature = features.nonzero()
    of_label = (features[row, feature], (labels[row] * n_features + feature, row))
    sums = scipy.sparse.coo_array(of_label, shape=(n_labels * n_features, n_rows))
    size, common = (np.tile(np.eye(n), (n_labels, 1)) for n in (n_cells, n_features))
    allowed = np.repeat(np.tile(tolerances, n_labels)[:, None], n_cells, axis=1)
    # The variables: part of each row; rows per label in each cell; of each feature the common sum and the excess.
    equal = scipy.sparse.block_array([[in_cell, -size, scipy.sparse.coo_array((len(size), 2 * n_features))]])
    atmost = scipy.sparse.block_array(
        [
            [sums, -allowed, -common, -common],
            [-sums, -allowed, common, -common],
            [None, -np.ones((1, n_cells)), None, None],
        ]
    )
    excess = (0, None) if least else (0, 0)
    solution = linprog(
        np.concatenate([-ties, -np.ones(n_cells), np.zeros(n_features), np.full(n_features, PENALTY)]),
        A_ub=atmost, b_ub=np.append(np.zeros(atmost.shape[0] - 1), -least), A_eq=equal, b_eq=np.zeros(equal.shape[0]),
        bounds=[(0, 1)] * n_rows + [(0, None)] * n_cells + [(None, None)] * n_features + [excess] * n_features,
        options={"primal_feasibility_tolerance": EXACT, "dual_feasibility_tolerance": EXACT},
    )  # fmt: skip
    found = np.rint(solution.x[: n_rows + n_cells] / SOLVED) * SOLVED
    return found[:n_rows], found[n_rows:]
