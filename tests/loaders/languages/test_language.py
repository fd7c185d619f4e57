"""The general facts of languages, and how sections of their files are read."""

import contextlib
import pickle
import subprocess
import sys
from typing import ClassVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders import DiscoprobeError
from discoprobe.loaders.languages import (
    Availability,
    Condition,
    LanguageData,
    LanguageSection,
    Upos,
    check_small_letters,
    language_data,
    languages,
    parse_language,
)

REQUIRED = {"es", "de", "ru", "en", "fr", "it", "pt", "ca", "uk", "cs", "pl", "nl", "sv", "fi", "tr", "ro", "hr", "sl"}
HEAD = 'name = "Test"\ncode = "zz"\n'

every_language = pytest.mark.parametrize("code", languages())


class Colours(LanguageSection, frozen=True):
    section: ClassVar[str] = "colours"
    names: tuple[str, ...] = ("red",)
    kinds: frozenset[Upos] = frozenset()
    when: tuple[Condition, ...] = ()


class Offered(Availability, frozen=True):
    section: ClassVar[str] = "offered"


def test_the_languages_that_were_promised_have_a_file():
    assert REQUIRED | {"ar", "he", "hi", "zh", "ja", "ko", "id", "fa", "el"} <= set(languages())


@every_language
def test_a_file_has_the_code_that_it_is_called_and_a_name(code):
    data = language_data(code)
    assert data.code == code
    assert data.name


@every_language
def test_data_can_be_sent_to_another_process(code):
    data = language_data(code)
    data.section(Colours)
    assert pickle.loads(pickle.dumps(data)) == data


def test_a_language_without_a_file_has_the_defaults():
    data = language_data("xx")
    assert data == LanguageData(code="xx", name="xx")
    assert (data.script, data.spaces, data.cased, data.capitals) == ("Latin", True, True, {})
    assert data.section(Colours) == Colours(names=("red",))


@pytest.mark.parametrize("code", ["", "../es", "ES", "spanish", "e"])
def test_what_is_no_language_code_is_an_error(code):
    with pytest.raises(DiscoprobeError, match="is not a language code"):
        language_data(code)


def test_a_language_and_its_sections_are_read_once():
    assert language_data("es") is language_data("es")
    assert language_data("es").section(Colours) is language_data("es").section(Colours)


def test_importing_the_loader_brings_no_polars():
    code = (
        "import sys, discoprobe.loaders.languages.language as l; l.language_data('es'); print('polars' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_section_has_the_values_of_the_file():
    text = """
[colours]
source = "somebody"
names = ["rojo", "verde"]
kinds = ["ADJ"]
when = [{ upos = ["VERB"], lemma = ["ser"], feats = { VerbForm = ["Fin", ""], "Number[psor]" = ["Sing"] } }]
"""
    colours = parse_language(HEAD + text, "zz").section(Colours)
    assert (colours.source, colours.names, colours.kinds) == ("somebody", ("rojo", "verde"), {"ADJ"})
    feats = {"VerbForm": frozenset({"Fin", ""}), "Number[psor]": frozenset({"Sing"})}
    assert colours.when == (Condition(upos=frozenset({"VERB"}), lemma=frozenset({"ser"}), feats=feats),)


FACTS = {
    'code = "zz"': r"Object missing required field `name`",
    'name = "T"\ncode = "es"': r"code: expected 'zz', as the file is called, got 'es'",
    HEAD + "colour = 1": r"Object contains unknown field `colour`; see GeneralFacts in",
    HEAD + 'spaces = "no"': r"spaces: Expected `bool`, got `str`",
    HEAD + "name = 1": r"not valid TOML: Cannot overwrite a value",
    HEAD + "spaces = no": r"not valid TOML: Invalid value \(at line 3, column 10\)",
    HEAD + "capitals = { i = 1 }": r"capitals\[\.\.\.\]: Expected `str`, got `int`",
}
SECTIONS = {
    "colour = 1": r"colours: Object contains unknown field `colour`; see Colours in",
    'names = "red"': r"colours\.names: Expected `array`, got `str`",
    "names = [1]": r"colours\.names\[0\]: Expected `str`, got `int`",
    'kinds = ["ADJ", "NOUNS"]': r"colours\.kinds\[1\]: Invalid enum value 'NOUNS'",
    'when = ["Fin"]': r"colours\.when\[0\]: Expected `object`, got `str`",
    'when = [{ voice = ["Act"] }]': r"colours\.when\[0\]: Object contains unknown field `voice`",
    'when = [{ feats = { voice = ["Act"] } }]': r"colours\.when\[0\]\.feats: a key: Expected `str` matching regex",
    'when = [{ feats = { Voice = ["act"] } }]': r"colours\.when\[0\]\.feats\[\.\.\.\]\[0\]: Expected `str`",
    "when = [{ feats = { Voice = [] } }]": r"colours\.when\[0\]\.feats\[\.\.\.\]: Expected `array` of length >= 1",
}


@pytest.mark.parametrize("text", FACTS)
def test_a_mistake_in_the_facts_is_one_line_that_names_file_and_key(text):
    with pytest.raises(DiscoprobeError, match=rf"^languages/zz\.toml: {FACTS[text]}") as caught:
        parse_language(text, "zz")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", SECTIONS)
def test_a_mistake_in_a_section_is_one_line_that_names_file_table_and_key(text):
    data = parse_language(f"{HEAD}[colours]\n{text}\n", "zz")
    with pytest.raises(DiscoprobeError, match=rf"^languages/zz\.toml: {SECTIONS[text]}") as caught:
        data.section(Colours)
    assert "\n" not in str(caught.value)


def test_an_unavailable_task_needs_a_reason():
    with pytest.raises(DiscoprobeError, match=r"zz\.toml: offered: `reason` is missing: say why"):
        parse_language(HEAD + "[offered]\navailable = false", "zz").section(Offered)
    text = HEAD + '[offered]\navailable = false\nreason = "no capitals"'
    assert parse_language(text, "zz").section(Offered).obstacle == "no capitals"
    assert parse_language(HEAD, "zz").section(Offered).obstacle == ""


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_read_or_refused_with_an_error_of_ours(text):
    with contextlib.suppress(DiscoprobeError):
        parse_language(HEAD + text, "zz").section(Colours)


@given(st.text(max_size=20))
def test_small_letters_are_small_letters_and_stay_so(text):
    for code in ("es", "tr", "nl", "el", "xx"):
        data = language_data(code)
        assert data.lower(data.lower(text)) == data.lower(text)


@pytest.mark.parametrize("text", ["Pero", "e\u0301", "a  b", " a", "a\tb", ""])
def test_what_is_compared_with_lower_cased_words_is_checked(text):
    with pytest.raises(ValueError, match="is not in small letters"):
        check_small_letters(["pero", text])
    check_small_letters(["sin embargo", "é"])


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


def test_values_cannot_be_assigned():
    with pytest.raises(AttributeError):
        language_data("es").code = "de"
    with pytest.raises(AttributeError):
        language_data("es").section(Colours).names = ()
    assert issubclass(LanguageSection, msgspec.Struct)
