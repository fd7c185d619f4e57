"""Audits data that are there already: `build audit`.

`read_all` reads a release folder, its configs, other files, or datasets of the Hub (`reading_of` says how); `reports`
audits what was read, and `audit_all` does both. `audit_any` is the same for data in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import polars as pl

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError
from discoprobe.builders.audit.inputs.data_files import Read, Reading, Skipped, with_provenance
from discoprobe.builders.audit.inputs.reading import read as read_files
from discoprobe.builders.audit.inputs.reading import read_frames
from discoprobe.builders.audit.own_configs import from_config, own_shape
from discoprobe.builders.audit.report import Report
from discoprobe.builders.audit.run import audit, rows_of
from discoprobe.builders.audit.thresholds import BY_ID, KNOWN_AS, OF_WORDS
from discoprobe.builders.config import Config
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import all_tasks, generated_tasks
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import Audited, audit_entry
from discoprobe.cards.text.verdicts import task_designs, verdicts
from discoprobe.interactive import in_python, python_messages
from discoprobe.loaders.catalogue.treebanks import HUB
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, first_line
from discoprobe.loaders.fetch.remote_files import is_url
from discoprobe.loaders.process_pool import process_pool, silent
from discoprobe.loaders.raw.text_rows import READABLE
from discoprobe.remote_folders import local

if TYPE_CHECKING:
    from collections.abc import Callable

    import datasets


SOLVERS: Final = 5
"""Solvers in the view of a report."""


class ReportWithRows(Report, frozen=True, dict=True):
    """A report beside the data that it is on, so that it can give the rows of each finding."""

    def rows(self, check: str) -> pl.DataFrame:
        """The rows of the finding of a check, all of them; the check is run again, alone.

        Returns:
            The faulty rows, those of test first; or the rows that the solver of a shortcut gets right, the surest
            first. Columns: ``split``, ``id``, ``label`` (its name) and ``texts``; ``twin_split``, ``twin`` and
            ``twin_texts`` are split, id and texts of the row that a duplicate or a leak repeats, else null.

        Raises:
            UnknownNameError: there is no such check.
        """
        return rows_of(vars(self)["data"], check)

    def _repr_html_(self) -> str:
        """The view in a notebook: rows, the verdict in words, and a table of the solvers by their gain."""
        from discoprobe.cards.text.templating import render  # noqa: PLC0415 (imports jinja2)

        with_gain = [each for each in self.findings if each.gain is not None]
        return render(
            "report.html", report=self, verdict=self.verdict, text=in_python(self.verdict.text), known_as=KNOWN_AS,
            findings=sorted(with_gain, key=lambda each: -(each.gain or 0.0))[:SOLVERS],
            faults=[each for each in self.errors if each.gain is None], measures=BY_ID,
        )  # fmt: skip


def with_rows(report: Report, data: AuditInput) -> ReportWithRows:
    """A report with the data that it is on."""
    values = {name: getattr(report, name) for name in report.__struct_fields__}
    with_rows = ReportWithRows(**values)
    vars(with_rows)["data"] = data
    return with_rows


def reading_of(  # noqa: PLR0913 (one parameter per option)
    *, text: Sequence[str] | None, choices: Sequence[str] | None, label: str | None, pair: str | None,
    split: Sequence[str] | None, exclude: Sequence[str] | None, config: str | None, format_name: str | None,
    encoding: str = "", group: str | None = None, edited: Sequence[str] | None = None,
    task_type: str | None = None,
) -> Reading:  # fmt: skip
    """How data are read, from the values of options.

    ``split`` has the column of splits (``part``), and which split a name stands for (``dev_matched=validation``).

    Raises:
        UnknownNameError: a name is assigned to an unknown split.
        DiscoprobeError: ``split`` has two columns.
    """
    named = dict(value.split("=", 1) for value in split or () if "=" in value)
    columns = [value for value in split or () if "=" not in value]
    if wrong := next((what for what in named.values() if what not in SPLITS), ""):
        raise UnknownNameError("split", wrong, SPLITS)
    if len(columns) > 1:
        raise DiscoprobeError(f"--split names two columns: {', '.join(columns)}")
    return Reading(
        format_name, tuple(text or ()), tuple(choices or ()), label, pair, next(iter(columns), None), named,
        tuple(exclude or ()), config, encoding=encoding, group=group, edited=tuple(edited or ()),
        task_type=task_type or "",
    )  # fmt: skip


_LABELS = 8
"""Most labels that a message names."""


def read_all(names: Sequence[str], out: Path, reading: Reading) -> Read:
    """The datasets with these names: paths, URLs, configs of the folder ``out``, or Hub ids; by default all of ``out``.

    Paths are read together, because they may be splits of one dataset. What cannot be read is skipped, with the reason.

    Raises:
        DiscoprobeError: the only name is none of these, or nothing can be read.
    """
    paths: list[Path] = []
    others: list[str] = []
    for name in names or [str(out)]:
        if is_url(name) and not _is_hub_id(name):
            path: Path | None = local(name)
        else:
            path = next((place for place in (Path(name), out / name) if place.exists()), None)
        if path is None:
            others.append(name)
        else:
            is_release = (path / manifest.NAME).is_file()
            paths += [path / config for config in sorted(manifest.read(path).configs)] if is_release else [path]
    data: list[AuditInput] = []
    skipped: list[Skipped] = []
    for name in (*([""] if paths else []), *others):
        try:
            read, unread = _read_hub(name, out, reading) if name else read_files(paths, reading)
        except UnreadableDataError as error:
            skipped.append(Skipped(name, str(error).removeprefix(f"{name}: ")))
        else:
            data += read
            skipped += unread
    if not data:
        raise UnreadableDataError("; ".join(f"{source.name}: {source.reason}".removeprefix(": ") for source in skipped))
    _check_excluded(data, reading)
    return tuple(data), tuple(skipped)


def _check_excluded(data: Sequence[AuditInput], reading: Reading) -> None:
    """Raises an error if no dataset has a label whose rows should be left out."""
    left_out = {reason for dataset in data if dataset.read for reason in dataset.read.left_out}
    if unknown := [label for label in reading.exclude if f"label '{label}'" not in left_out]:
        labels = ", ".join(sorted({name for dataset in data for name in dataset.labels})[:_LABELS])
        raise UnreadableDataError(f"--exclude {unknown[0]}: no row has this label; the labels are {labels}")


def _is_hub_id(name: str) -> bool:
    """Whether a name can be that of a dataset on the Hub, and is no path with a mistake.

    Without ``hf://`` it is one if there is no folder of the owner's name here, and it does not end like a file.
    """
    path = Path(name)
    is_path = path.is_absolute() or name.startswith(".") or path.suffix in READABLE or path.parent.is_dir()
    return name.startswith(HUB) or (name.count("/") == 1 and not is_path)


def _read_hub(name: str, out: Path, reading: Reading) -> Read:
    """The rows of a dataset on the Hub, loaded with ``datasets.load_dataset``.

    ``name`` is ``owner/name``, ``hf://owner/name`` or ``hf://datasets/owner/name``, and may end with ``/config``.
    """
    if not _is_hub_id(name):
        raise UnreadableDataError(f"{name}: no such file, folder, config of {out}, or Hub id (hf://owner/name)")
    import datasets

    parts = name.removeprefix(HUB).removeprefix("datasets/").split("/")
    repo, config = "/".join(parts[:2]), reading.config or (parts[2] if len(parts) > 2 else None)  # noqa: PLR2004
    try:
        loaded = datasets.load_dataset(repo, config)
    except Exception as error:
        reason = " ".join(str(error).split())
        hint = "; name one with --config" if "Config name is missing" in reason else ""
        here = "" if name.startswith(HUB) else "no such file or folder, and "
        raise UnreadableDataError(f"{name}: {here}`datasets` cannot load it: {reason[:400]}{hint}") from error
    return read_dataset(f"{repo}/{config}" if config else repo, loaded, reading)


def read_dataset(
    name: str, loaded: Mapping[str, datasets.Dataset | datasets.IterableDataset], reading: Reading
) -> Read:
    """The rows of a ``DatasetDict``; its features say which columns hold classes. What is streamed is read to its end.

    Raises:
        UnreadableDataError: its columns have no roles, or it cannot be read.
    """
    features: Mapping[str, Any] = next((rows.features for rows in loaded.values() if rows.features), {})
    names = {column: tuple(feature.names) for column, feature in features.items() if hasattr(feature, "names")}
    splits = {split: _frame(rows) for split, rows in loaded.items()}
    read, skipped = read_frames(name, splits, names, reading)
    return tuple(
        with_provenance(data, format=f"{data.read.format if data.read else 'table'}, dataset with features")
        for data in read
    ), skipped  # fmt: skip


def judged(reported: Sequence[Report]) -> list[Report]:
    """The reports with verdicts. For configs of discoprobe's tasks, the task over all its reports must pass, too."""
    return [
        msgspec.structs.replace(report, verdict=verdict)
        for report, verdict in zip(reported, verdicts(_audited(reported)).values(), strict=True)
    ]


