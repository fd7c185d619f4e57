"""Near-duplicates: exact, independent of order, in bounded memory."""

from __future__ import annotations

import math
import random
import re
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders import near_clusters, near_duplicates
from discoprobe.loaders.near_duplicates import altered_copies, paraphrases

_SENTENCE = "The old bridge over the river was closed for repairs in the spring of 1923 ."


def _brute_force(texts: list[str], ngram: int, threshold: float) -> list[int]:
    words = [re.findall(r"\w+", text.lower()) for text in texts]
    sets = [{tuple(w[i : i + ngram]) for i in range(len(w) - ngram + 1)} for w in words]
    cluster = list(range(len(texts)))

    def same(i: int, j: int) -> bool:
        if not sets[i] or not sets[j]:
            return not sets[i] and not sets[j] and texts[i].lower() == texts[j].lower()
        return len(sets[i] & sets[j]) >= threshold * len(sets[i] | sets[j]) - 1e-9

    for i in range(len(texts)):
        for j in range(i):
            if same(i, j) and cluster[i] != cluster[j]:
                old, new = max(cluster[i], cluster[j]), min(cluster[i], cluster[j])
                cluster = [new if c == old else c for c in cluster]
    return cluster


_TEXTS = st.lists(st.lists(st.sampled_from(["a", "B", "b", "c"]), max_size=9).map(" ".join), max_size=14)


@given(texts=_TEXTS, ngram=st.integers(1, 5), threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_is_what_comparing_every_pair_gives(texts, ngram, threshold):
    found = near_clusters(pl.Series(texts, dtype=pl.String), ngram=ngram, threshold=threshold)
    assert found.to_list() == _brute_force(texts, ngram, threshold)


@given(texts=_TEXTS, seed=st.integers(0, 99))
def test_partition_does_not_depend_on_order(texts, seed):
    order = list(range(len(texts)))
    random.Random(seed).shuffle(order)
    shuffled = near_clusters(pl.Series([texts[i] for i in order], dtype=pl.String), ngram=2).to_list()
    direct = near_clusters(pl.Series(texts, dtype=pl.String), ngram=2).to_list()
    pairs = [(i, j) for i in range(len(texts)) for j in range(i)]
    place = {row: at for at, row in enumerate(order)}
    assert len(shuffled) == len(direct) == len(texts)
    assert all((direct[i] == direct[j]) == (shuffled[place[i]] == shuffled[place[j]]) for i, j in pairs)


def test_one_word_at_the_end_is_a_near_duplicate_and_one_in_the_middle_is_not():
    end = _SENTENCE.replace("1923", "1924")
    middle = _SENTENCE.replace("closed", "shut")
    assert near_clusters(pl.Series([middle, _SENTENCE, end, _SENTENCE.upper()])).to_list() == [0, 1, 1, 1]


def test_short_texts_are_joined_only_when_equal_but_for_case():
    assert near_clusters(pl.Series(["Yes , sir .", "yes , sir .", "Yes sir", "…", "…", ""])).to_list() == [
        0,
        0,
        2,
        3,
        3,
        5,
    ]


def test_characters_are_the_words_of_a_script_without_spaces():
    first = "這座古老的橋梁在一九二三年春天因為維修而關閉了三個月"
    other = "昨天晚上他們在火車站附近的一家小餐館裡吃了晚飯然後回家"
    assert near_clusters(pl.Series([first, other, first + "。", first[:-1] + "天"])).to_list() == [0, 1, 0, 0]


def test_batches_do_not_show(monkeypatch):
    source = random.Random(5)
    texts = [" ".join(source.choice("abc") for _ in range(source.randint(0, 12))) for _ in range(300)]
    whole = near_clusters(pl.Series(texts), ngram=3).to_list()
    monkeypatch.setattr(near_duplicates, "_TEXTS_AT_ONCE", 7)
    monkeypatch.setattr(near_duplicates, "_PAIRS_AT_ONCE", 5)
    assert near_clusters(pl.Series(texts), ngram=3).to_list() == whole == _brute_force(texts, 3, 0.8)


def test_no_texts():
    assert near_clusters(pl.Series([], dtype=pl.String)).to_list() == []


def test_twenty_thousand_sentences_from_one_template_are_one_cluster():
    start = " ".join(f"w{i}" for i in range(40))
    texts = pl.Series([f"{start} {i}" for i in range(20_000)])
    assert near_clusters(texts).unique().to_list() == [0]


def _weighted_similarity(one, other, weights):
    both, either = one & other, one | other
    return sum(weights[word] for word in both) / sum(weights[word] for word in either)


@pytest.mark.parametrize("seed", range(5))
def test_paraphrases_are_those_that_a_comparison_of_all_pairs_finds(seed):
    """Words of texts that were altered in all degrees; every pair is compared by sets and counts of words."""
    source = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(400)]
    earlier = [source.choices(vocabulary, k=source.randint(4, 16)) for _ in range(150)]
    later = []
    for words in earlier[:100]:
        kept = source.sample(words, source.randint(1, len(words)))
        later.append(kept + source.choices(vocabulary, k=source.randint(0, 6)))
    sets = [[frozenset(words) for words in texts] for texts in (earlier, later)]
    counts = Counter(word for texts in sets for words in texts for word in words)
    n = len(earlier) + len(later)
    weights = {word: math.log((1 + n) / (1 + count)) + 1 for word, count in counts.items()}
    expected = []
    for words in sets[1]:
        values = [
            _weighted_similarity(words, other, weights) if min(len(words), len(other)) >= 8 else 0.0
            for other in sets[0]
        ]
        expected.append(values.index(max(values)) if max(values) >= 0.5 else -1)
    texts = [[" ".join(words) for words in part] for part in (earlier, later)]
    assert _paraphrases(*texts) == expected
    assert 10 < sum(number >= 0 for number in expected) < 90


