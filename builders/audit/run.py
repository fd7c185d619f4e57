"""The audit of one dataset: every check, and its finding.

One rule for every dataset: a shortcut fails it if the lower end of the solver's 95 % interval is above the threshold.
Where classes keep the shares of their corpus, it also fails if its macro-F1 is that far above the baseline's. What
passes has a resolution: the smallest gain over the majority baseline that its rows could have shown.
"""

import dataclasses
from collections.abc import Mapping
from concurrent.futures import Executor
from functools import cache

from threadpoolctl import ThreadpoolController

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError
from discoprobe.builders.audit.integrity import INTEGRITY, Measure, Subject
from discoprobe.builders.audit.intervals import DIGITS, Interval, smallest_gain
from discoprobe.builders.audit.own_configs import from_config
from discoprobe.builders.audit.report import Finding, Heuristics, Report, Status
from discoprobe.builders.audit.solvers.problem import Problem, Score, macro_f1, problem_of
from discoprobe.builders.audit.solvers.rules import mine
from discoprobe.builders.audit.solvers.solver_table import Bench, baselines, solve
from discoprobe.builders.audit.thresholds import BY_ID, CHECKS, Check, Kind, Severity
from discoprobe.builders.config import Config

_NOTES_OF_OTHERS = frozenset({"clean-text", "doubled-words"})
"""Checks of how text is written, which are only reported for external data."""
_PAIRS = frozenset({"pairwise", "pairwise-length"})
"""Checks that compare the two members of a pair, of which guessing finds the right one in half of the cases."""


def audit(
    subject: Config | AuditInput,
    sources: Mapping[tuple[str, str], str] | None = None,
    *,
    executor: Executor | None = None,
) -> Report:
    """Runs all checks on a config or a dataset: integrity, and the accuracy of solvers that do not know the language.

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
    pending = executor.submit(_integrity, data, sources) if executor else None
    integrity = [] if pending else _integrity(data, sources)
    problem, note = problem_of(data)
    bench = Bench(data, problem) if problem else None
    shortcuts = _shortcuts(data, bench)
    heuristics = None
    if bench:
        bench.features.forget_ngrams()
        heuristics = mine(bench.problem, bench.features, bench.token_conditions)
    findings = [_exempt(f, data.exempt) for f in (*(pending.result() if pending else integrity), *shortcuts)]
    return Report(
        name=data.name,
        counts=data.counts,
        labels=data.labels,
        trained_on=problem.trained_on if problem else "",
        measured_on=problem.measured_on if problem else "",
        baselines=baselines(data, problem) if problem else (),
        findings=tuple(findings),
        heuristics=heuristics,
        stale=tuple(f.check for f in findings if f.check in data.exempt and f.status in {Status.PASSED, Status.NOTED}),
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


def _integrity(data: AuditInput, sources: Mapping[tuple[str, str], str] | None) -> list[Finding]:
    subject = Subject(data, sources)
    return [_judged(BY_ID[name], check(subject), data) for name, check in INTEGRITY.items()]


def _judged(check: Check, measure: Measure, data: AuditInput) -> Finding:
    noted = (check.id == "balance" and data.natural) or (check.id in _NOTES_OF_OTHERS and data.external)
    severity = Severity.NOTE if noted else Severity.ERROR
    if measure.value is None:
        return Finding(check.id, check.kind, severity, Status.SKIPPED)
    threshold = check.threshold if measure.threshold is None else measure.threshold
    above = threshold is not None and measure.value > threshold
    status = (Status.NOTED if noted else Status.FAILED) if above else Status.PASSED
    return Finding(
        check.id, check.kind, severity, status, measure.value, threshold, n=data.rows.height, rows=measure.rows,
        detail=measure.detail,
    )  # fmt: skip


def _shortcuts(data: AuditInput, bench: Bench | None) -> list[Finding]:
    """The finding of every solver; they are skipped without a bench."""
    checks = [check for check in CHECKS if check.kind is Kind.SHORTCUT]
    compared = {check.id for check in checks if _binds(check, data) and check.id not in data.exempt}
    scores = solve(bench, compared) if bench else {}
    return [_shortcut(check, scores.get(check.id), data, bench.problem if bench else None) for check in checks]


def _binds(check: Check, data: AuditInput) -> bool:
    """Whether the threshold of a shortcut holds for these data."""
    return check.threshold is not None and (data.perturbation or not check.perturbation_only)


def _shortcut(check: Check, score: Score | None, data: AuditInput, problem: Problem | None) -> Finding:
    severity = Severity.ERROR if _binds(check, data) else Severity.NOTE
    if score is None or problem is None or not len(score.correct):
        return Finding(check.id, check.kind, severity, Status.SKIPPED)
    baseline = 0.5 if check.id in _PAIRS and not problem.choice else problem.baseline
    threshold = None if severity is Severity.NOTE or check.threshold is None else baseline + check.threshold
    status = Status.NOTED if threshold is None else _status(score.interval, threshold)
    macro = macro_f1(score, problem) if data.natural and not data.external else None
    if macro and status is Status.PASSED and check.threshold is not None:
        status = _status(macro.interval, macro.baseline + check.threshold)
    return Finding(
        check.id, check.kind, severity, status, score.accuracy, threshold, baseline, score.interval, len(score.correct),
        score.examples, "; ".join(filter(None, (score.detail, macro and str(macro)))), tried=score.tried,
        independent=round(score.independent, DIGITS),
        resolution=None if score.certain else smallest_gain(baseline, score.independent, score.tries),
    )  # fmt: skip


def _status(interval: Interval, threshold: float) -> Status:
    return Status.FAILED if interval.low > threshold else Status.PASSED


def _exempt(finding: Finding, exempt: Mapping[str, str]) -> Finding:
    """The finding, with the reason if its check is exempt and would fail."""
    if finding.check not in exempt or finding.status is not Status.FAILED:
        return finding
    return dataclasses.replace(finding, status=Status.EXEMPT, reason=exempt[finding.check])