def _audited(reported: Sequence[Report]) -> dict[str, Audited]:
    """Index of each report → its task (empty if it is not one of discoprobe's) and audit."""
    ours = {*all_tasks(), *generated_tasks()}
    tasks = [report.name.rpartition("_")[0] for report in reported]
    return {
        str(at): Audited(task=task if task in ours else "", audit=audit_entry(report))
        for at, (task, report) in enumerate(zip(tasks, reported, strict=True))
    }


def design_rows(reported: Sequence[Report]) -> list[dict[str, str | int | bool | None]]:
    """A row per task and shortcut, over all audited configs of the task; only for discoprobe's tasks with several."""
    return [
        {
            "task": task,
            "check": design.check,
            "configs": design.configs,
            "rows": design.n,
            "accuracy": f"{design.measured:.3f} [{low:.3f}, {high:.3f}]",
            "gain": f"{design.gain:+.3f}",
            "threshold": f"{design.threshold:.3f}",
            "design": str(design.status),
        }
        for task, designs in task_designs(_audited(reported)).items()
        for design in designs
        for low, high in filter(None, [design.interval])
    ]


def reports(
    datasets: Sequence[AuditInput], jobs: int, progress: Callable[[str, int, int], None], expected: Sequence[str] = ()
) -> list[Report]:
    """A judged report per dataset, in order. If there is only one, its checks and solvers can use two processes.

    Raises:
        UnknownNameError: what is expected is no check.
    """
    if unknown := next((name for name in expected if name not in BY_ID), ""):
        raise UnknownNameError("check", unknown, BY_ID)
    no_cue = tuple(sorted({*expected, *(OF_WORDS if "words" in expected else ())}))
    reports: list[Report] = []
    with process_pool(min(jobs, max(2, len(datasets)))) as executor:
        if len(datasets) == 1:
            reports = [audit(datasets[0], executor=executor)]
        else:
            for report in (executor.map if executor else map)(audit, datasets):
                reports.append(report)
                progress("auditing: datasets", len(reports), len(datasets))
    return judged([msgspec.structs.replace(report, expected=no_cue) for report in reports])


