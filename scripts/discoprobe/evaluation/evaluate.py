"""Evaluates models on configs of a release, or on any dataset that the audit reads."""

import dataclasses
import functools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from discoprobe.auditing import read_all
from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.inputs.data_files import Reading
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import tasks_named
from discoprobe.cards.metadata import manifest
from discoprobe.evaluation import probes, surprisal
from discoprobe.evaluation.models import (
    FORMAT,
    Evaluation,
    FoundModel,
    LanguageModel,
    bound_threads,
    find_model,
    load_model,
    saved,
)
from discoprobe.loaders.errors import DiscoprobeError, UnsupportedError, UsageError, first_line
from discoprobe.loaders.files import hash_of_json, hashes_of
from discoprobe.loaders.process_pool import Progress, process_pool

_log = logging.getLogger(__name__)

SCORING: Final = "scoring rows"
"""The step whose progress is reported: rows of all configs that are not scored yet, for all models."""
_SHARES: Final = {"encoding": (0.0, 0.5), "training probes": (0.5, 0.4), "surprisal": (0.0, 1.0)}
"""Step of a config → the share of its time before it, and its own share."""


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """What a user asks of `build probe`.

    Attributes:
        langs: codes of the languages whose configs are scored; empty for all.
        tasks: names or groups of tasks; empty for all.
        by_surprisal: compare the probabilities that a causal model gives, wherever rows are pairs or choices.
        train_rows: most training rows of a probe.
        controls: whether to compute `Controls`.
        device: where torch computes; ``auto`` is a GPU if there is one.
        batch_size: most texts in a batch.
        jobs: number of threads of torch, and of processes that train probes.
        trust_remote_code: whether code of a model's repository may be run.
        save: folder of the scores; None saves nothing.
    """

    langs: Sequence[str] = ()
    tasks: Sequence[str] = ()
    by_surprisal: bool = False
    train_rows: int = 10_000
    controls: bool = True
    device: str = "auto"
    batch_size: int = 64
    jobs: int = 1
    trust_remote_code: bool = False
    save: Path | None = None


class Misfit(NamedTuple):
    """A config on which a model cannot be scored, and why."""

    config: str
    model: str
    reason: str


class _Dataset(NamedTuple):
    """A dataset that is read when it is needed: its entry in the manifest, the hash of its rows, and their number."""

    name: str
    read: Callable[[], AuditInput]
    entry: Any
    content: str
    n_rows: int


def evaluations(
    names: Sequence[str], out: Path, models: Sequence[str], options: ProbeOptions, progress: Progress
) -> Iterator[Evaluation | Misfit]:
    """The scores of each model on each dataset, as soon as they are known, or why there are none.

    Scores that an earlier run saved for the same rows, weights and options are not computed again. All models are
    looked for before anything is computed.

    Args:
        names: configs of the release folder ``out``, paths, or Hub ids; all configs of ``out`` if empty.
        out: a release folder.
        models: folders or Hub ids of models of transformers.
        options: which configs, and how.
        progress: called with the number of rows that are scored.

    Raises:
        DiscoprobeError: a model or dataset that was named cannot be used.
    """
    found = [find_model(name, options.device, trust_remote_code=options.trust_remote_code) for name in models]
    bound_threads(options.jobs)
    datasets, misfits = _datasets(names, out, options)
    for config, reason in misfits.items():
        yield Misfit(config, "", reason)
    work = [(model, dataset, _key(model, dataset, options)) for model in found for dataset in datasets]
    before = [
        saved(options.save, dataset.name, model.name, key) if options.save else None for model, dataset, key in work
    ]
    total = sum(dataset.n_rows for (_, dataset, _), evaluation in zip(work, before, strict=True) if not evaluation)
    done, loaded = 0, None
    with process_pool(options.jobs) as executor:
        for (model, dataset, key), evaluation in zip(work, before, strict=True):
            if evaluation:
                yield evaluation
                continue

            def within(step: str, part: int, whole: int, done: int = done, n_rows: int = dataset.n_rows) -> None:
                start, share = _SHARES[step]
                progress(SCORING, done + round(n_rows * (start + share * part / whole)), total)

            try:
                data = dataset.read()
                by_surprisal = options.by_surprisal or data.splits == SPLITS[-1:]
                if by_surprisal and (reason := surprisal.misfit(data, has_head=model.has_head)):
                    raise UnsupportedError(reason)
                if loaded is None or loaded.source is not model:
                    loaded = None  # frees the memory of the model before
                    loaded = load_model(model, batch_size=options.batch_size)
                loaded.read_language(dataset.entry["lang"] if dataset.entry else "")
                scored = _evaluate(data, loaded, within, options, executor, by_surprisal=by_surprisal)
            except Exception as error:  # noqa: BLE001 (a model of others that fails must not end the run)
                _log.info("%s, %s", model.name, dataset.name, exc_info=error)
                reason = str(error) if isinstance(error, DiscoprobeError) else first_line(error)
                yield Misfit(dataset.name, model.name, reason.removeprefix(f"{dataset.name}: "))
            else:
                audit = dataset.entry["audit"] if dataset.entry else None
                if audit:
                    scored = dataclasses.replace(
                        scored, shortcut=audit["strongest"], shortcut_accuracy=audit["accuracy"]
                    )
                scored = dataclasses.replace(scored, key=key)
                if options.save:
                    scored.save(options.save)
                yield scored
            done += dataset.n_rows
            progress(SCORING, done, total)


