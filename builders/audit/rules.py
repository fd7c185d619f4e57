"""Heuristics mined on train: single rules and lists of them (Iazykova et al. 2021, Unreasonable Effectiveness …)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl
from scipy import sparse

from discoprobe.builders.audit import features
from discoprobe.builders.audit.problem import Score
from discoprobe.builders.audit.report import Baseline, Heuristics, Rule
from discoprobe.builders.audit.stats import wilson
from discoprobe.builders.audit.words import lowered_words, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from discoprobe.builders.audit.problem import Floats, Ints, Problem, Units

COVERAGE = 0.02
"""Least share of train units that a rule applies to; rarer ones cannot carry a score."""
_RULES = 12
"""Rules in the list; the tables of Iazykova et al. have two to eight per task."""
_QUANTILES = np.arange(1, 10) / 10

_TEXT = pl.col("text")


class _Maker(Protocol):
    def __call__(self, units: Units, *, unspaced: bool) -> pl.DataFrame: ...


@dataclass(frozen=True, slots=True)
class Conditions:
    """Which condition holds of which unit.

    Attributes:
        family: of each condition.
        text: each condition in words.
        train: (train units x conditions), 1 where it holds.
        test: (test units x conditions).
    """

    family: tuple[str, ...]
    text: tuple[str, ...]
    train: sparse.csc_array
    test: sparse.csc_array

    def __add__(self, other: Conditions) -> Conditions:
        sides = [sparse.csc_array(sparse.hstack(pair)) for pair in ((self.train, other.train), (self.test, other.test))]
        return Conditions(self.family + other.family, self.text + other.text, *sides)


def best_token(problem: Problem) -> Score:
    """The score of the best single rule "token t (anywhere, or first or last in text k) → label".

    The rule is the one with the highest accuracy on train, the most frequent label of the other rows being given to
    them; for choices the one whose candidates are right most often above chance. Tokens of less than 2 % of train are
    not looked at.
    """
    conditions = token_conditions(problem)
    if not conditions.text:
        return _knowing_nothing(problem, f"no token occurs in {COVERAGE:.0%} of train")
    counts = _label_counts(conditions.train, problem)
    rest = np.bincount(problem.train.y, minlength=len(problem.labels)) - counts
    gain = counts.max(axis=1) + rest.max(axis=1)
    if problem.choice:
        gain = np.abs(counts[:, 1] - counts.sum(axis=1) * problem.train.y.mean())
    best = int(np.argmax(gain))
    holds = conditions.test[:, [best]].toarray().ravel() > 0
    label, other = int(counts[best].argmax()), int(rest[best].argmax())
    if problem.choice:
        label = int(counts[best, 1] > counts[best].sum() * problem.train.y.mean())
    right = float((problem.test.y[holds] == label).mean()) if holds.any() else 0.0
    detail = f"{conditions.text[best]} → {problem.labels[label]}: covers {holds.mean():.3f}, right {right:.3f}"
    return _rule_score(problem, holds, label, other, detail)


def _rule_score(problem: Problem, holds: npt.NDArray[np.bool_], label: int, other: int, detail: str) -> Score:
    if problem.choice:
        score = problem.choice_score(np.where(holds, 1.0, 0.0) * (1 if label == 1 else -1))
    else:
        score = problem.label_score(np.where(holds, label, other), holds.astype(np.float64))
    return replace(score, detail=detail)


def _knowing_nothing(problem: Problem, detail: str) -> Score:
    nothing = np.full(problem.test.n_rows, problem.baseline)
    return Score(nothing, nothing, problem.test.ids, problem.test.pairs, certain=True, detail=detail)


def _label_counts(holds: sparse.csc_array, problem: Problem) -> Ints:
    """Units per condition and label, shape (conditions, labels)."""
    y = problem.train.y
    labels = sparse.csr_array((np.ones(len(y)), (np.arange(len(y)), y)), shape=(len(y), len(problem.labels)))
    return np.asarray((holds.T @ labels).toarray(), dtype=np.int64)


def token_conditions(problem: Problem) -> Conditions:
    """Tokens anywhere, or first or last in a text, that at least 2 % of train units have."""
    return _listed(problem, _token_features)


def bigram_conditions(problem: Problem) -> Conditions:
    """Neighbouring tokens that at least 2 % of train units have."""
    return _listed(problem, _bigram_features)


def _token_features(units: Units, *, unspaced: bool) -> pl.DataFrame:
    """One row per unit and token it has: ``unit``, ``family``, ``condition``."""
    several = bool((units.texts.list.len() > 1).any())
    texts = slotted_tokens(units, unspaced=unspaced)
    where = pl.format(" of text {}", pl.col("slot") + 1) if several else pl.lit("")
    words = pl.col("token").list.eval(pl.element().filter(pl.element().str.contains(r"\w")))
    anywhere = texts.select("unit", family=pl.lit("token"), word="token").explode("word", empty_as_null=False)
    ends = [
        texts.select("unit", "slot", family=pl.lit(name), word=expr).drop_nulls("word")
        for name, expr in (("first word", words.list.first()), ("last word", words.list.last()))
    ]
    return pl.concat(
        [
            anywhere.select("unit", "family", condition=pl.format("'{}' occurs", "word")),
            *(
                end.select("unit", "family", condition=pl.format("'{}' is the {}{}", "word", "family", where))
                for end in ends
            ),
        ]
    ).unique()


def _bigram_features(units: Units, *, unspaced: bool) -> pl.DataFrame:
    texts = slotted_tokens(units, unspaced=unspaced)
    following = pl.col("token").list.eval(pl.concat_str(pl.element(), pl.lit(" "), pl.element().shift(-1)).drop_nulls())
    pairs = texts.select("unit", family=pl.lit("bigram"), token=following).explode("token", empty_as_null=False)
    return pairs.select("unit", "family", condition=pl.format("'{}' occurs", "token")).unique()


def slotted_tokens(units: Units, *, unspaced: bool) -> pl.DataFrame:
    """``unit``, ``slot`` and the list ``token`` of each text; of candidates, without their contexts."""
    frame = features.slotted(units).filter(pl.col("slot") < features.SLOTS)
    if int(units.row.max(initial=-1)) + 1 < len(units.row):
        frame = frame.filter(pl.col("slot") == 0)
    return frame.select("unit", "slot", token=tokens(_TEXT, unspaced=unspaced))


def _listed(problem: Problem, make: _Maker) -> Conditions:
    """The conditions that ``make`` finds in enough train units, most frequent first."""
    train = make(problem.train, unspaced=problem.unspaced)
    least = max(2, COVERAGE * len(problem.train.y))
    known = train.group_by("family", "condition").len().filter(pl.col("len") >= least)
    known = known.sort(["len", "family", "condition"], descending=[True, False, False]).with_row_index("column")
    test = make(problem.test, unspaced=problem.unspaced)
    sides = [
        _matrix(side.join(known, on=["family", "condition"]), len(units.y), known.height)
        for side, units in ((train, problem.train), (test, problem.test))
    ]
    return Conditions(tuple(known["family"]), tuple(known["condition"]), *sides)


def _matrix(entries: pl.DataFrame, n_units: int, n_columns: int) -> sparse.csc_array:
    ones = np.ones(entries.height)
    places = (entries["unit"].to_numpy(), entries["column"].to_numpy())
    return sparse.csc_array((ones, places), shape=(n_units, n_columns))


def threshold_conditions(problem: Problem) -> Conditions:
    """Lengths and shares of common words at least, or at most, a decile of train."""
    measures = _measures(problem)
    family, text, train, test = [], [], [], []
    for (kind, name), (of_train, of_test) in measures.items():
        for threshold in np.unique(np.quantile(of_train, _QUANTILES)):
            for sign, word in ((1, "at least"), (-1, "at most")):
                family.append(kind)
                text.append(f"{name} {word} {threshold:.4g}")
                train.append(sign * of_train >= sign * threshold)
                test.append(sign * of_test >= sign * threshold)
    sides = [sparse.csc_array(np.column_stack(side).astype(np.float64)) for side in (train, test)]
    return Conditions(tuple(family), tuple(text), *sides)


def _measures(problem: Problem) -> Mapping[tuple[str, str], tuple[Floats, Floats]]:
    """(Family, name) → the measure of train and test units."""
    sides = (problem.train, problem.test)
    found = {
        ("length", name): (
            _total(sides[0], expr, candidate=problem.choice),
            _total(sides[1], expr, candidate=problem.choice),
        )
        for name, expr in features.LENGTH_MEASURES.items()
    }
    if features.slots_of(problem) > 1:
        of_train, of_test = (_common(units, unspaced=problem.unspaced) for units in sides)
        found["overlap", "share of words in common"] = (of_train, of_test)
    return found


def _total(units: Units, measure: pl.Expr, *, candidate: bool) -> Floats:
    """A measure summed over the texts of each unit; of candidates, their own."""
    long = features.slotted(units)
    long = long.filter(pl.col("slot") == 0) if candidate else long
    return long.group_by("unit").agg(measure.sum().alias("value")).sort("unit")["value"].to_numpy().astype(np.float64)


def _common(units: Units, *, unspaced: bool) -> Floats:
    """The share of the words of each unit that more than one of its texts has."""
    words = lowered_words(_TEXT, unspaced=unspaced).list.unique()
    long = features.slotted(units).select("unit", word=words).explode("word", empty_as_null=False)
    shared = long.group_by("unit", "word").agg(shared=pl.len() > 1).group_by("unit").agg(pl.col("shared").mean())
    every = pl.DataFrame({"unit": pl.int_range(len(units.y), dtype=pl.UInt32, eager=True)})
    return every.join(shared, on="unit", how="left", maintain_order="left")["shared"].fill_null(0.0).to_numpy()


def mine(problem: Problem) -> Heuristics:
    """The table of heuristics: rules chosen on train one after the other, measured on test.

    Each is the condition and label with the largest number of train units, among those that no earlier rule applies
    to, that it gets right beyond the share of that label in train, which is what the fallbacks give them (the lower
    end of its 95 % interval counts).
    """
    conditions = token_conditions(problem) + bigram_conditions(problem) + threshold_conditions(problem)
    chosen = _cover(conditions, problem)
    table = tuple(_table_row(conditions, problem, column, label) for column, label in chosen)
    return _list_scores(conditions, problem, chosen, table)


def _cover(conditions: Conditions, problem: Problem) -> list[tuple[int, int]]:
    """(Condition, label) in the order of the list."""
    chosen: list[tuple[int, int]] = []
    left = np.ones(len(problem.train.y))
    prior = np.bincount(problem.train.y, minlength=len(problem.labels)) / len(problem.train.y)
    labels = np.eye(len(problem.labels))[problem.train.y]
    while len(chosen) < _RULES:
        counts = conditions.train.T @ (labels * left[:, None])
        n = counts.sum(axis=1, keepdims=True)
        gain = np.where(n >= COVERAGE * len(left), n * (_lower(counts, n) - prior), 0.0)
        column, label = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[column, label] <= 0:
            break
        chosen.append((int(column), int(label)))
        left = left * (1 - conditions.train[:, [column]].toarray().ravel())
    return chosen


def _lower(counts: Floats, n: Floats) -> Floats:
    """Lower ends of the 95 % intervals of ``counts / n`` (Wilson)."""
    z = 1.96
    n = np.maximum(n, 1)
    share = counts / n
    return (share + z * z / (2 * n) - z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)


def _table_row(conditions: Conditions, problem: Problem, column: int, label: int) -> Rule:
    train, test = (side[:, [column]].toarray().ravel() > 0 for side in (conditions.train, conditions.test))
    right = int((problem.test.y[test] == label).sum())
    return Rule(
        family=conditions.family[column],
        condition=conditions.text[column],
        label=problem.labels[label],
        coverage=float(test.mean()),
        correct=right / int(test.sum()) if test.any() else None,
        interval=wilson(right, int(test.sum())),
        train_coverage=float(train.mean()),
        train_correct=float((problem.train.y[train] == label).mean()),
    )


def _list_scores(
    conditions: Conditions, problem: Problem, chosen: list[tuple[int, int]], table: tuple[Rule, ...]
) -> Heuristics:
    decided = np.full(len(problem.test.y), -1)
    for column, label in reversed(chosen):
        decided[conditions.test[:, [column]].toarray().ravel() > 0] = label
    covered = decided >= 0
    return Heuristics(table, float(covered.mean()), _fallbacks(problem, decided))


def _fallbacks(problem: Problem, decided: Ints) -> tuple[Baseline, ...]:
    n = problem.test.n_rows
    if problem.choice:
        accuracy = problem.choice_score(np.where(decided < 0, 0.5, decided)).accuracy
        return (Baseline("random", accuracy, wilson(accuracy * n, n), n),)
    prior = np.bincount(problem.train.y, minlength=len(problem.labels)) / len(problem.train.y)
    others = {
        "majority": (problem.test.y == prior.argmax()) * 1.0,
        "random": np.full(n, 1 / len(problem.labels)),
        "class-prior random": prior[problem.test.y],
    }
    ruled = (decided == problem.test.y) * 1.0
    scores = {name: float(np.where(decided >= 0, ruled, other).mean()) for name, other in others.items()}
    return tuple(Baseline(name, score, wilson(score * n, n), n) for name, score in scores.items())
