"""Names of relations and their classes."""

import pytest
from shared import SHARED

from discoprobe.builders.passages import LABELS, MEMBERS, class_of

TABLES = sorted(SHARED.glob("corpora/**/*.rels"))
OTHER = {"temploc", "explanation*", "goal", "comparison", "expansion", "contingency.condition+speechact"}
OTHER |= {"comparison.concession+speechact"}
"""Names that DISRPT gives a class and the table does not know."""


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("causal", "causal"),
        ("Elaboration", "elaboration"),
        ("e-elaboration", "elaboration"),
        ("evaluation-s", "comment"),
        ("reason-N", "explanation"),
        ("restatement-mn", "reformulation"),
        ("contingency.cause.result", "causal"),
        ("contingency.cause+belief.reason+belief", "explanation"),
        ("expansion.level-of-detail.arg2-as-detail;expansion.conjunction", "elaboration"),
        ("same-unit", None),
        ("", None),
    ],
)
def test_the_class_of_a_name(name, label):
    assert class_of(name) == label


def test_every_name_is_in_one_class():
    names = [name for members in MEMBERS.values() for name in members]
    assert len(LABELS) == 17
    assert len(names) == len(set(names))
    assert not set(names) & set(LABELS)


@pytest.mark.skipif(not TABLES, reason="no ../shared with corpora of DISRPT beside the repository")
def test_classes_are_those_of_published_tables():
    seen = 0
    for table in TABLES:
        lines = [line.split("\t") for line in table.read_text(encoding="utf-8").rstrip("\n").split("\n")]
        for cells in lines[1:]:
            row = dict(zip(lines[0], cells, strict=True))
            name = row["orig_label"].partition(";")[0]
            if row["label"] in LABELS and "rel_type" in row and name not in OTHER:
                seen += 1
                assert class_of(name) == row["label"], (table.stem, name)
    assert seen > 5000
