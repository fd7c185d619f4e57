"""`discoprobe.build` of many tasks is a release: a mapping of configs with what the commands do."""

from __future__ import annotations

import json
import re

import msgspec
import pandas as pd
import polars as pl
import pytest
from shared import run_in_process, sample_file, tree_of

import discoprobe
from discoprobe.builders.audit.report import Status
from discoprobe.built import BuiltRelease
from discoprobe.interactive import in_python
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UnsupportedError, UsageError


@pytest.fixture(scope="module")
def corpus():
    return discoprobe.load_corpus("es", "sample", progress=False)


@pytest.fixture(scope="module")
def release(corpus):
    return discoprobe.build(["dc", "bso", "nsp_choice"], corpus)


def test_a_list_and_a_family_give_many(release, corpus):
    assert {"bso_es", "dc_es"} <= set(release)
    assert len(release) == len([*release])
    assert all(isinstance(config, discoprobe.Config) for config in release.values())
    everything = discoprobe.build("suites", corpus, audit=False)
    assert set(everything) | set(everything.missing) == {
        f"{task.name}_es" for task in discoprobe.all_tasks().values() if task.family == "suites"
    }
    assert discoprobe.build("bso,so", corpus, audit=False).keys() == {"bso_es", "so_es"}


def test_one_task_gives_the_config_of_the_release(release, corpus):
    alone = discoprobe.build("dc", corpus)
    assert alone.splits == release["dc_es"].splits
    assert alone.report == release["dc_es"].report
    assert alone.report.verdict == release.audit()["dc_es"].verdict


def test_sources_are_named_as_on_the_command_line(release):
    named = discoprobe.build("bso,dc", "sample", lang="es", audit=False)
    assert {name: config.splits for name, config in named.items()} == {
        name: release[name].splits for name in ("bso_es", "dc_es")
    }
    many = discoprobe.build(["bso"], "sample", lang=["es", "de"], size="20/6/4", audit=False)
    assert {name: config.n_rows for name, config in many.items()} == {"bso_de": 30, "bso_es": 30}
    with pytest.raises(UnsupportedError, match=r"2 languages.*build\(\['bso'\]"):
        discoprobe.build("bso", "sample", lang=["es", "de"], audit=False)


def test_options_have_the_values_of_the_command_line(corpus):
    assert discoprobe.build("bso", corpus, size=(20, 6, 4)).n_rows == 30
    assert discoprobe.build("bso", corpus, seed=14).splits != discoprobe.build("bso", corpus).splits
    with pytest.raises(UnsupportedError, match=r"min_rows=0 keeps"):
        discoprobe.build("bso", sample_file("es"), min_rows="200/50/100")
    with pytest.raises(UnsupportedError, match=r"min_rows=0 keeps"):
        discoprobe.build(["bso"], sample_file("es"), audit=False)
    assert discoprobe.build(["bso"], sample_file("es"), audit=False, min_rows=0)["bso_es"].tiny
    with pytest.raises(UsageError, match=r"settings .* leave out size"):
        discoprobe.build("bso", corpus, discoprobe.Settings(), size=100)
    with pytest.raises(UsageError, match=r"corpus that is read.*gold"):
        discoprobe.build("bso", corpus, gold=True)


def test_saved_files_are_those_of_the_command(release, tmp_path):
    folder = release.save(tmp_path / "python")
    options = ("--lang", "es", "--corpus", "sample", "--task", "dc,bso,nsp_choice", "--out", tmp_path / "command")
    assert run_in_process("run", *options).returncode == 0
    assert tree_of(folder) == tree_of(tmp_path / "command")
    assert release.folder == folder


def test_a_saved_release_does_what_the_commands_do(release, tmp_path, corpus):
    unsaved = discoprobe.build(["bso"], corpus, audit=False)
    for ask in (unsaved.verify, unsaved.review, lambda: unsaved.push("org/x"), lambda: unsaved.probe("model")):
        with pytest.raises(UsageError, match=r"not saved; release\.save"):
            ask()
    folder = release.save(tmp_path / "release")
    verified = release.verify()
    assert (verified.differences, verified.rebuilt > 0) == ((), True)
    rows = next((folder / "bso_es").glob("test-*"))
    rows.write_bytes(rows.read_bytes() + b"x")
    assert {each.path for each in release.verify(rebuild=False).differences} == {f"bso_es/{rows.name}"}
    with pytest.raises(DiscoprobeError, match="owner/name"):
        release.push("discoprobe", dry_run=True)


def test_why_a_sentence_is_in_no_row(release):
    (explanation,) = release.why("dc_es", "es-news-04-2")
    assert explanation.sent_id == "es-news-04-2"
    done = run_in_process("why", "dc_es", "es-news-04-2", "--corpus", "sample", "--json", "--out", "nowhere")
    assert json.loads(json.dumps([explanation.to_dict()])) == json.loads(done.stdout)
    with pytest.raises(UnknownNameError, match="dc_es"):
        release.why("dc_ess", "es-news-04-2")


