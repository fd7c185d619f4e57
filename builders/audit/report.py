"""The report of an audit, which can be written as JSON, and the test of a task's design over all its configs.

A shortcut of the design is in every language of a task, and each config alone may be too small to show it. So the rows
of all of them together can fail the design, in every language. No config passes because others did.
"""

import enum
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import msgspec
from msgspec import field

from discoprobe.builders.audit.frame import Provenance
from discoprobe.builders.audit.intervals import DIGITS, Interval, exact
from discoprobe.builders.audit.thresholds import BY_ID, FLOOR, MOST_ROWS, PAIRED, Kind, Severity, largest_passing

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
Number: TypeAlias = int | float
"""A number of rows, or a share."""
VERSION: Final = 29
"""Version of the audit. Raise it when a check, a baseline or a threshold changes: published configs are then stale."""


class Status(enum.StrEnum):
    """The outcome of a check.

    ``below``: at most the threshold; for a shortcut, the 95 % interval also rules out a gain that matters
    (``thresholds.largest_passing``). ``above``: over the threshold; for a shortcut, the lower end is. Only this one
    fails. ``open``: neither, so these rows cannot tell. ``not measured``: the rows cannot show it: one class, one row,
    no other split, too few groups, a rule that decides nothing. ``noted``: measured, without a threshold. ``exempt``:
    above or open, and the task says why it may be. ``skipped``: the check does not apply to such data.
    """

    BELOW = "below"
    OPEN = "open"
    ABOVE = "above"
    UNMEASURED = "not measured"
    NOTED = "noted"
    EXEMPT = "exempt"
    SKIPPED = "skipped"


class Grade(enum.StrEnum):
    """How much a finding costs, from the least to the most.

    The cost is the share by which it can change a score: of an integrity check the share of the rows that are faulty
    (of a leak, of the rows of later splits), of a shortcut its gain as a share of the possible gain, which is 1 minus
    the majority baseline. ``minor``: at most ``MINOR``. ``serious``: more. ``fatal``: more than ``FATAL``, so that the
    artefact decides the score, not the task. ``note``: whatever is only reported.
    """

    NOTE = "note"
    MINOR = "minor"
    SERIOUS = "serious"
    FATAL = "fatal"


MINOR: Final = 0.02
"""A share of 2 %: half the width of the 95 % interval of an accuracy on 2,500 rows (1 / √2500). Test sets have about
as many, so a smaller change of a score is within its own interval."""
FATAL: Final = 0.5
"""More than half of the rows, or of the possible gain."""


def grade_of(cost: float) -> Grade:
    """The grade of a finding that can change a score by this share."""
    return Grade.MINOR if cost <= MINOR else Grade.SERIOUS if cost <= FATAL else Grade.FATAL


class Figure(msgspec.Struct, frozen=True):
    """A measured value: of what (``rows``, ``accuracy``, ``macro-F1`` …), with baseline, threshold and interval."""

    measure: str
    value: float
    baseline: float | None
    threshold: float | None
    interval: Interval | None

    @property
    def outcome(self) -> Status:
        """Above if the whole interval is (or the value, without one), below if more is ruled out, else open."""
        if self.threshold is None:
            return Status.NOTED
        low, high = self.interval or (self.value, self.value)
        passes = self.value <= self.threshold and high <= self.largest_passing
        return Status.ABOVE if low > self.threshold else Status.BELOW if passes else Status.OPEN

    @property
    def largest_passing(self) -> float:
        """Where the interval ends at most if the outcome is ``below``; 1 without a threshold."""
        if self.threshold is None:
            return 1.0
        return self.threshold if self.baseline is None else largest_passing(self.threshold, self.baseline)

    @property
    def excess(self) -> tuple[int, float]:
        """How far above the threshold it is, for comparison: by outcome, then by value."""
        rank = (Status.NOTED, Status.BELOW, Status.OPEN, Status.ABOVE).index(self.outcome)
        return rank, self.value - (self.threshold or 0.0)


