"""Connectives take each other's place in both directions, and only where the clause allows it."""

from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from audit_parts import with_other_ending
from lxml import etree
from made_sentences import connective_sentence
from shared import SHARED

import discoprobe
from discoprobe.builders import Settings, tasks_named
from discoprobe.builders.audit import fidelity, from_config
from discoprobe.builders.edits import OTHER, SAME
from discoprobe.builders.sentences import Connectives
from discoprobe.loaders.languages import language_data
from discoprobe.loaders.raw import AnnotationOptions
from discoprobe.plan import plan
from discoprobe.sources import Request, corpora_of, load_corpus


def suite_of(folder, lang, kinds):
    """The suite of a corpus that has ``n`` sentences of each kind."""
    path = folder / f"{lang}_made-ud-test.conllu"
    blocks = [
        connective_sentence(at, f"{chr(65 + kind)}im", connective, **how)
        for kind, (n, connective, how) in enumerate(kinds)
        for at in range(n)
    ]
    path.write_text("".join(blocks), encoding="utf-8")
    return discoprobe.build("connective_suite", load_corpus(str(path)), Settings(min_class=2, match=False))


def exchanged(config):
    """How often each connective took the place of each, by condition."""
    return Counter(
        (config.labels[row["label"]], row["regions_good"][1], row["regions_bad"][1])
        for row in config.splits["test"].to_pylist()
    )


@pytest.fixture(scope="module")
def english(tmp_path_factory):
    kinds = [(40, "because", {}), (18, "although", {}), (12, "even though", {}), (9, "if", {})]
    return suite_of(tmp_path_factory.mktemp("en"), "en", kinds)


def test_every_exchange_is_there_in_both_directions(english):
    counts = exchanged(english)
    assert english.n_rows == sum(counts.values()) > 40
    assert all(counts[condition, other, own] == n for (condition, own, other), n in counts.items())
    assert {condition for condition, *_ in counts} == {OTHER, SAME}


def test_fidelity_finds_a_bad_text_that_ends_in_another_way(english):
    planted = with_other_ending(english, "there", "badly")
    assert fidelity(from_config(english)).measured == 0
    assert fidelity(from_config(planted)).measured == 1


def test_controls_do_not_outnumber_what_they_control(tmp_path):
    """*Although* and *even though* change places more often than they do with *because*."""
    counts = exchanged(suite_of(tmp_path, "en", [(30, "although", {}), (30, "even though", {}), (4, "because", {})]))
    by_condition = Counter()
    for (condition, *_), n in counts.items():
        by_condition[condition] += n
    assert by_condition == {OTHER: 8, SAME: 8}
    assert all(counts[condition, other, own] == n for (condition, own, other), n in counts.items())


def test_a_smaller_size_keeps_every_exchange_in_both_directions(tmp_path):
    path = tmp_path / "en_made-ud-test.conllu"
    because = [connective_sentence(n, "Kim", "because") for n in range(40)]
    although = [connective_sentence(n, "Tim", "although") for n in range(30)]
    path.write_text("".join([*because, *although]), encoding="utf-8")
    settings = Settings(min_class=2, match=False, sizes=(100, 100, 18))
    counts = exchanged(discoprobe.build("connective_suite", load_corpus(str(path)), settings))
    assert set(counts.values()) == {9}


def test_conditions_follow_the_senses(english):
    concession = {"although", "even though"}
    for condition, own, other in exchanged(english):
        assert (condition == SAME) == ({own, other} <= concession)
        assert "if" not in {own, other}, "a condition can hold where a reason does"


def test_only_the_connective_differs_and_what_follows_is_compared(english):
    for row in english.splits["test"].to_pylist():
        good, bad = row["regions_good"], row["regions_bad"]
        assert (good[0], good[2], row["region"]) == (bad[0], bad[2], 3)
        start, end = row["target"]["start"], row["target"]["end"]
        assert row["sentence_good"][start:end] == row["target"]["form"] == good[1] != bad[1]
        assert row["sentence_good"] == " ".join(filter(None, good))


def test_a_connective_that_opens_its_sentence_is_replaced_by_one_with_a_capital(tmp_path):
    config = suite_of(tmp_path, "de", [(12, "weil", {"opening": True}), (12, "obwohl", {"opening": True})])
    assert set(exchanged(config)) == {(OTHER, "Weil", "Obwohl"), (OTHER, "Obwohl", "Weil")}


@pytest.mark.parametrize(
    ("lang", "one", "other"),
    [
        pytest.param("de", ("obwohl", {"following": "er"}), ("weil", {"following": "sie"}), id="next word"),
        pytest.param("fr", ("parce que", {}), ("bien que", {}), id="subjunctive"),
        pytest.param("fr", ("même si", {}), ("parce qu'", {"elided": True}), id="elision"),
        pytest.param("en", ("because", {"opening": True}), ("although", {}), id="place of the clause"),
        pytest.param("es", ("porque", {"following": "no era"}), ("aunque", {"following": "no fuera"}), id="mood"),
    ],
)
def test_connectives_with_other_demands_are_not_exchanged(lang, one, other, tmp_path):
    with pytest.raises(discoprobe.loaders.errors.UnsupportedError, match="no-exchange 40"):
        suite_of(tmp_path, lang, [(20, *one), (20, *other)])
    if not one[1].get("elided") and other[0] not in {"bien que", "parce qu'"}:
        assert suite_of(tmp_path, lang, [(20, *one), (20, other[0], one[1])]).n_rows >= 20, "the same demands"


