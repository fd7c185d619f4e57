"""The terminal: progress on stderr; tables, JSON, Markdown and what several commands print on stdout."""

from __future__ import annotations

import itertools
import json
import logging
import math
import os
import shutil
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from discoprobe.loaders.process_pool import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from rich.progress import Task

    from discoprobe.cards.text.verdicts import DatasetLine


Cell = str | int | bool | None
WIDE = 200
"""Width of a table in a file or a pipe, in characters."""
LINE_SECONDS = 60.0
"""Seconds between two lines of progress if stderr is not a terminal."""
FIRST_SECONDS = 10.0
"""Seconds until the first line, and until a step says how long it takes although no unit of it is done."""
SECONDS_PER_CONFIG = 1.1
"""Processor seconds that a config takes with its audit, by MB of text (docs/records/performance.md: 257 s for 42 tasks
from 5.6 MB of treebanks, 792 s for nine tasks from 88 MB of German Wikipedia)."""
WORDS_PER_SECOND = 2000.0
"""Words that Stanza annotates in a second of one processor."""
WORTH_SAYING = 50_000
"""Least number of words for which the speed is printed: with fewer, most of the time is the start of the program."""
ANNOTATING = "annotating"
"""The step that counts words."""
READING, ROWS = "reading ", ": rows"
"""Prefix of the names of steps that read text, and suffix of the names of steps that count the rows of a config."""


class ProgressDisplay:
    """Shows the progress of each step on stderr: bars on a terminal, elsewhere a line per minute.

    It is called with the name of a step, the number of units done, and the total (`process_pool.Progress`).
    """

    def __init__(self) -> None:
        from rich import progress as rich_progress
        from rich.console import Console
        from rich.text import Text

        class TimeLeft(rich_progress.ProgressColumn):
            """What `_seconds_left` says; rich's own column stands still between two reports."""

            def render(self, task: Task) -> Text:
                seconds = _seconds_left(task, display.n_configs)
                return Text(str(timedelta(seconds=round(seconds))) if seconds < math.inf else "-:--:--")

        console, display = Console(stderr=True), self
        self._is_terminal = console.is_terminal
        self._bars = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"), rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(), rich_progress.TextColumn("{task.fields[speed]}"),
            TimeLeft(), console=console, transient=True, disable=not self._is_terminal,
            get_time=time.monotonic,
        )  # fmt: skip
        self._steps: dict[str, rich_progress.TaskID] = {}
        self._start = time.monotonic()
        self._last_line = self._start - LINE_SECONDS + FIRST_SECONDS
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._words = 0

    def __call__(self, step: str, done: int, total: int) -> None:
        """Shows that ``done`` of ``total`` units of a step are done."""
        if step == WORDS:
            self._words += done
            return
        if step not in self._steps:
            self._steps[step] = self._bars.add_task(step, total=total, speed="", at=0.0, last=0)
        bar = self._steps[step]
        task = next(task for task in self._bars.tasks if task.id == bar)
        if task.finished and done < total:  # the same step of another corpus, whose time begins now
            self._bars.reset(bar)
        self._bars.update(
            bar, completed=done, total=total, at=task.elapsed or 0.0, last=done - task.completed, visible=done < total
        )
        if step == ANNOTATING:
            rate = task.speed
            self._bars.update(bar, speed=f"{rate:,.0f} words/s" if rate else "words")
        if not self._is_terminal:
            self._print_line()

    @property
    def n_configs(self) -> int:
        """The number of configs that are being filled."""
        return sum(task.description.endswith(ROWS) and bool(task.remaining) for task in self._bars.tasks)

    def _print_line(self) -> None:
        """After ten seconds and then once a minute, prints all steps that are not done, with the time left for each."""
        with self._lock:
            now = time.monotonic()
            if now - self._last_line < LINE_SECONDS:
                return
            self._last_line = now
        if steps := [task for task in self._bars.tasks if task.remaining]:
            sys.stderr.write(_progress_line(steps, self.n_configs) + "\n")
            sys.stderr.flush()

    def _print_lines(self) -> None:
        """Prints a line per minute even while no step reports progress."""
        while not self._ended.wait(FIRST_SECONDS):
            self._print_line()

    def start(self) -> None:
        """Shows the bars, or begins to print a line a minute."""
        self._ended.clear()
        if self._is_terminal:  # elsewhere rich before 14.3 prints an empty line at the end
            self._bars.start()
        else:
            threading.Thread(target=self._print_lines, daemon=True).start()

    def stop(self) -> None:
        """Removes the bars from the terminal, so that a question or a result can be printed."""
        if self._is_terminal:
            self._bars.stop()
        self._ended.set()

    def print_above(self, text: str) -> None:
        """Prints a part of the result on stdout while the bars are shown."""
        if self._is_terminal:
            self._bars.stop()
        sys.stdout.write(text)
        sys.stdout.flush()
        if self._is_terminal:
            self._bars.start()

    def print_speed(self) -> None:
        """Prints how many words were read per second, if at least ``WORTH_SAYING`` words were read."""
        if self._words >= WORTH_SAYING:
            seconds = max(time.monotonic() - self._start, 1e-9)
            sys.stderr.write(f"{self._words:,} words in {seconds:,.0f} s: {self._words / seconds:,.0f} words/s\n")


