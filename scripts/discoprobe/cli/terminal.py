"""The terminal: progress on stderr, tables and Markdown on stdout.

Prints the results of commands.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from discoprobe.loaders.fetch.remote_files import is_url
from discoprobe.loaders.process_pool import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.progress import Task

    from discoprobe.cards.hub.push import Plan, PushResult
    from discoprobe.cards.hub.verify import Verified
    from discoprobe.cards.metadata.manifest import ConfigEntry
    from discoprobe.cards.release.diff import Changes
    from discoprobe.cards.text.verdicts import Verdict
    from discoprobe.loaders.raw.prepare import AnnotatedCorpus
    from discoprobe.pipeline import BuildResult
    from discoprobe.sources import PlannedSource


Cell = str | int | bool | None
WIDE = 200
"""Width of a table in a file or a pipe, in characters."""
LINE_SECONDS = 60.0
"""Seconds between two lines of progress if stderr is not a terminal."""
WORTH_SAYING = 50_000
"""Least number of words for which the speed is printed: with fewer, most of the time is the start of the program."""
READING, ROWS = "reading ", ": rows"
"""Prefix of the names of steps that read text, and suffix of the names of steps that count the rows of a config."""


class ProgressDisplay:
    """Shows the progress of each step on stderr: bars on a terminal, elsewhere a line per minute.

    It is called with the name of a step, the number of units done, and the total (`process_pool.Progress`).
    """

    def __init__(self) -> None:
        from rich import progress as rich_progress
        from rich.console import Console

        console = Console(stderr=True)
        self._is_terminal = console.is_terminal
        self._bars = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"), rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(), rich_progress.TextColumn("{task.fields[speed]}"),
            rich_progress.TimeRemainingColumn(), console=console, transient=True, disable=not self._is_terminal,
            get_time=time.monotonic,
        )  # fmt: skip
        self._steps: dict[str, rich_progress.TaskID] = {}
        self._start = self._last_line = time.monotonic()
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._words = 0

    def __call__(self, step: str, done: int, total: int) -> None:
        """Shows that ``done`` of ``total`` units of a step are done."""
        if step == WORDS:
            self._words += done
            return
        if step not in self._steps:
            self._steps[step] = self._bars.add_task(step, total=total, speed="")
        bar = self._steps[step]
        self._bars.update(bar, completed=done, total=total)
        if step == "annotating":
            rate = next(task.speed for task in self._bars.tasks if task.id == bar)
            self._bars.update(bar, speed=f"{rate:,.0f} words/s" if rate else "words")
        if not self._is_terminal:
            self._print_line()

    def _print_line(self) -> None:
        """At most once a minute, prints all steps that are not done, with the estimated time left for each."""
        with self._lock:
            now = time.monotonic()
            if now - self._last_line < LINE_SECONDS:
                return
            self._last_line = now
        if left := [task for task in self._bars.tasks if task.remaining]:
            sys.stderr.write(_line(left) + "\n")
            sys.stderr.flush()

    def _print_lines(self) -> None:
        """Prints a line per minute even while no step reports progress."""
        while not self._ended.wait(LINE_SECONDS / 4):
            self._print_line()

    def start(self) -> None:
        """Shows the bars, or begins to print a line a minute."""
        self._bars.start()
        self._ended.clear()
        if not self._is_terminal:
            threading.Thread(target=self._print_lines, daemon=True).start()

    def stop(self) -> None:
        """Removes the bars from the terminal, so that a question or a result can be printed."""
        self._bars.stop()
        self._ended.set()

    def print_speed(self) -> None:
        """Prints how many words were read per second, if at least ``WORTH_SAYING`` words were read."""
        if self._words >= WORTH_SAYING:
            seconds = max(time.monotonic() - self._start, 1e-9)
            sys.stderr.write(f"{self._words:,} words in {seconds:,.0f} s: {self._words / seconds:,.0f} words/s\n")


def _line(steps: Sequence[Task]) -> str:
    """The progress of each step, and the time left at the present speed.

    A config is done when it has its full size or when the whole corpus is read. Reading ends when all configs have
    their full size. So the time left for a config is printed only if it is shorter than that for reading.
    """
    left = {step.description: _seconds_left(step) for step in steps}
    reading = min((left[step] for step in left if step.startswith(READING)), default=0.0)
    filling = max((left[step] for step in left if step.endswith(ROWS)), default=math.inf)
    shown = {step: left[step] if not step.endswith(ROWS) or left[step] < reading else math.inf for step in left}
    shown |= {step: min(left[step], filling) for step in left if step.startswith(READING)}
    return "; ".join(_so_far(step, shown[step.description]) for step in steps)


def _seconds_left(step: Task) -> float:
    """Seconds left for a step at its present speed; infinite if the speed is not known."""
    elapsed = step.elapsed or 0.0
    return elapsed * (step.remaining or 0.0) / step.completed if step.completed and elapsed >= 1 else math.inf


def _so_far(step: Task, seconds: float) -> str:
    minutes = f" ({max(1, round(seconds / 60))} min left)" if seconds < math.inf else ""
    return f"{step.description}: {step.completed:,.0f} of {step.total or 0:,.0f}{minutes}"


@contextmanager
def progress() -> Iterator[ProgressDisplay]:
    """A display of progress that is removed at the end."""
    display = ProgressDisplay()
    display.start()
    try:
        yield display
    finally:
        display.stop()
    display.print_speed()


def print_json(value: object) -> None:
    """Prints a value as JSON; dates and paths as text."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n")