def test_what_fails_the_audit_is_left_out(corpus, monkeypatch):
    """As `build run` does; a threshold that nothing can be below makes the config fail."""
    failing = discoprobe.build(["bso", "sent_len"], corpus)
    assert "bso_es" in failing
    report = failing["bso_es"].report
    fault = next(each for each in report.findings if each.check == "dup-within")
    broken = msgspec.structs.replace(
        report, findings=tuple(
            msgspec.structs.replace(each, status=Status.ABOVE, measured=40.0, cost=1.0) if each is fault else each
            for each in report.findings
        ),
    )  # fmt: skip
    results = {**failing.results, "bso_es": (failing.results["bso_es"][0], broken)}
    left = BuiltRelease(failing.plan, failing.corpora, results)
    assert "bso_es" not in left
    assert left.missing["bso_es"].startswith("the audit failed: ")


def test_a_config_is_a_mapping_of_splits(release):
    config = release["bso_es"]
    assert [*config] == ["train", "validation", "test"]
    assert len(config) == 3
    assert len(config["train"]) == config.splits["train"].num_rows
    assert config["test"][0]["id"] == config.splits["test"]["id"][0].as_py()
    with pytest.raises(KeyError):
        _ = config["dev"]
    frame = config.to_polars()
    assert frame.columns == [*config.to_pandas().columns]
    assert frame["label"].dtype == pl.Enum(config.labels)
    assert frame["label"].cast(pl.String).to_list() == [*config.to_pandas()["label"]]


@pytest.mark.parametrize("form", ["pandas", "polars", "datasets", "arrow", "split"])
def test_any_form_of_a_config_can_be_audited(release, form):
    config = release["bso_es"]
    data = {
        "pandas": config.to_pandas, "polars": config.to_polars, "datasets": config.to_datasets,
        "arrow": lambda: config.splits, "split": lambda: {split: config[split] for split in config},
    }[form]()  # fmt: skip
    report = discoprobe.audit(data, name="bso_es")
    assert report.counts == {split: table.num_rows for split, table in config.splits.items()}
    if form != "arrow":  # a bare table has no names of labels
        assert report.labels == config.labels
    expected = discoprobe.audit(config)
    figures = {each.check: each.measured for each in expected.findings}
    assert {each.check: each.measured for each in report.findings} == figures


def test_an_object_that_is_no_table_gets_a_message():
    frame = pd.DataFrame({"text": ["a b", 3, None], "label": [0, 1, 0]})
    with pytest.raises(DiscoprobeError, match=r"column 'text' holds int and str; .*astype\(\{'text': str\}\)"):
        discoprobe.audit(frame, text="text", label="label")
    with pytest.raises(DiscoprobeError, match=r"release\.audit\(\)"):
        discoprobe.audit({"a": discoprobe.build("bso", sample_file("es"))})


@pytest.mark.parametrize(
    ("said", "python"),
    [
        ("give --lang, or --corpus with the corpora", "give lang, or corpus with the corpora"),
        ("--min-rows 0 keeps dc_es", "min_rows=0 keeps dc_es"),
        ("unknown task 'x' (`build tasks` lists them)", "unknown task 'x' (`discoprobe.all_tasks()` lists them)"),
        ("`build languages` lists them", "`discoprobe.languages()` lists them"),
        ("say what it is with --split dev=test", "say what it is with split='dev=test'"),
        ("--no-rebuild compares the files", "rebuild=False compares the files"),
        ("a well-known --- dash", "a well-known --- dash"),
    ],
)
def test_messages_speak_python(said, python):
    assert in_python(said) == python


def test_errors_of_python_name_no_option_of_the_command_line():
    lines = [
        lambda: discoprobe.build("dc"),
        lambda: discoprobe.build("dcc", "sample", lang="es"),
        lambda: discoprobe.build("dc", "sample", lang="xx"),
        lambda: discoprobe.build("dc", "nowhere.conllu", lang="es"),
        lambda: discoprobe.build("dc", lang="es", gold=True, silver=True),
        lambda: discoprobe.load_corpus("xx"),
        lambda: discoprobe.load_corpus("es", "nowhere"),
        lambda: discoprobe.audit([{"a": 1, "b": 2}] * 4),
        lambda: discoprobe.audit(pd.DataFrame({"text": ["x"] * 4, "label": [0, 1, 0, 1]}), exclude="d"),
        lambda: discoprobe.audit("nowhere.csv"),
    ]
    for line in lines:
        with pytest.raises(DiscoprobeError) as raised:
            line()
        message = str(raised.value)
        assert "\n" not in message
        assert not re.search(r"(?<!\w)--\w|`build (tasks|languages)", message), message


def test_short_representations_and_views(release, corpus):
    assert re.fullmatch(r"<BuiltRelease: \d configs of es; not built: \d; not saved>", repr(
        discoprobe.build(["bso", "dc", "dr"], corpus, audit=False)
    ))  # fmt: skip
    page = release._repr_html_()
    for name in ("bso", "dc"):
        assert f">{name}<" in page
    assert "use it?" in page
    assert "sample-es" in corpus._repr_html_()
    assert "293" in corpus._repr_html_()
    report = release["dc_es"].report
    assert report.verdict.advice in report._repr_html_()
    assert "--" not in report._repr_html_()
