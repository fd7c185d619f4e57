"""Heuristics mined from what solvers learn from: single rules and lists of them (Iazykova et al. 2021).

``token_conditions``, ``bigram_conditions`` and ``threshold_conditions`` say what may hold of a unit. ``best_token`` is
the solver of one rule; ``mine`` makes the list of rules that reports show.
"""

import unicodedata
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace
from scipy import sparse

from discoprobe.builders.audit.intervals import exact
from discoprobe.builders.audit.report import Baseline, Heuristics, Rule
from discoprobe.builders.audit.solvers.classifiers import Floats, Ints
from discoprobe.builders.audit.solvers.features import LENGTH_MEASURES, SURFACE, SURFACE_PATTERNS, Features
from discoprobe.builders.audit.solvers.problem import Fold, Problem, Score
from discoprobe.loaders.corpus import exploded

COVERAGE = 0.02
"""Least share of units that a rule applies to; rarer ones cannot carry a score."""
_RULES = 12
"""Rules in the list; the tables of Iazykova et al. have two to eight per task."""
_QUANTILES = np.arange(1, 10) / 10
_LOOKED_AT = 1_000
"""Texts whose characters show which of several code points a way of writing is about."""

_TEXT = pl.col("text")


class Conditions(msgspec.Struct, frozen=True):
    """Which condition holds of which unit.

    Attributes:
        family: of each condition.
        text: each condition in words.
        holds: 1 where it holds, shape (units, conditions).
    """

    family: tuple[str, ...]
    text: tuple[str, ...]
    holds: sparse.csc_array

    def __add__(self, other: "Conditions") -> "Conditions":
        holds = sparse.csc_array(sparse.hstack([self.holds, other.holds]))
        return Conditions(self.family + other.family, self.text + other.text, holds)

    def column(self, number: int, units: Ints) -> npt.NDArray[np.bool_]:
        """Whether a condition holds of each of some units."""
        return np.asarray(self.holds[:, [number]].toarray().ravel()[units] > 0)


def best_token(problem: Problem, conditions: Conditions) -> Score:
    """The score of the best single rule "token t (anywhere, or first or last in text k) → label".

    In each fold the rule is the one with the highest accuracy on what is learned from, all other rows getting the most
    frequent label among them; for choices the one whose candidates are right most often above chance. Tokens of less
    than 2 % of the units are not looked at.

    Args:
        problem: whose units they are.
        conditions: ``token_conditions``.
    """
    if not conditions.text:
        return problem.chance_score(f"no token occurs in {COVERAGE:.0%} of the rows")
    holds, answers = [], []
    for fold in problem.folds:
        best, label, otherwise = _learn_rule(conditions, problem, fold)
        holds.append(conditions.column(best, fold.test))
        answers.append(np.where(holds[-1], 2.0 * label - 1 if problem.choice else label, otherwise))
    if problem.choice:
        score = problem.choice_score(np.concatenate(answers))
    else:
        score = problem.label_score(np.concatenate(answers), np.concatenate(holds).astype(np.float64))
    return replace(score, detail=best_rule(conditions, problem))


def best_rule(conditions: Conditions, problem: Problem) -> str:
    """The best rule of one condition, with the share of rows that it covers, and gets right of them.

    ``'quizá' occurs → edited: covers 0.540, right 1.000``. Of the rules of several folds it is the one that is right
    most often beyond chance where it is measured. Empty without conditions.
    """
    rules: dict[str, float] = {}
    for fold in problem.folds if conditions.text else ():
        best, label, _ = _learn_rule(conditions, problem, fold)
        holds, is_label = conditions.column(best, fold.test), problem.y[fold.test] == label
        share = float(is_label[holds].mean()) if holds.any() else 0.0
        rule = f"{conditions.text[best]} → {problem.labels[label]}: covers {holds.mean():.3f}, right {share:.3f}"
        rules[rule] = float(holds.mean()) * (share - float(is_label.mean()))
    return max(rules, key=rules.__getitem__, default="")


def _learn_rule(conditions: Conditions, problem: Problem, fold: Fold) -> tuple[int, int, int]:
    """The condition with the highest accuracy on what is learned from, its label, and the label of all other units."""
    y = problem.y[fold.train]
    one_hot = np.zeros((len(problem.y), len(problem.labels)))
    one_hot[fold.train, y] = 1.0
    counts = np.asarray(conditions.holds.T @ one_hot, dtype=np.int64)  # of units by condition and label
    rest = np.bincount(y, minlength=len(problem.labels)) - counts
    if problem.choice:
        above_chance = counts[:, 1] - counts.sum(axis=1) * y.mean()
        best = int(np.argmax(np.abs(above_chance)))
        return best, int(counts[best, 1] > counts[best].sum() * y.mean()), 0
    best = int(np.argmax(counts.max(axis=1) + rest.max(axis=1)))
    return best, int(counts[best].argmax()), int(rest[best].argmax())


