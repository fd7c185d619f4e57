"""Texts that nearly repeat one of an earlier block, beside the Jaccard similarity of all pairs."""

from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders import EarlierTexts, near_duplicates, shingles

WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=9).map(" ".join)
BLOCKS = st.lists(st.lists(st.tuples(WORDS, st.integers(-1, 2)), min_size=1, max_size=6), min_size=1, max_size=6)


def grams(text):
    words = text.split()
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)} or {text}


def like(one, other):
    a, b = grams(one), grams(other)
    return len(a & b) / len(a | b) >= 0.8


def found(blocks):
    earlier = EarlierTexts()
    return [
        earlier.repeated(shingles(pl.Series([text for text, _ in block])), [group for _, group in block])
        for block in blocks
    ]


@pytest.mark.parametrize("largest", [1, near_duplicates.LARGEST_BATCH])
@given(blocks=BLOCKS)
def test_as_all_pairs_say(largest, blocks):
    before = []
    with mock.patch.object(near_duplicates, "LARGEST_BATCH", largest):
        results = found(blocks)
    for block, (again, elsewhere) in zip(blocks, results, strict=True):
        same = [[group for text, group in before if like(text, new)] for new, _ in block]
        assert again.tolist() == [bool(groups) for groups in same]
        assert elsewhere.tolist() == [
            own >= 0 and any(group >= 0 and group != own for group in groups)
            for (_, own), groups in zip(block, same, strict=True)
        ]
        before += block


def test_a_sentence_that_is_changed_a_little_and_many_that_are_alike(monkeypatch):
    """At most so many are compared, so that a formula does not make the cost quadratic."""
    monkeypatch.setattr(near_duplicates, "MOST_LIKE", 3)
    long = " ".join(map(str, range(60)))
    formulas = [f"{long} {n}" for n in range(50)]
    earlier = EarlierTexts()
    assert not earlier.repeated(shingles(pl.Series(formulas)), np.zeros(50))[0].any()
    again, elsewhere = earlier.repeated(
        shingles(pl.Series([long, f"{long} x y", "other words " + long[:40]])), [0, 1, 1]
    )
    assert again.tolist() == [True, True, False]
    assert elsewhere.tolist() == [False, True, False]


@pytest.mark.parametrize("number", [1, 7])
def test_runs_are_joined(number):
    """Whatever block a text was in, it is found; there are few runs."""
    texts = [f"a b c d e f {n} g h i j k l {n}" for n in range(64)]
    earlier = EarlierTexts()
    for at in range(0, 64, number):
        earlier.repeated(shingles(pl.Series(texts[at : at + number])), np.zeros(len(texts[at : at + number])))
    assert len(earlier._batches) <= 8
    assert earlier.repeated(shingles(pl.Series(texts)), np.ones(64))[1].all()
