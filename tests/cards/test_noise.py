"""The card of a dataset from raw text says who annotated it and how far such labels agree with a treebank's."""

import re

import msgspec
import pytest
from card_cases import HOSTILE, config, source
from shared import STANZA, needs_stanza
from test_card import card_of, headings, html_in

from discoprobe.builders import Shape
from discoprobe.cards.text import card as annotation_quality
from discoprobe.loaders.raw import RuleEngine, find_models

TABLE = re.compile(r"^\| `(\w+)` \| ([\d,]+) \| ([\d.]*) \| ([\d,]+) \| ([\d,]+) \| ([\d.]*) \|$", re.MULTILINE)


def tables():
    """What was measured, as plain values."""
    return msgspec.to_builtins(annotation_quality.measurements())


def made(made_by, lang="de", name="notes"):
    return msgspec.structs.replace(source(name), lang=lang, annotation={"made_by": made_by})


def card(*sources):
    return card_of(config(Shape.SENTENCE, ("a", "b"), [{"text": "Ein Satz."}] * 4, name="x_de", sources=sources))


def by_stanza(table, names=None):
    models = {name: {"sha256": sha, "bytes": 1} for name, sha in table["models"].items() if not names or name in names}
    packages = {name.split("/")[1]: "gsdtiny" for name in models}
    return {"engine": "stanza", "software": {"stanza": "9.9"}, "packages": packages, "models": models, "device": "cpu"}


@pytest.fixture(params=["de", "en", "es", "ru"])
def measured(request):
    found = [one for one in tables() if one["lang"] == request.param and one["engine"] == "stanza"]
    assert len(found) == 1
    return found[0]


def test_the_figures_are_printed_for_the_models_that_were_measured(measured):
    text = card(made(by_stanza(measured), measured["lang"]))
    rows = {row[0]: row[1:] for row in TABLE.findall(text)}
    assert list(rows) == list(annotation_quality.TASKS)
    for task, (both, agree, gold_only, annotated_only, right) in rows.items():
        counts = measured[task]
        assert [int(n.replace(",", "")) for n in (both, gold_only, annotated_only)] == [
            counts["both"], counts["gold_only"], counts["annotated_only"],
        ]  # fmt: skip
        assert float(agree) == pytest.approx(counts["agree"] / counts["both"], abs=0.0006)
        assert float(right) == pytest.approx(counts["agree"] / (counts["both"] + counts["annotated_only"]), abs=0.0006)
    assert f"{measured['sentences']['same'] / measured['sentences']['gold']:.3f} of its" in text
    assert measured["treebank"].partition(",")[0].replace("_", r"\_") in text
    assert "no probe of features is to be judged" in text
    assert "Annotation" in headings(text)


def test_the_same_package_with_other_weights_was_not_measured():
    table = next(one for one in tables() if one["engine"] == "stanza")
    other = by_stanza(table)
    other["models"][f"{table['lang']}/pos/gsdtiny.pt"] = {"sha256": "0" * 64, "bytes": 1}
    text = card(made(other, table["lang"]))
    assert "was not measured for these models" in text
    assert not TABLE.findall(text)
    assert "was not measured" in card(made(by_stanza(table), "fr"))


def test_a_tokeniser_alone_has_the_figures_of_segmentation():
    table = next(one for one in tables() if one["lang"] == "de" and one["engine"] == "stanza")
    text = card(made(by_stanza(table, {"de/tokenize/gsdtiny.pt", "de/mwt/gsdtiny.pt"})))
    assert [row[0] for row in TABLE.findall(text)] == list(annotation_quality.SEGMENTATION_TASKS)
    assert "sentences and words found by stanza 9.9" in text


def test_rules_have_figures_of_their_own():
    table = next(one for one in tables() if one["lang"] == "de" and one["engine"] == "rules")
    identity = dict(RuleEngine("de").identity)
    assert identity["software"].keys() == table["software"].keys()
    text = card(made(identity | {"software": table["software"]}))  # those that were measured, whatever is installed
    assert f"{table['sentences']['same'] / table['sentences']['gold']:.3f} of its" in text
    older = {"engine": "rules", "software": {"regex": "1", "sentencex": "0.1"}}
    assert "was not measured for these rules" in card(made(older))


def test_sources_with_the_same_models_share_one_paragraph_and_treebanks_have_none():
    by = dict(RuleEngine("de").identity)
    text = card(made(by, name="one"), source(), made(by, name="two"))
    assert text.count("sentences and words found by") == 1
    assert "**one, two**" in text
    assert "Annotation" not in headings(card(source()))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_shown_as_text(text):
    by = {"engine": "stanza", "software": {"stanza": text}, "packages": {"pos": text}, "models": {}}
    shown = card(made(by, name=text))
    assert not {one for one in html_in(shown) if "script" in one or "img" in one}
    assert headings(shown).count("Annotation") == 1


@needs_stanza
def test_what_was_measured_are_the_models_at_hand(measured):
    models = find_models(measured["lang"], STANZA)
    assert {file.path: file.sha256 for file in models.files} == measured["models"]
    assert dict(models.packages) == measured["packages"]


def test_figures_are_possible():
    assert tables()
    for table in tables():
        counts = table["sentences"]
        assert 0 < counts["same"] <= min(counts["gold"], counts["annotated"])
        tasks = annotation_quality.TASKS if table["models"] else annotation_quality.SEGMENTATION_TASKS
        for one in (table[task] for task in tasks):
            assert one["agree"] <= one["both"]
            assert one["both"] + max(one["gold_only"], one["annotated_only"]) <= counts["same"]
