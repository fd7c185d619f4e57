"""Macro-F1 of solvers, where classes have the shares of their corpus.

In skewed data a solver that finds the rare classes can be as accurate as one that names the commonest class. Macro-F1,
the mean of the F1 of all classes, gives every class the same weight. The baseline is the better one of two: naming the
commonest class, whose macro-F1 is 2p / (1 + p) / k where p is its share and k the number of classes, and guessing with
the shares of the classes, whose expected F1 is the share of each class: 1 / k in the mean.
"""

from typing import Final, NamedTuple

import numpy as np
from sklearn.metrics import f1_score

from discoprobe.builders.audit.intervals import DIGITS, Interval, critical_value
from discoprobe.builders.audit.solvers.problem import Problem, Score

PARTS: Final = 20
"""Parts of the groups that are left out one after the other to estimate the variance (jackknife)."""


class MacroF1(NamedTuple):
    """The macro-F1 of a solver, that of the trivial baseline, and its 95 % interval."""

    value: float
    baseline: float
    interval: Interval

    def __str__(self) -> str:
        low, high = self.interval
        return f"macro-F1 {self.value:.3f} ({low:.3f}–{high:.3f}; baseline {self.baseline:.3f})"


def macro_f1(score: Score, problem: Problem) -> MacroF1 | None:
    """The macro-F1 of a solver; None for one that predicts no labels."""
    if score.predicted is None:
        return None
    truth, predicted, n_labels = problem.units.y[problem.measured], score.predicted, len(problem.labels)

    def value(rows: np.typing.NDArray[np.bool_]) -> float:
        return float(f1_score(truth[rows], predicted[rows], labels=range(n_labels), average="macro", zero_division=0))

    _, group = np.unique(score.clusterings[-1], return_inverse=True)
    parts = group % min(PARTS, int(group.max()) + 1)
    left_out = np.array([value(parts != part) for part in range(int(parts.max()) + 1)])
    n = len(left_out)
    spread = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())) if n > 1 else 1.0
    share = float(np.bincount(truth).max() / len(truth))
    found, half = value(np.ones(len(truth), bool)), critical_value(score.tries) * spread
    baseline = max(2 * share / (1 + share), 1.0) / n_labels
    interval = Interval(round(max(0.0, found - half), DIGITS), round(min(1.0, found + half), DIGITS))
    return MacroF1(round(found, DIGITS), round(baseline, DIGITS), interval)