class Finding(msgspec.Struct, frozen=True):
    """One check's result.

    Attributes:
        check: id of the check.
        kind: integrity or shortcut.
        severity: whether ``above`` stops a release.
        status: its outcome.
        measured: the value: a number of rows, or an accuracy; None if nothing was measured.
        threshold: the largest value allowed, None if the value is only reported.
        baseline: for shortcuts, the accuracy of the majority label (of a choice, of guessing).
        interval: for shortcuts, the 95 % interval of ``measured``.
        n: rows it was measured on (pairs, where pairs are compared).
        rows: ids of rows that show it, at most five (``run.rows_of`` has all); for shortcuts, of those that the solver
            got right and was surest of, at most twenty, the surest first.
        twins: of duplicates and leaks, for each of ``rows`` the id of the first row that it repeats.
        dropped: of leaks, the largest share of a split that is gone if later splits share nothing with it.
        detail: one line for people.
        reason: why the check does not apply, from the task's exemption.
        tried: where the best of several solvers was kept, the accuracy of each.
        independent: for shortcuts, the effective number of independent rows (``intervals.independent_rows``).
        resolution: for shortcuts, the smallest gain over the baseline that these rows could have shown.
        cost: by which share it can change a score (``Grade``); None if nothing was measured.
        macro_f1: for shortcuts where labels keep the distribution of their corpus, the macro-F1 of the solver.
        configs: how many configs of a task it is about (``designs``); one in a report.
    """

    check: str = ""
    kind: Kind = Kind.INTEGRITY
    severity: Severity = Severity.ERROR
    status: Status = Status.SKIPPED
    measured: Number | None = None
    threshold: Number | None = None
    baseline: float | None = None
    interval: Interval | None = None
    n: int = 0
    rows: tuple[str, ...] = ()
    detail: str = ""
    reason: str = ""
    twins: tuple[str, ...] = ()
    dropped: float = 0.0
    tried: Mapping[str, float] = field(default_factory=dict)
    independent: float = 0.0
    resolution: float | None = None
    cost: float | None = None
    macro_f1: Figure | None = None
    configs: int = 1

    @property
    def grade(self) -> Grade | None:
        """How much it costs, if it is above its threshold or a note on faulty rows; None otherwise."""
        if self.status is Status.ABOVE and self.severity is Severity.ERROR:
            return grade_of(self.cost or 0.0)
        return Grade.NOTE if self.status in {Status.NOTED, Status.EXEMPT} and self.cost else None

    @property
    def removable(self) -> bool:
        """Whether the rows that show it can be left out, so that the fault is gone; else it is in the design."""
        return BY_ID[self.check].removable

    @property
    def figure(self) -> Figure | None:
        """The value that decides the outcome: of accuracy and macro-F1, the one that is farther above its threshold."""
        if self.measured is None:
            return None
        unit = BY_ID[self.check].unit if self.kind is Kind.INTEGRITY else "accuracy"
        measured = Figure(unit, self.measured, self.baseline, self.threshold, self.interval)
        macro = self.macro_f1
        if macro is None or measured.interval is None or measured.threshold is None:
            return measured
        return max(measured, macro, key=lambda figure: figure.excess)

    @property
    def gain(self) -> float | None:
        """For shortcuts, how far the solver is above the majority baseline."""
        if self.measured is None or self.baseline is None:
            return None
        return round(self.measured - self.baseline, DIGITS)

    @property
    def decides(self) -> bool:
        """Whether it is a shortcut that could have failed the config: measured on a sample, against a threshold."""
        binding = self.kind is Kind.SHORTCUT and self.severity is Severity.ERROR
        binding = binding and self.status in {Status.BELOW, Status.OPEN, Status.ABOVE}
        return binding and self.threshold is not None and self.resolution is not None


class Baseline(msgspec.Struct, frozen=True):
    """A trivial solver: its accuracy with the 95 % interval."""

    name: str
    accuracy: float
    interval: Interval
    n: int


