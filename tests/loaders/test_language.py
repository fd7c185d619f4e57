"""The data of languages: strict reading, closed vocabularies, lookup, and what real treebanks find of it."""

from __future__ import annotations

import contextlib
import dataclasses
import pickle
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import wordfreq
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.language import (
    CONNECTIVE_UPOS,
    PLACES,
    PREDICATE_FEATURES,
    SCOPES,
    UPOS,
    Condition,
    LanguageData,
    language_data,
    languages,
    parse,
)

# fmt: off
REQUIRED = ["es", "de", "ru", "en", "fr", "it", "pt", "ca", "uk", "cs", "pl", "nl", "sv", "fi", "tr", "ro", "hr", "sl"]
# fmt: on
TREEBANKS = Path(__file__).parents[2].parent / "shared" / "corpora" / "ud"

every_language = pytest.mark.parametrize("code", languages())


def test_the_languages_that_were_promised_have_a_file():
    promised = {*REQUIRED, "ar", "he", "hi", "zh", "ja", "ko", "id", "fa", "el"}
    assert promised <= set(languages())


@every_language
def test_a_file_loads_and_its_values_are_of_the_closed_vocabularies(code):
    data = language_data(code)
    assert data.code == code
    assert data.name
    assert set(data.predicate.places) == set(PREDICATE_FEATURES)
    assert {place for places in data.predicate.places.values() for place in places} <= set(PLACES)
    assert set(data.predicate.labels) <= {name for name, places in data.predicate.places.items() if places}
    assert {upos for pair in data.ngram_shift.patterns for upos in pair} <= set(UPOS)
    assert set(data.somo_open) <= set(UPOS)


@every_language
def test_forms_are_small_letters_in_nfc_without_white_space_and_belong_to_one_class(code):
    data = language_data(code)
    forms = [form for connective in data.connectives for form in connective.forms]
    assert len(forms) == len(set(forms))
    for form in [*forms, *(other for connective in data.connectives for other in connective.unless)]:
        for word in form:
            assert word == unicodedata.normalize("NFC", word).lower() == word.strip()


@every_language
def test_an_exception_is_longer_than_the_form_it_begins_with(code):
    for connective in language_data(code).connectives:
        for other in connective.unless:
            assert any(other[: len(form)] == form and len(other) > len(form) for form in connective.forms), other


@every_language
def test_a_connective_has_parts_of_speech_and_a_scope(code):
    for connective in language_data(code).connectives:
        assert connective.upos
        assert connective.upos <= set(UPOS)
        assert connective.scope in SCOPES


@pytest.mark.parametrize("code", REQUIRED)
def test_a_required_language_has_fifteen_connectives_and_more(code):
    assert len(language_data(code).connectives) >= 15


@every_language
def test_connectives_have_a_named_source(code):
    assert language_data(code).sources["connectives"]


@every_language
def test_swapping_back_is_never_licensed_where_the_order_is_free(code):
    # a pair listed both ways says that neither order may turn into the other in the same place
    patterns = set(language_data(code).ngram_shift.patterns)
    both = {frozenset(pair) for pair in patterns if pair[::-1] in patterns}
    assert both <= {frozenset({"AUX", "VERB"}), frozenset({"ADP", "NOUN"})}


def test_a_numeral_that_may_follow_its_noun_is_in_no_pair():
    assert ("NUM", "NOUN") not in language_data("ru").ngram_shift.patterns
    assert ("NUM", "NOUN") in language_data("es").ngram_shift.patterns


@every_language
def test_wordfreq_has_the_list_that_is_named(code):
    assert language_data(code).wordfreq in wordfreq.available_languages()


@every_language
def test_data_can_be_sent_to_another_process(code):
    assert pickle.loads(pickle.dumps(language_data(code))) == language_data(code)


def test_a_language_without_a_file_has_the_defaults():
    data = language_data("xx")
    assert data == LanguageData(code="xx", name="xx")
    assert data.connectives == ()
    assert data.predicate.places["Tense"] == ("root",)
    assert not data.impersonal.available
    assert data.impersonal.reason
    assert data.connective(["pero", "no"], "CCONJ") is None


