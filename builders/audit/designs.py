"""The test of a task's design over all its configs.

A shortcut of the design is in every language of a task, and each config alone may be too small to show it. So the rows
of all of them together can fail the design, in every language. No config passes because others did.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

from discoprobe.builders.audit.intervals import DIGITS, Interval, exact
from discoprobe.builders.audit.report import Finding, Report
from discoprobe.builders.audit.thresholds import BY_ID


class Tally(TypedDict):
    """What one config adds to the test of a design: its rows, and the expected number of them that are right.

    ``independent``: how many independent rows they are worth. ``baseline``, ``threshold``: how many the majority
    baseline and the threshold allow. ``correct``: how many each solver of the check has.
    """

    n: int
    independent: float
    baseline: float
    threshold: float
    correct: dict[str, float]


def tallies(report: Report) -> dict[str, Tally]:
    """What a report adds for each shortcut that could have failed the config, by check."""
    return {finding.check: _tally(finding) for finding in report.findings if finding.decides}


def _tally(finding: Finding) -> Tally:
    solvers = finding.tried or {finding.check: finding.measured or 0.0}
    return {
        "n": finding.n,
        "independent": round(finding.independent, 2),
        "baseline": round((finding.baseline or 0.0) * finding.n, 2),
        "threshold": round((finding.threshold or 0.0) * finding.n, 2),
        "correct": {name: round(accuracy * finding.n, 2) for name, accuracy in solvers.items()},
    }


class Design(NamedTuple):
    """A shortcut over the configs of a task.

    Attributes:
        check: id of the check.
        configs: how many were added up.
        n: their rows.
        accuracy: of the solver that is best over all of them.
        baseline: accuracy of the majority label.
        threshold: the largest accuracy allowed.
        interval: 95 % interval of ``accuracy``.
        failed: whether the lower end of the interval is above the threshold, with all configs and without any one of
            them. A shortcut of one config alone is not one of the design; it fails that config only.
    """

    check: str
    configs: int
    n: int
    accuracy: float
    baseline: float
    threshold: float
    interval: Interval
    failed: bool

    @property
    def gain(self) -> float:
        """How far the solver is above the majority baseline."""
        return round(self.accuracy - self.baseline, DIGITS)


def designs(configs: Sequence[Mapping[str, Tally]]) -> list[Design]:
    """Every shortcut of a task over the rows of its configs, in the order of ``thresholds.CHECKS``.

    Each solver of a check is added up by itself before the best is chosen. Solvers that some config lacks (the seventh
    text alone, where not all rows have seven) are left out.

    Args:
        configs: the ``tallies`` of each config.
    """
    by_check = {check: [config[check] for config in configs if check in config] for check in BY_ID}
    return [design for check, parts in by_check.items() if parts and (design := _design(check, parts))]


def _design(check: str, parts: Sequence[Tally]) -> Design | None:
    names = [name for name in parts[0]["correct"] if all(name in part["correct"] for part in parts)]
    if not names:
        return None
    accuracy, interval, threshold = _added_up(parts, names)
    without = [_added_up([*parts[:at], *parts[at + 1 :]], names) for at in range(len(parts))] if len(parts) > 1 else []
    failed = bool(without) and all(low > most for _, (low, _), most in [(accuracy, interval, threshold), *without])
    n = sum(part["n"] for part in parts)
    baseline = round(sum(part["baseline"] for part in parts) / n, DIGITS)
    return Design(check, len(parts), n, accuracy, baseline, threshold, interval, failed)


def _added_up(parts: Sequence[Tally], names: Sequence[str]) -> tuple[float, Interval, float]:
    """The accuracy of the best solver over all rows, its interval, and the threshold."""
    n, independent = sum(part["n"] for part in parts), sum(part["independent"] for part in parts)
    best = max(sum(part["correct"][name] for part in parts) for name in names) / n
    threshold = sum(part["threshold"] for part in parts) / n
    return round(best, DIGITS), exact(best * independent, independent, len(names)), round(threshold, DIGITS)
