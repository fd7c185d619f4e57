"""discoprobe in a notebook: names, short representations, the view of a config, and what other libraries get."""

import doctest
import re
import subprocess
import sys
from html.parser import HTMLParser

import pandas as pd
import pytest
from datasets import load_dataset
from shared import sample_file

import discoprobe
from discoprobe import built, interactive, pipeline
from discoprobe.cards.release.rows import write_split
from discoprobe.plan import plan
from discoprobe.request import Request


@pytest.fixture(scope="module")
def corpus():
    return discoprobe.load_corpus("es", "sample")


@pytest.fixture(scope="module")
def config(corpus):
    return discoprobe.build("dc", corpus)


def test_all_names_are_listed_before_they_are_used():
    code = "import discoprobe; print(*dir(discoprobe)); print(discoprobe.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, version = done.stdout.splitlines()
    assert {name for name in names.split() if not name.startswith("_")} == set(discoprobe.__all__)
    assert "__version__" in names.split()
    assert version == discoprobe.__version__
    assert all(getattr(discoprobe, name) is not None for name in discoprobe.__all__)
    with pytest.raises(AttributeError, match="module 'discoprobe' has no attribute 'biuld'"):
        _ = discoprobe.biuld


def test_the_docstring_of_the_package_shows_what_happens():
    assert doctest.testmod(discoprobe) == (0, 3)


def test_one_name_is_understood_where_several_are_expected(corpus, tmp_path):
    assert discoprobe.load_corpus("es", ["sample"]).counts == corpus.counts
    assert discoprobe.load_corpus("es", sample_file("es")).counts == corpus.counts
    assert discoprobe.load_corpus(sample_file("es")).counts == corpus.counts
    assert Request("es", "sample", "dc", fill="finewiki") == Request(("es",), ("sample",), ("dc",), fill=("finewiki",))
    assert pipeline.run(plan(Request("es", "sample", "dc", audit=False)), tmp_path / "out").built == ("dc_es",)
    assert discoprobe.build("bso", sample_file("es")).counts() == discoprobe.build("bso", corpus).counts()


def test_own_text_is_divided_into_sentences(tmp_path):
    sentences = [row["text"] for row in discoprobe.load_corpus("es", "sample").parts[0].load().sentences.to_dicts()]
    (tmp_path / "note.txt").write_text("\n\n".join(sentences[:40]), encoding="utf-8")
    text = discoprobe.load_corpus("es", tmp_path, segment=True, progress=False)
    assert (text.lang, text.counts.documents) == ("es", 1)
    assert text.counts.sentences > 20


def test_representations_are_short_lines(corpus, config):
    assert repr(corpus) == "<Corpus es: 293 sentences, 36 documents; sample-es>"
    assert repr(config) == "<BuiltConfig dc_es: 32 train, 8 validation, 18 test rows; labels coherent, incoherent>"
    assert re.fullmatch(
        r"<Report dc_es: open; strongest \w+ 0\.\d+; a gain below .* could be chance>", repr(config.report)
    )


class Page(HTMLParser):
    """What a view shows: its text, the marked pieces, and the tags that are open at the end."""

    def __init__(self, html):
        super().__init__()
        self.text, self.marked, self.open, self.cells = "", [], [], []
        self.feed(html)

    def handle_starttag(self, tag, _attributes):
        self.open.append(tag)
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] == "mark":
            self.marked.append(data)
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data


def test_the_view_shows_sizes_the_audit_and_three_rows_with_the_edit_marked(config):
    page = Page(config._repr_html_())
    assert page.open == []
    cells = [cell.strip() for cell in page.cells]
    assert cells[cells.index("coherent") :][:8] == ["coherent", "16", "4", "9", "incoherent", "16", "4", "9"]
    assert cells[cells.index("rows") :][:4] == ["rows", "32", "8", "18"]
    assert "Audit: Open, which is no failure: " in page.text
    assert "pairwise accuracy 0.690 " in page.text
    labels = [cell for cell in cells[cells.index("label") :] if cell in config.labels]
    assert labels == ["coherent", "incoherent", "coherent"]
    inserted = {row["sentences"][row["position"]] for row in config.splits["test"].to_pylist() if row["label"]}
    assert len(page.marked) == 1
    assert set(page.marked) <= inserted


def test_rows_without_pairs_have_different_labels(corpus):
    cells = [cell.strip() for cell in Page(discoprobe.build("pred_tense", corpus)._repr_html_()).cells]
    shown = [cell for cell in cells[cells.index("label") :] if cell in {"Past", "Present"}]
    assert shown == ["Past", "Present", "Past"]


def test_the_view_of_a_large_config_does_not_wait_for_an_audit(corpus, monkeypatch):
    config = discoprobe.build("bso", corpus)
    monkeypatch.setattr(built, "QUICK", 100)
    assert "not audited" in Page(config._repr_html_()).text
    assert config.report.name == "bso_es"
    assert "not audited" not in Page(config._repr_html_()).text


def test_text_of_a_corpus_is_no_html(config):
    table = config.splits["test"]
    sentences = [["<b>x & y</b>", "<script>"]] * table.num_rows
    hostile = table.set_column(table.column_names.index("sentences"), "sentences", [sentences])
    values = {name: getattr(config, name) for name in config.__struct_fields__}
    changed = built.BuiltConfig(**values | {"splits": {**config.splits, "test": hostile}})
    vars(changed)["report"] = config.report
    page = Page(changed._repr_html_())
    assert "<b>x & y</b>" in page.text
    assert page.open == []


def test_datasets_are_those_that_a_release_gives(config, tmp_path):
    for split in config.splits:
        write_split(config, split, tmp_path)
    files = {split: str(tmp_path / f"{split}-*.parquet") for split in config.splits}
    loaded, made = load_dataset("parquet", data_files=files), config.to_datasets()
    assert {split: made[split].features for split in made} == {split: loaded[split].features for split in loaded}
    assert {split: made[split].to_list() for split in made} == {split: loaded[split].to_list() for split in loaded}


def test_a_table_of_pandas_has_all_rows_with_split_and_names_of_labels(config):
    frame = config.to_pandas()
    assert list(frame.columns[:3]) == ["split", "id", "label"]
    assert isinstance(frame["label"].dtype, pd.CategoricalDtype)
    counts = frame.groupby(["split", "label"], observed=True).size().to_dict()
    expected = {(split, label): n for split, of_split in config.counts().items() for label, n in of_split.items()}
    assert counts == expected


def test_progress_goes_to_stderr_after_a_delay_and_can_be_left_out(corpus, capsys, monkeypatch):
    discoprobe.build("bso", corpus)
    assert capsys.readouterr().err == "", "nothing takes a second"
    monkeypatch.setattr(interactive, "DELAY", 0)
    discoprobe.load_corpus("es", "sample")
    assert "reading" in capsys.readouterr().err
    discoprobe.load_corpus("es", "sample", progress=False)
    assert capsys.readouterr() == ("", "")
