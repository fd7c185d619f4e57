"""Peers' formats and tables of any kind are recognised by their content; what cannot be read says why."""

from __future__ import annotations

import json
import re

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from audit_parts import finding_of
from typer.testing import CliRunner

from discoprobe.builders import Shape, all_tasks, schema
from discoprobe.builders.audit import Status, UnreadableDataError, audit
from discoprobe.builders.audit.inputs import FORMATS, Reading, published, read, read_frames
from discoprobe.cli import app
from discoprobe.loaders import UnknownNameError


@pytest.fixture
def write(tmp_path):
    """Writes files below the test's folder and gives its path."""

    def files(**contents):
        for name, lines in contents.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return tmp_path

    return lambda contents: files(**contents)


def _labelled(make, n, line):
    return [line(label, make) for label in make.labels(n, 2)]


def _one(path, **options):
    ((data,), _) = read(path, Reading(**options))
    return data


def test_senteval(make, write):
    rows = [
        f"{split}\t{'OI'[label]}\tx\t{make.sentence()}" for split in ("tr", "va", "te") for label in make.labels(20, 2)
    ]
    data = _one(write({"bigram_shift.txt": rows}) / "bigram_shift.txt")
    assert (data.name, data.shape, data.labels) == ("bigram_shift", Shape.SENTENCE, ("O", "I"))
    assert data.counts == {"train": 20, "validation": 20, "test": 20}
    assert data.perturbation
    assert data.rows["id"][0] == "bigram_shift.txt:1"
    assert data.rows["texts"][0].to_list() == [rows[0].split("\t")[3]]


def test_xprobe(make, write):
    line = lambda label, make: f"{make.sentence()}\t{['PRES', 'PAST'][label]}"  # noqa: E731
    folder = write({f"es__past_present__{name}.txt": _labelled(make, 20, line) for name in ("tr", "va", "te")})
    data = _one(folder)
    assert (data.name, data.shape, data.labels) == ("es/past_present", Shape.SENTENCE, ("PAST", "PRES"))
    assert list(data.counts) == ["train", "validation", "test"]
    assert not data.perturbation


def test_several_data_sets_in_one_folder(make, write):
    line = lambda label, make: f"{make.sentence()}\t{label}"  # noqa: E731
    folder = write({f"{task}__{name}.txt": _labelled(make, 20, line) for task in ("a", "b") for name in ("tr", "te")})
    assert [data.name for data in read(folder)[0]] == ["a", "b"]


@pytest.mark.parametrize(("texts", "shape"), [(1, Shape.SENTENCE), (2, Shape.PAIR), (5, Shape.SEQUENCE)])
def test_discoeval_with_the_label_first(make, write, texts, shape):
    def line(label, make):
        return "\t".join([str(label), *(make.sentence() for _ in range(texts))])

    folder = write({f"DC__wiki__{name}.txt": _labelled(make, 20, line) for name in ("train", "valid", "test")})
    data = _one(folder)
    assert (data.name, data.shape, data.labels) == ("DC/wiki", shape, ("0", "1"))
    assert data.rows["texts"].list.len().unique().to_list() == [texts]
    assert data.natural


def test_discoeval_bso_holds_pairs_in_the_right_order_only(make, write):
    folder = write(
        {f"{name}.txt": [f"{make.sentence()}\t{make.sentence()}" for _ in range(20)] for name in ("train", "test")}
    )
    data = _one(folder)
    assert (data.shape, data.labels, data.pairs) == (Shape.PAIR, ("in_order", "swapped"), True)
    assert data.counts == {"train": 40, "test": 40}
    first, second = data.rows.filter(pl.col("pair_id") == "test.txt:1").sort("label")["texts"].to_list()
    assert first == second[::-1]
    report = audit(data)
    assert {report.finding(check).status for check in ("balance", "pair-split", "order", "dup-within")} == {
        Status.BELOW
    }


def test_blimp(make, write):
    rows = [
        json.dumps({"sentence_good": make.sentence(), "sentence_bad": make.sentence(), "UID": "x"}) for _ in range(100)
    ]
    data = _one(write({"principle_A.jsonl": rows}))
    assert (data.name, data.shape, data.perturbation, data.counts) == ("principle_A", Shape.CHOICE, True, {"test": 100})
    good = [json.loads(row)["sentence_good"] for row in rows]
    assert [texts[label] for texts, label in data.rows.select("texts", "label").iter_rows()] == good
    assert 30 < data.rows["label"].sum() < 70
    assert audit(data).measured_on == "test"


def test_tsv_of_minimal_pairs(make, write):
    rows = ["sen\twrong_sen\tphenomenon", *(f'{make.sentence()} "\t{make.sentence()}\tSV#' for _ in range(50))]
    data = _one(write({"rus__data.tsv": rows}))
    assert (data.name, data.shape, data.rows.height) == ("rus/data", Shape.CHOICE, 50)
    assert data.rows["texts"][0][data.rows["label"][0]].endswith('"')


def test_csv_with_usual_names(make, write):
    files = {
        f"{split}.csv": ["text,label", *_labelled(make, 20, lambda label, make: f'"{make.sentence()}",{label}')]
        for split in ("train", "dev", "test")
    }
    data = _one(write(files))
    assert (data.shape, data.labels, list(data.counts)) == (Shape.SENTENCE, ("0", "1"), ["train", "validation", "test"])


