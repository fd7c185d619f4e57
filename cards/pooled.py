"""What the configs of a release are too small to tell one by one, and tell together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from discoprobe.builders.audit.pool import pooled
from discoprobe.builders.audit.report import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discoprobe.builders.audit.pool import Pooled
    from discoprobe.cards.manifest import ConfigEntry


class PooledLine(NamedTuple):
    """A task with configs that are too small to decide on; checks as ``length +.003``."""

    task: str
    configs: int
    rows: int
    within: tuple[str, ...]
    beyond: tuple[str, ...]
    undecided: tuple[str, ...]


def pooled_lines(configs: Mapping[str, ConfigEntry]) -> list[PooledLine]:
    """The tasks of which several configs were audited and some are undecided; exempt checks are not among theirs."""
    tasks: dict[str, list[ConfigEntry]] = {}
    for _, entry in sorted(configs.items()):
        tasks.setdefault(entry["task"], []).append(entry)
    return [_line(task, own) for task, own in sorted(tasks.items()) if _undecided(own)]


def _undecided(entries: Sequence[ConfigEntry]) -> bool:
    audits = [entry["audit"] for entry in entries if entry["audit"] and entry["audit"].get("tallies")]
    return len(audits) > 1 and any(audit["undecided"] for audit in audits)


def _line(task: str, entries: Sequence[ConfigEntry]) -> PooledLine:
    audits = [entry["audit"] for entry in entries if entry["audit"]]
    exempt = {check for audit in audits for check in audit.get("exempt", [])}
    found = [one for one in pooled([audit.get("tallies", {}) for audit in audits]) if one.check not in exempt]
    return PooledLine(
        task, len(audits), max((one.n for one in found), default=0), _of(found, Status.PASSED),
        _of(found, Status.FAILED), _of(found, Status.UNDECIDED),
    )  # fmt: skip


def _of(found: Sequence[Pooled], status: Status) -> tuple[str, ...]:
    return tuple(f"{one.check} {one.lift:+.3f}".replace("0.", ".", 1) for one in found if one.status is status)
