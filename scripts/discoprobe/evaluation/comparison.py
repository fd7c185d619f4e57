"""Compares the scores of models that are saved in a folder: a page, plots, and metadata for the cards of models."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
import yaml

from discoprobe.builders.audit.intervals import Interval
from discoprobe.cards.metadata.benchmark import FRAMEWORK, results_file
from discoprobe.cards.text.plots import heat_map
from discoprobe.cards.text.templating import interval, render
from discoprobe.evaluation.scores import (
    Evaluation,
    ModelScore,
    RowScores,
    Selectivity,
    curves_of,
    mean_over_groups,
    path_of,
    read_saved,
    short_names,
)
from discoprobe.loaders.files import write_atomically

Shares = npt.NDArray[np.float64]
LEVEL: Final = 0.05
"""A difference is clear if its p value, with Holm's correction, is below this."""

Similarity = dict[tuple[str, str], float]
"""Names of two layers → their similarity, 0 to 1."""


class AccuracyDifference(msgspec.Struct, frozen=True):
    """How much more accurate one is than another over the same rows.

    Attributes:
        value: the difference of the accuracies.
        interval: its 95 % interval.
        p: two-sided p value; below .05 if the interval does not hold zero.
        n: number of rows.
    """

    value: float
    interval: Interval
    p: float
    n: int


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
    names = short_names(models)
    of_config: dict[str, dict[str, Evaluation]] = {}
    for each in read:
        of_config.setdefault(each.config, {})[each.model] = each
    pairs = [
        (one, other.rows, names[other.model])
        for by_model in of_config.values()
        for one, other in itertools.combinations([by_model[model] for model in models if model in by_model], 2)
        if (one.best.layer is None) == (other.best.layer is None)  # probes with probes
    ]
    compared = {
        "Models against the best cheap trick": [
            (each, each.shortcut_rows, f"shortcut {each.shortcut}") for each in read if each.shortcut_rows
        ],
        "Models against people": [(each, each.readers, "people") for each in read if each.readers],
        "Models against each other": pairs,
    }
    comparisons: dict[str, list[dict[str, Any]]] = {}
    for title, of_title in compared.items():
        measured = [(one, name, difference_of(one.rows, rows)) for one, rows, name in of_title]
        known = [(one, name, difference) for one, name, difference in measured if difference]
        comparisons[title] = [
            {
                "config": one.config, "first": names[one.model], "second": name, "difference": difference,
                "p": p, "is_clear": p < LEVEL,
            }
            for (one, name, difference), p in zip(known, holm([each.p for *_, each in known]), strict=True)
        ]  # fmt: skip
    against_shortcut = comparisons["Models against the best cheap trick"]
    above = {
        (each["config"], each["first"]) for each in against_shortcut
        if each["is_clear"] and each["difference"].value > 0
    }  # fmt: skip
    lines = []
    gains: dict[str, dict[tuple[str, str], float]] = {}
    for model in models:
        scored = [each for each in read if each.model == model]
        name = path_of(folder, "", model).stem
        gains[model] = {}
        for each in scored:
            task, _, lang = each.config.rpartition("_")
            gains[model][task, lang] = (each.best.accuracy - each.majority) / max(1e-9, 1 - each.majority)
        maps = {"": ("share of the possible gain", gains[model])} | _maps_of_layers(scored)
        for suffix, (title, values) in maps.items():
            svg = heat_map(f"{names[model]}: {title}", values)
            write_atomically(folder / f"{name}{suffix}.svg", svg.encode())
        if text := results_of(model, scored, repo):
            (path := folder / name / results_file(repo)).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text.encode())
        with_shortcut = [each for each in scored if each.shortcut_rows]
        lines.append({
            "name": names[model], "configs": len(scored), "heat_map": f"{name}.svg",
            "layers": [(f"{name}{suffix}.svg", title) for suffix, (title, _) in maps.items() if suffix],
            "above_chance": sum(each.best.interval[0] > each.majority for each in scored),
            "above_shortcut": sum((each.config, names[model]) in above for each in scored),
            "with_shortcut": len(with_shortcut),
        })  # fmt: skip
    languages = sorted({lang for of_model in gains.values() for _, lang in of_model})
    of_languages = {
        (names[model], lang): float(np.mean(of_lang))
        for model, of_model in gains.items()
        for lang in languages
        if (of_lang := [gain for (_, each), gain in of_model.items() if each == lang])
    }
    svg = heat_map("mean share of the possible gain", of_languages)
    write_atomically(folder / "languages.svg", svg.encode())
    rows = [_row(by_model, models, names, above) for _, by_model in sorted(of_config.items())]
    for config, by_model in of_config.items():
        curves = {names[each.model]: each for each in map(by_model.get, models) if each and each.best.layer is not None}
        if len(curves) > 1:
            write_atomically(path_of(folder, config, "layers").with_suffix(".svg"), _layers_of_models(curves).encode())
    layers = [
        (path.relative_to(folder).as_posix(), str(path.parent.name))
        for path in sorted(folder.glob("*/*.svg"), key=lambda path: (path.parent, path.stem != "layers", path))
        if path.with_suffix(".json").is_file() or path.stem == "layers"
    ]
    transfer = [
        {
            "model": names[each.model], "trained": each.config, "score": score,
            "own": of_config.get(score.condition, {}).get(each.model),
        }
        for each in read for score in each.transfer
    ]  # fmt: skip
    means = _all_means(of_config, models)
    write_atomically(folder / "scores.csv", _scores_csv(read, names).encode())
    write_atomically(folder / "layers.csv", _layers_csv(read, names).encode())
    write_atomically(folder / "differences.csv", _differences_csv(comparisons).encode())
    write_atomically(folder / "scores.tex", _latex(rows, [names[model] for model in models], means).encode())
    page = render(
        "scores.md", n_configs=len(of_config), models=lines, rows=rows, layers=layers,
        parts=_parts_of_suites(of_config, models), controls=_controls(read, names),
        similar=_write_similarities(folder), comparisons=comparisons, transfer=transfer, means=means,
        details=[(names[each.model], each) for each in read],
        prompts=[(names[each.model], each) for each in read if each.prompt],
    )  # fmt: skip
    write_atomically(folder / "README.md", page.encode())
    return folder / "README.md"


