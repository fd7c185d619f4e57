"""Finite verbs of treebanks that do not mark them as such."""

import polars as pl
import pytest

from discoprobe.builders.sentences.predicate import PROFILED, _with_finite_forms

FINITE, PAST_PARTICIPLE, INFINITIVE = "Mood=Ind|Tense=Past", "Tense=Past", "VerbForm=Inf"


def _finite(*counts):
    """Which of the FEATS the words have that are finite, given FEATS and numbers of words."""
    feats = [value for value, n in counts for _ in range(n)]
    words = pl.DataFrame({"upos": ["VERB"] * len(feats), "feats": feats})
    found = _with_finite_forms(words)["feats"]
    return {before for before, after in zip(feats, found, strict=True) if "VerbForm=Fin" in after}


def test_verbs_with_tense_are_finite_where_the_treebank_marks_other_forms_alone():
    assert _finite((PAST_PARTICIPLE, PROFILED), (INFINITIVE, 1)) == {PAST_PARTICIPLE}


def test_where_they_have_mood_a_verb_with_tense_alone_is_a_participle():
    assert _finite((FINITE, PROFILED), (PAST_PARTICIPLE, PROFILED), (INFINITIVE, 1)) == {FINITE}


@pytest.mark.parametrize(("slips", "finite"), [(1, {FINITE, "VerbForm=Fin"}), (5, {"VerbForm=Fin"})])
def test_a_slip_shows_nothing(slips, finite):
    assert _finite((FINITE, 100), (INFINITIVE, 1), ("VerbForm=Fin", slips)) == finite


def test_mood_alone_shows_what_is_finite():
    assert _finite((FINITE, PROFILED), (PAST_PARTICIPLE, 3)) == {FINITE}
    assert _finite((PAST_PARTICIPLE, PROFILED)) == set()


def test_few_verbs_show_nothing():
    assert _finite((FINITE, PROFILED - 1), (INFINITIVE, 1)) == set()
