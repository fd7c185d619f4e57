"""Tables of UniMorph: which form of a verb has another value."""

import polars as pl
import pytest

from discoprobe.loaders import DiscoprobeError
from discoprobe.loaders.languages.word_lists import forms_that_agree, other_forms, read_paradigms

DUTCH = """klagen\tklaag\tV;IND;SG;1;PRS
klagen\tklaagt\tV;IND;SG;3;PRS
klagen\tklaagt\tV;IMP;PL
klagen\tklagen\tV;IND;PL;PRS
klagen\tklage\tV;SBJV;SG;PRS
klagen\tklagen\tV;SBJV;PL;PRS
leven\tleefde\tV;IND;SG;PST
leven\tleefden\tV;IND;PL;PST
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "nld"
    path.write_text(DUTCH, encoding="utf-8")
    return path


def verbs(*rows):
    return pl.DataFrame(rows, ["row", "lemma", "form", "feats"], orient="row")


@pytest.mark.parametrize(
    ("lemma", "form", "feats", "other"),
    [
        ("leven", "leefden", "Number=Plur|Tense=Past", ["leefde"]),
        ("klagen", "klagen", "Number=Plur|Tense=Pres", []),  # of the indicative no single form is the singular
        ("klagen", "klagen", "Mood=Sub|Number=Plur|Tense=Pres", ["klage"]),
    ],
)
def test_the_form_is_of_the_same_mood(table, lemma, form, feats, other):
    paradigms = read_paradigms([table], {lemma})
    assert other_forms(verbs((0, lemma, form, feats)), "Number", paradigms)["other"].to_list() == other


def test_an_imperative_does_not_agree_with_a_subject(table):
    plural = verbs((0, "klagen", "klagen", "Number=Plur|Person=3|Tense=Pres"))
    assert forms_that_agree(plural, read_paradigms([table], {"klagen"}))["other"].to_list() == ["klagen"]


def test_forms_with_a_pronoun_or_an_auxiliary_stand_for_no_single_word(tmp_path):
    table = tmp_path / "cym"
    table.write_text(
        "achosi\tachosai\tV;COL;3;SG;IND;IPFV\nachosi\tachosen nhw\tV;COL;3;PL;IND;IPFV\n", encoding="utf-8"
    )
    paradigms = read_paradigms([table], {"achosi"})
    assert [form for form, _ in paradigms["achosi"]] == ["achosai"]
    assert other_forms(verbs((0, "achosi", "achosai", "Number=Sing|Person=3")), "Number", paradigms).is_empty()


def test_only_verbs_that_are_asked_for_are_kept_and_malformed_lines_of_the_catalogue_are_passed_over(table):
    assert set(read_paradigms([table, table], {"leven"})) == {"leven"}
    table.write_text(DUTCH + "half\n", encoding="utf-8")
    assert set(read_paradigms([table], {"leven", "x"}, strict=False)) == {"leven"}
    with pytest.raises(DiscoprobeError, match=r"nld:9: expected lemma<TAB>form<TAB>"):
        read_paradigms([table], set())
    table.write_text("huis\thuizen\tN;PL\n", encoding="utf-8")
    assert read_paradigms([table], {"huis"}, strict=False) == {}
