"""What the rows of all languages of a task show together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from discoprobe.cards.text.verdicts import task_designs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discoprobe.builders.audit.evidence import Design
    from discoprobe.cards.metadata.manifest import AuditEntry, ConfigEntry


class DesignLine(NamedTuple):
    """A task with configs in several languages; checks with their gain over the baseline, as ``length +.003``."""

    task: str
    configs: int
    rows: int
    passed: tuple[str, ...]
    failed: tuple[str, ...]


def design_lines(configs: Mapping[str, ConfigEntry]) -> list[DesignLine]:
    """A line per task of which several configs were audited, by name."""
    tasks: dict[str, list[AuditEntry]] = {}
    for _, entry in sorted(configs.items()):
        if entry["audit"] is not None:
            tasks.setdefault(entry["task"], []).append(entry["audit"])
    lines = [_line(task, audits) for task, audits in sorted(tasks.items()) if len(audits) > 1]
    return [line for line in lines if line.passed or line.failed]


def _line(task: str, audits: Sequence[AuditEntry]) -> DesignLine:
    designs = task_designs(audits)
    passed, failed = ([design for design in designs if design.failed is outcome] for outcome in (False, True))
    rows = max((design.n for design in designs), default=0)
    return DesignLine(task, len(audits), rows, _gains(passed), _gains(failed))


def _gains(designs: Sequence[Design]) -> tuple[str, ...]:
    return tuple(f"{design.check} {design.gain:+.3f}".replace("0.", ".", 1) for design in designs)
