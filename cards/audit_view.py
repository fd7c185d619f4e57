"""An audit's report as the tables of a card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from discoprobe.builders.audit.limits import BY_ID, Kind
from discoprobe.builders.audit.report import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.builders.audit.report import Baseline, Finding, Report, Rule, Strongest

_RULES = 5
"""Mined rules that a card shows."""


class FindingLine(NamedTuple):
    """A row of a table of checks, numbers as text; ``in_turn`` where test has few rows."""

    check: str
    measures: str
    measured: str
    interval: str
    lift: str
    limit: str
    in_turn: str
    status: str
    remark: str


@dataclass(frozen=True, slots=True)
class AuditView:
    """What a card shows of a report.

    Attributes:
        verdict: ``passed``, ``undecided`` or ``failed``.
        failed: checks beyond their limit.
        undecided: checks that there are too few rows for.
        strongest: the shortcut with the largest lift.
        strongest_interval: its 95 % interval, ``.299–.701``.
        noted: whether shortcuts were measured that are not limited.
        chance: accuracy of the majority label.
        baselines: the trivial solvers.
        shortcuts: one line per shortcut that was measured.
        clean: integrity checks that passed.
        flawed: integrity checks that did not.
        rules: the best mined rules that apply to any test row.
        rule_coverage: share of test rows that any mined rule applies to.
        measured_on: the split.
        n_test: its rows.
        n_in_turn: rows of all splits, if they were measured on in turn.
        notes: the audit's remarks.
    """

    verdict: str
    failed: tuple[str, ...]
    undecided: tuple[str, ...]
    strongest: Strongest | None
    strongest_interval: str
    noted: bool
    chance: float | None
    baselines: tuple[Baseline, ...]
    shortcuts: tuple[FindingLine, ...]
    clean: tuple[str, ...]
    flawed: tuple[FindingLine, ...]
    rules: tuple[Rule, ...]
    rule_coverage: float
    measured_on: str
    n_test: int
    n_in_turn: int
    notes: tuple[str, ...]


def audit_view(report: Report) -> AuditView:
    """The report, sorted for the reader of a card."""
    integrity = [one for one in report.findings if one.kind is Kind.INTEGRITY and one.status is not Status.SKIPPED]
    return AuditView(
        verdict="failed" if report.failed else "undecided" if report.undecided else "passed",
        failed=tuple(one.check for one in report.errors),
        undecided=tuple(one.check for one in report.undecided),
        strongest=report.strongest,
        strongest_interval=interval(report.strongest.interval) if report.strongest else "",
        noted=any(one.kind is Kind.SHORTCUT and one.status is Status.NOTED for one in report.findings),
        chance=next((one.accuracy for one in report.baselines if one.name == "majority"), None),
        baselines=report.baselines,
        shortcuts=tuple(
            _line(one, ".3f") for one in report.findings if one.kind is Kind.SHORTCUT and one.measured is not None
        ),
        clean=tuple(one.check for one in integrity if one.status is Status.PASSED),
        flawed=tuple(_line(one, "g") for one in integrity if one.status is not Status.PASSED),
        rules=tuple(rule for rule in report.heuristics.rules if rule.coverage)[:_RULES] if report.heuristics else (),
        rule_coverage=report.heuristics.coverage if report.heuristics else 0.0,
        measured_on=report.measured_on,
        n_test=report.counts.get(report.measured_on, 0),
        n_in_turn=max((one.cross.n for one in report.findings if one.cross), default=0),
        notes=report.notes,
    )


def _line(finding: Finding, digits: str) -> FindingLine:
    measures = BY_ID[finding.check].measures if finding.check in BY_ID else ""
    lift = "" if finding.lift is None else f"{finding.lift:+.3f}"
    return FindingLine(
        finding.check, measures, _number(finding.measured, digits), interval(finding.interval), lift,
        _number(finding.limit, digits), _in_turn(finding), str(finding.status), finding.reason or finding.detail,
    )  # fmt: skip


def _in_turn(finding: Finding) -> str:
    return f"{finding.cross.accuracy:.3f} ({interval(finding.cross.interval)})" if finding.cross else ""


def interval(ends: Sequence[float] | None) -> str:
    """``.299–.701``."""
    return "" if ends is None else f"{ends[0]:.3f}–{ends[1]:.3f}"


def _number(value: float | None, digits: str) -> str:
    return "" if value is None else f"{value:{digits}}"
