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
import logging
import os
import secrets
import shutil
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
from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.evaluation.models import (
    Controls,
    Evaluation,
    Floats,
    LanguageModel,
    ModelError,
    ModelScore,
    RowScores,
    Tokens,
    TopNeurons,
    Unit,
    best_of,
    bootstrap,
    in_batches,
    majority,
    score_of,
)
from discoprobe.loaders import hashing
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.process_pool import Progress

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Shares = npt.NDArray[np.float64]

_log = logging.getLogger(__name__)

TOKENS_PER_BATCH: Final = 8192
"""Largest number of tokens in a batch, padding included."""

POOLINGS: Final = ("mean", "first", "last", "target")
"""How the tokens of a text become one vector: the ``mean`` of those that are not special; the ``first`` (``[CLS]`` of
BERT); the ``last`` (in a causal model the only one that has seen the whole text); the mean over those of the ``target``
word, for tasks that ask about a word."""

STRENGTHS: Final = (0.001, 0.01, 0.1, 1.0)
"""Inverse regularisation strengths; the one that does best on validation is used."""

STEPS: Final = 300
"""Largest number of iterations of the optimiser."""

SEEDS: Final = 5
"""Number of seeds for everything that depends on chance (as in Holmes, Waldis et al. 2024)."""

HIDDEN: Final = 100
"""Units of the hidden layer of the MLP."""

SIMILAR: Final = 1000
"""Most texts by which layers are compared."""

LOSS: Final = 0.01
"""How much less accurate the probe on the top neurons may be than the one on all (Durrani et al. 2020)."""

FRACTIONS: Final = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5, 1.0)
"""Shares of the training rows after which a probe is trained anew to encode the next ones (Voita & Titov 2020)."""


class VectorPlace(msgspec.Struct, frozen=True):
    """Where in a model the vector of a text is taken from.

    Attributes:
        part: ``encoder`` or ``decoder`` of an encoder-decoder, ``sentence`` for the vector that a sentence-transformer
            returns, ``model`` otherwise.
        layer: 0 for the embeddings.
        pooling: one of ``POOLINGS``, or ``own`` for a sentence-transformer.
    """

    part: str
    layer: int
    pooling: str


class VectorCache(msgspec.Struct, frozen=True):
    """Vectors on disk, by model and text: what a model has read once it does not read again, for whatever probe.

    A folder per model (`LanguageModel.identity`) has a folder per write, with the keys of its texts in order and a file
    per place. A folder appears complete, by a rename. What cannot be written or read is computed.

    Attributes:
        folder: of all models.
        limit: most bytes in it; folders that were used longest ago are deleted first.
    """

    folder: Path
    limit: int

    def read(
        self, model: LanguageModel, units: Sequence[Unit], poolings: Sequence[str], only: VectorPlace | None
    ) -> tuple[dict[VectorPlace, Floats], Bools]:
        """The vectors of those texts that are there, shape (texts, dimensions), and which texts these are."""
        keys, is_known = _keys_of(units), np.zeros(len(units), bool)
        vectors: dict[VectorPlace, Floats] = {}
        for folder in sorted((self.folder / model.identity).glob("[!.]*")):
            try:
                stored = np.load(folder / "keys.npy")
                at = np.minimum(np.searchsorted(stored, keys), len(stored) - 1)
                is_new = (stored[at] == keys) & ~is_known
                places = [VectorPlace(part, int(layer), pooling) for part, layer, pooling in
                          (path.stem.split() for path in sorted(folder.glob("* * *.npy")))]  # fmt: skip
                is_whole = folder.name.startswith("all")
                wanted = [only] if only in places else []
                if only is None and is_whole and {place.pooling for place in places} >= set(poolings):
                    wanted = [place for place in places if place.pooling in {*poolings, "own"}]
                if not wanted or not is_new.any():
                    continue
                for place in wanted:
                    values = np.load(_file_of(folder, place), mmap_mode="r")
                    vectors.setdefault(place, np.empty((len(units), values.shape[1]), np.float32))[is_new] = values[
                        at[is_new]
                    ]
                is_known |= is_new
                os.utime(folder)
            except (OSError, ValueError, IndexError):  # damaged, or deleted by another process
                shutil.rmtree(folder, ignore_errors=True)
        return vectors, is_known

    def write(
        self, model: LanguageModel, units: Sequence[Unit], vectors: Mapping[VectorPlace, Floats],
        only: VectorPlace | None,
    ) -> None:  # fmt: skip
        """Adds the vectors of texts, and deletes others if there are too many."""
        keys = _keys_of(units)
        order = np.argsort(keys)
        size = keys.nbytes + sum(values.nbytes for values in vectors.values())
        if size > self.limit or not vectors:
            return
        token = f"{'all' if only is None else 'one'}-{secrets.token_hex(8)}"
        new = self.folder / model.identity / f".{token}"
        try:
            new.mkdir(parents=True)
            in_use = {
                folder: sum(path.stat().st_size for path in folder.iterdir())
                for folder in self.folder.glob("*/*")
                if folder != new
            }
            for folder in sorted(in_use, key=lambda folder: folder.stat().st_mtime):
                if sum(in_use.values()) + size <= self.limit:
                    break
                shutil.rmtree(folder, ignore_errors=True)
                del in_use[folder]
            np.save(new / "keys.npy", keys[order])
            for place, values in vectors.items():
                np.save(_file_of(new, place), values[order])
            new.rename(new.with_name(token))
        except OSError as error:
            _log.warning("vectors are not kept in %s: %s", self.folder, error.strerror)
            shutil.rmtree(new, ignore_errors=True)


