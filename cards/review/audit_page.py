"""The report of an audit as one HTML page without external files: the data, every check, and the rows that fail."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.inputs import Read
from discoprobe.builders.audit.report import Report
from discoprobe.builders.audit.thresholds import BY_ID
from discoprobe.cards.text import escape
from discoprobe.cards.text.render import render
from discoprobe.cards.text.verdicts import Verdict

_LONGEST = 600
"""Characters of a text that are shown."""


def write_audit_page(path: Path, read: Read, reports: Sequence[Report], verdicts: Sequence[Verdict]) -> None:
    """Writes the page: a report and a verdict per dataset that was read, and why others were not."""
    sections = list(zip(reports, verdicts, map(_texts, read.data, reports), strict=True))
    page = render("audit_page.html", package="review", sections=sections, skipped=read.skipped, checks=BY_ID)
    path.write_text(page, encoding="utf-8")


def _texts(data: AuditInput, report: Report) -> dict[str, tuple[str, str, list[str]]]:
    """Split, label and texts of the rows that findings name, by id."""
    named = {row for finding in report.findings for row in finding.rows}
    rows = data.rows.filter(pl.col("id").is_in(sorted(named))).select("id", "split", "label", "texts").unique("id")
    return {
        row_id: (split, data.labels[label], [escape.plain(text or "", _LONGEST) for text in texts])
        for row_id, split, label, texts in rows.iter_rows()
    }
