"""The verdict of the audit on every config of a release: one function for config cards, release card and terminal."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from discoprobe.builders.audit.report import Design, Report, designs
from discoprobe.cards.metadata.manifest import Audited, AuditEntry

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


def verdicts(configs: Mapping[str, Audited]) -> dict[str, Verdict]:
    """The verdict on each config of a release, in its order: by its own rows, and by those of its task's other configs.

    A config without a task is judged by its own rows only.
    """
    failed = {
        task: tuple(design.check for design in _designs(audits) if design.failed)
        for task, audits in _by_task(configs).items()
    }
    return {name: _verdict(one["audit"], failed.get(one["task"], ())) for name, one in configs.items()}


def task_designs(configs: Mapping[str, Audited]) -> dict[str, list[Design]]:
    """Every shortcut over the rows of all configs of a task, by task; for tasks of which several were audited."""
    return {
        task: found
        for task, audits in sorted(_by_task(configs).items())
        if len(audits) > 1 and (found := _designs(audits))
    }


def tally(words: Iterable[str]) -> dict[str, int]:
    """How many configs passed, failed, were not audited, by the words of their verdicts: only those that occur."""
    counts = Counter(words)
    return {word: counts[word] for word in MARKS if word in counts}


def _by_task(configs: Mapping[str, Audited]) -> dict[str, list[AuditEntry]]:
    of_task: dict[str, list[AuditEntry]] = {}
    for one in configs.values():
        if one["audit"] is not None and one["task"]:
            of_task.setdefault(one["task"], []).append(one["audit"])
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