def test_odd_column_names_are_guessed_where_they_can_be(make, write):
    header = "Nr;Satz;Klasse"
    files = {
        f"{split}.csv": [
            header,
            *(f"{at};{make.sentence().replace(';', '')};{'ja' if at % 2 else 'nein'}" for at in range(30)),
        ]
        for split in ("train", "test")
    }
    data = _one(write(files))
    assert (data.labels, data.shape) == (("ja", "nein"), Shape.SENTENCE)


def test_odd_column_names_that_cannot_be_guessed(make, write):
    rows = [
        "alpha,beta,gamma,delta",
        *(f"{make.sentence(6, 8)[:-1]} x,{make.sentence(6, 8)[:-1]} y,{at % 2},{at % 3}" for at in range(30)),
    ]
    folder = write(
        {"train.csv": [row.replace(", ", " ") for row in rows], "test.csv": [row.replace(", ", " ") for row in rows]}
    )
    with pytest.raises(
        UnreadableDataError, match=r"which column holds the label\? Name it with --label: 'gamma' \(0\), 'delta' \(0\)"
    ):
        read(folder)
    with pytest.raises(
        UnreadableDataError,
        match=r"which columns hold the text\? Name them in order with --text: 'alpha' \(.+\), 'beta'",
    ):
        read(folder, Reading(label="gamma"))
    data = _one(folder, label="gamma", text=["beta", "alpha"])
    assert data.shape is Shape.PAIR
    assert data.rows["texts"][0].to_list() == [rows[1].split(",")[1], rows[1].split(",")[0]]
    with pytest.raises(UnreadableDataError, match="no column 'omega'; there are alpha, beta, gamma, delta"):
        read(folder, Reading(label="omega"))


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        ("choice1 choice2", [0, 1]),
        ("ending_1 ending_2", [1, 2]),
        ("optionA optionB", ["A", "B"]),
        ("choice1 choice2", ["1", "۲"]),
    ],
)
def test_choices(make, write, names, labels):
    one, two = names.split()
    rows = [
        json.dumps({"premise": make.sentence(), one: make.sentence(), two: make.sentence(), "label": labels[at % 2]})
        for at in range(20)
    ]
    data = _one(write({"val.jsonl": rows, "test.jsonl": rows}))
    assert (data.shape, data.labels) == (Shape.CHOICE, ("0", "1"))
    assert data.rows["n_context"].unique().to_list() == [1]
    assert data.rows["label"].to_list()[:4] == [0, 1, 0, 1]


def test_columns_that_the_label_names_by_their_letters_are_choices(make, write):
    """Of one word each, as in MMLU's files with a header: without them, a row is a question whose label is a letter."""
    rows = [
        {"question": make.sentence(), **dict.fromkeys("CABD", "word"), "answer": "ABCD"[at % 4]} for at in range(40)
    ]
    data = _one(write({"test.jsonl": [json.dumps(row | {"B": f"w{at}"}) for at, row in enumerate(rows)]}))
    assert (data.shape, data.read.columns["choices"]) == (Shape.CHOICE, ("A", "B", "C", "D"))
    assert data.rows["texts"][5].to_list()[1:] == ["word", "w5", "word", "word"]
    assert data.rows["label"].to_list()[:4] == [0, 1, 2, 3]
    named = [json.dumps(row | {"answer": "yes" if at % 2 else "no"}) for at, row in enumerate(rows)]
    assert _one(write({"test.jsonl": named})).shape is Shape.SENTENCE


def test_a_passage_and_a_question_are_what_choices_are_about(make, write):
    rows = [
        {"context": make.sentence(), "question": make.sentence(), "answer0": "one", "answer1": "two", "label": at % 2}
        for at in range(20)
    ]
    data = _one(write({"test.jsonl": [json.dumps(row) for row in rows]}))
    assert data.read.columns == {
        "text": ("context", "question"),
        "choices": ("answer0", "answer1"),
        "label": ("label",),
    }


def test_the_only_column_that_is_called_a_label_is_it(make, write):
    """JaNLI has ``entailment_label_Ja`` beside ``heuristics``, HateBR ``label_final`` beside three annotators'."""
    rows = [{"text": make.sentence(), "annotator": at % 3, "label_final": at % 2} for at in range(20)]
    data = _one(write({"test.jsonl": [json.dumps(row) for row in rows]}))
    assert data.read.columns["label"] == ("label_final",)
    assert any(note.startswith("the label column was guessed: 'label_final'") for note in data.read.notes)
    camel = [
        json.dumps(row | {"correctLabelW0": at % 2}) for at, row in enumerate({"text": row["text"]} for row in rows)
    ]
    assert _one(write({"test.jsonl": camel})).read.columns["label"] == ("correctLabelW0",)
    two = [json.dumps({"topic_label": at % 3, "text": make.sentence(), "label_final": at % 2}) for at in range(20)]
    with pytest.raises(UnreadableDataError, match="which column holds the label"):
        _one(write({"test.jsonl": two}))


def test_the_label_that_names_a_choice_is_it(make, write):
    """ParsiNLU has ``answer`` (1 to 4) and ``category`` beside the list of candidates."""
    rows = [
        {
            "answer": str(at % 4 + 1),
            "candidates": ["a", "b", "c", "d"],
            "category": "xy"[at % 2],
            "question": make.sentence(),
        }
        for at in range(40)
    ]
    data = _one(write({"test.jsonl": [json.dumps(row) for row in rows]}))
    assert (data.shape, data.read.columns["label"]) == (Shape.CHOICE, ("answer",))
    assert data.rows["label"].to_list()[:5] == [0, 1, 2, 3, 0]


