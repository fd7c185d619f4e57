"""Probes on frozen hidden states: logistic regression at every place of a model, and more at the best place.

The features of a row are the vectors of its texts, and for each two neighbouring texts the absolute difference and the
product of their vectors (Conneau et al. 2017), because coherence is a relation between sentences. If rows have
different numbers of texts, the features are the mean, the first and the last vector, and the means of the differences
and products. For a choice, each option is scored by its vector and its relation to the context, and the option with the
highest score is predicted.

The place (layer and pooling) and regularisation are chosen on validation; test only measures. At this place, figures
say how much of the accuracy is due to the probe and not to the model: `Controls`.
"""

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
from packaging.version import Version
from threadpoolctl import threadpool_limits

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.intervals import Interval
from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.evaluation.models import POOLINGS, Bools, Floats, LanguageModel, Place, Unit, keys_of, vectors_of
from discoprobe.evaluation.scores import (
    CodeLength,
    Controls,
    Evaluation,
    Mean,
    ModelScore,
    RowScores,
    Selectivity,
    TopNeurons,
    interval_of,
    mean_over_groups,
    score_of,
)
from discoprobe.loaders import hashing
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.process_pool import Progress

Ints = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]

STRENGTHS: Final = (1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0)
"""Inverse regularisation strengths (``C`` of scikit-learn); the one that does best on validation is used. With the
least, a probe knows little more than the frequencies of labels."""

STEPS: Final = 300
"""Largest number of iterations of the optimiser."""

SEEDS: Final = 5
"""Number of seeds for everything that depends on chance (as in Holmes, Waldis et al. 2024)."""

RANDOM_WEIGHTS: Final = 3
"""Number of seeds of untrained models; each reads all texts."""

LEAST_ROWS: Final = 30
"""Selectivity is measured if validation and test of the control set have so many rows."""

HIDDEN: Final = 100
"""Units of the hidden layer of the MLP."""

SIMILAR: Final = 1000
"""Most texts by which layers are compared."""

LOSS: Final = 0.01
"""How much less accurate the probe on the top neurons may be than the one on all (Durrani et al. 2020)."""

FRACTIONS: Final = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5, 1.0)
"""Shares of the training rows after which a probe is trained anew to encode the next ones (Voita & Titov 2020)."""

GROUP: Final = pl.coalesce("group", "pair_id", "id")
"""Rows with the same value are not independent."""


class _Rows(msgspec.Struct, frozen=True):
    """The rows of a dataset as arrays, and the examples that a classifier learns: rows, or the options of choices.

    Attributes:
        shape: what a row holds.
        split: the split of each row.
        labels: the label of each row.
        n_context: how many texts of each row are context.
        texts: the indices of the texts of each row.
        table: the id, group, pair and target word of each row.
        target_score: the score of each row; None if they have none.
        has_target: whether each row asks about a word.
        n_options: the number of labels that each row can have.
        row: the row of each example.
        option: the number of the option of each example; 0 if rows are no choices.
    """

    shape: Shape
    split: npt.NDArray[np.str_]
    labels: Ints
    n_context: Ints
    texts: list[Ints]
    table: pl.DataFrame
    target_score: Shares | None
    has_target: bool
    n_options: Ints
    row: Ints
    option: Ints

    def of(self, split: str) -> Bools:
        """Which rows are in a split."""
        return np.asarray(self.split == split)

    @property
    def test(self) -> pl.DataFrame:
        """The rows of test."""
        return self.table.filter(pl.Series(self.of("test")))

    def by_chance(self, kind: str, column: str, seed: int = 0) -> "_Rows":
        """The rows with labels that belong to the values of a column by chance, and are as frequent as in train."""
        values = self.table[column]
        keys = hashing.record_keys([f"{kind} {seed}"] * len(values), values).to_numpy()
        if self.shape is Shape.CHOICE:
            labels = (keys % self.n_options.astype(np.uint64)).astype(np.int64)
        else:
            in_train = np.sort(self.labels[self.of("train")])
            labels = in_train[(keys % np.uint64(len(in_train))).astype(np.int64)]
        return msgspec.structs.replace(self, labels=labels)