def audit_all(  # noqa: PLR0913 (one parameter per option)
    names: Sequence[str], out: Path, reading: Reading, jobs: int, progress: Callable[[str, int, int], None], *,
    expected: Sequence[str] = (),
) -> tuple[Read, list[Report]]:  # fmt: skip
    """What is read under some names (`read_all`), and a judged report on each dataset (`reports`)."""
    read = read_all(names, out, reading)
    return read, reports(read[0], jobs, progress, expected)


def audit_any(  # noqa: PLR0913 (one parameter per option)
    data: object, *, text: str | Sequence[str] = (), label: str | None = None, choices: str | Sequence[str] = (),
    pair: str | None = None, split: str | Sequence[str] = (), group: str | None = None,
    edited: str | Sequence[str] = (), exclude: str | Sequence[str] = (), config: str | None = None,
    expected: str | Sequence[str] = (), format_name: str | None = None, encoding: str = "", name: str = "data",
    task_type: str = "", jobs: int = 1,
) -> ReportWithRows:  # fmt: skip
    """The audit of a config or of data in memory.

    Args:
        data: a config that ``build`` returned; paths, or one, as in ``build audit``; a ``datasets.DatasetDict`` or
            ``Dataset``, also an iterable one; a pandas, polars or arrow table; rows, which are mappings, in a list or
            from a generator; or a mapping of split names to any of these. A single table is the test split.
        text: columns that hold the text, in order (for choices: the context). By default they are detected.
        label: column that holds the label. By default it is detected.
        choices: columns that hold the choices, or one with lists.
        pair: column that has the same value in all rows of a pair.
        split: column that names the split of each row; or what a split of the data, or a value of this column, stands
            for, such as ``dev_matched=validation``.
        group: column that has the same value in all rows that depend on each other. By default one such as ``doc_id``.
        edited: labels of texts that were edited. By default they are known by names such as ``edited``.
        exclude: labels whose rows are left out.
        config: configuration of a dataset of the Hub.
        expected: checks that read what the labels are about, so that they are no cue; ``words`` stands for all that
            have no threshold in such data.
        format_name: format of files, as ``--format`` has it. By default it is detected.
        encoding: of text files, as Python calls it.
        name: name of the data in the report.
        task_type: what a row is, as ``--task-type`` has it. By default that of pairs of texts is guessed.
        jobs: with 2 or more, checks and solvers run in two processes.

    Raises:
        UnreadableDataError: the columns cannot be detected, or there are no rows.
    """
    with python_messages():
        if isinstance(data, Config | AuditInput):
            rows = data if isinstance(data, AuditInput) else from_config(data)
            return with_rows(judged([audit(rows)])[0], rows)
        splits = data if isinstance(data, Mapping) else {"test": data}
        if any(isinstance(rows, Config) for rows in splits.values()):
            raise UnreadableDataError("a mapping of configs; release.audit() gives the audit of each")
        reading = reading_of(
            text=_names(text), choices=_names(choices), label=label, pair=pair, split=_names(split),
            exclude=_names(exclude), config=config, format_name=format_name, encoding=encoding, group=group,
            edited=_names(edited), task_type=task_type,
        )  # fmt: skip
        paths = [data] if isinstance(data, str | Path) else data
        if isinstance(paths, list | tuple) and paths and all(isinstance(path, str | Path) for path in paths):
            read, skipped = read_all([str(path) for path in paths], Path(), reading)
            if len(read) > 1:
                names = ", ".join(dataset.name for dataset in read)
                raise UnreadableDataError(f"{len(read)} datasets ({names}); audit them one by one")
        else:
            if all(hasattr(rows, "features") for rows in splits.values()):
                read, skipped = read_dataset(name, splits, reading)
            else:
                frames, classes = {split: _frame(rows) for split, rows in splits.items()}, dict[str, tuple[str, ...]]()
                if own_shape(next(iter(frames.values()))):
                    classes = _classes(next(iter(splits.values())))
                read, skipped = read_frames(name, frames, classes, reading)
            _check_excluded(read, reading)
        report = reports(read, jobs, silent, _names(expected))[0]
        notes = tuple(f"not read: {source.name}: {source.reason}" for source in skipped)
        return with_rows(msgspec.structs.replace(report, notes=(*report.notes, *notes)), read[0])


