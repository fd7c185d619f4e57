"""Evaluates models on configs of a release, or on any dataset that the audit reads, and compares their scores.

`evaluations` gives scores one by one. `write_comparison` puts all that are saved in a folder on one page.
"""

import functools
import itertools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import huggingface_hub
import msgspec
import numpy as np
import polars as pl

from discoprobe.auditing import read_all
from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.inputs.data_files import Reading
from discoprobe.builders.audit.run import score_of_solver
from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import tasks_named
from discoprobe.cards.metadata import manifest
from discoprobe.cards.readers import Mark, marks_file, read_marks
from discoprobe.cards.release.rows import accuracy_of_people
from discoprobe.cards.text.plots import heat_map
from discoprobe.cards.text.templating import render
from discoprobe.evaluation import probes, surprisal
from discoprobe.evaluation.models import (
    FORMAT,
    Evaluation,
    FoundModel,
    LanguageModel,
    RowScores,
    bound_threads,
    find_model,
    load_model,
    path_of,
    read_saved,
)
from discoprobe.loaders.errors import DiscoprobeError, UnsupportedError, UsageError, first_line
from discoprobe.loaders.files import cache_folder, hash_of_json, hashes_of, write_atomically
from discoprobe.loaders.process_pool import Progress, process_pool

_log = logging.getLogger(__name__)

SCORING: Final = "scoring rows"
"""The step whose progress is reported: rows of all configs that are not scored yet, for all models."""
_SHARES: Final = {"encoding": (0.0, 0.5), "training probes": (0.5, 0.4), "surprisal": (0.0, 1.0)}
"""Step of a config → the share of its time before it, and its own share."""


class ProbeOptions(msgspec.Struct, frozen=True):
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
        cache: most bytes of the cache of vectors; 0 for none.
        analyse_layers: find top neurons, and save vectors by which layers are compared.
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
    cache: int = 10 * 10**9
    analyse_layers: bool = False


class Misfit(msgspec.Struct, frozen=True):
    """A config on which a model cannot be scored, and why."""

    config: str
    model: str
    reason: str


