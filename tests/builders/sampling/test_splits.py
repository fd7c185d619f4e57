"""Groups are placed by hash; in small corpora the fewest are moved so that every split gets its share of material."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders import MIN_ROWS, SHARES, SPLITS
from discoprobe.builders.sampling import ENOUGH, corrected_shares, split_of, with_splits_of_sets
from discoprobe.loaders import hashing

KEYS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50, unique=True)
WEIGHTS = st.lists(st.integers(0, 40), min_size=3, max_size=60)


def totals(splits, weights):
    return np.array([sum(w for s, w in zip(splits, weights, strict=True) if s == split) for split in SPLITS])


def keys_of(n, start=0):
    return np.arange(start, start + n, dtype=np.uint64)


@given(KEYS, st.integers(0, 2**31))
def test_without_weights_a_split_depends_on_the_key_alone(keys, seed):
    together = split_of(keys, seed).to_list()
    assert together == [split_of([key], seed)[0] for key in keys]
    assert set(together) <= set(SPLITS)


def test_shares_of_the_hash():
    splits = split_of(keys_of(50_000), 13)
    for split, share in zip(SPLITS, SHARES, strict=True):
        assert abs((splits == split).mean() - share) < 0.01


def test_another_seed_is_another_split():
    same = (split_of(keys_of(10_000), 13) == split_of(keys_of(10_000), 14)).mean()
    assert abs(same - sum(share**2 for share in SHARES)) < 0.03


def test_no_keys():
    assert split_of([], 13).len() == 0
    assert split_of([], 13, []).len() == 0


@given(WEIGHTS, st.integers(0, 2**31))
def test_no_split_is_empty_where_three_groups_have_material(weights, seed):
    splits = split_of(keys_of(len(weights)), seed, weights).to_list()
    assert len(splits) == len(weights)
    if sum(weight > 0 for weight in weights) >= 3:
        assert (totals(splits, weights) > 0).all()


@given(st.lists(st.integers(0, 40), min_size=6, max_size=20), st.integers(0, 2**31))
def test_every_split_has_two_groups_where_six_have_material(weights, seed):
    """So that a split has another document that a distractor comes from."""
    splits = split_of(keys_of(len(weights)), seed, weights, fewest=2)
    if sum(weight > 0 for weight in weights) >= 6:
        assert all(((splits == split).to_numpy() & (np.array(weights) > 0)).sum() >= 2 for split in SPLITS)


@given(st.lists(st.integers(1, 20), min_size=12, max_size=80), st.integers(0, 2**31))
def test_shares_are_kept_as_far_as_whole_groups_allow(weights, seed):
    splits = split_of(keys_of(len(weights)), seed, weights).to_list()
    missing = ENOUGH * sum(weights) * np.array(SHARES) - totals(splits, weights)
    assert (missing < max(weights)).all()


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 1.5])
def test_documents_of_zipfian_sizes(exponent):
    """From equal sizes to one document that holds a third."""
    weights = 1000 / np.arange(1, 41) ** exponent
    for seed in range(20):
        found = totals(split_of(keys_of(40), seed, weights).to_list(), weights) / weights.sum()
        assert (found >= ENOUGH * np.array(SHARES) - weights.max() / weights.sum()).all()
        assert (found > 0).all()


@given(WEIGHTS, st.integers(0, 2**31), st.randoms(use_true_random=False))
def test_the_order_of_groups_does_not_matter(weights, seed, random):
    keys = keys_of(len(weights)).tolist()
    order = list(range(len(keys)))
    random.shuffle(order)
    plain = dict(zip(keys, split_of(keys, seed, weights), strict=True))
    shuffled = split_of([keys[n] for n in order], seed, [weights[n] for n in order])
    assert plain == dict(zip([keys[n] for n in order], shuffled, strict=True))


def test_in_a_large_corpus_a_new_group_moves_no_other():
    weights = np.arange(2000) % 17  # 16,000 in all
    for seed in range(10):
        whole = split_of(keys_of(2000), seed, weights)
        assert whole.to_list() == split_of(keys_of(2000), seed).to_list()
        assert whole[:1999].to_list() == split_of(keys_of(1999), seed, weights[:1999]).to_list()


def test_in_a_small_corpus_few_groups_move():
    moved = []
    for seed in range(30):
        by_hash = split_of(keys_of(30), seed)
        moved.append((by_hash != split_of(keys_of(30), seed, np.ones(30))).sum())
    assert max(moved) <= 10
    assert sum(moved) <= 120


def test_three_hundred_and_fifty_rows():
    """Enough for the least sizes, 200, 50 and 100, or nearly."""
    found = totals(split_of(keys_of(350), 13, np.ones(350)).to_list(), np.ones(350))
    assert (found >= 0.95 * 350 * np.array(SHARES) - 1).all()


@given(st.lists(st.integers(0, 200), min_size=1, max_size=4), st.integers(2, 5), st.integers(0, 2**31))
def test_matched_sets_are_divided_as_the_least_sizes_are(sizes, n_labels, seed):
    """Rows in cells of these sizes; a cell has equally many of every label."""
    cells = [str(cell) for cell, size in enumerate(sizes) for _ in range(size * n_labels)]
    keys = hashing.mix(keys_of(len(cells)), "key")
    rows = pl.DataFrame(
        {"key": keys, "cell": cells, "label": np.arange(len(cells)) % n_labels, "n_chars": keys % np.uint64(90)},
        schema_overrides={"cell": pl.String, "label": pl.Int64},
    )
    found = with_splits_of_sets(rows, "label", seed, cell=("cell",))
    assert found.height == rows.height
    if found.height:
        assert set(
            found.group_by("split", "cell", "label")
            .len()
            .group_by("split", "cell")
            .agg(n=pl.col("len").n_unique(), labels=pl.len())
            .select("n", "labels")
            .iter_rows()
        ) == {(1, n_labels)}
        have = [(found["split"].cast(pl.String) == split).sum() for split in SPLITS]
        assert have[0] > 0
        if sum(sizes) >= 3:
            assert all(have)
        if found.height >= sum(MIN_ROWS) + 3 * n_labels:
            assert all(n >= least for n, least in zip(have, MIN_ROWS, strict=True)), have


def test_rows_of_a_set_have_the_same_length():
    """So the labels are balanced by length in every split, not only in all together."""
    keys = hashing.mix(np.arange(400, dtype=np.uint64), "rows")
    rows = pl.DataFrame({"key": keys, "label": ["a", "b"] * 200, "n_chars": [20 + n // 2 for n in range(400)]})
    assigned = with_splits_of_sets(rows, "label", 13)
    for split in SPLITS:
        lengths = [
            assigned.filter(pl.col("split") == split, pl.col("label") == label)["n_chars"].sort().to_list()
            for label in "ab"
        ]
        assert lengths[0] == lengths[1]


def test_there_is_no_other_attempt_where_all_rows_together_are_too_few():
    least = sum(MIN_ROWS)
    assert corrected_shares(SHARES, (least - 60, 20, 20)) is None
    assert corrected_shares(SHARES, (least - 20, 20, 20)) is not None
    assert corrected_shares(SHARES, (least - 60, 0, 20)) is not None
