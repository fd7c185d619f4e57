"""Classes of ``dconn``: one connective per sense; and what the second sentence lost."""

import polars as pl
import pytest

from discoprobe.builders import Context, Settings, all_tasks
from discoprobe.builders.blocks import _sequence_rows
from discoprobe.builders.passages import corpus_labels as connective_pairs
from discoprobe.builders.sentences import one_per_sense, unlisted
from discoprobe.loaders.languages import language_data

ENGLISH = language_data("en")


def _pairs(**counts):
    return pl.DataFrame({"connective": [name for name, n in counts.items() for _ in range(n)]})


def test_of_each_sense_the_most_frequent_connective_is_a_class():
    kept = one_per_sense(_pairs(however=3, but=5, also=2, then=4), ENGLISH)
    assert dict(kept.group_by("connective").len().iter_rows()) == {"but": 5, "also": 2, "then": 4}


@pytest.mark.parametrize(
    ("counts", "found"),
    [({"however": 3, "but": 5}, r"most frequent: but 5, however 3"), ({}, "none was found")],
)
def test_the_reason_names_the_connectives_that_were_found(counts, found):
    context = Context("dconn", ENGLISH, Settings())
    pairs = _pairs(**counts).cast({"connective": pl.String})
    assert found in connective_pairs._problem(pairs, ("but",), context)
    assert connective_pairs._problem(pairs, ("but", "then"), context) == ""


def test_a_language_without_a_list_says_so():
    assert unlisted(ENGLISH) == ""
    assert "no connectives are listed" in unlisted(language_data("qfn"))


def test_original_and_connective_are_columns():
    sentences = pl.DataFrame({"shard": [0, 0], "sent": [0, 1]}, {"shard": pl.UInt32, "sent": pl.UInt32})
    frame = sentences.with_columns(
        row=pl.Series([0, 1]),
        sent_id=pl.Series(["a", "b"]),
        corpus=pl.lit("toy"),
        doc_id=pl.lit("d"),
        doc_key=pl.lit(7, pl.UInt64),
    )
    texts = sentences.with_columns(
        text=pl.Series(["It rained.", "However, we went."]), number=pl.Series([0, 1]), speaker=pl.lit(None, pl.String)
    )
    rows = pl.DataFrame({"key": [1], "row": [1], "members": [[0, 1]], "trim": [9]})
    shown = _sequence_rows(all_tasks()["dconn"], rows, frame, texts, ENGLISH).row(0, named=True)
    assert (shown["sentence1"], shown["sentence2"]) == ("It rained.", "We went.")
    assert (shown["original"], shown["removed"]) == ("However, we went.", "However,")
