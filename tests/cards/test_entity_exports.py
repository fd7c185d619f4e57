"""Exports of tasks on entities: lm-eval and lighteval get the questions, choices and pairs of the rows."""

import json

import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_dataset
from made_sentences import document
from shared import UD, needs_shared

from discoprobe.builders import Config, Settings, build_all, tasks_named
from discoprobe.cards.release import open_release
from discoprobe.cards.release.export import export
from discoprobe.sources import load_corpus

TASKS = ("same_entity", "given_new", "salience", "bridging_choice", "antecedent_suite", "remention_suite")

pytestmark = [needs_shared, pytest.mark.slow]


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "entities"
    story = ("{a} came home late.", "She:a slept.", "{b} sang very loud.", "She:b left.", "{c} laughed aloud.")
    names = [("Anna", "Berta"), ("Clara", "Dora"), ("Emma", "Fanny"), ("Gerda", "Hilda")]
    made_texts = [
        document(n, [text.replace("{c}", ("{a}", "{b}")[n % 2]) for text in story], a=a, b=b)
        for n, (a, b) in enumerate(names)
    ]
    own = tmp_path_factory.mktemp("own")  # GUM has too few names for antecedent_suite
    (own / "en_made-ud-test.conllu").write_text("".join(made_texts), encoding="utf-8")
    corpus = load_corpus("en", [str(UD / "en" / "GUM-open"), str(own)])
    with open_release(folder) as made:
        made.add_corpus(corpus)
        for result in build_all(tasks_named(TASKS), corpus, Settings(min_class=2, match=False)):
            if isinstance(result, Config):
                made.add(result)
        made.finish()
    return folder


@pytest.fixture(scope="module")
def rows(release):
    """The rows of the test split, by task."""
    found = {
        path.parent.name.removesuffix("_en"): pq.read_table(path).to_pylist()
        for path in sorted(release.glob("*/test-*.parquet"))
    }
    assert found.keys() == set(TASKS)
    return found


def shown(task, row):
    """What a harness shows of a row: the text before, the choices, and which is right."""
    if task.endswith("_suite"):
        return "", [row["sentence_good"], row["sentence_bad"]], 0
    if task == "bridging_choice":
        return " ".join(row["context"]), row["choices"], row["label"]
    return f"{row['passage']} {row['question']}", row["answers"], row["label"]


@pytest.mark.parametrize("task", TASKS)
def test_lm_eval_shows_what_the_rows_have(release, rows, tmp_path, task):
    export(release, tmp_path / "out", "lm-eval")
    described = yaml.safe_load((tmp_path / "out" / f"{task}_en.yaml").read_text(encoding="utf-8"))
    file = tmp_path / "out" / described["dataset_kwargs"]["data_files"]["test"]
    loaded = load_dataset("json", data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))
    lines = [
        ("", [line["sentence_good"], line["sentence_bad"]], described["doc_to_target"])
        if task.endswith("_suite")
        else (line["context"], line["choices"], line["label"])
        for line in loaded
    ]
    assert lines == [shown(task, row) for row in rows[task]]


@pytest.mark.parametrize("task", TASKS)
def test_lighteval_shows_what_the_rows_have(release, rows, tmp_path, task):
    export(release, tmp_path / "out", "lighteval")
    text = (tmp_path / "out" / f"{task}_en" / "test.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    expected = [shown(task, row) for row in rows[task]]
    assert [
        (line["query"], [choice.strip() for choice in line["choices"]], line["label"]) for line in lines
    ] == expected