def evaluate(  # noqa: PLR0913 (one parameter per option)
    data: AuditInput, model: LanguageModel, progress: Progress, *, train_rows: int = 10_000, controls: bool = True,
    layers: Sequence[int] = (), executor: Executor | None = None, cache: int = 0, layers_file: Path | None = None,
    others: Sequence[AuditInput] = (),
) -> Evaluation:  # fmt: skip
    """Trains a probe per place on train, chooses the best on validation, and scores it on test.

    Args:
        data: the dataset.
        model: the frozen model.
        progress: called with the progress of each step.
        train_rows: only the first rows of train are used.
        controls: whether to compute `Controls` at the best place.
        layers: the layers that are probed; empty for all.
        executor: trains probes of several places at the same time.
        cache: most bytes of the cache of the vectors of texts; 0 for none.
        others: other languages of the task, on whose test the probe of the best place is measured as well.
        layers_file: analyse layers: train an MLP in each layer with the best pooling, find the top neurons, and save
            here, for `similarities`, the mean vectors of texts.

    Raises:
        UnsupportedError: a split is missing, or train has one class only.
    """
    rows, units = _read(data, train_rows)
    vectors = vectors_of(model, units, progress, cache=cache, layers=layers)
    places = sorted(vectors, key=_order)
    scores: list[ModelScore] = []
    score = functools.partial(_score_place, rows, vectors)
    for scored in (executor.map if executor else map)(score, places):
        scores.append(scored)
        progress("training probes", len(scores), len(places))
    best = max(scores, key=lambda score: score.validation or 0.0)
    place, strength = places[scores.index(best)], best.strength or STRENGTHS[0]
    features = _features(rows, vectors[place])
    correct = _correct(rows, next(_fitted(rows, features, rows.labels, rows.of("train"), _logistic(strength))))
    neurons = None
    if layers_file:
        _save_layers(layers_file, rows, units, vectors)
        in_layers = [each for each in places if each[::2] == place[::2]]
        with_mlp = functools.partial(_mlp_at, rows, vectors)
        for each, mlp in zip(in_layers, (executor.map if executor else map)(with_mlp, in_layers), strict=True):
            scores[places.index(each)] = msgspec.structs.replace(scores[places.index(each)], mlp=mlp)
        best = scores[places.index(place)]
        if rows.shape is Shape.SENTENCE and place[0] != "sentence":
            neurons = _top_neurons(rows, vectors, place)
    del vectors
    at_best = None
    if controls:
        shuffled = _accuracy(rows, vectors_of(model, _shuffled(units), progress, only=place, cache=cache)[place])
        untrained = [
            _accuracy(
                rows, vectors_of(model.with_random_weights(seed), units, progress, only=place, cache=cache)[place]
            )
            for seed in range(RANDOM_WEIGHTS if place[0] != "sentence" else 0)
        ]
        at_best = _controls(rows, features, executor)
        weights = Mean.of(untrained) if untrained else None
        at_best = msgspec.structs.replace(at_best, shuffled_words=shuffled, random_weights=weights)
    transfer = []
    for other in others:
        other_rows, other_units = _read(_with_test_of(data, other), train_rows)
        of_other = vectors_of(model, other_units, progress, only=place, cache=cache)[place]
        right_there = _correct(other_rows, _chosen(other_rows, _features(other_rows, of_other))[2])
        there = score_of(place[2], right_there, other_rows.test)
        transfer.append(
            msgspec.structs.replace(there, part=place[0], layer=place[1], strength=strength, condition=other.name)
        )
    read = model.tokenizer([text for text, *_ in units], truncation=False, verbose=False)["input_ids"]
    right = RowScores(tuple(rows.test["id"]), tuple(rows.test.select(GROUP).to_series()), tuple(correct.tolist()))
    return Evaluation(
        data.name, model.name, model.commit, tuple(scores), best, majority(data), right,
        truncated=sum(len(ids) > model.longest for ids in read), train_rows=int(rows.of("train").sum()),
        controls=at_best, neurons=neurons, transfer=tuple(transfer),
    )  # fmt: skip


