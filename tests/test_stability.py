"""The same inputs give the same bytes, and a new document leaves the others where they were."""

import os
import shutil

import numpy as np
import polars as pl
import pytest
from shared import SAMPLE_LANGUAGES, UD, documents, needs_shared, run_in_process, sample_file

from discoprobe.builders import Config, Settings, all_tasks, build_all, tasks_named
from discoprobe.loaders import hashes_of
from discoprobe.sources import load_corpus

SOME = ("--task", "discourse,bigram_shift,subj_number,sent_len", "--no-audit")
"""Most builds here go without audit, which depends on the rows alone and takes longest, and have some tasks."""
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def hashes(folder):
    """The SHA-256 of every file of a release."""
    return {
        str(path.relative_to(folder)): hashes_of(path).sha256 for path in sorted(folder.rglob("*")) if path.is_file()
    }


@pytest.fixture
def build(process):
    """A function: a build by the real program, in a process and with a cache of its own; gives `hashes`."""

    def run(out, corpora, *options, cwd, **environment):
        named = [part for corpus in corpora for part in ("--corpus", corpus)]
        cache = out.with_name(f"{out.name}-cache")
        done = process(
            "run",
            *named,
            "--min-rows",
            "0",
            "--out",
            out,
            *options,
            cwd=cwd,
            DISCOPROBE_CACHE=str(cache),
            **environment,
        )
        assert done.returncode == 0, done.stderr
        return hashes(out)

    return run


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """Two treebanks of Spanish and one of German: several languages, files and shards."""
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
    """A plain build, in this process."""
    folder = tmp_path_factory.mktemp("first")
    done = run_in_process("run", "--corpus", corpora, "--out", folder / "release", "--min-rows", "0", *SOME)
    assert done.returncode == 0, done.stderr
    found = hashes(folder / "release")
    assert sum(name.endswith(".parquet") for name in found) >= 3 * 18
    return found


def test_nothing_but_the_inputs_matters(corpora, first_build, build, tmp_path):
    """Neither hash seed, processes, threads, order of files, place, times of files, locale nor working directory."""
    elsewhere = tmp_path / "else" / "where"
    shutil.copytree(corpora, elsewhere, copy_function=shutil.copyfile)
    names = sorted(path.relative_to(elsewhere) for path in elsewhere.rglob("*.conllu"))
    for name in names:
        os.utime(elsewhere / name, (0, 0))
    environment = {"LC_ALL": "C", "TZ": "Asia/Tokyo", "HOME": str(tmp_path), "PYTHONHASHSEED": "4242", **ONE_THREAD}
    mixed = [names[2], names[0], names[3], names[1]]
    assert mixed != names
    assert build(tmp_path / "release", mixed, *SOME, "--jobs", "2", cwd=elsewhere, **environment) == first_build


def test_one_language_and_one_task_after_the_other_and_all_again(corpora, first_build, tmp_path):
    """Into one folder; files are named beside the folders they are in."""
    out, file = tmp_path / "release", next(corpora.rglob("*two*.conllu"))
    for options in (
        ("--lang", "es", "--task", "bigram_shift,subj_number,sent_len"),
        ("--lang", "es", "--task", "discourse"),
        ("--lang", "de", *SOME[:2]),
        SOME[:2],
    ):
        named = ("--corpus", file, "--corpus", corpora, "--corpus", corpora / "UD_German-One")
        done = run_in_process("run", *named, *options, "--min-rows", "0", "--no-audit", "--out", out)
        assert done.returncode == 0, done.stderr
    assert hashes(out) == first_build


def test_another_seed_is_another_release(corpora, first_build, tmp_path):
    done = run_in_process(
        "run", "--corpus", corpora, "--out", tmp_path / "release", "--min-rows", "0", *SOME, "--seed", "14"
    )
    assert done.returncode == 0, done.stderr
    other = {name: found for name, found in hashes(tmp_path / "release").items() if name.endswith(".parquet")}
    assert len(other) >= 3 * 18
    assert [name for name, found in other.items() if first_build.get(name) == found] == []


def test_another_seed_makes_other_choices_in_the_same_passages(corpus_of):
    """Not only other splits: passages are cut and shuffled otherwise."""
    orders = []
    for seed in (13, 14):
        (config,) = build_all(tasks_named(["so"]), corpus_of("sample", "es"), Settings(seed=seed))
        rows = [row for table in config.splits.values() for row in table.to_pylist()]
        orders.append({(row["pair_id"], *row["order"]) for row in rows if row["label"] == 1})
    assert min(map(len, orders)) >= 20
    assert len(orders[0] & orders[1]) < len(orders[0]) / 2


@pytest.mark.slow
def test_all_tasks_with_the_audit(corpora, build, tmp_path):
    """Of two treebanks of one language; what a config says does not depend on other languages (above)."""
    files = sorted(corpora.rglob("es_*.conllu"))
    first = build(tmp_path / "one" / "release", files, cwd=tmp_path, PYTHONHASHSEED="1")
    again = build(
        tmp_path / "two" / "release", files[::-1], "--jobs", "2", cwd=corpora, PYTHONHASHSEED="2", **ONE_THREAD
    )
    assert again == first
    audits = (tmp_path / "one" / "release" / "audits").iterdir()
    assert sum(pl.read_parquet(path).height for path in audits) >= 15


