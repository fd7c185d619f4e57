"""The hash of a split's rows."""

import pyarrow as pa
import pytest

from discoprobe.cards.release import ROW_GROUP, content_hash

ROWS = pa.table({"text": ["Él dijo «no».", "b"], "label": pa.array([0, 1], pa.int8()), "ids": [["a", "b"], None]})


@pytest.mark.parametrize(
    "same",
    [
        ROWS.select(["ids", "label", "text"]),
        pa.concat_tables([ROWS.slice(0, 1), ROWS.slice(1)]),
        ROWS.set_column(0, "text", ROWS["text"].cast(pa.large_string())),
    ],
)
def test_the_hash_is_of_the_rows_not_of_their_layout(same: pa.Table):
    assert content_hash(same) == content_hash(ROWS)


@pytest.mark.parametrize(
    "other",
    [
        ROWS.slice(0, 1),
        ROWS.take([1, 0]),
        ROWS.rename_columns(["text", "label", "sent_ids"]),
        ROWS.set_column(2, "ids", pa.array([["a", "b"], []])),
        ROWS.set_column(0, "text", pa.array(["Él dijo «no».", "b "])),
    ],
)
def test_other_rows_have_another_hash(other: pa.Table):
    assert content_hash(other) != content_hash(ROWS)


def test_a_row_after_the_first_group_counts():
    many = pa.table({"n": range(ROW_GROUP + 1)})
    assert content_hash(many) != content_hash(many.set_column(0, "n", pa.array([*range(ROW_GROUP), 0])))