def test_strings_that_no_swap_makes():
    assert {"de", "le"} <= language_data("fr").swaps.elides
    assert ("de", "le") in language_data("fr").swaps.contracts
    assert ("de", "el") in language_data("es").swaps.contracts
    assert language_data("en").swaps.sounds == {"a", "an"}
    assert language_data("ru").swaps == LanguageData("xx").swaps


@pytest.mark.parametrize("code", ["", "../es", "ES", "spanish", "e"])
def test_what_is_no_language_code_is_an_error(code):
    with pytest.raises(DiscoprobeError, match="is no language code"):
        language_data(code)


def test_a_language_is_read_once():
    assert language_data("es") is language_data("es")


def test_importing_the_loader_brings_no_polars():
    code = "import sys, discoprobe.loaders.language as l; l.language_data('es'); print('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


HEAD = 'name = "Test"\ncode = "zz"\n'


def test_forms_default_to_the_lemma_and_upos_to_that_of_the_length():
    text = HEAD + '[connectives]\nentries = [{ lemma = "pero" }, { lemma = "sin embargo" }]'
    one, two = parse(text, "zz").connectives
    assert one.forms == (("pero",),)
    assert one.upos == CONNECTIVE_UPOS
    assert two.forms == (("sin", "embargo"),)
    assert two.upos == set(UPOS)


def test_a_form_given_as_a_list_keeps_the_spaces_inside_its_words():
    text = HEAD + '[connectives]\nentries = [{ lemma = "x", forms = [["a priori", "b"], "c d"] }]'
    assert parse(text, "zz").connectives[0].forms == (("a priori", "b"), ("c", "d"))


