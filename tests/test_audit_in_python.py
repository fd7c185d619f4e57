"""`discoprobe.audit` takes what a user has in memory."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import discoprobe
from discoprobe.auditing import read_all
from discoprobe.builders.audit import UnreadableDataError
from discoprobe.builders.audit.inputs import Reading
from discoprobe.cli import app
from discoprobe.loaders import DiscoprobeError, UnknownNameError
from discoprobe.loaders.errors import UsageError


@pytest.fixture(scope="module")
def rows():
    source = random.Random(3)
    words = [f"{a}{b}{c}" for a in "bdfglmnprst" for b in "aeiou" for c in "klmnrst"]
    made = [
        {"body": " ".join(source.choices(words, k=9)), "other": " ".join(source.choices(words, k=9)), "mood": at % 2}
        for at in range(60)
    ]
    source.shuffle(made)
    return made


def in_every_form(rows):
    features = datasets.Features({
        "body": datasets.Value("string"), "other": datasets.Value("string"),
        "mood": datasets.ClassLabel(names=["calm", "wild"]),
    })  # fmt: skip
    parts = {"train": rows[:40], "test": rows[40:]}
    frames = {split: pl.DataFrame(part) for split, part in parts.items()}
    return {
        "datasets": datasets.DatasetDict(
            {split: datasets.Dataset.from_list(part, features=features) for split, part in parts.items()}
        ),
        "pandas": {split: pd.DataFrame(part) for split, part in parts.items()},
        "polars": frames,
    }


@pytest.mark.parametrize("form", ["datasets", "pandas", "polars"])
def test_splits_of_a_data_set(rows, form):
    report = discoprobe.audit(in_every_form(rows)[form], text=["body", "other"], label="mood", name="mine")
    assert (report.name, report.counts) == ("mine", {"train": 40, "test": 20})
    assert report.read.columns == {"text": ("body", "other"), "label": ("mood",)}
    assert report.labels == (("calm", "wild") if form == "datasets" else ("0", "1"))
    assert report.finding("balance").measured is not None


def test_one_frame_alone(rows):
    frame = pd.DataFrame(rows).astype({"mood": "category"})
    assert discoprobe.audit(frame, text="body", label="mood").counts == {"test": 60}


def test_what_can_be_read_once(rows):
    """Streamed datasets, generators and lists of rows give the same report as a frame."""
    options = {"text": "body", "label": "mood", "name": "mine"}
    expected = discoprobe.audit(pl.DataFrame(rows), **options)
    streamed = datasets.Dataset.from_list(rows).to_iterable_dataset()
    for data in (
        streamed,
        {"test": streamed},
        (row for row in rows),
        rows,
        {"test": iter(rows)},
        pa.Table.from_pylist(rows),
    ):
        report = discoprobe.audit(data, **options)
        assert (report.counts, report.labels) == ({"test": 60}, ("0", "1"))
        assert [finding.measured for finding in report.findings] == [each.measured for each in expected.findings]


def test_paths(rows, tmp_path):
    for split, part in (("train", rows[:40]), ("test", rows[40:])):
        pl.DataFrame(part).write_csv(tmp_path / f"{split}.csv")
    of_folder = discoprobe.audit(tmp_path, text="body", label="mood")
    of_files = discoprobe.audit([tmp_path / "train.csv", str(tmp_path / "test.csv")], text="body", label="mood")
    assert of_folder.counts == of_files.counts == {"train": 40, "test": 20}
    (tmp_path / "other.csv").write_bytes((tmp_path / "test.csv").read_bytes())
    with pytest.raises(UnreadableDataError, match="2 datasets"):
        discoprobe.audit(tmp_path, text="body", label="mood")


@pytest.mark.parametrize("data", [5, [1, 2], [None], "no such folder", object(), {"test": 7}])
def test_what_is_no_data(data):
    with pytest.raises(DiscoprobeError):
        discoprobe.audit(data)


def test_columns_that_cannot_be_told(rows):
    with pytest.raises(UnreadableDataError, match="which columns hold the text"):
        discoprobe.audit(pl.DataFrame(rows), label="mood")


def test_two_processes_find_the_same(rows):
    alone, divided = (discoprobe.audit(pl.DataFrame(rows), text="body", label="mood", jobs=jobs) for jobs in (1, 2))
    assert alone.to_json() == divided.to_json()


def test_the_import_is_light():
    code = "import discoprobe, sys; print([m for m in ('polars', 'datasets', 'pandas', 'sklearn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_report_has_the_verdict_of_the_command(rows, tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    report = discoprobe.audit(path, text="body", label="mood")
    done = CliRunner().invoke(app, ["audit", str(path), "--text", "body", "--label", "mood", "--json"])
    assert json.loads(json.dumps(report.to_dict())) == json.loads(done.stdout)["data"][0]
    assert report.verdict.word == report.to_dict()["verdict"] == "open"
    assert report.verdict.text == report.to_dict()["sentence"]


def test_splits_groups_and_edited_labels(rows):
    frame = pl.DataFrame(rows).with_columns(
        part=pl.when(pl.int_range(pl.len()) < 40).then(pl.lit("learn")).otherwise(pl.lit("test")),
        whose=pl.int_range(pl.len()) // 4,
    )
    options = {"text": "body", "label": "mood", "group": "whose", "split": ["part", "learn=train"]}
    report = discoprobe.audit(frame, edited="1", **options)
    assert report.counts == {"train": 40, "test": 20}
    assert report.read.columns["group"] == ("whose",)
    assert report.edited
    assert report.finding("words").threshold == pytest.approx(0.6, abs=0.02)
    assert discoprobe.audit(frame, edited=["0"], **options).labels == ("1", "0")
    with pytest.raises(DiscoprobeError, match="unknown label '7'"):
        discoprobe.audit(frame, edited="7", **options)


@pytest.fixture(scope="module")
def leaking(rows, tmp_path_factory):
    """Files of which test repeats three rows of train, two of them in a set of its own kind of columns."""
    folder = tmp_path_factory.mktemp("leaking")
    parts = {"train": rows[:40], "test": [*rows[40:], *rows[:3]]}
    for split, part in parts.items():
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    return folder


OPTIONS = ("--text", "body", "--label", "mood")


def test_the_rows_of_a_finding_as_a_frame(rows, leaking):
    report = discoprobe.audit(leaking, text="body", label="mood")
    frame = report.rows("dup-across")
    assert frame.columns == ["split", "id", "label", "texts", "twin_split", "twin", "twin_texts"]
    assert frame.select("id", "twin").rows() == [(f"test:{20 + at}", f"train:{at}") for at in range(3)]
    assert frame["texts"].to_list() == [[row["body"]] for row in rows[:3]] == frame["twin_texts"].to_list()
    assert frame["label"].to_list() == [str(row["mood"]) for row in rows[:3]]
    assert report.finding("dup-across").twins == ("train:0", "train:1", "train:2")
    assert report.to_dict()["findings"][1]["twins"] == ["train:0", "train:1", "train:2"]
    assert report.rows("dup-within").is_empty()
    with pytest.raises(UnknownNameError, match="dup-across"):
        report.rows("dup-acros")


def test_a_report_of_a_config_has_its_rows():
    config = discoprobe.build("bso", discoprobe.load_corpus("es", "sample"))
    ids = {row_id for table in config.splits.values() for row_id in table["id"].to_pylist()}
    right = config.report.rows("length")["id"]
    assert 0 < len(right) < len(ids)
    assert set(right) <= ids


def test_the_rows_of_a_finding_as_json_lines(leaking):
    done = CliRunner().invoke(app, ["audit", str(leaking), *OPTIONS, "--rows", "dup-across"])
    assert done.exception is None, done.exception
    listed = [json.loads(line) for line in done.stdout.splitlines()]
    frame = discoprobe.audit(leaking, text="body", label="mood").rows("dup-across")
    assert listed == [{"data": leaking.name, **row} for row in frame.to_dicts()]
    nothing = CliRunner().invoke(app, ["audit", str(leaking), *OPTIONS, "--rows", "clean-text"])
    assert (nothing.exception, nothing.stdout) == (None, "")


def test_rows_are_printed_alone(leaking, tmp_path):
    """Neither the report nor its page is made, so that both would be a mistake."""
    page = CliRunner().invoke(app, ["audit", str(leaking), *OPTIONS, "--rows", "length", "--html", str(tmp_path / "p")])
    assert isinstance(page.exception, UsageError)
    unknown = CliRunner().invoke(app, ["audit", str(leaking), *OPTIONS, "--rows", "dup-acros"])
    assert "dup-across" in str(unknown.exception)


def test_a_label_to_leave_out_has_to_be_in_some_dataset(tmp_path):
    """One of two sets has it, or rows of a withheld label; a label that none has is a mistake."""
    for name, labels in (("first", "ab"), ("second", "abc")):
        rows = [{"text": f"One sentence with the number {n}.", "label": labels[n % len(labels)]} for n in range(30)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    both = [str(tmp_path / "first.jsonl"), str(tmp_path / "second.jsonl")]
    read, skipped = read_all(both, tmp_path, Reading(exclude=("c",)))
    assert ({data.name: data.counts for data in read}, skipped) == ({"first": {"test": 30}, "second": {"test": 20}}, ())
    with pytest.raises(UnreadableDataError, match=r"^--exclude d: no row has this label; the labels are a, b, c$"):
        CliRunner().invoke(app, ["audit", *both, "--exclude", "d"], catch_exceptions=False)
    with pytest.raises(UnreadableDataError, match=r"^exclude d: no row"):
        discoprobe.audit([{"text": f"One sentence {n}.", "label": n % 2} for n in range(30)], exclude="d")
    withheld = [{"text": f"One sentence {n}.", "label": n % 3 - 1} for n in range(30)]
    assert discoprobe.audit(withheld, exclude="-1").labels == ("0", "1")