def _seconds_expected(step: Task, n_configs: int) -> float:
    """How long a step takes of which no unit is done: by measured rates, else as if half a unit were done."""
    total, elapsed = step.total or 0.0, step.elapsed or 0.0
    if step.description.startswith(READING):
        return total / 1000 * SECONDS_PER_CONFIG * max(n_configs, 1)
    return total / WORDS_PER_SECOND if step.description == ANNOTATING else 2 * elapsed * total


def _seconds_left(step: Task, n_configs: int) -> float:
    """The time left for a step at the speed until its last report; infinite in the first seconds.

    Before the first report it is what is expected, and if that is over, a fifth of the time until now.

    The time since then counts, at most that of as many units as the last report had: these are being worked on, and may
    take longer than those before.
    """
    elapsed, last = float(step.fields["at"]), float(step.fields["last"])
    if not step.completed or elapsed < 1:
        until_now = step.elapsed or 0.0
        is_early = until_now < FIRST_SECONDS or step.description.endswith(ROWS)
        return math.inf if is_early else max(_seconds_expected(step, n_configs) - until_now, until_now / 5)
    of_unit, remaining = elapsed / step.completed, step.remaining or 0.0
    since = max((step.elapsed or 0.0) - elapsed, 0.0)
    return max(of_unit * remaining - since, of_unit * max(remaining - last, 0.0))


def _progress_line(steps: Sequence[Task], n_configs: int) -> str:
    """The progress of each step, and the time left at the present speed, if that is known.

    A config is done when it has its full size or when the complete corpus is read. Reading ends when all configs have
    their full size. So the time left for a config is printed only if it is shorter than that for reading.
    """
    seconds = {step.description: _seconds_left(step, n_configs) for step in steps}
    reading = min((time_left for step, time_left in seconds.items() if step.startswith(READING)), default=0.0)
    filling = max((time_left for step, time_left in seconds.items() if step.endswith(ROWS)), default=math.inf)
    parts = []
    for step in steps:
        name, time_left = step.description, seconds[step.description]
        if name.endswith(ROWS) and time_left >= reading:
            time_left = math.inf
        elif name.startswith(READING):
            time_left = min(time_left, filling)
        minutes = f" ({max(1, round(time_left / 60))} min left)" if time_left < math.inf else ""
        unit = " words" if name == ANNOTATING else ""
        parts.append(f"{name}: {step.completed:,.0f} of {step.total or 0:,.0f}{unit}{minutes}")
    return "; ".join(parts)


def is_quiet() -> bool:
    """Whether ``--quiet`` is given: no progress, and of what a command makes only errors and JSON."""
    return not logging.getLogger().isEnabledFor(logging.WARNING)


@contextmanager
def progress() -> Iterator[ProgressDisplay]:
    """A display of progress that is removed at the end; with ``--quiet`` it shows nothing."""
    display = ProgressDisplay()
    if is_quiet():
        yield display
        return
    display.start()
    try:
        yield display
    finally:
        display.stop()
    display.print_speed()


def print_json(value: object, *, indent: int | None = 1) -> None:
    """Prints a value as JSON; dates and paths as text, and on one line if ``indent`` is None.

    If stdout is not Unicode, JSON escapes other characters.
    """
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=not is_unicode, indent=indent, default=str) + "\n")


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
    if columns[0] == "config":  # what is copied to other commands is not cut
        table.columns[0].min_width = max([0, *(len(str(row.get("config") or "").partition(" ")[0]) for row in rows)])
    words = {None: "", True: "yes", False: "no"}
    for row in rows:
        cells = [row.get(column) for column in columns]
        table.add_row(*[Text(words[cell] if cell is None or isinstance(cell, bool) else str(cell)) for cell in cells])
    Console(width=_width(width)).print(table)


HEADS = ("train/val/test", "chance", "best cheap trick", "use it?")