class _Dataset(msgspec.Struct, frozen=True):
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
        DiscoprobeError: a model or dataset that was named cannot be used, or two models have one name.
    """
    found_models = [find_model(name, options.device, trust_remote_code=options.trust_remote_code) for name in models]
    names_of_files = [path_of(Path(), "", name) for name in models]
    if len(set(names_of_files)) < len(models):
        raise UsageError("two models have the same name: their scores would be in one file")
    bound_threads(options.jobs)
    datasets, misfits = _datasets(names, out, options)
    for config, reason in misfits.items():
        yield Misfit(config, "", reason)
    work = [(model, dataset, _key(model, dataset, options)) for model in found_models for dataset in datasets]
    before = [_before(options.save, model, dataset, key) for model, dataset, key in work]
    total = sum(dataset.n_rows for (_, dataset, _), evaluation in zip(work, before, strict=True) if not evaluation)
    marks = read_marks(marks_file(out))
    shortcuts: dict[str, tuple[str | None, float | None, Mapping[str, float]]] = {}
    done, loaded = 0, None
    with process_pool(options.jobs) as executor:
        for (model, dataset, key), evaluation in zip(work, before, strict=True):
            if evaluation:
                with_readers = _with_readers(evaluation, dataset, out, marks)
                if options.save and with_readers != evaluation:
                    with_readers.save(options.save)
                yield with_readers
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
                loaded.read_language(dataset.entry.lang if dataset.entry else "")
                scored = _evaluate(data, loaded, within, options, executor, by_surprisal=by_surprisal)
            except Exception as error:  # noqa: BLE001 (a model of others that fails must not end the run)
                _log.info("%s, %s", model.name, dataset.name, exc_info=error)
                reason = str(error) if isinstance(error, DiscoprobeError) else first_line(error)
                yield Misfit(dataset.name, model.name, reason.removeprefix(f"{dataset.name}: "))
            else:
                if dataset.name not in shortcuts:
                    shortcuts[dataset.name] = _shortcut(data, dataset.entry)
                shortcut, accuracy, correct = shortcuts[dataset.name]
                scored = msgspec.structs.replace(
                    scored, shortcut=shortcut, shortcut_accuracy=accuracy,
                    shortcut_rows=_same_rows(scored, data, correct),
                )  # fmt: skip
                scored = _with_readers(scored, dataset, out, marks)
                scored = msgspec.structs.replace(scored, key=key)
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
    cache = probes.VectorCache(cache_folder() / "vectors", options.cache) if options.cache else None
    layers = path_of(options.save, data.name, model.name) if options.save and options.analyse_layers else None
    return probes.evaluate(
        data, model, progress, train_rows=options.train_rows, controls=options.controls, executor=executor, cache=cache,
        layers_file=layers and layers.with_suffix(".npz"),
    )  # fmt: skip


def _shortcut(data: AuditInput, entry: Any) -> tuple[str | None, float | None, Mapping[str, float]]:
    """The strongest shortcut of the audit, its accuracy there, and the probability that it is right, by row."""
    audit = entry.audit if entry else None
    if not audit or not audit.strongest:
        return None, None, {}
    score = score_of_solver(data, audit.strongest)
    correct = dict(zip(score.ids.tolist(), score.correct.tolist(), strict=True)) if score else {}
    # a solver of pairs names one row of each, and its answer is that of both
    value = pl.col("id").replace_strict(correct, default=None, return_dtype=pl.Float64)
    of_pair = pl.when(pl.col("pair_id").is_not_null()).then(value.mean().over("pair_id"))
    rows = data.rows.select("id", correct=pl.coalesce(value, of_pair)).drop_nulls()
    return audit.strongest, audit.accuracy, dict(rows.iter_rows())


def _with_readers(scored: Evaluation, dataset: _Dataset, out: Path, marks: Sequence[Mark]) -> Evaluation:
    """Adds what people who read the release got right, as it is now."""
    correct = {}
    if dataset.entry and any(mark.config == dataset.name for mark in marks):
        correct = accuracy_of_people(out, dataset.name, dataset.entry, marks)
    readers = _same_rows(scored, dataset.read(), correct) if correct else None
    return msgspec.structs.replace(scored, readers=readers)


def _same_rows(scored: Evaluation, data: AuditInput, correct: Mapping[str, float]) -> RowScores | None:
    """What is right of the rows, or pairs, of an evaluation, by row; None if nothing is known of them.

    A pair has the mean over its rows. Items have several pairs, so a share of them says nothing of the item.
    """
    by_pair = scored.best.layer is None and data.shape is not Shape.CHOICE
    test = data.split("test").select("id", key="pair_id" if by_pair else "id")
    joined = test.join(
        pl.DataFrame(
            {"id": list(correct), "correct": list(correct.values())}, {"id": pl.String, "correct": pl.Float64}
        ),
        on="id",
    )
    values = dict(joined.group_by("key").agg(pl.col("correct").mean()).iter_rows())
    rows = [
        (row, group, values[row])
        for row, group in zip(scored.rows.ids, scored.rows.groups, strict=True)
        if row in values
    ]
    return RowScores(*zip(*rows, strict=True)) if rows else None


def _before(folder: Path | None, model: FoundModel, dataset: _Dataset, key: str) -> Evaluation | None:
    """The scores that an earlier run saved; None if there are none, or those of other rows, weights or options."""
    evaluation = read_saved(path_of(folder, dataset.name, model.name)) if folder else None
    return evaluation if evaluation and evaluation.key == key else None


def _key(model: FoundModel, dataset: _Dataset, options: ProbeOptions) -> str:
    """The hash of everything on which scores depend."""
    how = [options.by_surprisal, options.train_rows, options.controls, options.analyse_layers]
    return hash_of_json([FORMAT, model.name, model.content, dataset.content, how])


def _datasets(names: Sequence[str], out: Path, options: ProbeOptions) -> tuple[list[_Dataset], dict[str, str]]:
    """The datasets to score, and why others cannot be read: those with the names, or the configs of a release.

    Raises:
        UsageError: languages or tasks are chosen where there is no release, or the release has none of them.
    """
    configs = manifest.read(out).configs if (out / manifest.NAME).is_file() else {}
    if names:
        read, skipped = read_all(names, out, Reading())
        datasets = [
            _Dataset(data.name, lambda data=data: data, configs.get(data.name), content.sha256, n_rows)  # type: ignore[misc]
            for data in read
            for n_rows in [_n_rows(data.counts, options)]
            for content in [hashes_of(data.rows.drop("metadata").write_ndjson().encode(), with_git=False)]
        ]
        return datasets, {each.name: each.reason for each in skipped}
    if not configs:
        raise UsageError(f"{out} is no release folder; give --out, or name the data")
    in_release = {entry.task for entry in configs.values()}  # imported datasets are no tasks of discoprobe
    tasks = in_release & set(options.tasks)
    tasks |= {task.name for task in tasks_named([name for name in options.tasks if name not in in_release])}
    datasets = []
    for name, entry in sorted(configs.items()):
        if (options.langs and entry.lang not in options.langs) or (options.tasks and entry.task not in tasks):
            continue
        counts = {split: sum(of_label.values()) for split, of_label in entry.counts.items()}
        n_rows = _n_rows(counts, options)
        content = hash_of_json(dict(entry.content))
        datasets.append(_Dataset(name, functools.partial(_read_config, name, out), entry, content, n_rows))
    if not datasets:
        raise UsageError(f"{out} has no config of these languages and tasks")
    return datasets, {}


def _read_config(name: str, out: Path) -> AuditInput:
    (data,), _ = read_all([name], out, Reading())
    return data


def _n_rows(counts: Mapping[str, int], options: ProbeOptions) -> int:
    """The number of rows that are scored: of train, those that a probe uses."""
    return sum(min(n, options.train_rows) if split == SPLITS[0] else n for split, n in counts.items())


class AccuracyDifference(msgspec.Struct, frozen=True):
    """How much more accurate a model is than another one (or a shortcut, or readers) on the same rows of a config."""

    config: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    n: int

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval does."""
        return self.low > 0 or self.high < 0


