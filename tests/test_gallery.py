"""The gallery of the site is what the sample gives, and is shown on its pages."""

import ast
import json
import re
import runpy
from html.parser import HTMLParser

import pytest
from shared import ROOT, SAMPLE_LANGUAGES

import discoprobe

SCRIPT = runpy.run_path(str(ROOT / "scripts" / "docs_gallery.py"))
GALLERY = SCRIPT["PARTS"]["gallery"].read_text(encoding="utf-8")
ROWS = SCRIPT["PARTS"]["rows"].read_text(encoding="utf-8")


def shown(page):
    """The names of the configs whose rows a page has."""
    return re.findall(r"<code>(\w+)</code>", page)


@pytest.mark.parametrize("task", ["dc", "subj_number", "cloze_suite"])
def test_rows_are_those_of_the_sample(task):
    """`python scripts/docs_gallery.py` writes them."""
    config = discoprobe.build(task, "sample", lang="es", progress=False)
    assert SCRIPT["row_html"](config) in GALLERY


def test_each_task_of_the_sample_is_there_in_each_language():
    names = shown(GALLERY)
    assert len(names) == len(set(names)) >= 90
    assert {name.rpartition("_")[2] for name in names} == set(SAMPLE_LANGUAGES)
    tasks = {name.rpartition("_")[0] for name in names}
    assert tasks <= set(discoprobe.all_tasks())
    assert {"dc", "nsp", "so", "bso", "pred_tense", "agreement_suite"} <= tasks


def test_the_home_page_has_three_coloured_rows():
    assert len(shown(ROWS)) == 3
    assert "<mark>" in ROWS
    assert len(set(re.findall(r'class="label (l\d)"', ROWS))) > 1
    home = SCRIPT["on_page_markdown"]((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert ROWS in home
    assert "<!-- rows -->" not in home
    assert "pip install" in home


@pytest.mark.parametrize("page", [GALLERY, ROWS])
def test_what_is_shown_is_whole_html(page):
    opened = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, _attributes):
            opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Tags().feed(page)
    assert opened == []


def test_labels_can_be_read_on_their_colours():
    """At least 4.5:1 between the white of a label and its colour (WCAG 2, AA)."""

    def luminance(colour):
        channels = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    style = (ROOT / "docs" / "site" / "style.css").read_text(encoding="utf-8")
    colours = re.findall(r"\.l\d \{ background: #(\w{6})", style)
    assert len(colours) == SCRIPT["COLOURS"]
    assert min((1 + 0.05) / (luminance(colour) + 0.05) for colour in colours) >= 4.5


def test_the_notebook_of_the_cookbook_runs(tmp_path, monkeypatch):
    """Its cells, one after the other; the last line of a cell is shown, as text or HTML."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    names, shown_as_html = {}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        *lines, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(lines, []), cell["id"], "exec"), names)
        assert isinstance(last, ast.Expr), cell["id"]
        value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
        shown_as_html += bool(getattr(value, "_repr_html_", str)())
        assert repr(value)
    assert shown_as_html >= 5
    assert names["release"].folder.is_dir()
    assert names["release"].verify().differences == ()
