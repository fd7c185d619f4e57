"""The scores of a model on a config: what is printed, saved, and compared.

`probes` and `surprisal` make an `Evaluation`, which has the scores with the baselines that they must be compared with.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.audit.intervals import Interval, exact, independent_rows
from discoprobe.cards.text.plots import layer_plot
from discoprobe.loaders.files import hash_of_json, write_atomically

FORMAT: Final = 7
"""Raised when the same model and rows get other scores, or the saved files another form."""

ENOUGH: Final = 1000
"""From so many training rows on, the length of the online code is printed whatever its interval."""


class ModelScore(msgspec.Struct, frozen=True):
    """The accuracy of a model by one method.

    Attributes:
        method: the pooling of a probe (`models.POOLINGS`); or how surprisal is added up (see `surprisal`); or the
            metric of a harness (see `harness_results`).
        accuracy: share of test rows (for surprisal, of pairs or items) that are correct; a tie counts one half.
        interval: its 95 % confidence interval (`interval_of`).
        n: number of test rows, pairs or items.
        part: the part of the model that a probe reads (`models.Place`); empty for surprisal.
        layer: the layer of a probe, 0 for the embeddings; None for surprisal.
        macro_f1: mean F1 over the classes; None for pairs and choices.
        mlp: accuracy of a perceptron with one hidden layer at this place; None if layers are not analysed.
        validation: the accuracy on validation by which layer and pooling are chosen; None for surprisal.
        strength: the inverse regularisation that was chosen on validation; None for surprisal.
        pearson: correlation of predicted and true scores, of configs with scores.
        spearman: their rank correlation.
        ties: pairs whose texts have the same surprisal, or choices whose least surprisal is not unique.
        left_out: rows without a region, which this method cannot score.
        condition: the rows of which the score is; empty for all.
    """

    method: str
    accuracy: float
    interval: Interval
    n: int
    part: str = ""
    layer: int | None = None
    macro_f1: float | None = None
    mlp: float | None = None
    validation: float | None = None
    strength: float | None = None
    pearson: float | None = None
    spearman: float | None = None
    ties: int = 0
    left_out: int = 0
    condition: str = ""

    @property
    def where(self) -> str:
        """Layer and pooling, or the measure of surprisal, in words."""
        if self.layer is None:
            return self.method
        if self.part == "sentence":
            return "sentence vector"
        return f"{'' if self.part == 'model' else f'{self.part} '}layer {self.layer}, {self.method}"


class RowScores(msgspec.Struct, frozen=True):
    """What a model got right, per row, pair or item of test, for comparisons over the same rows.

    Attributes:
        ids: ids of the rows, pairs or items.
        groups: rows with the same group are not independent; the id where there is none.
        correct: 1 if right, 0 if wrong, one half for a tie.
    """

    ids: tuple[str, ...]
    groups: tuple[str, ...]
    correct: tuple[float, ...]


class Mean(msgspec.Struct, frozen=True):
    """The mean over some seeds, and the standard deviation over them."""

    value: float
    sd: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Mean":
        """The mean of the values of some seeds, at least two."""
        return cls(float(np.mean(values)), float(np.std(values, ddof=1)), len(values))


class Selectivity(msgspec.Struct, frozen=True):
    """How much better a probe tells the labels than labels that each target word has by chance (Hewitt & Liang 2019).

    Both are learned and measured on the control set: the rows of a config, divided anew by lot, so that the target
    words of test are in train.

    Attributes:
        accuracy: accuracy on the labels of the config, in the control set.
        control: accuracy on control labels, which belong to a word in all rows.
        value: ``accuracy`` minus ``control``.
        n: number of test rows of the control set.
    """

    accuracy: float
    control: Mean
    value: float
    n: int


class CodeLength(msgspec.Struct, frozen=True):
    """The bits that encode the labels of train online (Voita & Titov 2020), beside codes that read no text.

    Attributes:
        probe: bits with the probabilities of probes, over orders of the rows.
        frequencies: bits with the frequencies of labels in the rows before, in blocks of the same size.
        uniform: bits if all labels are equally probable.
        compression: ``frequencies / probe``.
        saved: bits per row that the probe's code is shorter than that of the frequencies.
        interval: its 95 % interval; rows of one group are not independent. None if there is one group.
        n: number of rows.
    """

    probe: Mean
    frequencies: float
    uniform: float
    compression: float
    saved: float
    interval: Interval | None
    n: int

    @property
    def is_known(self) -> bool:
        """Whether there are enough rows, or the interval does not hold zero."""
        return self.n >= ENOUGH or bool(self.interval and not self.interval[0] <= 0 <= self.interval[1])


class Controls(msgspec.Struct, frozen=True):
    """What an accuracy is due to, at the place of the best score.

    Attributes:
        random_labels: accuracy of the same procedure on labels that each row has by chance.
        random_labels_chance: accuracy of their majority baseline, mean over the seeds.
        selectivity: whether the probe can learn words by heart; or in one sentence why it is not measured.
        code_length: how well the labels are compressed.
        mlp: accuracy of a perceptron with one hidden layer.
        curve: number of training rows, accuracy of the linear probe that has learned that many, and its interval; each
            set of rows is a part of the next, and the last has all rows, so that its accuracy is the one to report.
        shuffled_words: accuracy of the same probe, trained and measured on texts whose words are in another order.
        random_weights: accuracy of the same probe on the same model before training; None for sentence vectors.
    """

    random_labels: Mean
    random_labels_chance: float
    selectivity: Selectivity | str
    code_length: CodeLength
    mlp: Mean
    curve: tuple[tuple[int, float, Interval], ...]
    shuffled_words: float | None = None
    random_weights: Mean | None = None


class TopNeurons(msgspec.Struct, frozen=True):
    """The neurons of all layers from which a label can be read, found by an elastic net (Durrani et al. 2020).

    Attributes:
        n: number of neurons in all layers.
        accuracy: accuracy on test of the elastic net, which reads all of them.
        top: layer and number of each top neuron, the best first: the smallest set (of 1, 2, 4, …) whose probe is at
            most .01 less accurate on validation; empty if the best net has no weights, because it knows nothing.
        top_accuracy: accuracy on test of the probe that reads only these.
        by_layer: share of the top neurons that is in each layer; 0 in layers that were not probed.
    """

    n: int
    accuracy: float
    top: tuple[tuple[int, int], ...]
    top_accuracy: float
    by_layer: tuple[float, ...]


class Evaluation(msgspec.Struct, frozen=True):
    """The scores of one model on one config.

    Attributes:
        config: name of the config.
        model: its `full_name`.
        commit: the commit of the model, or the hash of its weights (`LanguageModel.commit`).
        scores: for every layer and pooling, or for every way to add up surprisal.
        best: the score to report: the best on validation, or the prediction of the suite.
        majority: accuracy of the majority baseline on test; for surprisal, that of random guessing.
        rows: what ``best`` got right.
        truncated: number of texts that lost tokens on the left, because they are longer than the model allows.
        train_rows: number of rows that the probe was trained on.
        controls: further figures at the place of ``best``; None for surprisal.
        neurons: the top neurons, if they were asked for; None for rows of several texts and for surprisal.
        conditions: the score to report for parts of a suite.
        transfer: the scores of the probe of ``best`` on test of other languages, whose configs are the conditions.
        shortcut: name of the best cheap trick in the audit of the config; None if it is not known.
        shortcut_accuracy: accuracy of that shortcut.
        floor: share of pairs in which trigrams of other text find the edited one; None if the audit does not say it.
        shortcut_rows: what that shortcut got right of ``rows``; None if it is not known, or not for items.
        readers: the share of people whose blind answer was right, of those of ``rows`` that were read.
        prompt: what a model was shown of the first row, if it answered a prompt; else empty.
        key: hash of the rows, the model and the options: with the same key the scores are the same.
        format: version of this form.
    """

    config: str
    model: str
    commit: str
    scores: tuple[ModelScore, ...]
    best: ModelScore
    majority: float
    rows: RowScores
    truncated: int = 0
    train_rows: int = 0
    controls: Controls | None = None
    neurons: TopNeurons | None = None
    conditions: tuple[ModelScore, ...] = ()
    transfer: tuple[ModelScore, ...] = ()
    shortcut: str | None = None
    shortcut_accuracy: float | None = None
    floor: float | None = None
    shortcut_rows: RowScores | None = None
    readers: RowScores | None = None
    prompt: str = ""
    key: str = ""
    format: int = FORMAT

    def to_json(self) -> str:
        """The evaluation as a JSON object, keys as the attributes."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"

    def save(self, folder: Path) -> Path:
        """Writes `path_of` below a folder, and for probes a plot of the accuracy by layer; returns the path."""
        path = path_of(folder, self.config, self.model)
        curves: dict[str, list[ModelScore]] = {}
        for score in self.scores:
            if score.layer is not None and score.part != "sentence":
                name = score.method if score.part == "model" else f"{score.part}, {score.method}"
                curves.setdefault(name, []).append(score)
        if curves:
            svg = curves_of(f"{self.config}: {Path(self.model).name}", curves, self)
            write_atomically(path.with_suffix(".svg"), svg.encode())
        write_atomically(path, self.to_json().encode())
        return path


