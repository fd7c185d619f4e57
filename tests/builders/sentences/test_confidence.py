"""Which word of a candidate is described by how sure a model was, and which candidates are sure enough."""

import msgspec
import numpy as np
import polars as pl
import pytest

from discoprobe.builders.sentences.confidence import DOUBTFUL, MEASURES, SURE, is_sure, measures, without_doubtful
from discoprobe.builders.sentences.trees import Trees
from discoprobe.loaders.corpus import CONFIDENCE, Trust
from discoprobe.sources import load_corpus

TEXT = """# sent_id = 1
# text = Ana habla del pueblo.
1\tAna\tAna\tPROPN\t_\t_\t2\tnsubj\t_\t_
2\thabla\thablar\tVERB\t_\t_\t0\troot\t_\t_
3-4\tdel\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tpueblo\tpueblo\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# sent_id = 2
# text = Luis sale.
1\tLuis\tLuis\tPROPN\t_\t_\t2\tnsubj\t_\t_
2\tsale\tsalir\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""
ANA, HABLA, DE, EL, PUEBLO, STOP, LUIS, SALE, _ = range(9)
"""The rows of the words."""


@pytest.fixture
def trees_with(tmp_path):
    """A function: the trees, where the tags of these words (row → logarithm) have a probability below 1."""
    (tmp_path / "es_made-ud-test.conllu").write_text(TEXT, encoding="utf-8")
    (part,) = load_corpus(str(tmp_path)).parts
    shard = part.load()

    def trees(unsure):
        tags = [float(unsure.get(row, 0)) for row in range(shard.tokens.height)]
        confidence = shard.tokens.select("sent", "index", tags=pl.Series(tags), arc=pl.lit(0.0)).cast(CONFIDENCE)
        return Trees(msgspec.structs.replace(shard, confidence=confidence))

    return trees


def measure(name, trees, candidates):
    """The logarithms that a measure is made of."""
    return [round(SURE - 10**-value, 3) for value in measures(trees, pl.DataFrame(candidates))[:, MEASURES.index(name)]]


@pytest.mark.parametrize(
    ("candidate", "word"),
    [
        ({"target": PUEBLO}, PUEBLO),
        ({"start": 14}, PUEBLO),
        ({"start": 10}, DE),  # *del* is two words
        ({"target": PUEBLO, "start": 0}, PUEBLO),
        ({"plan": {"a_start": 0, "b_start": 14}}, ANA),
        ({"start": 14, "plan": {"a_start": 0, "b_start": 4}}, PUEBLO),
        ({}, HABLA),
    ],
    ids=["target", "start", "contraction", "target-first", "swap", "start-first", "root"],
)
def test_the_word_that_a_candidate_asks_about(trees_with, candidate, word):
    trees = trees_with({row: -1 - row for row in range(9)})
    assert measure("tags", trees, [{"sent": 0, **candidate}]) == [-1 - word]


def words_with(name, trees):
    """The words of which a measure has the doubt about another one."""
    every = [{"sent": 0 if row < LUIS else 1, "target": row} for row in range(9)]
    return [row for row, value in enumerate(measure(name, trees, every)) if value < 0]


def test_doubt_is_near_two_words_before_and_after_in_the_same_sentence(trees_with):
    assert words_with("words nearby: least", trees_with({DE: -3})) == [ANA, HABLA, DE, EL, PUEBLO]
    assert words_with("words nearby: least", trees_with({STOP: -3})) == [EL, PUEBLO, STOP]


def test_doubt_about_a_word_is_doubt_about_all_below_it(trees_with):
    trees = trees_with({PUEBLO: -3, DE: -2})
    assert words_with("path to the root: least", trees) == [DE, EL, PUEBLO]
    below = [{"sent": 0, "target": row} for row in (DE, EL)]
    assert measure("path to the root: least", trees, below) == [-3, -3]
    assert measure("path to the root: sum", trees, below) == [-5, -3]


TRUST = Trust((1.0,), {"Sing": 2.0, "Plur": 4.0})


def test_each_label_has_its_own_least_sum():
    table, labels = np.array([[1.9], [2.0], [2.0], [4.0]]), pl.Series(["Sing", "Sing", "Plur", "Plur"])
    assert is_sure(TRUST, table, labels).tolist() == [False, True, False, True]


def test_a_label_that_no_treebank_has_shown_to_be_right_is_never_sure():
    table, labels = np.array([[99.0], [99.0]]), pl.Series(["Dual", None])
    assert is_sure(TRUST, table, labels).tolist() == [False, False]
    assert is_sure(Trust((1.0,), {"": 4.0}), table, labels).all(), "labels are not judged one by one"


def test_an_earlier_reason_is_kept(trees_with):
    never = Trust((0.0,) * len(MEASURES), {})
    candidates = pl.DataFrame({"sent": [0, 1], "label": ["Sing"] * 2, "reason": ["too-short", None]})
    assert without_doubtful(candidates, trees_with({}), never)["reason"].to_list() == ["too-short", DOUBTFUL]


def test_only_words_that_may_be_targets_and_are_sure_become_targets(trees_with):
    tags = [float(name == "tags") for name in MEASURES]
    words = [{"start": 0, "target": True}, {"start": 4, "target": False}, {"start": 14, "target": True}]
    candidates = pl.DataFrame({"sent": [0], "label": [None], "reason": [None], "words": [words]})
    judged = without_doubtful(candidates, trees_with({PUEBLO: -3}), Trust(tuple(tags), {"": 0.0}))
    assert [word["target"] for word in judged["words"][0]] == [True, False, False]