def _row(
    by_model: Mapping[str, Evaluation], models: Sequence[str], names: Mapping[str, str], above: set[tuple[str, str]]
) -> dict[str, Any]:
    """What the tables have of a config: baselines, and per model its evaluation (or None) and a mark."""
    first = next(iter(by_model.values()))
    cells = []
    for evaluation in map(by_model.get, models):
        mark = ""
        if evaluation and evaluation.best.interval[0] <= evaluation.majority:
            mark = "-"
        elif evaluation and (evaluation.config, names[evaluation.model]) in above:
            mark = "+"
        cells.append((evaluation.best if evaluation else None, mark))
    return {
        "config": first.config, "majority": first.majority, "shortcut": first.shortcut_accuracy, "floor": first.floor,
        "cells": cells,
        "people": float(np.mean(first.readers.correct)) if first.readers else None,
    }  # fmt: skip


def _all_means(of_config: Mapping[str, Mapping[str, Evaluation]], models: Sequence[str]) -> list[dict[str, Any]]:
    """The means (`_mean`) over all configs, and over those of each language and of each task with more than one."""
    shared = {name: by_model for name, by_model in sorted(of_config.items()) if len(by_model) == len(models)}
    means = [_mean("configs of all models", shared, models)] if shared else []
    for at, kind in ((-1, "language"), (0, "task")):
        parts = sorted({name.rpartition("_")[at] for name in shared})
        for part in parts if len(parts) > 1 else ():
            chosen = {name: by_model for name, by_model in shared.items() if name.rpartition("_")[at] == part}
            if len(chosen) > 1:
                means.append(_mean(f"{kind} {part}", chosen, models))
    return means


def _mean(name: str, of_config: Mapping[str, Mapping[str, Evaluation]], models: Sequence[str]) -> dict[str, Any]:
    """The mean accuracy of each model over configs that all models have, with its interval, and their number.

    The configs are all that are meant, and their rows are independent: the distance of an end of the interval from the
    mean is the root of the sum of squares of those of the configs, over their number (Zou & Donner 2008).
    """
    means = []
    for model in models:
        best = [by_model[model].best for by_model in of_config.values()]
        mean = float(np.mean([each.accuracy for each in best]))
        ends = np.array([each.interval for each in best]) - [[each.accuracy] for each in best]
        low, high = np.sqrt((ends**2).sum(axis=0)) / len(best)
        means.append((mean, (max(0.0, mean - float(low)), min(1.0, mean + float(high)))))
    return {"name": name, "n": len(of_config), "cells": means}