class _Rows(msgspec.Struct, frozen=True):
    """The rows of a dataset as arrays, with an element per row; ``texts`` has the indices of the texts of each row."""

    shape: Shape
    split: npt.NDArray[np.str_]
    labels: Ints
    n_labels: int
    n_context: Ints
    texts: list[Ints]
    test: pl.DataFrame
    target_score: Shares | None
    controls: Ints

    def of(self, split: str) -> Bools:
        """Which rows are in a split."""
        return np.asarray(self.split == split)


class _Features(msgspec.Struct, frozen=True):
    """What a classifier learns: features of rows, or of every option of a choice, shape (examples, features)."""

    values: Floats
    row: Ints
    option: Ints
    n_options: Ints


def evaluate(  # noqa: PLR0913 (one parameter per option)
    data: AuditInput, model: LanguageModel, progress: Progress, *, train_rows: int = 10_000, controls: bool = True,
    executor: Executor | None = None, cache: VectorCache | None = None, layers_file: Path | None = None,
) -> Evaluation:  # fmt: skip
    """Trains a probe per place on train, chooses the best on validation, and scores it on test.

    Args:
        data: the dataset.
        model: the frozen model.
        progress: called with the progress of each step.
        train_rows: only the first rows of train are used.
        controls: whether to compute `Controls` at the best place.
        executor: trains probes of several places at the same time.
        cache: of the vectors of texts.
        layers_file: analyse layers: find the top neurons, and save here, for `similarities`, the mean vectors of texts.

    Raises:
        UnsupportedError: a split is missing, or train has one class only.
    """
    rows, units = _read(data, train_rows)
    vectors = vectors_of(model, units, progress, cache=cache)
    places = sorted(vectors, key=_order)
    scores: list[ModelScore] = []
    score = functools.partial(_score_place, rows)
    for scored in (executor.map if executor else map)(score, places, (vectors[place] for place in places)):
        scores.append(scored)
        progress("training probes", len(scores), len(places))
    best = best_of(scores)
    place = places[scores.index(best)]
    features = _features(rows, vectors[place])
    correct = _correct(rows, _fitted(rows, features, rows.labels, rows.of("train"), best.strength or STRENGTHS[0]))
    neurons = None
    if layers_file:
        _save_layers(layers_file, rows, units, vectors)
        if rows.shape is Shape.SENTENCE and place.part != "sentence":
            neurons = _top_neurons(rows, vectors, place)
    del vectors
    at_best = None
    if controls:
        read = functools.partial(vectors_of, progress=progress, only=place, cache=cache)
        shuffled = _accuracy(rows, read(model, _shuffled(units))[place])
        untrained = None
        if place.part != "sentence":
            untrained = _accuracy(rows, read(model.with_random_weights(), units)[place])
        at_best = msgspec.structs.replace(
            _controls(rows, features, best, executor), shuffled_words=shuffled, random_weights=untrained
        )
    group = pl.coalesce("group", "pair_id", "id")
    right = RowScores(tuple(rows.test["id"]), tuple(rows.test.select(group).to_series()), tuple(correct.tolist()))
    return Evaluation(
        data.name, model.name, model.commit, tuple(scores), best, majority(data), right,
        truncated=model.n_cut(units), train_rows=int(rows.of("train").sum()), controls=at_best,
        neurons=neurons,
    )  # fmt: skip


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
    vectors = np.asarray(encode([unit.text for unit in units]), np.float32)
    return _score_place(rows, VectorPlace("sentence", 0, "own"), vectors)


