"""What the audit says of every config of a release: by its own rows, or with those of its task's other languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from discoprobe.builders.audit.borrow import estimates
from discoprobe.builders.audit.report import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from discoprobe.builders.audit.borrow import Estimate
    from discoprobe.cards.manifest import AuditEntry, ConfigEntry

PASSED: Final = "passed"
WITH_TASK: Final = "passed with its task"
UNDECIDED: Final = "undecided"
FAILED: Final = "failed"
NOT_AUDITED: Final = "not audited"

MARKS: Final = {PASSED: "✓", WITH_TASK: "(✓)", UNDECIDED: "?", FAILED: "✗", NOT_AUDITED: ""}
"""Verdict → its mark."""


class Verdict(NamedTuple):
    """What the audit says of a config.

    Attributes:
        word: one of ``MARKS``. ``passed with its task``: what its own rows leave open, they and those of the task's
            other configs decide (``builders.audit.borrow``).
        checks: those beyond their limit of what failed, those still open of what is undecided.
    """

    word: str
    checks: tuple[str, ...] = ()


def verdicts(configs: Mapping[str, ConfigEntry]) -> dict[str, Verdict]:
    """The verdict on each config of a release, in its order."""
    return of_audits(
        {name: entry["audit"] for name, entry in configs.items()},
        {name: entry["task"] for name, entry in configs.items()},
    )


def of_audits(audits: Mapping[str, AuditEntry | None], tasks: Mapping[str, str]) -> dict[str, Verdict]:
    """The verdict on each of some audited configs, of which ``tasks`` says whose they are."""
    of_task: dict[str, dict[str, AuditEntry]] = {}
    for name, audit in audits.items():
        if audit is not None:
            of_task.setdefault(tasks[name], {})[name] = audit
    found = dict(pair for own in of_task.values() for pair in _of_task(own))
    return {name: found.get(name, Verdict(NOT_AUDITED)) for name in audits}


def _of_task(audits: Mapping[str, AuditEntry]) -> Iterator[tuple[str, Verdict]]:
    tallies = {name: audit.get("tallies", {}) for name, audit in audits.items()}
    asked = {check for audit in audits.values() for check in audit["undecided"]}
    known = {check: estimates(tallies, check) for check in sorted(asked)}
    for name, audit in audits.items():
        yield name, _verdict(audit, {check: known[check].get(name) for check in audit["undecided"]})


def _verdict(audit: AuditEntry, shared: Mapping[str, Estimate | None]) -> Verdict:
    """By what the config's own rows say, and by what is known with the task of the checks that they leave open."""
    if audit["failed"]:
        return Verdict(FAILED, tuple(audit["failed"]))
    if beyond := tuple(check for check, one in shared.items() if one and one.status is Status.FAILED):
        return Verdict(FAILED, beyond)
    if still := tuple(check for check, one in shared.items() if one is None or one.status is not Status.PASSED):
        return Verdict(UNDECIDED, still)
    return Verdict(WITH_TASK if shared else PASSED)
