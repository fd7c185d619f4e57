"""Rings of words: disjoint, inside a cell, one per owner, closed, and nearly the same after a word is added."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders.edits import exchange_words

WORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 9)), max_size=40)


def _keys(n):
    return np.arange(1, n + 1, dtype=np.uint64)


def _all_fit(here, _there):
    return np.ones(len(here), bool)


def _exchanged(n, cellings=None, fits=_all_fit, keys=None):
    cells = [np.zeros(n)] if cellings is None else cellings
    return exchange_words(cells, _keys(n) if keys is None else keys, np.arange(n), fits, "test")


@given(words=WORDS)
def test_rings_are_disjoint_of_one_cell_of_different_owners_and_fit(words):
    cells, owners, kinds = (np.array([word[i] for word in words], dtype=np.int64) for i in range(3))

    def fits(here, there):
        return kinds[here] < 2 * kinds[there]

    rows, others, rings = exchange_words([cells, cells], _keys(len(words)), owners, fits, "test")
    assert fits(rows, others).all()
    assert (cells[rows] == cells[others]).all()
    assert (owners[rows] != owners[others]).all()
    assert len(set(owners[rows].tolist())) == len(rows)
    for ring in set(rings.tolist()):
        assert set(rows[rings == ring]) == set(others[rings == ring])


def test_every_word_that_is_put_in_is_taken_out():
    rows, others, _ = _exchanged(501)
    assert sorted(rows) == sorted(others)


def test_all_rows_are_in_rings_where_all_fit():
    assert len(_exchanged(1001)[0]) == 1001


def test_a_ring_needs_no_two_that_fit_each_other():
    rows, others, rings = _exchanged(3, fits=lambda here, there: (here + 1) % 3 == there)
    assert sorted(zip(rows.tolist(), others.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 0)]
    assert len(set(rings.tolist())) == 1


def test_who_finds_no_ring_in_the_first_cells_may_find_one_in_the_next():
    rows, _, _ = _exchanged(4, [np.arange(4), np.zeros(4)])
    assert len(rows) == 4


def test_the_order_of_the_words_does_not_matter():
    keys, order = _keys(200), np.argsort(_keys(200)[::-1] % 7, kind="stable")

    def found(keys):
        rows, others, _ = _exchanged(200, keys=keys)
        return set(zip(keys[rows].tolist(), keys[others].tolist(), strict=True))

    assert found(keys) == found(keys[order])


def test_one_more_word_changes_few_rings():
    def found(n):
        rows, others, _ = _exchanged(n)
        return set(zip(rows.tolist(), others.tolist(), strict=True))

    before, after = found(2000), found(2001)
    assert len(before - after) < 100
    assert found(0) == set()
