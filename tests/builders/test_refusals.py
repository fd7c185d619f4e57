"""What is said of a config that is not there: what there was, and what it was lost to."""

import polars as pl
import pytest

from discoprobe.builders import Context, Drops, Sample, Settings, losses, problem_of, problem_of_sample
from discoprobe.builders.discourse import dc
from discoprobe.builders.drops import FILTERS, Drop
from discoprobe.builders.edits import original_and_edited
from discoprobe.builders.probing import coord_inv
from discoprobe.builders.sampling import Split
from discoprobe.builders.selection import NO_TEXT
from discoprobe.builders.sentences import if_enough
from discoprobe.loaders.languages import language_data


def _documents(reasons, passages):
    """Sentences of one document: why each cannot be shown, and the passage of those that can."""
    return pl.DataFrame(
        {"doc_key": [1] * len(reasons), "reason": reasons, "passage": passages},
        {"doc_key": pl.UInt64, "reason": pl.String, "passage": pl.Int64},
    )


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (_documents([None] * 5, [1] * 5), "documents have at most 5 sentences; 6 are needed"),
        (
            _documents([None] * 4 + ["too-long"] * 2 + [None] * 3, [1] * 4 + [None] * 2 + [2] * 3),
            (
                "passages of sentences that can be shown have at most 4; 6 are needed; "
                "sentences that end a passage: too-long 2"
            ),
        ),
        (
            _documents(["genre"] * 7 + ["unrelated"] * 2, [None] * 9),
            f"{NO_TEXT['genre']} (7 sentences); {NO_TEXT['unrelated']} (2 sentences)",
        ),
        (_documents(["near-copies"] * 9, [None] * 9), f"{NO_TEXT['near-copies']} (9 sentences)"),
    ],
)
def test_documents_that_are_too_short_say_how_long_they_are(frame, said):
    assert problem_of_sample(dc.TASK, Sample(pl.DataFrame(), frame=frame)) == said


def test_a_refusal_names_what_the_candidates_were_lost_to():
    lost = Drops(marks=[Drop(FILTERS, reason, n) for reason, n in {"too-long": 3, "quotes": 12, "typo": 0}.items()])
    sample = Sample(pl.DataFrame(), candidates=15, reason="5 rows of original are left", drops=lost)
    said = problem_of_sample(coord_inv.TASK, sample)
    assert said == "5 rows of original are left; lost: quotes 12, too-long 3"
    assert losses({}) == ""


def test_candidates_that_a_task_has_left_out_are_not_denied():
    """Pairs are made of any candidate: where none is left, it was lost, and the reason does not say that none was."""
    frame = pl.DataFrame(
        schema={"key": pl.UInt64, "split": pl.String, "reason": pl.String, "cluster": pl.Int64, "text_key": pl.UInt64}
    )
    context = Context("coord_inv", language_data("uk"), Settings(), ("original", "inverted"))
    context.drops.lose("unbalanced", frame, n=6)
    sample = original_and_edited(frame, context)
    assert sample.reason == "0 rows of original are left after filters and matching; 20 are needed"
    assert context.drops.counts["unbalanced"] == 6


def test_a_label_that_no_candidate_has_is_named():
    nothing = Sample(pl.DataFrame(), candidates=3)
    context = Context("conj_type", language_data("en"), Settings(), ("coordination", "subordination"))
    assert if_enough(nothing, context.labels, context).reason == "no candidate is coordination"


def test_fewer_documents_than_splits_are_named():
    rows = pl.DataFrame({"split": ["train", "test"], "label": [0, 0]}, {"split": Split, "label": pl.Int64})
    documents = pl.Series("doc_key", [1] * 6 + [2] * 6, pl.UInt64)
    frame = _documents([None] * 12, [1] * 6 + [2] * 6).with_columns(documents)
    said = problem_of_sample(dc.TASK, Sample(rows, frame=frame))
    assert said == "passages are in 2 of the documents; each of the three splits needs one of its own"


def test_a_label_that_a_split_lacks_is_named_with_the_sizes():
    rows = pl.DataFrame({"split": ["train", "train", "test"], "label": [0, 1, 0]}, {"split": Split, "label": pl.Int64})
    said = problem_of(rows, ("a", "b"), ("a", "b"))
    assert said == "validation has no row of a, b (rows: train 2, validation 0, test 1); more text would give it some"
