"""What an audit found, as values that survive JSON."""

from __future__ import annotations

import dataclasses
import enum
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from discoprobe.builders.audit.limits import RESOLUTION, Kind, Severity
from discoprobe.builders.audit.stats import DIGITS, Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
_VERSION = 1
_Entry: TypeAlias = "dict[str, Any]"


class Status(enum.StrEnum):
    """How a check ended.

    ``passed``: within the limit; for a shortcut the upper end of the 95 % interval is, moreover, at most
    ``limits.RESOLUTION`` above it. ``failed``: beyond the limit; for a shortcut with the lower end of the interval on
    test, or of the 99 % interval in turn (``Cross``). ``undecided``: there are too few rows to tell. ``noted``:
    measured, nothing is too much. ``exempt``: beyond the limit or undecided, and the task says why. ``skipped``: does
    not apply.
    """

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    NOTED = "noted"
    EXEMPT = "exempt"
    SKIPPED = "skipped"


def judged(accuracy: float, interval: Interval, limit: float) -> Status:
    """Whether a solver exceeds ``limit``, stays within it, or was measured on too few rows to tell (``Status``)."""
    if interval.low > limit:
        return Status.FAILED
    within = accuracy <= limit and interval.high <= limit + RESOLUTION
    return Status.PASSED if within else Status.UNDECIDED


