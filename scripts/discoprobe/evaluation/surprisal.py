"""Scores a causal model on minimal pairs and choices: which text does it find more probable?

Surprisal is the negative logarithm of the probability of a token given those before it, in bits. A pair is correct if
the edited text has more surprisal than the original (BLiMP's criterion); a choice is correct if the right option has
the least surprisal after the context. The surprisal of a text is the sum over its tokens (``total``), the mean per
token (``per_token``, better for texts of different lengths), or for pairs the sum over the tokens of the edit alone
(``region``). If every group of a suite has one pair of each condition, the first score is that of the groups
(``item``): a group is correct if the differences of its pairs, edited text minus original, have a sum above zero.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.config import Shape, crossed
from discoprobe.evaluation.models import Evaluation, LanguageModel, ModelScore, in_batches, score_of
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.process_pool import Progress

Floats = npt.NDArray[np.float64]

TOKENS_PER_BATCH = 1024
"""Largest number of tokens in a batch: each takes 4 bytes per entry of the vocabulary (50,000 entries or more)."""


@dataclass(frozen=True, slots=True)
class TokenSurprisal:
    """Surprisal (in bits), first character and end character of each token of a text, shape (tokens,)."""

    bits: Floats
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    def over(self, start: int, end: int) -> Floats:
        """The bits of the tokens that overlap the characters from ``start`` to ``end``."""
        return self.bits[(self.starts < end) & (self.ends > start)]


def evaluate(data: AuditInput, model: LanguageModel, progress: Progress) -> Evaluation:
    """The share of pairs, or of choices, of the test split that the model gets right.

    Rows of a pair share ``pair_id``, and label 0 is the original.

    Raises:
        UnsupportedError: the rows are neither pairs nor choices.
    """
    test = data.split("test")
    if data.shape is Shape.CHOICE:
        scores, truncated, chance = _choices(test, model, progress)
    elif data.pairs and test["pair_id"].null_count() == 0:
        scores, truncated = _pairs(test, model, progress)
        chance = 0.5
    else:
        raise UnsupportedError(f"{data.name} has neither pairs nor choices: surprisal compares texts of a row or pair")
    return Evaluation(data.name, model.name, model.commit, tuple(scores), scores[0], chance, truncated)


def _pairs(test: pl.DataFrame, model: LanguageModel, progress: Progress) -> tuple[list[ModelScore], int]:
    """The scores over pairs of an original and an edited text, and the number of texts that were cut."""
    columns = ["pair_id", "texts", "edit_start", "edit_end"]
    pairs = (
        test.filter(pl.col("label") == 0).select(*columns, "group", "condition")
        .join(test.filter(pl.col("label") != 0).select(columns), on="pair_id", suffix="_edited", maintain_order="left")
    )  # fmt: skip
    if pairs.is_empty():
        raise UnsupportedError("no pair has an original (label 0) and an edited text in test")
    originals, edited = pairs["texts"].list.join(" ").to_list(), pairs["texts_edited"].list.join(" ").to_list()
    read = surprisals(model, [*originals, *edited], progress)
    first, second = read[: len(originals)], read[len(originals) :]
    ways = {
        "total": ([each.bits.sum() for each in first], [each.bits.sum() for each in second]),
        "per_token": ([each.bits.mean() for each in first], [each.bits.mean() for each in second]),
    }
    if pairs["edit_start"].null_count() == 0 and pairs["edit_start_edited"].null_count() == 0:
        spans = pairs.select("edit_start", "edit_end", "edit_start_edited", "edit_end_edited").rows()
        ways["region"] = (
            [each.over(start, end).sum() for each, (start, end, _, _) in zip(first, spans, strict=True)],
            [each.over(start, end).sum() for each, (_, _, start, end) in zip(second, spans, strict=True)],
        )
    groups = pairs.select("group", pair_id=pl.lit(None, pl.String))
    scores = [
        score_of(method, _better(np.array(original), np.array(changed)), groups)
        for method, (original, changed) in ways.items()
    ]
    scores = [*_of_items(pairs, *map(np.array, ways["total"])), *scores]
    return scores, model.n_cut([*originals, *edited])


def _of_items(pairs: pl.DataFrame, original: Floats, changed: Floats) -> list[ModelScore]:
    """The score over groups with one pair of each condition; empty if groups are of another kind."""
    if not crossed(pairs):
        return []
    differences = pairs.select("group", pair_id=pl.lit(None, pl.String), difference=pl.Series(changed - original))
    items = differences.group_by("group", "pair_id", maintain_order=True).agg(pl.col("difference").sum())
    return [score_of("item", _better(np.zeros(items.height), items["difference"].to_numpy()), items)]


def _better(low: Floats, high: Floats) -> Floats:
    """1 if the first is lower, 0 if it is higher, one half if both are equal."""
    return np.where(low < high, 1.0, np.where(low > high, 0.0, 0.5))


def _choices(test: pl.DataFrame, model: LanguageModel, progress: Progress) -> tuple[list[ModelScore], int, float]:
    """The scores over rows with options, the number of texts that were cut, and the accuracy of random guessing."""
    texts: list[str] = []
    starts: list[int] = []
    n_options: list[int] = []
    for shown, n_context in test.select("texts", "n_context").iter_rows():
        context = " ".join(shown[:n_context])
        texts += [f"{context} {option}".lstrip() for option in shown[n_context:]]
        starts += [len(context)] * (len(shown) - n_context)
        n_options.append(len(shown) - n_context)
    read = surprisals(model, texts, progress)
    bits = [each.over(start, len(text)) for each, start, text in zip(read, starts, texts, strict=True)]
    ends = np.cumsum(n_options)[:-1]
    labels = test["label"].to_list()
    scores = []
    for method, of_option in (("total", np.sum), ("per_token", np.mean)):
        values = np.split(np.array([of_option(each) if len(each) else np.inf for each in bits]), ends)
        right = np.array([float(row.argmin() == label) for row, label in zip(values, labels, strict=True)])
        scores.append(score_of(method, right, test))
    return scores, model.n_cut(texts), float((1 / np.array(n_options)).mean())


def surprisals(model: LanguageModel, texts: Sequence[str], progress: Progress) -> list[TokenSurprisal]:
    """The surprisal of every token of each text.

    A beginning-of-text token is put before the text, or the end-of-text token for models without one (GPT-2). If a
    model has neither, the first token has no surprisal and is left out.
    """
    import torch  # noqa: PLC0415 (takes seconds)

    read: dict[int, TokenSurprisal] = {}
    with torch.inference_mode():
        encoded = [_encode(model, text) for text in texts]
        for numbers in in_batches([len(text.ids) for text in encoded], TOKENS_PER_BATCH):
            batch = [encoded[number] for number in numbers]
            longest = max(len(text.ids) for text in batch)
            ids = torch.zeros((len(batch), longest), dtype=torch.long, device=model.model.device)
            mask = torch.zeros_like(ids)
            for line, text in enumerate(batch):
                ids[line, : len(text.ids)] = torch.tensor(text.ids)
                mask[line, : len(text.ids)] = 1
            logits = model.model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
            probability = torch.log_softmax(logits, dim=-1).gather(2, ids[:, 1:, None])[:, :, 0]
            bits = (-probability / math.log(2)).double().cpu().numpy()
            for line, (number, text) in enumerate(zip(numbers, batch, strict=True)):
                read[number] = text.with_bits(bits[line, : len(text.ids) - 1])
            progress("surprisal", len(read), len(texts))
    return [read[number] for number in range(len(texts))]


@dataclass(frozen=True, slots=True)
class _Encoded:
    """Token ids of a text, including a beginning-of-text token, and the offsets of the tokens without it."""

    ids: list[int]
    offsets: npt.NDArray[np.int64]

    def with_bits(self, bits: Floats) -> TokenSurprisal:
        offsets = self.offsets[len(self.offsets) - len(bits) :]
        return TokenSurprisal(bits, offsets[:, 0], offsets[:, 1])


def _encode(model: LanguageModel, text: str) -> _Encoded:
    tokenizer = model.tokenizer
    begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    encoded = tokenizer(
        text, add_special_tokens=False, return_offsets_mapping=True, truncation=True, max_length=model.longest - 1
    )
    ids = encoded["input_ids"] if begin is None else [begin, *encoded["input_ids"]]
    return _Encoded(ids, np.array(encoded["offset_mapping"], np.int64).reshape(-1, 2))