def vectors_of(
    model: LanguageModel, units: Sequence[Unit], progress: Progress, *, only: VectorPlace | None = None,
    cache: VectorCache | None = None,
) -> dict[VectorPlace, Floats]:  # fmt: skip
    """The vectors of texts at every place of a model, in single precision, shape (texts, dimensions).

    The decoder of an encoder-decoder reads the same text as its encoder, after its start token (as in BART, Lewis et
    al. 2020). Places with the pooling ``target`` are there only if every text has a target.

    Args:
        model: the model.
        units: the texts, all different.
        progress: called with the number of encoded texts.
        only: compute the vectors of this place only.
        cache: texts that are there are not read by the model, and the others are added.

    Raises:
        ModelError: a single text does not fit into memory.
    """
    has_target = model.tokenizer.is_fast and all(unit.end > unit.start for unit in units)
    possible = POOLINGS if has_target else POOLINGS[:-1]
    poolings = [pooling for pooling in possible if only is None or pooling == only.pooling]
    if cache is None:
        return _encoded(model, units, poolings, only, progress)
    vectors, is_known = cache.read(model, units, poolings, only)
    if not is_known.all():
        missing = np.flatnonzero(~is_known)
        added = [unit for unit, known in zip(units, is_known, strict=True) if not known]
        encoded = _encoded(model, added, poolings, only, progress)
        cache.write(model, added, encoded, only)
        for place, values in encoded.items():
            vectors.setdefault(place, np.empty((len(units), values.shape[1]), np.float32))[missing] = values
    progress("encoding", len(units), len(units))
    return vectors


def _file_of(folder: Path, place: VectorPlace) -> Path:
    return folder / f"{place.part} {place.layer} {place.pooling}.npy"


def _keys_of(units: Sequence[Unit]) -> npt.NDArray[np.uint64]:
    """The key of each text and its target."""
    texts, starts, ends = zip(*map(msgspec.structs.astuple, units), strict=True)
    return hashing.record_keys(texts, map(str, starts), map(str, ends)).to_numpy()


def _encoded(
    model: LanguageModel, units: Sequence[Unit], poolings: Sequence[str], only: VectorPlace | None, progress: Progress
) -> dict[VectorPlace, Floats]:
    """The vectors of texts, read by the model."""
    import torch

    vectors: dict[VectorPlace, Floats] = {}
    tokens = model.tokens(units)
    done = 0
    waiting = [*in_batches([len(each.ids) for each in tokens], TOKENS_PER_BATCH, model.batch_size)]
    if only is not None and only.part == "sentence":
        waiting = []
    with torch.inference_mode():
        while waiting:
            numbers = waiting.pop(0)
            batch = [tokens[number] for number in numbers]
            weights = np.zeros((len(batch), len(poolings), max(len(each.ids) for each in batch)), np.float32)
            for line, (number, each) in enumerate(zip(numbers, batch, strict=True)):
                for at, pooling in enumerate(poolings):
                    weights[line, at, : len(each.ids)] = _weights(pooling, each, units[number])
            try:
                pooled = _pooled(model, batch, weights)
            except torch.OutOfMemoryError as error:
                if len(numbers) == 1:
                    device = model.source.device
                    raise ModelError(f"{model.name}: one text does not fit into the memory of {device}") from error
                waiting = [numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :], *waiting]
                continue
            for part, states in pooled.items():
                for layer in range(states.shape[1]):
                    for at, pooling in enumerate(poolings):
                        place = VectorPlace(part, layer, pooling)
                        if only in {None, place}:
                            if place not in vectors:
                                vectors[place] = np.empty((len(units), states.shape[-1]), np.float32)
                            vectors[place][numbers] = states[:, layer, at]
            done += len(numbers)
            progress("encoding", done, len(units))
    if model.sentences is not None and (only is None or only.part == "sentence"):
        texts = [unit.text for unit in units]
        encoded = model.sentences.encode(texts, batch_size=model.batch_size, show_progress_bar=False)
        vectors[VectorPlace("sentence", 0, "own")] = np.asarray(encoded, np.float32)
    return vectors


