"""The same inputs give the same bytes, and a new document leaves the others where they were."""

import os
import shutil
import subprocess
import sys

import pytest
from shared import SAMPLE_LANGUAGES, UD, documents, needs_shared, sample_file

from discoprobe.builders.build import build_all
from discoprobe.builders.config import Config
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import tasks_named
from discoprobe.cards.tables import file_hash
from discoprobe.sources import load_corpus

PROGRAM = [sys.executable, "-m", "discoprobe", "run"]
SOME = ("--task", "discourse,bigram_shift,subj_number,sent_len")
QUICK = (*SOME, "--no-audit")
"""Most builds here go without audit, which depends on the rows alone and takes longest, and have some tasks."""


def hashes(folder):
    """The SHA-256 of every file of a release."""
    return {str(path.relative_to(folder)): file_hash(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def build(out, corpora, *options, cwd, **environment):
    """A build by the real program, in a process and with a cache of its own."""
    named = [part for corpus in corpora for part in ("--corpus", str(corpus))]
    cache = out.with_name(f"{out.name}-cache")
    result = subprocess.run(
        [*PROGRAM, *named, "--out", str(out), *options], check=False, capture_output=True, text=True, cwd=cwd,
        env={**os.environ, "DISCOPROBE_CACHE": str(cache), **environment}, timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return hashes(out)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """Two treebanks of Spanish, one of German and a compressed one of Russian: several languages, files and shards."""
    folder = tmp_path_factory.mktemp("corpora")
    spanish = documents(sample_file("es").read_text(encoding="utf-8"))
    parts = {
        "UD_Spanish-One/es_one-ud-train.conllu": spanish[:20],
        "UD_Spanish-One/es_one-ud-test.conllu": spanish[20:35],
        "UD_Spanish-Two/es_two-ud-test.conllu": spanish[35:],
        "UD_German-One/de_one-ud-test.conllu": documents(sample_file("de").read_text(encoding="utf-8")),
    }
    for name, texts in parts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("".join(texts), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def first_build(corpora, tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    found = build(folder / "release", [corpora], *QUICK, cwd=folder, PYTHONHASHSEED="1")
    assert sum(name.endswith(".parquet") for name in found) >= 3 * 18
    return found


@pytest.mark.slow
def test_all_at_once_with_the_audit(corpora, tmp_path):
    """Twice with everything: other hash seed, number of processes and threads, order of files, folder."""
    files = sorted(corpora.rglob("*.conllu"))
    threads = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    first = build(tmp_path / "one" / "release", files, cwd=tmp_path, PYTHONHASHSEED="1")
    again = build(tmp_path / "two" / "release", files[::-1], "--jobs", "2", cwd=corpora, PYTHONHASHSEED="2", **threads)
    assert again == first
    assert sum(name.endswith("audit.json") for name in first) >= 15


def test_a_second_build_beside_and_one_into_the_same_folder(corpora, first_build, tmp_path):
    assert build(tmp_path / "release", [corpora], *QUICK, cwd=tmp_path) == first_build
    assert build(tmp_path / "release", [corpora], *QUICK, cwd=tmp_path) == first_build


def test_another_hash_seed(corpora, first_build, tmp_path):
    assert build(tmp_path / "release", [corpora], *QUICK, cwd=tmp_path, PYTHONHASHSEED="4242") == first_build


def test_more_jobs(corpora, first_build, tmp_path):
    assert build(tmp_path / "release", [corpora], *QUICK, "--jobs", "3", cwd=tmp_path) == first_build


def test_fewer_threads(corpora, first_build, tmp_path):
    threads = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    assert build(tmp_path / "release", [corpora], *QUICK, cwd=tmp_path, **threads) == first_build


def test_files_in_another_order(corpora, first_build, tmp_path):
    files = sorted(corpora.rglob("*.conllu"))
    assert build(tmp_path / "release", [files[2], files[0], files[3], files[1]], *QUICK, cwd=tmp_path) == first_build


def test_files_and_the_folders_they_are_in(corpora, first_build, tmp_path):
    files = sorted(corpora.rglob("*.conllu"))
    assert (
        build(tmp_path / "release", [files[-1], corpora, corpora / "UD_German-One"], *QUICK, cwd=tmp_path)
        == first_build
    )


def test_another_place_and_working_directory(corpora, first_build, tmp_path):
    elsewhere = tmp_path / "else" / "where"
    shutil.copytree(corpora, elsewhere)
    names = sorted(path.relative_to(elsewhere) for path in elsewhere.rglob("*.conllu"))
    assert build(tmp_path / "release", names, "--lang", "all", *QUICK, cwd=elsewhere) == first_build


def test_other_times_of_files_and_another_locale(corpora, first_build, tmp_path):
    copied = tmp_path / "copied"
    shutil.copytree(corpora, copied, copy_function=shutil.copyfile)
    for path in copied.rglob("*.conllu"):
        os.utime(path, (0, 0))
    environment = {"LC_ALL": "C", "TZ": "Asia/Tokyo", "HOME": str(tmp_path)}
    assert build(tmp_path / "release", [copied], *QUICK, cwd=tmp_path, **environment) == first_build


def test_one_language_after_the_other(corpora, first_build, tmp_path):
    out = tmp_path / "release"
    build(out, [corpora], "--lang", "es", *QUICK, cwd=tmp_path)
    assert build(out, [corpora], "--lang", "de", *QUICK, cwd=tmp_path) == first_build


def test_one_task_after_the_other(corpora, first_build, tmp_path):
    out = tmp_path / "release"
    build(out, [corpora], "--task", "bigram_shift,subj_number,sent_len", "--no-audit", cwd=tmp_path)
    assert build(out, [corpora], "--task", "discourse", "--no-audit", cwd=tmp_path) == first_build


def test_another_seed_is_another_release(corpora, first_build, tmp_path):
    other = build(tmp_path / "release", [corpora], *QUICK, "--seed", "14", cwd=tmp_path)
    assert all(first_build[name] != found for name, found in other.items() if name.endswith(".parquet"))


@needs_shared
@pytest.mark.slow
def test_real_treebanks(tmp_path):
    first = build(tmp_path / "one", [UD / "ca", UD / "hr"], *QUICK, "--jobs", "2", cwd=tmp_path, PYTHONHASHSEED="1")
    assert build(tmp_path / "two", [UD / "hr", UD / "ca"], *QUICK, cwd=tmp_path, PYTHONHASHSEED="2") == first


def built(lang, name, texts, folder):
    """The discourse configs of a corpus of these documents."""
    place = folder / name
    place.mkdir(parents=True)
    (place / f"{lang}_{name}-ud-test.conllu").write_text("".join(texts), encoding="utf-8")
    corpus = load_corpus(str(place))
    return {
        result.task: result
        for result in build_all(tasks_named(["discourse"]), corpus, Settings())
        if isinstance(result, Config)
    }


def rows_by_id(config):
    """The rows by id, each with its split."""
    return {row["id"]: (split, row) for split, table in config.splits.items() for row in table.to_pylist()}


def document_splits(configs):
    found = {}
    for config in configs.values():
        for split, row in rows_by_id(config).values():
            assert found.setdefault(row["doc_id"], split) == split
    return found


def unchanged(before, after):
    """Share of the rows of the smaller corpus that the larger one has too, to the letter and in the same split."""
    old, new = rows_by_id(before), rows_by_id(after)
    return sum(new.get(name) == row for name, row in old.items()) / len(old)


def changed_by_one_document(lang, texts, places, folder):
    """For each task and each document left out at first: the share of rows that stay as they are, and rows."""
    whole = built(lang, "x", texts, folder / "whole")
    shares = {}
    for place in places:
        fewer = built(lang, "x", [text for n, text in enumerate(texts) if n != place], folder / str(place))
        splits, after = document_splits(fewer), document_splits(whole)
        assert all(after.get(document, split) == split for document, split in splits.items())
        for task in fewer.keys() & whole.keys():
            shares[task, place] = unchanged(fewer[task], whole[task]), fewer[task].n_rows
    return shares


ALL_ROWS = 0.95
AT_LEAST = {"nsp_choice": 0.8, "cloze": 0.85, "dc": 0.9, "nsp": 0.9}
"""Of tasks whose few rows compete for the same distractors: a new document's sentences suit some of them better."""


@needs_shared
@pytest.mark.parametrize("lang", ["ca", "es"])
def test_a_new_document_leaves_the_others(lang, tmp_path):
    """On average over ten documents, each new in its turn."""
    path = next((UD / lang).glob("UD_*-AnCora/*.conllu"))
    texts = documents(path.read_text(encoding="utf-8"))
    shares = changed_by_one_document(lang, texts, range(5, 155, 15), tmp_path)
    by_task = {}
    for (task, _), (share, _) in shares.items():
        by_task.setdefault(task, []).append(share)
    assert sum(share * rows for share, rows in shares.values()) >= ALL_ROWS * sum(rows for _, rows in shares.values())
    assert {"sp", "sp_swap", "bso", "so", "dc", "dc_easy", "nsp", "cloze"} <= by_task.keys()
    for task, of_task in by_task.items():
        assert sum(of_task) / len(of_task) >= AT_LEAST.get(task, ALL_ROWS), (task, of_task)


@pytest.mark.parametrize("lang", SAMPLE_LANGUAGES)
def test_a_new_document_in_a_tiny_corpus(lang, tmp_path):
    """With two dozen documents one more is a lot: tasks that match sentences between documents may move further."""
    texts = documents(sample_file(lang).read_text(encoding="utf-8"))
    shares = changed_by_one_document(lang, texts, [0, 9, 17], tmp_path)
    for (task, place), (share, _) in shares.items():
        assert share >= (0.95 if task in {"bso", "so", "sp_swap"} else 0.4), (task, place, share)