class Rule(msgspec.Struct, frozen=True):
    """A heuristic mined on train (Iazykova et al. 2021).

    Attributes:
        family: ``part``, ``punctuation``, ``first word``, ``last word``, ``word of a text``, ``token``, ``word of one
            text``, ``word of both``, ``bigram``, ``length``, ``difference`` or ``overlap``.
        condition: what must hold of a row, in words.
        label: the label it points to.
        coverage: share of test rows it applies to.
        correct: share of these that have the label; None if it applies to none.
        interval: 95 % interval of ``correct``, of all rules that were tested together.
        train_coverage: share of train rows it applies to.
        train_correct: share of these that have the label.
    """

    family: str
    condition: str
    label: str
    coverage: float
    correct: float | None
    interval: Interval
    train_coverage: float
    train_correct: float


class Groups(msgspec.Struct, frozen=True):
    """What the rows of the last split share: documents, target words, or what else a column names.

    Attributes:
        of: what they are, in the plural.
        n: how many there are.
        rows: rows of the split that are in one.
        largest: rows of the largest.
        independent: how many of equal size have the same variance: (sum of sizes)² / sum of squares (Kish 1965).
    """

    of: str
    n: int
    rows: int
    largest: int
    independent: float

    def are_few(self, baseline: float) -> bool:
        """Whether even a model that is right on all of them is not shown to be better than a baseline."""
        return exact(self.independent, self.independent)[0] <= baseline


class Heuristics(msgspec.Struct, frozen=True):
    """Rules that were mined on train and hold on test, best first, and what the list of them scores on test.

    Attributes:
        rules: the first that applies decides. The ``interval`` of each is above the share of its label on test.
        coverage: share of test rows some rule applies to.
        fallbacks: accuracy of the list where rows without a rule get the majority label of train, a random label, or a
            random label with the shares of train.
        shifted: rules that hold on train and not on test: the intervals of ``train_correct`` (of the best of all
            conditions that were looked at) and ``correct`` are apart.
    """

    rules: tuple[Rule, ...]
    coverage: float
    fallbacks: tuple[Baseline, ...]
    shifted: tuple[Rule, ...] = ()


NOT_AUDITED: Final = "not audited"
CUE: Final = "cue"
"""The verdict on data of others where a solver without a threshold reaches more than half of what can be gained."""
VERDICTS: Final = ("below", "open", CUE, "above", "not measured", NOT_AUDITED)
"""The words of verdicts."""


class Verdict(msgspec.Struct, frozen=True):
    """What a report says in words (``cards.text.verdicts`` writes them).

    Attributes:
        word: one of ``VERDICTS``.
        checks: those above their threshold, those that cost most first.
        resolution: the smallest gain over the majority baseline that the rows could have shown; None where no shortcut
            with a threshold was measured.
        of_design: whether ``checks`` are above only with the rows of all languages of the task.
        grade: of the check that costs most; empty unless ``word`` is ``above``.
        faults: the checks above their threshold with their figures and grades, in words.
        exempt: checks that the task is exempt from although they are above their threshold, or open.
        chance: the accuracy of the majority baseline: ``50%``.
        trick: the best cheap trick, or the one that the advice warns of, as people call it, with its accuracy:
            ``spelling 73%``; empty if there is none.
        advice: whether to use the data, in a few words (docs/concepts.md): ``yes``, ``beat 73%``, ``careful ±9``,
            ``no: length``.
        text: the verdict in sentences.
        remark: the same in a few words, for tables that have the best cheap trick in another column.
    """

    word: str
    checks: tuple[str, ...] = ()
    resolution: float | None = None
    of_design: bool = False
    grade: str = ""
    faults: str = ""
    exempt: tuple[str, ...] = ()
    chance: str = ""
    trick: str = ""
    advice: str = NOT_AUDITED
    text: str = NOT_AUDITED.capitalize()
    remark: str = ""

    def to_dict(self) -> dict[str, JSON]:
        """The verdict as JSON holds it, beside the report."""
        return {
            "verdict": self.word, "verdict_checks": list(self.checks), "of_design": self.of_design,
            "grade": self.grade or None, "advice": self.advice, "trick": self.trick, "sentence": self.text,
        }  # fmt: skip

    @property
    def is_minor(self) -> bool:
        """Whether it is above a threshold with minor findings only: then no command ends with an error."""
        return self.word == Status.ABOVE and self.grade == Grade.MINOR