def _at_best(evaluation: Evaluation) -> list[ModelScore]:
    """The scores of all layers with the best part and pooling."""
    best = evaluation.best
    return [each for each in evaluation.scores if (each.part, each.method) == (best.part, best.method)]


def _layers_of_models(curves: Mapping[str, Evaluation]) -> str:
    """The plot of the accuracy of several models by layer, each with its best part and pooling."""
    first = next(iter(curves.values()))
    return curves_of(f"{first.config}: all models", {name: _at_best(each) for name, each in curves.items()}, first)


def _maps_of_layers(scored: Sequence[Evaluation]) -> dict[str, tuple[str, dict[tuple[str, str], float]]]:
    """The heat maps of a model by layer: end of the name of the file → title, and the values by config and layer."""
    probed = [each for each in scored if each.best.layer is not None and each.best.part != "sentence"]
    at_best = [(each.config, score) for each in probed for score in _at_best(each)]
    in_layers = {(config, f"{score.layer:02d}"): score.accuracy for config, score in at_best}
    maps = {
        ".layers": ("accuracy of the linear probe by layer", in_layers),
        ".mlp": ("accuracy of the MLP by layer",
                 {(config, f"{score.layer:02d}"): score.mlp for config, score in at_best if score.mlp is not None}),
        ".neurons": ("share of the top neurons by layer", {
            (each.config, f"{layer:02d}"): share
            for each in probed if each.neurons for layer, share in enumerate(each.neurons.by_layer)
            if (each.config, f"{layer:02d}") in in_layers
        }),
    }  # fmt: skip
    return {suffix: (title, values) for suffix, (title, values) in maps.items() if values}


def _layers_csv(read: Sequence[Evaluation], names: Mapping[str, str]) -> str:
    """A line per config, model, layer and pooling (or measure of surprisal)."""
    lines = [
        {
            "config": each.config, "model": names[each.model], "part": score.part, "layer": score.layer,
            "method": score.method, "accuracy": score.accuracy, "low": score.interval[0], "high": score.interval[1],
            "mlp": score.mlp, "validation": score.validation, "f1": score.macro_f1, "pearson": score.pearson,
            "spearman": score.spearman, "c": score.strength, "ties": score.ties, "left_out": score.left_out,
        }
        for each in read for score in each.scores
    ]  # fmt: skip
    return pl.DataFrame(lines, infer_schema_length=None).write_csv()


def _scores_csv(read: Sequence[Evaluation], names: Mapping[str, str]) -> str:
    """A line per config and model, with all figures of the page."""
    lines = []
    for each in read:
        controls, best = each.controls, each.best
        chosen = controls.selectivity if controls else ""
        code = controls.code_length if controls else None
        lines.append({
            "config": each.config, "model": names[each.model], "commit": each.commit, "method": best.where,
            "accuracy": best.accuracy, "low": best.interval[0], "high": best.interval[1], "n": best.n,
            "f1": best.macro_f1, "ties": best.ties, "cut": each.truncated, "train": each.train_rows,
            "majority": each.majority, "shortcut": each.shortcut, "shortcut_accuracy": each.shortcut_accuracy,
            "floor": each.floor,
            "people": float(np.mean(each.readers.correct)) if each.readers else None,
            "random_labels": controls.random_labels.value if controls else None,
            "random_weights": controls.random_weights.value if controls and controls.random_weights else None,
            "shuffled_words": controls.shuffled_words if controls else None,
            "mlp": controls.mlp.value if controls else None,
            "selectivity": chosen.value if isinstance(chosen, Selectivity) else None,
            "compression": code.compression if code and code.is_known else None,
        })  # fmt: skip
    return pl.DataFrame(lines, infer_schema_length=None).write_csv()