@pytest.mark.parametrize("name", ["set.tsv", "set.csv"])
def test_several_labels_in_a_row_are_refused(make, write, name):
    """XED: emotions of a sentence, with commas."""
    labels = ["1", "3", "1, 3", "7", "3, 7"]
    if name.endswith("csv"):
        lines = ["text,label", *(f'"{make.sentence()}","{labels[at % 5]}"' for at in range(50))]
    else:
        lines = [f"{make.sentence()}\t{labels[at % 5]}" for at in range(50)]
    with pytest.raises(UnreadableDataError, match=r"several labels \(1, 3\): a row needs one label"):
        _one(write({name: lines}))


def test_one_file_per_class_that_is_called_like_it(make, write):
    """Wisesight has ``pos.txt``, ``neu.txt``, ``neg.txt`` and ``q.txt``."""
    lines = [make.sentence() for _ in range(8)]
    folder = write({"pos.txt": lines[:3], "neg.txt": lines[3:6], "q.txt": lines[6:], "readme.txt": ["about"]})
    assert _one(folder).labels == ("neg", "pos", "q")


def test_a_column_that_repeats_the_text_is_no_second_one(make, write):
    """JCoLA has ``sentence`` and, with its mistakes of typing, ``original``."""
    texts = [make.sentence() for _ in range(40)]
    rows = [
        {"sentence": text, "original": text + "x" * (at % 9 == 0), "label": at % 2} for at, text in enumerate(texts)
    ]
    data = _one(write({"test.jsonl": [json.dumps(row) for row in rows]}))
    assert data.read.columns["text"] == ("sentence",)


def test_capitals_of_column_names_do_not_count(make, write):
    """ConjNLI has ``Premise``, ``Hypothesis`` and ``Label``."""
    rows = [{"Premise": make.sentence(), "Hypothesis": make.sentence(), "Label": "ab"[at % 2]} for at in range(20)]
    data = _one(write({"test.jsonl": [json.dumps(row) for row in rows]}))
    assert data.read.columns == {"text": ("Premise", "Hypothesis"), "label": ("Label",)}


def test_a_label_that_names_no_choice(make, write):
    rows = [
        json.dumps({"premise": "p", "choice1": make.sentence(), "choice2": make.sentence(), "label": 7})
        for _ in range(5)
    ]
    with pytest.raises(UnreadableDataError, match="label '7' names none of the 2 choices"):
        read(write({"test.jsonl": rows}))


def test_a_config_of_a_release(make, tmp_path):
    fields = schema(Shape.SENTENCE)
    features = {"label": {"names": ["original", "shifted"], "_type": "ClassLabel"}}
    metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    for split in ("train", "validation", "test"):
        rows = [
            {
                "id": f"{split}{at}",
                "label": at % 2,
                "corpus": "UD_X",
                "sent_ids": [f"s{at}"],
                "pair_id": f"{split}{at // 2}",
                "text": make.sentence(),
                "target": {"start": 0, "end": 1, "form": "Haus", "lemma": "Haus", "upos": "NOUN"},
                "original": make.sentence() if at % 2 else None,
                "edit": {"start": 0, "end": 3} if at % 2 else None,
            }
            for at in range(20)
        ]
        table = pa.Table.from_pylist(rows, schema=fields).replace_schema_metadata(metadata)
        (tmp_path / "bigram_shift_de").mkdir(exist_ok=True)
        pq.write_table(table, tmp_path / "bigram_shift_de" / f"{split}-00000-of-00001.parquet")
    (tmp_path / "manifest.json").write_text("{}")
    data = _one(tmp_path)
    assert (data.name, data.labels, data.shape) == ("bigram_shift_de", ("original", "shifted"), Shape.SENTENCE)
    assert (data.perturbation, data.pairs, data.natural) == (True, True, False)
    assert data.split_by == all_tasks()["bigram_shift"].split_by
    assert data.rows["target"].unique().to_list() == ["Haus"]
    assert data.rows["edit_end"].drop_nulls().unique().to_list() == [3]
    assert data.rows["id"][0] == "train0"


def test_tables_in_memory(make):
    table = pl.DataFrame({"text": [make.sentence() for _ in range(20)], "label": [at % 2 for at in range(20)]})
    (data,), skipped = read_frames(
        "mine", {"train": table, "dev": table, "extra": table}, {"label": ("no", "yes")}, Reading()
    )
    assert (data.shape, data.counts, data.labels) == (Shape.SENTENCE, {"train": 20, "validation": 20}, ("no", "yes"))
    assert skipped[0].name == "mine: extra"
    with pytest.raises(UnreadableDataError, match="no split is called train, validation or test, only extra"):
        read_frames("mine", {"extra": table}, {}, Reading())


