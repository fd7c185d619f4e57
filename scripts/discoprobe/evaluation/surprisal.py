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
    texts = [*pairs["texts"].list.join(" "), *pairs["texts_edited"].list.join(" ")]
    read = surprisals(model, texts, progress)
    ways = {"total": [each.bits.sum() for each in read], "per_token": [each.bits.mean() for each in read]}
    if pairs["edit_start"].null_count() == 0 and pairs["edit_start_edited"].null_count() == 0:
        starts = [*pairs["edit_start"], *pairs["edit_start_edited"]]
        ends = [*pairs["edit_end"], *pairs["edit_end_edited"]]
        ways["region"] = [each.over(*span).sum() for each, *span in zip(read, starts, ends, strict=True)]
    groups = pairs.select("group", pair_id=pl.lit(None, pl.String))
    differences = {method: np.subtract(*np.split(np.array(bits), 2)[::-1]) for method, bits in ways.items()}
    scores = [score_of(method, _share_positive(values), groups) for method, values in differences.items()]
    if crossed(pairs):
        items = groups.with_columns(difference=differences["total"]).group_by("group", "pair_id", maintain_order=True)
        summed = items.agg(pl.col("difference").sum())
        scores.insert(0, score_of("item", _share_positive(summed["difference"].to_numpy()), summed))
    return scores, model.n_cut(texts)


def _share_positive(differences: Floats) -> Floats:
    """1 where the edited text has more surprisal than the original, 0 where it has less, one half where both agree."""
    return (np.sign(differences) + 1) / 2


def _choices(test: pl.DataFrame, model: LanguageModel, progress: Progress) -> tuple[list[ModelScore], int, float]:
    """The scores over rows with options, the number of texts that were cut, and the accuracy of random guessing."""
    texts: list[str] = []
    starts: list[int] = []
    n_options: list[int] = []
    for of_row, n_context in test.select("texts", "n_context").iter_rows():
        context = " ".join(of_row[:n_context])
        texts += [f"{context} {option}".lstrip() for option in of_row[n_context:]]
        starts += [len(context)] * (len(of_row) - n_context)
        n_options.append(len(of_row) - n_context)
    read = surprisals(model, texts, progress)
    bits = [each.over(start, len(text)) for each, start, text in zip(read, starts, texts, strict=True)]
    scores = []
    for method, of_option in (("total", np.sum), ("per_token", np.mean)):
        values = np.array([of_option(each) if len(each) else np.inf for each in bits])
        chosen = [row.argmin() for row in np.split(values, np.cumsum(n_options)[:-1])]
        scores.append(score_of(method, (np.array(chosen) == test["label"].to_numpy()).astype(np.float64), test))
    return scores, model.n_cut(texts), float((1 / np.array(n_options)).mean())


def surprisals(model: LanguageModel, texts: Sequence[str], progress: Progress) -> list[TokenSurprisal]:
    """The surprisal of every token of each text.

    A beginning-of-text token is put before the text, or the end-of-text token for models without one (GPT-2). If a
    model has neither, the first token has no surprisal and is left out.
    """
    import torch

    tokenizer = model.tokenizer
    begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    encoded: list[tuple[list[int], npt.NDArray[np.int64]]] = []
    for text in texts:
        tokens = tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=True, max_length=model.longest - 1
        )
        ids = tokens["input_ids"] if begin is None else [begin, *tokens["input_ids"]]
        encoded.append((ids, np.array(tokens["offset_mapping"], np.int64).reshape(-1, 2)))
    read: dict[int, TokenSurprisal] = {}
    with torch.inference_mode():
        for numbers in in_batches([len(ids) for ids, _ in encoded], TOKENS_PER_BATCH):
            longest = max(len(encoded[number][0]) for number in numbers)
            ids = torch.zeros((len(numbers), longest), dtype=torch.long, device=model.model.device)
            mask = torch.zeros_like(ids)
            for line, number in enumerate(numbers):
                n_tokens = len(encoded[number][0])
                ids[line, :n_tokens] = torch.tensor(encoded[number][0])
                mask[line, :n_tokens] = 1
            logits = model.model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
            probability = torch.log_softmax(logits, dim=-1).gather(2, ids[:, 1:, None])[:, :, 0]
            bits = (-probability / math.log(2)).double().cpu().numpy()
            for line, number in enumerate(numbers):
                tokens, offsets = encoded[number]
                of_text = bits[line, : len(tokens) - 1]
                offsets = offsets[len(offsets) - len(of_text) :]
                read[number] = TokenSurprisal(of_text, offsets[:, 0], offsets[:, 1])
            progress("surprisal", len(read), len(texts))
    return [read[number] for number in range(len(texts))]
