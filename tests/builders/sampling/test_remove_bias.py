"""Rows go until no sign tells the answer more often than by chance."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders.sampling.balance import remove_bias


def _rows(signs, split="train"):
    columns = {f"s{i}": [row[i] for row in signs] for i in range(len(signs[0]))} if signs else {}
    keys = pl.Series(np.arange(len(signs)) * 7919 + 13, dtype=pl.UInt64)
    return pl.DataFrame({"key": keys, "split": [split] * len(signs)} | columns)


def _level(signs, few=0, names=("s0", "s1")):
    return remove_bias(_rows(signs), names, "test", few=few)


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
    kept = remove_bias(both, ("s0",), "test")
    assert kept.group_by("split").agg(pl.col("s0").sum(), n=pl.len()).sort("split").rows() == [
        ("test", 0, 2),
        ("train", 0, 4),
    ]


def test_nothing_of_nothing():
    empty = _rows([(1, 1)]).clear()
    assert remove_bias(empty, ("s0", "s1"), "test").is_empty()


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1])), max_size=60))
def test_sums_are_next_to_nothing_and_order_is_kept(signs):
    if not signs:
        return
    rows = _rows(signs)
    kept = remove_bias(rows, ("s0", "s1"), "test")
    assert kept["key"].to_list() == rows.filter(pl.col("key").is_in(kept["key"].implode()))["key"].to_list()
    assert max(map(abs, kept.select("s0", "s1").sum().row(0)), default=0) <= 1
    again = remove_bias(kept, ("s0", "s1"), "test")
    assert again.height == kept.height, "what is level stays as it is"


@pytest.mark.parametrize("added", [1, 5])
def test_a_few_more_rows_move_few_others(added):
    source = np.random.default_rng(3)
    signs = [tuple(int(x) for x in source.choice([-1, 0, 1], 2, p=[0.2, 0.3, 0.5])) for _ in range(200)]
    one, other = (set(_level(some)["key"]) for some in (signs, [*signs, *[(1, 1)] * added]))
    assert len(one ^ other) <= 4 * added
