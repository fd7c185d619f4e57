"""Rows that readers found faulty leave a config, and its labels stay balanced."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from discoprobe.builders import Config, Unavailable, without_rows

sys.path.insert(0, str(Path(__file__).parents[1] / "cards"))
from releases import config


def unpaired(rows):
    return [row | {"pair_id": None, "sentence1": "x" * (10 + n)} for n, row in enumerate(rows)]


def ids(made, split="test"):
    return made.splits[split]["id"].to_pylist()


def test_a_row_goes_with_its_pair():
    made = config()
    left = without_rows(made, {"de-test-2": "wrong label", "elsewhere": "other"})
    assert set(ids(made)) - set(ids(left)) == {"de-test-2", "de-test-3"}
    assert left.drops == {"too long": 3, "reader wrong label": 1, "reader-counterpart": 1}
    assert set(left.meanings) == {"reader wrong label", "reader-counterpart"}
    assert left.excluded == {"de-test-2": "wrong label"}
    assert left.splits["train"] == made.splits["train"]


def test_a_row_without_a_pair_goes_with_the_nearest_in_length_of_the_other_label():
    made = config(change=unpaired, splits=("train", "validation", "test"))
    left = without_rows(made, {"de-test-4": "undecidable"})
    assert set(ids(made)) - set(ids(left)) in ({"de-test-4", "de-test-3"}, {"de-test-4", "de-test-5"})
    assert Counter(left.splits["test"]["label"].to_pylist()) == {0: 3, 1: 3}


def test_faulty_rows_of_both_labels_need_no_counterparts():
    made = config(change=unpaired)
    left = without_rows(made, {"de-test-4": "other", "de-test-7": "other"})
    assert set(ids(made)) - set(ids(left)) == {"de-test-4", "de-test-7"}
    assert left.drops["reader other"] == 2
    assert "reader-counterpart" not in left.drops


def test_the_same_config_comes_back_if_nothing_of_it_is_faulty():
    made = config()
    assert without_rows(made, {}) is made
    assert without_rows(made, {"elsewhere": "other"}) is made
    gone = Unavailable("so_es", "so", "es", "too few")
    assert without_rows(gone, {"x": "other"}) is gone


def test_a_split_without_a_label_is_no_config():
    made = config()
    left = without_rows(made, dict.fromkeys(ids(made, "validation"), "other"))
    assert isinstance(left, Unavailable)
    assert "validation has no row of in_order, swapped" in left.reason


@pytest.mark.parametrize("n", [1, 3])
def test_labels_stay_balanced_in_what_is_built_from_a_corpus(built, n):
    for made in built("sample", "es").values():
        if not isinstance(made, Config) or any(
            table.num_rows < 8 * len(made.used_labels) for table in made.splits.values()
        ):
            continue
        faulty = dict.fromkeys(ids(made)[:n], "wrong label")
        left = without_rows(made, faulty)
        counts = [set(labels.values()) for labels in left.counts().values()]
        assert all(len(found) == 1 for found in counts) or made.counts() != {
            split: dict.fromkeys(labels, max(labels.values())) for split, labels in made.counts().items()
        }, made.name
        assert not faulty.keys() & set(ids(left))