@needs_shared
@pytest.mark.slow
def test_real_treebanks(build, tmp_path):
    first = build(tmp_path / "one", [UD / "ca", UD / "hr"], *SOME, "--jobs", "2", cwd=tmp_path, PYTHONHASHSEED="1")
    assert build(tmp_path / "two", [UD / "hr", UD / "ca"], *SOME, cwd=tmp_path, PYTHONHASHSEED="2") == first


def built(lang, name, texts, folder):
    """The discourse configs of a corpus of these documents, which is no copy of one that is known by its content."""
    place = folder / name
    place.mkdir(parents=True)
    (place / f"{lang}_{name}-ud-test.conllu").write_text("".join(texts) + "\n", encoding="utf-8")
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


def unchanged(before, after, documents):
    """Share of these documents' rows that the larger corpus has too, same in text and split; and their number."""
    old, new = rows_by_id(before), rows_by_id(after)
    old = {name: found for name, found in old.items() if found[1]["doc_id"] in documents}
    return sum(new.get(name) == found for name, found in old.items()) / len(old), len(old)


def changed_by_one_document(lang, texts, places, folder, moving=0.0):
    """For each task and each document left out at first: the share of rows that stay as they are, and rows.

    At most the share ``moving`` of the documents may change their split; only the rows of the others are compared.
    """
    whole = built(lang, "x", texts, folder / "whole")
    shares = {}
    for place in places:
        fewer = built(lang, "x", [text for n, text in enumerate(texts) if n != place], folder / str(place))
        splits, after = document_splits(fewer), document_splits(whole)
        assert splits
        staying = {document for document, split in splits.items() if after.get(document, split) == split}
        assert len(staying) >= (1 - moving) * len(splits), (place, splits.keys() - staying)
        for task in fewer.keys() & whole.keys():
            shares[task, place] = unchanged(fewer[task], whole[task], staying)
    return shares


ALL_ROWS = 0.95
AT_LEAST = {"nsp_choice": 0.75, "cloze": 0.8, "dc": 0.9, "nsp": 0.9, "sp": 0.9}
"""Of tasks whose few rows compete for the same distractors: a new document's sentences suit some of them better.
In `sp` the remainders of length strata get labels together, so that one more row can change labels of others."""


@needs_shared
@pytest.mark.parametrize("lang", ["ca", "es"])
def test_a_new_document_leaves_the_others(lang, tmp_path):
    """On average over ten documents, each new in its turn.

    A corpus of 150 documents is small (`sampling.splits.LARGE`): a new document may move a few others to another split.
    """
    path = next((UD / lang).glob("UD_*-AnCora/*.conllu"))
    texts = documents(path.read_text(encoding="utf-8"))
    shares = changed_by_one_document(lang, texts, range(5, 155, 15), tmp_path, moving=0.03)
    by_task = {}
    for (task, _), (share, _) in shares.items():
        by_task.setdefault(task, []).append(share)
    assert sum(share * rows for share, rows in shares.values()) >= ALL_ROWS * sum(rows for _, rows in shares.values())
    assert {"sp", "sp_swap", "bso", "so", "dc", "nsp", "cloze"} <= by_task.keys()
    for task, of_task in by_task.items():
        assert sum(of_task) / len(of_task) >= AT_LEAST.get(task, ALL_ROWS), (task, of_task)


@pytest.mark.parametrize("lang", SAMPLE_LANGUAGES)
def test_a_new_document_in_a_tiny_corpus(lang, tmp_path):
    """Few documents change their split, and the rows of the others stay, on average over three documents.

    In corpora of fewer than 2,000 windows every split gets its share of the windows, so a new document may move others:
    here at most a tenth. In larger corpora none moves (`test_a_new_document_leaves_the_others`). With three dozen
    documents one more is a lot: tasks that match sentences between documents may change further, `nsp_choice` with its
    dozen rows and three distractors each most of all.
    """
    texts = documents(sample_file(lang).read_text(encoding="utf-8"))
    shares = changed_by_one_document(lang, texts, [0, 9, 17], tmp_path, moving=0.1)
    assert {task for task, _ in shares} >= {"bso", "so", "sp_swap", "dc"}
    of_choice = [shares.pop(key)[0] for key in list(shares) if key[0] == "nsp_choice"]
    assert sum(of_choice) >= 0.4 * len(of_choice)
    by_task = {}
    for (task, _), (share, _) in shares.items():
        by_task.setdefault(task, []).append(share)
    for task, of_task in by_task.items():
        assert sum(of_task) / len(of_task) >= (0.95 if task in {"bso", "so", "sp_swap"} else 0.6), (task, of_task)


@pytest.mark.parametrize("lang", SAMPLE_LANGUAGES)
def test_rows_do_not_depend_on_the_last_bits_of_a_logarithm(lang, monkeypatch):
    """With the logarithms of AVX-512, bigram_shift_de had other rows than with those of AVX2."""

    def rows():
        configs = build_all(list(all_tasks().values()), load_corpus(lang, ["sample"]), Settings())
        return {
            config.name: [table.to_pylist() for table in config.splits.values()]
            for config in configs
            if isinstance(config, Config)
        }

    def round_differently(function):
        def rounded(values):
            results = function(values)
            bits = np.asarray(values, np.float64).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            return np.multiply(results, 1 + ((bits >> np.uint64(61)).astype(np.int64) % 5 - 2) * np.finfo(float).eps)

        return rounded

    before = rows()
    for name in ("log", "log1p", "exp", "sin"):
        monkeypatch.setattr(np, name, round_differently(getattr(np, name)))
    assert rows() == before