def token_conditions(problem: Problem, features: Features) -> Conditions:
    """Tokens anywhere, or first or last in a text, that at least 2 % of the units have."""
    several = (problem.texts.list.len() > 1).any()
    where = pl.format(" of text {}", pl.col("slot") + 1) if several else pl.lit("")
    form = features.token_of(pl.col("key"))
    at_end = pl.format("'{}' is the {}{}", form, "family", where)
    parts = [_frequent(features.tokens.select("unit", key="written"), "token", pl.format("'{}' occurs", form), problem)]
    ends = features.ends()
    for name, column in (("first word", "first_written"), ("last word", "last_written")):
        parts.append(_frequent(ends.select("unit", "slot", key=column), name, at_end, problem))
    return _conditions(parts, problem)


def bigram_conditions(problem: Problem, features: Features) -> Conditions:
    """Neighbouring tokens that at least 2 % of the units have."""
    n = len(features.vocabulary)
    pair = pl.col("written").cast(pl.UInt64) * n + pl.col("next_written")
    entries = features.tokens.drop_nulls("next_written").select("unit", key=pair)
    text = pl.format("'{} {}' occurs", features.token_of(pl.col("key") // n), features.token_of(pl.col("key") % n))
    return _conditions([_frequent(entries, "bigram", text, problem)], problem)


def _frequent(entries: pl.DataFrame, family: str, condition: pl.Expr, problem: Problem) -> pl.DataFrame:
    """What enough units have: ``family``, ``condition``, list of ``unit``; ``entries``: a ``unit`` and what it has."""
    keys = [name for name in entries.columns if name != "unit"]
    distinct = entries.unique()
    frequent = distinct.group_by(keys).len().filter(pl.col("len") >= max(2, COVERAGE * len(problem.y)))
    units = distinct.join(frequent, on=keys).group_by(keys).agg("unit")
    return units.with_columns(family=pl.lit(family)).select("family", "unit", condition=condition)


def _conditions(parts: Sequence[pl.DataFrame], problem: Problem) -> Conditions:
    """Conditions of what is frequent, most frequent first."""
    rows = pl.concat(parts).with_columns(n=pl.col("unit").list.len())
    rows = rows.sort("n", "family", "condition", descending=[True, False, False])
    units, shape = exploded(rows.select("unit"), "unit")["unit"].to_numpy(), (len(problem.y), rows.height)
    starts = np.concatenate([[0], np.cumsum(rows["n"].to_numpy())])
    holds = sparse.csc_array((np.ones(len(units)), units, starts), shape=shape)
    return Conditions(tuple(rows["family"]), tuple(rows["condition"]), holds)


def threshold_conditions(problem: Problem, features: Features) -> Conditions:
    """Lengths and shares of common words that are at least, or at most, a decile."""
    measures = {("length", name): total(problem, features, LENGTH_MEASURES[name]) for name in ("words", "characters")}
    if features.slots > 1:  # the share of the words of each unit that more than one of its texts has
        times = features.lowered.group_by("unit", "word").agg(shared=pl.len() > 1)
        shared = times.group_by("unit").agg(pl.col("shared").mean())
        units = pl.DataFrame({"unit": pl.int_range(len(problem.y), dtype=pl.UInt32, eager=True)})
        shares = units.join(shared, on="unit", how="left", maintain_order="left")["shared"].fill_null(0.0)
        measures["overlap", "share of words in common"] = shares.to_numpy()
    family, text, holds = [], [], []
    for (kind, name), values in measures.items():
        for decile in np.unique(np.quantile(values, _QUANTILES)):
            for sign, bound in ((1, "at least"), (-1, "at most")):
                family.append(kind)
                text.append(f"{name} {bound} {decile:.4g}")
                holds.append(sign * values >= sign * decile)
    return Conditions(tuple(family), tuple(text), sparse.csc_array(np.column_stack(holds).astype(np.float64)))


def surface_conditions(problem: Problem, features: Features) -> Conditions:
    """Ways of writing that a text of a unit has at all, or as often as a decile of texts; in 2 % of the units at least.

    A way of writing is named with the characters that are most often meant: ``blank at the end (U+0020 SPACE)``.
    """
    several, text, holds = features.slots > 1 and not problem.choice, [], []
    for slot in range(1 if problem.choice else features.slots):
        where = f" in text {slot + 1}" if several else ""
        texts = features.slotted.filter(pl.col("slot") == slot)
        for number, name in enumerate(SURFACE):
            values = features.surface[:, slot, number]
            if not values.any():
                continue
            bounds = [bound for bound in np.unique([1, *np.quantile(values, _QUANTILES).round()]) if bound]
            often = [bound for bound in bounds if COVERAGE <= (values >= bound).mean() < 1]
            if not often:
                continue
            written = texts.filter(pl.col("unit").is_in(np.flatnonzero(values)[:_LOOKED_AT]))["text"]
            named = _with_characters(name, written) + where
            text += [named if bound == 1 else f"at least {bound:.0f} times {named}" for bound in often]
            holds += [values >= bound for bound in often]
    columns = np.column_stack(holds).astype(np.float64) if holds else np.empty((len(problem.y), 0))
    return Conditions(("surface",) * len(text), tuple(text), sparse.csc_array(columns))


def _with_characters(name: str, texts: pl.Series) -> str:
    """A way of writing with the characters that are most often written so in texts that have it."""
    if name not in SURFACE_PATTERNS:
        return name
    matches = texts.str.extract_all(SURFACE_PATTERNS[name]).explode().value_counts(sort=True)[:, 0]
    match = str(matches[0])
    marks = [mark for mark in dict.fromkeys(match) if not mark.isalnum()] or dict.fromkeys(match)
    points = " and ".join(f"U+{ord(mark):04X} {unicodedata.name(mark, '')}".strip() for mark in marks)
    return points if name.startswith("U+") else f"{name} ({points})"


def total(problem: Problem, features: Features, measure: pl.Expr) -> Floats:
    """A measure summed over the texts of each unit; of candidates, their own."""
    long = features.slotted.filter(pl.col("slot") == 0) if problem.choice else features.slotted
    return long.group_by("unit").agg(measure.sum().alias("value")).sort("unit")["value"].to_numpy().astype(np.float64)


def mine(problem: Problem, features: Features, tokens: Conditions) -> Heuristics:
    """The table of heuristics of the first fold: rules chosen one after the other, then measured on what is held out.

    Where no rule applies, rows are guessed, in several ways.

    Args:
        problem: whose units they are.
        features: of these units.
        tokens: ``token_conditions``.
    """
    conditions = tokens + bigram_conditions(problem, features) + threshold_conditions(problem, features)
    fold, n_labels, y = problem.folds[0], len(problem.labels), problem.y
    chosen = _choose_rules(conditions, problem, fold)
    rules = []
    for column, label in chosen:
        train, test = (conditions.column(column, side) for side in (fold.train, fold.test))
        right, n = int((y[fold.test][test] == label).sum()), int(test.sum())
        learned, n_learned = int((y[fold.train][train] == label).sum()), int(train.sum())
        least = exact(learned, n_learned, len(conditions.text) * n_labels)[0]
        rules.append(Rule(
            family=conditions.family[column], condition=conditions.text[column], label=problem.labels[label],
            coverage=float(test.mean()), correct=right / n if n else None, interval=exact(right, n),
            train_coverage=float(train.mean()), train_correct=learned / n_learned,
            shifted=least > exact(right, n, _RULES)[1],
        ))  # fmt: skip
    decided = np.full(len(fold.test), -1)
    for column, label in reversed(chosen):
        decided[conditions.column(column, fold.test)] = label
    covered, of_fold = decided >= 0, replace(problem, folds=(fold,))
    if problem.choice:
        scores = {"random": of_fold.choice_score(np.where(covered, decided, 0.5)).accuracy}
    else:
        prior = np.bincount(y[fold.train], minlength=n_labels) / len(fold.train)
        truth = y[fold.test]
        guesses = {
            "majority": (truth == prior.argmax()) * 1.0,
            "random": np.full(len(truth), 1 / n_labels),
            "class-prior random": prior[truth],
        }
        right_by_rule = (decided == truth) * 1.0
        scores = {name: float(np.where(covered, right_by_rule, guess).mean()) for name, guess in guesses.items()}
    n = len(of_fold.measured_rows)
    fallbacks = tuple(Baseline(name, score, exact(score * n, n), n) for name, score in scores.items())
    return Heuristics(tuple(rules), float(covered.mean()), fallbacks)


def _choose_rules(conditions: Conditions, problem: Problem, fold: Fold) -> list[tuple[int, int]]:
    """(Condition, label) of each rule, in the order of the list.

    Each is the condition and label with the most correct units beyond chance, among the units to which no earlier rule
    applies: their number, times the difference between the lower end of the 95 % interval of the rule's accuracy
    (Wilson's, which is quick) and the share of its label.
    """
    chosen: list[tuple[int, int]] = []
    holds, y, z = conditions.holds[fold.train].tocsc(), problem.y[fold.train], 1.96
    undecided = np.ones(len(y))
    prior = np.bincount(y, minlength=len(problem.labels)) / len(y)
    labels = np.eye(len(problem.labels))[y]
    while len(chosen) < _RULES:
        counts = holds.T @ (labels * undecided[:, None])
        n_units = counts.sum(axis=1, keepdims=True)
        n = np.maximum(n_units, 1)
        share = counts / n
        deviation = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        lower = (share + z * z / (2 * n) - deviation) / (1 + z * z / n)
        gain = np.where(n_units >= COVERAGE * len(y), n_units * (lower - prior), 0.0)
        column, label = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[column, label] <= 0:
            break
        chosen.append((int(column), int(label)))
        undecided *= 1 - holds[:, [column]].toarray().ravel()
    return chosen
