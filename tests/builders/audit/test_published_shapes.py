"""Files in the shapes of published datasets are read as what they are, or reading stops and shows the choices."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from published_shapes import archive_of, published
from shared import ROOT
from typer.testing import CliRunner

from discoprobe.builders import SPLITS
from discoprobe.builders.audit import UnreadableDataError, audit
from discoprobe.builders.audit.inputs import Reading, read
from discoprobe.cli import app
from discoprobe.loaders import DiscoprobeError
from discoprobe.loaders.archives import is_archive

SHAPES = {one.name: one for one in published()}


@pytest.fixture
def folder(tmp_path):
    def written(shape):
        for name, content in shape.files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(content)
        return tmp_path / shape.path

    return written


def test_docs_name_every_shape():
    record = " ".join((ROOT / "docs" / "records" / "audit.md").read_text(encoding="utf-8").split())
    names = ([name for name, shape in SHAPES.items() if bool(shape.message) is stops] for stops in (False, True))
    assert all(f"({len(part)}): {'; '.join(part)}." in record for part in names)
    assert f"lists {len(SHAPES)} that are tested" in (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if not shape.message])
def test_what_is_read(name, folder):
    shape = SHAPES[name]
    (data,), skipped = read(folder(shape))
    assert (data.read.format.startswith(shape.format), len(skipped)) == (True, shape.skipped)
    assert (data.labels, data.rows.height) == (shape.classes, shape.rows)
    assert data.rows["texts"].list.len().unique().to_list() == [shape.texts]
    assert data.rows["n_context"].unique().to_list() == [shape.context]
    assert data.read.left_out == shape.left_out
    read_files = {file for files in data.read.files.values() for file in files}
    assert read_files
    assert is_archive(folder(shape)) or read_files <= {Path(file).name for file in shape.files}
    assert not data.rows["texts"].explode().str.contains('""|^"').any() or name == "X-Probe with some quoting"
    assert not shape.first or list(shape.first) in data.rows["texts"].to_list()
    assert data.read.row


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.message])
def test_where_reading_stops(name, folder):
    with pytest.raises(UnreadableDataError, match=SHAPES[name].message) as error:
        read(folder(SHAPES[name]))
    options = SHAPES[name].options[::2]
    assert not options or any(option in str(error.value) for option in options)


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.options])
def test_the_option_that_the_message_names_reads_it(name, folder):
    options = SHAPES[name].options
    given = {
        option: [v for o, v in zip(options[::2], options[1::2], strict=True) if o == option] for option in options[::2]
    }
    encoding = given.get("--encoding", [""])[0]
    reading = Reading(text=tuple(given.get("--text", ())), label=given.get("--label", [None])[0], encoding=encoding)
    (data,), _ = read(folder(SHAPES[name]), reading)
    assert data.rows.height == SHAPES[name].rows


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SHAPES))
def test_exit_status_and_first_lines(name, folder):
    shape = SHAPES[name]
    done = CliRunner().invoke(app, ["audit", str(folder(shape))])
    if shape.message:
        assert isinstance(done.exception, DiscoprobeError)
        return
    assert getattr(done.exception, "exit_status", 0) in ({1, 3} if shape.skipped else {0, 3})
    head = " ".join(" ".join(done.stdout.splitlines()[:12]).split())  # lines break where names are long
    assert shape.format in head
    assert "row: " in head
    assert is_archive(folder(shape)) or any(Path(file).name[:20] in head for file in shape.files)
    assert shape.classes[0].strip() in head


def test_fields_are_unquoted_one_by_one(folder):
    (data,), _ = read(folder(SHAPES["X-Probe with some quoting"]))
    quoted, unquoted = data.rows["texts"].list.first()[3:5]
    assert quoted.startswith('She " ')
    assert unquoted.startswith('" ')


def test_columns_and_files_beside_those_that_are_read(folder):
    """Scores stay numbers; a column names splits; ids that repeat once are no pairs."""
    (sts,), _ = read(folder(SHAPES["STS of SentEval"]))
    assert sts.rows["score"].to_list() == [
        float(score) for score in SHAPES["STS of SentEval"].files["STS.gs.news.txt"].split()
    ]
    for file in SHAPES["STS of SentEval"].files:
        (folder(SHAPES["STS of SentEval"]) / file).unlink()
    (itacola,), _ = read(folder(SHAPES["ItaCoLA"]))
    assert (itacola.counts, list(itacola.read.files)) == (dict.fromkeys(SPLITS, 10), list(SPLITS))
    (folder(SHAPES["ItaCoLA"]) / "ItaCoLA_dataset.tsv").unlink()
    (indonli,), _ = read(folder(SHAPES["IndoNLI"]))
    assert (indonli.pairs, indonli.read.notes[0]) == (False, "'pair_id' names no pairs: few of its values occur twice")


def test_files_of_one_set_with_different_numbers_of_lines(tmp_path):
    (tmp_path / "STS.gs.news.txt").write_text("1.5\n2\n")
    (tmp_path / "STS.input.news.txt").write_text("one\ttwo\n")
    with pytest.raises(UnreadableDataError, match=r"different numbers of lines: .*gs.news.txt 2, .*input.news.txt 1"):
        read(tmp_path)


def test_minimal_pairs_that_are_no_texts(tmp_path):
    rows = [{"sentence_good": "She sleeps.", "sentence_bad": [{"text": "x", "label": at}]} for at in range(9)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UnreadableDataError, match="'sentence_bad' holds lists or objects, and no sentences"):
        read(tmp_path)


def test_a_file_of_another_kind(tmp_path):
    (tmp_path / "RST_DEV.pkl").write_bytes(b"x")
    with pytest.raises(UnreadableDataError, match=r"files of rows end in .*, not in '.pkl'"):
        read(tmp_path / "RST_DEV.pkl")


def test_an_object_with_columns_of_several_lengths(tmp_path):
    (tmp_path / "data_full.json").write_text(json.dumps({"text": ["a b"] * 3, "label": ["x"]}, indent=1))
    with pytest.raises(UnreadableDataError, match=r"'text' 3, 'label' 1\); write each split into its own file"):
        read(tmp_path)


def test_arrays_that_are_no_splits_are_named(folder):
    (data,), skipped = read(folder(SHAPES["CLINC150"]))
    assert list(data.counts) == list(SPLITS)
    assert {each.name.rsplit(" ", 1)[-1] for each in skipped} == {"oos_val", "oos_test", "oos_train"}
    assert "--split oos_val=test" in skipped[0].reason


def test_what_a_row_holds(folder):
    """The report begins with it."""
    rows = {"SNIPS, ATIS": "single text", "QQP": "pair of texts", "STS-B of GLUE": "pair of texts with a score",
            "DiscoEval SP": "sequence of 5 texts", "SWAG": "choice of 4 after 1 text of context",
            "BLiMP": "choice of 2"}  # fmt: skip
    for name, row in rows.items():
        place = folder(SHAPES[name])
        (data,), _ = read([place / file for file in SHAPES[name].files] if "SNIPS" not in name else place)
        assert data.read.row == row
        shutil.rmtree(place)
        place.mkdir()


def test_an_archive_in_a_folder_is_named(folder):
    place = folder(SHAPES["zip of splits"])
    with pytest.raises(UnreadableDataError, match=r"no data files, but archive.zip; name the archive"):
        read(place.parent)


@pytest.mark.parametrize("name", ["archive.zip", "set.tar.gz", "test.csv.gz", "test.tsv.xz", "test.csv.bz2"])
def test_damaged_archives(name, tmp_path):
    (tmp_path / name).write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(UnreadableDataError, match=r"not a readable archive|cannot be read"):
        read(tmp_path / name)


def test_a_path_in_an_archive_does_not_leave_it(tmp_path):
    (tmp_path / "set.zip").write_bytes(archive_of({"../outside.csv": b"text,label\n", "test.csv": b"text,label\n"}))
    with pytest.raises(UnreadableDataError):
        read(tmp_path / "set.zip")
    assert not (tmp_path.parent / "outside.csv").exists()


def test_texts_with_other_numbers_of_lines_than_labels(folder):
    place = folder(SHAPES["TweetEval"])
    with (place / "test_labels.txt").open("a") as file:
        file.write("1\n")
    with pytest.raises(
        UnreadableDataError, match=r"different numbers of lines: .*test_labels.txt 31, .*test_text.txt 30"
    ):
        read(place)


def test_folders_of_languages_are_no_classes(make, tmp_path):
    """Files of rows, one per task, in a folder per language."""
    rows = "".join(f"{split}\t{label}\t{make.sentence()}\n" for split in ("tr", "va", "te") for label in "ab" * 9)
    for place in ("en/bigram_shift", "en/tense", "en/subj_number", "ru/tense", "ru/gapping", "ru/conj_type"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / f"{place}.txt").write_text(rows)
    assert {data.read.format for data in read(tmp_path)[0]} == {"SentEval"}
    for place in ("news", "wiki", "novels"):  # texts without labels
        for language in ("de", "es"):
            (tmp_path / "raw" / language).mkdir(exist_ok=True, parents=True)
            (tmp_path / "raw" / language / f"{place}.txt").write_text(f"{make.sentence()}\n" * 20)
    with pytest.raises(UnreadableDataError, match="label"):
        read(tmp_path / "raw")


def test_a_tab_in_a_line_of_text_is_text(folder):
    place = folder(SHAPES["TweetEval"])
    lines = (place / "train_text.txt").read_text().splitlines()
    (place / "train_text.txt").write_text("".join(f"{line}\n" for line in [f"{lines[0]}\tand more", *lines[1:]]))
    (data,), _ = read(place)
    assert data.read.row == "single text"
    assert data.rows["texts"][0].to_list() == [f"{lines[0]}\tand more"]


def test_a_line_without_text_is_counted_in_the_report(folder):
    place = folder(SHAPES["TweetEval"])
    lines = (place / "test_text.txt").read_text().splitlines()
    (place / "test_text.txt").write_text("\n".join(["", *lines[1:]]) + "\n")
    (data,) = read(place)[0]
    assert json.loads(audit(data).to_json())["read"]["left_out"] == {"no text": 1}


def test_the_type_of_pairs_is_that_of_their_labels_in_every_format(folder):
    """Overlap is what a similarity set measures. The made texts of QQP and WiC have no words in common."""
    types, exempt = {}, {}
    for name in ("STS of SentEval", "SICK", "SNLI of SentEval", "QQP", "RTE", "WiC", "Banking77"):
        place = folder(SHAPES[name])
        (data,), _ = read(place)
        types[name] = data.task_type
        exempt[name] = sorted(data.exempt)
        shutil.rmtree(place)
        place.mkdir()
    assert types == {
        "STS of SentEval": "similarity", "SICK": "entailment", "SNLI of SentEval": "entailment", "QQP": "pair",
        "RTE": "entailment", "WiC": "pair", "Banking77": "",
    }  # fmt: skip
    assert exempt == {name: ["overlap", "similarity"] if name.startswith("STS") else [] for name in types}


def test_the_train_file_without_a_name_is_that_of_further_test_sets(make, tmp_path):
    for name in ("train.jsonl", "val.jsonl", "test.jsonl", "test_expert.jsonl"):
        (tmp_path / name).write_bytes(_rows(make, 20))
    found = {data.name: list(data.counts) for data in read(tmp_path)[0]}
    assert found == {tmp_path.name: ["train", "validation", "test"], "expert": ["train", "test"]}


def test_several_train_files_are_sets_of_their_own(make, tmp_path):
    for name in ("train.3k.jsonl", "train.10k.jsonl", "dev.jsonl"):
        (tmp_path / name).write_bytes(_rows(make, 20))
    found = {data.name: list(data.counts) for data in read(tmp_path)[0]}
    assert found == {tmp_path.name: ["validation"], "10k": ["train"], "3k": ["train"]}


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
    found = read(tmp_path)[0]
    assert {data.name: list(data.counts) for data in found} == {
        "matched": ["train", "validation"], "mismatched": ["train", "validation"],
    }  # fmt: skip


def test_one_file_of_each_split_is_one_dataset(make, tmp_path):
    """As in ARCT: what stands in a name beside the split says what a file is, not of which set it is."""
    for name in ("train-full.jsonl", "dev-full.jsonl", "test-only-data.jsonl"):
        (tmp_path / name).write_bytes(_rows(make, 20))
    assert [dict(data.counts) for data in read(tmp_path)[0]] == [{"train": 20, "validation": 20, "test": 20}]
    (tmp_path / "train-swapped.jsonl").write_bytes(_rows(make, 20))
    assert len(read(tmp_path)[0]) > 1


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
    data_read, skipped = read(tmp_path)
    assert [(data.name, data.counts) for data in data_read] == [("a", {"train": 20})]
    assert [(one.name, one.unlabelled) for one in skipped] == [
        ("a: validation", False), ("a: test", True), ("b", False),
    ]  # fmt: skip


def test_the_command_lists_what_was_not_read(make, tmp_path):
    (tmp_path / "train.jsonl").write_bytes(_rows(make, 40))
    (tmp_path / "test.jsonl").write_bytes(b"broken\n")
    done = CliRunner().invoke(app, ["audit", str(tmp_path)])
    assert "not read" in done.stdout
    assert "test.jsonl:1: not a JSON object" in done.stdout.replace("\n  ", " ")
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
