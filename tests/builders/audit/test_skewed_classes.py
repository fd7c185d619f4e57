"""Macro-F1 of solvers in data whose classes are not equally frequent."""

import msgspec
import numpy as np
import pytest
from sklearn.metrics import f1_score

from discoprobe.builders.audit.solvers import Fold, Problem, Score, macro_f1


def problem_of(truth, groups):
    n = len(truth)
    truth, numbers = np.asarray(truth), np.asarray(groups)
    ids = np.array([str(row) for row in range(n)], dtype=object)
    labels = tuple(map(str, range(int(truth.max()) + 1)))
    fold, every = Fold(np.arange(n), np.arange(n)), np.arange(n)
    return Problem(
        texts=None, n_context=np.zeros(n), y=truth, row=every, edited=np.full(n, -1), ids=ids, number=every,
        row_labels=truth, clusterings=(numbers,), labels=labels, folds=(fold,),
    )  # fmt: skip


def score_of(problem, predicted):
    return problem.label_score(np.asarray(predicted), np.ones(len(predicted)))


def test_naming_the_commonest_class_is_no_gain():
    problem = problem_of([0] * 80 + [1] * 20, np.arange(100) % 10)
    found = macro_f1(score_of(problem, [0] * 100), problem)
    assert found.value == pytest.approx(f1_score([0] * 80 + [1] * 20, [0] * 100, average="macro", zero_division=0))
    assert found.baseline == pytest.approx(0.5), "guessing with the shares reaches more"
    assert found.value <= found.baseline


def test_a_solver_that_finds_the_rare_class_is_above_the_baseline_with_no_gain_in_accuracy():
    truth = [0] * 80 + [1] * 20
    predicted = [0] * 66 + [1] * 14 + [1] * 14 + [0] * 6
    problem = problem_of(truth, np.arange(100) % 10)
    score = score_of(problem, predicted)
    found = macro_f1(score, problem)
    assert score.accuracy == problem.baseline == 0.8
    assert found.interval[0] > found.baseline + 0.05
    assert found.interval[0] < found.value < found.interval[1]


def test_rows_of_one_document_count_as_one():
    """Where a document is right or wrong as a whole, the interval is wider."""
    truth, predicted = [0, 1] * 50, [0, 1] * 35 + [1, 0] * 15
    apart = problem_of(truth, np.arange(100))
    together = problem_of(truth, np.repeat(np.arange(10), 10))
    widths = [
        found.interval[1] - found.interval[0]
        for problem in (apart, together)
        for found in [macro_f1(score_of(problem, predicted), problem)]
    ]
    assert widths[0] < widths[1]


def test_a_solver_without_labels_has_none():
    problem = problem_of([0, 1], [0, 1])
    score = msgspec.structs.replace(score_of(problem, [0, 1]), predicted=None)
    assert isinstance(score, Score)
    assert macro_f1(score, problem) is None
