"""A document's split depends on the document and the seed alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders.settings import SHARES, SPLITS
from discoprobe.builders.splits import split_of

KEYS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50)


@given(KEYS, st.integers(0, 2**31))
def test_a_split_does_not_depend_on_the_other_keys(keys, seed):
    together = split_of(keys, seed).to_list()
    assert together == [split_of([key], seed)[0] for key in keys]
    assert set(together) <= set(SPLITS)


def test_shares():
    splits = split_of(np.arange(50_000, dtype=np.uint64), 13)
    for split, share in zip(SPLITS, SHARES, strict=True):
        assert abs((splits == split).mean() - share) < 0.01


def test_another_seed_is_another_split():
    keys = np.arange(10_000, dtype=np.uint64)
    same = (split_of(keys, 13) == split_of(keys, 14)).mean()
    assert abs(same - sum(share**2 for share in SHARES)) < 0.03


def test_no_keys():
    assert split_of([], 13).len() == 0
