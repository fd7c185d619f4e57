"""What a config is too small to tell: its own rows, and its task's configs of other languages as far as these agree.

The rows of a task are made by the same rules in every language, so that what a shortcut gives in one says something
about the others. How far a solver is above the limit is taken to vary between the configs of a task around a mean; what
is known of one config is its own figure, drawn towards that mean the more, the fewer its rows are and the less the
others differ ("partial pooling", empirical Bayes: Efron & Morris 1975). How much they differ is estimated from them
(DerSimonian & Laird 1986) and never taken to be less than ``SPREAD``, since a handful of small configs cannot show that
they are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.stats import norm

from discoprobe.builders.audit.limits import RESOLUTION
from discoprobe.builders.audit.report import Status
from discoprobe.builders.audit.stats import DIGITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from discoprobe.builders.audit.pool import Tally

    Floats = npt.NDArray[np.float64]

SPREAD: Final = 0.02
"""Standard deviation between languages that is reckoned with at least, in accuracy. The tasks with most rows (so,
sp_swap and bso over 25 languages, 8,000 to 21,000 rows) show .016 to .020 for length, the others less or none."""

FEWEST: Final = 3
"""Configs of a task from which on they tell something about each other."""

_CERTAIN: Final = 0.05
"""Shares this near to 0 or 1 are reckoned to vary as if they were as far away."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How far a shortcut of one config is above its limit, with what the task's other configs say.

    Attributes:
        excess: accuracy above the limit; negative below it.
        error: its standard error.
        status: ``passed``, ``failed`` or ``undecided``, as for one config.
    """

    excess: float
    error: float
    status: Status


def estimates(configs: Mapping[str, Mapping[str, Tally]], check: str) -> dict[str, Estimate]:
    """What is known of one shortcut in each config of a task that measured it; nothing where fewer than ``FEWEST`` did.

    Of several solvers, the one that is best over all configs is judged, and the interval allows for the choice.

    Args:
        configs: name → the ``tallies`` of each config of the task.
        check: id of the check.
    """
    parts = {name: own[check] for name, own in configs.items() if check in own}
    solvers = [name for name in _first(parts) if all(name in one["correct"] for one in parts.values())]
    if len(parts) < FEWEST or not solvers:
        return {}
    n = np.array([one["n"] for one in parts.values()], dtype=np.float64)
    best = max(solvers, key=lambda solver: sum(one["correct"][solver] for one in parts.values()))
    right = np.array([one["correct"][best] for one in parts.values()])
    excess = (right - np.array([one["limit"] for one in parts.values()])) / n
    share = float(np.clip(right.sum() / n.sum(), _CERTAIN, 1 - _CERTAIN))
    variance = share * (1 - share) / np.array([one["independent"] for one in parts.values()])
    z = float(norm.isf(0.025 / len(solvers)))
    mean, error = shrunk(excess, variance)
    return {
        name: Estimate(round(float(m), DIGITS), round(float(e), DIGITS), _judged(float(m), z * float(e)))
        for name, m, e in zip(parts, mean, error, strict=True)
    }


def _first(parts: Mapping[str, Tally]) -> list[str]:
    return list(next(iter(parts.values()))["correct"]) if parts else []


def _judged(excess: float, half: float) -> Status:
    if excess - half > 0:
        return Status.FAILED
    return Status.PASSED if excess <= 0 and excess + half <= RESOLUTION else Status.UNDECIDED


def shrunk(values: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Each value drawn towards their mean, and its standard error.

    The mean is known only so well, which adds to the error (Kass & Steffey 1989, first order).

    Args:
        values: shape (n,).
        variances: of each value around what it measures, shape (n,).
    """
    between = max(SPREAD**2, between_variance(values, variances))
    weights = 1 / (variances + between)
    mean = float((weights * values).sum() / weights.sum())
    own = between / (between + variances)
    return mean + own * (values - mean), np.sqrt(own * variances + (1 - own) ** 2 / weights.sum())


def between_variance(values: Floats, variances: Floats) -> float:
    """The variance between what ``values`` measure, beyond that of measuring (DerSimonian & Laird 1986); 0 at least."""
    weights = 1 / variances
    mean = (weights * values).sum() / weights.sum()
    spread = float((weights * (values - mean) ** 2).sum())
    scale = float(weights.sum() - (weights**2).sum() / weights.sum())
    return max(0.0, (spread - (len(values) - 1)) / scale) if scale > 0 else 0.0