def _weights(pooling: str, tokens: Tokens, unit: Unit) -> Floats:
    """The weight of each token in the vector of the text; they sum to one."""
    chosen = np.zeros(len(tokens.ids), np.float32)
    if pooling == "first":
        chosen[0] = 1
    elif pooling == "last":
        chosen[-1] = 1
    else:
        is_word = ~tokens.special if not tokens.special.all() else ~np.zeros(len(chosen), bool)
        is_target = tokens.of_target(unit)
        chosen[is_target if pooling == "target" and is_target.any() else is_word] = 1
    return np.asarray(chosen / chosen.sum(), np.float32)


def _pooled(model: LanguageModel, batch: Sequence[Tokens], weights: Floats) -> dict[str, Floats]:
    """Part of the model → vectors of a batch of texts, shape (texts, layers, poolings, dimensions)."""
    import torch

    device = model.model.device
    ids = torch.full((len(batch), weights.shape[2]), model.padding, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for line, tokens in enumerate(batch):
        ids[line, : len(tokens.ids)] = torch.tensor(tokens.ids)
        mask[line, : len(tokens.ids)] = 1
    ids, mask, of_token = ids.to(device), mask.to(device), torch.from_numpy(weights).to(device)
    if model.source.kind == "encoder-decoder":
        first = (getattr(model.model.config, f"{name}_token_id", None) for name in ("decoder_start", "bos", "pad"))
        start = torch.full_like(ids[:, :1], next((number for number in first if number is not None), 0))
        output = model.model(
            input_ids=ids, attention_mask=mask, decoder_input_ids=torch.cat([start, ids], dim=1),
            decoder_attention_mask=torch.cat([torch.ones_like(start), mask], dim=1), output_hidden_states=True,
            use_cache=False,
        )  # fmt: skip
        after_start = torch.nn.functional.pad(of_token, (1, 0))
        parts = {
            "encoder": (output.encoder_hidden_states, of_token),
            "decoder": (output.decoder_hidden_states, after_start),
        }
    else:
        body = model.model.base_model
        arguments = {"use_cache": False} if model.source.kind == "causal" else {}
        output = body(input_ids=ids, attention_mask=mask, output_hidden_states=True, **arguments)
        parts = {"model": (output.hidden_states, of_token)}
    return {
        part: torch.stack([torch.bmm(weight, layer.float()) for layer in states], dim=1).cpu().numpy()
        for part, (states, weight) in parts.items()
    }


def _order(place: VectorPlace) -> tuple[int, int, int]:
    """Poolings in their order, then parts, then layers: among equally good places the first is chosen."""
    poolings, parts = (*POOLINGS, "own"), ("encoder", "decoder", "model", "sentence")
    return poolings.index(place.pooling), parts.index(place.part), place.layer


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
        np.array([numbers.setdefault(Unit(text, *(span if has_target else (0, 0))), len(numbers)) for text in of_row])
        for of_row, span in zip(table["texts"], spans, strict=True)
    ]
    scores = table["score"]
    is_scored = scores.null_count() == 0 and scores.n_unique() > len(data.labels)
    # a control label belongs to a target word, or to the texts of a row (Hewitt & Liang 2019), and has the
    # probability that a row has the label
    types = table["target"] if has_target else table["texts"].list.join("\x1f")
    n_options = (table["texts"].list.len() - table["n_context"]).to_numpy()
    train_labels = data.split("train")["label"].to_numpy()
    controls = []
    for seed in range(SEEDS):
        keys = hashing.record_keys([f"control {seed}"] * len(types), types).to_numpy()
        if data.shape is Shape.CHOICE:
            controls.append((keys % n_options).astype(np.int64))
        else:
            controls.append(np.sort(train_labels)[(keys % len(train_labels)).astype(np.int64)])
    rows = _Rows(
        data.shape, table["split"].cast(pl.String).to_numpy(), table["label"].to_numpy(), len(data.labels),
        table["n_context"].to_numpy().astype(np.int64), texts, table.filter(pl.col("split") == "test"),
        scores.to_numpy().astype(np.float64) if is_scored else None, np.array(controls),
    )  # fmt: skip
    return rows, list(numbers)


