"""Prints the results of `build audit` and `build import`: what was read, the verdict, checks, and what was skipped."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

from discoprobe.cli.summaries import remark, show_load_call
from discoprobe.cli.terminal import Cell, print_json, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discoprobe.builders.audit.inputs import Skipped
    from discoprobe.builders.audit.report import Finding, Report, Rule
    from discoprobe.cards.text.verdicts import Verdict
    from discoprobe.importing import Imported

NARROW = 80
"""Width of the output in characters, also in a file or a pipe."""
_LABELS = 12
"""Largest number of labels that a table lists; further ones are counted."""
_NAMED = 5
"""Largest number of rows that are named for a finding."""
_NAME = 24
"""Largest number of characters of a label or file name in the table of splits."""


def show_reports(
    reports: Sequence[Report], verdicts: Sequence[Verdict], skipped: Sequence[Skipped], *, as_json: bool = False
) -> None:
    """Prints what was read and the verdict; for a single dataset also checks, baselines and rules."""
    if as_json:
        print_json(as_dict(reports, verdicts, skipped))
        return
    if len(reports) == 1:
        _show_report(reports[0], verdicts[0])
    else:
        for report in reports:
            _write(_short(report))
        sys.stdout.write("\n")
        rows = [_report_row(report, verdict) for report, verdict in zip(reports, verdicts, strict=True)]
        show(rows, ["data", "rows", "strongest shortcut", "audit", "remark"], width=NARROW)
    show_skipped(skipped)
    sys.stdout.flush()


def as_dict(reports: Sequence[Report], verdicts: Sequence[Verdict], skipped: Sequence[Skipped]) -> dict[str, object]:
    """The reports as a JSON object (docs/audit.md has the schema)."""
    return {
        "data": [
            report.to_dict() | {"verdict": one.word, "verdict_checks": list(one.checks), "of_design": one.of_design}
            for report, one in zip(reports, verdicts, strict=True)
        ],
        "skipped": [one._asdict() for one in skipped],
    }


def show_designs(rows: Sequence[Mapping[str, Cell]]) -> None:
    """Prints the accuracy of shortcuts over the rows of all configs of a task."""
    sys.stdout.write("\nall languages of a task together\n")
    show(rows, ["task", "check", "configs", "rows", "accuracy", "threshold", "design"], width=NARROW)


def show_import(done: Imported, out: str) -> None:
    """Prints the number of rows left out for each kind of leak, and the call that loads the config."""
    for check, n in done.leaks.items():
        _write(f"left out for {check}: {n:,} rows")
    if done.written:
        show_load_call(out, done.report.name, tuple(done.report.counts))


def show_skipped(skipped: Sequence[Skipped]) -> None:
    """Prints what was not read, and why."""
    if skipped:
        sys.stdout.write("\nnot read\n")
    for one in skipped:
        _write(f"  {one.name}: {one.reason}", indent="  ")


def show_read(report: Report) -> None:
    """Prints what was read: format, columns, a table of splits with their files, rows and labels, what was left out."""
    read = report.read
    _write(f"{report.name}: {read.format if read else 'config'}")
    for role, columns in (read.columns if read else {}).items():
        _write(f"  {role + ':':<9} {', '.join(columns)}", indent=" " * 12)
    for reason, n in (read.left_out if read else {}).items():
        _write(f"  left out: {n:,} row{'s' * (n != 1)}: {reason}")
    for note in read.notes if read else ():
        _write(f"  note:     {note}", indent=" " * 12)
    splits = list(report.counts)
    rows: list[dict[str, Cell]] = []
    if read and read.files:
        rows.append({"": "files", **{split: _files(read.files.get(split, ())) for split in splits}})
    rows.append({"": "rows", **{split: f"{n:,}" for split, n in report.counts.items()}})
    rows += [
        {"": f"  {_cut(label)}", **{split: f"{report.classes[split][label]:,}" for split in splits}}
        for label in report.labels[:_LABELS]
    ]
    if (more := len(report.labels) - _LABELS) > 0:
        rows.append({"": f"  {more:,} more labels"})
    show(rows, ["", *splits], width=NARROW)


def _files(names: Sequence[str]) -> str:
    return _cut(names[0]) + (f" +{len(names) - 1}" if len(names) > 1 else "") if names else ""


def _cut(text: str) -> str:
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"


def _short(report: Report) -> str:
    read = report.read
    columns = "; ".join(f"{role} {', '.join(names)}" for role, names in (read.columns if read else {}).items())
    rows = ", ".join(f"{split} {n:,}" for split, n in report.counts.items())
    labels = ", ".join(report.labels[:_LABELS]) + (" …" if len(report.labels) > _LABELS else "")
    left = ", ".join(f"{reason} {n:,}" for reason, n in (read.left_out if read else {}).items())
    parts = [read.format if read else "config", columns, f"labels {labels}", rows, f"left out: {left}" if left else ""]
    return f"{report.name}: {'; '.join(part for part in parts if part)}"


def _write(text: str, indent: str = "    ") -> None:
    """Prints text in lines of at most ``NARROW`` columns, all but the first indented."""
    sys.stdout.write(textwrap.fill(text, NARROW, subsequent_indent=indent, break_on_hyphens=False) + "\n")


def _report_row(report: Report, verdict: Verdict) -> dict[str, Cell]:
    best = report.strongest
    return {
        "data": report.name,
        "rows": f"{sum(report.counts.values()):,}",
        "strongest shortcut": f"{best.check} {best.accuracy:.3f} ({best.gain:+.3f})" if best else None,
        "audit": verdict.word,
        "remark": remark(verdict),
    }


def _show_report(report: Report, verdict: Verdict) -> None:
    show_read(report)
    sys.stdout.write("\n")
    _write(verdict.text)
    if report.measured_on:
        crossed = f"solvers are cross-validated on {report.measured_on}"
        single = f"solvers are trained on {report.trained_on} and measured on {report.measured_on}"
        _write(crossed if report.trained_on.startswith("the other") else single)
    for note in report.notes:
        _write(f"note: {note}")
    sys.stdout.write("\n")
    show(
        [{"baseline": one.name, "accuracy": _interval(one.accuracy, one.interval)} for one in report.baselines],
        ["baseline", "accuracy"], width=NARROW,
    )  # fmt: skip
    sys.stdout.write("\n")
    show(
        [_finding_row(finding) for finding in report.findings],
        ["check", "status", "measured", "threshold"],
        width=NARROW,
    )
    _show_details(report.findings)
    if report.heuristics and report.heuristics.rules:
        sys.stdout.write("\nrules found in the training rows, applied to held-out rows\n")
        show(
            [_rule_row(rule) for rule in report.heuristics.rules],
            ["rule", "label", "coverage", "correct"],
            width=NARROW,
        )


def _show_details(findings: Iterable[Finding]) -> None:
    """Prints details and rows of the findings that are failed, exempt, or noted with a detail."""
    told = [one for one in findings if one.status in {"failed", "exempt"} or (one.status == "noted" and one.detail)]
    if told:
        sys.stdout.write("\n")
    for finding in told:
        text = "; ".join(part for part in (finding.reason, finding.detail) if part) or str(finding.status)
        rows = f" (rows {', '.join(finding.rows[:_NAMED])})" if finding.rows and finding.status != "noted" else ""
        _write(f"{finding.check}: {text}{rows}")


def _interval(value: float, interval: Sequence[float]) -> str:
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def _finding_row(finding: Finding) -> dict[str, Cell]:
    value = finding.measured
    shown = None if value is None else _interval(value, finding.interval) if finding.interval else f"{value:g}"
    return {
        "check": finding.check,
        "status": str(finding.status),
        "measured": shown,
        "threshold": None if finding.threshold is None else f"{finding.threshold:.3g}",
    }


def _rule_row(rule: Rule) -> dict[str, Cell]:
    correct = None if rule.correct is None else _interval(rule.correct, rule.interval)
    return {
        "rule": f"{rule.family}: {rule.condition}",
        "label": _cut(rule.label),
        "coverage": f"{rule.coverage:.3f}",
        "correct": correct,
    }
