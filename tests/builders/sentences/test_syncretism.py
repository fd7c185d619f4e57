"""Which targets are dropped as ambiguous, by what, and what is said where the analyser is not there."""

import re

import polars as pl
import pytest
from shared import needs_shared

from discoprobe.builders import Config, Settings, build_all, tasks_named
from discoprobe.builders.sentences import syncretism
from discoprobe.loaders.languages import language_data, languages

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
            "target_lemma": ["walk", "walk", "sheep", "dog", None],
            "target_feats": ["Number=Sing", "Number=Sing", "Number=Sing", "Number=Plur", None],
            "reason": ["too-long", None, None, None, None],
        }
    )
    (task,) = tasks_named(["subj_number"])
    found = syncretism.with_reasons(frame, task, ENGLISH, language_data("en"), Settings(syncretism=setting))
    assert found["reason"].to_list() == expected
    assert found.columns == frame.columns


def is_ambiguous(lang, feature, form, lemma, feats):
    columns = dict.fromkeys(["target_form", "target_lemma", "target_feats"], pl.String)
    frame = pl.DataFrame([(form, lemma, feats)], schema=columns, orient="row")
    return frame.select(syncretism.by_rule(feature, language_data(lang))).item()


AMBIGUOUS = {
    "es Person cantaba cantar": "Mood=Ind|Number=Sing|Person=3|Tense=Imp",
    "es Person habría haber": "Mood=Cnd|Number=Sing|Person=1",
    "es Tense cantamos cantar": "Mood=Ind|Number=Plur|Person=1|Tense=Pres",
    "es Number crisis crisis": "Gender=Fem|Number=Sing",
    "es Number lunes lunes": "Gender=Masc|Number=Sing",
    "pt Person cantara cantar": "Mood=Ind|Number=Sing|Person=1|Tense=Pqp",
    "pt Person cantaria cantar": "Mood=Cnd|Number=Sing|Person=1",
    "pt Number vírus vírus": "Gender=Masc|Number=Sing",
    "pt Tense vendemos vender": "Mood=Ind|Number=Plur|Person=1|Tense=Past",
    "ca Person cantés cantar": "Mood=Sub|Number=Sing|Person=3|Tense=Imp",
    "ca Person cantava cantar": "Mood=Ind|Number=Sing|Person=1|Tense=Imp",
    "ca Number temps temps": "Gender=Masc|Number=Sing",
    "it Person canti cantare": "Mood=Sub|Number=Sing|Person=3|Tense=Pres",
    "it Person cantassi cantare": "Mood=Sub|Number=Sing|Person=1|Tense=Imp",
    "it Number città città": "Gender=Fem|Number=Plur",
    "it Number crisi crisi": "Gender=Fem|Number=Sing",
    "it Number film film": "Gender=Masc|Number=Sing",
    "fr Person chante chanter": "Mood=Ind|Number=Sing|Person=1|Tense=Pres",
    "fr Person mets mettre": "Mood=Ind|Number=Sing|Person=1|Tense=Pres",
    "fr Person voulais vouloir": "Mood=Ind|Number=Sing|Person=1|Tense=Imp",
    "fr Person produis produire": "Mood=Ind|Number=Sing|Person=1|Tense=Pres",
    "fr Tense finit finir": "Mood=Ind|Number=Sing|Person=3|Tense=Pres",
    "fr Number pays pays": "Gender=Masc|Number=Sing",
    "ro Number case casă": "Case=Acc,Nom|Definite=Ind|Gender=Fem|Number=Plur",
    "ro Number ochi ochi": "Case=Acc,Nom|Definite=Ind|Gender=Masc|Number=Sing",
    "ro Number învățătoare învățătoare": "Case=Acc,Nom|Definite=Ind|Gender=Fem|Number=Sing",
    "tr Number kızları kız": "Case=Nom|Number=Plur|Number[psor]=Sing|Person=3|Person[psor]=3",
    "tr Number Evlerini ev": "Case=Acc|Number=Plur|Person=3",
    "tr Number sebeplerinden sebep": "Case=Abl|Number=Plur|Person=3",
    "cs Number konference konference": "Case=Nom|Gender=Fem|Number=Sing",
    "cs Number Kůže kůže": "Case=Nom|Gender=Fem|Number=Sing",
    "cs Number zásady zásada": "Case=Nom|Gender=Fem|Number=Plur",
    "cs Number vlastnosti vlastnost": "Case=Nom|Gender=Fem|Number=Plur",
    "cs Number písně píseň": "Case=Acc|Gender=Fem|Number=Plur",
    "cs Number mládí mládí": "Case=Nom|Gender=Neut|Number=Sing",
    "cs Number slova slovo": "Case=Nom|Gender=Neut|Number=Plur",
    "cs Number centra centrum": "Case=Nom|Gender=Neut|Number=Plur",
    "cs Number pole pole": "Case=Nom|Gender=Neut|Number=Sing",
    "cs Number stroje stroj": "Animacy=Inan|Case=Nom|Gender=Masc|Number=Plur",
    "cs Number soudce soudce": "Animacy=Anim|Case=Nom|Gender=Masc|Number=Sing",
    "cs Number učiteli učitel": "Animacy=Anim|Case=Dat|Gender=Masc|Number=Sing",
    "pl Number szkoły szkoła": "Case=Nom|Gender=Fem|Number=Plur",
    "pl Number pytania pytanie": "Case=Nom|Gender=Neut|Number=Plur",
    "sl Number žene žena": "Case=Nom|Gender=Fem|Number=Plur",
    "sl Number mesta mesto": "Case=Nom|Gender=Neut|Number=Plur",
    "sl Number brata brat": "Case=Acc|Gender=Masc|Number=Sing",
    "hr Number žene žena": "Case=Nom|Gender=Fem|Number=Plur",
    "hr Number stvari stvar": "Case=Nom|Gender=Fem|Number=Plur",
    "hr Number radnika radnik": "Case=Acc|Gender=Masc|Number=Sing",
    "hr Number žena žena": "Case=Nom|Gender=Fem|Number=Sing",
    "hr Number sela selo": "Case=Nom|Gender=Neut|Number=Plur",
    "de Number Computer Computer": "Case=Nom|Gender=Masc|Number=Sing",
    "de Number Kärtchen Kärtchen": "Case=Acc|Gender=Neut|Number=Plur",
    "de Number Kunden Kunde": "Case=Acc|Gender=Masc|Number=Sing",
    "de Number Gebäude Gebäude": "Case=Acc|Gender=Neut|Number=Plur",
    "de Number Beamte Beamter": "Case=Nom|Gender=Masc|Number=Plur",
    "de Number Verantwortlichen Verantwortliche": "Case=Nom|Number=Plur",
    "nl Tense zetten zetten": "Number=Plur|Tense=Pres|VerbForm=Fin",
    "sv Number hus hus": "Case=Nom|Definite=Ind|Gender=Neut|Number=Plur",
    "sv Number lärare lärare": "Case=Nom|Definite=Ind|Gender=Com|Number=Sing",
    "fi Number taloni talo": "Case=Nom|Number=Sing|Number[psor]=Sing|Person[psor]=1",
    "hi Number घर घर": "Case=Nom|Gender=Masc|Number=Sing|Person=3",
    "hi Number लड़के लड़का": "Case=Nom|Gender=Masc|Number=Plur|Person=3",
    "en Tense spread spread": "Mood=Ind|Tense=Past|VerbForm=Fin",
    "en Number series series": "Number=Sing",
}
CLEAR = {
    "es Person canto cantar": "Mood=Ind|Number=Sing|Person=1|Tense=Pres",
    "es Person cantaban cantar": "Mood=Ind|Number=Plur|Person=3|Tense=Imp",
    "es Tense cantaremos cantar": "Mood=Ind|Number=Plur|Person=1|Tense=Fut",
    "es Number país país": "Gender=Masc|Number=Sing",
    "es Number mes mes": "Gender=Masc|Number=Sing",
    "pt Number animais animal": "Gender=Masc|Number=Plur",
    "it Person cantava cantare": "Mood=Ind|Number=Sing|Person=3|Tense=Imp",
    "it Number casa casa": "Gender=Fem|Number=Sing",
    "it Number libri libro": "Gender=Masc|Number=Plur",
    "fr Person suis être": "Mood=Ind|Number=Sing|Person=1|Tense=Pres",
    "fr Person vais aller": "Mood=Ind|Number=Sing|Person=1|Tense=Pres",
    "fr Person as avoir": "Mood=Ind|Number=Sing|Person=2|Tense=Pres",
    "fr Person chantons chanter": "Mood=Ind|Number=Plur|Person=1|Tense=Pres",
    "fr Tense fait faire": "Mood=Ind|Number=Sing|Person=3|Tense=Pres",
    "ro Number casele casă": "Case=Acc,Nom|Definite=Def|Gender=Fem|Number=Plur",
    "tr Number kızlar kız": "Case=Nom|Number=Plur|Person=3",
    "tr Number arı arı": "Case=Nom|Number=Sing|Person=3",
    "tr Number evlerimiz ev": "Case=Nom|Number=Plur|Person=3",
    "cs Number ženu žena": "Case=Acc|Gender=Fem|Number=Sing",
    "cs Number ženě žena": "Case=Dat|Gender=Fem|Number=Sing",
    "cs Number hrady hrad": "Animacy=Inan|Case=Nom|Gender=Masc|Number=Plur",
    "cs Number slovo slovo": "Case=Nom|Gender=Neut|Number=Sing",
    "cs Number kuřata kuře": "Case=Nom|Gender=Neut|Number=Plur",
    "pl Number ulice ulica": "Case=Nom|Gender=Fem|Number=Plur",
    "pl Number muzea muzeum": "Case=Nom|Gender=Neut|Number=Plur",
    "pl Number domy dom": "Case=Nom|Gender=Masc|Number=Plur",
    "sl Number ženo žena": "Case=Acc|Gender=Fem|Number=Sing",
    "hr Number djevojka djevojka": "Case=Nom|Gender=Fem|Number=Sing",
    "hr Number gradovi grad": "Case=Nom|Gender=Masc|Number=Plur",
    "de Number Häuser Haus": "Case=Nom|Gender=Neut|Number=Plur",
    "de Number Ziel Ziel": "Case=Nom|Gender=Neut|Number=Sing",
    "de Number Leute Leute": "Case=Nom|Number=Plur",
    "de Number Mutter Mutter": "Case=Nom|Gender=Fem|Number=Sing",
    "nl Tense hadden hebben": "Number=Plur|Tense=Past|VerbForm=Fin",
    "sv Number husen hus": "Case=Nom|Definite=Def|Gender=Neut|Number=Plur",
    "sv Number bil bil": "Case=Nom|Definite=Ind|Gender=Com|Number=Sing",
    "fi Number talot talo": "Case=Nom|Number=Plur",
    "hi Number लड़का लड़का": "Case=Nom|Gender=Masc|Number=Sing|Person=3",
    "hi Number लड़कों लड़का": "Case=Acc|Gender=Masc|Number=Plur|Person=3",
    "hi Number किताबें किताब": "Case=Nom|Gender=Fem|Number=Plur|Person=3",
    "en Tense walked walk": "Mood=Ind|Tense=Past|VerbForm=Fin",
    "en Number cat cat": "Number=Sing",
}


