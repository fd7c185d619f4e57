"""Which targets are dropped as ambiguous, by what, and what is said where the analyser is not there."""

import polars as pl
import pytest
from shared import needs_shared

from discoprobe.builders import syncretism
from discoprobe.builders.build import build_all
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import tasks_named
from discoprobe.loaders.language import language_data

ENGLISH = pl.DataFrame(
    [
        ("walk", "NOUN", "Number=Sing"),
        ("walk", "VERB", "VerbForm=Inf"),
        ("sheep", "NOUN", "Number=Sing"),
        ("sheep", "NOUN", "Number=Plur"),
        ("dogs", "NOUN", "Number=Plur"),
        ("has", "AUX", "Number=Sing"),
        ("has", "VERB", "Number=Sing"),
        ("rose", "NOUN", "Number=Sing"),
        ("rose", "PROPN", "Number=Sing"),
        ("artista", "NOUN", "Gender=Fem,Masc|Number=Sing"),
        ("police", "NOUN", None),
    ],
    schema=syncretism.FORMS,
    orient="row",
)


def readings(form, feature, lang, table=ENGLISH):
    found = syncretism.readings(pl.Series([form]), feature, table, language_data(lang))
    return found.select("pos", "feature").row(0)


@pytest.mark.parametrize(
    ("form", "feature", "expected"),
    [
        ("walk", "Number", (2, 1)),
        ("sheep", "Number", (1, 2)),
        ("dogs", "Number", (1, 1)),
        ("has", "Number", (1, 1)),
        ("rose", "Number", (1, 1)),
        ("artista", "Gender", (1, 2)),
        ("police", "Number", (1, 0)),
    ],
)
def test_forms_are_ambiguous_by_the_words_of_the_corpus(form, feature, expected):
    assert readings(form, feature, "en") == expected


@pytest.mark.parametrize(
    ("lang", "form", "feature", "expected"),
    [
        ("ru", "книги", "Number", (1, 2)),  # genitive singular, nominative plural
        ("ru", "книга", "Number", (1, 1)),
        ("ru", "стали", "Tense", (2, 1)),  # "steel" and "became"
        ("ru", "пальто", "Number", (1, 2)),  # indeclinable
        ("ru", "использует", "Aspect", (1, 2)),  # both aspects
        ("uk", "книги", "Number", (1, 2)),  # the Ukrainian dictionary does not say that a form is singular
        ("uk", "книга", "Number", (1, 1)),
        ("uk", "читав", "Mood", (1, 1)),
    ],
)
def test_forms_are_ambiguous_by_the_analyser(lang, form, feature, expected):
    assert readings(form, feature, lang) == expected


def test_a_form_that_the_analyser_does_not_know_is_asked_of_the_corpus():
    table = pl.DataFrame(
        [("смурфы", "NOUN", "Number=Plur"), ("смурфы", "VERB", None)], schema=syncretism.FORMS, orient="row"
    )
    assert readings("смурфы", "Number", "ru", table) == (2, 1)


def test_a_feature_that_the_analyser_does_not_know_is_asked_of_the_corpus():
    table = pl.DataFrame(
        [("этот", "DET", "PronType=Dem"), ("этот", "DET", "PronType=Prs")], schema=syncretism.FORMS, orient="row"
    )
    assert readings("этот", "PronType", "ru", table) == (1, 2)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (("pos", "feature"), ["too-long", "syncretic-pos", "syncretic-feature", None, None]),
        (("pos",), ["too-long", "syncretic-pos", None, None, None]),
        (("feature",), ["too-long", None, "syncretic-feature", None, None]),
        ((), ["too-long", None, None, None, None]),
    ],
)
def test_reasons_are_those_that_are_asked_for_and_the_first_one_stays(setting, expected):
    frame = pl.DataFrame(
        {
            "target_form": ["walk", "Walk", "SHEEP", "dogs", None],
            "reason": ["too-long", None, None, None, None],
        }
    )
    (task,) = tasks_named(["subj_number"])
    found = syncretism.with_reasons(frame, task, ENGLISH, language_data("en"), Settings(syncretism=setting))
    assert found["reason"].to_list() == expected
    assert found.columns == frame.columns


def test_a_task_without_a_target_is_not_filtered():
    (task,) = tasks_named(["impersonal"])
    assert not syncretism.wanted(task, Settings())
    assert not syncretism.wanted(tasks_named(["subj_number"])[0], Settings(syncretism=()))


def test_a_missing_dictionary_is_named_and_an_unneeded_one_is_not(monkeypatch):
    def missing(code):
        raise ValueError(code)

    monkeypatch.setattr(syncretism, "_analyser", missing)
    (task,) = tasks_named(["subj_number"])
    assert "pymorphy3-dicts-uk" in syncretism.hindrance(task, language_data("uk"), Settings())
    assert syncretism.hindrance(task, language_data("uk"), Settings(syncretism=())) == ""
    assert syncretism.hindrance(task, language_data("de"), Settings()) == ""


def test_a_build_without_the_dictionary_says_so(monkeypatch, corpus_of):
    monkeypatch.setattr(syncretism, "hindrance", lambda *_: "no dictionary")
    (result,) = build_all(tasks_named(["subj_number"]), corpus_of("sample", "es"), Settings())
    assert isinstance(result, Unavailable)
    assert result.reason == "no dictionary"


@needs_shared
@pytest.mark.parametrize("lang", ["en", "ru"])
def test_no_ambiguous_form_is_a_target_and_the_dropped_are_counted(lang, corpus_of):
    corpus = corpus_of("shared", lang)
    strict, loose = (
        next(build_all(tasks_named(["subj_number"]), corpus, Settings(ipm="none", match=False, syncretism=setting)))
        for setting in (("pos", "feature"), ())
    )
    assert isinstance(strict, Config)
    assert isinstance(loose, Config)
    assert strict.drops["syncretic-pos"] > 0
    assert strict.drops["syncretic-feature"] > 0
    assert not {"syncretic-pos", "syncretic-feature"} & set(loose.drops)
    forms = {row["target"]["form"].lower() for table in strict.splits.values() for row in table.to_pylist()}
    values: dict[str, set[str]] = {}
    for shard in corpus.shards():
        for form, upos, feats in shard.tokens.select("form", "upos", "feats").iter_rows():
            if lang == "en" and upos:
                values.setdefault(form.lower(), set()).add(syncretism.SAME_POS.get(upos, upos))
            if "Number=" in (feats or ""):
                values.setdefault(form.lower() + "#", set()).add(feats.partition("Number=")[2].partition("|")[0])
    assert all(len(values.get(form, ())) < 2 for form in forms)
    if lang == "en":
        assert all(len(values.get(form + "#", ())) < 2 for form in forms)
