"""Intervals and limits of chance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

_RUN_PROBABILITY = 0.001
PARITY_SIGMAS = 3.0
DIGITS = 6
"""Of every number in a report, so that it is the same on every machine and after a trip through JSON."""


class Interval(NamedTuple):
    """A 95 % interval of a share."""

    low: float
    high: float


def wilson(successes: float, n: float, tries: int = 1) -> Interval:
    """The 95 % interval of ``successes / n`` (Wilson 1927).

    ``tries`` is the number of solvers of which the best was kept: the interval is widened so that it holds for all of
    them together (Bonferroni). Successes may be fractional where ties are broken by chance.
    """
    if not n:
        return Interval(0.0, 1.0)
    z = float(norm.isf(0.025 / tries))
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(round(max(0.0, centre - half), DIGITS), round(min(1.0, centre + half), DIGITS))


def independent(correct: npt.NDArray[np.float64], groups: npt.NDArray[np.int64]) -> float:
    """How many independent rows vary as much as these, of which those of one group go right and wrong together.

    Both versions of a pair are mostly judged alike, rightly or wrongly, and then are one observation. The rows divided
    by the design effect (Kish 1965), which is not taken to be below one.
    """
    off = correct - correct.mean()
    spread = float((off * off).sum())
    together = float((np.bincount(groups, weights=off) ** 2).sum())
    return len(correct) / max(1.0, together / spread) if spread else float(len(np.unique(groups)))


def parity_limit(majority: float, n: int, n_labels: int, n_splits: int = 1) -> float:
    """The accuracy that the parity of rows reaches by chance: ``majority`` + 3σ for two labels in one split.

    With more labels or splits more rules are tried, and the multiple of σ grows so that the risk for all of them
    together stays what 3σ is for one.
    """
    tries = n_splits * max(1.0, n_labels * n_labels / 4)
    sigmas = float(norm.isf(norm.sf(PARITY_SIGMAS) / tries))
    return majority + sigmas * math.sqrt(majority * (1 - majority) / n)


def longest_run_limit(counts: list[int]) -> int:
    """The longest run of one label that a random order of ``counts`` rows per label shows in 999 of 1,000 cases.

    A run of L rows of a label of share p starts at a given place with probability (1-p)·p^L; the limit is the
    largest run whose expected number is not below .001.
    """
    n = sum(counts)
    shares = [count / n for count in counts if 0 < count < n]
    limit = 1
    while sum(n * (1 - p) * p ** (limit + 1) for p in shares) >= _RUN_PROBABILITY and limit < n:
        limit += 1
    return limit
