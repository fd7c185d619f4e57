"""What a person sees: progress on stderr, tables on stdout."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.builders.audit import Finding, Report, Rule
    from discoprobe.cards.diff import Changes
    from discoprobe.cards.manifest import ConfigEntry
    from discoprobe.cards.push import Outcome as PushOutcome
    from discoprobe.cards.push import Plan
    from discoprobe.cards.verdicts import Verdict
    from discoprobe.cards.verify import Verified
    from discoprobe.loaders.raw.annotate import Annotated
    from discoprobe.pipeline import Outcome

Cell = str | int | bool | None
WIDE = 200
"""Columns of a table that goes into a file or a pipe."""
_NAMED = 3
"""Checks that a remark names; of more it says how many."""


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr for each thing being done; nothing where stderr is no terminal."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    console = Console(stderr=True)
    speed = TextColumn("{task.fields[speed]}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), speed, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        known: dict[str, object] = {}

        def heard(doing: str, done: int, total: int) -> None:
            if doing not in known:
                known[doing] = bars.add_task(doing, total=total, speed="")
            bars.update(known[doing], completed=done, total=total)  # type: ignore[arg-type]
            if doing == "annotating":
                rate = next(bar.speed for bar in bars.tasks if bar.id == known[doing])
                bars.update(known[doing], speed=f"{rate:,.0f} words/s" if rate else "words")  # type: ignore[arg-type]

        yield heard


def show(rows: Sequence[Mapping[str, Cell]], columns: Sequence[str], *, as_json: bool = False) -> None:
    """Prints rows as a table, or as a JSON list."""
    if as_json:
        sys.stdout.write(json.dumps([dict(row) for row in rows], ensure_ascii=False, indent=1) + "\n")
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*[Text(_cell(row.get(column))) for column in columns])
    console = Console(width=None if sys.stdout.isatty() else WIDE)
    console.print(table)


def _cell(value: Cell) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def show_run(outcome: Outcome, out: Path) -> None:
    """One line per config, built or not, and how to load the first."""
    from discoprobe.cards.verdicts import verdicts  # noqa: PLC0415 (scipy: a second)

    entries = outcome.manifest["configs"]
    said = verdicts(entries)
    rows = [_config_row(name, entries[name], said[name]) for name in outcome.built]
    rows += _missing_rows(outcome)
    show(rows, ["config", "train", "validation", "test", "majority", "strongest shortcut", "audit", "remark"])
    if outcome.built:
        first = next((name for name in outcome.built if name.startswith("dc_")), outcome.built[0])
        sys.stdout.write(f'\nload_dataset("{out}", "{first}")\n')


def _missing_rows(outcome: Outcome) -> list[dict[str, Cell]]:
    """A line per config that is not there; generated ones, which are hundreds, in one line per reason."""
    generated: dict[str, list[str]] = {}
    rows: list[dict[str, Cell]] = []
    for one in outcome.missing:
        if one.task.startswith("feats_"):
            generated.setdefault(one.reason, []).append(one.name)
        else:
            rows.append({"config": one.name, "audit": "not built", "remark": one.reason})
    for reason, names in generated.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        rows.append({"config": names[0] + more, "audit": "not built", "remark": reason})
    return rows


def _config_row(name: str, entry: ConfigEntry, said: Verdict) -> dict[str, Cell]:
    row: dict[str, Cell] = {
        "config": name,
        **{split: sum(labels.values()) for split, labels in entry["counts"].items()},
    }
    if audit := entry["audit"]:
        row |= {"majority": f"{audit['majority']:.3f}", "audit": said.word}
        if audit["strongest"]:
            row["strongest shortcut"] = f"{audit['strongest']} {audit['accuracy']:.3f} ({audit['lift']:+.3f})"
        row["remark"] = _remark(said)
    return row


def _remark(said: Verdict) -> str | None:
    """The checks that are beyond their limit or still open, in a few words."""
    few = ", ".join(said.checks) if len(said.checks) <= _NAMED else f"{len(said.checks)} checks"
    return {"failed": f"beyond the limit: {few}", "undecided": f"too few rows for {few}"}.get(said.word)


def show_annotated(annotated: Annotated, *, as_json: bool = False) -> None:
    """What an annotation made, how fast, what was left out by reason, and which limits of sentences were mended."""
    found = annotated.manifest
    if as_json:
        result = {"out": str(annotated.folder), "new_words": annotated.new_words, "seconds": annotated.seconds, **found}
        sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=1) + "\n")
        return
    made = found["made_by"]
    with_what = ", ".join(f"{name} {version}" for name, version in made["software"].items())
    sys.stdout.write(
        f"{found['name']} ({found['lang']}): {found['documents']:,} documents, {found['sentences']:,} sentences, "
        f"{found['words']:,} words in {annotated.folder}, by {with_what}\n"
    )
    if annotated.new_words:
        speed = f"{annotated.new_words / annotated.seconds:,.0f} words/s, loading of models included"
        sys.stdout.write(f"{annotated.new_words:,} words in {annotated.seconds:.0f} s: {speed}\n")
    else:
        sys.stdout.write("nothing to annotate: all of it was there\n")
    rows: list[dict[str, Cell]] = [
        {"left out in": step, "reason": reason, "number": n}
        for step, reasons in found["drops"].items()
        for reason, n in reasons.items()
    ]
    if rows:
        show(rows, ["left out in", "reason", "number"])
    mends: list[dict[str, Cell]] = [
        {"limits of sentences mended": kind, "number": n} for kind, n in found["mends"].items()
    ]
    if mends:
        show(mends, ["limits of sentences mended", "number"])


def show_reports(reports: Sequence[Report], said: Sequence[Verdict], *, as_json: bool = False) -> None:
    """One line per data set; for a single one every check, the baselines and the mined rules too."""
    if as_json:
        found = [
            report.to_dict() | {"verdict": one.word, "verdict_checks": list(one.checks)}
            for report, one in zip(reports, said, strict=True)
        ]
        sys.stdout.write(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
        return
    if len(reports) == 1:
        _show_report(reports[0])
        return
    rows = [_report_row(report, one) for report, one in zip(reports, said, strict=True)]
    show(rows, ["data", "rows", "majority", "strongest shortcut", "audit", "remark"])


def _report_row(report: Report, said: Verdict) -> dict[str, Cell]:
    best = report.strongest
    return {
        "data": report.name,
        "rows": sum(report.counts.values()),
        "majority": next((f"{one.accuracy:.3f}" for one in report.baselines if one.name == "majority"), None),
        "strongest shortcut": f"{best.check} {best.accuracy:.3f} ({best.lift:+.3f})" if best else None,
        "audit": said.word,
        "remark": ", ".join(said.checks) or None,
    }


def _show_report(report: Report) -> None:
    rows = ", ".join(f"{split} {n}" for split, n in report.counts.items())
    sys.stdout.write(f"{report.name}: {rows}; labels {', '.join(report.labels[:20])}\n")
    if report.measured_on:
        sys.stdout.write(f"shortcuts learned from {report.trained_on}, measured on {report.measured_on}\n")
    for note in report.notes:
        sys.stdout.write(f"note: {note}\n")
    sys.stdout.write("\n")
    show(
        [{"baseline": one.name, "accuracy": _interval(one.accuracy, one.interval)} for one in report.baselines],
        ["baseline", "accuracy"],
    )
    sys.stdout.write("\n")
    show(
        [_finding_row(finding) for finding in report.findings],
        ["check", "status", "measured", "limit", "in turn", "rows", "detail"],
    )
    if report.heuristics and report.heuristics.rules:
        sys.stdout.write("\nrules mined on train, as they do on test\n")
        show([_rule_row(rule) for rule in report.heuristics.rules], ["rule", "label", "coverage", "correct"])


def _interval(value: float, interval: Sequence[float]) -> str:
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def _finding_row(finding: Finding) -> dict[str, Cell]:
    value = finding.measured
    shown = None if value is None else _interval(value, finding.interval) if finding.interval else f"{value:g}"
    return {
        "check": finding.check,
        "status": str(finding.status),
        "measured": shown,
        "limit": None if finding.limit is None else f"{finding.limit:.3g}",
        "in turn": _interval(finding.cross.accuracy, finding.cross.interval) if finding.cross else None,
        "rows": " ".join(finding.rows) or None,
        "detail": finding.reason or finding.detail,
    }


def _rule_row(rule: Rule) -> dict[str, Cell]:
    correct = None if rule.correct is None else _interval(rule.correct, rule.interval)
    return {
        "rule": f"{rule.family}: {rule.condition}",
        "label": rule.label,
        "coverage": f"{rule.coverage:.3f}",
        "correct": correct,
    }


def show_markdown(text: str) -> None:
    """Prints Markdown."""
    from rich.console import Console  # noqa: PLC0415
    from rich.markdown import Markdown  # noqa: PLC0415

    Console(width=None if sys.stdout.isatty() else 120).print(Markdown(text))


def confirm_push(plan: Plan) -> bool:
    """Shows what a push will do and asks; an answer that is not yes, or no answer, declines."""
    _show_plan(plan)
    sys.stdout.write(f"Publish {plan.release} to {plan.repo}? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _show_plan(plan: Plan) -> None:
    size = sum(plan.uploads.values())
    since = f" (after {plan.last})" if plan.last else ""
    sys.stdout.write(
        f"{plan.repo} {plan.release}{since}: {len(plan.uploads)} files to send ({size:,} bytes), "
        f"{len(plan.deletes)} to delete, {len(plan.keeps)} configs stay as they are\n"
    )
    if plan.foreign:
        sys.stdout.write(f"files that no release put there stay: {', '.join(plan.foreign)}\n")
    show_changes(plan.changes)


def show_push(outcome: PushOutcome, *, as_json: bool = False) -> None:
    """What a push did."""
    if as_json:
        sys.stdout.write(json.dumps(outcome.to_dict(), ensure_ascii=False, indent=1, default=str) + "\n")
        return
    if outcome.state == "planned":
        _show_plan(outcome.plan)
    at = " ".join(part for part in (outcome.commit or "", outcome.url) if part)
    sys.stdout.write(f"{outcome.state}: {outcome.plan.repo} {outcome.plan.release} {at}".rstrip() + "\n")
    for note in outcome.notes:
        sys.stdout.write(f"note: {note}\n")


def show_changes(changes: Changes, *, as_json: bool = False) -> None:
    """What changed between two releases: a line per config, then sources, software and other files."""
    if as_json:
        sys.stdout.write(json.dumps(changes.to_dict(), ensure_ascii=False, indent=1, default=str) + "\n")
        return
    rows: list[dict[str, Cell]] = [{"config": name, "change": "new", "added": n} for name, n in changes.added.items()]
    rows += [{"config": name, "change": "gone", "removed": n} for name, n in changes.removed.items()]
    kinds = ("added", "removed", "relabelled")
    rows += [
        {"config": one.name, "change": "changed", **{kind: one.total(kind) for kind in kinds}}
        for one in changes.changed
    ]
    if rows:
        show(rows, ["config", "change", *kinds])
    for what, lines in (("source", changes.sources), ("software", changes.software), ("file", changes.files)):
        for line in lines:
            sys.stdout.write(f"{what}: {line}\n")
    if not changes:
        sys.stdout.write("nothing changed\n")


def show_verified(verified: Verified, *, as_json: bool = False) -> None:
    """What a verification found."""
    if as_json:
        sys.stdout.write(json.dumps(verified.to_dict(), ensure_ascii=False, indent=1) + "\n")
        return
    sys.stdout.write(
        " ".join(part for part in (verified.target, verified.release, verified.commit) if part)
        + f": {verified.files} files compared with the manifest, {verified.rebuilt} with the rebuild, "
        f"{len(verified.differences)} differ\n"
    )
    rows: list[dict[str, Cell]] = [
        {"file": one.path, "step": one.step, "why": "; ".join(one.why)} for one in verified.differences
    ]
    if rows:
        show(rows, ["file", "step", "why"])
