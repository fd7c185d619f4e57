"""The report of an audit as one HTML page that loads nothing: what was read, every check, and the rows that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from discoprobe.builders.audit.thresholds import BY_ID
from discoprobe.cards.text.render import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from discoprobe.builders.audit.frame import AuditInput
    from discoprobe.builders.audit.report import Finding, Report
    from discoprobe.cards.text.verdicts import Verdict

_LONGEST = 600
"""Characters of a text that are shown."""


class _ShownRow(NamedTuple):
    id: str
    split: str
    label: str
    texts: tuple[str, ...]


class _ShownFinding(NamedTuple):
    finding: Finding
    measures: str
    rows: tuple[_ShownRow, ...]


class _Section(NamedTuple):
    report: Report
    verdict: Verdict
    findings: tuple[_ShownFinding, ...]


def write_audit_page(
    path: Path,
    data: Sequence[AuditInput],
    reports: Sequence[Report],
    verdicts: Sequence[Verdict],
    skipped: Sequence[tuple[str, str]],
) -> None:
    """Writes the page.

    Args:
        path: the file.
        data: what was audited.
        reports: a report for each.
        verdicts: the verdict on each.
        skipped: name of what was not read, and why.
    """
    sections = [
        _Section(report, verdict, _findings(rows, report))
        for rows, report, verdict in zip(data, reports, verdicts, strict=True)
    ]
    path.write_text(render("audit_page.html", room="review", sections=sections, skipped=skipped), encoding="utf-8")


def _findings(data: AuditInput, report: Report) -> tuple[_ShownFinding, ...]:
    named = {row for finding in report.findings for row in finding.rows}
    texts = _texts(data, sorted(named))
    return tuple(
        _ShownFinding(finding, BY_ID[finding.check].measures, tuple(texts[row] for row in finding.rows if row in texts))
        for finding in report.findings
    )


def _texts(data: AuditInput, ids: Sequence[str]) -> Mapping[str, _ShownRow]:
    rows = data.rows.filter(pl.col("id").is_in(ids)).select("id", "split", "label", "texts").unique("id")
    return {
        row_id: _ShownRow(row_id, split, data.labels[label], tuple(_cut(text or "") for text in texts))
        for row_id, split, label, texts in rows.iter_rows()
    }


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
