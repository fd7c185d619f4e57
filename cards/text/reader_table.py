"""What readers found, as cards print it: beside the majority baseline and the strongest shortcut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from discoprobe.cards.text.audit_tables import interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discoprobe.cards.metadata.manifest import AuditEntry, ConfigEntry
    from discoprobe.cards.readers.figures import ReaderFigures

PLURAL: Final = {"person": "people", "model": "models"}


class ReaderLine(NamedTuple):
    """A row of the table of readers, numbers as text; empty where nothing was measured."""

    who: str
    rows: str
    accuracy: str
    interval: str
    answers: str
    faults: str
    verdicts: str
    kinds: str
    kappa_answers: str
    kappa_verdicts: str


class ReaderSummary(NamedTuple):
    """A line of the release's card: a task in a language with its readers' accuracy."""

    config: str
    line: ReaderLine
    majority: float | None
    shortcut: str


def reader_table(readers: Mapping[str, ReaderFigures]) -> list[ReaderLine]:
    """A line per kind of reader: people first."""
    return [_line(kind, found) for kind, found in sorted(readers.items(), key=lambda item: item[0] != "person")]


def _line(kind: str, found: ReaderFigures) -> ReaderLine:
    faults, answers, verdicts = sum(found["faults"].values()), found["answers"], found["verdicts"]
    return ReaderLine(
        who=f"{found['readers']} {kind if found['readers'] == 1 else PLURAL[kind]}",
        rows=f"{found['rows']:,}",
        accuracy=f"{found['correct'] / answers:.3f}" if answers else "",
        interval=interval(found["interval"]) if answers else "",
        answers=f"{answers:,}",
        faults=f"{faults / verdicts:.3f}" if verdicts else "",
        verdicts=f"{verdicts:,}",
        kinds=", ".join(f"{name} {n}" for name, n in found["faults"].items()),
        kappa_answers=_kappa(found["kappa"]["answers"]),
        kappa_verdicts=_kappa(found["kappa"]["verdicts"]),
    )


def _kappa(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def reader_summaries(configs: Mapping[str, ConfigEntry]) -> list[ReaderSummary]:
    """A line per config and kind of reader, for the configs that somebody read."""
    return [
        ReaderSummary(name, line, entry["audit"]["majority"] if entry["audit"] else None, _strongest(entry["audit"]))
        for name, entry in sorted(configs.items())
        for line in reader_table(entry.get("readers", {}))
    ]


def _strongest(audit: AuditEntry | None) -> str:
    return f"{audit['strongest']} {audit['accuracy']:.3f}" if audit and audit["strongest"] else ""


def reader_lines(readers: Mapping[str, ReaderFigures], audit: AuditEntry | None) -> list[str]:
    """What readers found, a line of text per kind: for the terminal."""
    beside = f" (majority {audit['majority']:.3f}, {_strongest(audit) or 'no shortcut'})" if audit else ""
    return [_said(line, beside) for line in reader_table(readers)]


def _said(line: ReaderLine, beside: str) -> str:
    blind = (
        f", accuracy {line.accuracy} ({line.interval}) on {line.answers} blind answers{beside}" if line.accuracy else ""
    )
    faulty = f", {line.faults} of {line.verdicts} verdicts are faults" if line.faults else ""
    rows = "row" if line.rows == "1" else "rows"
    return f"{line.rows} {rows} read by {line.who}{blind}{faulty}"