def _shuffled(units: Sequence[Unit]) -> list[Unit]:
    """The texts with their words in another order, chosen by hash; the target stays in one piece and is found again."""
    shuffled = []
    for unit in units:
        before, target, after = unit.text[: unit.start], unit.text[unit.start : unit.end], unit.text[unit.end :]
        words = [*before.split(), *([target] if target else []), *after.split()]
        if len(words) < 4 and " " not in unit.text:  # noqa: PLR2004 (a text without blanks is divided into characters)
            words = [*before, *([target] if target else []), *after]
        between = " " if " " in unit.text else ""
        keys = hashing.record_keys([unit.text] * len(words), map(str, range(len(words)))).to_numpy()
        order = np.argsort(keys).tolist()
        start = 0
        if target:
            place = order.index(len(before.split()) if between else len(before))
            start = sum(len(words[at]) + len(between) for at in order[:place])
        shuffled.append(Unit(between.join(words[at] for at in order), start, start + len(target)))
    return shuffled


def _features(rows: _Rows, vectors: Floats) -> _Features:
    """The features of each row, or of each option of a choice."""
    numbers, n_options = np.arange(len(rows.labels)), np.array([len(texts) for texts in rows.texts]) - rows.n_context
    if rows.shape is not Shape.CHOICE:
        values = _relations(vectors, rows.texts)
        return _Features(values, numbers, np.zeros_like(numbers), np.full_like(numbers, rows.n_labels))
    row = np.repeat(numbers, n_options)
    option = np.concatenate([np.arange(n) for n in n_options])
    of_options = [
        _option(vectors, rows.texts[at], int(rows.n_context[at]), place) for at, place in zip(row, option, strict=True)
    ]
    return _Features(np.stack(of_options), row, option, n_options)


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


def _option(vectors: Floats, texts: Ints, n_context: int, at: int) -> Floats:
    """The features of an option: its vector, and its relation to the mean and to the last text of the context."""
    option = vectors[texts[n_context + at]]
    if not n_context:
        return np.asarray(option)
    context = vectors[texts[:n_context]]
    pairs = [part for other in (context.mean(axis=0), context[-1]) for part in (np.abs(other - option), other * option)]
    return np.concatenate([option, *pairs])


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


def _fitted(  # noqa: PLR0913, PLR0917 (what is learned from what, and how)
    rows: _Rows, features: _Features, labels: Ints, learned: Bools, strength: float,
    classifier: Callable[[Any], Any] = _logistic,
) -> Shares:  # fmt: skip
    """The probability of each label, or of each option, in every row, shape (rows, labels).

    A classifier learns labels of rows. For choices it learns which options are correct; the probabilities of options
    are proportional to the odds that each is.

    Args:
        rows: all rows.
        features: their features, which are standardised on the learned rows.
        labels: what is learned, per row.
        learned: which rows are.
        strength: of the regularisation, or whatever ``classifier`` takes.
        classifier: makes a classifier of scikit-learn.
    """
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 (over a second; suites do without)

    is_choice = rows.shape is Shape.CHOICE
    targets = (labels[features.row] == features.option).astype(np.int64) if is_choice else labels[features.row]
    examples = learned[features.row]
    shares = np.zeros((len(rows.labels), int(features.n_options.max())))
    if len(classes := np.unique(targets[examples])) == 1:
        shares[:, 0 if is_choice else classes[0]] = 1
        return shares
    scaler = StandardScaler().fit(features.values[examples])
    with _one_thread():
        fitted = classifier(strength).fit(scaler.transform(features.values[examples]), targets[examples])
        probability: Shares = fitted.predict_proba(scaler.transform(features.values)).astype(np.float64)
    if not is_choice:
        shares[:, fitted.classes_] = probability
        return shares
    least = np.finfo(np.float64).tiny
    odds = np.log(np.maximum(probability[:, 1], least)) - np.log(np.maximum(probability[:, 0], least))
    logits = np.full(shares.shape, -np.inf)
    logits[features.row, features.option] = odds
    shares[...] = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _correct(rows: _Rows, shares: Shares, labels: Ints | None = None, split: str = "test") -> Shares:
    """1 for each row of a split whose most probable label (of equal ones the first) is right, 0 for the others."""
    is_right = shares.argmax(axis=1) == (rows.labels if labels is None else labels)
    return np.asarray(is_right[rows.of(split)], np.float64)