def _differences_csv(comparisons: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A line per comparison of the page."""
    lines = [
        {
            "table": title, "config": each["config"], "model": each["first"], "against": each["second"],
            "difference": each["difference"].value, "low": each["difference"].interval[0],
            "high": each["difference"].interval[1], "p": each["difference"].p, "p_holm": each["p"],
            "n": each["difference"].n,
        }
        for title, of_title in comparisons.items() for each in of_title
    ]  # fmt: skip
    return pl.DataFrame(lines).write_csv() if lines else ""


def _latex(
    rows: Sequence[Mapping[str, Any]], models: Sequence[str], means: Sequence[Mapping[str, Any]]
) -> str:  # fmt: skip
    """The table of accuracies for a paper, in LaTeX with booktabs: intervals below; the best of a config is bold."""

    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.3f}".removeprefix("0")

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    baselines = ["majority", "shortcut", *(["floor"] if any(row["floor"] is not None for row in rows) else [])]
    head = ["config", *("trigrams" if name == "floor" else name for name in baselines), *map(_tex, models)]
    body = []
    for row in rows:
        accuracies = [best.accuracy if best else None for best, _ in row["cells"]]
        most = max(each for each in accuracies if each is not None)
        cells = []
        for best, mark in row["cells"]:
            if best is None:
                cells.append("")
                continue
            number = rf"\textbf{{{share(best.accuracy)}}}" if best.accuracy == most else share(best.accuracy)
            ends = rf"{{\scriptsize [{share(best.interval[0])}, {share(best.interval[1])}]}}"
            cells.append(f"{number}{'$^{' + mark + '}$' if mark else ''} {ends}")
        body.append(line([_tex(row["config"]), *(share(row[name]) for name in baselines), *cells]))
    for at, of_part in enumerate(means):
        of_means = [rf"{share(mean)} {{\scriptsize [{share(low)}, {share(high)}]}}"
                    for mean, (low, high) in of_part["cells"]]  # fmt: skip
        name = _tex(f"{of_part['name']} (mean of {of_part['n']})")
        body += [*([] if at else [r"\midrule"]), line([name, *([""] * len(baselines)), *of_means])]
    return "\n".join([
        r"% needs \usepackage{booktabs}; +: above the best cheap trick (Holm); -: not above chance; 95 % intervals",
        rf"\begin{{tabular}}{{l{'r' * (len(baselines) + len(models))}}}", r"\toprule", line(head), r"\midrule", *body,
        r"\bottomrule", r"\end{tabular}", "",
    ])  # fmt: skip


def _tex(text: str) -> str:
    """A text as LaTeX shows it."""
    escaped = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(escaped.get(char, f"\\{char}" if char in "&%$#_{}" else char) for char in text)


def _controls(read: Sequence[Evaluation], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """What the page says of the controls of each probe; where there is no selectivity, why."""
    lines = []
    for each in read:
        if not (controls := each.controls):
            continue
        chosen, code = controls.selectivity, controls.code_length
        lines.append({
            "config": each.config, "model": names[each.model], "accuracy": each.best.accuracy,
            "controls": controls, "code": code if code.is_known else None,
            "selectivity": chosen if isinstance(chosen, Selectivity) else None,
            "reason": "" if isinstance(chosen, Selectivity) else chosen,
        })  # fmt: skip
    return lines


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
                    title = f"{config.name}, {' against '.join(dict.fromkeys((first.stem, second.stem)))}: {measure}"
                    svg = heat_map(title, values)
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


def difference_of(first: RowScores, second: RowScores) -> AccuracyDifference | None:
    """How much more accurate one is than another over the rows of both; None if these are in fewer than two groups.

    Interval and p value are those of Student's t for `mean_over_groups`, with two groups added of which one is right
    where the other is wrong (Bonett & Price 2012): so the interval has a width where all rows agree.

    Args:
        first: what a model got right of a config.
        second: what another model (or a shortcut, or people) got right of it.
    """
    from scipy import stats  # noqa: PLC0415 (takes a second)

    others = dict(zip(second.ids, second.correct, strict=True))
    shared = [
        (group, correct - others[row])
        for row, group, correct in zip(first.ids, first.groups, first.correct, strict=True)
        if row in others
    ]
    groups = [group for group, _ in shared]
    if len(set(groups)) < 2:  # noqa: PLR2004
        return None
    values = np.array([value for _, value in shared])
    mean, error, freedom = mean_over_groups(values, groups, added=True)
    off = float(stats.t.ppf(0.975, freedom) * error)
    p = float(2 * stats.t.sf(abs(mean) / error, freedom))
    return AccuracyDifference(float(values.mean()), (max(-1.0, mean - off), min(1.0, mean + off)), p, len(values))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values of tests that are made together, corrected so that all of them hold (Holm 1979), in their order."""
    order = np.argsort(p_values, kind="stable")
    steps = np.asarray(p_values)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return [float(each) for each in corrected]


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
