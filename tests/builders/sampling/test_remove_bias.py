"""Rows go until no sign tells the answer more often than by chance."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders.sampling import balance, classes, differences, ranks, remove_bias, steps, waves


def _rows(signs, split="train"):
    columns = {f"s{i}": [row[i] for row in signs] for i in range(len(signs[0]))} if signs else {}
    keys = pl.Series(np.arange(len(signs)) * 7919 + 13, dtype=pl.UInt64)
    return pl.DataFrame({"key": keys, "split": [split] * len(signs)} | columns)


def _gains(rows, names=("s0", "s1")):
    return rows.select(names).to_numpy().astype(np.float64)


def _level(signs, few=0, names=("s0", "s1")):
    rows = _rows(signs)
    return remove_bias(rows, _gains(rows, names), "test", few=few)


def test_as_many_rows_of_either_sign():
    kept = _level([(1,)] * 30 + [(-1,)] * 12, names=("s0",))
    assert kept["s0"].value_counts().sort("s0")["count"].to_list() == [12, 12]


def test_ties_stay():
    kept = _level([(0,)] * 5 + [(1,)] * 6 + [(-1,)] * 2, names=("s0",))
    assert (kept.height, kept["s0"].sum()) == (9, 0)


def test_of_four_the_right_one_is_first_in_a_quarter():
    kept = _level([(3,)] * 40 + [(-1,)] * 60, names=("s0",))
    assert (kept["s0"] == 3).sum() == 20
    assert kept.height == 80


def test_a_row_that_tells_by_two_signs_goes_first():
    kept = _level([(1, 1)] * 4 + [(1, 0)] * 4 + [(0, 1)] * 4 + [(-1, -1)] * 4)
    assert kept.height == 12
    assert kept.filter((pl.col("s0") == 1) & (pl.col("s1") == 1)).is_empty()


def test_few_rows_stay_whatever_they_tell():
    assert _level([(1,)] * 3, few=3, names=("s0",)).height == 3
    assert _level([(1,)] * 3, few=2, names=("s0",)).height == 2
    assert _level([(1,)] * 3, names=("s0",)).height == 0


def test_splits_are_levelled_each_by_itself():
    both = pl.concat([_rows([(1,)] * 4 + [(-1,)] * 2), _rows([(1,)] + [(-1,)] * 3, "test")])
    both = both.with_columns(key=pl.Series(np.arange(10), dtype=pl.UInt64))
    kept = remove_bias(both, _gains(both, ["s0"]), "test")
    assert kept.group_by("split").agg(pl.col("s0").sum(), n=pl.len()).sort("split").rows() == [
        ("test", 0, 2),
        ("train", 0, 4),
    ]


def test_nothing_of_nothing():
    empty = _rows([(1, 1)]).clear()
    assert remove_bias(empty, _gains(empty), "test").is_empty()


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1])), max_size=60))
def test_sums_are_next_to_nothing_and_order_is_kept(signs):
    if not signs:
        return
    rows = _rows(signs)
    kept = remove_bias(rows, _gains(rows), "test")
    assert kept["key"].to_list() == rows.filter(pl.col("key").is_in(kept["key"].implode()))["key"].to_list()
    assert max(map(abs, kept.select("s0", "s1").sum().row(0)), default=0) <= 1
    again = remove_bias(kept, _gains(kept), "test")
    assert again.height == kept.height, "what is level stays as it is"


@pytest.mark.parametrize("added", [1, 5])
def test_a_few_more_rows_move_few_others(added):
    source = np.random.default_rng(3)
    signs = [tuple(int(x) for x in source.choice([-1, 0, 1], 2, p=[0.2, 0.3, 0.5])) for _ in range(200)]
    one, other = (set(_level(some)["key"]) for some in (signs, [*signs, *[(1, 1)] * added]))
    assert len(one ^ other) <= 4 * added


def test_a_row_gives_way_to_another_of_its_key_before_one_goes():
    rows = pl.DataFrame({"key": pl.Series([n // 2 for n in range(40)], dtype=pl.UInt64), "split": ["train"] * 40})
    gains = np.tile([[1.0], [-1.0]], (20, 1))
    kept = remove_bias(rows.with_columns(gain=gains[:, 0]), gains, "test")
    assert sorted(kept["key"]) == list(range(20))
    assert kept["gain"].sum() == 0


def test_as_few_rows_go_as_the_slack_leaves():
    rows = _rows([(1,)] * 10 + [(-1,)] * 4)
    assert remove_bias(rows, _gains(rows, ["s0"]), "test", slack=3).height == 11


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=200))
def test_what_tells_the_right_one_of_two_tells_the_other_where_they_change_places(pairs):
    values = np.array(pairs, dtype=np.float64)
    for rule in (ranks, differences, classes):
        assert np.array_equal(rule(values), -rule(values[:, ::-1])), rule.__name__


def test_ranks_of_four():
    values = np.array([[4, 1, 2, 3], [1, 2, 3, 4], [2, 1, 3, 4], [5, 5, 1, 1]], dtype=np.float64)
    assert ranks(values).tolist() == [[-1, -1, 3], [-1, -1, -1], [3, -1, -1], [-1, 1, 1]]


def test_the_longer_of_long_ones_and_the_shorter_of_short_ones_is_not_right():
    """No rank tells the right one, and none by how much; what tells it is how long the two are together."""
    source = np.random.default_rng(1)
    low = source.uniform(0, 10, 400)
    pairs = np.column_stack([low, low + 3])
    longer_is_right = source.uniform(0, 10, 400) < low
    values = np.where(longer_is_right[:, None], pairs[:, ::-1], pairs)

    def convex(kept):
        """How often the candidate that is further from the middle is right."""
        far = np.abs(kept - 6.5)
        return (far[:, 0] > far[:, 1]).mean()

    rows = _rows([(n,) for n in range(400)])
    by_rank, by_class = (
        values[remove_bias(rows, np.hstack([rule(values) for rule in rules]), "test")["s0"].to_list()]
        for rules in ((ranks, differences), (ranks, differences, classes))
    )
    assert convex(by_rank) > 0.7
    assert abs(convex(by_class) - 0.5) < 0.5 * (convex(by_rank) - 0.5)
    assert len(by_class) > 120


def test_what_two_measures_show_together_goes_though_neither_shows_it_alone():
    """Three rows in four have a right one that both measures find high, or both find low; the others mixed ones."""
    numbers = np.random.default_rng(5)
    values, others = (numbers.permuted(np.tile([-3.0, -1.0, 1.0, 3.0], (600, 1)), axis=1) for _ in range(2))
    right, rows = np.sign(values[:, 0]), np.arange(600)
    match = np.argmax(np.sign(others) == np.where(rows % 4 > 0, right, -right)[:, None], axis=1)
    others[rows, 0], others[rows, match] = others[rows, match], others[rows, 0]
    alone = np.hstack([rule(measure) for measure in (values, others) for rule in (ranks, differences)])
    frame = _rows([(1,)] * 600).with_row_index("at")
    even = remove_bias(frame, alone, "test", slack=5)["at"].to_numpy()
    together = waves([values, others])
    matched = remove_bias(frame, np.hstack([alone, together]), "test", slack=5)["at"].to_numpy()
    agree = np.sign(values) == np.sign(others)
    more = agree[:, 0] - agree[:, 1:].mean(axis=1)
    assert more[even].mean() > 0.2
    assert abs(more[matched].mean()) < 0.05
    assert len(matched) > 200


def test_what_three_measures_show_together_goes_though_no_two_of_them_show_it():
    """In four pairs of five the right one is ahead in one measure or in all three."""
    numbers = np.random.default_rng(7)
    ahead = numbers.choice([-1, 1], size=(600, 3)) * numbers.uniform(1, 2, size=(600, 3))
    wrong = np.where(np.arange(600) % 5 > 0, ahead.prod(axis=1) < 0, ahead.prod(axis=1) > 0)
    ahead[wrong, 2] *= -1
    measures = [np.column_stack([difference, np.zeros(600)]) for difference in ahead.T]
    alone = np.hstack([rule(measure) for measure in measures for rule in (ranks, differences)])
    frame = _rows([(1,)] * 600).with_row_index("at")
    even, kept = (
        remove_bias(frame, rules, "test", slack=3)["at"].to_numpy()
        for rules in (alone, np.hstack([alone, waves(measures)]))
    )
    odd = np.sign(ahead.prod(axis=1))
    assert odd[even].mean() > 0.5
    assert abs(odd[kept].mean()) < 0.5 * odd[even].mean()
    assert len(kept) > 200


def test_waves_of_the_opposite_differences_are_opposite():
    numbers = np.random.default_rng(3)
    measures = [numbers.normal(size=(40, 2)) for _ in range(4)]
    assert (waves(measures) == -waves([measure[:, ::-1] for measure in measures])).all()
    assert waves([measure[:0] for measure in measures]).shape[0] == 0


def test_steps_see_what_a_threshold_tells():
    values = np.array([[1.0, 2.0], [3.0, 2.0], [1.0, 2.0], [3.0, 2.0]] * 10)  # neither rank nor mean tells
    assert ranks(values).sum() == 0
    assert differences(values).sum() == 0
    gains = steps(values)
    assert gains.shape[1] == 3
    assert gains.sum(axis=0).tolist() == [-20, 20, 0]  # above 1: the wrong one; above 2: the right one
    assert steps(np.empty((0, 2))).shape == (0, 0)


def chosen_one_by_one(gains, units, few, slack):
    """What stays, where each step looks at all moves: the definition."""
    chosen = np.unique(units, return_index=True)[1]

    def best_of(moves):
        sums = gains[chosen].sum(axis=0)
        growth = ((sums + moves) ** 2).sum(axis=1) - (sums**2).sum()
        best = int(growth.argmin())
        return best if growth[best] < 0 and np.abs(sums).max() > slack else None

    while (best := best_of(gains - gains[chosen[units]])) is not None:
        chosen[units[best]] = best
    while len(chosen) > few and (best := best_of(-gains[chosen])) is not None:
        chosen = np.delete(chosen, best)
    return chosen.tolist()


@pytest.mark.parametrize("scale", [1, 100])
@pytest.mark.parametrize("ahead", [1, 5, 64])
@pytest.mark.parametrize(("few", "slack"), [(0, 0.5), (150, 0.5), (0, 12)])
def test_moves_are_those_that_a_look_at_all_of_them_would_choose(monkeypatch, scale, ahead, few, slack):
    """What is known of a move from before is exact, also where single precision is not."""
    monkeypatch.setattr(balance, "AHEAD", ahead)
    numbers = np.random.default_rng(ahead)
    gains = np.round(numbers.normal(0.2, scale, size=(400, 12)) * 8) / 8
    units = np.sort(numbers.integers(0, 160, size=400))
    units = np.unique(units, return_inverse=True)[1]
    problem = gains, units, few, slack * scale
    assert balance._level(*problem).tolist() == chosen_one_by_one(*problem)
