"""Couples: disjoint, inside a cell, one per owner, and nearly the same after a word is added."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders.sentences.word_pairs import pair_words

WORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 9)), max_size=40)


def _keys(n):
    return np.arange(1, n + 1, dtype=np.uint64)


@given(words=WORDS)
def test_couples_are_disjoint_of_one_cell_of_two_owners_and_agree(words):
    cells, owners, kinds = (np.array([word[i] for word in words], dtype=np.int64) for i in range(3))
    first, second = pair_words([cells, cells], _keys(len(words)), owners, lambda a, b: kinds[a] != kinds[b], "test")
    assert (cells[first] == cells[second]).all()
    assert (kinds[first] != kinds[second]).all()
    used = np.concatenate([owners[first], owners[second]])
    assert len(set(used.tolist())) == len(used)


def test_all_but_one_find_a_partner_where_all_agree():
    n = 1001
    first, second = pair_words([np.zeros(n)], _keys(n), np.arange(n), lambda a, _: np.ones(len(a), bool), "test")
    assert len(first) == len(set(first) | set(second)) // 2 == n // 2


def test_who_finds_no_partner_in_the_first_cells_may_find_one_in_the_next():
    apart, together = np.arange(4), np.zeros(4)
    first, _ = pair_words([apart, together], _keys(4), np.arange(4), lambda a, _: np.ones(len(a), bool), "test")
    assert len(first) == 2


def test_the_order_of_the_words_does_not_matter():
    keys, order = _keys(200), np.argsort(_keys(200)[::-1] % 7, kind="stable")

    def found(keys):
        first, second = pair_words([np.zeros(200)], keys, np.arange(200), lambda a, _: np.ones(len(a), bool), "test")
        return {frozenset(couple) for couple in zip(keys[first].tolist(), keys[second].tolist(), strict=True)}

    assert found(keys) == found(keys[order])


def test_one_more_word_changes_few_couples():
    def found(n):
        first, second = pair_words([np.zeros(n)], _keys(n), np.arange(n), lambda a, _: np.ones(len(a), bool), "test")
        return {frozenset(couple) for couple in zip(first.tolist(), second.tolist(), strict=True)}

    before, after = found(2000), found(2001)
    assert len(before - after) < 20
    assert found(0) == set()