def _evaluate(  # noqa: PLR0913 (what `evaluations` has at hand)
    data: AuditInput, model: LanguageModel, progress: Progress, options: ProbeOptions, executor: Any,
    *, by_surprisal: bool,
) -> Evaluation:  # fmt: skip
    if by_surprisal:
        return surprisal.evaluate(data, model, progress)
    return probes.evaluate(
        data, model, progress, train_rows=options.train_rows, controls=options.controls, executor=executor
    )


def _key(model: FoundModel, dataset: _Dataset, options: ProbeOptions) -> str:
    """The hash of everything on which scores depend."""
    how = [options.by_surprisal, options.train_rows, options.controls]
    return hash_of_json([FORMAT, model.name, model.content, dataset.content, how])


def _datasets(names: Sequence[str], out: Path, options: ProbeOptions) -> tuple[list[_Dataset], dict[str, str]]:
    """The datasets to score, and why others cannot be read: those with the names, or the configs of a release.

    Raises:
        UsageError: languages or tasks are chosen where there is no release, or the release has none of them.
    """
    configs = manifest.read(out)["configs"] if (out / manifest.NAME).is_file() else {}
    if names:
        read = read_all(names, out, Reading())
        datasets = [
            _Dataset(data.name, functools.partial(_itself, data), configs.get(data.name), _content(data), n_rows)
            for data in read.data
            for n_rows in [_n_rows(data.counts, options)]
        ]
        return datasets, {skipped.name: skipped.reason for skipped in read.skipped}
    if not configs:
        raise UsageError(f"{out} is no release folder; give --out, or name the data")
    in_release = {entry["task"] for entry in configs.values()}  # imported datasets are no tasks of discoprobe
    tasks = in_release & set(options.tasks)
    tasks |= {task.name for task in tasks_named([name for name in options.tasks if name not in in_release])}
    datasets = []
    for name, entry in sorted(configs.items()):
        if (options.langs and entry["lang"] not in options.langs) or (options.tasks and entry["task"] not in tasks):
            continue
        counts = {split: sum(of_label.values()) for split, of_label in entry["counts"].items()}
        n_rows = _n_rows(counts, options)
        content = hash_of_json(dict(entry["content"]))
        datasets.append(_Dataset(name, functools.partial(_read_config, name, out), entry, content, n_rows))
    if not datasets:
        raise UsageError(f"{out} has no config of these languages and tasks")
    return datasets, {}


def _read_config(name: str, out: Path) -> AuditInput:
    return read_all([name], out, Reading()).data[0]


def _itself(data: AuditInput) -> AuditInput:
    return data


def _n_rows(counts: Mapping[str, int], options: ProbeOptions) -> int:
    """The number of rows that are scored: of train, those that a probe uses."""
    return sum(min(n, options.train_rows) if split == SPLITS[0] else n for split, n in counts.items())


def _content(data: AuditInput) -> str:
    """Hash of the rows of a dataset."""
    return hashes_of(data.rows.drop("metadata").write_ndjson().encode(), with_git=False).sha256
