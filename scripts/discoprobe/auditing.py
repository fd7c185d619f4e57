"""What `build audit` looks at: a release folder, one config of it, anybody's files, or a data set of the Hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discoprobe.cards import manifest
from discoprobe.loaders.errors import DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discoprobe.builders.audit import AuditInput, Report
    from discoprobe.cards.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Reading:
    """How tables are read where the guess is wrong: their format, text columns and label column."""

    format_name: str | None = None
    text: tuple[str, ...] = ()
    label: str | None = None


def inputs(names: Sequence[str], out: Path, reading: Reading) -> Iterator[AuditInput]:
    """The data sets that are meant by paths, configs of the folder ``out``, or Hub ids; all of ``out`` for no name.

    Raises:
        DiscoprobeError: a name is none of these, or what it names cannot be read.
    """
    from discoprobe.builders.audit import formats  # noqa: PLC0415 (imports polars)

    for name in names or [str(out)]:
        path = next((place for place in (Path(name), out / name) if place.exists()), None)
        if path is not None:
            for place in _places(path):
                yield from formats.read(place, format_name=reading.format_name, text=reading.text, label=reading.label)
        elif name.count("/") == 1 and not name.startswith((".", "/")):
            yield formats.read_hub(name, text=reading.text, label=reading.label)
        else:
            raise DiscoprobeError(f"{name}: no such file, folder, config of {out}, or Hub id (owner/name)")


def verdicts_of(found: Sequence[Report]) -> list[Verdict]:
    """The verdict on each of what was audited: configs of a task of ours with their like in other languages."""
    from discoprobe.cards.verdicts import of_audits  # noqa: PLC0415

    audits = {str(at): manifest.audit_entry(report) for at, report in enumerate(found)}
    tasks = {str(at): _task_of(report) or report.name for at, report in enumerate(found)}
    return list(of_audits(audits, tasks).values())


def _task_of(report: Report) -> str | None:
    """The task of ours whose config was audited, by its name; None for other data."""
    from discoprobe.builders.task import all_tasks, generated_tasks  # noqa: PLC0415

    task = report.name.rpartition("_")[0]
    return task if task in all_tasks() or task in generated_tasks() else None


def pooled_rows(found: Sequence[Report]) -> list[dict[str, str | int | bool | None]]:
    """A row per task of ours and shortcut, over the configs of it that were audited; for tasks with several."""
    from discoprobe.builders.audit.pool import pooled, tallies  # noqa: PLC0415

    tasks: dict[str, list[Report]] = {}
    for report in found:
        if task := _task_of(report):
            tasks.setdefault(task, []).append(report)
    return [
        {
            "task": task,
            "check": one.check,
            "configs": one.configs,
            "rows": one.n,
            "accuracy": f"{one.accuracy:.3f} [{one.interval.low:.3f}, {one.interval.high:.3f}]",
            "lift": f"{one.lift:+.3f}",
            "limit": f"{one.limit:.3f}",
            "together": str(one.status),
        }
        for task, own in tasks.items()
        if len(own) > 1
        for one in pooled([tallies(report) for report in own])
    ]


def _places(path: Path) -> list[Path]:
    """The folders of a release's configs; of anything else the path itself."""
    if not (path / manifest.NAME).is_file():
        return [path]
    return [path / name for name in sorted(manifest.read(path)["configs"])]


def reports(
    names: Sequence[str], out: Path, reading: Reading, jobs: int, progress: Callable[[str, int, int], None]
) -> list[Report]:
    """A report per data set, in order."""
    from discoprobe.builders.audit import audit  # noqa: PLC0415 (imports scikit-learn)
    from discoprobe.pipeline import processes  # noqa: PLC0415

    data = list(inputs(names, out, reading))
    found: list[Report] = []
    with processes(min(jobs, len(data)) or 1) as executor:
        for report in (executor.map if executor else map)(audit, data):
            found.append(report)
            progress("auditing", len(found), len(data))
    return found
