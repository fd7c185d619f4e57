"""Plots: well-formed, the same bytes every time, and true to the numbers."""

import itertools
import xml.etree.ElementTree as ET

import pytest
from card_cases import config
from msgspec.structs import replace
from shared import ROOT

from discoprobe.builders import Shape
from discoprobe.builders.audit import audit
from discoprobe.cards.metadata import config_entry, manifest
from discoprobe.cards.text import lengths, plots

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    return ET.fromstring(svg)


def texts(svg):
    return [element.text for element in parsed(svg).iter(f"{SVG}text")]


def test_the_picture_of_a_large_release_has_every_config_and_fits_a_page():
    """46 tasks × 80 languages: a square per config, names that do not overlap, and no wider than a card."""
    one = config_entry(config(Shape.SEQUENCE, ("a", "b"), [{"sentences": ["x"]}] * 2), {}, {})
    tasks, langs = [f"task{n:02}" for n in range(46)], [f"l{n:02}" for n in range(80)]
    entries = {f"{task}_{lang}": replace(one, task=task, lang=lang) for task in tasks for lang in langs}
    svg = plots.overview_plot(entries | {"feats_x_l00": replace(one, task="feats_x", lang="l00")}, {"l00": "First"})
    root = parsed(svg)
    assert float(root.get("width")) < 900
    assert (
        sum(path.get("d").count("z") for path in root.iter(f"{SVG}path") if path.get("class") == "not-audited")
        == 46 * 80
    )
    assert {*tasks, "First l00", "l79 l79"} <= set(texts(svg))
    assert len(svg) < 150_000
    starts = sorted({float(text.get("y")) for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "end"})
    assert min(after - before for before, after in itertools.pairwise(starts[:80])) >= 11


def test_lengths_of_each_shape():
    one = config(Shape.SENTENCE, ("a", "b"), [{"text": "x", "n_words": 7}, {"text": "y", "n_words": 9}])
    assert lengths(one) == ("words", {"a": (7,) * 5, "b": (9,) * 5})
    one = config(Shape.PAIR, ("a", "b"), [{"sentence1": "ab", "sentence2": "cde"}] * 2)
    assert lengths(one)[1]["a"][2] == 5
    one = config(Shape.CHOICE, ("0", "1"), [{"context": ["ab", "c"], "choices": ["de", "f"]}] * 2)
    assert lengths(one)[1]["0"][2] == 6
    one = config(Shape.CANDIDATE, ("n", "m"), [{"sentences": ["ab", "c"], "candidate": "шесть"}] * 2)
    assert lengths(one)[1]["n"][2] == 8


def test_solvers(built):
    report = audit(built("sample", "es")["dc"])
    svg = plots.audit_plot(report)
    measured = {finding.check: finding for finding in report.findings if finding.baseline is not None}
    assert {text for text in texts(svg) if text in measured} == set(measured)
    assert f"{measured['length'].measured:.3f}" in texts(svg)
    dots = [float(dot.get("cx")) for dot in parsed(svg).iter(f"{SVG}circle")]
    assert dots == pytest.approx([112 + 236 * one.measured for one in measured.values()], abs=0.1)
    assert len(list(parsed(svg).iter(f"{SVG}g"))) == len(measured)


def test_readable_in_light_and_dark(built):
    svg = plots.audit_plot(audit(built("sample", "es")["dc"]))
    assert "prefers-color-scheme: dark" in svg
    assert "background" not in svg


def test_an_audit_that_could_train_nothing():
    one = config(Shape.SEQUENCE, ("a", "b"), [{"sentences": ["x"], "label": 0}] * 3)
    assert parsed(plots.audit_plot(audit(one))) is not None


def test_every_config_has_its_plot(sample_release):
    configs = manifest.read(sample_release).configs
    views = set()
    for path in (sample_release / "assets").iterdir():
        sheet = parsed(path.read_text(encoding="utf-8"))
        views |= {view.get("id") for view in sheet.iter("{http://www.w3.org/2000/svg}view")}
    assert views == set(configs)


def test_a_sheet_gives_its_plots_back():
    made = {"a_es": plots.heat_map("a", {("x", "y"): 0.5}), "b_es": plots.heat_map("b", {("x", "z"): 1.0})}
    assert plots.split_sheet(plots.sheet(made)) == made
    assert '<view id="b_es" viewBox="0 82 400 62"/>' in plots.sheet(made)
    with pytest.raises(ValueError, match="does not say its size"):
        plots.image_size("<svg/>")


def test_readme_shows_the_picture_of_the_sample(sample_release):
    """`python scripts/docs_tables.py` writes it."""
    shown = (ROOT / "docs" / "images" / "overview.svg").read_text(encoding="utf-8")
    assert shown == (sample_release / "overview.svg").read_text(encoding="utf-8")
