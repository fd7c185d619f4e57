"""Scores causal and masked models on minimal pairs and choices: which text does a model find more probable?

Surprisal is the negative logarithm of the probability of a token given those before it, in bits. A masked model gives
each token a probability given all others, of which the later tokens of the same word are masked as well; the sum is the
pseudo-log-likelihood (Salazar et al. 2020) with the rule within words of Kauf and Ivanova (2023). A pair is correct if
the edited text has more surprisal than the original (BLiMP's criterion); a choice is correct if the right option has
the least surprisal after the context. There are several ways to add it up: over the tokens of the text (``total``) or
their mean (``per_token``), and over the tokens of the region in which a suite compares its texts, or of the edit of
other pairs (``region``), or their mean (``region_per_token``).

The first score is the prediction of the suite. In suites of passages (CoherenceGym, Beyer et al. 2021) it is the mean
over the region, or over the text if there is no region. In suites of edited sentences (BLiMP, Warstadt et al. 2020) it
is the sum, which is the probability of the words. If every group of a suite has one pair of each condition, the first
score is that of the groups (``item``): a group is correct if the differences of its pairs, edited text minus original,
have a sum above zero. Pairs and choices of other configs are scored by ``total``.

Where a corpus names speakers, the separator of the tokenizer stands between sentences of different speakers, as in
CoherenceGym. Its own surprisal is in no sum and no mean.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.config import Shape, crossed
from discoprobe.evaluation.models import LanguageModel, in_batches
from discoprobe.evaluation.scores import Evaluation, ModelScore, RowScores, score_of
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.process_pool import Progress, silent
from discoprobe.loaders.words import join_texts

Bits = npt.NDArray[np.float64]

TOKENS_PER_BATCH: Final = 1024
"""Largest number of tokens in a batch: each takes 4 bytes per entry of the vocabulary (50,000 entries or more)."""

TIE: Final = 1e-4
"""Largest difference in bits of texts that are equally probable: in single precision, the same text has differences of
this size in different batches."""

SPEECH: Final = r"^\s*[-–—―]|[\"«»„“”「」『』]"
"""Direct speech in a sentence: it begins with a dash, or has quotation marks."""

LEAST_ROWS: Final = 10
"""Parts of a condition, or of a suite, have a score of their own if they have at least so many pairs."""

BETWEEN: Final = {0: "0 words", 1: "1-2 words", 2: "1-2 words"}
FAR: Final = "3+ words"
"""Numbers of words between a verb and its subject, in classes."""

_MOST_TARGETS: Final = 20
"""Scores are given per target word if there are at most so many words."""


class TokenSurprisal(msgspec.Struct, frozen=True):
    """Surprisal (in bits), first character and end character of each token of a text, shape (tokens,).

    ``cut`` says whether a token lacks left context, because the text is longer than the model accepts.
    """

    bits: Bits
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    cut: bool = False

    def over(self, start: int, end: int) -> Bits:
        """The bits of the tokens that overlap the characters from ``start`` to ``end``."""
        return self.bits[(self.starts < end) & (self.ends > start)]

    def without(self, spans: Sequence[tuple[int, int]]) -> Bits:
        """The bits of the tokens that are not inside one of the spans of characters."""
        inside = np.zeros(len(self.bits), dtype=bool)
        for start, end in spans:
            inside |= (self.starts >= start) & (self.ends <= end)
        return self.bits[~inside]


def evaluate(data: AuditInput, model: LanguageModel, progress: Progress) -> Evaluation:
    """The share of pairs, or of choices, of the test split that the model gets right.

    Rows of a pair share ``pair_id``, and label 0 is the original.

    Raises:
        UnsupportedError: the rows are neither pairs nor choices, or the model gives texts no probability.
    """
    check(data, has_head=model.has_head)
    test = data.split("test")
    if data.shape is Shape.CHOICE:
        return _choices(data, test, model, progress)
    return _pairs(data, test, model, progress)


def check(data: AuditInput, *, has_head: bool) -> None:
    """Checks that surprisal can score a dataset, by a model that gives texts a probability if it has such a head.

    Raises:
        UnsupportedError: the rows are neither pairs nor choices, or the model gives texts no probability.
    """
    is_pairs = data.pairs and "test" in data.splits and data.split("test")["pair_id"].null_count() == 0
    if data.shape is not Shape.CHOICE and not is_pairs:
        raise UnsupportedError(f"{data.name}: neither pairs nor choices: surprisal compares texts of a row or pair")
    if not has_head:
        problem = "its texts are compared by their probability, which only causal and masked models give"
        raise UnsupportedError(f"{data.name}: {problem}")


def _pairs(data: AuditInput, test: pl.DataFrame, model: LanguageModel, progress: Progress) -> Evaluation:
    """The scores over pairs of an original and an edited text."""
    columns = ["pair_id", "texts", "edit_start", "edit_end", "speakers"]
    of_pairs = ["group", "condition", "target", "distance", "attractors", "other_speaker"]
    pairs = (
        test.filter(pl.col("label") == 0).select(*columns, *of_pairs)
        .join(test.filter(pl.col("label") != 0).select(columns), on="pair_id", suffix="_edited", maintain_order="left")
    )  # fmt: skip
    if pairs.is_empty():
        raise UnsupportedError(f"{data.name}: no pair has an original (label 0) and an edited text in test")
    # What divides the turns of a dialogue for the model.
    separator = (model.tokenizer.sep_token or model.tokenizer.eos_token or "\n") if pairs["speakers"].count() else ""
    joined = [
        _with_separators(of_row, start, end, speakers, separator)
        for version in ("", "_edited")
        for of_row, start, end, speakers in pairs.select(f"{column}{version}" for column in columns[1:]).iter_rows()
    ]
    texts, spans, separators = zip(*joined, strict=True)
    read = surprisals(model, texts, progress)
    counted = [each.without(marks) for each, marks in zip(read, separators, strict=True)]
    nan = np.array([np.nan])
    in_region = [nan if span is None else each.over(*span) for each, span in zip(read, spans, strict=True)]
    ways = {
        "total": [bits.sum() for bits in counted],
        "per_token": [bits.mean() if len(bits) else 0.0 for bits in counted],
        "region": [each.sum() for each in in_region],
        "region_per_token": [each.mean() if len(each) else np.nan for each in in_region],
    }
    pairs = pairs.with_columns(id=pl.col("pair_id"))
    differences = {method: np.subtract(*np.split(np.array(bits), 2)[::-1]) for method, bits in ways.items()}
    differences = {method: values for method, values in differences.items() if not np.isnan(values).all()}
    is_suite, is_sentence = pairs["condition"].null_count() == 0, pairs["target"].null_count() == 0
    first = "total"
    if is_suite:
        over = "region" if "region" in differences else "total"
        first = over if is_sentence else {"region": "region_per_token", "total": "per_token"}[over]
    order = [first, *(method for method in differences if method != first)]
    # rows of a pair are one difference here, so they do not depend on each other by their pair
    alone = pairs.with_columns(pair_id=pl.lit(None, pl.String))
    scores = [_score(method, differences[method], alone) for method in order]
    headline, rows = differences[first], alone
    if crossed(pairs):
        summed = alone.with_columns(difference=differences[first]).group_by("group", "pair_id", maintain_order=True)
        rows = summed.agg(pl.col("difference").sum()).with_columns(id="group")
        headline = rows["difference"].to_numpy()
        scores.insert(0, _score("item", headline, rows))
    is_scored = ~np.isnan(headline)
    scored_rows = rows.filter(pl.Series(is_scored))
    right = RowScores(
        tuple(scored_rows["id"]), tuple(scored_rows.select(pl.coalesce("group", "id")).to_series()),
        tuple(_share_positive(headline[is_scored]).tolist()),
    )  # fmt: skip
    return Evaluation(
        data.name, model.name, model.commit, tuple(scores), scores[0], 0.5, right, sum(each.cut for each in read),
        conditions=tuple(_by_condition(data, first, differences[first], alone)) if is_suite else (),
    )  # fmt: skip


def _score(method: str, differences: Bits, rows: pl.DataFrame) -> ModelScore:
    """The score of one way to add up, over the rows for which it is known."""
    is_known = ~np.isnan(differences)
    correct = _share_positive(differences[is_known])
    score = score_of(method, correct, rows.filter(pl.Series(is_known)))
    return msgspec.structs.replace(score, ties=int((correct == 0.5).sum()), left_out=int((~is_known).sum()))  # noqa: PLR2004


def _by_condition(data: AuditInput, method: str, differences: Bits, pairs: pl.DataFrame) -> list[ModelScore]:
    """The score of each condition of a suite, and of each target word in it where few words have many rows each.

    Passages are divided into those with direct speech (``dialogue``) and others (``narration``), and by whether the
    compared sentence has the speaker of the one before it; sentences by the words between a verb and its subject, and
    by attractors among these. Such parts have at least ``LEAST_ROWS`` pairs.
    """
    names = data.conditions or tuple(map(str, range(int(pairs["condition"].max()) + 1)))  # type: ignore[arg-type]
    named = pairs.with_columns(
        condition=pl.col("condition").replace_strict(range(len(names)), names, return_dtype=pl.String),
        target=pl.col("target").str.to_lowercase(),
        kind=pl.when(pl.col("texts").list.eval(pl.element().str.contains(SPEECH)).list.any())
        .then(pl.lit("dialogue")).otherwise(pl.lit("narration")),
        speaker=pl.col("other_speaker").replace_strict({False: "same speaker", True: "speaker change"}, default=None),
        between=pl.col("distance").replace_strict(BETWEEN, default=pl.when(pl.col("distance") > 0).then(pl.lit(FAR))),
        attracted=pl.when(pl.col("attractors") > 0).then(pl.lit("with attractors"))
        .when(pl.col("attractors") == 0).then(pl.lit("no attractor")),
    )  # fmt: skip
    keys: list[tuple[str, ...]] = [("condition",)] if named["condition"].n_unique() > 1 else []
    if named["target"].is_null().all() and named["kind"].n_unique() > 1:
        keys.append(("kind",))
    parts = [("speaker",), ("condition", "between"), ("attracted",)]
    keys += [columns for columns in parts if named[columns[-1]].count()]
    if 1 < named["target"].drop_nulls().n_unique() <= _MOST_TARGETS:
        keys.append(("condition", "target"))
    scores = []
    for columns in keys:
        counts = named.drop_nulls(columns).group_by(columns).len()
        large = counts if columns == ("condition",) else counts.filter(pl.col("len") >= LEAST_ROWS)
        for values in sorted(large.select(columns).rows()):
            chosen = named.select(
                pl.all_horizontal(
                    pl.col(column).eq_missing(value) for column, value in zip(columns, values, strict=True)
                )
            ).to_series()
            score = _score(method, differences[chosen.to_numpy()], named.filter(chosen))
            scores.append(msgspec.structs.replace(score, condition=": ".join(map(str, values))))
    return scores


def _share_positive(differences: Bits) -> Bits:
    """1 where the edited text has more surprisal than the original, 0 where it has less, one half where both agree."""
    return np.where(np.abs(differences) <= TIE, 0.5, (np.sign(differences) + 1) / 2)


def _with_separators(
    texts: Sequence[str], start: int | None, end: int | None, speakers: Sequence[str | None] | None, separator: str
) -> tuple[str, tuple[int, int] | None, list[tuple[int, int]]]:
    """The texts of a row as one, the place of the region in it, and those of the separators between speakers."""
    turns = [separator if one and other and one != other else "" for one, other in pairwise(speakers or [])]
    text, span = join_texts(texts, None if start is None or end is None else (start, end), turns)
    ends = np.cumsum([len(each) + 1 for each in texts]).tolist()
    gaps = ((place - 1, place) for place, turn in zip(ends, turns, strict=False) if turn)
    return text, span, [place for gap in gaps if (place := join_texts(texts, gap, turns)[1])]


def _choices(data: AuditInput, test: pl.DataFrame, model: LanguageModel, progress: Progress) -> Evaluation:
    """The scores over rows with options."""
    texts: list[str] = []
    starts: list[int] = []
    for of_row, n_context in test.select("texts", "n_context").iter_rows():
        context = join_texts(of_row[:n_context])[0]
        texts += [join_texts([*of_row[:n_context], option])[0] for option in of_row[n_context:]]
        starts += [len(context)] * (len(of_row) - n_context)
    n_options = (test["texts"].list.len() - test["n_context"]).to_numpy()
    read = surprisals(model, texts, progress)
    bits = [each.over(start, len(text)) for each, start, text in zip(read, starts, texts, strict=True)]
    ways: Mapping[str, Bits] = {
        "total": np.array([each.sum() if len(each) else np.inf for each in bits]),
        "per_token": np.array([each.mean() if len(each) else np.inf for each in bits]),
    }
    scores, corrects = [], []
    for method, values in ways.items():
        correct, ties = [], 0
        for row, label in zip(np.split(values, np.cumsum(n_options)[:-1]), test["label"], strict=True):
            least = row - row.min() <= TIE
            ties += int(least.sum() > 1)
            correct.append(float(least[label]) / float(least.sum()))
        scores.append(msgspec.structs.replace(score_of(method, np.array(correct), test), ties=ties))
        corrects.append(correct)
    groups = test.select(pl.coalesce("group", "pair_id", "id")).to_series()
    right = RowScores(tuple(test["id"]), tuple(groups), tuple(corrects[0]))
    chance = float((1 / n_options).mean())
    return Evaluation(
        data.name, model.name, model.commit, tuple(scores), scores[0], chance, right, sum(each.cut for each in read)
    )


def surprisals(model: LanguageModel, texts: Sequence[str], progress: Progress) -> list[TokenSurprisal]:
    """The surprisal of every token of each text; of a masked model, as `_masked` has it.

    A beginning-of-text token is put before the text, or the end-of-text token for models without one (GPT-2). If a
    model has neither, the first token has no surprisal and is left out. A text that is longer than the model accepts is
    read in windows of the largest size, which begin at the end of the text and overlap by half: the tokens of the last
    half window have all the left context that fits, the others at least half a window.
    """
    if model.kind == "encoder":
        return _masked(model, texts, progress)
    tokenizer = model.tokenizer
    begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    read = tokenizer(
        list(texts), add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
    )
    # of each window: the text, the ids, and the first of them that is scored and its place among the tokens of the text
    windows: list[tuple[int, list[int], int, int]] = []
    results: list[TokenSurprisal] = []
    for number, (ids, offsets) in enumerate(zip(read["input_ids"], read["offset_mapping"], strict=True)):
        places = np.array(offsets, np.int64).reshape(-1, 2)
        prefix = [] if begin is None else [begin]
        is_cut = len(prefix) + len(ids) > model.longest
        results.append(TokenSurprisal(np.full(len(ids), np.nan), places[:, 0], places[:, 1], is_cut))
        end, half = len(ids), max(1, model.longest // 2)
        while end + len(prefix) > model.longest:
            start = end - model.longest
            windows.append((number, ids[start:end], model.longest - half, end - half))
            end -= half
        windows.append((number, [*prefix, *ids[:end]], 1, 1 - len(prefix)))
    for numbers, tokens, logits in _logits(model, [ids for _, ids, _, _ in windows], progress):
        probability = logits[:, :-1].float().log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[:, :, 0]
        bits = (-probability / math.log(2)).double().cpu().numpy()
        for line, number in enumerate(numbers):
            text, ids, first, place = windows[number]
            scored = bits[line, first - 1 : len(ids) - 1]
            results[text].bits[place : place + len(scored)] = scored
    has_bits = [~np.isnan(each.bits) for each in results]
    return [
        TokenSurprisal(each.bits[is_known], each.starts[is_known], each.ends[is_known], each.cut)
        for each, is_known in zip(results, has_bits, strict=True)
    ]


def _masked(model: LanguageModel, texts: Sequence[str], progress: Progress) -> list[TokenSurprisal]:
    """The surprisal of every token of each text, given the other ones.

    The token and the later ones of its word are masked, else a word that is divided into many tokens would be easy to
    guess from its own rest (Kauf & Ivanova 2023). A token of a text that is longer than the model accepts has as many
    tokens on both sides as fit.

    Raises:
        UnsupportedError: the tokenizer does not say what a word is, or has no token for what is masked.
    """
    tokenizer = model.tokenizer
    if tokenizer.mask_token_id is None or not tokenizer.is_fast:
        raise UnsupportedError(f"{model.name}: its tokenizer has no mask token, or does not tell words")
    read = tokenizer(
        list(texts), return_offsets_mapping=True, return_special_tokens_mask=True, truncation=False, verbose=False
    )
    results: list[TokenSurprisal] = []
    jobs: list[tuple[int, int]] = []
    bodies = []
    for number, ids in enumerate(read["input_ids"]):
        inside = np.flatnonzero(~np.array(read["special_tokens_mask"][number], bool))
        first, after = (int(inside[0]), int(inside[-1]) + 1) if len(inside) else (len(ids), len(ids))
        places = np.array(read["offset_mapping"][number], np.int64).reshape(-1, 2)[first:after]
        is_cut = len(ids) > model.longest
        results.append(TokenSurprisal(np.full(after - first, np.nan), places[:, 0], places[:, 1], is_cut))
        words = [at if word is None else word for at, word in enumerate(read.word_ids(number))][first:after]
        bodies.append((ids[:first], ids[first:after], ids[after:], words))
        jobs += [(number, at) for at in range(after - first)]

    def shown(job: tuple[int, int]) -> tuple[list[int], int]:
        """What the model reads to guess a token, and where this is."""
        number, at = job
        before, body, after, words = bodies[number]
        room = model.longest - len(before) - len(after)
        start = max(0, min(at - room // 2, len(body) - room))
        hidden = [tokenizer.mask_token_id if place >= at and words[place] == words[at] else token
                  for place, token in enumerate(body[start : start + room], start)]  # fmt: skip
        return [*before, *hidden, *after], len(before) + at - start

    lengths = [min(sum(map(len, bodies[number][:3])), model.longest) for number, _ in jobs]
    done = 0
    for numbers in in_batches(lengths, TOKENS_PER_BATCH, model.batch_size):
        inputs, at = zip(*(shown(jobs[number]) for number in numbers), strict=True)
        truth = [bodies[jobs[number][0]][1][jobs[number][1]] for number in numbers]
        ((_, _, logits),) = _logits(model, inputs, silent)
        of_token = logits[range(len(numbers)), list(at)].float().log_softmax(dim=-1)
        bits = (-of_token[range(len(numbers)), truth] / math.log(2)).double().cpu().numpy()
        for number, value in zip(numbers, bits, strict=True):
            text, place = jobs[number]
            results[text].bits[place] = value
        done += len(numbers)
        progress("surprisal", done, len(jobs))
    return results


def _logits(
    model: LanguageModel, texts: Sequence[Sequence[int]], progress: Progress
) -> Iterator[tuple[list[int], Any, Any]]:
    """Of batches of tokens their numbers, the tokens as a tensor, and the logits, shape (texts, tokens, vocabulary)."""
    import torch

    done = 0
    arguments = {"use_cache": False} if model.kind == "causal" else {}
    for numbers in in_batches([len(ids) for ids in texts], TOKENS_PER_BATCH, model.batch_size):
        tokens = torch.full((len(numbers), max(len(texts[number]) for number in numbers)), model.padding)
        mask = torch.zeros_like(tokens)
        for line, number in enumerate(numbers):
            tokens[line, : len(texts[number])] = torch.tensor(list(texts[number]))
            mask[line, : len(texts[number])] = 1
        tokens, mask = tokens.to(model.model.device), mask.to(model.model.device)
        with torch.inference_mode():
            logits = model.model(input_ids=tokens, attention_mask=mask, **arguments).logits
        yield numbers, tokens, logits
        done += len(numbers)
        progress("surprisal", done, len(texts))
