"""`build run --exclude`: rows that readers found faulty are left out, with the reason."""

import re

import pytest
from datasets import load_dataset
from shared import tree_of

from discoprobe.cards import Mark, append, marks_file
from discoprobe.cards.metadata import manifest, split_file
from discoprobe.cards.release import renew_figures
from discoprobe.cards.review import read_card

RUN = ("run", "--lang", "es", "--corpus", "sample", "--task", "dc,subj_number", "--no-audit")
TIME = "2026-11-22T08:00:00.000Z"


def ids(folder, config):
    import pyarrow.parquet as pq

    return set(pq.read_table(folder / config / split_file("test"))["id"].to_pylist())


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    from shared import run_in_process

    folder = tmp_path_factory.mktemp("release")
    assert run_in_process(*RUN, "--out", folder / "out").returncode == 0
    return folder / "out"


def marked(release, *rows, verdict="wrong label", file):
    append(file, [Mark("mark", "ana", "person", TIME, config, row, verdict) for config, row in rows])


def test_rows_are_left_out_with_the_reason(release, command, tmp_path):
    row = min(ids(release, "dc_es"))
    marked(
        release,
        ("dc_es", row),
        ("subj_number_es", min(ids(release, "subj_number_es"))),
        file=tmp_path / "m.jsonl",
    )
    done = command(*RUN, "--out", tmp_path / "out", "--exclude", tmp_path / "m.jsonl")
    assert done.returncode == 0, done.stderr
    entries = manifest.read(tmp_path / "out").configs
    assert entries["dc_es"].excluded == {row: "wrong label"}
    for config in ("dc_es", "subj_number_es"):
        gone = ids(release, config) - ids(tmp_path / "out", config)
        assert len(gone) == 2
        assert entries[config].drops["reader wrong label"] == 1
        assert len(set(entries[config].counts["test"].values())) == 1, "balanced"
        card = read_card(tmp_path / "out", config)
        assert re.search(r"\| reader wrong label \| 1 \| a reader found the row faulty \|", card)
    assert load_dataset(str(tmp_path / "out"), "dc_es", cache_dir=str(tmp_path / "cache"))


def test_nothing_is_faulty(release, command, tmp_path):
    marked(release, ("dc_es", min(ids(release, "dc_es"))), verdict="fine", file=tmp_path / "m.jsonl")
    assert command(*RUN, "--out", tmp_path / "out", "--exclude", tmp_path / "m.jsonl").returncode == 0
    assert tree_of(tmp_path / "out").keys() == tree_of(release).keys()
    assert read_card(tmp_path / "out", "dc_es") == read_card(release, "dc_es")


def test_a_file_that_is_not_there_is_named_before_anything_is_built(command, tmp_path):
    done = command(*RUN, "--out", tmp_path / "out", "--exclude", tmp_path / "m.jsonl")
    assert (done.returncode, "m.jsonl does not exist" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_release_with_readers_and_exclusions_verifies(release, command, tmp_path):
    row = min(ids(release, "dc_es"))
    marked(release, ("dc_es", row), file=tmp_path / "m.jsonl")
    command(*RUN, "--out", tmp_path / "out", "--exclude", tmp_path / "m.jsonl")
    other = min(ids(tmp_path / "out", "subj_number_es"))
    marked(release, ("subj_number_es", other), verdict="fine", file=marks_file(tmp_path / "out"))
    assert renew_figures(tmp_path / "out") == ["subj_number_es: 1 row read by 1 person"]
    done = command("verify", tmp_path / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 differ" in done.stdout
    command(*RUN[:-2], "dc", "--out", tmp_path / "out")
    assert manifest.read(tmp_path / "out").configs["subj_number_es"].readers, "another build keeps the figures"
