"""What `build audit` looks at: a release folder, one config of it, anybody's files, or a data set of the Hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest_entries import audit_entry
from discoprobe.loaders.errors import DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discoprobe.builders.audit import AuditInput, Report
    from discoprobe.cards.text.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Reading:
    """How tables are read where the guess is wrong: their format, text columns and label column."""

    format_name: str | None = None
    text: tuple[str, ...] = ()
    label: str | None = None


def audit_inputs(names: Sequence[str], out: Path, reading: Reading) -> Iterator[AuditInput]:
    """The data sets that are meant by paths, configs of the folder ``out``, or Hub ids; all of ``out`` for no name.

    Raises:
        DiscoprobeError: a name is none of these, or what it names cannot be read.
    """
    from discoprobe.builders.audit import inputs  # noqa: PLC0415 (imports polars)

    for name in names or [str(out)]:
        path = next((place for place in (Path(name), out / name) if place.exists()), None)
        if path is not None:
            for place in _places(path):
                yield from inputs.read(place, format_name=reading.format_name, text=reading.text, label=reading.label)
        elif name.count("/") == 1 and not name.startswith((".", "/")):
            yield _read_hub(name, reading)
        else:
            raise DiscoprobeError(f"{name}: no such file, folder, config of {out}, or Hub id (owner/name)")


def _read_hub(name: str, reading: Reading) -> AuditInput:
    """The rows of a data set that ``datasets.load_dataset`` loads from the Hub."""
    import datasets  # noqa: PLC0415 (takes a second, and few audits need it)
    import polars as pl  # noqa: PLC0415

    from discoprobe.builders.audit import UnreadableDataError, inputs  # noqa: PLC0415

    try:
        loaded = datasets.load_dataset(name)
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
        raise UnreadableDataError(f"{name}: datasets cannot load it: {reason}") from error
    features = next(iter(loaded.values())).features
    names = {column: tuple(feature.names) for column, feature in features.items() if hasattr(feature, "names")}
    splits = {split: pl.DataFrame(rows.data.table) for split, rows in loaded.items()}
    return inputs.read_frames(name, splits, names, text=reading.text, label=reading.label)


def verdicts_of(reported: Sequence[Report]) -> list[Verdict]:
    """The verdict on each of what was audited: of a config of ours by the design of its task, too."""
    from discoprobe.cards.text.verdicts import of_audits  # noqa: PLC0415

    audits = {str(at): audit_entry(report) for at, report in enumerate(reported)}
    return list(of_audits(audits, {str(at): _task_of(report) for at, report in enumerate(reported)}).values())


def _task_of(report: Report) -> str:
    """The task of ours whose config was audited, by its name; empty for other data."""
    from discoprobe.builders.task import all_tasks, generated_tasks  # noqa: PLC0415

    task = report.name.rpartition("_")[0]
    return task if task in all_tasks() or task in generated_tasks() else ""


def design_rows(reported: Sequence[Report]) -> list[dict[str, str | int | bool | None]]:
    """A row per task of ours and shortcut, over the configs of it that were audited; for tasks with several."""
    from discoprobe.cards.text.verdicts import task_designs  # noqa: PLC0415

    tasks: dict[str, list[Report]] = {}
    for report in reported:
        if task := _task_of(report):
            tasks.setdefault(task, []).append(report)
    return [
        {
            "task": task,
            "check": design.check,
            "configs": design.configs,
            "rows": design.n,
            "accuracy": f"{design.accuracy:.3f} [{design.interval.low:.3f}, {design.interval.high:.3f}]",
            "gain": f"{design.gain:+.3f}",
            "threshold": f"{design.threshold:.3f}",
            "design": "failed" if design.failed else "passed",
        }
        for task, reports_of_task in tasks.items()
        if len(reports_of_task) > 1
        for design in task_designs([audit_entry(report) for report in reports_of_task])
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
    from discoprobe.loaders.process_pool import process_pool  # noqa: PLC0415

    data = list(audit_inputs(names, out, reading))
    found: list[Report] = []
    with process_pool(min(jobs, len(data))) as executor:
        for report in (executor.map if executor else map)(audit, data):
            found.append(report)
            progress("auditing", len(found), len(data))
    return found
