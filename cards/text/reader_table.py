"""What readers found, beside the majority baseline and the strongest shortcut."""

from collections.abc import Mapping
from typing import Final

from discoprobe.cards.metadata.manifest import AuditEntry
from discoprobe.cards.readers.figures import ReaderFigures
from discoprobe.cards.text.render import interval

_PLURAL: Final = {"person": "people", "model": "models"}


def reader_table(readers: Mapping[str, ReaderFigures]) -> dict[str, ReaderFigures]:
    """What readers of each kind found, by who they are (``2 people``, ``1 model``): people first."""
    return {
        f"{found['readers']} {kind if found['readers'] == 1 else _PLURAL[kind]}": found
        for kind, found in sorted(readers.items(), key=lambda item: item[0] != "person")
    }


def reader_lines(readers: Mapping[str, ReaderFigures], audit: AuditEntry | None) -> list[str]:
    """What readers found, a line of text per kind: for the terminal."""
    return [_line(who, found, audit) for who, found in reader_table(readers).items()]


def _line(who: str, found: ReaderFigures, audit: AuditEntry | None) -> str:
    line = f"{found['rows']:,} {'row' if found['rows'] == 1 else 'rows'} read by {who}"
    if n := found["answers"]:
        accuracy = f"{found['correct'] / n:.3f} ({interval(found['interval'])})"
        line += f", accuracy {accuracy} on {n:,} blind answers{_beside(audit)}"
    if n := found["verdicts"]:
        line += f", {sum(found['faults'].values()) / n:.3f} of {n:,} verdicts are faults"
    return line


def _beside(audit: AuditEntry | None) -> str:
    """The baselines to read an accuracy beside, in brackets; nothing without an audit."""
    if audit is None:
        return ""
    strongest = f"{audit['strongest']} {audit['accuracy']:.3f}" if audit["strongest"] else "no shortcut"
    return f" (majority {audit['majority']:.3f}, {strongest})"
