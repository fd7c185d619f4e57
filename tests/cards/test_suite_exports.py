"""Exports of suites, read as their harnesses read them: SyntaxGym's grammar, and BLiMP and lm-eval with `datasets`."""

import pyarrow.parquet as pq
import pytest
import syntaxgym_files
import yaml
from datasets import load_dataset
from shared import SAMPLE_LANGUAGES

from discoprobe.builders import Config, Settings, build_all, tasks_named
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import open_release
from discoprobe.cards.release.export import export

SENTENCES = tuple(f"sentence {n}" for n in range(1, 6))
EDITED = ("before", "edit", "after")
NAMES = {
    "agreement_suite": EDITED, "connective_suite": EDITED, "order_all": SENTENCES, "order_context": SENTENCES,
    "cloze_suite": SENTENCES,
}  # fmt: skip


@pytest.fixture(scope="module")
def release(corpus_of, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "suites"
    with open_release(folder) as made:
        for lang in SAMPLE_LANGUAGES:
            corpus = corpus_of("sample", lang)
            made.add_corpus(corpus)
            for result in build_all(tasks_named(["suites"]), corpus, Settings(min_class=2)):
                if isinstance(result, Config):
                    made.add(result)
        made.finish()
    return folder


@pytest.fixture(scope="module")
def rows(release):
    """The rows of every suite, by config."""
    found = {path.parent.name: pq.read_table(path).to_pylist() for path in sorted(release.glob("*/test-*.parquet"))}
    assert {name.rpartition("_")[0] for name in found} >= {"order_all", "order_context", "cloze_suite"}
    return found


def test_syntaxgym_reads_every_suite(release, rows, tmp_path):
    export(release, tmp_path / "out", "syntaxgym")
    for name, pairs in rows.items():
        suite, trees = syntaxgym_files.read(tmp_path / "out" / f"{name}.json")
        assert tuple(suite["region_meta"].values()) == NAMES[name.rpartition("_")[0]]
        assert len(suite["items"]) == len(pairs)
        assert len(trees) == 1 + (pairs[0]["region"] > 0)
        for item, row in zip(suite["items"], pairs, strict=True):
            texts = {part["condition_name"]: [one["content"] for one in part["regions"]] for part in item["conditions"]}
            assert texts == {"original": row["regions_good"], "edited": row["regions_bad"]}
            for bits, right in ((1.0, True), (-1.0, False)):
                surprisals = {"original": [0.0] * len(texts["original"]), "edited": [bits] * len(texts["edited"])}
                assert all(syntaxgym_files.value(tree, surprisals) == right for tree in trees)


@pytest.mark.parametrize(
    "formula", ["(2;%edited%) > ", "(x;%edited%) > (2;%original%)", "(2;%edited) > (2;%original%)", "(1;%a%) (2;%b%)"]
)
def test_what_is_not_in_the_grammar_is_refused(formula):
    with pytest.raises((AssertionError, IndexError)):
        syntaxgym_files.parse(formula)


def test_blimp_and_lm_eval_files_load_with_datasets(release, rows, tmp_path):
    labels = {name: entry.labels for name, entry in manifest.read(release).configs.items()}
    for form in ("blimp", "lm-eval"):
        export(release, tmp_path / form, form)
    for name, pairs in rows.items():
        task = yaml.safe_load((tmp_path / "lm-eval" / f"{name}.yaml").read_text(encoding="utf-8"))
        files = {"blimp": f"{name}.jsonl", "lm-eval": task["dataset_kwargs"]["data_files"][task["test_split"]]}
        for form, file in files.items():
            loaded = load_dataset(
                "json", data_files=str(tmp_path / form / file), split="train", cache_dir=str(tmp_path / "cache")
            )
            assert [(line["sentence_good"], line["sentence_bad"]) for line in loaded] == [
                (row["sentence_good"], row["sentence_bad"]) for row in pairs
            ]
            assert set(loaded["UID"]) == {name}
            assert list(loaded["pair_id"]) == [row["pair_id"] for row in pairs]
            assert list(loaded["condition"]) == [labels[name][row["label"]] for row in pairs]
            assert set(loaded["field"]) == {"sentence" if NAMES[name.rpartition("_")[0]] == EDITED else "discourse"}
        assert (task["doc_to_target"], task["doc_to_choice"]) == (0, "{{[sentence_good, sentence_bad]}}")