def test_text_that_is_only_divided_into_sentences_is_enough(tmp_path):
    """No shared treebank has fifty pairs; large texts have thousands, but no words or trees."""
    because = [f"Kim{n} left, because she met Ann{n} there yesterday." for n in range(30)]
    although = [f"Tim{n} came, although she met Bob{n} at home today." for n in range(30)]
    pq.write_table(
        pa.table({"text": ["\n\n".join([*because, *although])], "in_language": ["en"]}), tmp_path / "text.parquet"
    )
    request = Request(("en",), (str(tmp_path),), raw=AnnotationOptions(segment=True))
    ((corpus, _),) = corpora_of(plan(request, tasks_named(["connective_suite"])))
    assert "upos" not in corpus.layers
    assert discoprobe.build("connective_suite", corpus, Settings(match=False)).n_rows >= 40


LEXICONS = {
    "cs": "czedlex_connective_lex", "de": "dimlex", "en": "eng-dimlex", "es": "Es-DiMLex", "it": "lico_d",
    "nl": "discodict", "pt": "ldm-pt_d", "ru": "Ru_XML", "uk": "UK_DiMLex",
}  # fmt: skip
CONCESSION = ("concession", "consession", "contra", "comparison")
PDTB = {
    "reason": ("reason", "cause", "pragmatic"), "concession": CONCESSION, "result": ("result", "cause", "consequence"),
    "contrast": ("contrast", *CONCESSION),
}  # fmt: skip
"""What published lexicons, in several versions of the Penn Discourse Treebank's hierarchy, call a sense."""


def published(lang):
    """The senses that a published lexicon gives a connective, in small letters."""
    places = [SHARED / "corpora" / top / lang / LEXICONS[lang] for top in ("lexicons", "nc/lexicons")]
    folder = next((place for place in places if place.is_dir()), None)
    if folder is None:
        pytest.skip("the lexicons are not beside the repository")
    senses = {}
    for file in folder.glob("*.xml"):
        parser = etree.XMLParser(recover=True, load_dtd=False, no_network=True, resolve_entities=False)
        for entry in etree.parse(str(file), parser).iter("entry"):
            here = {value.lower() for node in entry.iter() if (value := node.get("sense"))}
            for orth in entry.iter("orth"):
                form = " ".join(" ".join(part.text or "" for part in orth.iter("part")).lower().split())
                senses.setdefault(form, set()).update(here)
    return senses


@pytest.mark.parametrize("lang", LEXICONS)
def test_senses_agree_with_published_lexicons(lang):
    """A connective that a lexicon has, has the sense there too, among others that it may have."""
    senses = published(lang)
    ours = [
        (form, entry.sense)
        for entry in language_data(lang).section(Connectives).entries
        if entry.sense in PDTB
        for form in entry.forms
        if senses.get(form)
    ]
    wrong = [(form, sense) for form, sense in ours if not any(name in s for name in PDTB[sense] for s in senses[form])]
    assert len(ours) >= 8
    assert len(wrong) <= 0.1 * len(ours), wrong


RELATIONS = {"reason": {"causal", "explanation"}, "result": {"causal", "explanation"}, "concession": {"concession"}}
"""The relations of DISRPT that connectives of a sense mark."""
PDTB_TABLES = [*SHARED.glob("corpora/disrpt/*.pdtb.*")]


@pytest.mark.slow
@pytest.mark.skipif(not PDTB_TABLES, reason="no ../shared with corpora of DISRPT beside the repository")
def test_senses_agree_with_annotated_relations():
    """Where annotators named the relation that a connective marks, it is one of its sense in nine of ten cases."""
    agree = defaultdict(list)
    for lang, prefix in (("en", "eng"), ("tr", "tur")):
        entries = language_data(lang).section(Connectives).entries
        senses = {form: entry.sense for entry in entries for form in entry.forms}
        folders = [str(folder) for folder in PDTB_TABLES if folder.name.startswith(prefix)]
        for shard in load_corpus(lang, folders, on_error="skip").shards():
            explicit = shard.relations.filter(rel_type="explicit")
            for unit1, unit2, lead1, lead2, label in explicit.select(
                "unit1", "unit2", "lead1", "lead2", "label"
            ).iter_rows():
                connective = unit2[:lead2] if lead2 else unit1[: lead1 or 0]
                sense = senses.get(connective.lower())
                if sense in RELATIONS:
                    agree[sense].append(label in RELATIONS[sense])
    assert agree.keys() == RELATIONS.keys()
    assert all(len(found) >= 7 and sum(found) >= 0.9 * len(found) for found in agree.values()), agree
