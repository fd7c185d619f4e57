"""Models of the transformers library, from a local folder or the Hub, and the scores of a model on a config.

`load_model` gives a `LanguageModel`; `linear_probe` and `surprisal` use it and return an `Evaluation`, which has the
scores with the baselines that they must be compared with.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.intervals import Interval, exact, independent_rows
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.files import hashes_of

TOKENS_PER_BATCH = 8192
"""Largest number of tokens in a batch, padding included."""

MOST_TOKENS = 512
"""Largest number of tokens of a text, if neither the model nor its tokenizer has a maximum."""


class ModelError(DiscoprobeError):
    """A model that cannot be loaded or used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A model with its tokenizer.

    Attributes:
        name: the folder or the Hub id that it was loaded from.
        commit: the commit on the Hub, or the SHA-256 of the weights of a local folder.
        model: the transformers model, in evaluation mode.
        tokenizer: a fast tokenizer with a padding token.
        causal: whether it predicts each token from those before it.
        longest: most tokens of a text; longer texts are cut.
    """

    name: str
    commit: str
    model: Any
    tokenizer: Any
    causal: bool
    longest: int

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], dict[str, Any]]]:
        """The texts in batches of similar length: the indices of the texts, and the tensors of the tokenizer."""
        for numbers in in_batches([min(n, self.longest) for n in self._lengths(texts)], TOKENS_PER_BATCH):
            tensors = self.tokenizer(
                [texts[number] for number in numbers], truncation=True, max_length=self.longest, padding=True,
                return_tensors="pt", return_special_tokens_mask=True,
            )  # fmt: skip
            yield numbers, dict(tensors)

    def n_cut(self, texts: Sequence[str]) -> int:
        """How many of the texts are longer than the model takes."""
        return sum(n > self.longest for n in self._lengths(texts))

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]


def in_batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """The indices of texts in batches of similar length, the shortest first.

    Args:
        lengths: number of tokens of each text.
        most: largest number of tokens in a batch, padding included; a longer text is a batch of its own.
    """
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda at: (lengths[at], at)):
        if batch and lengths[number] * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def load_model(name: str, task: Literal["encoder", "causal"], device: str = "cpu") -> LanguageModel:
    """A model that computes hidden states (``encoder``) or the probability of each token (``causal``).

    Args:
        name: a local folder or a Hub id.
        task: what the model is used for; every model of transformers is an encoder here.
        device: where torch computes, ``cpu`` or ``cuda``.

    Raises:
        ModelError: transformers is not installed, there is no such model, or it has no head for causal prediction.
    """
    try:
        import transformers
    except ModuleNotFoundError:
        raise ModelError("transformers is not installed: pip install 'discoprobe[probe]'") from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        config = transformers.AutoConfig.from_pretrained(name)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, use_fast=True)
        causal = any("CausalLM" in each or "LMHead" in each for each in config.architectures or ())
        if task == "causal" and not causal:
            architecture = ", ".join(config.architectures or ("unknown",))
            raise ModelError(f"{name} is not a causal language model ({architecture}); leave --surprisal out")
        factory = transformers.AutoModelForCausalLM if task == "causal" else transformers.AutoModel
        model = factory.from_pretrained(name).to(device).eval()
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"{name}: cannot be loaded as a model of transformers: {reason}") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    tokenizer.padding_side = "right"
    stated = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    longest = min((n for n in stated if isinstance(n, int) and 0 < n < 10**6), default=MOST_TOKENS)
    return LanguageModel(name, _commit(name, config), model, tokenizer, causal, longest)


def _commit(name: str, config: Any) -> str:
    """The commit of a model on the Hub, or the SHA-256 of the weights in a local folder."""
    if Path(name).is_dir():
        weights = sorted([*Path(name).glob("*.safetensors"), *Path(name).glob("*.bin")])
        return "+".join(hashes_of(file).sha256 for file in weights)
    return str(getattr(config, "_commit_hash", None) or "")


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
    columns = [column for column in ("pair_id", "group") if rows[column].null_count() == 0]
    clusterings = [rows[column].rank("dense").to_numpy().astype(np.int64) for column in columns]
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
