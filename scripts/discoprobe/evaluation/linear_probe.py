"""Logistic regression on frozen hidden states, one per layer and pooling.

The features of a row are the vectors of its texts, and for each two neighbouring texts the absolute difference and the
product of their vectors (Conneau et al. 2017), because coherence is a relation between sentences. For a choice, each
option is scored by its vector and its relation to the context, and the option with the highest score is predicted.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.evaluation.models import Evaluation, LanguageModel, ModelScore, best_of, majority, score_of
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.process_pool import Progress

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float16]

POOLINGS = ("mean", "token")
"""``mean`` over the tokens of the text without special ones, or one ``token``: the first (``[CLS]``) of a bidirectional
encoder, the last of a causal model, which is the only one that has seen the whole text."""

STRENGTHS = (0.001, 0.01, 0.1, 1.0)
"""Inverse regularisation strengths; the one that does best on validation is used."""

STEPS = 300
"""Largest number of iterations of the optimiser."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a dataset as arrays, with an element per row; ``texts`` has the indices of the texts of each row."""

    shape: Shape
    split: npt.NDArray[np.str_]
    labels: Ints
    n_context: Ints
    texts: list[Ints]
    test: pl.DataFrame


def evaluate(data: AuditInput, model: LanguageModel, progress: Progress, *, train_rows: int = 10_000) -> Evaluation:
    """Trains a probe per layer and pooling on train, chooses the best on validation, and scores it on test.

    Only the first ``train_rows`` rows of train are used.

    Raises:
        UnsupportedError: a split is missing, or rows that are not choices have different numbers of texts.
    """
    missing = [split for split in SPLITS if split not in data.splits]
    if missing:
        raise UnsupportedError(f"{data.name} has no {' and no '.join(missing)} split: a linear probe needs all three")
    table = pl.concat([data.split("train").head(train_rows), data.split("validation"), data.split("test")])
    texts = table["texts"].explode().unique(maintain_order=True)
    vectors = sentence_vectors(model, texts.to_list(), progress)
    number = pl.element().replace_strict(texts, range(len(texts)), return_dtype=pl.Int64)
    rows = _Rows(
        data.shape, table["split"].cast(pl.String).to_numpy(), table["label"].to_numpy(),
        table["n_context"].to_numpy().astype(np.int64),
        [np.array(row) for row in table.select(pl.col("texts").list.eval(number))["texts"].to_list()],
        table.filter(pl.col("split") == "test"),
    )  # fmt: skip
    scores: list[ModelScore] = []
    for pooling, method in enumerate(POOLINGS):
        for layer in range(vectors.shape[2]):
            score = _score_probe(rows, vectors[:, pooling, layer].astype(np.float32), method)
            scores.append(dataclasses.replace(score, layer=layer))
            progress("training probes", len(scores), vectors.shape[2] * len(POOLINGS))
    return Evaluation(
        data.name, model.name, model.commit, tuple(scores), best_of(scores), majority(data),
        truncated=model.n_cut(texts.to_list()), train_rows=int((rows.split == "train").sum()),
    )  # fmt: skip


def _score_probe(rows: _Rows, vectors: Floats, method: str) -> ModelScore:
    """The score on test of the classifier of ``STRENGTHS`` that does best on validation, with standardised features.

    A classifier learns labels of rows. For choices it learns which options are correct, and the option with the highest
    score in a row is its prediction (of equal ones the first).
    """
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (scikit-learn takes seconds)
    from sklearn.metrics import f1_score  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    is_choice = rows.shape is Shape.CHOICE
    if is_choice:
        options = [(row, at) for row, texts in enumerate(rows.texts) for at in range(len(texts) - rows.n_context[row])]
        row_of, option_of = np.array(options).T
        features = np.stack([_option(vectors, rows.texts[row], int(rows.n_context[row]), at) for row, at in options])
        targets = (rows.labels[row_of] == option_of).astype(np.int64)
    else:
        row_of, features, targets = np.arange(len(rows.labels)), _relations(vectors, rows.texts), rows.labels
    train, validation, test = (rows.split == split for split in SPLITS)
    best, best_predicted = -1.0, rows.labels
    for strength in STRENGTHS:
        classifier = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=STEPS))
        classifier.fit(features[train[row_of]], targets[train[row_of]])
        if is_choice:
            table = pl.DataFrame({"row": row_of, "at": option_of, "score": classifier.decision_function(features)})
            first = table.sort(["row", "score", "at"], descending=[False, True, False]).unique("row", keep="first")
            predicted = first.sort("row")["at"].to_numpy()
        else:
            predicted = classifier.predict(features)
        accuracy = float((predicted == rows.labels)[validation].mean())
        if accuracy > best:
            best, best_predicted = accuracy, predicted
    truth, predicted = rows.labels[test], best_predicted[test]
    score = score_of(method, (predicted == truth).astype(np.float64), rows.test)
    f1 = None if is_choice else float(f1_score(truth, predicted, average="macro"))
    return dataclasses.replace(score, macro_f1=f1, validation=best)


def _relations(vectors: Floats, places: list[Ints]) -> Floats:
    """The vectors of the texts of each row with the relations of neighbours, shape (rows, features)."""
    if len({len(texts) for texts in places}) > 1:
        raise UnsupportedError(
            "rows have different numbers of texts: a linear probe needs the same number in every row"
        )
    texts = vectors[np.stack(places)]
    before, after = texts[:, :-1], texts[:, 1:]
    parts = np.concatenate([texts, np.abs(before - after), before * after], axis=1)
    return np.asarray(parts.reshape(len(places), -1))


def _option(vectors: Floats, texts: Ints, n_context: int, at: int) -> Floats:
    """The features of an option: its vector, and its relation to the mean and to the last text of the context."""
    option = vectors[texts[n_context + at]]
    if not n_context:
        return np.asarray(option)
    context = vectors[texts[:n_context]]
    pairs = [part for other in (context.mean(axis=0), context[-1]) for part in (np.abs(other - option), other * option)]
    return np.concatenate([option, *pairs])


def sentence_vectors(model: LanguageModel, texts: Sequence[str], progress: Progress) -> Vectors:
    """The vectors of texts in every layer.

    Returns:
        Array of shape (texts, poolings, layers + 1, dimensions), half precision; layer 0 is the embeddings. Poolings
        are in the order of ``POOLINGS``.
    """
    import torch

    vectors: Vectors = np.empty((0,), np.float16)
    done = 0
    with torch.inference_mode():
        for numbers, tensors in model.batches(texts):
            placed = {name: tensor.to(model.model.device) for name, tensor in tensors.items()}
            special, attended = placed.pop("special_tokens_mask"), placed["attention_mask"]
            states = torch.stack(model.model(**placed, output_hidden_states=True).hidden_states, dim=1)
            words = attended * (1 - special)
            words = torch.where(words.sum(dim=1, keepdim=True) > 0, words, attended)[:, None, :, None]
            mean = (states * words).sum(dim=2) / words.sum(dim=2)
            at = attended.sum(dim=1) - 1 if model.causal else torch.zeros_like(attended[:, 0])
            token = states[torch.arange(len(numbers)), :, at]
            pooled = torch.stack([mean, token], dim=1).to(torch.float16).cpu().numpy()
            if not done:
                vectors = np.empty((len(texts), *pooled.shape[1:]), np.float16)
            vectors[numbers] = pooled
            done += len(numbers)
            progress("encoding", done, len(texts))
    return vectors
