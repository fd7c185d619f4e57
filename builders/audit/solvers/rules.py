"""Heuristics mined from what solvers learn from: single rules and lists of them (Iazykova et al. 2021)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from discoprobe.builders.audit.intervals import exact
from discoprobe.builders.audit.report import Baseline, Heuristics, Rule
from discoprobe.builders.audit.solvers.classifiers import Floats, Ints
from discoprobe.builders.audit.solvers.features import LENGTH_MEASURES, Features
from discoprobe.builders.audit.solvers.problem import Fold, Problem, Score

COVERAGE = 0.02
"""Least share of units that a rule applies to; rarer ones cannot carry a score."""
_RULES = 12
"""Rules in the list; the tables of Iazykova et al. have two to eight per task."""
_QUANTILES = np.arange(1, 10) / 10

_TEXT = pl.col("text")


@dataclass(frozen=True, slots=True)
class Conditions:
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
    rules = [_token_rule(conditions, problem, fold) for fold in problem.folds]
    holds = [conditions.column(best, fold.test) for (best, _, _), fold in zip(rules, problem.folds, strict=True)]
    applies = np.concatenate(holds)
    if problem.choice:
        signs = [np.where(held, 2.0 * label - 1, 0.0) for held, (_, label, _) in zip(holds, rules, strict=True)]
        score = problem.choice_score(np.concatenate(signs))
    else:
        answers = [np.where(held, label, other) for held, (_, label, other) in zip(holds, rules, strict=True)]
        score = problem.label_score(np.concatenate(answers), applies.astype(np.float64))
    best, label, _ = rules[0]
    right = problem.units.y[problem.folds[0].test][holds[0]] == label
    share = float(right.mean()) if len(right) else 0.0
    rule = f"{conditions.text[best]} → {problem.labels[label]}"
    return replace(score, detail=f"{rule}: covers {holds[0].mean():.3f}, right {share:.3f}")


def _token_rule(conditions: Conditions, problem: Problem, fold: Fold) -> tuple[int, int, int]:
    """The best condition, its label, and the label of all other units."""
    counts = _label_counts(conditions, problem, fold.train)
    y = problem.units.y[fold.train]
    rest = np.bincount(y, minlength=len(problem.labels)) - counts
    gain = counts.max(axis=1) + rest.max(axis=1)
    if problem.choice:
        gain = np.abs(counts[:, 1] - counts.sum(axis=1) * y.mean())
    best = int(np.argmax(gain))
    label, other = int(counts[best].argmax()), int(rest[best].argmax())
    if problem.choice:
        label = int(counts[best, 1] > counts[best].sum() * y.mean())
    return best, label, other


def _label_counts(conditions: Conditions, problem: Problem, units: Ints) -> Ints:
    """How many of some units each condition holds of, by label, shape (conditions, labels)."""
    one_hot = np.zeros((len(problem.units.y), len(problem.labels)))
    one_hot[units, problem.units.y[units]] = 1.0
    return np.asarray(conditions.holds.T @ one_hot, dtype=np.int64)


def token_conditions(problem: Problem, features: Features) -> Conditions:
    """Tokens anywhere, or first or last in a text, that at least 2 % of the units have."""
    tokens = features.tokens
    where = pl.format(" of text {}", pl.col("slot") + 1) if _several(problem) else pl.lit("")
    form = tokens.text_of(pl.col("key"))
    at_end = pl.format("'{}' is the {}{}", form, "family", where)
    parts = [_frequent(tokens.frame.select("unit", key="written"), "token", pl.format("'{}' occurs", form), problem)]
    ends = tokens.ends()
    for name, column in (("first word", "first_written"), ("last word", "last_written")):
        parts.append(_frequent(ends.select("unit", "slot", key=column), name, at_end, problem))
    return _conditions(parts, problem)


def bigram_conditions(problem: Problem, features: Features) -> Conditions:
    """Neighbouring tokens that at least 2 % of the units have."""
    tokens, n = features.tokens, len(features.tokens.vocabulary)
    pair = pl.col("written").cast(pl.UInt64) * n + pl.col("next_written")
    entries = tokens.frame.drop_nulls("next_written").select("unit", key=pair)
    text = pl.format("'{} {}' occurs", tokens.text_of(pl.col("key") // n), tokens.text_of(pl.col("key") % n))
    return _conditions([_frequent(entries, "bigram", text, problem)], problem)


def _several(problem: Problem) -> bool:
    return bool((problem.units.texts.list.len() > 1).any())


def _frequent(entries: pl.DataFrame, family: str, condition: pl.Expr, problem: Problem) -> pl.DataFrame:
    """What enough units have: ``family``, ``condition``, list of ``unit``; ``entries``: a ``unit`` and what it has."""
    keys = [name for name in entries.columns if name != "unit"]
    distinct = entries.unique()
    known = distinct.group_by(keys).len().filter(pl.col("len") >= max(2, COVERAGE * len(problem.units.y)))
    units = distinct.join(known, on=keys).group_by(keys).agg("unit")
    return units.with_columns(family=pl.lit(family)).select("family", "unit", condition=condition)


def _conditions(parts: Sequence[pl.DataFrame], problem: Problem) -> Conditions:
    """Conditions of what is frequent, most frequent first."""
    known = pl.concat(parts).with_columns(n=pl.col("unit").list.len())
    known = known.sort("n", "family", "condition", descending=[True, False, False])
    units, shape = known["unit"].explode(empty_as_null=False).to_numpy(), (len(problem.units.y), known.height)
    starts = np.concatenate([[0], np.cumsum(known["n"].to_numpy())])
    holds = sparse.csc_array((np.ones(len(units)), units, starts), shape=shape)
    return Conditions(tuple(known["family"]), tuple(known["condition"]), holds)


def threshold_conditions(problem: Problem, features: Features) -> Conditions:
    """Lengths and shares of common words that are at least, or at most, a decile."""
    family, text, holds = [], [], []
    for (kind, name), values in _measures(problem, features).items():
        for decile in np.unique(np.quantile(values, _QUANTILES)):
            for sign, bound in ((1, "at least"), (-1, "at most")):
                family.append(kind)
                text.append(f"{name} {bound} {decile:.4g}")
                holds.append(sign * values >= sign * decile)
    return Conditions(tuple(family), tuple(text), sparse.csc_array(np.column_stack(holds).astype(np.float64)))


def _measures(problem: Problem, features: Features) -> dict[tuple[str, str], Floats]:
    """(Family, name) → the measure of each unit."""
    measures = {("length", name): total(problem, features, LENGTH_MEASURES[name]) for name in ("words", "characters")}
    if features.slots > 1:
        measures["overlap", "share of words in common"] = _common(problem, features)
    return measures


def total(problem: Problem, features: Features, measure: pl.Expr) -> Floats:
    """A measure summed over the texts of each unit; of candidates, their own."""
    long = features.slotted.filter(pl.col("slot") == 0) if problem.choice else features.slotted
    return long.group_by("unit").agg(measure.sum().alias("value")).sort("unit")["value"].to_numpy().astype(np.float64)


def _common(problem: Problem, features: Features) -> Floats:
    """The share of the words of each unit that more than one of its texts has."""
    times = features.lowered.group_by("unit", "word").agg(shared=pl.len() > 1)
    shared = times.group_by("unit").agg(pl.col("shared").mean())
    every = pl.DataFrame({"unit": pl.int_range(len(problem.units.y), dtype=pl.UInt32, eager=True)})
    return every.join(shared, on="unit", how="left", maintain_order="left")["shared"].fill_null(0.0).to_numpy()


def mine(problem: Problem, features: Features, tokens: Conditions) -> Heuristics:
    """The table of heuristics of the first fold: rules chosen one after the other, then measured on what is held out.

    Each rule is the condition and label with the most correct units beyond chance, among the units to which no earlier
    rule applies: their number, times the difference between the lower end of the 95 % interval of the rule's accuracy
    and the share of its label.

    Args:
        problem: whose units they are.
        features: of these units.
        tokens: ``token_conditions``.
    """
    conditions = tokens + bigram_conditions(problem, features) + threshold_conditions(problem, features)
    fold = problem.folds[0]
    chosen = _cover(conditions, problem, fold)
    rules = tuple(_rule(conditions, problem, fold, column, label) for column, label in chosen)
    decided = np.full(len(fold.test), -1)
    for column, label in reversed(chosen):
        decided[conditions.column(column, fold.test)] = label
    covered = decided >= 0
    return Heuristics(rules, float(covered.mean()), _fallbacks(replace(problem, folds=(fold,)), decided))


def _cover(conditions: Conditions, problem: Problem, fold: Fold) -> list[tuple[int, int]]:
    """(Condition, label) in the order of the list."""
    chosen: list[tuple[int, int]] = []
    holds, y = conditions.holds[fold.train].tocsc(), problem.units.y[fold.train]
    left = np.ones(len(y))
    prior = np.bincount(y, minlength=len(problem.labels)) / len(y)
    labels = np.eye(len(problem.labels))[y]
    while len(chosen) < _RULES:
        counts = holds.T @ (labels * left[:, None])
        n = counts.sum(axis=1, keepdims=True)
        gain = np.where(n >= COVERAGE * len(left), n * (_lower(counts, n) - prior), 0.0)
        column, label = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[column, label] <= 0:
            break
        chosen.append((int(column), int(label)))
        left *= 1 - holds[:, [column]].toarray().ravel()
    return chosen


def _lower(counts: Floats, n: Floats) -> Floats:
    """Lower ends of the 95 % intervals of ``counts / n`` (Wilson, which is quick): they rank conditions."""
    z = 1.96
    n = np.maximum(n, 1)
    share = counts / n
    return (share + z * z / (2 * n) - z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)


def _rule(conditions: Conditions, problem: Problem, fold: Fold, column: int, label: int) -> Rule:
    train, test = (conditions.column(column, side) for side in (fold.train, fold.test))
    right, n = int((problem.units.y[fold.test][test] == label).sum()), int(test.sum())
    learned, n_learned = int((problem.units.y[fold.train][train] == label).sum()), int(train.sum())
    least = exact(learned, n_learned, len(conditions.text) * len(problem.labels)).low
    return Rule(
        family=conditions.family[column],
        condition=conditions.text[column],
        label=problem.labels[label],
        coverage=float(test.mean()),
        correct=right / n if n else None,
        interval=exact(right, n),
        train_coverage=float(train.mean()),
        train_correct=learned / n_learned,
        shifted=least > exact(right, n, _RULES).high,
    )


def _fallbacks(problem: Problem, decided: Ints) -> tuple[Baseline, ...]:
    """The score of the list where rows without a rule are guessed; ``problem`` has one fold."""
    (fold,), n = problem.folds, len(problem.measured_rows)
    if problem.choice:
        accuracy = problem.choice_score(np.where(decided < 0, 0.5, decided)).accuracy
        return (Baseline("random", accuracy, exact(accuracy * n, n), n),)
    y = problem.units.y[fold.test]
    prior = np.bincount(problem.units.y[fold.train], minlength=len(problem.labels)) / len(fold.train)
    guesses = {
        "majority": (y == prior.argmax()) * 1.0,
        "random": np.full(n, 1 / len(problem.labels)),
        "class-prior random": prior[y],
    }
    ruled = (decided == y) * 1.0
    scores = {name: float(np.where(decided >= 0, ruled, guess).mean()) for name, guess in guesses.items()}
    return tuple(Baseline(name, score, exact(score * n, n), n) for name, score in scores.items())
