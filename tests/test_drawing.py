"""Rows that show a shortcut by chance are drawn anew; a shortcut of the task's design is there in every draw."""

import dataclasses
import json
from types import MappingProxyType

import pytest
from tests.shared import UD, needs_shared

from discoprobe.builders.audit import run as audit_run
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import tasks_named
from discoprobe.cards.verify import verify
from discoprobe.drawing import DRAWS, audited
from discoprobe.pipeline import configs, run
from discoprobe.rebuilding import rebuilder
from discoprobe.request import Request
from discoprobe.sources import read

SAMPLE = Request(languages=("es",), corpora=("sample",))


def silent(*_):
    """Say nothing."""


@pytest.fixture(scope="module")
def corpus():
    return next(iter(read(SAMPLE)))


def drawn(corpus, *tasks, **changes):
    request = dataclasses.replace(SAMPLE, **changes)
    return list(audited(corpus, tasks_named(tasks), request, None, silent))


def limits(monkeypatch, **values):
    """Other limits, which are data."""
    changed = {name: dataclasses.replace(audit_run.BY_ID[name], limit=limit) for name, limit in values.items()}
    monkeypatch.setattr(audit_run, "BY_ID", MappingProxyType({**audit_run.BY_ID, **changed}))


def rows(config):
    return {split: table.select(["id", "doc_id"]).to_pylist() for split, table in config.splits.items()}


def test_what_passes_is_drawn_once(corpus):
    ((config, report),) = drawn(corpus, "dc")
    assert config.settings.draw == 0
    assert not report.failed


def test_another_draw_has_other_rows_of_the_same_splits(corpus):
    made = {}
    for draw in range(DRAWS):
        request = dataclasses.replace(SAMPLE, settings=Settings(draw=draw))
        (made[draw],) = configs(corpus, tasks_named(("dc",)), request, None)
    documents = [{split: {row["doc_id"] for row in part} for split, part in rows(one).items()} for one in made.values()]
    for split in documents[0]:
        others = set().union(*(own[name] for own in documents for name in own if name != split))
        assert not others & set().union(*(own[split] for own in documents))
    assert len({json.dumps(rows(one)) for one in made.values()}) == DRAWS
    assert made[0].notes == ()
    assert "the draw before this one" in made[1].notes[-1]
    assert "the 2 draws before this one" in made[2].notes[-1]


def test_what_fails_in_every_draw_is_left_out_with_what_the_first_one_had(corpus, monkeypatch):
    limits(monkeypatch, length=-1.0)
    ((left_out, report),) = drawn(corpus, "dc")
    assert isinstance(left_out, Unavailable)
    assert report is None
    assert left_out.reason.startswith(f"the audit failed, {DRAWS} times: length ")
    ((kept, report),) = drawn(corpus, "dc", keep_failed=True)
    assert isinstance(kept, Config)
    assert (kept.settings.draw, report.failed) == (0, True)
    finding = report.finding("length")
    assert f"length {finding.measured:.3g} (limit {finding.limit:.3g})" in left_out.reason


def test_a_fault_is_no_luck(corpus, monkeypatch):
    limits(monkeypatch, balance=-1)
    ((left_out, _),) = drawn(corpus, "dc")
    assert left_out.reason == "the audit failed: balance 0 (limit -1)"


def test_the_first_draw_that_passes_is_taken(corpus, monkeypatch):
    """The limit lies between what the first draw shows and what another one does."""
    measured = [
        audit_run.audit(next(iter(configs(corpus, tasks_named(("bso",)), one, None)))).finding("length")
        for one in (dataclasses.replace(SAMPLE, settings=Settings(draw=draw)) for draw in range(DRAWS))
    ]
    ends = [max(one.interval.low, one.cross.interval.low) for one in measured]
    limit = (ends[0] + min(ends[1:])) / 2
    passing = [draw for draw, end in enumerate(ends) if end <= limit]
    assert passing
    assert 0 not in passing
    limits(monkeypatch, length=limit - 0.5)
    ((config, report),) = drawn(corpus, "bso")
    assert config.settings.draw == passing[0]
    assert not report.failed


def test_nothing_is_drawn_anew_without_an_audit(corpus, monkeypatch):
    limits(monkeypatch, length=-1.0)
    ((config, report),) = drawn(corpus, "dc", audit=False)
    assert (config.settings.draw, report) == (0, None)


@needs_shared
@pytest.mark.slow
def test_a_release_with_another_draw_is_rebuilt_from_its_manifest(tmp_path):
    """Order of Coptic passages: by chance the first draw shows what tells it."""
    folder = str(UD / "cop")
    outcome = run(Request(corpora=(folder,), tasks=("so", "sp_swap")), tmp_path / "release")
    settings = {name: entry["settings"] for name, entry in outcome.manifest["configs"].items()}
    assert settings["sp_swap_cop"]["draw"] == 0
    assert settings["so_cop"]["draw"] == 1
    found = verify(tmp_path / "release", rebuild=rebuilder((folder,), 1))
    assert found.rebuilt > 0
    assert found.differences == ()
