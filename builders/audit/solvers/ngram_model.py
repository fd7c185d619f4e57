"""How probable texts are under counts of the n-grams of the originals that solvers learn from.

A perturbed text has n-grams that originals lack. Counts are smoothed by the probability that
the next shorter n-grams give (Dirichlet prior; MacKay and Peto 1995).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.audit.solvers.classifiers import Floats, Ints
from discoprobe.builders.audit.solvers.features import Features
from discoprobe.builders.audit.solvers.problem import Fold, Problem

Symbols = npt.NDArray[np.uint64]

_PARTS = 5
"""Parts of the rows that solvers learn from: a text of one part is scored with the counts of the others."""
_PRIOR = 2.0
"""Weight of the shorter n-grams, in counts."""
_BUCKETS = 1 << 22
"""Most buckets of hashed n-grams."""
_OUTSIDE = np.uint64(0xFFFFFFFF)
"""The symbol before the first one of a text."""


@dataclass(frozen=True, slots=True)
class Strings:
    """The symbols (words or characters) of texts, one text after the other.

    Attributes:
        unit: of each symbol, ascending, shape (symbols,).
        place: how many symbols are before it in its text, shape (symbols,).
        symbol: a number for each symbol, shape (symbols,).
    """

    unit: Ints
    place: Ints
    symbol: Symbols

    @classmethod
    def words(cls, features: Features) -> "Strings":
        """The lower-cased tokens of the texts that solvers of strings read."""
        frame = features.tokens.frame
        starts = frame["before"].is_null().to_numpy()
        return cls(
            frame["unit"].to_numpy().astype(np.int64), _places(starts), frame["token"].to_numpy().astype(np.uint64)
        )

    @classmethod
    def characters(cls, features: Features) -> "Strings":
        """The code points of these texts."""
        read = features.slotted.filter(pl.col("slot").is_in(list(features.read_slots)) & (pl.col("text") != ""))
        points = np.frombuffer("".join(read["text"]).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        lengths = read["text"].str.len_chars().to_numpy()
        starts = np.zeros(len(points), dtype=bool)
        starts[np.cumsum(lengths) - lengths] = True
        return cls(
            np.repeat(read["unit"].to_numpy(), lengths).astype(np.int64), _places(starts), points.astype(np.uint64)
        )


def _places(starts: npt.NDArray[np.bool_]) -> Ints:
    first = np.flatnonzero(starts)
    return np.arange(len(starts)) - np.repeat(first, np.diff(first, append=len(starts)))


def log_probabilities(strings: Strings, problem: Problem, fold: Fold, longest: int) -> Floats:
    """Sum, mean and least of the log probabilities of the symbols of each unit, shape (units, 3).

    N-grams are counted in the originals that solvers learn from: rows of the first label, or right candidates.

    Args:
        strings: the symbols of all units.
        problem: whose units they are.
        fold: what is learned from; rows that share a cluster are never scored with each other's counts.
        longest: n of the longest n-grams; 1 for frequencies.
    """
    units = problem.units
    part = np.full(len(units.y), -1)
    part[fold.train] = units.clusterings[-1][units.row[fold.train]] % _PARTS
    counted = (part >= 0) & (units.y == int(problem.choice))
    logs = np.log(_probabilities(strings, part[strings.unit], counted[strings.unit], longest))
    n = np.bincount(strings.unit, minlength=len(part))
    sums = np.bincount(strings.unit, weights=logs, minlength=len(part))
    least = np.zeros(len(part))
    np.minimum.at(least, strings.unit, logs)
    return np.column_stack([sums, sums / np.maximum(1, n), least])


def _probabilities(strings: Strings, part: Ints, counted: npt.NDArray[np.bool_], longest: int) -> Floats:
    """The probability of each symbol after those before it, shape (symbols,)."""
    probability = np.full(len(part), 1 / (1 + len(np.unique(strings.symbol))))
    context = np.zeros(len(part), dtype=np.uint64)
    for n in range(longest):
        if n:
            before = np.where(strings.place >= n, np.roll(strings.symbol, n), _OUTSIDE)
            context = hashing.combine(context, before)
        ngram = hashing.combine(context, strings.symbol)
        seen, all_seen = (_counts(keys, part, counted) for keys in (ngram, context))
        probability = (seen + _PRIOR * probability) / (all_seen + _PRIOR)
    return probability


def _counts(keys: Symbols, part: Ints, counted: npt.NDArray[np.bool_]) -> Ints:
    """How often each key is counted in the other parts; for units that are in no part, in all parts."""
    width = min(_BUCKETS, 1 << (4 * len(keys)).bit_length())
    bucket = (keys % np.uint64(width)).astype(np.int64)
    found = np.bincount(bucket[counted], minlength=width)[bucket]
    for number in range(_PARTS):
        own = part == number
        found[own] -= np.bincount(bucket[own & counted], minlength=width)[bucket[own]]
    return found
