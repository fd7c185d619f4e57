"""Finite verbs of treebanks that do not mark them as such."""

import polars as pl
import pytest

from discoprobe.builders.sentences.predicate import PROFILED, _participles_of_past, _with_finite_forms, _with_one_form

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


BOTH = "Tense=Pres|VerbForm=Fin,Inf|VerbType=Mod"


@pytest.mark.parametrize(
    ("places", "finite"),
    [(["root"], [True]), (["root", "aux"], [False, True]), (["root", "aux", "aux"], [False, True, False])],
)
def test_of_forms_that_are_finite_and_infinitive_the_first_auxiliary_is_finite_or_else_the_root(places, finite):
    """Afrikaans: *hy gaan*, *hy sal gaan*, *hy sal moet gaan*."""
    words = pl.DataFrame({"sent": 0, "place": places, "feats": BOTH})
    forms = _with_one_form(words)["feats"].str.extract(r"VerbForm=([\w,]*)")
    assert forms.to_list() == ["Fin" if is_finite else "Inf" for is_finite in finite]


def test_a_form_with_one_value_stays():
    words = pl.DataFrame({"sent": [0, 0, 1], "place": ["root", "aux", "root"], "feats": [INFINITIVE, BOTH, None]})
    assert _with_one_form(words)["feats"].to_list() == [INFINITIVE, BOTH.replace("Fin,Inf", "Fin"), None]


PARTICIPLE, PRESENT = "Tense=Past|VerbForm=Part|Voice=Act", "Mood=Ind|Tense=Pres|VerbForm=Fin"
SIMPLE = "Mood=Ind|Tense=Past|VerbForm=Fin"


def _pasts(*predicates, aux="aux"):
    """How many main verbs are in a past of the participle, given FEATS of root and auxiliaries, and numbers."""
    clauses = [words for *words, n in predicates for _ in range(n)]
    rows = [
        {
            "sent": sent,
            "row": 0,
            "place": aux if place else "root",
            "upos": "AUX" if place else "VERB",
            "feats": feats,
        }
        for sent, words in enumerate(clauses)
        for place, feats in enumerate(words)
    ]
    return _participles_of_past(pl.DataFrame(rows)).height


def test_a_participle_is_the_past_where_verbs_have_no_other():
    assert _pasts((PARTICIPLE, PRESENT, PROFILED), (PARTICIPLE, 25), (PRESENT, 9)) == PROFILED + 25
    assert _pasts((PARTICIPLE, PRESENT, 100), (SIMPLE, 5)) == 100, "an aorist is rare"


@pytest.mark.parametrize(
    "predicates",
    [
        [(PARTICIPLE, PRESENT, PROFILED - 1)],
        [(PARTICIPLE, PRESENT, PROFILED), (SIMPLE, 2)],
        [(PARTICIPLE.replace("Act", "Pass"), PRESENT, PROFILED)],
        [(PARTICIPLE, "Mood=Cnd|Tense=Past|VerbForm=Fin", PROFILED)],
        [(PARTICIPLE, PRESENT, PARTICIPLE, PROFILED)],
        [("Aspect=Imp|VerbForm=Part", PRESENT, PROFILED)],
    ],
)
def test_it_is_none_where_it_is_rare_beside_a_past_form_passive_unreal_or_of_another_tense(predicates):
    assert _pasts(*predicates) == 0


def test_past_forms_of_auxiliaries_are_no_other_past_of_verbs():
    """Afrikaans *was* beside *het gegaan*."""
    assert _pasts((PARTICIPLE, PRESENT, PROFILED), ("VerbForm=Inf", SIMPLE, 9)) == PROFILED


def test_a_passive_auxiliary_makes_no_past():
    """Afrikaans *word gesien* (is seen), whose participle has no Voice."""
    assert _pasts(("Tense=Past|VerbForm=Part", PRESENT, PROFILED), aux="aux:pass") == 0


@pytest.mark.parametrize(("alone", "pasts"), [(5, 30), (40, 70)])
def test_a_participle_alone_is_no_past_where_most_have_an_auxiliary(alone, pasts):
    """Afrikaans *het gegaan* and Slovak *šiel (som)*."""
    assert _pasts((PARTICIPLE, PRESENT, 30), (PARTICIPLE, alone)) == pasts
