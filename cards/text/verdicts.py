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
    return Verdict(
        FAILED if report.failed else PASSED, tuple(finding.check for finding in report.errors), report.resolution
    )


def verdicts(configs: Mapping[str, Audited]) -> dict[str, Verdict]:
    """The verdict on each config of a release, in its order: by its own rows, and by those of its task's other configs.

    A config without a task is judged by its own rows only.
    """
    failed = {
        task: tuple(design.check for design in _designs(audits) if design.failed)
        for task, audits in _audits_by_task(configs).items()
    }
    judged = {}
    for name, config in configs.items():
        audit, of_design = config["audit"], failed.get(config["task"], ())
        if audit is None:
            judged[name] = Verdict(NOT_AUDITED)
            continue
        checks = tuple(audit["failed"]) or of_design
        judged[name] = Verdict(
            FAILED if checks else PASSED, checks, audit.get("resolution"),
            of_design=bool(of_design and not audit["failed"]),
        )  # fmt: skip
    return judged


def task_designs(configs: Mapping[str, Audited]) -> dict[str, list[Design]]:
    """Every shortcut over the rows of all configs of a task, by task; for tasks of which several were audited."""
    return {
        task: of_task
        for task, audits in sorted(_audits_by_task(configs).items())
        if len(audits) > 1 and (of_task := _designs(audits))
    }


def _audits_by_task(configs: Mapping[str, Audited]) -> dict[str, list[AuditEntry]]:
    audits: dict[str, list[AuditEntry]] = {}
    for config in configs.values():
        if config["audit"] is not None and config["task"]:
            audits.setdefault(config["task"], []).append(config["audit"])
    return audits


def _designs(audits: Sequence[AuditEntry]) -> list[Design]:
    """Every shortcut of a task over the rows of its configs; without those that the task is exempt from."""
    exempt = {check for audit in audits for check in audit.get("exempt", [])}
    return [design for design in designs([audit.get("evidence", {}) for audit in audits]) if design.check not in exempt]


def tally(words: Iterable[str]) -> dict[str, int]:
    """How many configs passed, failed, were not audited, by the words of their verdicts: only those that occur."""
    counts = Counter(words)
    return {word: counts[word] for word in MARKS if word in counts}