def difference_of(
    first: Evaluation, second: Evaluation | tuple[RowScores, str], tries: int = 1
) -> AccuracyDifference | None:
    """The difference of accuracy over the rows that both have; None if they are in fewer than two groups.

    The variance is that of the sums over groups (cluster-robust; Liang & Zeger 1986), the quantile that of Student's t
    with one degree of freedom less than there are groups.

    Args:
        first: scores on a config.
        second: scores of another model on the same config, or what something else got right, and its name.
        tries: number of comparisons for which the 95 % interval holds together (Bonferroni).
    """
    from scipy import stats  # noqa: PLC0415 (takes a second)

    rows, name = (second.rows, _short_name(second.model)) if isinstance(second, Evaluation) else second
    others = dict(zip(rows.ids, rows.correct, strict=True))
    shared = [
        (group, correct - others[row])
        for row, group, correct in zip(first.rows.ids, first.rows.groups, first.rows.correct, strict=True)
        if row in others
    ]
    groups, number = np.unique([group for group, _ in shared], return_inverse=True)
    if len(groups) < 2:  # noqa: PLR2004
        return None
    values = np.array([value for _, value in shared])
    mean = float(values.mean())
    sums = np.bincount(number, weights=values - mean)
    error = np.sqrt(len(groups) / (len(groups) - 1) * (sums**2).sum()) / len(values)
    off = float(stats.t.ppf(1 - 0.025 / tries, len(groups) - 1) * error)
    return AccuracyDifference(
        first.config, _short_name(first.model), name, mean, mean - off, mean + off, len(values)
    )  # fmt: skip


def _short_name(model: str) -> str:
    return "/".join(Path(model).parts[-2:]) if not Path(model).is_absolute() else Path(model).name


def write_comparison(folder: Path, repo: str) -> Path | None:
    """Writes ``README.md``, heat maps, and per model the metadata of its scores, from all scores in a folder.

    ``MODEL.yaml`` is a ``model-index``, which the Hub shows on the page of a model if it is part of its card.

    Args:
        folder: of `build probe`.
        repo: the dataset on the Hub, for the metadata.

    Returns:
        The page, or None if there are no scores.
    """
    read = [evaluation for path in sorted(folder.glob("*/*.json")) if (evaluation := read_saved(path))]
    if not read:
        return None
    models = sorted({each.model for each in read})
    of_config: dict[str, dict[str, Evaluation]] = {}
    for each in read:
        of_config.setdefault(each.config, {})[each.model] = each
    pairs = [
        pair
        for by_model in of_config.values()
        for pair in itertools.combinations([by_model[model] for model in models if model in by_model], 2)
        if (pair[0].best.layer is None) == (pair[1].best.layer is None)  # probes with probes
    ]
    compared: dict[str, Sequence[tuple[Evaluation, Evaluation | tuple[RowScores, str]]]] = {
        "Models against the strongest shortcut": [
            (each, (each.shortcut_rows, f"shortcut {each.shortcut}")) for each in read if each.shortcut_rows
        ],
        "Models against people": [(each, (each.readers, "people")) for each in read if each.readers],
        "Models against each other": pairs,
    }
    comparisons = {
        title: [difference for pair in pairs if (difference := difference_of(*pair, len(pairs)))]
        for title, pairs in compared.items()
    }
    above = {(each.config, each.first) for each in comparisons["Models against the strongest shortcut"] if each.low > 0}
    lines = []
    for model in models:
        scored = [each for each in read if each.model == model]
        name = path_of(folder, "", model).stem
        gains = {}
        for each in scored:
            task, _, lang = each.config.rpartition("_")
            gains[task, lang] = (each.best.accuracy - each.majority) / max(1e-9, 1 - each.majority)
        svg = heat_map(f"{_short_name(model)}: share of the possible gain", gains)
        write_atomically(folder / f"{name}.svg", svg.encode())
        write_atomically(folder / f"{name}.yaml", _model_index(model, scored, repo).encode())
        neurons = {
            (each.config, f"{layer:02d}"): share
            for each in scored
            if each.neurons
            for layer, share in enumerate(each.neurons.by_layer)
        }
        if neurons:
            svg = heat_map(f"{_short_name(model)}: share of the top neurons by layer", neurons)
            write_atomically(folder / f"{name}.neurons.svg", svg.encode())
        with_shortcut = [each for each in scored if each.shortcut_rows]
        lines.append({
            "name": _short_name(model), "configs": len(scored), "heat_map": f"{name}.svg",
            "neurons": f"{name}.neurons.svg" if neurons else "",
            "above_chance": sum(each.best.interval[0] > each.majority for each in scored),
            "above_shortcut": sum((each.config, _short_name(model)) in above for each in scored),
            "with_shortcut": len(with_shortcut),
        })  # fmt: skip
    rows = []
    for config, by_model in sorted(of_config.items()):
        first = next(iter(by_model.values()))
        cells = [
            _cell(by_model.get(model), is_above_shortcut=(config, _short_name(model)) in above) for model in models
        ]
        rows.append({
            "config": config, "majority": first.majority, "shortcut": first.shortcut_accuracy, "cells": cells,
            "people": np.mean(first.readers.correct) if first.readers else None,
        })  # fmt: skip
    layers = [
        (path.relative_to(folder).as_posix(), str(path.parent.name))
        for path in sorted(folder.glob("*/*.svg"))
        if path.with_suffix(".json").is_file()
    ]
    page = render(
        "scores.md", n_configs=len(of_config), models=lines, rows=rows, layers=layers,
        parts=_parts_of_suites(of_config, models), similar=_write_similarities(folder), comparisons=comparisons,
    )  # fmt: skip
    write_atomically(folder / "README.md", page.encode())
    return folder / "README.md"


