"""The audit of one data set: every check, judged by its limit."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from discoprobe.builders.audit.cross import crossed, turns
from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError, from_config
from discoprobe.builders.audit.integrity import INTEGRITY, Subject
from discoprobe.builders.audit.limits import BY_ID, Check, Severity
from discoprobe.builders.audit.problem import Problem, Score, problem_of
from discoprobe.builders.audit.report import Finding, Report, Status, judged
from discoprobe.builders.audit.rules import mine
from discoprobe.builders.audit.shortcuts import N_GRAMS, SHORTCUTS, Bench, baselines
from discoprobe.builders.audit.stats import DIGITS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from discoprobe.builders.audit.measure import Measure
    from discoprobe.builders.config import Config


def audit(subject: Config | AuditInput, sources: Mapping[tuple[str, str], str] | None = None) -> Report:
    """Everything that is wrong with a config or a data set, and what can be scored without knowing the language.

    Args:
        subject: a config, or rows from elsewhere (``formats.read``).
        sources: text of each (corpus, sent_id), for the check of fidelity to the source.

    Raises:
        UnreadableDataError: it has no rows.
    """
    data = subject if isinstance(subject, AuditInput) else from_config(subject)
    if not data.splits:
        raise UnreadableDataError(f"{data.name}: no rows to audit")
    problem = problem_of(data)
    looked_at = Subject.of(data, sources)
    found = [_integrity(BY_ID[name], check(looked_at), data) for name, check in INTEGRITY.items()]
    found += _in_turn(_shortcuts(data, problem), data)
    judged = [_exempt(finding, data.exempt) for finding in found]
    return Report(
        name=data.name,
        counts=data.counts,
        labels=data.labels,
        trained_on=problem.trained_on if problem else "",
        measured_on=problem.measured_on if problem else "",
        baselines=baselines(data, problem) if problem else (),
        findings=tuple(judged),
        heuristics=mine(problem) if problem else None,
        stale=tuple(f.check for f in judged if f.check in data.exempt and f.status in {Status.PASSED, Status.NOTED}),
        notes=_notes(problem),
    )


def _shortcuts(data: AuditInput, problem: Problem | None, names: Collection[str] = SHORTCUTS.keys()) -> list[Finding]:
    bench = None if problem is None else Bench(data, problem)
    return [_shortcut(BY_ID[name], SHORTCUTS[name](bench) if bench else None, data, problem) for name in names]


def _in_turn(found: list[Finding], data: AuditInput) -> list[Finding]:
    """The findings with what the other splits, each in its turn, add to a small test; seen texts are of test alone."""
    names = [one.check for one in found if one.status is not Status.SKIPPED and one.check != "seen"]
    more: dict[str, list[Finding]] = {name: [] for name in names}
    for turn, again in turns(data) if names else ():
        wanted = [name for name in names if again or name not in N_GRAMS]
        for one in _shortcuts(turn, problem_of(turn), wanted):
            more[one.check].append(one)
    return [crossed(one, more.get(one.check, ())) for one in found]


def _notes(problem: Problem | None) -> tuple[str, ...]:
    if problem is None:
        return ("no shortcut was measured: there are no two rows of two labels to learn from",)
    return (problem.note,) if problem.note else ()


def _integrity(check: Check, measure: Measure, data: AuditInput) -> Finding:
    severity = Severity.NOTE if check.id == "balance" and data.natural else Severity.ERROR
    if measure.value is None:
        return Finding(check.id, check.kind, severity, Status.SKIPPED)
    limit = check.limit if measure.limit is None else measure.limit
    status = Status.PASSED if limit is None or measure.value <= limit else Status.FAILED
    if status is Status.FAILED and severity is Severity.NOTE:
        status = Status.NOTED
    n = data.rows.height
    return Finding(
        check.id, check.kind, severity, status, measure.value, limit, None, None, n, measure.rows, measure.detail
    )


def _shortcut(check: Check, score: Score | None, data: AuditInput, problem: Problem | None) -> Finding:
    binding = check.limit is not None and (data.perturbation or not check.perturbation_only)
    severity = Severity.ERROR if binding else Severity.NOTE
    if score is None or problem is None or not len(score.correct):
        return Finding(check.id, check.kind, severity, Status.SKIPPED)
    baseline = _baseline(check, problem)
    limit = baseline + check.limit if binding and check.limit is not None else None
    return Finding(
        check=check.id,
        kind=check.kind,
        severity=severity,
        status=judge(score, limit),
        measured=score.accuracy,
        limit=limit,
        baseline=baseline,
        interval=score.interval,
        n=len(score.correct),
        independent=round(score.independent, DIGITS),
        rows=score.examples,
        detail=score.detail,
        tried=score.tried,
    )


def _baseline(check: Check, problem: Problem) -> float:
    """Accuracy of knowing nothing; of the pairs of a perturbation one half."""
    return 0.5 if check.id == "pairwise-length" and not problem.choice else problem.baseline


def judge(score: Score, limit: float | None) -> Status:
    """How a solver did against ``limit``; with none it is noted."""
    return Status.NOTED if limit is None else judged(score.accuracy, score.interval, limit)


def _exempt(finding: Finding, exempt: Mapping[str, str]) -> Finding:
    """The finding, with the reason if its check is exempt and it needs that."""
    if finding.check not in exempt or finding.status not in {Status.FAILED, Status.UNDECIDED}:
        return finding
    return dataclasses.replace(finding, status=Status.EXEMPT, reason=exempt[finding.check])
