"""What a small config is known to be with its task's other configs."""

from __future__ import annotations

import numpy as np
import pytest

from discoprobe.builders.audit.borrow import FEWEST, SPREAD, between_variance, estimates, shrunk
from discoprobe.builders.audit.report import Status


def _tally(n, accuracy, limit=0.52, **others):
    right = {"length": accuracy} | others
    return {
        "n": n, "independent": float(n), "baseline": n / 2, "limit": n * limit,
        "correct": {name: share * n for name, share in right.items()},
    }  # fmt: skip


def _task(*shares, n=60, **kwargs):
    return {f"task_{i}": {"length": _tally(n, share, **kwargs)} for i, share in enumerate(shares)}


def test_small_configs_at_chance_pass_together():
    found = estimates(_task(*[0.5] * 20), "length")
    assert len(found) == 20
    assert {one.status for one in found.values()} == {Status.PASSED}


def test_a_shortcut_of_the_design_fails_in_every_config():
    found = estimates(_task(*[0.64] * 20), "length")
    assert {one.status for one in found.values()} == {Status.FAILED}


def test_too_few_rows_in_all_stay_undecided():
    found = estimates(_task(*[0.5] * 4, n=20), "length")
    assert {one.status for one in found.values()} == {Status.UNDECIDED}


def test_a_mean_above_the_limit_never_passes():
    found = estimates(_task(*[0.53] * 40, n=500), "length")
    assert Status.PASSED not in {one.status for one in found.values()}


def test_one_language_with_the_shortcut_does_not_hide_among_the_others():
    task = _task(*[0.5] * 20) | {"task_bad": {"length": _tally(600, 0.75)}}
    found = estimates(task, "length")
    assert found["task_bad"].status is Status.FAILED
    assert found["task_0"].status is not Status.FAILED


def test_large_configs_keep_their_own_figure():
    task = _task(*[0.5] * 20) | {"task_large": {"length": _tally(50_000, 0.56)}}
    assert estimates(task, "length")["task_large"].excess == pytest.approx(0.04, abs=0.002)


def test_fewer_configs_tell_nothing_about_each_other():
    assert estimates(_task(*[0.5] * (FEWEST - 1)), "length") == {}
    assert estimates(_task(*[0.5] * FEWEST), "length")
    assert estimates({}, "length") == {}
    assert estimates(_task(*[0.5] * FEWEST), "overlap") == {}


def test_the_best_of_several_solvers_is_judged():
    """Of two solvers the one that is best over all configs, not the best of each."""
    task = _task(*[0.5] * 20, words=0.7)
    assert {one.status for one in estimates(task, "length").values()} == {Status.FAILED}


@pytest.mark.parametrize("spread", [0.0, SPREAD, 0.08])
def test_intervals_hold_what_they_should(spread):
    """Drawn as the model says, or more alike: 95 % intervals hold the truth in at least 93 % of 40,000 configs."""
    source = np.random.default_rng(5)
    held = []
    for _ in range(2000):
        n = source.integers(20, 400, 20)
        truth = 0.5 + spread * source.standard_normal(20)
        values = source.binomial(n, truth) / n
        mean, error = shrunk(values, 0.25 / n)
        held.append((np.abs(mean - truth) <= 1.96 * error).mean())
    assert np.mean(held) > 0.93


def test_variance_between_is_what_is_more_than_measuring_gives():
    source = np.random.default_rng(5)
    n = np.full(4000, 400)
    values = source.binomial(n, np.clip(0.5 + 0.06 * source.standard_normal(4000), 0, 1)) / n
    assert between_variance(values, 0.25 / n) == pytest.approx(0.06**2, rel=0.15)
    assert between_variance(np.full(5, 0.5), np.full(5, 0.01)) == 0.0