@dataclass(frozen=True, slots=True)
class Cross:
    """A shortcut on test and on the other splits, held out in their turns, where there are few rows for test.

    Attributes:
        n: rows.
        independent: as how many independent rows they count.
        accuracy: share of them that is right.
        baseline: the accuracy of knowing nothing.
        limit: the largest accuracy allowed, None if any is.
        interval: 95 % interval of ``accuracy``.
        tried: the accuracy of each solver of which the best was kept; of the one, if there is only one.
    """

    n: int
    independent: float
    accuracy: float
    baseline: float
    limit: float | None
    interval: Interval
    tried: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result.

    Attributes:
        check: id of the check.
        kind: integrity or shortcut.
        severity: whether failing stops a release.
        status: how it ended.
        measured: the value: rows, or the accuracy on test; None if skipped.
        limit: the largest value allowed, None if anything is.
        baseline: for shortcuts, the accuracy of knowing nothing.
        interval: for shortcuts, the 95 % interval of ``measured``.
        n: rows it was measured on.
        rows: ids of the first rows that show it, at most five.
        detail: one line for people.
        reason: why the check does not apply, from the task's exemption.
        tried: where the best of several solvers was kept, the accuracy of each.
        independent: for shortcuts, as how many independent rows they count (pairs go right and wrong together).
        cross: for shortcuts, what all splits together say where there are few rows for test.
    """

    check: str
    kind: Kind
    severity: Severity
    status: Status
    measured: float | None = None
    limit: float | None = None
    baseline: float | None = None
    interval: Interval | None = None
    n: int = 0
    rows: tuple[str, ...] = ()
    detail: str = ""
    reason: str = ""
    tried: Mapping[str, float] = field(default_factory=dict)
    independent: float = 0.0
    cross: Cross | None = None

    @property
    def lift(self) -> float | None:
        """For shortcuts, how far the solver is above knowing nothing, in turn where test has few rows."""
        shown = (self.measured, self.baseline)
        accuracy, baseline = (self.cross.accuracy, self.cross.baseline) if self.cross else shown
        return None if accuracy is None or baseline is None else round(accuracy - baseline, DIGITS)

    @property
    def beyond(self) -> tuple[float, float] | None:
        """What was measured and the limit, where it is beyond it: on test, else in turn."""
        if self.status is not Status.FAILED or self.measured is None or self.limit is None:
            return None
        if self.interval and self.cross and self.interval.low <= self.limit:
            return self.cross.accuracy, self.cross.limit or 0.0
        return self.measured, self.limit


@dataclass(frozen=True, slots=True)
class Baseline:
    """A trivial solver: its accuracy on test with the 95 % interval."""

    name: str
    accuracy: float
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A heuristic mined on train (Iazykova et al. 2021).

    Attributes:
        family: ``length``, ``token``, ``first word``, ``last word``, ``bigram`` or ``overlap``.
        condition: what must hold of a row, in words.
        label: the label it points to.
        coverage: share of test rows it applies to.
        correct: share of these that have the label; None if it applies to none.
        interval: 95 % interval of ``correct``.
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


@dataclass(frozen=True, slots=True)
class Heuristics:
    """Mined rules, best first, and what the list of them scores on test.

    Attributes:
        rules: the first that applies decides.
        coverage: share of test rows some rule applies to.
        fallbacks: accuracy of the list where rows without a rule get the majority label of train, a random label, or a
            random label with the shares of train.
    """

    rules: tuple[Rule, ...]
    coverage: float
    fallbacks: tuple[Baseline, ...]


@dataclass(frozen=True, slots=True)
class Strongest:
    """The shortcut with the largest lift over knowing nothing; ``n`` rows, of all splits where test has few."""

    check: str
    accuracy: float
    lift: float
    interval: Interval | None
    n: int


@dataclass(frozen=True, slots=True)
class Report:
    """What an audit found.

    Attributes:
        name: the config or data set.
        counts: rows per split.
        labels: label names.
        trained_on: split the solvers learned from.
        measured_on: split they were measured on.
        baselines: majority, prior and random.
        findings: one per check, in the order of ``limits.CHECKS``.
        heuristics: the table of mined rules, None where no solver could be trained.
        stale: exemptions that are not needed: the check passes, or nothing is too much for it.
        notes: remarks for people, such as that solvers learned from half of the only split.
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

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop a release."""
        return tuple(f for f in self.findings if f.status is Status.FAILED and f.severity is Severity.ERROR)

    @property
    def failed(self) -> bool:
        """Whether there is an error-level finding."""
        return bool(self.errors)

    @property
    def undecided(self) -> tuple[Finding, ...]:
        """The findings that there are too few rows to decide."""
        return tuple(f for f in self.findings if f.status is Status.UNDECIDED)

    @property
    def suspect(self) -> tuple[Finding, ...]:
        """The shortcuts left open of which the rows of all splits, at 95 %, say that they are beyond the limit."""
        turned = [(f, f.cross) for f in self.undecided if f.severity is Severity.ERROR]
        return tuple(f for f, cross in turned if cross and cross.limit is not None and cross.interval.low > cross.limit)

    @property
    def strongest(self) -> Strongest | None:
        """The shortcut with the largest lift; None where none was measured."""
        lifts = [(lift, f) for f in self.findings if (lift := f.lift) is not None]
        if not lifts:
            return None
        lift, best = max(lifts, key=lambda pair: pair[0])
        shown = best.cross or best
        accuracy = best.cross.accuracy if best.cross else float(best.measured or 0.0)
        return Strongest(best.check, accuracy, lift, shown.interval, shown.n)

    def finding(self, check: str) -> Finding:
        """The finding of one check."""
        return next(f for f in self.findings if f.check == check)

    def to_dict(self) -> dict[str, JSON]:
        """The report as JSON holds it; ``strongest`` and ``failed`` are added for readers."""
        strongest = None if self.strongest is None else dataclasses.asdict(self.strongest)
        summary: dict[str, JSON] = {"version": _VERSION, "failed": self.failed, "strongest": strongest}
        return {name: _plain(value) for name, value in (summary | dataclasses.asdict(self)).items()}

    def to_json(self) -> str:
        """The report as JSON text, numbers rounded to six digits."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Report:
        """The report that ``to_json`` wrote (numbers as rounded there)."""
        data = json.loads(text)
        heuristics = data["heuristics"]
        return cls(
            name=data["name"],
            counts=data["counts"],
            labels=tuple(data["labels"]),
            trained_on=data["trained_on"],
            measured_on=data["measured_on"],
            baselines=tuple(_baseline(entry) for entry in data["baselines"]),
            findings=tuple(_finding(entry) for entry in data["findings"]),
            heuristics=None if heuristics is None else _heuristics(heuristics),
            stale=tuple(data["stale"]),
            notes=tuple(data["notes"]),
        )


def _plain(value: JSON | tuple[JSON, ...]) -> JSON:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def _baseline(entry: _Entry) -> Baseline:
    return Baseline(**entry | {"interval": Interval(*entry["interval"])})


def _finding(entry: _Entry) -> Finding:
    interval = None if entry["interval"] is None else Interval(*entry["interval"])
    values = {"kind": Kind(entry["kind"]), "severity": Severity(entry["severity"]), "status": Status(entry["status"])}
    cross = entry.get("cross")
    held = None if cross is None else Cross(**cross | {"interval": Interval(*cross["interval"])})
    return Finding(**entry | values | {"interval": interval, "rows": tuple(entry["rows"]), "cross": held})


def _heuristics(entry: _Entry) -> Heuristics:
    rules = tuple(Rule(**rule | {"interval": Interval(*rule["interval"])}) for rule in entry["rules"])
    return Heuristics(rules, entry["coverage"], tuple(_baseline(fallback) for fallback in entry["fallbacks"]))
