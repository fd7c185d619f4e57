"""Which values of an open label set become classes."""

import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders import SPLITS, Drops
from discoprobe.builders.sampling import CLASSES_KEEP, choose_labels, frequent_in_splits, with_companions


def candidates(counts, cell=None):
    """``counts``: value → candidates in train, validation, test."""
    rows = [
        {"split": split, "label": value, "cell": cell}
        for value, numbers in counts.items()
        for split, n in zip(SPLITS, numbers, strict=True)
        for _ in range(n)
    ]
    return pl.DataFrame(rows, schema={"split": pl.String, "label": pl.String, "cell": pl.String})


def test_a_rare_value_is_left_out_and_counted():
    frame = candidates({"Sing": (600, 200, 200), "Plur": (500, 160, 170), "Dual": (8, 2, 2)})
    drops = Drops()
    labels, left_out, reason = choose_labels(frame, least=5)
    assert labels == ("Plur", "Sing")
    assert set(drops.without_labels(frame, left_out)["label"]) == {"Plur", "Sing"}
    assert drops.counts == {"rare-value Dual": 12}
    assert reason == ""


def test_a_value_that_costs_few_rows_becomes_a_class():
    labels, *_ = choose_labels(
        candidates({"Fem": (600, 200, 200), "Masc": (600, 200, 200), "Neut": (400, 130, 130)}), least=20
    )
    assert labels == ("Fem", "Masc", "Neut")


def test_a_value_that_a_split_lacks_is_no_class():
    labels, left_out, _ = choose_labels(
        candidates({"Past": (90, 30, 30), "Pres": (90, 30, 30), "Fut": (300, 100, 0)}), least=20
    )
    assert labels == ("Past", "Pres")
    assert left_out == {"Fut": "rare-value Fut"}


def test_one_value_makes_no_task_and_the_reason_names_it():
    labels, left_out, reason = choose_labels(candidates({"Sing": (90, 30, 30), "Plur": (9, 0, 3)}), least=20)
    assert labels == ()
    assert "Sing 150, Plur 12" in reason
    assert left_out == {"Plur": "rare-value Plur", "Sing": "unbalanced"}, "the singular is not rare"


def test_nothing_left_is_said():
    assert choose_labels(candidates({}), least=20)[2] == "no candidates are left"


def test_values_that_share_no_cell_are_not_balanced():
    frame = pl.concat([candidates({"Prs": (90, 30, 30)}, "PRON"), candidates({"Dem": (90, 30, 30)}, "DET")])
    assert choose_labels(frame, least=1)[0] == ()


def balanced_rows(counts, names):
    rows = [len(names) * min(counts[name][split] for name in names) for split in range(len(SPLITS))]
    return sum(rows) if all(rows) else 0


@given(
    st.dictionaries(st.sampled_from("ABCDE"), st.tuples(*[st.integers(0, 40)] * 3), min_size=1, max_size=5),
    st.integers(1, 5),
)
def test_no_set_with_as_many_values_keeps_more_and_none_with_more_keeps_enough(counts, least):
    labels, _, reason = choose_labels(candidates(counts), least)
    sets = [
        names
        for n in range(2, len(counts) + 1)
        for names in itertools.combinations(sorted(counts), n)
        if balanced_rows(counts, names) >= least * n
    ]
    if not sets:
        assert not labels
        assert reason
        return
    best = max(balanced_rows(counts, names) for names in sets)
    good = [names for names in sets if balanced_rows(counts, names) >= CLASSES_KEEP * best]
    assert labels in good
    assert len(labels) == max(map(len, good))
    assert balanced_rows(counts, labels) == max(
        balanced_rows(counts, names) for names in good if len(names) == len(labels)
    )


@pytest.mark.parametrize("n", [12, 30])
def test_many_values_take_no_time(n):
    labels, *_ = choose_labels(candidates({f"V{i:02}": (30, 10, 10) for i in range(n)}), least=5)
    assert len(labels) == 10


def with_feats(rows, feats):
    """Candidates with the features that ``feats`` names by label, in turn."""
    places = {label: itertools.cycle(found) for label, found in feats.items()}
    return rows.with_columns(target_feats=pl.Series([next(places[label]) for label in rows["label"]], dtype=pl.String))


def cells(rows):
    return set(rows.select("label", "cell").iter_rows())


def test_labels_are_balanced_within_a_companion_whose_values_they_share():
    """Three of four plurals and one of four singulars are feminine."""
    rows = candidates({"Plur": (80, 40, 40), "Sing": (80, 40, 40)})
    fem, masc = "Gender=Fem|Number=X", "Gender=Masc|Number=X"
    found = with_companions(
        with_feats(rows, {"Plur": [fem, fem, fem, masc], "Sing": [fem, masc, masc, masc]}), ("Gender", "Case"), 0.5
    )
    assert len(cells(found)) == 4
    assert len({cell for _, cell in cells(found)}) == 2


def test_a_companion_that_only_one_label_has_is_no_companion():
    """Dutch nouns have Gender in the singular alone."""
    rows = with_feats(
        candidates({"Plur": (80, 40, 40), "Sing": (80, 40, 40)}), {"Plur": ["Number=Plur"], "Sing": ["Gender=Com"]}
    )
    assert with_companions(rows, ("Gender",), 0.5).equals(rows)
    assert len({cell for _, cell in cells(with_companions(rows, ("Gender",), 0.0))}) == 2


def test_companions_come_one_by_one_into_the_cells_that_a_task_has():
    rows = candidates({"Plur": (80, 40, 40), "Sing": (80, 40, 40)}, cell="NOUN")
    both = ["Case=Nom|Gender=Fem", "Case=Nom|Gender=Masc"]
    found = with_companions(with_feats(rows, {"Plur": both, "Sing": both}), ("Gender", "Case"), 0.5)
    assert {cell for _, cell in cells(found)} == {"NOUN Gender=Fem Case=Nom", "NOUN Gender=Masc Case=Nom"}


@pytest.mark.parametrize(("least", "used"), [(160, True), (161, False)])
def test_a_companion_that_leaves_too_few_rows_for_a_config_is_none(least, used):
    """Half of 320 rows are left: Ukrainian has few imperfective pasts."""
    rows = candidates({"Plur": (80, 40, 40), "Sing": (80, 40, 40)})
    fem, masc = "Gender=Fem", "Gender=Masc"
    feats = {"Plur": [fem, fem, fem, masc], "Sing": [fem, masc, masc, masc]}
    found = with_companions(with_feats(rows, feats), ("Gender",), 0.5, least)
    assert (len(cells(found)) > 2) is used


def test_a_value_needs_enough_rows_and_some_in_every_split():
    rows = candidates({"but": (9, 1, 2), "also": (8, 1, 1), "then": (30, 10, 0), "so": (5, 1, 1)})
    assert frequent_in_splits(rows, "label", 10) == ["also", "but"]
