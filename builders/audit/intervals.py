"""Confidence intervals of accuracies, and thresholds for the order of rows."""

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import scipy  # its parts take a quarter of a second, and are loaded when they are first used

_BY_CHANCE = 1e-6
"""Probability that a random order of the rows of a split exceeds a threshold of ``order``. It is that low because rows
are never reordered, and none of some thousand splits may fail by chance."""
_RARELY = 0.001
"""Probability that lots divide labels more unequally than ``share_differences`` says: one data set in a thousand. It
is only reported for data whose labels are not balanced, so that it may be said more often than ``order`` fails."""
DIGITS = 6
"""Decimal places of every number in a report, so that it is equal on every machine and after reading it from JSON."""


MIRRORED = 1 + 2 / math.pi
"""Design effect of cross-validation on the accuracy of a solver that finds nothing. If two rows of different folds
resemble each other by chance and have the same label, each is guessed right from the other, so that it counts twice.
Twice the covariance would be a factor of 2; of the sign of a linear classifier, which is what is right or wrong, 2 / π
of it is left. Simulated (1 to 300 normal features, 60 and 200 rows, 2, 3 and 5 folds): 1.2 to 1.85, 1.55 in the mean.
That no estimate from the folds themselves shows it was proved by Bengio and Grandvalet (2004)."""


Interval = tuple[float, float]
"""A 95 % interval of a share: its lower and its upper end."""


def critical_value(tries: int = 1) -> float:
    """The two-sided 95 % quantile of the normal distribution for the best of ``tries`` solvers (Bonferroni)."""
    return float(-scipy.special.ndtri(0.025 / tries))


def exact(successes: float, n: float, tries: int = 1) -> Interval:
    """The exact 95 % interval of ``successes / n`` (Clopper and Pearson 1934).

    Its lower end is above the true share in at most 2.5 % of samples of any size. With Wilson's interval it is in up
    to 8 % of samples of fewer than twenty rows, for shares of .2 to .6. ``tries`` is the number of solvers of which the
    best was kept: the interval holds for all of them together (Bonferroni). Successes may be fractional, where ties are
    broken by chance.
    """
    if not n:
        return 0.0, 1.0
    tail = 0.025 / tries
    low = scipy.special.betaincinv(successes, n - successes + 1, tail) if successes > 0 else 0.0
    high = scipy.special.betaincinv(successes + 1, n - successes, 1 - tail) if successes < n else 1.0
    return round(float(low), DIGITS), round(float(high), DIGITS)


def largest_share(share: float, n: int) -> float:
    """The largest share of ``n`` whose 95 % interval begins at most at ``share``: so many may be there by chance."""
    least, most = int(share * n), n
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if exact(middle, n)[0] <= share else (least, middle - 1)
    return least / n if n else share


