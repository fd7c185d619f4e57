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
from discoprobe.builders.audit.report import Cross, Status, judged
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


def together(parts: Sequence[Tally]) -> Cross | None:
    """What tallies come to; of solvers, those that all have (the seventh text alone, where all rows have seven).

    None where they have no solver in common.
    """
    names = [name for name in parts[0]["correct"] if all(name in one["correct"] for one in parts)]
    if not names:
        return None
    n, independent = sum(one["n"] for one in parts), sum(one["independent"] for one in parts)
    right = {name: sum(one["correct"][name] for one in parts) / n for name in names}
    best = max(right.values())
    return Cross(
        n=n,
        independent=round(independent, 2),
        accuracy=round(best, DIGITS),
        baseline=round(sum(one["baseline"] for one in parts) / n, DIGITS),
        limit=round(sum(one["limit"] for one in parts) / n, DIGITS),
        interval=wilson(best * independent, independent, len(names)),
        tried={name: round(share, DIGITS) for name, share in right.items()},
    )


def pooled(configs: Sequence[Mapping[str, Tally]]) -> list[Pooled]:
    """Every shortcut of a task over its configs, in the order of the first that has it.

    Args:
        configs: the ``tallies`` of each; where they have no solver in common (none of ours) nothing is added up.
    """
    checks = dict.fromkeys(check for config in configs for check in config)
    found = {check: [config[check] for config in configs if check in config] for check in checks}
    sums = {check: (len(own), together(own)) for check, own in found.items()}
    return [_pooled(check, n_configs, one) for check, (n_configs, one) in sums.items() if one]


def _pooled(check: str, n_configs: int, found: Cross) -> Pooled:
    limit = found.limit or 0.0
    status = judged(found.accuracy, found.interval, limit)
    return Pooled(check, n_configs, found.n, found.accuracy, found.baseline, limit, found.interval, status)