def _with_test_of(data: AuditInput, other: AuditInput) -> AuditInput:
    """A dataset with test of another one, whose labels are among its own."""
    number = dict(enumerate(map(data.labels.index, other.labels)))
    test = other.split("test").with_columns(
        pl.col("label").replace_strict(number, return_dtype=data.rows.schema["label"])
    )
    rows = pl.concat([data.rows.filter(pl.col("split") != "test"), test], how="vertical_relaxed")
    return msgspec.structs.replace(data, rows=rows)


def evaluate_encoder(
    data: AuditInput, encode: Callable[[list[str]], Floats], *, train_rows: int = 10_000
) -> ModelScore:  # fmt: skip
    """The score of the probe that `evaluate` trains, on the vectors of any encoder.

    Args:
        data: the dataset.
        encode: gives the vectors of texts, shape (texts, dimensions).
        train_rows: only the first rows of train are used.

    Raises:
        UnsupportedError: a split is missing, or train has one class only.
    """
    rows, units = _read(data, train_rows)
    # in half precision, as `vectors_of` keeps them
    vectors = np.asarray(encode([text for text, *_ in units]), np.float16).astype(np.float32)
    return _score_place(rows, {("sentence", 0, "own"): vectors}, ("sentence", 0, "own"))


def _order(place: Place) -> tuple[int, int, int]:
    """Poolings in their order, then parts, then layers: among equally good places the first is chosen."""
    part, layer, pooling = place
    return (*POOLINGS, "own").index(pooling), ("encoder", "decoder", "model", "sentence").index(part), layer


def _read(data: AuditInput, train_rows: int) -> tuple[_Rows, list[Unit]]:
    """The rows that are used, and the distinct texts (with their targets) that they consist of.

    Raises:
        UnsupportedError: a split is missing, or train has one class only.
    """
    missing = [split for split in SPLITS if split not in data.splits]
    if missing:
        raise UnsupportedError(f"{data.name} has no {' and no '.join(missing)} split: a probe needs all three")
    if data.split("train").head(train_rows)["label"].n_unique() == 1 and data.shape is not Shape.CHOICE:
        raise UnsupportedError(f"{data.name} has one label only in train")
    table = pl.concat([data.split("train").head(train_rows), data.split("validation"), data.split("test")])
    spans = table.select(pl.col("target_start", "target_end").fill_null(0)).rows()
    has_target = data.shape is Shape.SENTENCE and table["target_start"].null_count() == 0
    numbers: dict[Unit, int] = {}
    texts = [
        np.array([numbers.setdefault((text, *(span if has_target else (0, 0))), len(numbers)) for text in of_row])
        for of_row, span in zip(table["texts"], spans, strict=True)
    ]
    scores = table["score"]
    is_scored = scores.null_count() == 0 and scores.n_unique() > len(data.labels)
    n_options = (table["texts"].list.len() - table["n_context"]).to_numpy()
    row, option = np.arange(table.height), np.zeros(table.height, np.int64)
    if data.shape is Shape.CHOICE:
        row, option = np.repeat(row, n_options), np.concatenate([np.arange(n) for n in n_options])
    else:
        n_options = np.full(table.height, len(data.labels))
    rows = _Rows(
        data.shape, table["split"].cast(pl.String).to_numpy(), table["label"].to_numpy(),
        table["n_context"].to_numpy().astype(np.int64), texts, table.select("id", "group", "pair_id", "target"),
        scores.to_numpy().astype(np.float64) if is_scored else None, has_target, n_options.astype(np.int64),
        row, option,
    )  # fmt: skip
    return rows, list(numbers)


def _shuffled(units: Sequence[Unit]) -> list[Unit]:
    """The texts with their words in another order, chosen by hash; the target stays in one piece and is found again."""
    shuffled = []
    for text, start, end in units:
        before, target, after = text[:start], text[start:end], text[end:]
        words = [*before.split(), *([target] if target else []), *after.split()]
        if len(words) < 4 and " " not in text:  # noqa: PLR2004 (a text without blanks is divided into characters)
            words = [*before, *([target] if target else []), *after]
        between = " " if " " in text else ""
        keys = hashing.record_keys([text] * len(words), map(str, range(len(words)))).to_numpy()
        order = np.argsort(keys).tolist()
        place = order.index(len(before.split()) if between else len(before)) if target else 0
        begin = sum(len(words[at]) + len(between) for at in order[:place])
        shuffled.append((between.join(words[at] for at in order), begin, begin + len(target)))
    return shuffled


