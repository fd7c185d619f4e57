"""The command that scores a language model on configs: `probe`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from discoprobe.cli import arguments as arg
from discoprobe.cli import terminal

if TYPE_CHECKING:
    from discoprobe.cli.terminal import Cell
    from discoprobe.evaluation.models import Evaluation

app = typer.Typer()

COLUMNS = ("config", "accuracy", "best", "macro F1", "majority", "shortcut", "train", "test", "cut")


@app.command()
def probe(  # noqa: PLR0913 (one parameter per option)
    names: arg.AuditNames = None, *, model: arg.ModelName, out: arg.Out = "dist/discoprobe",
    surprisal: arg.Surprisal = False, train_rows: arg.TrainRows = 10_000, device: arg.Device = "cpu",
    save: arg.SaveFolder = None, json_: arg.Json = False,
) -> None:  # fmt: skip
    """Score a language model on configs, beside the majority baseline and the strongest shortcut.

    Trains logistic regression on the frozen hidden states of every layer. The layer is chosen on validation.

    Example: build probe subj_number_es --model google-bert/bert-base-multilingual-cased
    """
    from discoprobe.evaluation.evaluate import evaluations
    from discoprobe.remote_folders import local

    results: list[Evaluation] = []
    with terminal.progress() as progress:
        for evaluation in evaluations(
            names or [], local(out), model, progress, by_surprisal=surprisal, train_rows=train_rows, device=device
        ):
            results.append(evaluation)
            if save:
                _save(evaluation, save)
    if json_:
        typer.echo("[" + ",\n".join(evaluation.to_json().rstrip() for evaluation in results) + "]")
    else:
        terminal.show([_row(evaluation) for evaluation in results], COLUMNS)


def _save(evaluation: Evaluation, folder: Path) -> None:
    """Writes the scores as JSON and, for probes of layers, the curve as SVG."""
    from discoprobe.cards.text.plots import layer_plot

    path = evaluation.save(folder)
    curves: dict[str, list[float]] = {}
    for score in evaluation.scores:
        if score.layer is not None:
            curves.setdefault(score.method, []).append(score.accuracy)
    if curves:
        baselines = {"majority": evaluation.majority}
        if evaluation.shortcut and evaluation.shortcut_accuracy is not None:
            baselines[f"shortcut: {evaluation.shortcut}"] = evaluation.shortcut_accuracy
        svg = layer_plot(f"{evaluation.config}: {Path(evaluation.model).name}", curves, baselines)
        path.with_suffix(".svg").write_text(svg, encoding="utf-8")


def _row(evaluation: Evaluation) -> dict[str, Cell]:
    best = evaluation.best
    shortcut = evaluation.shortcut_accuracy
    return {
        "config": evaluation.config,
        "accuracy": f"{best.accuracy:.3f} [{best.interval.low:.3f}, {best.interval.high:.3f}]",
        "best": best.method if best.layer is None else f"layer {best.layer}, {best.method}",
        "macro F1": None if best.macro_f1 is None else f"{best.macro_f1:.3f}",
        "majority": f"{evaluation.majority:.3f}",
        "shortcut": None if shortcut is None else f"{shortcut:.3f} ({evaluation.shortcut})",
        "train": evaluation.train_rows or None,
        "test": best.n,
        "cut": evaluation.truncated or None,
    }