def _paraphrases(earlier, later):
    groups, asked = np.repeat([0, 1], [len(earlier), len(later)]), np.arange(len(earlier), len(earlier) + len(later))
    texts = pl.Series([*earlier, *later], dtype=pl.String)
    return paraphrases(texts, groups, asked, least=8, threshold=0.5).tolist()


@pytest.mark.parametrize("at_once", [7, 1000])
def test_paraphrases_do_not_depend_on_how_many_texts_are_in_memory(monkeypatch, at_once):
    source = random.Random(3)
    earlier = [" ".join(f"w{source.randint(0, 300)}" for _ in range(12)) for _ in range(100)]
    later = [" ".join([*text.split()[4:], "a", "b"]) for text in earlier[::3]]
    expected = _paraphrases(earlier, later)
    assert expected == list(range(0, 100, 3))
    monkeypatch.setattr(near_duplicates, "_TEXTS_AT_ONCE", at_once)
    monkeypatch.setattr(near_duplicates, "_PAIRS_AT_ONCE", at_once)
    assert _paraphrases(earlier, later) == expected


@pytest.mark.parametrize(("earlier", "later"), [([], ["a b c d e f g h i"]), (["a b c d e f g h i"], []), ([], [])])
def test_no_paraphrases_of_nothing(earlier, later):
    assert _paraphrases(earlier, later) == [-1] * len(later)


def test_a_text_is_compared_with_earlier_groups_only():
    """Each text of three groups changes a word of one of group 0, of its own group, or of the one before."""
    source = random.Random(5)
    first, second = ([[f"{group}{source.randint(0, 900)}" for _ in range(12)] for _ in range(30)] for group in "ab")
    texts = [*first, *second, *([*words[:11], "c"] for words in second), *([*words[:11], "d"] for words in first)]
    texts = pl.Series([" ".join(words) for words in [*texts, *([*words[:11], "e"] for words in second)]])
    groups, asked = np.repeat([0, 1, 2], [30, 90, 30]), np.arange(30, 150)
    copies = [*[-1] * 60, *range(30), *range(30, 60)]
    assert altered_copies(texts, groups, asked, least=8).tolist() == copies
    assert paraphrases(texts, groups, asked, least=8, threshold=0.5)[:90].tolist() == copies[:90]
    assert {number % 30 for number in paraphrases(texts, groups, asked, least=8, threshold=0.5)[90:]} == {*range(30)}