def show(
    rows: Sequence[Mapping[str, Cell]], columns: Sequence[str], *, as_json: bool = False, width: int = WIDE
) -> None:
    """Prints rows as a table, or as a JSON list; ``width`` (in characters) is used if stdout is not a terminal."""
    if as_json:
        print_json([dict(row) for row in rows])
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*[Text(_cell(row.get(column))) for column in columns])
    console = Console(width=None if sys.stdout.isatty() else width)
    console.print(table)


def _cell(value: Cell) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def show_markdown(text: str) -> None:
    """Prints Markdown."""
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=None if sys.stdout.isatty() else 120).print(Markdown(text))


_NAMED = 3
"""Largest number of checks that a remark names; if there are more, it gives their number."""


def show_build(result: BuildResult, out: str, *, as_json: bool = False) -> None:
    """Prints a line per config, built or not, and the call that loads one of them."""
    from discoprobe.cards.text.verdicts import verdicts

    entries = result.manifest["configs"]
    if as_json:
        configs = {name: entries[name] for name in result.built}
        print_json({"out": out, "configs": configs, "unavailable": {one.name: one.reason for one in result.missing}})
        return
    of_config = verdicts(entries)
    rows = [_config_row(name, entries[name], of_config[name]) for name in result.built]
    rows += _missing_rows(result)
    show(rows, ["config", "train", "validation", "test", "majority", "strongest shortcut", "audit", "remark"])
    if result.built:
        first = next((name for name in result.built if name.startswith("dc_")), result.built[0])
        show_load_call(out, first, tuple(entries[first]["counts"]))


def show_load_call(out: str, config: str, splits: Sequence[str]) -> None:
    """Prints the call that loads a config: of a folder, or of a URL by the parquet files of each split."""
    files = ", ".join(f'"{split}": "{out}/{config}/{split}-*.parquet"' for split in splits)
    arguments = f'"parquet", data_files={{{files}}}' if is_url(out) else f'"{out}", "{config}"'
    sys.stdout.write(f"\nload_dataset({arguments})\n")


def _missing_rows(result: BuildResult) -> list[dict[str, Cell]]:
    """A line per config that is not available; configs of generated tasks with the same reason share a line."""
    generated: dict[str, list[str]] = {}
    rows: list[dict[str, Cell]] = []
    for config in result.missing:
        if config.task.startswith("feats_"):
            generated.setdefault(config.reason, []).append(config.name)
        else:
            rows.append({"config": config.name, "audit": "not built", "remark": config.reason})
    for reason, names in generated.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        rows.append({"config": names[0] + more, "audit": "not built", "remark": reason})
    return rows


def _config_row(name: str, entry: ConfigEntry, verdict: Verdict) -> dict[str, Cell]:
    row: dict[str, Cell] = {
        "config": name,
        **{split: sum(labels.values()) for split, labels in entry["counts"].items()},
    }
    if audit := entry["audit"]:
        row |= {"majority": f"{audit['majority']:.3f}", "audit": verdict.word}
        if audit["strongest"]:
            row["strongest shortcut"] = f"{audit['strongest']} {audit['accuracy']:.3f} ({audit.get('gain') or 0:+.3f})"
        row["remark"] = remark(verdict)
    if entry.get("tiny"):
        row["remark"] = f"tiny; {row['remark']}" if row.get("remark") else "tiny"
    return row


def remark(verdict: Verdict) -> str | None:
    """The checks above their threshold, or the smallest detectable gain."""
    if verdict.word == "failed":
        checks = ", ".join(verdict.checks) if len(verdict.checks) <= _NAMED else f"{len(verdict.checks)} checks"
        return f"above the threshold: {checks}{' (all languages of the task)' if verdict.of_design else ''}"
    return None if verdict.resolution is None else f"smallest detectable gain {verdict.resolution:.3f}"


