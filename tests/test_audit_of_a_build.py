"""What a build does with its audits: configs are measured once, compared with the source, and left out if they fail."""

import re
from types import MappingProxyType

import msgspec
import polars as pl
import pytest

from discoprobe import pipeline
from discoprobe.builders import Config, tasks_named
from discoprobe.builders.audit import Status, audit
from discoprobe.builders.audit import run as audit_run
from discoprobe.cards.review import read_card
from discoprobe.pipeline import SourceTexts, audited_configs, run
from discoprobe.plan import plan
from discoprobe.sources import Request, load_corpus

SAMPLE = Request(languages=("es",), corpora=("sample",))


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("es", ["sample"])


def results(corpus, *tasks, **changes):
    return list(audited_configs(corpus, tasks_named(tasks), msgspec.structs.replace(SAMPLE, **changes), None))


def set_thresholds(monkeypatch, **values):
    """Other thresholds, which are data."""
    changed = {check: msgspec.structs.replace(audit_run.BY_ID[check], threshold=to) for check, to in values.items()}
    checks = tuple(changed.get(check.id, check) for check in audit_run.CHECKS)
    monkeypatch.setattr(audit_run, "CHECKS", checks)
    monkeypatch.setattr(audit_run, "BY_ID", MappingProxyType({check.id: check for check in checks}))


@pytest.mark.parametrize("task", ["dc", "bso", "nsp", "dconn", "conj_type", "bigram_shift", "subj_number"])
def test_every_text_is_compared_with_the_source(corpus, task):
    ((config, report),) = results(corpus, task)
    finding = report.finding("fidelity")
    assert (finding.status, finding.measured) == (Status.BELOW, 0)
    assert finding.detail == f"{config.n_rows} rows compared with the source"


def changed(config, column, edit):
    """The config with the text of its first test row edited."""
    test = pl.DataFrame(config.splits["test"])
    values = test[column].to_list()
    values[0] = [*values[0][:-1], edit(values[0][-1])] if isinstance(values[0], list) else edit(values[0])
    table = test.with_columns(pl.Series(column, values)).to_arrow().cast(config.splits["test"].schema)
    return msgspec.structs.replace(config, splits={**config.splits, "test": table})


@pytest.mark.parametrize(("task", "column"), [("dc", "sentences"), ("bso", "sentence2"), ("subj_number", "text")])
@pytest.mark.parametrize("edit", [lambda text: text + " x", lambda text: text.replace(" ", "  ", 1)], ids="ab")
def test_a_text_that_is_not_the_source_s_fails(corpus, task, column, edit):
    ((config, _),) = results(corpus, task, audit=False)
    sources = SourceTexts(corpus).of(config)
    planted = changed(config, column, edit)
    finding = audit(planted, sources).finding("fidelity")
    assert (finding.status, finding.measured) == (Status.ABOVE, 1)
    assert finding.rows == (planted.splits["test"]["id"][0].as_py(),)


def test_swaps_have_a_floor_from_text_that_no_row_has(tmp_path):
    """The config is not above, although n-grams show its swaps, and its card says what a model has to exceed."""
    outcome = run(plan(msgspec.structs.replace(SAMPLE, tasks=("bigram_shift",))), tmp_path / "out")
    finding = outcome.manifest.configs["bigram_shift_es"].audit.findings["trigrams"]
    assert finding.status == "noted"
    assert 0.5 < finding.value < 1
    card = read_card(tmp_path / "out", "bigram_shift_es")
    assert f"Floor: trigrams of other text of the corpora find the edited text in {finding.value:.3f}" in card


def test_other_text_is_no_text_of_a_row_and_bounded(corpus, monkeypatch):
    swaps, number = (config for config, _ in results(corpus, "bigram_shift", "subj_number", audit=False))
    texts = SourceTexts(corpus)
    others, nothing = (texts.others(config, texts.of(config)) for config in (swaps, number))
    assert nothing is None
    every = {text for part in corpus.parts for text in part.load().sentences["text"]}
    assert set(others) == every - set(texts.of(swaps)["text"])
    monkeypatch.setattr(pipeline, "OTHER_TEXT", 3000)
    some = texts.others(swaps, texts.of(swaps))
    assert 2000 < sum(map(len, some)) <= 3000
    assert some == others[: len(some)]


def test_a_config_that_fails_is_left_out_with_what_was_measured(tmp_path, monkeypatch):
    set_thresholds(monkeypatch, length=-0.4)
    request = msgspec.structs.replace(SAMPLE, tasks=("nsp",))
    outcome = run(plan(request), tmp_path / "out")
    (left_out,) = outcome.missing
    assert left_out.reason.startswith("the audit failed: serious: length accuracy 0.")
    assert left_out.reason.endswith("(threshold 0.100)")
    assert not outcome.manifest.configs
    assert not (tmp_path / "out" / "nsp_es").exists()
    kept = run(plan(msgspec.structs.replace(request, keep_failed=True)), tmp_path / "kept")
    assert kept.failed == ["nsp_es"]
    card = read_card(tmp_path / "kept", "nsp_es")
    assert "Audit: **Above**. Serious: length accuracy 0." in card


def test_an_integrity_fault_is_a_failure(tmp_path, monkeypatch):
    set_thresholds(monkeypatch, balance=-1)
    (left_out,) = run(plan(msgspec.structs.replace(SAMPLE, tasks=("bso",))), tmp_path / "out").missing
    assert re.fullmatch(r"the audit failed: minor: \w+: in_order \d+, swapped \d+ \(balance\)", left_out.reason)


def test_without_an_audit_nothing_is_left_out(corpus, monkeypatch):
    set_thresholds(monkeypatch, length=-0.4)
    ((config, report),) = results(corpus, "bso", audit=False)
    assert isinstance(config, Config)
    assert report is None


def test_the_step_of_the_audit_ends_where_the_last_config_is_not_built(tmp_path):
    """`dr` needs relations, which the sample lacks."""
    steps = {}
    request = msgspec.structs.replace(SAMPLE, tasks=("bso", "dr"))
    outcome = run(plan(request), tmp_path / "out", lambda step, done, total: steps.update({step: (done, total)}))
    assert [(outcome.built, [each.task for each in outcome.missing])] == [(("bso_es",), ["dr"])]
    assert [figures for step, figures in steps.items() if step.startswith("auditing es")] == [(2, 2)]