def _chosen(rows: _Rows, features: _Features) -> tuple[float, float, Shares]:
    """The strength that is best on validation (of equal ones the strongest), its accuracy there, and what it gives."""
    fits = [(strength, _fitted(rows, features, rows.labels, rows.of("train"), strength)) for strength in STRENGTHS]
    strength, shares = max(fits, key=lambda fit: float(_correct(rows, fit[1], split="validation").mean()))
    return strength, float(_correct(rows, shares, split="validation").mean()), shares


def _score_place(rows: _Rows, place: VectorPlace, vectors: Floats) -> ModelScore:
    """The score on test of the classifier of ``STRENGTHS`` that does best on validation, with standardised features."""
    from sklearn.metrics import f1_score  # noqa: PLC0415 (over a second; suites do without)

    features = _features(rows, vectors)
    strength, validation, shares = _chosen(rows, features)
    score = score_of(place.pooling, _correct(rows, shares), rows.test)
    f1 = pearson = spearman = None
    if rows.shape is not Shape.CHOICE:
        test = rows.of("test")
        f1 = float(f1_score(rows.labels[test], shares.argmax(axis=1)[test], average="macro"))
    if rows.target_score is not None:
        pearson, spearman = _correlations(rows, features, rows.target_score)
    return msgspec.structs.replace(
        score, bootstrap=bootstrap(_correct(rows, shares), rows.test), part=place.part, layer=place.layer,
        macro_f1=f1, validation=validation, strength=strength,
        pearson=pearson, spearman=spearman,
    )  # fmt: skip


def _correlations(rows: _Rows, features: _Features, truth: Shares) -> tuple[float | None, float | None]:
    """Pearson's and Spearman's correlation on test of ridge regression, whose strength is chosen on validation."""
    from scipy import stats  # noqa: PLC0415 (over a second; suites do without)
    from sklearn.linear_model import Ridge  # noqa: PLC0415 (over a second; suites do without)
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 (over a second; suites do without)

    train, validation, test = (rows.of(split) for split in SPLITS)
    values = StandardScaler().fit(features.values[train]).transform(features.values)
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


def _controls(rows: _Rows, features: _Features, best: ModelScore, executor: Executor | None) -> Controls:
    """The figures that need no other vectors; `SEEDS` seeds at the same time, if there is an executor."""
    seeds = range(SEEDS)
    each = functools.partial(_with_seed, rows, features, best.strength or STRENGTHS[0])
    control, bits, mlp, curves = zip(*(executor.map if executor else map)(each, seeds), strict=True)
    train = rows.of("train")
    uniform = float(np.log2(features.n_options[train]).sum())
    length = float(np.mean(bits))
    return Controls(
        seeds=SEEDS, control=float(np.mean(control)), control_sd=float(np.std(control, ddof=1)),
        selectivity=best.accuracy - float(np.mean(control)), code_length=length,
        code_length_sd=float(np.std(bits, ddof=1)), uniform_code_length=uniform,
        compression=uniform / length if length else float("inf"), mlp=float(np.mean(mlp)),
        mlp_sd=float(np.std(mlp, ddof=1)), curve=curves[0],
    )  # fmt: skip


def _with_seed(
    rows: _Rows, features: _Features, strength: float, seed: int
) -> tuple[float, float, float, tuple[tuple[int, float], ...]]:
    """For a seed: the accuracy on control labels, the code length in bits, the accuracy of an MLP, and the curve."""
    train = rows.of("train")
    labels = rows.controls[seed]
    control = float(_correct(rows, _fitted(rows, features, labels, train, strength), labels).mean())
    mlp = float(_correct(rows, _fitted(rows, features, rows.labels, train, seed, _mlp)).mean())
    bits, curve = _online_code(rows, features, seed)
    return control, bits, mlp, curve