def _classes(rows: Any) -> dict[str, tuple[str, ...]]:
    """The categories of the columns of a table of pandas or polars, in their order."""
    if isinstance(rows, pl.DataFrame | pl.LazyFrame):
        of_polars = rows.collect_schema().items()
        return {column: tuple(kind.categories) for column, kind in of_polars if isinstance(kind, pl.Enum)}
    of_pandas = getattr(rows, "dtypes", {}).items()
    return {str(column): tuple(map(str, kind.categories)) for column, kind in of_pandas if hasattr(kind, "categories")}


def _frame(rows: Any) -> pl.DataFrame:
    """A table, or rows that may be given once only, as a data frame.

    Raises:
        UnreadableDataError: they are no rows.
    """
    if rows is None:
        raise UnreadableDataError("None is no data; give a frame, a dataset, rows, or the path of files")
    try:
        if hasattr(rows, "features"):
            import datasets

            rows = rows.with_format("arrow")[:] if isinstance(rows, datasets.Dataset) else [*rows]
        if isinstance(rows, pl.LazyFrame):
            rows = rows.collect()
        if not hasattr(rows, "columns") and not isinstance(rows, Mapping | list):
            rows = [*rows]
        frame = pl.DataFrame(rows, infer_schema_length=None, strict=False)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        for column in rows.columns if hasattr(rows, "dtypes") else ():
            if len(kinds := sorted({type(value).__name__ for value in rows[column].dropna()})) > 1:
                remedy = f"give one type, such as frame.astype({{'{column}': str}})"
                raise UnreadableDataError(f"column '{column}' holds {' and '.join(kinds)}; {remedy}") from error
        raise UnreadableDataError(f"no table, and no rows that are mappings: {first_line(error)}") from error
    return frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def _names(columns: str | Sequence[str]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)