def show_annotated(annotated: AnnotatedCorpus, out: str, *, as_json: bool = False) -> None:
    """Prints what was annotated and how fast, what was left out, and which sentence boundaries were corrected."""
    manifest = annotated.manifest
    if as_json:
        print_json({"out": out, "new_words": annotated.new_words, "seconds": annotated.seconds, **manifest})
        return
    made = manifest["made_by"]
    with_what = ", ".join(f"{name} {version}" for name, version in made["software"].items())
    sys.stdout.write(
        f"{manifest['name']} ({manifest['lang']}): {manifest['documents']:,} documents, "
        f"{manifest['sentences']:,} sentences, {manifest['words']:,} words in {out}, by {with_what}\n"
    )
    if annotated.new_words:
        speed = f"{annotated.new_words / annotated.seconds:,.0f} words/s, loading of models included"
        sys.stdout.write(f"{annotated.new_words:,} words in {annotated.seconds:.0f} s: {speed}\n")
    else:
        sys.stdout.write("nothing to annotate: the annotation is complete\n")
    rows: list[dict[str, Cell]] = [
        {"left out in": step, "reason": reason, "number": n}
        for step, reasons in manifest["drops"].items()
        for reason, n in reasons.items()
    ]
    if rows:
        show(rows, ["left out in", "reason", "number"])
    corrections: list[dict[str, Cell]] = [
        {"sentence boundaries corrected": kind, "number": n} for kind, n in manifest["corrections"].items()
    ]
    if corrections:
        show(corrections, ["sentence boundaries corrected", "number"])


def show_sources(planned: Sequence[PlannedSource], unbuilt: Sequence[str] | None, *, as_json: bool = False) -> None:
    """Prints what a push reads, in the order of reading, and for a dry run the configs that it would build.

    JSON is printed only for a dry run with such configs.
    """
    if as_json:
        if unbuilt:
            reads = [dataclasses.asdict(one) for one in planned]
            print_json({"state": "unbuilt", "reads": reads, "build": unbuilt})
        return
    every = max((len(one.tasks) for one in planned), default=0)
    show(
        [_source_row(one, every) for one in planned],
        ["lang", "corpus", "what is done", "files", "MB", "licence", "tasks"],
    )
    if unbuilt:
        sys.stdout.write(
            f"\nto build first, if the corpora support them: {', '.join(unbuilt)}\n"
            "the files to send are known only after the build: run this again after `build run`\n"
        )
    sys.stdout.flush()


def _source_row(one: PlannedSource, n_tasks: int) -> dict[str, Cell]:
    tasks = "all" if len(one.tasks) == n_tasks else ", ".join(one.tasks)
    size = None if one.bytes is None else f"{one.bytes / 1e6:,.1f}"
    return {
        "lang": one.lang, "corpus": one.corpus, "what is done": one.how, "files": one.files or None, "MB": size,
        "licence": one.licence, "tasks": tasks,
    }  # fmt: skip


def confirmed(plan: Plan) -> bool:
    """Asks whether to publish; every answer but y or yes declines."""
    sys.stdout.write(f"Publish {plan.release} to {plan.repo}? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def show_plan(plan: Plan, *, as_json: bool = False) -> None:
    """Prints what a push will send, delete, keep and change; on stderr if stdout is for JSON."""
    stream = sys.stderr if as_json else sys.stdout
    size = sum(plan.uploads.values())
    since = f" (after {plan.last})" if plan.last else ""
    stream.write(
        f"{plan.repo} {plan.release}{since}: {len(plan.uploads)} files to send ({size:,} bytes), "
        f"{len(plan.deletes)} to delete, {len(plan.keeps)} configs stay as they are\n"
    )
    if plan.deletes:
        stream.write(f"files to delete: {', '.join(plan.deletes)}\n")
    if plan.resourced:
        stream.write(f"configs that are replaced by ones from other corpora: {'; '.join(plan.resourced)}\n")
    if plan.keeps:
        stream.write(f"configs that stay: {', '.join(plan.keeps)}\n")
    if plan.unmanaged:
        stream.write(f"files that no release wrote, which stay: {', '.join(plan.unmanaged)}\n")
    if not as_json:
        show_changes(plan.changes)
    stream.flush()


def show_push(result: PushResult, *, as_json: bool = False) -> None:
    """Prints what a push did."""
    if as_json:
        print_json(result.to_dict())
        return
    if result.state == "planned":
        show_plan(result.plan)
    at = " ".join(part for part in (result.commit or "", result.url) if part)
    sys.stdout.write(f"{result.state}: {result.plan.repo} {result.plan.release} {at}".rstrip() + "\n")
    for note in result.notes:
        sys.stdout.write(f"note: {note}\n")


def show_changes(changes: Changes, *, as_json: bool = False) -> None:
    """Prints what changed between two releases: a line per config, then sources, software and other files."""
    if as_json:
        print_json(changes.to_dict())
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
    """Prints what a verification found."""
    if as_json:
        print_json(verified.to_dict())
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
