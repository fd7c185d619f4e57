"""The sections of the languages' files: each is read by a module, and every file fits."""

import importlib
import pkgutil
import unicodedata

import pytest
from shared import UD

import discoprobe.builders
from discoprobe.builders.edits import SwapRules
from discoprobe.builders.passages.entities import PronounForms
from discoprobe.builders.sentences import (
    ONE_WORD,
    ArgumentRules,
    Connectives,
    ImpersonalRules,
    MorphologyRules,
    PredicateRules,
    sentence_connectives,
)
from discoprobe.loaders import DiscoprobeError
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.languages import UPOS, LanguageSection, language_data, languages, parse_language
from discoprobe.loaders.languages.spacing import Spacing
from discoprobe.loaders.raw import Boundaries

HEAD = 'name = "Test"\ncode = "zz"\n'
MANY = ["es", "de", "ru", "en", "fr", "it", "pt", "ca", "uk", "cs", "pl", "nl", "sv", "fi", "tr", "ro", "hr", "sl"]
"""Languages whose list of connectives is long."""

every_language = pytest.mark.parametrize("code", languages())


def sections():
    """Every section that a module reads, by its name in the files."""
    for module in pkgutil.walk_packages(discoprobe.builders.__path__, "discoprobe.builders."):
        importlib.import_module(module.name)
    classes, found = [LanguageSection], {kind.section: kind for kind in (Boundaries, Spacing)}
    while classes:
        kind = classes.pop()
        classes += kind.__subclasses__()
        if "section" in vars(kind) and kind.__module__.startswith("discoprobe.builders."):
            assert kind.section not in found, f"{kind.section} is read by {kind} and {found[kind.section]}"
            found[kind.section] = kind
    return found


SECTIONS = sections()


def test_the_tasks_with_rules_of_languages_have_a_section():
    tasks = {"impersonal", "conj_type", "gapping", "coord_inv"}
    shared = {"connectives", "predicate", "arguments", "swaps", "morphology", "pronouns", "questions"}
    assert set(SECTIONS) == tasks | shared | {"boundaries", "spacing"}


@every_language
def test_every_section_of_a_file_is_read_by_a_task_and_has_no_mistake(code):
    data = language_data(code)
    assert set(data.sections) <= set(SECTIONS), "no module reads this section"
    for name, kind in SECTIONS.items():
        assert isinstance(data.section(kind), kind), name


@pytest.mark.parametrize("kind", SECTIONS.values(), ids=lambda kind: kind.section)
def test_a_section_refuses_unknown_keys(kind):
    with pytest.raises(DiscoprobeError, match=rf"^languages/zz\.toml: {kind.section}: Object contains unknown field"):
        parse_language(f"{HEAD}[{kind.section}]\nno_such_key = 1\n", "zz").section(kind)