def test_ids_that_never_repeat_are_no_pairs(make, write):
    rows = [json.dumps({"text": make.sentence(), "label": at % 2, "pair_id": str(at)}) for at in range(20)]
    assert not _one(write({"test.jsonl": rows})).pairs
    twice = [json.dumps({"text": make.sentence(), "label": at % 2, "pair_id": str(at // 2)}) for at in range(20)]
    assert _one(write({"train.jsonl": twice})).pairs


# What cannot be read


def test_no_such_path(tmp_path):
    with pytest.raises(UnreadableDataError, match="nowhere: no such file or folder"):
        read(tmp_path / "nowhere")


def test_a_folder_without_data(write):
    with pytest.raises(UnreadableDataError, match="no data files; expected one of"):
        read(write({"README.md": ["hello"]}))


def test_an_empty_split(make, write):
    line = lambda label, make: f"{label}\t{make.sentence()}"  # noqa: E731
    (data,), skipped = read(write({"train.txt": _labelled(make, 20, line), "test.txt": []}))
    assert (data.counts, skipped[0].reason) == ({"train": 20}, "the test split is empty (test.txt)")


@pytest.mark.parametrize("header", [["text,label"], []])
def test_an_empty_table(make, write, header):
    line = lambda label, make: f"{make.sentence().replace(',', '')},{label}"  # noqa: E731
    (data,), skipped = read(write({"train.csv": ["text,label", *_labelled(make, 20, line)], "test.csv": header}))
    assert (data.counts, skipped[0].reason) == ({"train": 20}, "the test split is empty (test.csv)")


def test_the_wrong_format(make, write):
    path = write({"x.txt": _labelled(make, 20, lambda label, make: f"{make.sentence()}\t{label}")}) / "x.txt"
    with pytest.raises(
        UnreadableDataError, match=r"x.txt:1: expected 'tr\|va\|te, label, text' separated by tabs, found 2 fields"
    ):
        read(path, Reading(format_name="senteval"))
    with pytest.raises(UnreadableDataError, match="no columns of minimal pairs"):
        read(path, Reading(format_name="pairs"))
    with pytest.raises(UnknownNameError, match="did you mean senteval"):
        read(path, Reading(format_name="sentevall"))
    assert set(FORMATS) == {
        "senteval",
        "trec",
        "fasttext",
        "label-first",
        "xprobe",
        "discoeval",
        "discoeval-bso",
        "cola",
        "xwino",
        "pairs",
        "table",
    }


def test_a_line_with_a_field_too_few(make, write):
    rows = _labelled(make, 2000, lambda label, make: f"{make.sentence()}\t{label}")
    rows[1500] = "no tab here"
    with pytest.raises(
        UnreadableDataError, match=r"te\.txt:1501: expected 'text, label' separated by a tab, found 1 field "
    ):
        read(write({"te.txt": rows}))


def test_a_label_missing_in_test(make, write):
    good = ["text,label", *_labelled(make, 20, lambda label, make: f"{make.sentence().replace(',', '')},{label}")]
    bad = [good[0], *good[1:10], f"{make.sentence().replace(',', '')},"]
    (data,), _ = read(write({"train.csv": good, "test.csv": bad}))
    assert (data.counts, data.read.left_out) == ({"train": 20, "test": 9}, {"no label": 1})


def test_a_label_that_is_no_number_is_missing(write):
    lines = [json.dumps({"text": f"Text {at} of many.", "label": at % 2}) for at in range(20)]
    data = _one(write({"test.jsonl": [*lines, '{"text": "A text without label.", "label": NaN}']}))
    assert (data.labels, data.counts, data.read.left_out) == (("0", "1"), {"test": 20}, {"no label": 1})


@pytest.mark.parametrize(("codec", "note"), [("utf-16", "UTF-16"), ("utf-32", "UTF-32"), ("utf-8-sig", None)])
@pytest.mark.parametrize("name", ["test.csv", "te.tsv"])
def test_a_byte_order_mark_says_the_encoding(make, tmp_path, codec, note, name):
    separator = "," if name.endswith("csv") else "\t"
    rows = [f"text{separator}label", *(f"Größe {at} … ja!{separator}{at % 2}" for at in range(20))]
    (tmp_path / name).write_bytes("\n".join(rows).encode(codec))
    data = _one(tmp_path)
    assert (data.labels, data.rows["texts"][3].to_list()) == (("0", "1"), ["Größe 3 … ja!"])
    assert data.read.notes == ((note,) if note else ())


def test_a_class_missing_in_test_is_a_finding(make, write):
    good = ["text,label", *_labelled(make, 40, lambda label, make: f"{make.sentence().replace(',', '')},{label}")]
    folder = write({"train.csv": good, "test.csv": [good[0], *(line for line in good[1:] if line.endswith("1"))]})
    report = audit(_one(folder))
    assert report.finding("label-set").detail == "test lacks the label '0'"
    assert report.failed


def test_withheld_labels(make, write):
    rows = [json.dumps({"text": make.sentence(), "label": -1}) for _ in range(20)]
    with pytest.raises(UnreadableDataError, match="test: no labels: 'label' is -1 in all 20 rows"):
        read(write({"test.jsonl": rows}))
    labelled = [json.dumps({"text": make.sentence(), "label": at % 3 - 1}) for at in range(20)]
    (data,), skipped = read(write({"train.jsonl": labelled}))
    assert (data.labels, data.counts) == (("-1", "0", "1"), {"train": 20})
    assert [(one.name.rpartition(": ")[2], one.unlabelled) for one in skipped] == [("test", True)]


def test_a_column_with_train_and_test_names_splits_whatever_it_is_called(make, write):
    values = ["TRAIN", "TRAIN", "TRIAL", "TEST"]
    rows = [json.dumps({"text": make.sentence(), "label": at % 2, "Set": values[at % 4]}) for at in range(40)]
    (data,), _ = read(write({"rows.jsonl": rows}))
    assert data.counts == {"train": 20, "validation": 10, "test": 10}
    languages = [row.replace("TRAIN", "tr").replace("TRIAL", "te").replace("TEST", "te") for row in rows]
    (data,), _ = read(write({"rows.jsonl": languages}))
    assert data.counts == {"test": 40}  # Turkish and Telugu


def test_a_column_missing_in_test(make, write):
    rows = [json.dumps({"text": make.sentence(), "label": at % 2}) for at in range(20)]
    others = [json.dumps({"body": make.sentence(), "label": at % 2}) for at in range(20)]
    (data,), skipped = read(write({"train.jsonl": rows, "test.jsonl": others}))
    assert (data.counts, skipped[0].reason) == ({"train": 20}, "no column 'text', only body, label")


def test_files_of_one_class_each_have_no_order(make, write):
    folder = write({f"film__mc.{label}": [make.sentence() for _ in range(60)] for label in ("neg", "pos")})
    data = _one(folder)
    assert data.classes == {"test": {"neg": 60, "pos": 60}}
    assert finding_of(data, "order").status is Status.BELOW
    line = next(row for row in data.rows.to_dicts() if row["id"] == "mc.pos:7")
    assert line["texts"] == [(folder / "film" / "mc.pos").read_text(encoding="utf-8").splitlines()[6]]
    assert "each file holds one class" in data.read.notes[0]


def test_scores_are_classes_with_like_numbers_of_rows(make, write):
    rows = [json.dumps({"text": make.sentence(), "label": at / 7}) for at in range(50)]
    data = _one(write({"test.jsonl": rows}))
    assert (len(data.labels), data.rows["label"].value_counts()["count"].to_list()) == (5, [10] * 5)
    assert "'label' holds scores: 5 classes" in data.read.notes[-1]


def test_a_file_that_is_not_text(tmp_path):
    (tmp_path / "test.txt").write_bytes(b"0\t\xff\xfe\x00\n")
    with pytest.raises(UnreadableDataError, match=r"test.txt: not UTF-8 text \(byte 2\)"):
        read(tmp_path)


def test_a_parquet_file_that_is_none(tmp_path):
    (tmp_path / "test.parquet").write_bytes(b"hello")
    with pytest.raises(UnreadableDataError, match="not a readable parquet file"):
        read(tmp_path)


def test_messages_are_one_line(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"text": "a", \n broken')
    with pytest.raises(UnreadableDataError) as error:
        read(tmp_path)
    assert "\n" not in str(error.value)
    assert error.value.exit_status == 1


def _documents(make, *, column="doc_id", apart):
    """Rows of 30 documents, each in one split (``apart``) or in both."""
    rows = [
        {"text": make.sentence(), "label": "ab"[document % 2], column: f"d{document}", "year": 1990 + document % 3}
        for document in range(30)
        for _ in range(8)
    ]
    half = len(rows) // 2
    first, second = (rows[:half], rows[half:]) if apart else (rows[::2], rows[1::2])
    return {"train": pl.DataFrame(first), "test": pl.DataFrame(second)}


def _read_one(frames, **options):
    ((data,), _) = read_frames("x", frames, {}, Reading(**options))
    return data


@pytest.mark.parametrize("column", ["doc_id", "Speaker", "prompt", "document_title", "dialogue-id"])
def test_columns_of_documents_and_speakers_are_groups(make, column):
    data = _read_one(_documents(make, column=column, apart=True))
    assert data.read.columns["group"] == (column,)
    assert data.rows["group"].n_unique() == 30
    assert finding_of(data, "group-split").status is Status.BELOW


@pytest.mark.parametrize(("named", "outcome"), [(None, Status.NOTED), ("doc_id", Status.ABOVE)])
def test_a_document_in_two_splits_is_found(make, named, outcome):
    data = _read_one(_documents(make, apart=False), group=named)
    finding = finding_of(data, "group-split")
    assert (finding.status, finding.measured, finding.n) == (outcome, 120, 120)


@pytest.mark.parametrize("tells", [True, False])
def test_authors_in_two_splits_do_harm_where_they_tell_the_label(make, tells):
    """Most texts of an author have one label (Wiegand et al. 2019), and no option names the column."""
    rows = [
        {"text": make.sentence(), "label": "ab"[(author if tells and text % 5 else text) % 2], "author": f"d{author}"}
        for author in range(60)
        for text in range(20)
    ]
    last = pl.int_range(pl.len()) % 20 >= 15
    data = _read_one({"train": pl.DataFrame(rows).filter(~last), "test": pl.DataFrame(rows).filter(last)})
    finding = finding_of(data, "group-split")
    assert (finding.status, finding.measured) == (Status.NOTED, 300)
    assert finding.cost == pytest.approx(0.3, abs=0.01) if tells else finding.cost == 0


def test_any_column_can_be_the_group(make):
    data = _read_one(_documents(make, column="whatever", apart=True), group="whatever")
    assert data.rows["group"].n_unique() == 30
    with pytest.raises(UnreadableDataError, match="no column 'nothing'"):
        _read_one(_documents(make, apart=True), group="nothing")


def test_few_values_and_single_values_are_no_groups(make):
    """A genre has few values, an id one row each."""
    rows = [{"text": make.sentence(), "label": "ab"[at % 2], "source": f"s{at % 3}", "doc_id": at} for at in range(200)]
    data = _read_one({"test": pl.DataFrame(rows)})
    assert data.rows["group"].is_null().all()
    assert "group" not in data.read.columns


def test_rows_that_are_left_out_of_lines_are_counted_in_the_json(make, write):
    rows = [f"{make.sentence()}\t{'' if at == 3 else label}" for at, label in enumerate(make.labels(20, 2))]
    report = audit(_one(write({"te.txt": rows}) / "te.txt"))
    assert json.loads(report.to_json())["read"]["left_out"] == {"no label": 1}


REPEATS = (
    "gold_name", "rating", "target_class", "polarity", "label_id", "label_text", "class_index", "sentiment", "stars",
    "category", "y_true", "source", "genre", "is_positive", "annotation",
)  # fmt: skip


@pytest.mark.parametrize("column", REPEATS)
@pytest.mark.parametrize("wrong", [0, 2])
def test_a_column_that_repeats_the_label_is_named(make, column, wrong):
    labels = make.labels(200, 2)
    other = ["pos" if label == (n < wrong) else "neg" for n, label in enumerate(labels)]
    rows = {"text": [make.sentence() for _ in labels], "label": labels, column: other, "row": range(200)}
    ((data,), _) = read_frames("data", {"test": pl.DataFrame(rows)}, {}, Reading(label="label"))
    share = f"{(200 - wrong) / 200:.1%}"
    assert f"'{column}' repeats the label in {share} of the rows; it is not used" in data.read.notes
    assert f"neither text nor label: '{column}', 'row'" in data.read.notes


@pytest.mark.parametrize("column", ["topic", "source", "topic_id", "intent_name"])
@pytest.mark.parametrize("wrong", [0, 3])
def test_a_column_that_repeats_many_labels_is_named_and_is_no_group(make, column, wrong):
    """A name of groups, such as `topic`, does not make groups of the classes."""
    labels = make.labels(300, 30)
    other = [f"t{(label + (n < wrong)) % 30}" for n, label in enumerate(labels)]
    rows = {"text": [make.sentence() for _ in labels], "label": labels, column: other}
    ((data,), _) = read_frames("data", {"test": pl.DataFrame(rows)}, {}, Reading(label="label"))
    share = f"{(300 - wrong) / 300:.1%}"
    assert f"'{column}' repeats the label in {share} of the rows; it is not used" in data.read.notes
    assert "group" not in data.read.columns


def test_a_column_that_repeats_a_label_with_numbers_or_truth_values(make):
    labels = make.labels(200, 2)
    rows = {"text": [make.sentence() for _ in labels], "label": labels, "code": [label + 1 for label in labels],
            "flag": [bool(label) for label in labels], "score": [float(label) for label in labels]}  # fmt: skip
    ((data,), _) = read_frames("data", {"test": pl.DataFrame(rows)}, {}, Reading(label="label"))
    for column in ("code", "flag", "score"):
        assert f"'{column}' repeats the label in 100.0% of the rows; it is not used" in data.read.notes


def test_a_column_beside_a_rare_label_does_not_repeat_it(make):
    """A column of one value tells .95 of the labels, as the most frequent label does."""
    rows = {"text": [make.sentence() for _ in range(200)], "label": [n % 20 == 0 for n in range(200)]}
    rows |= {"source": ["web" if n % 3 else "news" for n in range(200)]}
    ((data,), _) = read_frames("data", {"test": pl.DataFrame(rows)}, {}, Reading(label="label"))
    assert not any("repeats" in note for note in data.read.notes)


def test_lists_of_words_beside_a_text_are_asked_about(make):
    """Abstract and keywords (FewCLUE's CSL): without the keywords the label cannot be known."""
    rows = pl.DataFrame({
        "abst": [f"{make.sentence()} {make.sentence()}" for _ in range(40)],
        "keyword": [["uno", "dos"] for _ in range(40)], "label": make.labels(40, 2),
    })  # fmt: skip
    with pytest.raises(
        UnreadableDataError, match=r"'keyword'.* holds lists beside the text 'abst'.*--text abst --text keyword"
    ):
        read_frames("csl", {"test": rows}, {}, Reading())
    for text in (("abst",), ("abst", "keyword")):
        ((data,), _) = read_frames("csl", {"test": rows}, {}, Reading(text=text))
        assert len(data.rows["texts"][0]) == len(text)
    divided = rows.with_columns(keyword=pl.col("abst").str.split(" "))
    ((data,), _) = read_frames("csl", {"test": divided}, {}, Reading())
    assert data.read.columns["text"] == ("abst",)


def test_lists_beside_the_texts_of_a_pair_are_asked_about(make):
    rows = pl.DataFrame({
        "sentence1": [make.sentence() for _ in range(40)], "sentence2": [make.sentence() for _ in range(40)],
        "keywords": [["uno", "dos"] for _ in range(40)], "verdict": make.labels(40, 2),
    })  # fmt: skip
    expected = r"'keywords'.* holds lists beside the texts.*--text sentence2 --text keywords"
    with pytest.raises(UnreadableDataError, match=expected):
        read_frames("pairs", {"test": rows}, {}, Reading())


def test_lists_of_what_annotators_say_are_no_second_input(make):
    labels = [("no", "yes")[label] for label in make.labels(40, 2)]
    rows = {"text": [make.sentence() for _ in labels], "label": labels, "annotators": [[label] * 3 for label in labels]}
    ((data,), _) = read_frames("votes", {"test": pl.DataFrame(rows)}, {}, Reading())
    assert data.read.columns["text"] == ("text",)


def test_the_options_of_the_message_are_taken(make, tmp_path):
    """What an error advises is tried: both ways of reading the data work on the command line."""
    rows = [{"abst": make.sentence(), "keyword": ["uno", "dos"], "label": label} for label in make.labels(40, 2)]
    path = tmp_path / "csl.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    message = str(CliRunner().invoke(app, ["audit", str(path)]).exception)
    assert "\n" not in message
    both, alone = re.findall(r"with ((?:--text \w+ ?)+)", message)
    for options, row in ((both, "pair of texts"), (alone, "single text")):
        done = CliRunner().invoke(app, ["audit", str(path), *options.split()])
        assert f"row:      {row}" in done.stdout


def _with_aspects(make, *, conflicts):
    """Each text with two of its words in turn, as sets of aspects have it; the label is that of the word, or not."""
    rows = []
    for at in range(60):
        words = make.sentence(10, 14).split(" ")
        for turn in range(2):
            label = turn if conflicts and at % 4 == 0 else at % 2
            rows.append({"text": " ".join(words), "label": label, "aspect": words[2 + 3 * turn], "row": len(rows)})
    return pl.DataFrame(rows)


def test_a_word_of_the_text_that_decides_the_label_is_asked_about(make):
    """Of a text with two labels, the word says which is meant: without it the label cannot be known."""
    rows = _with_aspects(make, conflicts=True)
    with pytest.raises(UnreadableDataError, match=r"'aspect'.*which of two labels the text 'text' has.*--text aspect "):
        read_frames("aspects", {"test": rows}, {}, Reading())
    for text in (("text",), ("text", "aspect")):
        ((data,), _) = read_frames("aspects", {"test": rows}, {}, Reading(text=text))
        assert data.read.columns["text"] == text


def test_a_word_of_the_text_that_decides_nothing_is_only_named(make):
    ((data,), _) = read_frames("aspects", {"test": _with_aspects(make, conflicts=False)}, {}, Reading())
    assert data.read.columns["text"] == ("text",)
    assert "neither text nor label: 'aspect', 'row'" in data.read.notes


def test_no_record_of_columns_hides_a_later_one():
    """The first record whose columns are there is used."""
    for at, record in enumerate(published.COLUMNS):
        for earlier in published.COLUMNS[:at]:
            assert not (earlier.required <= record.required and {*record.labels} <= {*earlier.labels}), record.name


def test_patterns_of_lines_have_the_groups_that_are_read():
    for name, form in published.LINES.items():
        groups = set(re.compile(form.pattern).groupindex)
        assert len(groups & {"text", "texts"}) == 1, name
        assert groups <= {"split", "label", "text", "texts", "language", "choices"}, name


def _pair_rows(make, n=30, **columns):
    """Minimal pairs with further columns, which get the number of the row."""
    pairs = [{"sentence_good": make.sentence(), "sentence_bad": make.sentence()} for _ in range(n)]
    return [row | {name: value(at) for name, value in columns.items()} for at, row in enumerate(pairs)]


def _write_json(folder, **files):
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_minimal_pairs_have_groups(make, tmp_path):
    rows = _pair_rows(make, verb=lambda at: f"v{at // 3}")
    data = _one(_write_json(tmp_path, blimp=rows), group="verb")
    assert (data.shape, data.read.format) == (Shape.CHOICE, "minimal pairs, JSON lines")
    assert data.read.columns["group"] == ("verb",)
    assert data.rows["group"].to_list() == [row["verb"] for row in rows]
    assert not data.guessed_groups
    assert _one(tmp_path).rows["group"].null_count() == len(rows)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"group": "doc"}, "no column 'doc'; there are sentence_good, sentence_bad, verb"),
        ({"pair": "verb"}, "a row has both members of a pair: leave out --pair"),
        ({"edited": ("bad",)}, "the columns say which text was edited: leave out --edited"),
        ({"split_names": {"expert": "test"}}, "--split expert=test: nothing has this name; there are blimp"),
    ],
)
def test_options_that_fit_no_minimal_pairs_are_errors(make, tmp_path, options, says):
    folder = _write_json(tmp_path, blimp=_pair_rows(make, verb=lambda at: f"v{at // 3}"))
    with pytest.raises(UnreadableDataError) as raised:
        _one(folder, **options)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_names_of_splits_have_to_be_there(make, write):
    lines = ["text,label,part", *(f'"{make.sentence()}",{at % 2},{"ab"[at % 3 > 1]}' for at in range(60))]
    path = write({"set.csv": lines, "dev_matched.csv": lines, "dev_mismatched.csv": lines})
    named = {"a": "train", "b": "test"}
    assert _one(path / "set.csv", split_column="part", split_names=named).counts == {"train": 40, "test": 20}
    with pytest.raises(UnreadableDataError, match="--split c=validation: nothing has this name; there are a, b"):
        _one(path / "set.csv", split_column="part", split_names={**named, "c": "validation"})
    both = read([path / "dev_matched.csv", path / "dev_mismatched.csv"], Reading(split_names={"dev_matched": "test"}))
    assert len(both[0]) == 1  # a name of one of two files that are read together
    with pytest.raises(
        UnreadableDataError, match="--split dev_mached=test: nothing has this name; there are dev_match"
    ):
        read([path / "dev_matched.csv", path / "dev_mismatched.csv"], Reading(split_names={"dev_mached": "test"}))
    senteval = write(
        {"past.txt": [f"{split}\t{at % 2}\t{make.sentence()}" for split in ("tr", "te") for at in range(9)]}
    )
    with pytest.raises(UnreadableDataError, match="--split x=test: nothing has this name; there are past"):
        _one(senteval / "past.txt", split_names={"x": "test"})


def test_names_of_splits_of_tables_in_memory_have_to_be_there(make):
    frame = pl.DataFrame({"text": [make.sentence() for _ in range(20)], "label": [0, 1] * 10})
    options = Reading(split_names={"test_easy": "test"})
    assert read_frames("set", {"test_easy": frame}, {}, options)[0][0].counts == {"test": 20}
    with pytest.raises(UnreadableDataError, match="--split test_easy=test: nothing has this name; there are test_hard"):
        read_frames("set", {"test_hard": frame, "train": frame}, {}, options)


def test_a_column_of_pairs_has_to_be_there(make, write):
    lines = [f"{split}\t{at % 2}\t{make.sentence()}" for split in ("tr", "te") for at in range(20)]
    with pytest.raises(UnreadableDataError, match="lines without a header have no column 'pair'"):
        _one(write({"past.txt": lines}) / "past.txt", pair="pair")


def test_edited_labels_have_to_be_of_texts(make, write):
    rows = ["premise,choice1,choice2,label", *(f"{make.sentence(4, 5)},a b,c d,{at % 2}" for at in range(30))]
    folder = write({"copa.csv": [row.replace(",", ";").replace(".", "") for row in rows]})
    with pytest.raises(UnreadableDataError, match="the columns say which text was edited: leave out --edited"):
        _one(folder, edited=("1",))


def test_the_label_is_named_where_others_could_be_it(make):
    """Else nobody learns that there are other labels."""
    rows = [{"text": make.sentence(), "label": at % 2, "stance": at % 3, "genre": at % 4} for at in range(120)]
    frame = pl.DataFrame(rows)

    def notes(frame, **options):
        return " ".join(read_frames("set", {"test": frame}, {}, Reading(**options))[0][0].read.notes)

    assert "the label is 'label'; --label names another one: 'stance' (0)" in notes(frame)
    assert "'genre' (" not in notes(frame)
    assert "--label" not in notes(frame, label="label")
    assert "--label" not in notes(frame.with_columns(stance=pl.col("label") + 5))  # the label again


def test_labels_of_single_annotators_are_named(make):
    """As in SNLI: a fifth of the rows has them, one in nine is another label."""
    labels = [make.source.choice("enc") for _ in range(1000)]
    rows = [
        {"text": make.sentence(), "gold_label": label, "label1": label}
        | {f"label{n}": ("enc"[at % 3] if at % 9 == n else label) if at % 5 == 0 else "" for n in range(2, 6)}
        for at, label in enumerate(labels)
    ]
    notes = read_frames("set", {"test": pl.DataFrame(rows)}, {}, Reading())[0][0].read.notes
    for n in range(1, 6):
        assert any(note.startswith(f"'label{n}' repeats the label in ") for note in notes), n


@pytest.mark.parametrize(
    ("labels", "offered"),
    [
        (lambda at, _: at % 2, True),
        (lambda at, _: at % 2 + 1, True),
        (lambda at, _: "AB"[at % 2], True),
        (lambda at, row: row[("good", "other")[at % 2]], True),
        (lambda at, _: ("yes", "no")[at % 2], False),
        (lambda at, _: at % 7, False),
    ],
)
def test_choices_are_offered_where_the_label_can_name_one(make, labels, offered):
    rows = [{"story": make.sentence(), "good": make.sentence(), "other": make.sentence()} for _ in range(60)]
    frame = pl.DataFrame([row | {"label": labels(at, row)} for at, row in enumerate(rows)])
    with pytest.raises(UnreadableDataError, match="Name them in order with --text") as raised:
        read_frames("set", {"test": frame}, {}, Reading(label="label"))
    assert ("or with --choices those of which 'label' says the right one" in str(raised.value)) == offered


def test_two_rows_in_a_row_are_a_pair(make, write):
    """Original and edited version in turn, and no column that says so."""
    originals = [make.sentence(8, 20) for _ in range(60)]
    texts = [text for original in originals for text in (original, original.replace(" ", " qq ", 1))]
    lines = ["text,label", *(f'"{text}",{at % 2}' for at, text in enumerate(texts))]
    data = _one(write({"pairs.csv": lines}))
    assert data.pairs
    assert data.rows["pair_id"].to_list() == [f"test:{at // 2}" for at in range(120)]
    assert any(note.startswith("each two rows are taken as a pair: they share ") for note in data.read.notes)
    make.source.shuffle(texts)
    shuffled = ["text,label", *(f'"{text}",{at % 2}' for at, text in enumerate(texts))]
    assert not _one(write({"pairs.csv": shuffled})).pairs
    alternating = ["text,label", *(f'"{make.sentence()}",{at % 2}' for at in range(120))]
    assert not _one(write({"pairs.csv": alternating})).pairs
    template = ["text,label", *(f'"{originals[0]} {at}",{at % 2}' for at in range(120))]
    assert not _one(write({"pairs.csv": template})).pairs