def curves_of(title: str, curves: Mapping[str, Sequence[ModelScore]], beside: Evaluation) -> str:
    """The plot of scores of probes by layer, beside the baselines of an evaluation; MLPs have curves of their own."""
    points: dict[str, list[tuple[int, float, Interval | None]]] = {}
    for name, scores in curves.items():
        points[name] = [(score.layer or 0, score.accuracy, score.interval) for score in scores]
        if any(score.mlp is not None for score in scores):
            points[f"{name}, MLP"] = [(score.layer or 0, score.mlp, None) for score in scores if score.mlp is not None]
    baselines = {"majority": beside.majority}
    if beside.shortcut and beside.shortcut_accuracy is not None:
        baselines[f"shortcut: {beside.shortcut}"] = beside.shortcut_accuracy
    return layer_plot(title, points, baselines)


def full_name(model: str) -> str:
    """The name by which a model is known wherever it is named from: the path of a folder, or a Hub id."""
    folder = Path(model).expanduser()
    return str(folder.resolve()) if folder.is_dir() else model


def short_names(models: Sequence[str]) -> dict[str, str]:
    """`full_name` → what it is called beside the others: a Hub id, or as many last parts of a path as tell it apart."""
    names = {}
    for model in set(models):
        parts = Path(model).parts
        suffixes = (Path(*parts[-n:]).parts for n in range(1 if Path(model).is_absolute() else len(parts), len(parts)))
        others = [Path(other).parts for other in models if other != model]
        alone = (each for each in suffixes if all(other[-len(each) :] != each for other in others))
        names[model] = "/".join(next(alone, parts)).replace("//", "/")
    return names


