"""The verdict of the audit on every config of a release: one function for config cards, release card and terminal."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from discoprobe.builders.audit.evidence import Design, designs
from discoprobe.builders.audit.report import Report
from discoprobe.cards.metadata.manifest import AuditEntry, ConfigEntry

PASSED: Final = "passed"
FAILED: Final = "failed"
NOT_AUDITED: Final = "not audited"

MARKS: Final = {PASSED: "✓", FAILED: "✗", NOT_AUDITED: ""}
"""Verdict → its mark."""


class Verdict(NamedTuple):
    """What the audit says of a config.

    Attributes:
        word: one of ``MARKS``.
        checks: those above their threshold.
        resolution: the smallest gain over the majority baseline that the rows could have shown; None where no shortcut
            with a threshold was measured.
        of_design: whether ``checks`` failed only with the rows of all languages of the task.
    """

    word: str
    checks: tuple[str, ...] = ()
    resolution: float | None = None
    of_design: bool = False

    @property
    def text(self) -> str:
        """The verdict in a few words: ``passed (smallest detectable gain 0.080)``, ``failed (length, order)``."""
        if self.word == PASSED and self.resolution is not None:
            return f"{PASSED} (smallest detectable gain {self.resolution:.3f})"
        return f"{self.word} ({', '.join(self.checks)})" if self.checks else self.word


def verdict_of(report: Report) -> Verdict:
    """The verdict on a config by its own rows alone: that of the release, unless the task's design fails there."""
    return Verdict(FAILED if report.failed else PASSED, tuple(one.check for one in report.errors), report.resolution)


def verdicts(configs: Mapping[str, ConfigEntry]) -> dict[str, Verdict]:
    """The verdict on each config of a release, in its order."""
    return of_audits(*audits_and_tasks(configs))


def audits_and_tasks(configs: Mapping[str, ConfigEntry]) -> tuple[dict[str, AuditEntry | None], dict[str, str]]:
    """The audit and the task of each config, by its name."""
    audits = {name: entry["audit"] for name, entry in configs.items()}
    return audits, {name: entry["task"] for name, entry in configs.items()}


def tally(words: Iterable[str]) -> dict[str, int]:
    """How many configs passed, failed, were not audited, by the words of their verdicts: only those that occur."""
    counts = Counter(words)
    return {word: counts[word] for word in MARKS if word in counts}


def of_audits(audits: Mapping[str, AuditEntry | None], tasks: Mapping[str, str]) -> dict[str, Verdict]:
    """The verdict on each audited config, of which ``tasks`` names the task; ``""`` for none."""
    failed = {
        task: tuple(design.check for design in _designs(entries) if design.failed)
        for task, entries in _by_task(audits, tasks).items()
    }
    return {name: _verdict(audit, failed.get(tasks[name], ())) for name, audit in audits.items()}


def task_designs(audits: Mapping[str, AuditEntry | None], tasks: Mapping[str, str]) -> dict[str, list[Design]]:
    """Every shortcut over the rows of all configs of a task, by task; for tasks of which several were audited."""
    return {
        task: found
        for task, entries in sorted(_by_task(audits, tasks).items())
        if len(entries) > 1 and (found := _designs(entries))
    }


def _by_task(audits: Mapping[str, AuditEntry | None], tasks: Mapping[str, str]) -> dict[str, list[AuditEntry]]:
    of_task: dict[str, list[AuditEntry]] = {}
    for name, audit in audits.items():
        if audit is not None and tasks[name]:
            of_task.setdefault(tasks[name], []).append(audit)
    return of_task


def _designs(audits: Sequence[AuditEntry]) -> list[Design]:
    """Every shortcut of a task over the rows of its configs; without those that the task is exempt from."""
    exempt = {check for audit in audits for check in audit.get("exempt", [])}
    return [design for design in designs([audit.get("evidence", {}) for audit in audits]) if design.check not in exempt]


def _verdict(audit: AuditEntry | None, of_design: Sequence[str]) -> Verdict:
    if audit is None:
        return Verdict(NOT_AUDITED)
    if audit["failed"]:
        return Verdict(FAILED, tuple(audit["failed"]), audit.get("resolution"))
    if of_design:
        return Verdict(FAILED, tuple(of_design), audit.get("resolution"), of_design=True)
    return Verdict(PASSED, (), audit.get("resolution"))
