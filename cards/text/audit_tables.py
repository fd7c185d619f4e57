"""An audit's report as the tables of a card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from discoprobe.builders.audit.report import Status
from discoprobe.builders.audit.thresholds import BY_ID, Kind
from discoprobe.cards.text.verdicts import verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.builders.audit.report import Baseline, Finding, Report, Rule, Strongest

_RULES = 5
"""Mined rules that a card shows."""


class FindingLine(NamedTuple):
    """A row of a table of checks, numbers as text."""

    check: str
    measures: str
    measured: str
    interval: str
    gain: str
    threshold: str
    status: str
    remark: str


@dataclass(frozen=True, slots=True)
class AuditView:
    """What a card shows of a report.

    Attributes:
        verdict: the verdict in a few words.
        failed: checks above their threshold.
        strongest: the shortcut with the largest gain.
        strongest_interval: its 95 % interval, ``.299–.701``.
        noted: whether shortcuts were measured that have no threshold.
        baselines: the trivial solvers.
        shortcuts: one line per shortcut that was measured.
        clean: integrity checks that passed.
        flawed: integrity checks that did not.
        rules: the best mined rules that apply to any row they were measured on.
        rule_coverage: share of these rows that any mined rule applies to.
        trained_on: what solvers learned from.
        measured_on: what they were measured on.
        resolution: the smallest gain that the rows could have shown, ``.080``; empty without any.
        notes: the audit's remarks.
    """

    verdict: str
    failed: tuple[str, ...]
    strongest: Strongest | None
    strongest_interval: str
    noted: bool
    baselines: tuple[Baseline, ...]
    shortcuts: tuple[FindingLine, ...]
    clean: tuple[str, ...]
    flawed: tuple[FindingLine, ...]
    rules: tuple[Rule, ...]
    rule_coverage: float
    trained_on: str
    measured_on: str
    resolution: str
    notes: tuple[str, ...]


def audit_view(report: Report) -> AuditView:
    """The report, sorted for the reader of a card."""
    integrity = [one for one in report.findings if one.kind is Kind.INTEGRITY and one.status is not Status.SKIPPED]
    return AuditView(
        verdict=verdict_of(report).text,
        failed=tuple(one.check for one in report.errors),
        strongest=report.strongest,
        strongest_interval=interval(report.strongest.interval) if report.strongest else "",
        noted=any(one.kind is Kind.SHORTCUT and one.status is Status.NOTED for one in report.findings),
        baselines=report.baselines,
        shortcuts=tuple(
            _line(one, ".3f") for one in report.findings if one.kind is Kind.SHORTCUT and one.measured is not None
        ),
        clean=tuple(one.check for one in integrity if one.status is Status.PASSED),
        flawed=tuple(_line(one, "g") for one in integrity if one.status is not Status.PASSED),
        rules=tuple(rule for rule in report.heuristics.rules if rule.coverage)[:_RULES] if report.heuristics else (),
        rule_coverage=report.heuristics.coverage if report.heuristics else 0.0,
        trained_on=report.trained_on,
        measured_on=report.measured_on,
        resolution="" if report.resolution is None else f"{report.resolution:.3f}",
        notes=report.notes,
    )


def _line(finding: Finding, digits: str) -> FindingLine:
    measures = BY_ID[finding.check].measures if finding.check in BY_ID else ""
    gain = "" if finding.gain is None else f"{finding.gain:+.3f}"
    return FindingLine(
        finding.check, measures, _number(finding.measured, digits), interval(finding.interval), gain,
        _number(finding.threshold, digits), str(finding.status), finding.reason or finding.detail,
    )  # fmt: skip


def interval(ends: Sequence[float] | None) -> str:
    """``.299–.701``."""
    return "" if ends is None else f"{ends[0]:.3f}–{ends[1]:.3f}"


def _number(value: float | None, digits: str) -> str:
    return "" if value is None else f"{value:{digits}}"
