"""The audit of one dataset: integrity is checked, solvers look for shortcuts, and every check has a finding.

One rule for every dataset: a shortcut is above its threshold if the lower end of the solver's 95 % interval is, below
if its accuracy is and a gain that matters is ruled out (``thresholds.largest_passing``), else open. Where classes keep
the shares of their corpus, this also holds for the macro-F1. What is not above has a resolution: the smallest gain over
the majority baseline that the rows could have shown.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor

import numpy as np
import polars as pl
from msgspec.structs import replace

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError, with_edited
from discoprobe.builders.audit.integrity import INTEGRITY
from discoprobe.builders.audit.intervals import DIGITS, exact, smallest_gain
from discoprobe.builders.audit.own_configs import from_config
from discoprobe.builders.audit.report import Figure, Finding, Groups, Report, Status
from discoprobe.builders.audit.solvers.problem import Problem, Score, macro_f1, problem_of
from discoprobe.builders.audit.solvers.rules import mine
from discoprobe.builders.audit.solvers.solver_table import (
    DOUBTFUL,
    SOLVERS,
    Bench,
    baselines,
    compare_pairs,
    solve,
    solve_undecided,
)
from discoprobe.builders.audit.task_types import OVERLAP
from discoprobe.builders.audit.thresholds import (
    BY_ID,
    CHECKS,
    FEWEST_WORDS,
    FLOOR,
    PAIRED,
    Check,
    Kind,
    Severity,
    largest_passing,
)
from discoprobe.builders.config import ANNOTATION, Config, Shape
from discoprobe.loaders.errors import UnknownNameError
from discoprobe.loaders.process_pool import one_thread

EXAMPLES = 5
"""Rows that a finding of an integrity check names."""
_GUESSED = 0.5
"""Largest probability of being right of a row that a solver guesses."""
_NOTES_OF_OTHERS = frozenset({"clean-text", "doubled-words", "split-set", "altered-dup"})
"""Checks of how text is written, and of which splits there are, which are only reported for external data."""
_NOTES_OF_NATURAL = frozenset({"balance", "label-shares"})
"""Checks of how often labels are, which are only reported where labels are those of the source."""
_NOTES = frozenset({"paraphrase"})
"""Checks that are only reported for all data."""
_NOT_ABOVE = frozenset({Status.BELOW, Status.OPEN, Status.NOTED})
"""Outcomes that need no exemption."""


def audit(
    subject: Config | AuditInput,
    sources: pl.DataFrame | None = None,
    other_texts: Sequence[str] | None = None,
    *,
    executor: Executor | None = None,
) -> Report:
    """Runs all checks on a config or a dataset: integrity, and the accuracy of solvers that do not know the language.

    Args:
        subject: a config, or rows from elsewhere (``inputs.read``).
        sources: ``text`` of each ``corpus`` and ``sent_id``, with which the texts of the rows are compared
            (``fidelity``).
        other_texts: text of the same corpora that no row has (``trigrams``).
        executor: where integrity is checked while the solvers run here; None for one after the other.

    Raises:
        UnreadableDataError: it has no rows.
    """
    data = with_edited(subject if isinstance(subject, AuditInput) else from_config(subject))
    if not data.splits:
        raise UnreadableDataError(f"{data.name}: no rows to audit")
    data = replace(data, other_texts=other_texts, sources=sources)
    with one_thread():
        pending = executor.submit(_check_integrity, data) if executor else None
        integrity = [] if pending else _check_integrity(data)
        problem, note = problem_of(data)
        bench = Bench(data, problem) if problem else None
        shortcuts, remarks = _measure_shortcuts(data, bench, note)
        heuristics = None
        if bench:
            bench.features.forget_ngrams()
            heuristics = mine(bench.problem, bench.features, bench.token_conditions)
        findings = [*(pending.result() if pending else integrity), *shortcuts]
    exempted = {f.check for f in findings if f.status in {Status.ABOVE, Status.OPEN} and f.check in data.exempt}
    shifts = [
        f"shift: {rule.family} {rule.condition} → {rule.label} is right in {rule.train_correct:.3f} of the rows that "
        f"solvers learn from and in {rule.correct or 0.0:.3f} of those held out"
        for rule in (heuristics.shifted if heuristics else ())
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
        stale=tuple(
            f.check for f in findings if f.check in data.exempt and f.status in _NOT_ABOVE and not data.external
        ),
        notes=(*filter(None, (note, data.long_texts, *remarks)), *shifts),
        classes=data.classes,
        read=data.read,
        edited=data.perturbation,
        external=data.external,
        task_type=data.task_type,
        groups=_groups(data),
    )


_SHARED = {"document": "documents", "target": "target words", "cluster": "clusters of similar sentences"}
"""What a task is split by → what its rows share."""


def _groups(data: AuditInput) -> Groups | None:
    sizes = data.group_sizes
    if not sizes:
        return None
    independent = sum(sizes) ** 2 / sum(size**2 for size in sizes)
    return Groups(_SHARED.get(data.split_by, "groups"), len(sizes), sum(sizes), sizes[0], round(independent, DIGITS))


def rows_of(data: AuditInput, check: str) -> pl.DataFrame:
    """The rows of a finding, all of them: those of a fault, or those that the solver of a shortcut gets right.

    The check is run again, alone. Faulty rows of the last split come first; of a shortcut the surest row does. The
    check ``doubtful-labels`` has the rows of data of others whose words are those of another label.

    Returns:
        ``split``, ``id``, ``label`` (its name) and ``texts``; of duplicates and leaks also ``twin_split``, ``twin``
        and ``twin_texts``: those of the first row that is repeated, else null.

    Raises:
        UnknownNameError: there is no such check.
    """
    if check not in BY_ID and check != DOUBTFUL:
        raise UnknownNameError("check", check, [*BY_ID, DOUBTFUL])
    twins: tuple[str, ...] = ()
    if check == DOUBTFUL:
        with one_thread():
            problem, _ = problem_of(data)
            rows = Bench(data, problem).doubtful_rows if problem else []
            ids = tuple(str(problem.ids[row]) for row, _ in rows) if problem else ()
    elif check in INTEGRITY:
        finding = INTEGRITY[check](data)
        ids, twins = finding.rows, finding.twins
    else:
        score = score_of_solver(data, check)
        right = (
            []
            if score is None
            else [row for row in np.argsort(-score.confidence, kind="stable") if score.correct[row] > _GUESSED]
        )
        ids = tuple(str(score.ids[row]) for row in right) if score else ()
    frame = pl.DataFrame({"id": ids, "twin": twins or [None] * len(ids)}, {"id": pl.String, "twin": pl.String})
    names = pl.col("label").replace_strict(dict(enumerate(data.labels)), default=None, return_dtype=pl.String)
    distinct = data.rows.unique("id", keep="first").select("id", pl.col("split").cast(pl.String), names, "texts")
    of_twins = distinct.select(twin="id", twin_split="split", twin_texts="texts")
    frame = frame.join(distinct, on="id", maintain_order="left")
    frame = frame.join(of_twins, on="twin", how="left", maintain_order="left")
    return frame.select("split", "id", "label", "texts", "twin_split", "twin", "twin_texts")


def score_of_solver(data: AuditInput, check: str) -> Score | None:
    """The score of the solver of one check, with whether it is right on each row; None if it does not apply."""
    data = with_edited(data)
    with one_thread():
        problem, _ = problem_of(data)
        if problem is None:
            return None
        bench = Bench(data, problem)
        return SOLVERS[check](bench) if check in SOLVERS else solve(bench, _counting(data)).get(check)


def _counting(data: AuditInput) -> set[str]:
    """The shortcuts that count as faults of these data."""
    counting = {
        check.id for check in CHECKS if check.kind is Kind.SHORTCUT and _severity(check, data) is Severity.ERROR
    }
    return counting - data.exempt.keys()


def _check_integrity(data: AuditInput) -> list[Finding]:
    """The finding of every integrity check."""
    data, findings = replace(data), []  # what the checks compute of the rows is not kept with those of the solvers
    at_risk = {across: max(1, sum(list(data.counts.values())[int(across) :])) for across in (False, True)}
    for name, measure in INTEGRITY.items():
        check, finding = BY_ID[name], measure(data)
        finding = replace(finding, rows=finding.rows[:EXAMPLES], twins=finding.twins[:EXAMPLES])
        only_noted = (
            name in _NOTES
            or (name in _NOTES_OF_NATURAL and data.natural)
            or (name in _NOTES_OF_OTHERS and data.external)
        )
        only_noted = only_noted or (name == "group-split" and data.guessed_groups)
        finding = replace(finding, check=name, severity=Severity.NOTE if only_noted else Severity.ERROR)
        value = finding.measured
        if value is None:
            if check.across and len(data.splits) < 2 and data.splits != data.expected:  # noqa: PLR2004
                detail = f"there is only one split ({data.splits[0]})"
                finding = replace(finding, status=Status.UNMEASURED, detail=detail)
            findings.append(finding)
            continue
        threshold = check.threshold if finding.threshold is None else finding.threshold
        above = threshold is not None and value > threshold
        status = (Status.NOTED if only_noted else Status.ABOVE) if above else Status.BELOW
        n, is_share = at_risk[check.across], check.unit.startswith("share")
        cost = value / (1 if is_share else n) if finding.cost is None else finding.cost
        findings.append(replace(finding, status=status, threshold=threshold, n=n, cost=round(cost, DIGITS)))
    return findings


def _measure_shortcuts(data: AuditInput, bench: Bench | None, why_not: str) -> tuple[list[Finding], tuple[str, ...]]:
    """The finding of every solver, and remarks; without a bench, none is measured, for the reason ``why_not``.

    Where test leaves solvers open, all rows decide: these solvers are cross-validated over the splits.
    """
    checks = [check for check in CHECKS if check.kind is Kind.SHORTCUT]
    if bench is None:
        return [Finding(check.id, check.kind, _severity(check, data), Status.UNMEASURED, detail=why_not)
                for check in checks], ()  # fmt: skip
    counting = _counting(data)
    scores = solve(bench, counting)
    findings = {check.id: _finding_of(check, scores.get(check.id), data, bench.problem) for check in checks}
    remarks = [bench.doubtful_labels, _of_parts(data, scores)]
    undecided = {name: score for name, finding in findings.items()
                 if finding.status is Status.OPEN and name in counting and (score := scores.get(name))}  # fmt: skip
    if undecided and len(bench.problem.folds) == 1:
        in_pairs = compare_pairs(bench.problem, {name: score for name in counting if (score := scores.get(name))})
        bench.features.forget_ngrams()
        problem, _ = problem_of(data, all_rows=True)
        if problem and len(problem.folds) > 1:
            most = largest_passing(findings["pairwise"].threshold or 1.0, 0.5)
            decided = solve_undecided(Bench(data, problem), undecided, in_pairs, most)
            findings |= {name: _finding_of(BY_ID[name], score, data, problem) for name, score in decided.items()}
            remarks.append(f"{bench.problem.measured_on} left {', '.join(decided)} open: cross-validated over all rows")
    findings |= _told_by_words(findings, data)
    return list(findings.values()), tuple(filter(None, remarks))


_OF_STYLE = frozenset({"length", "punctuation", "case", "surface"})
"""Checks of how long a text is and how it is written, as the texts of a class may be."""


def _told_by_words(findings: Mapping[str, Finding], data: AuditInput) -> dict[str, Finding]:
    """The findings of style that are no fault, as notes: those of single texts of others whose words surely tell more.

    Praise has exclamation marks, and questions of a class are short. What a model must beat are the words, which tell
    this and more; only where style tells the label as well as words do, it decides. Texts that were edited differ by
    the edit, and a text of several may be told without the others.
    """
    words = findings["words"].interval
    if words is None or not data.external or data.perturbation or data.shape is not Shape.SENTENCE:
        return {}
    return {
        name: replace(finding, severity=Severity.NOTE, status=Status.NOTED, threshold=None)
        for name, finding in findings.items()
        if name in _OF_STYLE and finding.interval and finding.threshold is not None
        and finding.status in {Status.OPEN, Status.ABOVE} and finding.interval[1] < words[0]
    }  # fmt: skip


def _finding_of(check: Check, score: Score | None, data: AuditInput, problem: Problem) -> Finding:
    """The finding of a solver.

    The threshold of a check may hold for perturbation tasks only; without one the value is only reported. A threshold
    needs so many groups that a solver that is always right would be above it; with fewer, nothing is measured against
    it.
    """
    severity = _severity(check, data)
    if score is None and check.id == FLOOR and data.compared_with_others:
        detail = f"the corpora have fewer than {FEWEST_WORDS:,} words that no row has"
        return Finding(check.id, check.kind, severity, Status.UNMEASURED, detail=detail)
    if score is None or not len(score.correct):
        return Finding(check.id, check.kind, severity, Status.SKIPPED)
    if not (score.decides or score.certain):
        return Finding(
            check.id,
            check.kind,
            severity,
            Status.UNMEASURED,
            detail=f"all of {len(score.correct):,} answers are ties",
        )
    binding = severity is Severity.ERROR
    baseline = 0.5 if check.id in PAIRED and not problem.choice else problem.baseline
    gain = check.allowed_gain(baseline) if binding else None
    threshold = None if gain is None else round(baseline + gain, DIGITS)
    independent = score.independent
    figure = Figure("accuracy", score.accuracy, baseline, threshold, score.interval)
    f1 = macro_f1(score, problem) if data.natural and not data.external else None
    if f1 and f1.baseline is not None and binding:
        gain = check.allowed_gain(f1.baseline)
        f1 = replace(f1, threshold=None if gain is None else round(f1.baseline + gain, DIGITS))
    status = max(filter(None, (figure, f1)), key=lambda each: each.excess).outcome
    groups = min(len(np.unique(numbers)) for numbers in score.clusterings)
    detail = score.detail
    if threshold is not None and not score.certain and exact(groups, groups, score.tries)[0] <= threshold:
        status = Status.UNMEASURED
        detail = f"{groups} independent groups are too few: a solver that is always right is not above the threshold"
    return Finding(
        check.id, check.kind, severity, status, score.accuracy, threshold, baseline, score.interval,
        len(score.correct), score.examples, detail, tried=score.tried, independent=round(independent, DIGITS),
        resolution=None if score.certain else smallest_gain(baseline, independent, score.tries),
        cost=round(max(0.0, score.accuracy - baseline) / max(1 - baseline, 1e-9), DIGITS) if check.of_text else 0.0,
        macro_f1=f1,
    )  # fmt: skip


def _of_parts(data: AuditInput, scores: Mapping[str, Score | None]) -> str:
    """How often the strongest solver of texts is right in gold rows and in silver ones; empty if there is one kind."""
    kind_of = dict(data.rows.select("id", "annotation").drop_nulls().iter_rows())
    of_text = {name: score for name, score in scores.items() if score and BY_ID[name].of_text and len(score.correct)}
    if len(set(kind_of.values())) < len(ANNOTATION) or not of_text:
        return ""
    name, score = max(of_text.items(), key=lambda item: item[1].accuracy)
    kinds = np.array([kind_of.get(each, "") for each in score.ids.tolist()])
    parts = [
        f"in {score.correct[kinds == kind].mean():.3f} of {(kinds == kind).sum():,} {kind} rows"
        for kind in ANNOTATION
        if (kinds == kind).any()
    ]
    return f"annotation: {name} is right {' and '.join(parts)}"


def _severity(check: Check, data: AuditInput) -> Severity:
    """Whether a shortcut counts as a fault of these data, or is only reported.

    Where labels are those of the corpus and nobody edited or matched the texts, capitals are the corpus's too: they say
    where sentences begin, on which relations depend. What other columns tell about data of others is for their users.
    Of inference, shared words are reported (``task_types.QUESTION``).
    """
    written = check.id == "case" and data.natural and not (data.external or data.perturbation)
    reported = written or (check.id == "metadata" and data.external)
    reported = reported or (check.id in OVERLAP and data.task_type == "entailment" and not data.perturbation)
    counts = check.threshold is not None and (data.perturbation or not check.perturbation_only) and not reported
    return Severity.ERROR if counts else Severity.NOTE