def _parts_of_suites(of_config: Mapping[str, Mapping[str, Evaluation]], models: Sequence[str]) -> list[dict[str, Any]]:
    """The accuracy of each model on each part of the suites; None where a model has none."""
    of_part: dict[tuple[str, str, int], dict[str, float]] = {}
    for config, by_model in sorted(of_config.items()):
        for model, evaluation in by_model.items():
            for part in evaluation.conditions:
                of_part.setdefault((config, part.condition, part.n), {})[model] = part.accuracy
    return [
        {"config": config, "part": part, "n": n, "accuracies": [of_model.get(model) for model in models]}
        for (config, part, n), of_model in of_part.items()
    ]


def _write_similarities(folder: Path) -> list[tuple[str, str]]:
    """Draws how similar the layers of every two models are, and those within a model; path and name of each plot."""
    plots = []
    for config in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(config.glob("*.npz"))
        for first, second in itertools.combinations_with_replacement(files, 2):
            names = first.stem if first == second else f"{first.stem}-{second.stem}"
            drawn = [config / f"{names}.{measure}.svg" for measure in ("cka", "maxcorr")]
            newest = max(first.stat().st_mtime, second.stat().st_mtime)
            if not all(path.is_file() and path.stat().st_mtime > newest for path in drawn):
                measured = probes.similarities(first, second)
                if measured is None:
                    continue
                for path, measure, values in zip(drawn, ("linear CKA", "maxcorr"), measured, strict=True):
                    svg = heat_map(f"{config.name}, {names.replace('-', ' against ')}: {measure}", values)
                    write_atomically(path, svg.encode())
            plots += [(path.relative_to(folder).as_posix(), f"{config.name}, {names}") for path in drawn]
    return plots


def _cell(evaluation: Evaluation | None, *, is_above_shortcut: bool) -> str:
    """The accuracy of a model in the table, and whether it is above the shortcut, or not above chance."""
    if evaluation is None:
        return ""
    is_chance = evaluation.best.interval[0] <= evaluation.majority
    mark = " -" if is_chance else " +" if is_above_shortcut else ""
    return f"{evaluation.best.accuracy:.3f}{mark}"


def _model_index(model: str, scored: Sequence[Evaluation], repo: str) -> str:
    """The scores of a model as the Hub reads them in the metadata of a model card."""
    results = []
    for each in scored:
        how = "Surprisal" if each.best.layer is None else "Linear probe"
        about: dict[str, Any] = {
            "task_type": "text-classification", "task_name": f"{how}: {each.best.where}", "dataset_type": repo,
            "dataset_name": each.config, "dataset_config": each.config, "dataset_split": SPLITS[-1],
        }  # fmt: skip
        values = {"accuracy": each.best.accuracy, "f1": each.best.macro_f1, "pearson": each.best.pearson}
        results += [
            huggingface_hub.EvalResult(**about, metric_type=metric, metric_name=metric, metric_value=round(value, 6))
            for metric, value in values.items()
            if value is not None
        ]
    return str(huggingface_hub.ModelCardData(model_name=_short_name(model), eval_results=results).to_yaml()) + "\n"