def show_lines(groups: Mapping[str, Sequence[DatasetLine]]) -> None:
    """Prints a table of datasets: a line for each, under a heading for each group, and what the advice means.

    The question of a task is below it. Nothing is cut. Where the table is wider than the terminal or `NARROW`, tricks
    and advice have several lines, and at last the head of the rows.
    """
    from discoprobe.cards.text.verdicts import meanings

    lines = [line for of_group in groups.values() for line in of_group]
    heads, columns = ["", *HEADS], min(NARROW, _width(NARROW) or _terminal_width())
    cells = [_cells(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, heads, strict=True)]
    over = sum(widths) + 2 * (len(widths) - 1) - columns
    for n in NARROWED if over > 0 else ():
        if n == ROWS_OF_SPLITS and over > 0:
            heads[n] = heads[n].replace("/", "/ ")
        longest = max(len(word) for row in [*cells, heads] for word in row[n].split() or [""])
        narrower = max(0, min(over, widths[n] - longest))
        widths[n] -= narrower
        over -= narrower
    of_heads = _in_columns(heads, widths)
    indent = len(of_heads[0]) - len(of_heads[0].lstrip())
    for n, (head, of_group) in enumerate(groups.items()):
        fits = len(head) + 2 <= indent
        shown = [head.ljust(indent) + of_heads[0][indent:], *of_heads[1:]] if fits else [head, *of_heads]
        for line in of_group:
            shown += _in_columns(_cells(line), widths)
            shown += textwrap.wrap(line.asks, columns, initial_indent="  ", subsequent_indent="  ")
        sys.stdout.write("\n" * (n > 0) + "\n".join(shown) + "\n")
    for meaning in meanings(lines):
        print_wrapped(meaning, indent="  ")


ROWS_OF_SPLITS = 1
NARROWED = (3, 4, ROWS_OF_SPLITS)
"""Columns that get several lines where the table is too wide: tricks, advice, and at last the head of the rows."""
RIGHT = {1, 2}
"""Columns of numbers."""


def _cells(line: DatasetLine) -> list[str]:
    return [line.task, line.rows, line.chance, line.trick, line.advice]


def _in_columns(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The lines of a row whose cells are wrapped at the widths of their columns."""
    wrapped = [textwrap.wrap(cell, width, break_long_words=False) for cell, width in zip(cells, widths, strict=True)]
    aligned = [str.rjust if n in RIGHT else str.ljust for n in range(len(cells))]
    return [
        "  ".join(align(part, width) for align, part, width in zip(aligned, parts, widths, strict=True)).rstrip()
        for parts in itertools.zip_longest(*wrapped, fillvalue="")
    ]


def _terminal_width() -> int:
    """Columns of the terminal, or of ``COLUMNS``."""
    return shutil.get_terminal_size().columns


def show_sources(read: Sequence[Mapping[str, Any]]) -> None:
    """Prints what is read (`plan.reads`), in the order of reading."""
    n_tasks = max((len(row["tasks"]) for row in read), default=0)
    rows: list[dict[str, Cell]] = [
        {
            "lang": row["lang"], "corpus": row["corpus"], "what is done": row["how"], "files": row["files"] or None,
            "MB": None if row["bytes"] is None else f"{row['bytes'] / 1e6:,.1f}", "licence": row["licence"],
            "tasks": "all" if len(row["tasks"]) == n_tasks else few(row["tasks"]),
        }
        for row in read
    ]  # fmt: skip
    show(rows, ["lang", "corpus", "what is done", "files", "MB", "licence", "tasks"])


def show_markdown(text: str) -> None:
    """Prints Markdown."""
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=_width(120)).print(Markdown(text))


def _width(default: int) -> int | None:
    """The width of the output: None, which is that of the terminal or ``COLUMNS``, or a default for a file or pipe."""
    return None if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal() else default


def show_load_call(out: str, config: str, splits: Sequence[str]) -> None:
    """Prints the call that loads a config: of a folder, or of a URL by the parquet files of each split."""
    from discoprobe.loaders.fetch.remote_files import is_url

    files = ", ".join(f'"{split}": "{out}/{config}/{split}-*.parquet"' for split in splits)
    folder = json.dumps(out, ensure_ascii=False)  # as Python writes it, with backslashes of Windows escaped
    arguments = f'"parquet", data_files={{{files}}}' if is_url(out) else f'{folder}, "{config}"'
    sys.stdout.write(f"\nload_dataset({arguments})\n")


NARROW = 79
"""Width of what an audit prints in characters, also in a file or a pipe."""


FEW = 3
"""Names that a line shows of many."""


def few(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")


def print_wrapped(text: str, indent: str = "    ") -> None:
    """Prints text in lines of at most ``NARROW`` columns, or as many as there are, all but the first indented."""
    sys.stdout.write(
        textwrap.fill(
            text, min(NARROW, _width(NARROW) or _terminal_width()), subsequent_indent=indent, break_on_hyphens=False
        )
        + "\n"
    )
