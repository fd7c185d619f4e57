"""`build import`: a labelled set of others becomes an audited config with a card, beside ours in a release folder."""

from __future__ import annotations

import json
import random

import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from typer.testing import CliRunner

from discoprobe.cards.metadata import manifest
from discoprobe.cards.review import read_card
from discoprobe.cli import app
from discoprobe.loaders import DiscoprobeError, OutcomeError

WORDS = [f"{a}{b}{c}" for a in "bdfglmnprst" for b in "aeiou" for c in "klmnrst"]


class Source:
    def __init__(self):
        self.random = random.Random(3)

    def text(self):
        return " ".join(self.random.choices(WORDS, k=self.random.randint(7, 14))).capitalize() + "."


@pytest.fixture
def write(tmp_path):
    def written(name, rows):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(tmp_path / name)

    return written


@pytest.fixture
def command(tmp_path):
    def run(*words):
        out = ["--out", str(tmp_path / "out"), "--lang", "es", "--licence", "CC BY 4.0", "--citation", "Ana 2020"]
        return CliRunner().invoke(app, ["import", *out, *words])

    return run


def test_a_set_without_a_test_split_is_imported(write, command, tmp_path):
    make = Source()
    for split, n in (("train", 200), ("validation", 60)):
        write(f"{split}.jsonl", [{"text": make.text(), "label": "ab"[at % 2]} for at in range(n)])
    done = command(str(tmp_path), "--name", "ours", "--task-type", "single")
    assert done.exit_code == 0, done.output
    assert table(tmp_path, "ours_es", "validation").num_rows == 60


def table(tmp_path, config, split="test"):
    return pq.read_table(tmp_path / "out" / config / f"{split}-00000-of-00001.parquet")


ROWS = {
    "single": lambda make, at: {"text": make.text(), "label": ["mal", "bien"][at]},
    "pair": lambda make, at: {"premise": make.text(), "hypothesis": make.text(), "label": ["no", "si"][at]},
    "choice": lambda make, at: {
        "premise": make.text(), "choice1": make.text(), "choice2": make.text(), "question": "cause", "label": at,
    },
    "similarity": lambda make, _: {
        "sentence1": make.text(), "sentence2": make.text(), "score": round(make.random.uniform(0, 5), 2),
    },
    "minimal-pairs": lambda make, _: {"sentence_good": make.text(), "sentence_bad": make.text()},
}  # fmt: skip


