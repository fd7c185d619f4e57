"""Configs of one task together: what each is too small to tell, all of them may tell.

A shortcut of a task's design is there in every language, and the configs of small treebanks are each too small to show
it. Rows that the solvers of all configs get right are added up, and so are the rows that knowing nothing does and
that the limits allow. Where a check keeps the best of several solvers, each is added up by itself before the best is
chosen: the best of every config would be a choice made on few rows, once per config.

The sum of independent rows with different chances varies no more than that many rows with their mean chance, so that
Wilson's interval is on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from discoprobe.builders.audit.limits import Kind, Severity
from discoprobe.builders.audit.report import Status, judged
from discoprobe.builders.audit.stats import DIGITS, Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discoprobe.builders.audit.report import Finding, Report


class Tally(TypedDict):
    """What one config adds: its rows, as how many independent ones they count, and how many are right.

    ``baseline``, ``limit`` and ``correct``: the rows that knowing nothing, the limit and each solver have right.
    """

    n: int
    independent: float
    baseline: float
    limit: float
    correct: dict[str, float]


@dataclass(frozen=True, slots=True)
class Pooled:
    """A shortcut over the configs of a task.

    Attributes:
        check: id of the check.
        configs: how many were added up.
        n: rows of all of them that solvers were measured on.
        accuracy: of the best solver over all of them.
        baseline: of knowing nothing.
        limit: the largest accuracy allowed.
        interval: 95 % interval of ``accuracy``.
        status: ``passed``, ``failed`` or ``undecided``, as for one config.
    """

    check: str
    configs: int
    n: int
    accuracy: float
    baseline: float
    limit: float
    interval: Interval
    status: Status

    @property
    def lift(self) -> float:
        """How far the solver is above knowing nothing."""
        return round(self.accuracy - self.baseline, DIGITS)


def tallies(report: Report) -> dict[str, Tally]:
    """What a report adds to each shortcut that is limited and was measured on a sample."""
    return {finding.check: tally(finding) for finding in report.findings if _counts(finding)}


def _counts(finding: Finding) -> bool:
    limited = finding.kind is Kind.SHORTCUT and finding.severity is Severity.ERROR and finding.limit is not None
    return limited and finding.interval is not None and finding.interval.low < finding.interval.high


def tally(finding: Finding) -> Tally:
    """What a finding adds: of all its rows, where they were measured."""
    found = finding.cross or finding
    accuracy = finding.cross.accuracy if finding.cross else finding.measured or 0.0
    solvers = found.tried or {finding.check: accuracy}
    return {
        "n": found.n,
        "independent": round(found.independent, 2),
        "baseline": round((found.baseline or 0.0) * found.n, 2),
        "limit": round((found.limit or 0.0) * found.n, 2),
        "correct": {name: round(right * found.n, 2) for name, right in solvers.items()},
    }


def shared(parts: Sequence[Tally]) -> list[str]:
    """The solvers that all have."""
    return [name for name in parts[0]["correct"] if all(name in one["correct"] for one in parts)]


class Sums(Tally):
    """Several tallies added up; ``most`` are the right rows of the best solver."""

    most: float


def added(parts: Sequence[Tally]) -> Sums:
    """The sum of tallies; of solvers, those that all have (the seventh text alone, where all rows have seven)."""
    correct = {name: sum(one["correct"][name] for one in parts) for name in shared(parts)}
    return {
        "n": sum(one["n"] for one in parts),
        "independent": sum(one["independent"] for one in parts),
        "baseline": sum(one["baseline"] for one in parts),
        "limit": sum(one["limit"] for one in parts),
        "correct": correct,
        "most": max(correct.values()),
    }


def pooled(configs: Sequence[Mapping[str, Tally]]) -> list[Pooled]:
    """Every shortcut of a task over its configs, in the order of the first that has it.

    Args:
        configs: the ``tallies`` of each; where they have no solver in common (none of ours) nothing is added up.
    """
    checks = dict.fromkeys(check for config in configs for check in config)
    found = {check: [config[check] for config in configs if check in config] for check in checks}
    return [_pooled(check, own) for check, own in found.items() if shared(own)]


def _pooled(check: str, parts: Sequence[Tally]) -> Pooled:
    sums = added(parts)
    n, accuracy = sums["n"], round(sums["most"] / sums["n"], DIGITS)
    interval = wilson(sums["most"] / n * sums["independent"], sums["independent"], len(sums["correct"]))
    limit, baseline = round(sums["limit"] / n, DIGITS), round(sums["baseline"] / n, DIGITS)
    return Pooled(check, len(parts), n, accuracy, baseline, limit, interval, judged(accuracy, interval, limit))