@pytest.mark.parametrize(("asked", "feats"), AMBIGUOUS.items(), ids=str)
def test_forms_are_ambiguous_by_the_rules_of_the_language(asked, feats):
    assert is_ambiguous(*asked.split(), feats)


@pytest.mark.parametrize(("asked", "feats"), CLEAR.items(), ids=str)
def test_forms_of_one_value_are_not_ambiguous_by_the_rules(asked, feats):
    assert not is_ambiguous(*asked.split(), feats)


def caught(rule, asked, feats):
    _, feature, form, lemma = asked.lower().split()
    values = dict(pair.split("=") for pair in feats.split("|"))
    return (
        feature == rule.feature.lower()
        and bool(re.fullmatch(rule.form, form) and re.fullmatch(rule.lemma, lemma))
        and (form == lemma or not rule.is_lemma)
        and all(values.get(name, "") in among for name, among in rule.feats.items())
    )


def test_every_rule_has_a_form_that_it_catches():
    idle = [
        (lang, rule)
        for lang in languages()
        for rule in language_data(lang).section(syncretism.MorphologyRules).syncretic
        if not any(caught(rule, asked, feats) for asked, feats in AMBIGUOUS.items() if asked.startswith(f"{lang} "))
    ]
    assert not idle


@needs_shared
@pytest.mark.parametrize(
    ("lang", "task", "shown"),
    [
        ("tr", "subj_number", r".*l[ae]r[ıi]"),
        ("tr", "obj_number", r".*l[ae]r[ıi]n[ıi]"),
        ("es", "feats_root_person", r"(est|hab|ten|pod)(aba|ía)|.+ría"),
        ("de", "subj_number", r"Computer|Lehrer|Mitarbeiter|Verantwortlichen"),
        ("sl", "subj_number", r"mesta|dela|.+osti"),
    ],
)
def test_no_form_that_a_rule_catches_is_a_target(lang, task, shown, corpus_of):
    (built,) = build_all(tasks_named([task]), corpus_of("shared", lang), Settings(ipm="none", match=False))
    forms = [row["target"]["form"] for table in built.splits.values() for row in table.to_pylist()]
    assert forms
    assert not [form for form in forms if re.fullmatch(shown, form)]


def test_a_word_without_lemma_or_features_is_not_caught():
    assert not is_ambiguous("de", "Number", "Computer", None, None)
    assert not is_ambiguous("ja", "Number", "本", "本", None)


def test_a_task_without_a_target_is_not_filtered():
    (task,) = tasks_named(["impersonal"])
    assert not syncretism.wanted(task, Settings())
    assert not syncretism.wanted(tasks_named(["subj_number"])[0], Settings(syncretism=()))


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
