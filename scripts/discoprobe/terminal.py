"""What a person sees: progress on stderr, tables on stdout."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.cards.manifest import AuditEntry, ConfigEntry
    from discoprobe.pipeline import Outcome

Cell = str | int | bool | None
WIDE = 200
"""Columns of a table that goes into a file or a pipe."""


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr for each thing being done; nothing where stderr is no terminal."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        known: dict[str, object] = {}

        def heard(doing: str, done: int, total: int) -> None:
            if doing not in known:
                known[doing] = bars.add_task(doing, total=total)
            bars.update(known[doing], completed=done, total=total)  # type: ignore[arg-type]

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
    entries = outcome.manifest["configs"]
    rows = [_config_row(name, entries[name]) for name in outcome.built]
    rows += [{"config": one.name, "audit": "not built", "remark": one.reason} for one in outcome.missing]
    show(rows, ["config", "train", "validation", "test", "majority", "strongest shortcut", "audit", "remark"])
    if outcome.built:
        first = next((name for name in outcome.built if name.startswith("dc_")), outcome.built[0])
        sys.stdout.write(f'\nload_dataset("{out}", "{first}")\n')


def _config_row(name: str, entry: ConfigEntry) -> dict[str, Cell]:
    row: dict[str, Cell] = {"config": name, **{split: sum(labels.values()) for split, labels in entry["counts"].items()}}
    if audit := entry["audit"]:
        row |= {"majority": f"{audit['majority']:.3f}", "audit": _verdict(audit)}
        if audit["strongest"]:
            row["strongest shortcut"] = f"{audit['strongest']} {audit['accuracy']:.3f} ({audit['lift']:+.3f})"
        if audit["undecided"]:
            row["remark"] = f"test too small to decide {', '.join(audit['undecided'])}"
    return row


def _verdict(audit: AuditEntry) -> str:
    return "failed" if audit["failed"] else "undecided" if audit["undecided"] else "passed"
