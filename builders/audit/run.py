"""The audit of one dataset: integrity is checked, solvers look for shortcuts, and every check has a finding.

One rule for every dataset: a shortcut fails it if the lower end of the solver's 95 % interval is above the threshold.
Where classes keep the shares of their corpus, it also fails if its macro-F1 is that far above the baseline's. What
passes has a resolution: the smallest gain over the majority baseline that its rows could have shown.
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from functools import cache

from threadpoolctl import ThreadpoolController

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError
from discoprobe.builders.audit.integrity import INTEGRITY, Subject
from discoprobe.builders.audit.intervals import DIGITS, smallest_gain
from discoprobe.builders.audit.own_configs import from_config
from discoprobe.builders.audit.report import Finding, Report, Status
from discoprobe.builders.audit.solvers.problem import macro_f1, problem_of
from discoprobe.builders.audit.solvers.rules import mine
from discoprobe.builders.audit.solvers.solver_table import Bench, baselines, solve
from discoprobe.builders.audit.thresholds import BY_ID, CHECKS, Kind, Severity
from discoprobe.builders.config import Config

_NOTES_OF_OTHERS = frozenset({"clean-text", "doubled-words"})
"""Checks of how text is written, which are only reported for external data."""
_PAIRS = frozenset({"pairwise", "pairwise-length", "differences"})
"""Checks that compare the two members of a pair, of which guessing finds the right one in half of the cases."""
_thread_pools = cache(ThreadpoolController)
"""The threads of BLAS. Solvers multiply small matrices, for which a second thread doubles the processor time."""


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
        pending = executor.submit(_check_integrity, data, sources) if executor else None
        integrity = [] if pending else _check_integrity(data, sources)
        problem, note = problem_of(data)
        bench = Bench(data, problem) if problem else None
        shortcuts = _measure_shortcuts(data, bench)
        heuristics = None
        if bench:
            bench.features.forget_ngrams()
            heuristics = mine(bench.problem, bench.features, bench.token_conditions)
        findings = [*(pending.result() if pending else integrity), *shortcuts]
    exempted = {f.check for f in findings if f.status is Status.FAILED and f.check in data.exempt}
    shifts = [
        f"shift: {rule.family} {rule.condition} → {rule.label} is right in {rule.train_correct:.3f} of the rows that "
        f"solvers learn from and in {rule.correct or 0.0:.3f} of those held out"
        for rule in (heuristics.rules if heuristics else ())
        if rule.shifted
    ]
    return Report(
        name=data.name,
        counts=data.counts,
        labels=data.labels,
        trained_on=problem.trained_on if problem else "",
        measured_on=problem.measured_on if problem else "",
        baselines=baselines(data, problem) if problem else (),
        findings=tuple(
            replace(f, status=Status.EXEMPT, reason=data.exempt[f.check]) if f.check in exempted else f
            for f in findings
        ),
        heuristics=heuristics,
        stale=tuple(f.check for f in findings if f.check in data.exempt and f.status in {Status.PASSED, Status.NOTED}),
        notes=(*((note,) if note else ()), *shifts),
        classes=data.classes,
        read=data.read,
    )


def _check_integrity(data: AuditInput, sources: Mapping[tuple[str, str], str] | None) -> list[Finding]:
    """The finding of every integrity check."""
    subject, findings = Subject(data, sources), []
    for name, measure_of in INTEGRITY.items():
        check, measure = BY_ID[name], measure_of(subject)
        only_noted = (name == "balance" and data.natural) or (name in _NOTES_OF_OTHERS and data.external)
        severity = Severity.NOTE if only_noted else Severity.ERROR
        if measure.value is None:
            findings.append(Finding(name, check.kind, severity, Status.SKIPPED))
            continue
        threshold = check.threshold if measure.threshold is None else measure.threshold
        above = threshold is not None and measure.value > threshold
        status = (Status.NOTED if only_noted else Status.FAILED) if above else Status.PASSED
        findings.append(Finding(
            name, check.kind, severity, status, measure.value, threshold, n=data.rows.height, rows=measure.rows,
            detail=measure.detail,
        ))  # fmt: skip
    return findings


def _measure_shortcuts(data: AuditInput, bench: Bench | None) -> list[Finding]:
    """The finding of every solver; all are skipped without a bench.

    The threshold of a check may hold for perturbation tasks only; without one the value is only reported.
    """
    checks = [check for check in CHECKS if check.kind is Kind.SHORTCUT]
    allowed_gains = {
        check.id: check.threshold
        for check in checks
        if check.threshold is not None and (data.perturbation or not check.perturbation_only)
    }
    scores = solve(bench, allowed_gains.keys() - data.exempt.keys()) if bench else {}
    findings = []
    for check in checks:
        severity = Severity.ERROR if check.id in allowed_gains else Severity.NOTE
        score = scores.get(check.id)
        if bench is None or score is None or not len(score.correct):
            findings.append(Finding(check.id, check.kind, severity, Status.SKIPPED))
            continue
        problem = bench.problem
        baseline = 0.5 if check.id in _PAIRS and not problem.choice else problem.baseline
        macro = macro_f1(score, problem) if data.natural and not data.external else None
        threshold, status = None, Status.NOTED
        if check.id in allowed_gains:
            gain = allowed_gains[check.id]
            threshold = baseline + gain
            above = score.interval.low > threshold or (macro and macro.interval.low > macro.baseline + gain)
            status = Status.FAILED if above else Status.PASSED
        findings.append(Finding(
            check.id, check.kind, severity, status, score.accuracy, threshold, baseline, score.interval,
            len(score.correct), score.examples, "; ".join(filter(None, (score.detail, macro and str(macro)))),
            tried=score.tried, independent=round(score.independent, DIGITS),
            resolution=None if score.certain else smallest_gain(baseline, score.independent, score.tries),
        ))  # fmt: skip
    return findings