MISTAKES = {
    'code = "zz"': r"languages/zz\.toml: name: is missing",
    'name = "T"\ncode = "es"': r"languages/zz\.toml: code: 'es' is not one of zz",
    HEAD + "colour = 1": r"languages/zz\.toml: unknown key 'colour'",
    HEAD + 'spaces = "no"': r"languages/zz\.toml: spaces: expected true or false, found 'no'",
    HEAD + "name = 1": r"languages/zz\.toml: no TOML: ",
    HEAD + "somo = 1": r"somo: expected a table, found 1",
    HEAD + '[somo]\nopen = ["NOUNS"]': r"languages/zz\.toml: somo\.open: 'NOUNS' is not one of ADJ, ADP",
    HEAD + '[somo]\nopen = ["NOUN", "NOUN"]': r"somo\.open: lists a value twice",
    HEAD + "[somo]\nopen = [1]": r"somo\.open: expected a list of strings, found 1 in it",
    HEAD + '[ngram_shift]\npatterns = ["ADP"]': r"ngram_shift\.patterns: 'ADP' is no pair of UPOS",
    HEAD + '[swaps]\ncontracts = ["de"]': r"swaps\.contracts: expected pairs of words, as in 'de le'",
    HEAD + '[swaps]\ncontracts = ["De le"]': r"swaps\.contracts: 'De' is not lower-case NFC",
    HEAD + '[ngram_shift]\npatterns = ["ADP THING"]': r"ngram_shift\.patterns: 'ADP THING' is no pair of UPOS",
    HEAD + '[ngram_shift]\nlemmas = { THING = ["x"] }': r"ngram_shift\.lemmas: unknown key 'THING'",
    HEAD
    + '[connectives]\nentries = [{ lemma = "a" }, { lemma = "a" }]': r"connectives\.entries: lemma 'a' stands twice",
    HEAD + '[connectives]\nentries = [{ lemma = "a" }, { lemma = "b", forms = ["a"] }]': r"form 'a' stands twice",
    HEAD + '[connectives]\nentries = [{ lemma = "A" }]': r"connectives\.entries\[0\]\.lemma: 'A' is not lower-case NFC",
    HEAD + '[connectives]\nentries = [{ lemma = "e\u0301" }]': r"is not lower-case NFC",
    HEAD
    + '[connectives]\nentries = [{ lemma = "a", forms = [[]] }]': r"entries\[0\]\.forms: expected a string or a list",
    HEAD + '[connectives]\nentries = [{ lemma = "a", upos = ["ADVB"] }]': r"entries\[0\]\.upos: 'ADVB' is not one of",
    HEAD
    + '[connectives]\nentries = [{ lemma = "a", scope = "text" }]': r"scope: 'text' is not one of sentence, clause",
    HEAD + '[connectives]\nentries = ["a"]': r"connectives\.entries: expected a list of tables",
    HEAD + '[predicate]\ntense = ["obj"]': r"predicate\.tense: 'obj' is not one of root, aux, cop, aux:pass",
    HEAD + '[predicate]\nlabels = { Case = ["Nom"] }': r"predicate\.labels: unknown key 'Case'",
    HEAD + '[predicate]\npassive = ["Aux Pass"]': r"predicate\.passive: 'Aux Pass' is no mark",
    HEAD + '[predicate]\ncompound = [{ label = "Past" }]': r"predicate\.compound\[0\]: needs aux and root",
    HEAD
    + '[predicate]\nactive_if = [{ voice = ["Act"] }]': r"active_if\[0\]\.voice: expected a feature and its values",
    HEAD + "[impersonal]\navailable = false": r"impersonal\.reason: is missing",
    HEAD + "[impersonal]\navailable = true": r"impersonal\.impersonal: needs conditions exactly where",
    HEAD + '[morphology]\nanalyser = "m"': r"morphology\.analyser: 'm' is not one of pymorphy3",
    HEAD + '[morphology]\nsyncretic = [{ form = "a" }]': r"morphology\.syncretic\[0\]\.feature: is missing",
    HEAD + '[morphology]\nsyncretic = [{ feature = "Case", form = "(" }]': r"syncretic\[0\]\.form: '\(' is no regular",
    HEAD
    + '[morphology]\nsyncretic = [{ feature = "Case", froms = ["a"] }]': r"syncretic\[0\]\.froms: expected a feature",
    HEAD + '[arguments]\niobj = { cases = ["Dat"] }': r"arguments: unknown key 'iobj', expected one of nsubj, obj",
    HEAD + '[arguments]\nobj = { case = ["Acc"] }': r"arguments\.obj: unknown key 'case'",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_one_line_that_names_file_and_key(text):
    with pytest.raises(DiscoprobeError, match=MISTAKES[text]) as caught:
        parse(text, "zz")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("languages/zz.toml: ")


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_read_or_refused_with_an_error_of_ours(text):
    with contextlib.suppress(DiscoprobeError):
        parse(HEAD + text, "zz")


@pytest.mark.parametrize(
    ("code", "opening", "upos", "lemma", "size"),
    [
        ("es", "Sin embargo , los", "ADP", "sin embargo", 2),
        ("es", "Pero no", "CCONJ", "pero", 1),
        ("es", "PERO no", "CCONJ", "pero", 1),
        ("es", "A el contrario , es", "ADP", "por el contrario", 3),
        ("de", "Zu dem Beispiel geht", "ADP", "zum Beispiel", 3),
        ("de", "Auch wenn er", "ADV", "auch wenn", 2),
        ("ru", "Тем не менее , Дезе", "PRON", "тем не менее", 3),
        ("en", "So I went", "ADV", "so", 1),
        ("en", "On the other hand ,", "ADP", "on the other hand", 4),
        ("tr", "BUNUNLA BİRLİKTE , bu", "PRON", "bununla birlikte", 2),
        ("zh", "但是 我", "ADV", "但是", 1),
    ],
)
def test_a_sentence_that_opens_with_a_connective(code, opening, upos, lemma, size):
    found = language_data(code).connective(opening.split(), upos)
    assert found is not None
    assert (found[0].lemma, found[1]) == (lemma, size)


@pytest.mark.parametrize(
    ("code", "opening", "upos"),
    [
        ("en", "So far , we", "ADV"),
        ("en", "So I went", "INTJ"),
        ("en", "When do you", "ADV"),
        ("en", "Instead of us", "ADV"),
        ("es", "Al contrario", "ADP"),
        ("es", "Además de eso", "ADV"),
        ("es", "Que venga", "SCONJ"),
        ("ru", "Как дела", "ADV"),
        ("ru", "Так же он", "ADV"),
        ("fr", "Ou", "PRON"),
        ("de", "So war es", "ADV"),
        ("es", "", None),
    ],
)
def test_a_sentence_that_opens_with_something_else(code, opening, upos):
    assert language_data(code).connective(opening.split(), upos) is None


def test_of_two_connectives_the_longer_is_found():
    russian = language_data("ru")
    because, reason = russian.connective(["Потому", "что", "он"], "SCONJ"), russian.connective(["Потому", "он"], "ADV")
    assert because is not None
    assert reason is not None
    assert (because[0].lemma, reason[0].lemma) == ("потому что", "потому")


@given(st.text(max_size=20))
def test_small_letters_are_small_letters_and_stay_so(text):
    for code in ("es", "tr", "nl", "el", "xx"):
        data = language_data(code)
        assert data.lower(data.lower(text)) == data.lower(text)


def test_turkish_and_dutch_have_capitals_of_their_own():
    turkish, dutch = language_data("tr"), language_data("nl")
    assert turkish.lower("İYİ IŞIK") == "iyi ışık"
    assert turkish.capitalise("iyi") == "İyi"
    assert turkish.capitalise("ışık") == "Işık"
    assert dutch.capitalise("ijs") == "IJs"
    assert dutch.lower("IJS") == "ijs"


def test_a_capital_is_the_first_letter_only_and_only_where_there_are_capitals():
    assert language_data("es").capitalise("él NO va") == "Él NO va"
    assert language_data("es").capitalise("") == ""
    assert language_data("hr").capitalise("ǆep") == "ǅep"
    assert language_data("zh").capitalise("a我") == "a我"


def test_a_condition_holds_of_upos_lemma_and_features():
    condition = Condition(frozenset({"VERB"}), frozenset({"gehen"}), {"Person": frozenset({"1", ""})})
    assert condition.holds("VERB", "gehen", {"Person": "1"})
    assert condition.holds("VERB", "gehen", {"Tense": "Past"})
    assert not condition.holds("VERB", "gehen", {"Person": "3"})
    assert not condition.holds("AUX", "gehen", {})
    assert not condition.holds("VERB", "stehen", {})
    assert Condition().holds(None, None, {})


def test_a_compound_tense_is_told_by_its_auxiliary_and_its_root():
    past, undecided, future = language_data("hr").predicate.compound
    assert (past.label, undecided.label, future.label) == ("Past", None, "Fut")
    assert past.aux == {"biti"}
    assert past.root.holds("VERB", "raditi", {"VerbForm": "Part"})
    assert not past.root.holds("ADJ", "privatiziran", {"VerbForm": "Part", "Voice": "Pass"})
    assert undecided.root.holds("ADJ", "privatiziran", {"VerbForm": "Part", "Voice": "Pass"})


def test_a_russian_neuter_past_is_impersonal_and_a_masculine_one_personal():
    rule = language_data("ru").impersonal
    past = {"VerbForm": "Fin", "Mood": "Ind", "Tense": "Past", "Number": "Sing"}
    assert any(each.holds("VERB", "стемнеть", past | {"Gender": "Neut"}) for each in rule.impersonal)
    assert not any(each.holds("VERB", "прийти", past | {"Gender": "Masc"}) for each in rule.impersonal)
    assert any(each.holds("VERB", "прийти", past | {"Gender": "Masc"}) for each in rule.personal)


def test_values_cannot_be_assigned():
    with pytest.raises(dataclasses.FrozenInstanceError):
        language_data("es").code = "de"  # type: ignore[misc]


def openings(folder: Path):
    """First words and first part of speech of every sentence that does not begin a document."""
    for path in sorted(folder.rglob("*.conllu")):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            rows = [line.split("\t", 4) for line in block.split("\n") if line[:1].isdigit()][:12]
            words = [row for row in rows if row[0].isdigit()]
            if words and not block.startswith("# newdoc") and "\n# newdoc" not in block:
                yield [row[1] for row in words], words[0][3]


@pytest.mark.parametrize("code", REQUIRED)
def test_real_treebanks_open_sentences_with_at_least_three_of_the_connectives(code):
    if not (TREEBANKS / code).is_dir():
        pytest.skip("the treebanks are not beside the repository")
    data = language_data(code)
    matches = (data.connective(words, upos) for words, upos in openings(TREEBANKS / code))
    assert len({match[0].lemma for match in matches if match}) >= 3