def _online_code(rows: _Rows, features: _Features, seed: int) -> tuple[float, tuple[tuple[int, float], ...]]:
    """The length in bits of the labels of train in the online code (Voita & Titov 2020), and the learning curve.

    The first block of rows is encoded with a uniform distribution, each further block with a probe that has learned
    the rows before it; its regularisation is the one that encodes validation best. With K labels and n rows learned, a
    probability p becomes (n p + 1) / (n + K), so that no label has an infinite length; a probe that has seen a single
    label then follows Laplace's rule of succession.

    Args:
        rows: all rows.
        features: their features.
        seed: of the order of the rows; 0 is their order in train, whose sizes are nested.

    Returns:
        The length, and the accuracy on test for each number of rows learned.
    """
    order = np.flatnonzero(rows.of("train"))
    if seed:
        keys = hashing.splitmix64(np.arange(len(order)) + seed * 2**32)
        order = order[np.argsort(keys)]
    sizes = sorted({round(fraction * len(order)) for fraction in FRACTIONS} - {0})
    bits = float(np.log2(features.n_options[order[: sizes[0]]]).sum())
    curve = []
    for size, after in itertools.zip_longest(sizes, sizes[1:]):
        learned = np.zeros(len(rows.labels), bool)
        learned[order[:size]] = True
        fits = [_smoothed(_fitted(rows, features, rows.labels, learned, strength), features, size)
                for strength in STRENGTHS]  # fmt: skip
        shares = min(fits, key=lambda each: _code_length(rows, each, np.flatnonzero(rows.of("validation"))))
        curve.append((size, float(_correct(rows, shares).mean())))
        if after:
            bits += _code_length(rows, shares, order[size:after])
    return bits, tuple(curve)


def _smoothed(shares: Shares, features: _Features, n: int) -> Shares:
    """Probabilities after ``n`` rows, none of which is zero."""
    n_options = features.n_options[:, None]
    return np.asarray((n * shares + 1) / (n + n_options))


def _code_length(rows: _Rows, shares: Shares, encoded: Ints) -> float:
    """Bits that the labels of rows need in an ideal code for these probabilities."""
    return float(-np.log2(shares[encoded, rows.labels[encoded]]).sum())


def _top_neurons(rows: _Rows, vectors: Mapping[VectorPlace, Floats], best: VectorPlace) -> TopNeurons:
    """The top neurons of all layers, with the pooling of the best place; regularisation is chosen on validation."""
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 (over a second; suites do without)

    places = sorted((p for p in vectors if (p.part, p.pooling) == (best.part, best.pooling)), key=_order)
    texts = np.array([of_row[0] for of_row in rows.texts])
    train, validation, test = (rows.of(split) for split in SPLITS)
    layers = np.repeat(np.arange(len(places)), [vectors[place].shape[1] for place in places])
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
        numbers = np.arange(len(rows.labels))
        features = _Features(values[:, chosen], numbers, 0 * numbers, np.full_like(numbers, rows.n_labels))
        _, on_validation, shares = _chosen(rows, features)
        accuracy = float(_correct(rows, shares).mean())
        if on_validation >= needed:
            break
    in_layer = np.bincount(layers[chosen], minlength=len(places)) / max(1, len(chosen))
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


def _save_layers(path: Path, rows: _Rows, units: Sequence[Unit], vectors: Mapping[VectorPlace, Floats]) -> None:
    """Saves the keys of the first texts of test, and their mean vectors in each layer."""
    test = [rows.texts[row] for row in np.flatnonzero(rows.of("test"))]
    texts = np.array(list(dict.fromkeys(np.concatenate(test).tolist()))[:SIMILAR])
    layers = {f"{place.part} {place.layer:02d}".removeprefix("model "): values[texts]
              for place, values in sorted(vectors.items(), key=lambda item: _order(item[0]))
              if place.pooling == "mean"}  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, keys=_keys_of([units[text] for text in texts]), **layers)


Similarity = dict[tuple[str, str], float]
"""Names of two layers → their similarity, 0 to 1."""


def similarities(first: Path, second: Path) -> tuple[Similarity, Similarity] | None:
    """How similar each layer of a model is to each of another one (or of the same), by the vectors of the same texts.

    Args:
        first: a file that `evaluate` saved.
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
