"""Near-duplicates: exact, independent of order, in bounded memory."""

from __future__ import annotations

import random
import re

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders import near_clusters, near_duplicates

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