def _features(rows: _Rows, vectors: Floats) -> Floats:
    """The features of each example: of a row, or of an option of a choice, shape (examples, features)."""
    if rows.shape is not Shape.CHOICE:
        return _relations(vectors, rows.texts)
    of_options = []
    for row, at in zip(rows.row, rows.option, strict=True):
        n_context = int(rows.n_context[row])
        option, context = vectors[rows.texts[row][n_context + at]], vectors[rows.texts[row][:n_context]]
        # the option, and its relation to the mean and to the last text of the context
        others = (context.mean(axis=0), context[-1]) if n_context else ()
        pairs = [part for other in others for part in (np.abs(other - option), other * option)]
        of_options.append(np.concatenate([option, *pairs]))
    return np.stack(of_options)


def _relations(vectors: Floats, places: list[Ints]) -> Floats:
    """The vectors of the texts of each row with the relations of neighbours, shape (rows, features)."""
    if len({len(texts) for texts in places}) == 1:
        texts = vectors[np.stack(places)]
        before, after = texts[:, :-1], texts[:, 1:]
        parts = np.concatenate([texts, np.abs(before - after), before * after], axis=1)
        return np.asarray(parts.reshape(len(places), -1))
    lines = []
    for row in places:
        texts = vectors[row]
        pairs = (texts[:-1], texts[1:]) if len(row) > 1 else (texts, texts)
        lines.append([
            texts.mean(axis=0), texts[0], texts[-1], np.abs(pairs[0] - pairs[1]).mean(axis=0),
            (pairs[0] * pairs[1]).mean(axis=0),
        ])  # fmt: skip
    return np.asarray(np.array(lines, np.float32).reshape(len(places), -1))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keeps the libraries of numpy to one thread, and silences the optimiser where it does not converge."""
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 (scikit-learn takes seconds)

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _logistic(strength: float) -> Any:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (over a second; suites do without)

    return LogisticRegression(C=strength, max_iter=STEPS)


def _elastic_net(strength: float) -> Any:
    """Logistic regression with the penalties of lasso and ridge regression in equal parts (Zou & Hastie 2005)."""
    import sklearn  # noqa: PLC0415 (over a second; suites do without)
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    named = {} if Version(sklearn.__version__) >= Version("1.8") else {"penalty": "elasticnet"}
    return LogisticRegression(
        C=strength, l1_ratio=0.5, solver="saga", max_iter=100, tol=1e-3, random_state=0, **named
    )  # fmt: skip


def _mlp(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 (over a second; suites do without)

    return MLPClassifier((HIDDEN,), alpha=0.01, max_iter=100, random_state=seed)


def _fitted(rows: _Rows, features: Floats, labels: Ints, learned: Bools, *classifiers: Any) -> Iterator[Shares]:
    """The probability of each label, or of each option, in every row, shape (rows, labels), by each classifier.

    A classifier learns labels of rows. For choices it learns which options are correct; the probabilities of options
    are proportional to the odds that each is.

    Args:
        rows: all rows.
        features: those of the examples, which are standardised on the learned ones.
        labels: what is learned, per row.
        learned: which rows are.
        classifiers: of scikit-learn.
    """
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 (over a second; suites do without)

    is_choice = rows.shape is Shape.CHOICE
    targets = (labels[rows.row] == rows.option).astype(np.int64) if is_choice else labels[rows.row]
    numbers = np.flatnonzero(learned[rows.row])
    is_one_piece = len(numbers) > 0 and int(numbers[-1]) - int(numbers[0]) + 1 == len(numbers)
    examples = slice(int(numbers[0]), int(numbers[-1]) + 1) if is_one_piece else numbers  # a slice is not copied
    classes = np.unique(targets[examples])
    if len(classes) > 1:
        values = StandardScaler().fit(features[examples]).transform(features)
    for classifier in classifiers:
        shares = np.zeros((len(rows.labels), int(rows.n_options.max())))
        if len(classes) == 1:
            shares[:, 0 if is_choice else classes[0]] = 1
            yield shares
            continue
        with _one_thread():
            fitted = classifier.fit(values[examples], targets[examples])
            probability: Shares = fitted.predict_proba(values).astype(np.float64)
        if not is_choice:
            shares[:, fitted.classes_] = probability
            yield shares
            continue
        least = np.finfo(np.float64).tiny
        odds = np.log(np.maximum(probability[:, 1], least)) - np.log(np.maximum(probability[:, 0], least))
        logits = np.full(shares.shape, -np.inf)
        logits[rows.row, rows.option] = odds
        shares[...] = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        yield shares


def _correct(rows: _Rows, shares: Shares, labels: Ints | None = None, split: str = "test") -> Shares:
    """1 for each row of a split whose most probable label (of equal ones the first) is right, 0 for the others."""
    is_right = shares.argmax(axis=1) == (rows.labels if labels is None else labels)
    return np.asarray(is_right[rows.of(split)], np.float64)


def _chosen(rows: _Rows, features: Floats) -> tuple[float, float, Shares]:
    """The strength that is best on validation (of equal ones the strongest), its accuracy there, and what it gives."""
    shares_of = _fitted(rows, features, rows.labels, rows.of("train"), *map(_logistic, STRENGTHS))
    fits = zip(STRENGTHS, shares_of, strict=True)
    strength, shares = max(fits, key=lambda fit: float(_correct(rows, fit[1], split="validation").mean()))
    return strength, float(_correct(rows, shares, split="validation").mean()), shares


def _score_place(rows: _Rows, vectors: Mapping[Place, Floats], place: Place) -> ModelScore:
    """The score on test of the classifier of ``STRENGTHS`` that does best on validation, with standardised features."""
    from sklearn.metrics import f1_score  # noqa: PLC0415 (over a second; suites do without)

    features = _features(rows, vectors[place])
    strength, validation, shares = _chosen(rows, features)
    part, layer, pooling = place
    score = score_of(pooling, _correct(rows, shares), rows.test)
    f1 = pearson = spearman = None
    if rows.shape is not Shape.CHOICE:
        test = rows.of("test")
        f1 = float(f1_score(rows.labels[test], shares.argmax(axis=1)[test], average="macro"))
    if rows.target_score is not None:
        pearson, spearman = _correlations(rows, features, rows.target_score)
    return msgspec.structs.replace(
        score, part=part, layer=layer, macro_f1=f1, validation=validation, strength=strength, pearson=pearson,
        spearman=spearman,
    )  # fmt: skip


def _mlp_at(rows: _Rows, vectors: Mapping[Place, Floats], place: Place) -> float:
    """The accuracy on test of an MLP at a place, of one seed."""
    return _accuracy_of_mlp(rows, _features(rows, vectors[place]), 0)


def _accuracy_of_mlp(rows: _Rows, features: Floats, seed: int) -> float:
    """The accuracy on test of a perceptron with one hidden layer."""
    return float(_correct(rows, next(_fitted(rows, features, rows.labels, rows.of("train"), _mlp(seed)))).mean())


def majority(data: AuditInput) -> float:
    """The accuracy on test of the class that is largest on train (on test, if there is no train split)."""
    test = data.split("test")
    source = data.split("train") if "train" in data.splits else test
    largest = source["label"].value_counts().sort(["count", "label"], descending=[True, False])["label"][0]
    return float((test["label"] == largest).mean() or 0.0)


def _correlations(rows: _Rows, features: Floats, truth: Shares) -> tuple[float | None, float | None]:
    """Pearson's and Spearman's correlation on test of ridge regression, whose strength is chosen on validation."""
    from scipy import stats  # noqa: PLC0415 (over a second; suites do without)
    from sklearn.linear_model import Ridge  # noqa: PLC0415 (over a second; suites do without)
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 (over a second; suites do without)

    train, validation, test = (rows.of(split) for split in SPLITS)
    values = StandardScaler().fit(features[train]).transform(features)
    best, chosen = -2.0, None
    with _one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        for strength in STRENGTHS:
            predicted = Ridge(alpha=1 / strength).fit(values[train], truth[train]).predict(values)
            on_validation = float(stats.pearsonr(predicted[validation], truth[validation])[0])
            if on_validation > best:
                best, chosen = on_validation, predicted
        if chosen is None:
            return None, None
        pearson, spearman = (each(chosen[test], truth[test])[0] for each in (stats.pearsonr, stats.spearmanr))
    return float(pearson), float(spearman)


def _accuracy(rows: _Rows, vectors: Floats) -> float:
    """The accuracy on test at one place, for other vectors than those by which it was chosen."""
    return float(_correct(rows, _chosen(rows, _features(rows, vectors))[2]).mean())


def _controls(rows: _Rows, features: Floats, executor: Executor | None) -> Controls:
    """The figures that need the features of the best place only; an executor computes seeds at the same time."""
    in_control_set = control_set(rows)
    each = functools.partial(_with_seed, rows, in_control_set, features)
    random, chances, controls, mlp, codes, curves = zip(
        *(executor.map if executor else map)(each, range(SEEDS)), strict=True
    )
    selectivity: Selectivity | str
    if isinstance(in_control_set, str):
        selectivity = in_control_set
    else:
        correct = _correct(in_control_set, _chosen(in_control_set, features)[2])
        accuracy, control = float(correct.mean()), Mean.of(controls)
        selectivity = Selectivity(accuracy, control, accuracy - control.value, len(correct))
    return Controls(
        random_labels=Mean.of(random), random_labels_chance=float(np.mean(chances)), selectivity=selectivity,
        code_length=_summed(rows, codes), mlp=Mean.of(mlp), curve=curves[0],
    )  # fmt: skip


def control_set(rows: _Rows) -> _Rows | str:
    """The rows divided anew by lot into splits as large as before, so that target words recur.

    Rows of validation and test whose word is not in the new train are in no split. A control label can be learned only
    for words that recur (Hewitt & Liang 2019); a config has other words in test.

    Returns:
        The rows; or why there is no control set, in one sentence.
    """
    if not rows.has_target:
        return "rows ask about no single word"
    order = np.argsort(hashing.record_keys(["control set"] * rows.table.height, rows.table["id"]).to_numpy())
    split = np.empty_like(rows.split)
    split[order] = np.sort(rows.split)
    words = rows.table["target"].to_numpy()
    split = np.where(np.isin(words, words[split == "train"]), split, "")
    least = min(int((split == each).sum()) for each in SPLITS[1:])
    if least < LEAST_ROWS:
        n_twice = int((~rows.table["target"].is_unique()).sum())
        return f"too few target words recur ({n_twice} of {rows.table.height} rows have the word of another row)"
    return msgspec.structs.replace(rows, split=split)


def _with_seed(
    rows: _Rows, in_control_set: _Rows | str, features: Floats, seed: int
) -> tuple[float, float, float, float, tuple[Shares, Shares], tuple[tuple[int, float, Interval], ...]]:
    """The figures of a seed.

    Returns:
        The accuracy on random labels, and of their majority baseline; the accuracy on control labels (0 if there is no
        control set); that of an MLP; the bits of each row of train in two codes; the curve.
    """
    by_chance = rows.by_chance("random label", "id", seed)
    random = float(_correct(by_chance, _chosen(by_chance, features)[2]).mean())
    train, test = (by_chance.labels[rows.of(split)] for split in SPLITS[::2])
    chance = float((test == np.bincount(train).argmax()).mean())
    if rows.shape is Shape.CHOICE:
        chance = float((1 / rows.n_options[rows.of("test")]).mean())
    control = 0.0
    if isinstance(in_control_set, _Rows):
        of_words = in_control_set.by_chance("control label", "target", seed)
        control = float(_correct(of_words, _chosen(of_words, features)[2]).mean())
    mlp = _accuracy_of_mlp(rows, features, seed)
    *codes, curve = _online_code(rows, features, seed)
    return random, chance, control, mlp, (codes[0], codes[1]), curve


def _online_code(
    rows: _Rows, features: Floats, seed: int
) -> tuple[Shares, Shares, tuple[tuple[int, float, Interval], ...]]:
    """The bits of the labels of train in the online code (Voita & Titov 2020), and the learning curve.

    The first block of rows is encoded with a uniform distribution, each further block with a probe that has learned
    the rows before it; its regularisation is the one that encodes validation best. With K labels and n rows learned, a
    probability p becomes (n p + 1) / (n + K), so that no label has an infinite length; a probe that has seen a single
    label then follows Laplace's rule of succession. The other code reads no text: it has the frequencies of labels in
    the rows before, with the same rule.

    Rows of one group are in one block: of a pair, a text is not encoded by what was learned from the other one, which
    resembles it and has the other label.

    Args:
        rows: all rows.
        features: their features.
        seed: of the order of the groups; 0 is their order in train, whose sizes are nested.

    Returns:
        The bits of each row of train by probes and by frequencies, in the order of train; and for each number of rows
        learned the accuracy on test with its interval, of the regularisation that is best on validation: the last one
        is the accuracy of the place.
    """
    train = np.flatnonzero(rows.of("train"))
    groups = rows.table.filter(pl.Series(rows.of("train"))).select(GROUP).to_series()
    _, first, group = np.unique(groups.to_numpy(), return_index=True, return_inverse=True)
    keys = hashing.splitmix64(np.arange(len(train)) + seed * 2**32) if seed else np.arange(len(train))
    place = np.asarray(keys)[first[group]]  # that of the row with which the group of a row begins
    by_group = np.argsort(place, kind="stable")
    order = train[by_group]
    ends = np.append(np.flatnonzero(np.diff(place[by_group])) + 1, len(order))
    shares = {round(fraction * len(order)) for fraction in FRACTIONS} - {0}
    sizes = sorted({int(ends[np.searchsorted(ends, size)]) for size in shares})
    by_probe = np.log2(rows.n_options.astype(np.float64))
    by_frequency = by_probe.copy()
    possible = np.arange(rows.n_options.max()) < rows.n_options[:, None]
    validation = rows.of("validation")
    curve = []
    for size, after in itertools.zip_longest(sizes, sizes[1:]):
        learned = np.zeros(len(rows.labels), bool)
        learned[order[:size]] = True
        fits = list(_fitted(rows, features, rows.labels, learned, *map(_logistic, STRENGTHS)))
        best = max(fits, key=lambda each: float(_correct(rows, each, split="validation").mean()))
        correct = _correct(rows, best)
        curve.append((size, float(correct.mean()), interval_of(correct, rows.test)))
        if after:
            bits = [_bits(rows, (size * each + 1) / (size + rows.n_options[:, None])) for each in fits]
            encoded = order[size:after]
            by_probe[encoded] = min(bits, key=lambda each: float(each[validation].sum()))[encoded]
            counts = (np.bincount(rows.labels[learned], minlength=possible.shape[1]) + 1) * possible
            by_frequency[encoded] = _bits(rows, counts / counts.sum(axis=1, keepdims=True))[encoded]
    return by_probe[train], by_frequency[train], tuple(curve)


def _bits(rows: _Rows, shares: Shares) -> Shares:
    """Bits that the label of each row needs in an ideal code for these probabilities, shape (rows,)."""
    return np.asarray(-np.log2(shares[np.arange(len(shares)), rows.labels]))


def _summed(rows: _Rows, codes: Sequence[tuple[Shares, Shares]]) -> CodeLength:
    """The lengths of codes of some seeds, from the bits of each row of train by probes and by frequencies."""
    from scipy import stats  # noqa: PLC0415 (over a second; suites do without)

    train = rows.table.filter(pl.Series(rows.of("train")))
    by_probe, by_frequency = (np.array(bits) for bits in zip(*codes, strict=True))
    saved = (by_frequency - by_probe).mean(axis=0)
    groups = train.select(GROUP).to_series().to_list()
    interval = None
    if len(set(groups)) > 1:
        mean, error, freedom = mean_over_groups(saved, groups)
        off = float(stats.t.ppf(0.975, freedom)) * error
        interval = mean - off, mean + off
    length, of_frequencies = Mean.of(by_probe.sum(axis=1).tolist()), float(by_frequency.sum(axis=1).mean())
    return CodeLength(
        length, of_frequencies, float(np.log2(rows.n_options[rows.of("train")]).sum()), of_frequencies / length.value,
        float(saved.mean()), interval, train.height,
    )  # fmt: skip


def _top_neurons(rows: _Rows, vectors: Mapping[Place, Floats], best: Place) -> TopNeurons:
    """The top neurons of all layers, with the pooling of the best place; regularisation is chosen on validation."""
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 (over a second; suites do without)

    places = sorted((each for each in vectors if each[::2] == best[::2]), key=_order)
    texts = np.array([of_row[0] for of_row in rows.texts])
    train, validation, test = (rows.of(split) for split in SPLITS)
    layers = np.repeat([layer for _, layer, _ in places], [vectors[place].shape[1] for place in places])
    within = np.concatenate([np.arange(vectors[place].shape[1]) for place in places])
    values = np.concatenate([vectors[place][texts] for place in places], axis=1)
    values = StandardScaler().fit(values[train]).transform(values)
    with _one_thread():
        nets = [_elastic_net(strength).fit(values[train], rows.labels[train]) for strength in (*STRENGTHS, 10.0)]
    net = max(nets, key=lambda each: float(each.score(values[validation], rows.labels[validation])))
    needed = float(net.score(values[validation], rows.labels[validation])) - LOSS
    ranking = by_weight_mass(net.coef_)
    on_test = float(net.score(values[test], rows.labels[test]))
    chosen, accuracy = ranking, on_test  # no neuron has a weight if the best net knows nothing
    for size in sorted({*(2**at for at in range(20) if 2**at < len(ranking)), len(ranking)} - {0}):
        chosen = ranking[:size]
        _, on_validation, shares = _chosen(rows, values[:, chosen])
        accuracy = float(_correct(rows, shares).mean())
        if on_validation >= needed:
            break
    in_layer = np.bincount(layers[chosen], minlength=places[-1][1] + 1) / max(1, len(chosen))
    return TopNeurons(
        len(layers), on_test,
        tuple(zip(layers[chosen].tolist(), within[chosen].tolist(), strict=True)), accuracy, tuple(in_layer.tolist()),
    )  # fmt: skip


def by_weight_mass(weights: npt.NDArray[np.floating[Any]]) -> Ints:
    """The neurons in the order in which they are found as the share of the weight mass grows (Durrani et al. 2020).

    At a share p, the top neurons of a label are the fewest with the largest absolute weights that have the share p of
    the sum of its absolute weights; a neuron is found when it is a top neuron of any label.

    Args:
        weights: of each label and neuron, shape (labels, neurons).

    Returns:
        The indices of all neurons with a weight.
    """
    mass = np.abs(weights) / np.maximum(np.abs(weights).sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    order = np.argsort(-mass, axis=1, kind="stable")
    before = np.cumsum(np.take_along_axis(mass, order, axis=1), axis=1) - np.take_along_axis(mass, order, axis=1)
    found_at = np.full(weights.shape, np.inf)
    np.put_along_axis(found_at, order, before, axis=1)
    found_at[mass == 0] = np.inf
    first = found_at.min(axis=0)
    return np.argsort(first, kind="stable")[: int(np.isfinite(first).sum())]


def _save_layers(path: Path, rows: _Rows, units: Sequence[Unit], vectors: Mapping[Place, Floats]) -> None:
    """Saves the keys of the first texts of test, and their mean vectors in each layer."""
    test = [rows.texts[row] for row in np.flatnonzero(rows.of("test"))]
    texts = np.array(list(dict.fromkeys(np.concatenate(test).tolist()))[:SIMILAR])
    layers = {f"{part} {layer:02d}".removeprefix("model "): vectors[part, layer, pooling][texts]
              for part, layer, pooling in sorted(vectors, key=_order) if pooling == "mean"}  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, keys=keys_of([units[text] for text in texts]), **layers)