def path_of(folder: Path, config: str, model: str) -> Path:
    """The file of the scores of a model on a config: ``CONFIG/OWNER_MODEL.json``.

    The name of a local model (`full_name`) ends with a hash of its path: two folders may have the same last names.
    """
    stem = "_".join(Path(model).parts[-2:])
    if Path(model).is_absolute():
        stem += f"-{hash_of_json(model)[:8]}"
    parent, name = (
        "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in name).strip("._")
        for name in (config, stem)
    )
    return folder / parent / f"{name}.json"


def read_saved(path: Path) -> Evaluation | None:
    """The scores in a file; None if there are none, or those of another version."""
    try:
        evaluation = msgspec.json.decode(path.read_bytes(), type=Evaluation)
    except (OSError, msgspec.MsgspecError):
        return None
    return evaluation if evaluation.format == FORMAT else None


def score_of(method: str, correct: npt.NDArray[np.float64], rows: pl.DataFrame) -> ModelScore:
    """The accuracy of a method with its interval.

    Args:
        method: as in `ModelScore`.
        correct: 1 for each correct row, 0 for the others (0.5 for a tie), shape (rows,).
        rows: the rows, as for `interval_of`.
    """
    return ModelScore(method, float(correct.mean()), interval_of(correct, rows), len(correct))


def interval_of(correct: npt.NDArray[np.float64], rows: pl.DataFrame) -> Interval:
    """The 95 % interval of an accuracy, wherever one is printed, saved or drawn.

    It is that of Clopper and Pearson for the effective number of rows: those of one pair or group are not independent.

    Args:
        correct: 1 for each correct row, 0 for the others (0.5 for a tie), shape (rows,).
        rows: the rows, with ``pair_id`` and ``group``, in the same order.
    """
    columns = [column for column in ("pair_id", "group") if rows[column].null_count() == 0]
    clusterings = [rows[column].rank("dense").to_numpy().astype(np.int64) for column in columns]
    n = independent_rows(correct, clusterings or [np.arange(len(correct))])
    return exact(float(correct.mean()) * n, n)


def mean_over_groups(
    values: npt.NDArray[np.float64], groups: Sequence[str], *, added: bool = False
) -> tuple[float, float, int]:
    """The mean of values, its standard error, and the degrees of freedom.

    The variance is that of the sums over groups (cluster-robust; Liang & Zeger 1986); there is one degree of freedom
    less than there are groups.

    Args:
        values: one per row.
        groups: rows with the same group are not independent; at least two groups.
        added: whether two groups of mean size are added, of which one has 1 in all rows and the other -1.
    """
    number = np.unique(np.asarray(groups), return_inverse=True)[1]
    sums, sizes = np.bincount(number, weights=values), np.bincount(number).astype(np.float64)
    freedom = len(sums) - 1
    if added:
        size = sizes.mean()
        sums, sizes = np.append(sums, [size, -size]), np.append(sizes, [size, size])
    mean = float(sums.sum() / sizes.sum())
    error = np.sqrt(len(sums) / (len(sums) - 1) * ((sums - mean * sizes) ** 2).sum()) / sizes.sum()
    return mean, float(error), freedom