class Report(msgspec.Struct, frozen=True):
    """What an audit found.

    Attributes:
        name: the config or dataset.
        counts: rows per split.
        labels: label names.
        trained_on: what the solvers learned from: a split, or ``the other splits``.
        measured_on: what they were measured on: a split, or several where they are cross-validated.
        baselines: majority, prior and random.
        findings: one per check, in the order of ``thresholds.CHECKS``.
        heuristics: the table of mined rules, None where no solver could be trained.
        stale: exemptions that are not needed: the check is not above, or has no threshold.
        notes: remarks for people, such as that a split holds one class.
        classes: split → label → rows.
        read: how the data were read; None for a config that was built.
        edited: whether texts were edited, so that what tells words or characters is a fault.
        external: whether others made the rows.
        task_type: of rows that others made, what a row is (``task_types.TASK_TYPES``); empty if it is not known.
        expected: solvers that read what the task asks for, as the user says, so that they are no cue.
        groups: what rows of the last split share; None where that is not known.
        verdict: what all this says in words, once it has been judged (``cards.text.verdicts``).
    """

    name: str
    counts: Mapping[str, int]
    labels: tuple[str, ...]
    trained_on: str
    measured_on: str
    baselines: tuple[Baseline, ...]
    findings: tuple[Finding, ...]
    heuristics: Heuristics | None
    stale: tuple[str, ...]
    notes: tuple[str, ...] = ()
    classes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    read: Provenance | None = None
    edited: bool = False
    external: bool = False
    task_type: str = ""
    expected: tuple[str, ...] = ()
    groups: Groups | None = None
    verdict: Verdict = field(default_factory=lambda: Verdict(NOT_AUDITED))

    def __repr__(self) -> str:
        best = f"; strongest {self.strongest.check} {self.strongest.measured:.3f}" if self.strongest else ""
        return f"<Report {self.name}: {self.verdict.word}{best}; {self.verdict.remark}>"

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop a release, those that cost most first."""
        above = [f for f in self.findings if f.status is Status.ABOVE and f.severity is Severity.ERROR]
        return tuple(sorted(above, key=lambda finding: -(finding.cost or 0.0)))

    @property
    def by_seriousness(self) -> tuple[Finding, ...]:
        """The findings that have a value: those of the verdict first, then by outcome, and by what they cost."""
        order = (Status.ABOVE, Status.OPEN, Status.NOTED, Status.EXEMPT, Status.BELOW)
        measured = [f for f in self.findings if f.measured is not None and f.status in order]
        in_verdict = self.verdict.checks
        return tuple(sorted(
            measured, key=lambda f: (f.check not in in_verdict, order.index(f.status), -(f.cost or 0.0))
        ))  # fmt: skip

    @property
    def failed(self) -> bool:
        """Whether there is an error-level finding."""
        return bool(self.errors)

    @property
    def outcome(self) -> Status:
        """The outcome of all checks that can fail together.

        It is ``above`` if one is; else ``not measured`` if no solver was measured against a threshold; else ``open`` if
        one is.
        """
        if self.errors:
            return Status.ABOVE
        compared = {finding.status for finding in self.compared}
        if not compared:
            return Status.UNMEASURED
        return Status.OPEN if Status.OPEN in compared else Status.BELOW

    @property
    def compared(self) -> tuple[Finding, ...]:
        """The shortcuts that were measured on a sample, against a threshold."""
        outcomes = {Status.BELOW, Status.OPEN, Status.ABOVE, Status.EXEMPT}
        shortcuts = (f for f in self.findings if f.kind is Kind.SHORTCUT and f.resolution is not None)
        return tuple(f for f in shortcuts if f.threshold is not None and f.status in outcomes)

    @property
    def unmeasured(self) -> str:
        """Why nothing was measured against a threshold; empty if something was."""
        if self.outcome is not Status.UNMEASURED:
            return ""
        reasons = [f.detail for f in self.findings if f.kind is Kind.SHORTCUT and f.status is Status.UNMEASURED]
        return next(filter(None, reasons), "no solver with a threshold applies to these rows")

    @property
    def without_value(self) -> dict[str, list[str]]:
        """The checks that have no value, by outcome: ``not measured`` or ``skipped``."""
        checks: dict[str, list[str]] = {}
        for finding in self.findings:
            if finding.measured is None:
                checks.setdefault(str(finding.status), []).append(finding.check)
        return checks

    @property
    def resolution(self) -> float | None:
        """The smallest gain that these rows could have shown, in accuracy; None where no shortcut has a threshold.

        Solvers differ in it, because their guesses agree inside documents more or less, so that the rows are worth more
        or fewer independent ones. It is the median of the solvers that have a threshold, or that of the strongest of
        them if it is larger. Comparisons of the two members of a pair are left out: they are of half as many rows.
        """
        of_rows = [f for f in self.findings if f.decides and f.check not in PAIRED]
        if not of_rows:
            return None
        strongest = max(of_rows, key=lambda finding: finding.gain or 0.0)
        median = statistics.median(f.resolution or 0.0 for f in of_rows)
        return round(max(median, strongest.resolution or 0.0), DIGITS)

    @property
    def deciding_rows(self) -> int | None:
        """About how many rows in all would decide what is open, if accuracies stayed as they are, in two digits.

        None if nothing is open, or if more rows would not be measured: as many are there already, or more than solvers
        are measured on (``thresholds.MOST_ROWS``). A threshold near an accuracy takes any number of rows.
        """
        in_pairs = any(f.check == "pairwise" and f.measured is not None for f in self.findings)
        needed = 0.0
        for finding in self.compared:
            figure = finding.figure
            if finding.status is not Status.OPEN or not (figure and figure.interval and figure.threshold is not None):
                continue
            (low, high), value = figure.interval, figure.value
            to_pass, to_fail = figure.largest_passing - value, value - figure.threshold
            half, distance = (value - low, to_fail) if to_fail > 0 else (high - value, to_pass)
            n = finding.n * (2 if in_pairs and finding.check in PAIRED else 1)
            needed = max(needed, n * (half / distance) ** 2 if distance > 0 else math.inf)
        if not sum(self.counts.values()) < needed <= MOST_ROWS:
            return None
        step: int = 10 ** max(0, math.floor(math.log10(needed)) - 1)
        return math.ceil(needed / step) * step

    @property
    def majority(self) -> float:
        """The accuracy from which gains are counted: of the most frequent class of the measured rows.

        Of rows with choices, it is that of guessing; 0 where no solver was measured.
        """
        of_rows = (f.baseline for f in self.findings if f.kind is Kind.SHORTCUT and f.check not in PAIRED)
        return next((baseline for baseline in of_rows if baseline is not None), 0.0)

    @property
    def strongest(self) -> Finding | None:
        """The shortcut with the largest gain of those that read texts, as models do; None where none was measured.

        The model of other text is none: the rows alone do not give it.
        """
        return self._strongest(of_text=True)

    @property
    def strongest_beside_text(self) -> Finding | None:
        """The same of the shortcuts that read no text, but other columns or the order of rows."""
        return self._strongest(of_text=False)

    def _strongest(self, *, of_text: bool) -> Finding | None:
        shortcuts = [f for f in self.findings if BY_ID[f.check].of_text == of_text and f.check != FLOOR]
        gains = [(gain, f) for f in shortcuts if (gain := f.gain) is not None]
        return max(gains, key=lambda pair: pair[0])[1] if gains else None

    def finding(self, check: str) -> Finding:
        """The finding of one check."""
        return next(f for f in self.findings if f.check == check)

    def to_dict(self) -> dict[str, JSON]:
        """The report as JSON holds it.

        ``failed``, ``outcome``, ``resolution``, ``strongest`` and ``strongest_beside_text``, and the grade of each
        finding, are added for readers, and the verdict if it has been judged.
        """
        summary: dict[str, JSON] = {
            "version": VERSION, "failed": self.failed, "outcome": self.outcome, "resolution": self.resolution,
        }  # fmt: skip
        for name, best in {"strongest": self.strongest, "strongest_beside_text": self.strongest_beside_text}.items():
            summary[name] = None if best is None else {
                "check": best.check, "accuracy": best.measured, "gain": best.gain,
                "interval": best.interval and list(best.interval), "n": best.n,
            }  # fmt: skip
        fields = msgspec.to_builtins(self)
        for values, finding in zip(fields["findings"], self.findings, strict=True):
            values |= {"grade": finding.grade, "removable": finding.removable}
            del values["configs"]
        del fields["verdict"]
        judged = {} if self.verdict.word == NOT_AUDITED else self.verdict.to_dict()
        return {name: _plain(value) for name, value in (summary | fields).items()} | judged

    def to_json(self) -> str:
        """The report as a line of JSON, numbers rounded to six digits."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":")) + "\n"


