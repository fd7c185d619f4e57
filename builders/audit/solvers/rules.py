"""Heuristics mined from what solvers learn from: single rules and lists of them (Iazykova et al. 2021).

What may hold of a unit is in ``conditions``. ``best_token`` is the solver of one rule; ``mine`` makes the list of rules
that reports show.
"""

import numpy as np
from msgspec.structs import replace

from discoprobe.builders.audit.intervals import Interval, exact, independent_rows
from discoprobe.builders.audit.report import Baseline, Heuristics, Rule
from discoprobe.builders.audit.solvers.classifiers import Floats, Ints
from discoprobe.builders.audit.solvers.conditions import COVERAGE, Conditions, all_conditions
from discoprobe.builders.audit.solvers.features import Features
from discoprobe.builders.audit.solvers.problem import Fold, Problem, Score

_RULES = 12
"""Rules in the list; the tables of Iazykova et al. have two to eight per task."""


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
    most often beyond chance where it is measured. Empty if none holds there: the lower end of the interval of what it
    gets right, of the rules of all folds together, is above the share of its label.
    """
    rules: dict[str, float] = {}
    for fold in problem.folds if conditions.text else ():
        best, label, _ = _learn_rule(conditions, problem, fold)
        holds, is_label = conditions.column(best, fold.test), problem.y[fold.test] == label
        if _interval_of(problem, fold.test[holds], label, len(problem.folds))[0] <= is_label.mean():
            continue
        share = float(is_label[holds].mean())
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


def mine(problem: Problem, features: Features, tokens: Conditions) -> Heuristics:
    """The heuristics of the first fold: rules chosen one after the other where solvers learn, then tested.

    A rule is listed if it holds on the units held out: the lower end of the interval of its accuracy there, of all
    rules that were chosen together, is above the share of its label. So labels by lot have a rule in at most 2.5 % of
    sets. A rule that holds only where it was found is shifted. Where no rule of the list applies, rows are guessed, in
    several ways.

    Args:
        problem: whose units they are.
        features: of these units.
        tokens: ``token_conditions``.
    """
    conditions = all_conditions(problem, features, tokens)
    fold, n_labels, y = problem.folds[0], len(problem.labels), problem.y
    chosen = _choose_rules(conditions, problem, fold)
    rules, shifted, decided = [], [], np.full(len(fold.test), -1)
    for column, label in chosen:
        of_train, of_test = (conditions.column(column, side) for side in (fold.train, fold.test))
        train, test = fold.train[of_train], fold.test[of_test]
        least = _interval_of(problem, train, label, len(conditions.text) * n_labels)[0]
        interval = _interval_of(problem, test, label, len(chosen))
        rule = Rule(
            family=conditions.family[column], condition=conditions.text[column], label=problem.labels[label],
            coverage=float(of_test.mean()), correct=float((y[test] == label).mean()) if len(test) else None,
            interval=interval, train_coverage=float(of_train.mean()),
            train_correct=float((y[train] == label).mean()),
        )  # fmt: skip
        if interval[0] > (y[fold.test] == label).mean():
            rules.append(rule)
            decided[of_test & (decided < 0)] = label
        elif least > interval[1]:
            shifted.append(rule)
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
    return Heuristics(tuple(rules), float(covered.mean()), fallbacks, tuple(shifted))


def _interval_of(problem: Problem, units: Ints, label: int, tries: int) -> Interval:
    """The 95 % interval of the share of units that have a label, of the best of ``tries`` rules.

    Units that share a pair or a document count as fewer; those of one document alone, as one.
    """
    right = (problem.y[units] == label).astype(np.float64)
    if not len(units):
        return exact(0, 0)
    clusterings = [clusters[problem.row[units]] for clusters in problem.clusterings]
    n = independent_rows(right, clusterings) if len(np.unique(clusterings[-1])) > 1 else 1.0
    return exact(float(right.mean()) * n, n, tries)


def _choose_rules(conditions: Conditions, problem: Problem, fold: Fold) -> list[tuple[int, int]]:
    """(Condition, label) of each rule, in the order of the list.

    Each is the condition and label with the most correct units beyond chance, among the units to which no earlier rule
    applies: their number, times the difference between the lower end of the 95 % interval of the rule's accuracy, among
    these units or among all if that is lower, and the share of its label. The interval is Wilson's, which is quick.
    """
    chosen: list[tuple[int, int]] = []
    holds, y = conditions.holds[fold.train].tocsc(), problem.y[fold.train]
    undecided = np.ones(len(y))
    prior = np.bincount(y, minlength=len(problem.labels)) / len(y)
    labels = np.eye(len(problem.labels))[y]
    of_all = _least_shares(holds.T @ labels)
    while conditions.text and len(chosen) < _RULES:
        counts = holds.T @ (labels * undecided[:, None])
        n_units = counts.sum(axis=1, keepdims=True)
        least = np.minimum(_least_shares(counts), of_all)
        gain = np.where(n_units >= COVERAGE * len(y), n_units * (least - prior), 0.0)
        column, label = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[column, label] <= 0:
            break
        chosen.append((int(column), int(label)))
        undecided *= 1 - holds[:, [column]].toarray().ravel()
    return chosen


def _least_shares(counts: Floats) -> Floats:
    """The lower end of Wilson's 95 % interval of the share of each label, shape (conditions, labels)."""
    z, n = 1.96, np.maximum(counts.sum(axis=1, keepdims=True), 1)
    share = counts / n
    deviation = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return np.asarray((share + z * z / (2 * n) - deviation) / (1 + z * z / n))