@pytest.mark.parametrize("task_type", list(ROWS))
def test_each_type(task_type, write, command, tmp_path):
    make = Source()
    labels = {split: [at % 2 for at in range(n)] for split, n in (("train", 120), ("test", 60))}
    for of in labels.values():
        make.random.shuffle(of)
    paths = [write(f"{s}.jsonl", [ROWS[task_type](make, at) for at in of]) for s, of in labels.items()]
    done = command(*paths, "--task-type", task_type, "--name", "mine")
    assert done.exception is None, done.stdout
    assert 'load_dataset("' in done.stdout
    entry = manifest.read(tmp_path / "out").configs["mine_es"]
    assert {split: sum(counts.values()) for split, counts in entry.counts.items()} == {
        "train": 120, "test": 60,
    }  # fmt: skip
    loaded = load_dataset(str(tmp_path / "out"), "mine_es", cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": 120, "test": 60}
    assert entry.audit.failed == []
    card = read_card(tmp_path / "out", "mine_es")
    assert "Rows, labels and splits are those of the source" in card
    assert "balanced" not in card
    assert "Ana 2020" in card
    source = next(iter(manifest.read(tmp_path / "out").sources.values()))
    assert (source.licence, sorted(source.files)) == ("CC BY 4.0", ["test.jsonl", "train.jsonl"])
    rows = table(tmp_path, "mine_es").to_pylist()
    written = [json.loads(line) for line in (tmp_path / "test.jsonl").read_text().splitlines()]
    if task_type == "similarity":
        assert [row["score"] for row in rows] == [row["score"] for row in written]
    if task_type == "single":
        assert [row["text"] for row in rows] == [row["text"] for row in written]
    if task_type == "minimal-pairs":
        assert [row["choices"][row["label"]] for row in rows] == [row["sentence_good"] for row in written]
    again = CliRunner().invoke(app, ["audit", str(tmp_path / "out" / "mine_es"), "--json"])
    assert again.exception is None, again.stdout
    assert json.loads(again.stdout)["skipped"] == []


def test_leaks_are_reported_and_dropped(write, command, tmp_path):
    make = Source()
    rows = [{"text": make.text(), "label": label} for label in [0, 1] * 60]
    make.random.shuffle(rows)
    test = rows[100:]
    train = [*rows[:100], *test[:3], {"text": test[3]["text"] + " Si.", "label": test[3]["label"]}, rows[0]]
    paths = [write("train.jsonl", train), write("test.jsonl", test)]
    call = (*paths, "--task-type", "single", "--name", "mine")
    done = command(*call, "--strict")
    assert isinstance(done.exception, OutcomeError)
    assert not (tmp_path / "out" / "mine_es").exists()
    done = command(*call)
    assert done.exception is None, done.stdout
    assert "dup-across" in read_card(tmp_path / "out", "mine_es")
    done = command(*call, "--drop-leaks")
    assert done.exception is None, done.stdout
    entry = manifest.read(tmp_path / "out").configs["mine_es"]
    assert entry.drops == {"dup-across": 3, "near-dup": 1, "dup-within": 1}
    assert (table(tmp_path, "mine_es", "train").num_rows, table(tmp_path, "mine_es").num_rows) == (100, 20)
    assert "left out for dup-across: 3 rows" in done.stdout


def test_rows_that_share_sentences_stay_together(write, command, tmp_path):
    """Where more than a tenth of a split leaks, nothing is left out; the splits can be divided again."""
    make = Source()
    sentences = [make.text() for _ in range(60)]
    rows = [  # each sentence is in three pairs, as in SICK: chains of five sentences
        {"sentence1": sentences[at], "sentence2": sentences[at // 5 * 5 + (at + step) % 5], "score": at * step / 30}
        for at in range(60) for step in (1, 2, 3)
    ]  # fmt: skip
    make.random.shuffle(rows)
    paths = [write("train.jsonl", rows[:120]), write("test.jsonl", rows[120:])]
    call = (*paths, "--task-type", "similarity", "--name", "mine")
    done = command(*call, "--drop-leaks")
    assert "of the 120 different rows of train, more than a tenth" in str(done.exception)
    assert "--regroup" in str(done.exception)
    assert not (tmp_path / "out").exists()
    done = command(*call, "--regroup")
    assert done.exception is None, done.stdout
    parts = {split: table(tmp_path, "mine_es", split).to_pylist() for split in ("train", "test")}
    assert {split: len(of) for split, of in parts.items()} == {"train": 120, "test": 60}
    used = [{row[f"sentence{n}"] for row in of for n in (1, 2)} for of in parts.values()]
    assert not used[0] & used[1]
    assert sorted(row["score"] for of in parts.values() for row in of) == sorted(row["score"] for row in rows)
    card = read_card(tmp_path / "out", "mine_es")
    assert "12 groups, the largest has 15 rows" in " ".join(card.split())
    assert "Rows and labels are those of the source" in card
    entry = manifest.read(tmp_path / "out").configs["mine_es"]
    assert not {"sentence-leak", "dup-across", "near-dup"} & {*entry.audit.failed}


def test_what_is_divided_again_has_each_row_once(write, command, tmp_path):
    """Advice is to be of use: where rows repeat in a split, the divided ones do not."""
    make = Source()
    rows = [{"text": make.text(), "label": label} for label in [0, 1] * 60]
    make.random.shuffle(rows)
    paths = [write("train.jsonl", [*rows[:80], *rows[:30]]), write("test.jsonl", rows[80:])]
    call = (*paths, "--task-type", "single", "--name", "mine")
    assert command(*call).exception is None
    assert "dup-within" in manifest.read(tmp_path / "out").configs["mine_es"].audit.failed
    done = command(*call, "--regroup")
    assert done.exception is None, done.stdout
    entry = manifest.read(tmp_path / "out").configs["mine_es"]
    assert sum(sum(labels.values()) for labels in entry.counts.values()) == 120
    assert entry.drops == {"dup-within": 30}
    assert not {"dup-within", "dup-across", "sentence-leak", "near-dup"} & {*entry.audit.failed}


def test_overlap_is_no_fault_where_texts_are_compared(write, command, tmp_path):
    make = Source()
    rows = []
    for at in range(300):
        words = make.text()[:-1].split()
        others = make.text()[:-1].split()
        rows.append(
            {"premise": " ".join(words), "hypothesis": " ".join(words[:-1] if at % 2 else others), "label": at % 2}
        )
    make.random.shuffle(rows)
    call = (
        write("test.jsonl", rows),
        "--name",
        "mine",
        "--text",
        "premise",
        "--text",
        "hypothesis",
        "--label",
        "label",
    )
    exempt, words = {}, {}
    for task_type in ("pair", "paraphrase", "entailment"):
        done = command(*call, "--task-type", task_type, "--json")
        assert done.exception is None, done.stdout
        exempt[task_type] = {*manifest.read(tmp_path / "out").configs["mine_es"].audit.exempt}
        (report,) = json.loads(done.stdout)["data"]
        words[task_type] = {f["status"] for f in report["findings"] if f["check"] in {"overlap", "similarity"}}
    assert exempt == {"pair": set(), "paraphrase": {"overlap", "similarity"}, "entailment": set()}
    assert words == {"pair": {"above"}, "paraphrase": {"exempt"}, "entailment": {"noted"}}


@pytest.mark.parametrize("licence", ["", "mine", "CC BY 9.9", "CC BY 4.0 (but ask us)"])
def test_a_licence_is_one(licence, write, command, tmp_path):
    path = write("test.jsonl", [{"text": Source().text(), "label": at % 2} for at in range(20)])
    done = command(path, "--task-type", "single", "--name", "mine", "--licence", licence)
    assert f"unknown licence '{licence}'" in str(done.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task-type", "pair", "--name", "mine"], "a row holds one text, which does not fit --task-type pair"),
        (["--task-type", "pears", "--name", "mine"], "did you mean pair"),
        (["--task-type", "single", "--name", "dc"], "cannot name a config"),
        (["--task-type", "single", "--name", "Mine!"], "cannot name a config"),
        (["--task-type", "single", "--name", "mine", "--lang", "spanisch"], "'spanisch' is not a language code"),
        (["--task-type", "single", "--name", "mine", "--lang", "xx"], "'xx' is not a language code"),
    ],
)
def test_what_cannot_be_imported(words, message, write, command, tmp_path):
    path = write("test.jsonl", [{"text": Source().text(), "label": at % 2} for at in range(20)])
    done = command(path, *words)
    assert isinstance(done.exception, DiscoprobeError)
    assert message in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_two_data_sets_at_once(write, command):
    paths = [write(f"{name}.jsonl", [{"text": Source().text(), "label": at % 2} for at in range(9)]) for name in "ab"]
    done = command(*paths, "--task-type", "single", "--name", "mine")
    assert "2 datasets (a, b); import them one by one" in str(done.exception)


def test_beside_configs_of_ours(write, command, tmp_path):
    built = CliRunner().invoke(
        app,
        ["run", "--lang", "es", "--corpus", "sample", "--task", "bso", "--no-audit", "--out", str(tmp_path / "out")],
    )
    assert built.exception is None
    make = Source()
    rows = [{"text": make.text(), "label": label} for label in [0, 1] * 40]
    make.random.shuffle(rows)
    done = command(write("test.jsonl", rows), "--task-type", "single", "--name", "mine")
    assert done.exception is None, done.stdout
    assert set(manifest.read(tmp_path / "out").configs) == {"bso_es", "mine_es"}