def values(table, path=""):
    """Every list of plain values in a table."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from values(value, f"{path}.{key}")
        elif isinstance(value, list):
            tables = [item for item in value if isinstance(item, dict)]
            for number, item in enumerate(tables):
                yield from values(item, f"{path}.{key}[{number}]")
            if not tables:
                yield f"{path}.{key}", value


@every_language
def test_no_list_has_a_value_twice(code):
    lists = dict(values(language_data(code).sections))
    assert {path: listed for path, listed in lists.items() if len(set(listed)) < len(listed)} == {}


def test_the_lists_of_a_file_are_found_where_they_are():
    assert len(dict(values(language_data("es").sections))) > 10
    found = dict(values({"a": {"b": [1, 1]}, "c": [{"d": ["x"]}, {"e": 1}]}))
    assert found == {".a.b": [1, 1], ".c[0].d": ["x"]}


A = '{ lemma = "a", sense = "time" }'

MISTAKES = {
    '[swaps]\ncontracts = ["de"]': r"swaps\.contracts\[0\]: Expected `str` matching regex",
    '[swaps]\ncontracts = ["De le"]': r"swaps: 'De le' is not in small letters",
    f"[connectives]\nentries = [{A}, {A}]": r"the lemma 'a' is listed twice",
    f'[connectives]\nentries = [{A}, {{ lemma = "b", sense = "time", forms = ["a"] }}]': r"form 'a' is listed twice",
    '[connectives]\nentries = [{ lemma = "A", sense = "time" }]': r"'A' is not in small letters",
    '[connectives]\nentries = [{ lemma = "a", sense = "time", forms = [""] }]': r"'' is not in small letters",
    '[connectives]\nentries = [{ lemma = "a", sense = "time", upos = ["ADVB"] }]': r"Invalid enum value 'ADVB'",
    '[connectives]\nentries = [{ lemma = "a" }]': r"entries\[0\]: the connective 'a' needs a sense, one of addition,",
    '[connectives]\nentries = [{ lemma = "a", sense = "time", scope = "text" }]': r"scope: Invalid enum value 'text'",
    '[predicate]\ntense = ["obj"]': r"predicate\.tense\[0\]: Invalid enum value 'obj'",
    '[predicate]\nlabels = { Case = ["Nom"] }': r"predicate\.labels: a key: Expected `str` matching regex",
    '[predicate]\npassive = ["Aux Pass"]': r"predicate\.passive\[0\]: Expected `str` matching regex",
    '[predicate]\ncompound = [{ label = "Past" }]': r"predicate\.compound\[0\]: Object missing required field `aux`",
    "[predicate]\ncompound = [{ aux = [], root = {} }]": r"compound\[0\]\.aux: Expected `array` of length >= 1",
    "[impersonal]\navailable = true": r"impersonal: `impersonal` needs conditions where the task is available",
    "[gapping]\navailable = false": r"gapping: `reason` is missing",
    '[morphology]\nanalyser = "m"': r"morphology\.analyser: Invalid enum value 'm'",
    '[morphology]\nsyncretic = [{ form = "a" }]': r"syncretic\[0\]: Object missing required field `feature`",
    '[morphology]\nsyncretic = [{ feature = "Case", form = "(" }]': r"syncretic\[0\]: '\(' is not a regular expression",
    '[arguments]\niobj = { cases = ["Dat"] }': r"arguments: Object contains unknown field `iobj`",
    '[arguments]\nobj = { case = ["Acc"] }': r"arguments\.obj: Object contains unknown field `case`",
}  # fmt: skip


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_one_line_that_names_file_and_key(text):
    data = parse_language(HEAD + text, "zz")
    (name,) = data.sections
    with pytest.raises(DiscoprobeError, match=MISTAKES[text]) as caught:
        data.section(SECTIONS[name])
    assert str(caught.value).startswith("languages/zz.toml: ")
    assert "\n" not in str(caught.value)


# Connectives


def test_forms_default_to_the_lemma_and_upos_to_that_of_the_length():
    text = (
        HEAD
        + '[connectives]\nentries = [{ lemma = "pero", sense = "time" }, { lemma = "sin embargo", sense = "time" }]'
    )
    one, two = parse_language(text, "zz").section(Connectives).entries
    assert (one.forms, one.upos) == (("pero",), ONE_WORD)
    assert (two.forms, two.upos) == (("sin embargo",), set(UPOS))


@every_language
def test_forms_are_small_letters_in_nfc_without_white_space_and_belong_to_one_class(code):
    connectives = language_data(code).section(Connectives)
    assert len(connectives.forms) == len(set(connectives.forms))
    for form in [*connectives.forms, *(other for entry in connectives.entries for other in entry.unless)]:
        for word in form.split(" "):
            assert word == unicodedata.normalize("NFC", word).lower() == word.strip() != ""


def test_an_exception_is_longer_than_the_form_it_begins_with():
    entries = [entry for code in languages() for entry in language_data(code).section(Connectives).entries]
    pairs = [(connective, other) for connective in entries for other in connective.unless]
    assert len(pairs) >= 10
    for connective, other in pairs:
        assert any(other.startswith(f"{form} ") for form in connective.forms), other


@every_language
def test_connectives_have_a_named_source(code):
    connectives = language_data(code).section(Connectives)
    assert bool(connectives.source) == bool(connectives.entries)


@every_language
def test_a_pronoun_tells_one_thing(code):
    listed = language_data(code).section(PronounForms)
    forms = [*{form for forms in listed.third.values() for form in forms}, *listed.others, *listed.speakers]
    assert len(forms) == len(set(forms))


@pytest.mark.parametrize("code", MANY)
def test_fifteen_connectives_and_more(code):
    assert len(language_data(code).section(Connectives).entries) >= 15


@pytest.mark.parametrize("code", MANY)
def test_real_treebanks_open_sentences_with_at_least_three_of_the_connectives(code):
    if not (UD / code).is_dir():
        pytest.skip("the treebanks are not beside the repository")
    shards = read_corpora([UD / code])[code].shards()
    assert (
        len({name for shard in shards for name in sentence_connectives(shard, language_data(code))["connective"]}) >= 3
    )


# Other sections


@every_language
def test_labels_are_of_features_that_are_read(code):
    rules = language_data(code).section(PredicateRules)
    assert all(rules.places(feature) for feature in rules.labels)


def test_a_compound_tense_is_told_by_its_auxiliary_and_its_root():
    past, undecided, future = language_data("hr").section(PredicateRules).compound
    assert (past.label, undecided.label, future.label) == ("Past", None, "Fut")
    assert past.aux == {"biti"}
    assert (past.root.upos, past.root.feats) == ({"VERB"}, {"VerbForm": {"Part"}})
    assert (undecided.root.upos, undecided.root.feats["Voice"]) == ({"ADJ"}, {"Pass"})


def test_strings_that_no_swap_makes():
    french = language_data("fr").section(SwapRules)
    assert {"de", "le"} <= french.elides
    assert "de le" in french.contracts
    assert "de el" in language_data("es").section(SwapRules).contracts
    assert language_data("en").section(SwapRules).sounds == {"a", "an"}
    assert language_data("ru").section(SwapRules) == SwapRules()


def test_a_role_without_a_rule_admits_every_noun():
    turkish = language_data("tr").section(ArgumentRules)
    assert turkish.of("obj").cases
    assert turkish.of("obl") == language_data("xx").section(ArgumentRules).of("obj")


def test_without_a_file_clauses_are_not_told_to_be_impersonal_and_no_analyser_is_asked():
    assert language_data("xx").section(ImpersonalRules).obstacle.startswith("no rule for this language")
    assert language_data("xx").section(MorphologyRules).analyser is None
    assert language_data("ru").section(ImpersonalRules).obstacle == ""
