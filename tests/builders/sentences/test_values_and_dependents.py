"""Values of features, and facts about the dependents of words."""

import polars as pl
import pytest

from discoprobe.builders.sentences import has, with_dependents


@pytest.mark.parametrize(
    ("feats", "feature", "values", "found"),
    [
        ("Case=Nom|Gender=Masc", "Gender", ("Masc",), True),
        ("Gender=Fem,Masc", "Gender", ("Masc",), True),
        ("Gender=Fem,Masc|Number=Sing", "Gender", ("Neut", "Fem"), True),
        ("Gender[psor]=Masc", "Gender", ("Masc",), False),
        ("Gender[psor]=Masc", "Gender[psor]", ("Masc",), True),
        ("Person=3", "Person", ("1", "2"), False),
        ("VerbForm=Fin", "Form", ("Fin",), False),
        ("PronType=Intx", "PronType", ("Int",), False),
        (None, "Gender", ("Masc",), False),
    ],
)
def test_a_word_has_a_value_of_a_feature_alone_or_beside_others(feats, feature, values, found):
    frame = pl.DataFrame({"feats": [feats]}, {"feats": pl.String})
    assert frame.select(has(feature, *values)).item() is found


def test_words_have_facts_about_their_own_dependents():
    words = pl.DataFrame(
        {"row": [0, 1, 2, 3], "head_row": [1, None, 1, 2], "rel": ["nsubj", "root", "obj", "det"]},
        {"row": pl.Int64, "head_row": pl.Int64, "rel": pl.String},
    )
    described = with_dependents(
        words, words, subject=(pl.col("rel") == "nsubj").any(), first=pl.col("rel").first(), n=pl.len()
    )
    assert described["row"].to_list() == [0, 1, 2, 3]
    assert described["subject"].to_list() == [False, True, False, False]
    assert described["first"].to_list() == [None, "nsubj", "det", None]
    assert described["n"].to_list() == [None, 2, 1, None]
