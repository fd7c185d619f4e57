"""Scores of a model on a config, with the baselines that they must be compared with."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.intervals import Interval, exact, independent_rows

FORMAT = 1


@dataclass(frozen=True, slots=True)
class ModelScore:
    """The accuracy of a model by one method.

    Attributes:
        method: the pooling of a linear probe, ``mean`` or ``token``; or how surprisal is summed: ``total``,
            ``per_token``, ``region`` or ``item`` (see `surprisal`).
        accuracy: share of test rows (for surprisal, of pairs or items) that are correct.
        interval: its 95 % confidence interval; rows of one group or pair are dependent.
        n: number of test rows, pairs or items.
        layer: the layer of a linear probe, 0 for the embeddings; None for surprisal.
        macro_f1: mean F1 over the classes; None for pairs and choices.
        validation: the accuracy on validation by which layer and pooling are chosen; None for surprisal.
    """

    method: str
    accuracy: float
    interval: Interval
    n: int
    layer: int | None = None
    macro_f1: float | None = None
    validation: float | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of one model on one config.

    Attributes:
        config: name of the config.
        model: folder or Hub id.
        commit: the commit of the model, or the hash of its weights (`LanguageModel.commit`).
        scores: for every layer and pooling, or for every way to sum surprisal.
        best: the score to report: the best on validation, or the first way to sum surprisal.
        majority: accuracy of the majority baseline on test; for surprisal, that of random guessing.
        truncated: number of texts that were cut, because they are longer than the model allows.
        train_rows: number of rows that the probe was trained on.
        shortcut: name of the strongest shortcut in the audit of the config; None if it is not known.
        shortcut_accuracy: accuracy of that shortcut.
    """

    config: str
    model: str
    commit: str
    scores: tuple[ModelScore, ...]
    best: ModelScore
    majority: float
    truncated: int
    train_rows: int = 0
    shortcut: str | None = None
    shortcut_accuracy: float | None = None

    def to_json(self) -> str:
        """The evaluation as a JSON object, keys as the attributes."""
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, indent=1) + "\n"

    def save(self, folder: Path) -> Path:
        """Writes ``CONFIG/OWNER_MODEL.json`` below a folder; returns its path."""
        owner_and_name = "_".join(Path(self.model).parts[-2:])
        name = "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in owner_and_name).strip("._")
        path = folder / self.config / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_json(), encoding="utf-8")
        return path


def score_of(method: str, correct: npt.NDArray[np.float64], rows: pl.DataFrame) -> ModelScore:
    """The accuracy of a method with its 95 % interval.

    Args:
        method: as in `ModelScore`.
        correct: 1 for each correct row, 0 for the others (0.5 for a tie), shape (rows,).
        rows: the rows, with ``pair_id`` and ``group``: rows with the same value are not independent.
    """
    known = [column for column in ("pair_id", "group") if rows[column].null_count() == 0]
    clusterings = [rows[column].rank("dense").to_numpy().astype(np.int64) for column in known]
    n = independent_rows(correct, clusterings or [np.arange(len(correct))])
    accuracy = float(correct.mean())
    return ModelScore(method, accuracy, exact(accuracy * n, n), len(correct))


def majority(data: AuditInput) -> float:
    """The accuracy on test of the class that is largest on train (on test, if there is no train split)."""
    test = data.split("test")
    source = data.split("train") if "train" in data.splits else test
    largest = source["label"].value_counts().sort(["count", "label"], descending=[True, False])["label"][0]
    return float((test["label"] == largest).mean() or 0.0)


def best_of(scores: Sequence[ModelScore]) -> ModelScore:
    """The score with the best accuracy on validation; among equal ones the first."""
    return max(scores, key=lambda score: score.validation or 0.0)
