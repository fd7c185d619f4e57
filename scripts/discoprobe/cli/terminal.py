"""The terminal: progress on stderr, tables and Markdown on stdout."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from discoprobe.loaders.process_pool import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Cell = str | int | bool | None
WIDE = 200
"""Columns of a table that is written to a file or a pipe."""
LINE_SECONDS = 60.0
"""Seconds between two lines of progress where stderr is no terminal."""


class ProgressDisplay:
    """Shows on stderr how far each step is: bars on a terminal, elsewhere a line per minute.

    It is called with the name of a step, how much of it is done, and how much there is (`requests.Progress`).
    """

    def __init__(self) -> None:
        from rich import progress as rich_progress  # noqa: PLC0415
        from rich.console import Console  # noqa: PLC0415

        console = Console(stderr=True)
        self._bars = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"), rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(), rich_progress.TextColumn("{task.fields[speed]}"),
            rich_progress.TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self._steps: dict[str, rich_progress.TaskID] = {}
        self._is_terminal = console.is_terminal
        self._start = self._last_line = time.monotonic()
        self._lines: dict[str, tuple[int, int, float]] = {}
        self._words = 0

    def __call__(self, step: str, done: int, total: int) -> None:
        """Shows that ``done`` of ``total`` units of a step are done."""
        if step == WORDS:
            self._words += done
            return
        if not self._is_terminal:
            self._print_line(step, done, total)
            return
        if step not in self._steps:
            self._steps[step] = self._bars.add_task(step, total=total, speed="")
        bar = self._steps[step]
        self._bars.update(bar, completed=done, total=total)
        if step == "annotating":
            rate = next(task.speed for task in self._bars.tasks if task.id == bar)
            self._bars.update(bar, speed=f"{rate:,.0f} words/s" if rate else "words")

    def _print_line(self, step: str, done: int, total: int) -> None:
        """Once a minute: all steps that are not done, with the time that each would still take."""
        now = time.monotonic()
        begun = self._lines[step][2] if step in self._lines else now
        self._lines[step] = done, total, begun
        if now - self._last_line >= LINE_SECONDS:
            self._last_line = now
            left = {name: of_step for name, of_step in self._lines.items() if of_step[0] < of_step[1]}
            sys.stderr.write("; ".join(_so_far(name, *of_step, now) for name, of_step in left.items()) + "\n")
            sys.stderr.flush()

    def start(self) -> None:
        """Shows the bars."""
        self._bars.start()

    def stop(self) -> None:
        """Removes the bars from the terminal, so that a question or a result can be printed."""
        self._bars.stop()

    def print_speed(self) -> None:
        """Says how many words were read per second, if any step said that it read some."""
        if self._words:
            seconds = max(time.monotonic() - self._start, 1e-9)
            sys.stderr.write(f"{self._words:,} words in {seconds:,.0f} s: {self._words / seconds:,.0f} words/s\n")


def _so_far(step: str, done: int, total: int, begun: float, now: float) -> str:
    """How far a step is, and how long it still takes at the speed so far."""
    minutes = (now - begun) * (total - done) / done / 60 if done else 0.0
    left = f" ({max(1, round(minutes))} min left)" if now - begun >= 1 and done else ""
    return f"{step}: {done:,} of {total:,}{left}"


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


def show(
    rows: Sequence[Mapping[str, Cell]], columns: Sequence[str], *, as_json: bool = False, width: int = WIDE
) -> None:
    """Prints rows as a table, or as a JSON list; ``width`` is the columns of a table that is no terminal's."""
    if as_json:
        sys.stdout.write(json.dumps([dict(row) for row in rows], ensure_ascii=False, indent=1) + "\n")
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

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
    from rich.console import Console  # noqa: PLC0415
    from rich.markdown import Markdown  # noqa: PLC0415

    Console(width=None if sys.stdout.isatty() else 120).print(Markdown(text))
