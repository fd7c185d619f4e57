"""Compares the scores of models that are saved in a folder: a page, plots, and metadata for the cards of models."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from discoprobe.cards.metadata.benchmark import FRAMEWORK, results_file
from discoprobe.cards.text.plots import heat_map
from discoprobe.cards.text.templating import interval, render
from discoprobe.evaluation.scores import Evaluation, RowScores, path_of, read_saved
from discoprobe.loaders.files import write_atomically

Shares = npt.NDArray[np.float64]
Similarity = dict[tuple[str, str], float]
"""Names of two layers → their similarity, 0 to 1."""


def write_comparison(folder: Path, repo: str) -> Path | None:
    """Writes ``README.md``, heat maps, and per model the metadata of its scores, from all scores in a folder.

    ``MODEL/.eval_results/REPO.yaml`` are the scores as the Hub shows them, if they are in the repository of the model.

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
        (one, other.rows, _short_name(other.model))
        for by_model in of_config.values()
        for one, other in itertools.combinations([by_model[model] for model in models if model in by_model], 2)
        if (one.best.layer is None) == (other.best.layer is None)  # probes with probes
    ]
    compared = {
        "Models against the strongest shortcut": [
            (each, each.shortcut_rows, f"shortcut {each.shortcut}") for each in read if each.shortcut_rows
        ],
        "Models against people": [(each, each.readers, "people") for each in read if each.readers],
        "Models against each other": pairs,
    }
    comparisons: dict[str, list[dict[str, Any]]] = {
        title: [
            {
                "config": one.config, "first": _short_name(one.model), "second": name, "difference": difference,
                "low": low, "high": high, "n": n, "excludes_zero": low > 0 or high < 0,
            }
            for one, rows, name in of_title
            if (measured := difference_of(one.rows, rows, len(of_title)))
            for difference, low, high, n in [measured]
        ]
        for title, of_title in compared.items()
    }  # fmt: skip
    against_shortcut = comparisons["Models against the strongest shortcut"]
    above = {(each["config"], each["first"]) for each in against_shortcut if each["low"] > 0}
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
        if text := results_of(model, scored, repo):
            (path := folder / name / results_file(repo)).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text.encode())
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
        cells = []
        for evaluation in map(by_model.get, models):
            mark = ""
            if evaluation and evaluation.best.interval[0] <= evaluation.majority:
                mark = " -"
            elif evaluation and (config, _short_name(evaluation.model)) in above:
                mark = " +"
            cells.append(f"{evaluation.best.accuracy:.3f}{mark}" if evaluation else "")
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
                measured = similarities(first, second)
                if measured is None:
                    continue
                for path, measure, values in zip(drawn, ("linear CKA", "maxcorr"), measured, strict=True):
                    svg = heat_map(f"{config.name}, {names.replace('-', ' against ')}: {measure}", values)
                    write_atomically(path, svg.encode())
            plots += [(path.relative_to(folder).as_posix(), f"{config.name}, {names}") for path in drawn]
    return plots


def results_of(model: str, scored: Sequence[Evaluation], repo: str) -> str:
    """The scores of the probes of a model as the Hub reads them in its repository; empty if there are none.

    A task is the config; the value is the accuracy on test, from 0 to 1.
    """
    entries = [
        {
            "dataset": {"id": repo, "task_id": each.config}, "value": round(each.best.accuracy, 6),
            "evaluation_framework": FRAMEWORK,
            "notes": f"accuracy of a linear probe ({each.best.where}), 95 % interval {interval(each.best.interval)}; "
            f"majority baseline {each.majority:.3f}; {each.train_rows:,} training rows; model {each.commit[:12]}",
        }
        for each in sorted(scored, key=lambda each: each.config)
        if each.model == model and each.best.layer is not None
    ]  # fmt: skip
    return yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=2**20) if entries else ""


def difference_of(first: RowScores, second: RowScores, tries: int = 1) -> tuple[float, float, float, int] | None:
    """How much more accurate one is than another over the rows of both; None if these are in fewer than two groups.

    The variance is that of the sums over groups (cluster-robust; Liang & Zeger 1986), the quantile that of Student's t
    with one degree of freedom less than there are groups.

    Args:
        first: what a model got right of a config.
        second: what another model (or a shortcut, or people) got right of it.
        tries: number of comparisons for which the 95 % interval holds together (Bonferroni).

    Returns:
        The difference, both ends of its interval, and the number of rows.
    """
    from scipy import stats  # noqa: PLC0415 (takes a second)

    others = dict(zip(second.ids, second.correct, strict=True))
    shared = [
        (group, correct - others[row])
        for row, group, correct in zip(first.ids, first.groups, first.correct, strict=True)
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
    return mean, mean - off, mean + off, len(values)


def similarities(first: Path, second: Path) -> tuple[Similarity, Similarity] | None:
    """How similar each layer of a model is to each of another one (or of the same), by the vectors of the same texts.

    Args:
        first: a file that `probes.evaluate` saved.
        second: that of the other model.

    Returns:
        Linear CKA (Kornblith et al. 2019) and maxcorr (Bau et al. 2019); None if the texts are not the same.
    """
    with np.load(first) as one, np.load(second) as other:
        if not np.array_equal(one["keys"], other["keys"]):
            return None
        layers = [{name: read[name].astype(np.float64) for name in read.files if name != "keys"}
                  for read in (one, other)]  # fmt: skip
    pairs = list(itertools.product(*layers))
    cka = {(one, other): linear_cka(layers[0][one], layers[1][other]) for one, other in pairs}
    return cka, {(one, other): maxcorr(layers[0][one], layers[1][other]) for one, other in pairs}


def linear_cka(first: Shares, second: Shares) -> float:
    """Linear centered kernel alignment of vectors of the same texts, shapes (texts, dimensions); 0 if one is constant.

    It does not change if vectors are rotated or scaled (Kornblith et al. 2019).
    """
    first, second = (values - values.mean(axis=0) for values in (first, second))
    shared = np.linalg.norm(second.T @ first) ** 2
    norm = np.linalg.norm(first.T @ first) * np.linalg.norm(second.T @ second)
    return float(shared / norm) if norm else 0.0


def maxcorr(first: Shares, second: Shares) -> float:
    """The largest absolute correlation of each neuron with a neuron of the other layer, mean over neurons of the first.

    Neurons that are constant correlate with none (Bau et al. 2019).
    """
    scaled = []
    for values in (first, second):
        centred = values - values.mean(axis=0)
        norm = np.linalg.norm(centred, axis=0)
        scaled.append(centred / np.where(norm > 0, norm, np.inf))
    return float(np.abs(scaled[0].T @ scaled[1]).max(axis=1).mean())


def _short_name(model: str) -> str:
    return "/".join(Path(model).parts[-2:]) if not Path(model).is_absolute() else Path(model).name
