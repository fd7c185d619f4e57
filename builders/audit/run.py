"""The audit of one dataset: every check, judged by its threshold."""

import dataclasses
from collections.abc import Mapping
from concurrent.futures import Executor
from functools import cache

from threadpoolctl import ThreadpoolController

from discoprobe.builders.audit.evidence import binds, shortcut
from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError, from_config
from discoprobe.builders.audit.integrity.checks import INTEGRITY, Subject
from discoprobe.builders.audit.integrity.measure import Measure
from discoprobe.builders.audit.report import Finding, Heuristics, Report, Status
from discoprobe.builders.audit.solvers.problem import problem_of
from discoprobe.builders.audit.solvers.rules import mine
from discoprobe.builders.audit.solvers.solver_table import Bench, baselines, solve
from discoprobe.builders.audit.thresholds import BY_ID, CHECKS, Check, Kind, Severity
from discoprobe.builders.config import Config

_NOTES_OF_OTHERS = frozenset({"clean-text", "doubled-words"})
"""Checks of how text is written, which are notes on data that others made."""


def audit(
    subject: Config | AuditInput,
    sources: Mapping[tuple[str, str], str] | None = None,
    *,
    executor: Executor | None = None,
) -> Report:
    """Everything that is wrong with a config or a dataset, and what can be scored without knowing the language.

    Args:
        subject: a config, or rows from elsewhere (``inputs.read``).
        sources: text of each (corpus, sent_id), with which the texts of the rows are compared (``fidelity``).
        executor: where integrity is checked while the solvers run here; None for one after the other.

    Raises:
        UnreadableDataError: it has no rows.
    """
    data = subject if isinstance(subject, AuditInput) else from_config(subject)
    if not data.splits:
        raise UnreadableDataError(f"{data.name}: no rows to audit")
    with _thread_pools().limit(limits=1, user_api="blas"):
        return _audit(data, sources, executor)


@cache
def _thread_pools() -> ThreadpoolController:
    """The threads of BLAS. Solvers multiply small matrices, for which a second thread doubles the processor time."""
    return ThreadpoolController()


def _audit(data: AuditInput, sources: Mapping[tuple[str, str], str] | None, executor: Executor | None) -> Report:
    elsewhere = executor.submit(_checked, data, sources) if executor else None
    here = None if elsewhere else _checked(data, sources)
    problem, note = problem_of(data)
    bench = Bench.of(data, problem) if problem else None
    compared = {check.id for check in CHECKS if binds(check, data) and check.id not in data.exempt}
    scores = solve(bench, compared) if bench else {}
    shortcuts = [check for check in CHECKS if check.kind is Kind.SHORTCUT]
    measured = [shortcut(check, scores.get(check.id), data, problem) for check in shortcuts]
    if bench:
        bench.features.forget_ngrams()
    heuristics = mine(problem, bench.features, bench.token_conditions) if problem and bench else None
    findings = [*(here if here is not None else elsewhere.result() if elsewhere else []), *measured]
    judged = [_exempt(finding, data.exempt) for finding in findings]
    return Report(
        name=data.name,
        counts=data.counts,
        labels=data.labels,
        trained_on=problem.trained_on if problem else "",
        measured_on=problem.measured_on if problem else "",
        baselines=baselines(data, problem) if problem else (),
        findings=tuple(judged),
        heuristics=heuristics,
        stale=tuple(f.check for f in judged if f.check in data.exempt and f.status in {Status.PASSED, Status.NOTED}),
        notes=(*((note,) if note else ()), *_shifts(heuristics)),
        classes=data.classes,
        read=data.read,
    )


def _shifts(heuristics: Heuristics | None) -> list[str]:
    """A line for each rule that holds on what is learned from and not on what is measured on."""
    return [
        f"shift: {rule.family} {rule.condition} → {rule.label} is right in {rule.train_correct:.3f} of the rows that "
        f"solvers learn from and in {rule.correct or 0.0:.3f} of those held out"
        for rule in (heuristics.rules if heuristics else ())
        if rule.shifted
    ]


def _checked(data: AuditInput, sources: Mapping[tuple[str, str], str] | None) -> list[Finding]:
    """The findings of integrity."""
    examined = Subject.of(data, sources)
    return [_integrity(BY_ID[name], check(examined), data) for name, check in INTEGRITY.items()]


def _integrity(check: Check, measure: Measure, data: AuditInput) -> Finding:
    noted = (check.id == "balance" and data.natural) or (check.id in _NOTES_OF_OTHERS and data.external)
    severity = Severity.NOTE if noted else Severity.ERROR
    if measure.value is None:
        return Finding(check.id, check.kind, severity, Status.SKIPPED)
    threshold = check.threshold if measure.threshold is None else measure.threshold
    status = Status.PASSED if threshold is None or measure.value <= threshold else Status.FAILED
    if status is Status.FAILED and severity is Severity.NOTE:
        status = Status.NOTED
    n = data.rows.height
    return Finding(
        check.id, check.kind, severity, status, measure.value, threshold, None, None, n, measure.rows, measure.detail
    )


def _exempt(finding: Finding, exempt: Mapping[str, str]) -> Finding:
    """The finding, with the reason if its check is exempt and would fail."""
    if finding.check not in exempt or finding.status is not Status.FAILED:
        return finding
    return dataclasses.replace(finding, status=Status.EXEMPT, reason=exempt[finding.check])