def share_differences(n: float, n_first: float, n_second: float, tries: int) -> Interval:
    """The least and the largest difference of a label's share in two splits that lots give (first minus second).

    If lots divide ``n`` rows of the label, and others, into two splits of ``n_first`` and ``n_second`` rows, the number
    in one of them is hypergeometric (Fisher 1935). ``tries`` is the number of labels and pairs of splits that are
    looked at. Rows that depend on each other are counted as fewer, so that numbers may be fractional.
    """
    of_label, first, second = (max(1, round(number)) for number in (n, n_first, n_second))
    of_label = min(of_label, first + second)
    counts = np.arange(max(0, of_label - second), min(of_label, first) + 1)

    def log_choose(among: int, chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        factorial = scipy.special.gammaln
        logs: npt.NDArray[np.float64] = factorial(among + 1) - factorial(chosen + 1) - factorial(among - chosen + 1)
        return logs

    logs = log_choose(first, counts) + log_choose(second, of_label - counts)
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    tails = np.minimum(np.cumsum(chances), np.cumsum(chances[::-1])[::-1])
    usual = counts[tails > _RARELY / (2 * tries)]
    differences = usual / first - (of_label - usual) / second
    return float(differences.min()), float(differences.max())


def smallest_gain(baseline: float, n: float, tries: int = 1) -> float:
    """The smallest gain at which the interval of an accuracy on ``n`` independent rows is above ``baseline``.

    Where even the interval of accuracy 1 is not, it is the largest possible gain, ``1 - baseline``.
    """
    if not n or exact(n, n, tries)[0] <= baseline:
        return round(1 - baseline, DIGITS)

    def excess(accuracy: float) -> float:
        return float(scipy.special.betainc(accuracy * n, (1 - accuracy) * n + 1, baseline)) - 0.025 / tries

    accuracy = scipy.optimize.brentq(excess, baseline, 1.0)
    return round(float(accuracy) - baseline, DIGITS)


def independent_rows(
    correct: npt.NDArray[np.float64],
    clusterings: Iterable[npt.NDArray[np.int64]],
    truth: npt.NDArray[np.int64] | None = None,
    predicted: npt.NDArray[np.int64] | None = None,
    *,
    cross_validated: bool = False,
) -> float:
    """The effective sample size: the number of independent rows whose accuracy has the same variance.

    Both members of a pair are mostly right or wrong together, and so may be the rows of a document. The number of rows
    is divided by the largest design effect (Kish 1965) of the clusterings, or by 1 if that is larger.

    The design effect of few clusters is estimated badly, and it is small just where many of them happen to be right. So
    that of guessing is used if it is larger: labels that agree inside clusters (those of documents) are guessed right
    together as far as the predictions agree, too (Moulton 1990). It is larger by ``MIRRORED`` where the rows that were
    learned from were also measured.

    Args:
        correct: per row whether it is right, shape (rows,).
        clusterings: per clustering the number of each row's cluster, shape (rows,), finest first.
        truth: label of each row, shape (rows,); None where rows have no labels, such as choices.
        predicted: label that is predicted for each row, shape (rows,).
        cross_validated: whether rows of one fold are learned from for the others.
    """
    off = correct - correct.mean()
    spread = float((off * off).sum())
    clusters = [np.unique(numbers, return_inverse=True)[1] for numbers in clusterings]
    if not spread:
        return float(min(cluster.max() + 1 for cluster in clusters))
    observed, guessing = [1.0], [1.0]
    for cluster in clusters:
        sums = np.bincount(cluster, weights=off)
        if len(sums) > 1:
            observed.append(len(sums) / (len(sums) - 1) * float((sums**2).sum()) / spread)
        if truth is not None and predicted is not None:
            guessing.append(_effect_of_guessing(cluster, truth, predicted))
    return len(correct) / max(*observed, max(guessing) * (MIRRORED if cross_validated else 1))


def _effect_of_guessing(
    cluster: npt.NDArray[np.int64], truth: npt.NDArray[np.int64], predicted: npt.NDArray[np.int64]
) -> float:
    """The design effect of an accuracy if labels and predictions agree inside clusters, but not with each other.

    Two rows of a cluster are both right with the probability that their labels are *a* and *b* and their predictions,
    too, summed over all *a* and *b*; two rows of different clusters, with the square of that of one row.
    """
    sizes, n_labels = np.bincount(cluster), int(max(truth.max(), predicted.max())) + 1
    n_pairs = float((sizes**2.0).sum()) - len(cluster)
    if not n_pairs:
        return 1.0
    shares, in_pairs = [], []
    for labels in (truth, predicted):
        number = np.bincount(labels, minlength=n_labels)
        counts = np.bincount(cluster * n_labels + labels, minlength=len(sizes) * n_labels).reshape(-1, n_labels)
        shares.append(number / len(labels))
        in_pairs.append((counts.T @ counts.astype(np.float64) - np.diag(number)) / n_pairs)
    right = float(shares[0] @ shares[1])
    together = float((in_pairs[0] * in_pairs[1]).sum()) - right**2
    return 1 + n_pairs / len(cluster) * together / (right * (1 - right)) if 0 < right < 1 else 1.0


def parity_threshold(majority: float, n: int, n_labels: int) -> float:
    """The accuracy that the parity of rows reaches by chance with a probability of at most one in a million.

    With two labels one rule can be better than the majority, with more labels more rules are tried.
    """
    sigmas = float(-scipy.special.ndtri(_BY_CHANCE / max(1.0, n_labels * n_labels / 4)))
    return majority + sigmas * math.sqrt(majority * (1 - majority) / n)


def longest_run_threshold(counts: list[int]) -> int:
    """The longest run of one label in a random order of ``counts`` rows per label, exceeded once in a million orders.

    A run of L rows of a label of share p starts at a given place with probability (1-p)·p^L; this is the longest run
    whose expected number is not below one in a million.
    """
    n = sum(counts)
    shares = [count / n for count in counts if 0 < count < n]
    longest = 1
    while sum(n * (1 - p) * p ** (longest + 1) for p in shares) >= _BY_CHANCE and longest < n:
        longest += 1
    return longest
