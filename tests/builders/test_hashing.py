"""Choices by hash: fair, independent of each other and of everything but key and seed_key."""

import math
import subprocess
import sys
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders import hashing

KEYS = np.arange(20_000, dtype=np.uint64)
U64 = st.integers(0, 2**64 - 1)


def bits_set(values):
    return np.unpackbits(np.asarray(values, dtype=np.uint64).view(np.uint8)).mean()


KNOWN = [0x466974C7EA606C39, 0x56C4CE079AFA91D5, 0xE1A601BD61EB1CD6]
"""What keys 0, 1 and 2**64 - 1 become for the seed_key (13, "split")."""


def test_known_values():
    """These numbers decide which split every published document is in: they never change."""
    assert hashing.digest("a", 1) == 0xC13CD84A6BC18181
    assert hashing.mix([0, 1, 2**64 - 1], 13, "split").tolist() == KNOWN


def split_mix(key):
    """SplitMix64 as Steele, Lea and Flood (2014) give it."""
    whole = 2**64
    z = (key + 0x9E3779B97F4A7C15) % whole
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % whole
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % whole
    return z ^ (z >> 31)


@given(U64)
def test_it_is_split_mix(key):
    assert int(hashing.mix([key], "x", 1)[0]) == split_mix(key ^ hashing.digest("x", 1))


def test_the_same_in_another_process():
    code = "from discoprobe.loaders import hashing; print(hashing.mix([0, 1, 2**64 - 1], 13, 'split').tolist())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == str(KNOWN)


@given(st.lists(U64, min_size=1, max_size=20), st.text(max_size=5))
def test_a_choice_depends_on_its_own_key_only(keys, seed_key):
    together = hashing.mix(keys, seed_key)
    assert [int(hashing.mix([key], seed_key)[0]) for key in keys] == together.tolist()
    assert hashing.mix(keys[::-1], seed_key).tolist() == together.tolist()[::-1]


def test_distinct_keys_have_distinct_hashes():
    """SplitMix64 is a permutation of 64-bit numbers."""
    assert len(np.unique(hashing.mix(KEYS, "x"))) == len(KEYS)


@pytest.mark.parametrize("bit", [0, 1, 31, 63])
def test_one_bit_of_the_key_changes_half_of_the_hash(bit):
    changed = hashing.mix(KEYS ^ np.uint64(1 << bit), "x") ^ hashing.mix(KEYS, "x")
    assert abs(bits_set(changed) - 0.5) < 0.01


def test_purposes_are_independent():
    assert abs(bits_set(hashing.mix(KEYS, "a") ^ hashing.mix(KEYS, "b")) - 0.5) < 0.01
    assert abs(np.corrcoef(hashing.unit(KEYS, 13, "bso"), hashing.unit(KEYS, 13, "dc"))[0, 1]) < 0.03
    assert hashing.digest("ab", "c") != hashing.digest("a", "bc")


def test_unit_is_uniform():
    values = hashing.unit(KEYS, "u")
    assert values.min() >= 0
    assert values.max() < 1
    counts = np.histogram(values, bins=20, range=(0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 60  # chi-square with 19 degrees of freedom: p = 4e-6


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_pick_is_uniform(n):
    counts = Counter(hashing.pick(KEYS, n, "p").tolist())
    assert set(counts) == set(range(n))
    assert max(abs(count - len(KEYS) / n) for count in counts.values()) < 5 * math.sqrt(len(KEYS) / n)


def test_pick_with_a_number_of_its_own_for_each_key():
    sizes = np.tile([1, 2, 5], 1000)
    picked = hashing.pick(KEYS[:3000], sizes, "p")
    assert (picked >= 0).all()
    assert (picked < sizes).all()


@given(st.lists(U64, unique=True, min_size=1, max_size=30))
def test_ranking_does_not_depend_on_the_order_of_keys(keys):
    keys = np.array(keys, dtype=np.uint64)
    ranked = keys[hashing.ranking(keys, "r")]
    assert sorted(ranked.tolist()) == sorted(keys.tolist())
    assert keys[::-1][hashing.ranking(keys[::-1], "r")].tolist() == ranked.tolist()


def test_combine_minds_the_order_of_a_pair():
    assert (hashing.combine([1], [2]) != hashing.combine([2], [1])).all()
    assert len({int(hashing.combine([a], [b])[0]) for a in range(50) for b in range(50)}) == 2500
    grid = hashing.combine(KEYS[:3][:, None], KEYS[:4][None, :])
    assert grid.shape == (3, 4)
    assert grid[2, 1] == hashing.combine([2], [1])[0]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_permutations_are_uniform_over_those_that_change_something(n):
    counts = Counter(map(tuple, hashing.permutations(KEYS[:4000], n, "so").tolist()))
    assert tuple(range(n)) not in counts
    assert len(counts) == math.factorial(n) - 1
    expected = 4000 / len(counts)
    assert all(abs(count - expected) < 5 * math.sqrt(expected) for count in counts.values())


@given(U64, st.integers(2, 9))
def test_permutation(key, n):
    (order,) = hashing.permutations([key], n, "so").tolist()
    assert sorted(order) == list(range(n))
    assert order != list(range(n))
    assert hashing.permutations([*KEYS[:3], key], n, "so").tolist()[3] == order


@given(st.lists(st.none() | U64))
def test_keys_as_text(keys):
    made = pl.DataFrame({"key": pl.Series(keys, dtype=pl.UInt64)}).select(hashing.as_text("key"))["key"]
    assert made.to_list() == [None if key is None else f"{key:016x}" for key in keys]


def test_strings_in_lists_have_the_hashes_of_strings():
    lists = pl.Series("words", [["a", "é"], [], ["a"], ["words", "漢字", "a"]])
    made = lists.to_frame().select(pl.col("words").list.eval(hashing.hashed(pl.element())))["words"]
    assert made.to_list() == [hashing.hash_strings(pl.Series(each, dtype=pl.String)).tolist() for each in lists]
