"""Balance: exact, by hash, and nearly the same after a row is added."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discoprobe.builders import SPLITS, Settings
from discoprobe.builders.sampling import (
    LENGTH_EDGES,
    assign_labels,
    cap,
    equal_counts,
    equal_counts_by_length,
    split_of,
    strata,
    with_rank,
)
from discoprobe.loaders import hashing


def rows(n, *, seed=0, values="ab", shares=None):
    """n rows with a key, a split, a length and a value that is not balanced."""
    keys = hashing.mix(np.arange(n, dtype=np.uint64), "rows", seed)
    thresholds = np.cumsum(shares or [1 / len(values)] * len(values))[:-1]
    value = np.array(list(values))[np.searchsorted(thresholds, hashing.unit(keys, "value"))]
    return pl.DataFrame(
        {"key": keys, "split": split_of(keys, 13), "mean_words": 4 + 30 * hashing.unit(keys, "length"), "value": value}
    )


def counts(frame, *columns):
    return Counter(frame.select(*columns).iter_rows())


@pytest.mark.parametrize("n", [2, 3, 5])
def test_strata_are_ordered(n):
    lengths = pl.DataFrame({"words": np.arange(0.0, 60.0, 0.5)})
    found = lengths.select(strata(pl.col("words"), n)).to_series()
    assert found.is_sorted()
    assert found.unique().sort().to_list() == list(range(n))
    assert list(LENGTH_EDGES) == sorted(LENGTH_EDGES)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 300), st.integers(2, 5), st.integers(0, 99))
def test_assigned_labels_are_equally_frequent_in_every_split(n, n_labels, seed):
    served = assign_labels(rows(n, seed=seed), n_labels, "task")
    for split in SPLITS:
        tally = Counter(served.filter(pl.col("split") == split)["label"].to_list())
        assert len(set(tally.values())) <= 1
        assert set(tally) in (set(), set(range(n_labels)))
    assert served["key"].n_unique() == served.height


def test_labels_are_assigned_within_strata():
    served = assign_labels(rows(3000), 4, "task").with_columns(stratum=strata(pl.col("mean_words"), 5))
    for (split, stratum), cell in served.group_by("split", "stratum"):
        tally = Counter(cell["label"].to_list())
        assert max(tally.values()) - min(tally.values()) <= 2, (split, stratum)
    assert served.height > 3000 - 3 * 4


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 300), st.integers(2, 5), st.integers(0, 99))
def test_at_most_the_remainder_of_each_split_gets_no_label(n, n_labels, seed):
    given_rows = rows(n, seed=seed)
    served = assign_labels(given_rows, n_labels, "task")
    for split in SPLITS:
        n_split, n_served = (frame.filter(pl.col("split") == split).height for frame in (given_rows, served))
        assert n_served == n_split // n_labels * n_labels


def test_assigned_labels_do_not_tell_the_order_of_keys():
    served = assign_labels(rows(4000), 2, "task").sort("key")
    first = served["label"][: served.height // 2].mean()
    assert abs(first - 0.5) < 0.05


def test_one_more_row_changes_few_labels():
    before = assign_labels(rows(600), 5, "task")
    after = assign_labels(rows(601), 5, "task")
    both = before.join(after, on="key", how="left")
    assert (both["label"] == both["label_right"]).fill_null(value=False).mean() > 0.9


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 300), st.integers(0, 99), st.sampled_from([[0.5, 0.5], [0.9, 0.1], [0.98, 0.02]]))
def test_equalised_values_are_equally_frequent(n, seed, shares):
    frame = rows(n, seed=seed, shares=shares)
    kept = equal_counts(frame, "value", ["split"], "task")
    by_cell = counts(kept, "split", "value")
    for split in SPLITS:
        there = counts(frame.filter(pl.col("split") == split), "value")
        least = min(there[value,] for value in "ab") if frame["value"].n_unique() == 2 else None
        if least is not None:
            assert by_cell[split, "a"] == by_cell[split, "b"] == least
    assert set(kept["key"]) <= set(frame["key"])


def test_equalising_keeps_everything_that_is_equal():
    frame = rows(100).with_columns(value=pl.Series(["a", "b"] * 50), split=pl.lit("train"))
    assert equal_counts(frame, "value", ["split"], "x").sort("key").equals(frame.sort("key"))


def test_which_rows_are_kept_does_not_depend_on_their_order():
    frame = rows(500, shares=[0.7, 0.3])
    kept = equal_counts(frame, "value", ["split"], "x")["key"]
    assert set(kept) == set(equal_counts(frame.reverse(), "value", ["split"], "x")["key"])
    assert set(kept) != set(equal_counts(frame, "value", ["split"], "y")["key"])


def test_balance_within_strata():
    kept = equal_counts_by_length(rows(6000, shares=[0.6, 0.4]), "value", "task").with_columns(
        stratum=strata(pl.col("mean_words"), 5)
    )
    for (split, stratum), cell in kept.group_by("split", "stratum"):
        assert len(set(counts(cell, "value").values())) == 1, (split, stratum)
    lengths = kept.group_by("value").agg(pl.col("mean_words").mean())["mean_words"]
    assert abs(lengths[0] - lengths[1]) < 0.3


def test_balance_of_lengths_that_differ_by_value():
    """The strata carry the balance: long and short rows of both values become equally frequent."""
    shorter = pl.when(pl.col("value") == "a").then(pl.col("mean_words") * 0.85).otherwise(pl.col("mean_words"))
    frame = rows(4000).with_columns(mean_words=shorter)

    def difference(part):
        return abs(part.filter(value="a")["mean_words"].mean() - part.filter(value="b")["mean_words"].mean())

    assert difference(frame) > 2
    assert difference(equal_counts_by_length(frame, "value", "task")) < difference(frame) / 2


@pytest.mark.parametrize("weight", [1, 2])
def test_cap(weight):
    frame = rows(2000)
    kept = cap(frame, Settings(sizes=(100, 30, 11)), "task", weight=weight)
    tally = Counter(kept["split"].to_list())
    assert tally == {"train": 100 // weight, "validation": 30 // weight, "test": 11 // weight}
    more = cap(frame, Settings(sizes=(200, 60, 22)), "task", weight=weight)
    assert set(kept["key"]) <= set(more["key"]), "a larger release holds the smaller one"


@pytest.mark.parametrize("weight", [1, 2])
def test_rings_are_capped_as_a_whole_by_their_rows(weight):
    """Three rows, of which each may get the word of the next, stay or go together; the sizes count rows."""
    frame = rows(900).with_columns(ring=pl.int_range(pl.len()) // 3)
    frame = frame.with_columns(pl.col("split").first().over("ring"))
    rest = cap(frame, Settings(sizes=(90, 30, 12)), "task", weight=weight)
    assert Counter(rest["split"].to_list()) == {
        split: n // (3 * weight) * 3 for split, n in zip(SPLITS, (90, 30, 12), strict=True)
    }
    assert set(rest.group_by("ring").len()["len"]) == {3}


def test_ranks():
    ranked = with_rank(rows(300), ["split"], "x")
    for split in SPLITS:
        part = ranked.filter(pl.col("split") == split)["rank"].sort().to_list()
        assert part == list(range(1, len(part) + 1))
