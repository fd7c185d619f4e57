"""Shortcut solvers: what can be scored without knowing the language."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy import sparse

from discoprobe.builders.audit import features
from discoprobe.builders.audit.frame import AuditInput, conform
from discoprobe.builders.audit.limits import LEAK_WORDS
from discoprobe.builders.audit.problem import Floats, Problem, Score, Units, problem_of
from discoprobe.builders.audit.report import Baseline
from discoprobe.builders.audit.rules import best_token
from discoprobe.builders.audit.stats import wilson
from discoprobe.builders.audit.words import n_words, normal
from discoprobe.builders.config import Shape
from discoprobe.builders.grams import char_grams, tfidf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


_WIDTH = 1 << 18
"""Columns of hashed n-grams, shared out among the texts of a row."""
_CHARACTERS = 2_400_000
"""Characters that the n-gram solvers learn from: 20,000 sentences of 120, or 4,000 rows of five; of one text of
several alone, half as many."""
_WEIGHTS = 1 << 22
"""Weights of a regression at most: with very many classes (word content: 1,000) there are fewer columns."""
_TRAIN, _TEST = 0, 1
_DENSE_UNITS = 10_000
"""Units that solvers with a few dozen features learn from."""


class Bench:
    """A problem with the data it comes from and what several solvers need."""

    def __init__(self, data: AuditInput, problem: Problem) -> None:
        self.data, self.problem = data, problem
        self.slots = features.slots_of(problem)
        self._seen_texts = range(1 if problem.choice else self.slots)
        self._counted: dict[tuple[int, int], sparse.csr_array] = {}

    @cached_property
    def dense(self) -> Problem:
        """The problem with as many train units as solvers of few features need."""
        return dataclasses.replace(self.problem, train=self.problem.train.head(_DENSE_UNITS))

    @cached_property
    def chars(self) -> Score:
        """The score of character n-grams, one block per text; of choices, of the candidate."""
        return self._grams(self._seen_texts, _CHARACTERS)

    def on_slot(self, slot: int) -> Score:
        """The score of character n-grams of one text alone."""
        return self._grams([slot], _CHARACTERS // 2)

    def _grams(self, slots: Sequence[int], characters: int) -> Score:
        n_train = self._affordable(slots, characters)
        train = _beside(self._counts(_TRAIN, slot)[:n_train] for slot in slots)
        test = _beside(self._counts(_TEST, slot) for slot in slots)
        return self.problem.learn(*tfidf(train, test))

    def _counts(self, side: int, slot: int) -> sparse.csr_array:
        """The n-grams of one text of every unit; of train, of as many units as any solver learns from."""
        if (side, slot) not in self._counted:
            most = max(self._affordable(self._seen_texts, _CHARACTERS), self._affordable([slot], _CHARACTERS // 2))
            texts = _in_slot(self._slotted[side], slot, len((self.problem.train, self.problem.test)[side].y))
            self._counted[side, slot] = char_grams(texts[:most] if side == _TRAIN else texts, self._width)
        return self._counted[side, slot]

    @cached_property
    def _width(self) -> int:
        """Columns per text."""
        width = _WIDTH
        while width > _WEIGHTS // len(self.problem.labels) or width * len(self._seen_texts) > _WIDTH:
            width //= 2
        return width

    @cached_property
    def _slotted(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        return features.slotted(self.problem.train), features.slotted(self.problem.test)

    def _affordable(self, slots: Sequence[int], characters: int) -> int:
        """How many train units have so many characters in ``slots`` together; fewer with many classes."""
        train = self.problem.train
        looked_at = min(1000, len(train.y))
        sample = self._slotted[0].filter(pl.col("slot").is_in(list(slots)), pl.col("unit") < looked_at)
        mean = max(1.0, int(sample["text"].str.len_chars().sum()) / looked_at)
        shrink = max(1.0, len(self.problem.labels) / 8)
        return min(len(train.y), max(1000, int(characters / mean / shrink)))


def _beside(blocks: Iterable[sparse.csr_array]) -> sparse.csr_array:
    return sparse.csr_array(sparse.hstack(list(blocks), format="csr"))


def _in_slot(long: pl.DataFrame, slot: int, n_units: int) -> pl.Series:
    """The text in a slot of each unit, empty where there is none; the last slot takes all the others too."""
    wanted = pl.col("slot") >= slot if slot == features.SLOTS - 1 else pl.col("slot") == slot
    texts = long.filter(wanted).group_by("unit").agg(pl.col("text").str.join(" "))
    every = pl.DataFrame({"unit": pl.int_range(n_units, dtype=pl.UInt32, eager=True)})
    return every.join(texts, on="unit", how="left", maintain_order="left")["text"]


def length(bench: Bench) -> Score | None:
    """Logistic regression on counts of words and characters."""
    return _dense(bench, features.length)


def punctuation(bench: Bench) -> Score | None:
    """Logistic regression on punctuation marks."""
    return _dense(bench, features.punctuation)


def case(bench: Bench) -> Score | None:
    """Logistic regression on capitals by position."""
    return _dense(bench, features.case)


def _dense(bench: Bench, measure: Callable[[Units, int], Floats]) -> Score:
    problem = bench.dense
    return problem.learn(measure(problem.train, bench.slots), measure(problem.test, bench.slots))


def token(bench: Bench) -> Score | None:
    """The best rule "this token gives that label"."""
    return best_token(bench.problem)


def chars(bench: Bench) -> Score | None:
    """Logistic regression on character n-grams."""
    return bench.chars


def single(bench: Bench) -> Score | None:
    """The best of the solvers that see one of several texts; for choices, of the one that sees no context."""
    if bench.slots == 1:
        return None
    if bench.problem.choice:
        return dataclasses.replace(bench.chars, detail="the candidate without its context")
    return _best({f"text {slot + 1}": bench.on_slot(slot) for slot in range(bench.slots)})


def overlap(bench: Bench) -> Score | None:
    """Words that the texts of a row share: logistic regression, and for choices the candidate most like the context."""
    problem, slots = bench.dense, bench.slots
    if slots == 1:
        return None
    columns = [[features.shared_words(problem, units, slots)] for units in (problem.train, problem.test)]
    if bench.data.shape is Shape.SEQUENCE:
        return problem.learn(columns[0][0], columns[1][0])
    similar = features.cosine(problem)
    for side, values in zip(columns, similar, strict=True):
        side.append(values[:, None])
    solvers = {"logistic regression": problem.learn(np.hstack(columns[0]), np.hstack(columns[1]))}
    if problem.choice:
        solvers["most similar to the context (TF-IDF)"] = problem.choice_score(similar[1])
        solvers["most words in common with the context"] = problem.choice_score(columns[1][0][:, 0])
    return _best(solvers)


def _best(solvers: Mapping[str, Score]) -> Score:
    """The most accurate solver; its interval allows for the choice."""
    name = max(solvers, key=lambda name: solvers[name].accuracy)
    tried = {solver: score.accuracy for solver, score in solvers.items()}
    return dataclasses.replace(solvers[name], tries=len(solvers), detail=name, tried=tried)


def seen(bench: Bench) -> Score | None:
    """The best rule that knows only whether a sentence of the row (the candidate) occurs in train."""
    problem = bench.problem
    known = _known(problem.test, _long_sentences(_learned(bench)))
    if not known.any():
        nothing = np.full(problem.test.n_rows, problem.baseline)
        detail = "no sentence of test occurs in train"
        return Score(nothing, nothing, problem.test.ids, problem.test.pairs, certain=True, detail=detail)
    if problem.choice:
        solvers = {"seen in train": known.astype(np.float64), "not seen in train": -known.astype(np.float64)}
        return _best({name: problem.choice_score(scores) for name, scores in solvers.items()})
    best = _best(dict(_seen_rules(problem, known)))
    return dataclasses.replace(best, detail=f"{known.mean():.1%} of rows: {best.detail}")


def _seen_rules(problem: Problem, known: Floats) -> list[tuple[str, Score]]:
    pairs = permutations(range(len(problem.labels)), 2) if len(problem.labels) <= features.SLOTS else [(0, 1)]
    return [
        (
            f"seen in train → {problem.labels[a]}",
            problem.label_score(np.where(known, a, b), known * 1.0),
        )
        for a, b in pairs
    ]


def _learned(bench: Bench) -> pl.Series:
    """All texts of train, not only those that solvers learn from; of half a split, those."""
    problem = bench.problem
    if problem.trained_on == problem.measured_on:
        return problem.train.texts.explode()
    return bench.data.split(problem.trained_on)["texts"].explode()


def _long_sentences(texts: pl.Series) -> pl.Series:
    text = pl.col("text")
    frame = texts.unique().drop_nulls().to_frame("text").filter(n_words(text) >= LEAK_WORDS)
    return frame.select(normal(text).unique())["text"]


def _known(units: Units, sentences: pl.Series) -> Floats:
    """Whether some text of each unit (its last, if it has a context) is among ``sentences``."""
    long = features.slotted(units).with_columns(known=normal(pl.col("text")).is_in(sentences.to_list()))
    context = pl.Series(units.n_context)[long["unit"]] > 0
    looked_at = long.filter(~context | (pl.Series(long["slot"]) == 0))
    return looked_at.group_by("unit").agg(pl.col("known").any()).sort("unit")["known"].to_numpy()


def pairwise_length(bench: Bench) -> Score | None:
    """The rule "the longer (shorter) member is right", in words or characters, whichever is better on train."""
    problem = bench.problem if bench.problem.choice else problem_of(as_choices(bench.data))
    if problem is None:
        return None
    mirrored = dataclasses.replace(problem, train=problem.test, test=problem.train)
    train, test = _length_rules(problem.train), _length_rules(problem.test)
    best = max(train, key=lambda name: mirrored.choice_score(train[name]).accuracy)
    return dataclasses.replace(problem.choice_score(test[best]), detail=f"the member with {best} is right")


def _length_rules(units: Units) -> dict[str, Floats]:
    lengths = units.texts.list.last().to_frame("text").select(**features.LENGTH_MEASURES).cast(pl.Float64)
    rules = {f"more {name}": lengths[name].to_numpy() for name in lengths.columns}
    return rules | {name.replace("more", "fewer"): -values for name, values in rules.items()}


def as_choices(data: AuditInput) -> AuditInput:
    """The pairs of ``data`` as choices without context between their members, of which that with label 0 is right."""
    joined = data.rows.filter(pl.col("pair_id").is_not_null()).with_columns(pl.col("texts").list.join(" "))
    members = joined.sort("split", "pair_id", "texts").group_by("split", "pair_id", maintain_order=True)
    pairs = members.agg(
        pl.col("id").first(),
        pl.col("texts"),
        label=(pl.col("label") == 0).arg_max(),
        right=(pl.col("label") == 0).sum(),
    )
    whole = pairs.filter((pl.col("texts").list.len() == 2) & (pl.col("right") == 1))  # noqa: PLR2004  pairs
    rows = conform(whole.drop("right"), Shape.CHOICE)
    return AuditInput(data.name, Shape.CHOICE, ("first", "second"), rows)


SHORTCUTS: Mapping[str, Callable[[Bench], Score | None]] = {
    "length": length,
    "token": token,
    "chars": chars,
    "overlap": overlap,
    "single": single,
    "seen": seen,
    "punctuation": punctuation,
    "case": case,
    "pairwise-length": pairwise_length,
}
"""Check id → solver; None where it does not apply."""

N_GRAMS = frozenset({"token", "chars", "single"})
"""Those that count tokens or n-grams, which takes most of the time of an audit."""


def baselines(data: AuditInput, problem: Problem) -> tuple[Baseline, ...]:
    """Knowing nothing: the most frequent label of train, a label drawn with the shares of train, any label.

    For a choice the labels are places. The interval of ``random`` is what 95 % of lots drawn on test would score.
    """
    train, test = (data.split(name)["label"].to_numpy() for name in (problem.trained_on, problem.measured_on))
    shares = np.bincount(train, minlength=len(data.labels)) / len(train)
    drawn = {
        "majority": float((test == shares.argmax()).mean()),
        "prior": float(shares[test].mean()),
        "random": problem.baseline if problem.choice else 1 / len(data.labels),
    }
    return tuple(
        Baseline(name, value, wilson(value * len(test), len(test)), len(test)) for name, value in drawn.items()
    )
