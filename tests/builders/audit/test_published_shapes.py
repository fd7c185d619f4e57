"""Files in the shapes of published data sets are read as what they are, or reading stops and shows the choices."""

from __future__ import annotations

import json

import pytest
from published_shapes import published
from typer.testing import CliRunner

from discoprobe.builders.audit import UnreadableDataError, audit
from discoprobe.builders.audit.inputs import Reading, read
from discoprobe.cli import app

SHAPES = {one.name: one for one in published()}


@pytest.fixture
def folder(tmp_path):
    def written(shape):
        for name, content in shape.files.items():
            (tmp_path / name).write_bytes(content)
        return tmp_path

    return written


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if not shape.message])
def test_what_is_read(name, folder):
    shape = SHAPES[name]
    (data,), skipped = read(folder(shape))
    assert (data.read.format.startswith(shape.format), skipped) == (True, ())
    assert (data.labels, data.rows.height) == (shape.classes, shape.rows)
    assert data.rows["texts"].list.len().unique().to_list() == [shape.texts]
    assert data.rows["n_context"].unique().to_list() == [shape.context]
    assert data.read.left_out == shape.left_out
    assert [file for files in data.read.files.values() for file in files] == list(shape.files)
    assert not data.rows["texts"].explode().str.contains('""|^"').any()


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.message])
def test_where_reading_stops(name, folder):
    with pytest.raises(UnreadableDataError, match=SHAPES[name].message) as error:
        read(folder(SHAPES[name]))
    assert "--text" in str(error.value) or "--label" in str(error.value)


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.options])
def test_the_option_that_the_message_names_reads_it(name, folder):
    options = SHAPES[name].options
    given = {
        option: [v for o, v in zip(options[::2], options[1::2], strict=True) if o == option] for option in options[::2]
    }
    reading = Reading(text=tuple(given.get("--text", ())), label=given.get("--label", [None])[0])
    (data,), _ = read(folder(SHAPES[name]), reading)
    assert data.rows.height == SHAPES[name].rows


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SHAPES))
def test_exit_status_and_first_lines(name, folder):
    place = str(folder(SHAPES[name]))
    done = CliRunner().invoke(app, ["audit", place])
    if SHAPES[name].message:
        assert isinstance(done.exception, UnreadableDataError)
        return
    assert getattr(done.exception, "exit_status", 0) in {0, 3}
    head = "\n".join(done.stdout.splitlines()[:8])
    assert SHAPES[name].format in head
    assert next(iter(SHAPES[name].files)) in head
    assert SHAPES[name].classes[0] in head


def test_choices_are_the_right_ones(folder):
    """The right choice by letter, by number from 1, by number from 0, and by the list of names."""
    for name in ("ARC", "Belebele", "HellaSwag", "COPA", "Winogrande", "XWino"):
        (data,), _ = read(folder(SHAPES[name]))
        expected = {"COPA": 2, "Winogrande": 2, "XWino": 2}.get(name, 4)
        counts = data.rows["label"].value_counts()["count"].to_list()
        assert (len(counts), max(counts) - min(counts) <= 1) == (expected, True)
        for file in SHAPES[name].files:
            (folder(SHAPES[name]) / file).unlink()


# Several files


def _rows(make, n, start=0):
    return b"".join(b'{"text": "%s", "label": %d}\n' % (make.sentence().encode(), at % 2) for at in range(start, n))


def test_files_given_by_name_that_say_different_splits_are_one_set(make, tmp_path):
    for name in ("train_v2.jsonl", "val_v2.jsonl", "test_final.jsonl"):
        (tmp_path / name).write_bytes(_rows(make, 40))
    shared = (tmp_path / "train_v2.jsonl").read_bytes().splitlines(keepends=True)[:3]
    with (tmp_path / "test_final.jsonl").open("ab") as file:
        file.writelines(shared)
    paths = [tmp_path / name for name in ("train_v2.jsonl", "val_v2.jsonl", "test_final.jsonl")]
    (data,), _ = read(paths)
    assert data.counts == {"train": 40, "validation": 40, "test": 43}
    report = audit(data)
    assert report.finding("dup-across").measured == 3
    assert report.finding("sentence-leak").measured == 3


def test_train_beside_several_test_sets_is_the_train_split_of_each(make, tmp_path):
    for name in ("train.jsonl", "dev_matched.jsonl", "dev_mismatched.jsonl"):
        (tmp_path / name).write_bytes(_rows(make, 20))
    found = read(tmp_path).data
    assert {data.name: list(data.counts) for data in found} == {
        "matched": ["train", "validation"], "mismatched": ["train", "validation"],
    }  # fmt: skip


def test_folders_that_are_splits(make, tmp_path):
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        (tmp_path / split / "data.jsonl").write_bytes(_rows(make, 20))
    ((data,), _) = read(tmp_path)
    assert (data.name, list(data.counts)) == ("data", ["train", "test"])


def test_the_rest_is_read_where_a_file_is_broken_or_has_no_labels(make, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "train.jsonl").write_bytes(_rows(make, 20))
    (tmp_path / "a" / "validation.jsonl").write_bytes(b'{"text": "x"\n')
    (tmp_path / "a" / "test.jsonl").write_bytes(b"".join(b'{"text": "x", "label": null}\n' for _ in range(5)))
    (tmp_path / "b.jsonl").write_bytes(b"broken\n")
    found = read(tmp_path)
    assert [(data.name, data.counts) for data in found.data] == [("a", {"train": 20})]
    assert [(one.name, one.unlabelled) for one in found.skipped] == [
        ("a: validation", False), ("a: test", True), ("b", False),
    ]  # fmt: skip


def test_the_command_lists_what_was_not_read(make, tmp_path):
    (tmp_path / "train.jsonl").write_bytes(_rows(make, 40))
    (tmp_path / "test.jsonl").write_bytes(b"broken\n")
    done = CliRunner().invoke(app, ["audit", str(tmp_path)])
    assert "not read" in done.stdout
    assert "test.jsonl:1: not JSON" in done.stdout.replace("\n  ", " ")
    assert done.exception.exit_status in {1, 3}


def test_a_column_names_the_splits(make, tmp_path):
    rows = [{"text": make.sentence(), "label": at % 2, "part": ["train", "heldout"][at % 4 > 2]} for at in range(40)]
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(
        UnreadableDataError, match="'heldout', which is no split; say what it is with --split heldout=test"
    ):
        read(tmp_path, Reading(split_column="part"))
    ((data,), _) = read(tmp_path, Reading(split_column="part", split_names={"heldout": "test"}))
    assert data.counts == {"train": 30, "test": 10}


def test_labels_that_are_left_out(make, tmp_path):
    (tmp_path / "test.jsonl").write_bytes(_rows(make, 40))
    ((data,), _) = read(tmp_path, Reading(exclude=("1",)))
    assert (data.labels, data.read.left_out) == (("0",), {"label '1'": 20})