def _plain(value: "JSON | tuple[JSON, ...]") -> JSON:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return round(value, DIGITS) if isinstance(value, float) else value


class Tally(msgspec.Struct, frozen=True):
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
    return {
        finding.check: Tally(
            n=finding.n,
            independent=round(finding.independent, 2),
            baseline=round((finding.baseline or 0.0) * finding.n, 2),
            threshold=round((finding.threshold or 0.0) * finding.n, 2),
            correct={
                name: round(accuracy * finding.n, 2)
                for name, accuracy in (finding.tried or {finding.check: finding.measured or 0.0}).items()
            },
        )
        for finding in report.findings
        if finding.decides
    }


def designs(configs: Sequence[Mapping[str, Tally]]) -> list[Finding]:
    """Every shortcut of a task over the rows of its configs, in the order of ``thresholds.CHECKS``.

    Each solver of a check is added up by itself before the best is chosen. Solvers that some config lacks (the seventh
    text alone, where not all rows have seven) are left out. A shortcut is above its threshold if the lower end of the
    interval is, with all configs and without any one of them: one of one config alone fails that config only.

    Args:
        configs: the ``tallies`` of each config.
    """
    tested = []
    for check in BY_ID.values():
        parts = [config[check.id] for config in configs if check.id in config]
        names = [name for name in (parts[0].correct if parts else ()) if all(name in part.correct for part in parts)]
        if not names:
            continue
        accuracy, interval, threshold = _add_up(parts, names)
        without_one = [_add_up([*parts[:at], *parts[at + 1 :]], names) for at in range(len(parts) if parts[1:] else 0)]
        n = sum(part.n for part in parts)
        baseline = round(sum(part.baseline for part in parts) / n, DIGITS)
        status = Figure("accuracy", accuracy, baseline, threshold, interval).outcome
        if status is Status.ABOVE and not (without_one and all(less[0] > most for _, less, most in without_one)):
            status = Status.OPEN
        tested.append(Finding(
            check.id, check.kind, Severity.ERROR, status, accuracy, threshold, baseline, interval, n,
            configs=len(parts),
        ))  # fmt: skip
    return tested


def _add_up(parts: Sequence[Tally], names: Sequence[str]) -> tuple[float, Interval, float]:
    """The accuracy of the best solver over all rows, its interval, and the threshold."""
    n, independent = sum(part.n for part in parts), sum(part.independent for part in parts)
    best = max(sum(part.correct[name] for part in parts) for name in names) / n
    threshold = sum(part.threshold for part in parts) / n
    return round(best, DIGITS), exact(best * independent, independent, len(names)), round(threshold, DIGITS)
