"""Documents and sentences are known by their content: no name of a folder, or of a corpus, changes a choice.

And what is in the corpora twice is used once.
"""

import itertools
import shutil
from collections import Counter

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from discourse_corpora import write_many, write_trees
from made_sentences import stories
from shared import SHARED, SMALL_CLASSES, UD, documents, needs_shared, sample_file

from discoprobe.builders import Config, Settings, Unavailable, all_tasks, build_all, tasks_named, trace
from discoprobe.builders.audit import INTEGRITY, from_config
from discoprobe.builders.drops import COPY
from discoprobe.loaders import keys_of
from discoprobe.sources import load_corpus

BLOCKS = msgspec.structs.replace(SMALL_CLASSES, block=5000, sizes=(55_000, 15_000, 30_000))
"""About ten documents of the sample are a block."""
ONE_BLOCK = SMALL_CLASSES
WIKIPEDIA = SHARED / "corpora" / "hub" / "wiki_de"
LEAKS = ("dup-within", "dup-across", "sentence-leak", "group-split", "pair-split", "near-dup")


def configs_of(corpus, tasks, settings):
    """The configs that can be built, by task."""
    results = build_all(tasks_named(tasks), corpus, settings)
    return {result.task: result for result in results if isinstance(result, Config)}


def rows_of(config, *left_out):
    """All rows, with their splits, without the columns that name a corpus."""
    return {
        split: table.drop_columns([*{"corpus", *left_out} & set(table.column_names)]).to_pylist()
        for split, table in config.splits.items()
    }


def assert_equal(configs, others, tasks, *left_out):
    assert configs.keys() == others.keys() >= set(tasks)
    for task, config in configs.items():
        assert rows_of(config, *left_out) == rows_of(others[task], *left_out), task
        assert config.drops == others[task].drops, task


def problems(config):
    data = from_config(config)
    return {name: INTEGRITY[name](data).measured for name in LEAKS if INTEGRITY[name](data).measured}


@pytest.fixture
def two_corpora(tmp_path):
    """Two folders of files without a name in Universal Dependencies, so that the folders name the corpora."""
    texts = documents(sample_file("es").read_text(encoding="utf-8"))
    for name, part in (("first/a", texts[:20]), ("second/b", texts[20:])):
        path = tmp_path / "corpora" / f"{name}.conllu"
        path.parent.mkdir(parents=True)
        path.write_text("".join(part), encoding="utf-8")
    return tmp_path / "corpora"


@pytest.mark.parametrize("settings", [ONE_BLOCK, BLOCKS], ids=["one block", "blocks"])
def test_renamed_folders_give_the_same_rows(two_corpora, tmp_path, settings):
    """At another depth, with other names, in another order; every row is the same, and its id."""
    elsewhere = tmp_path / "z" / "deep" / "er"
    for old, new in (("first", "zebra"), ("second", "ape")):
        shutil.copytree(two_corpora / old, elsewhere / new)
    tasks = [name for name, task in all_tasks().items() if not task.conditions and task.shape.value != "mentions"]
    both = [load_corpus("es", [str(folder)]) for folder in (two_corpora, elsewhere)]
    assert [[source.name for source in corpus.sources] for corpus in both] == [["first", "second"], ["ape", "zebra"]]
    before, after = (configs_of(corpus, tasks, settings) for corpus in both)
    assert_equal(before, after, ("bso", "so", "dc", "nsp", "sent_len", "subj_number"))
    assert {row["corpus"] for table in after["bso"].splits.values() for row in table.to_pylist()} == {"ape", "zebra"}


@pytest.mark.parametrize(
    "settings", [ONE_BLOCK, msgspec.structs.replace(ONE_BLOCK, block=20_000)], ids=["one", "blocks"]
)
def test_renamed_folders_of_relations_trees_and_entities_give_the_same_rows(tmp_path, settings):
    home = tmp_path / "home"
    home.mkdir()
    write_trees(write_many(home, "eng.pdtb.made", 40), 40)
    (home / "tales").mkdir()
    (home / "tales" / "all.conllu").write_text("".join(stories("en")), encoding="utf-8")
    away = tmp_path / "x" / "y"
    shutil.copytree(home, away)
    (away / "en").rename(away / "trees")
    (away / "tales").rename(away / "a")
    tasks = ("dr", "dr_tree", "connective", "remention_suite")
    before, after = (configs_of(load_corpus("en", [str(folder)]), tasks, settings) for folder in (home, away))
    assert_equal(before, after, tasks)


@needs_shared
@pytest.mark.slow
def test_a_renamed_treebank_with_entities_gives_the_same_rows(tmp_path):
    shutil.copytree(UD / "en" / "GUM-open", tmp_path / "a" / "other", copy_function=shutil.copyfile)
    tasks = ("same_entity", "given_new", "salience", "bridging_choice")
    folders = (UD / "en" / "GUM-open", tmp_path / "a" / "other")
    before, after = (configs_of(load_corpus("en", [str(folder)]), tasks, Settings()) for folder in folders)
    assert_equal(before, after, ("given_new", "salience"))


def write_parquet(path, texts, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"text": texts, **columns}), path, row_group_size=4)


def plain_texts():
    """The documents of the sample as text."""
    parts = documents(sample_file("es").read_text(encoding="utf-8"))
    return [
        " ".join(line.partition("= ")[2] for line in part.split("\n") if line.startswith("# text =")) for part in parts
    ]


@pytest.mark.parametrize("settings", [ONE_BLOCK, BLOCKS], ids=["one block", "blocks"])
@pytest.mark.parametrize("with_ids", [True, False])
def test_text_in_parquet_files_gives_the_same_rows_from_above(tmp_path, settings, with_ids):
    """Named by a folder above it, or by its own; ids that are made of the names of files then differ."""
    texts, folder = plain_texts(), tmp_path / "above" / "within" / "text"
    for number, part in enumerate((texts[:16], texts[16:])):
        ids = {"id": [f"{number}-{n}" for n in range(len(part))]} if with_ids else {}
        write_parquet(folder / f"{number}.parquet", part, **ids)
    tasks = ("bso", "so", "dc", "nsp")
    before, after = (
        configs_of(load_corpus("es", [str(place)], segment=True), tasks, settings)
        for place in (tmp_path / "above", folder)
    )
    assert_equal(before, after, ("bso", "so"), *(() if with_ids else ("doc_id", "sent_ids")))
    assert [config.notes for config in before.values()] == [config.notes for config in after.values()]


@pytest.mark.skipif(not WIKIPEDIA.is_dir(), reason="no ../shared with texts of the Hub beside the repository")
@pytest.mark.slow
def test_wikipedia_gives_the_same_rows_from_a_folder_above():
    settings = Settings(sizes=(600, 100, 100), block=2**20)
    before, after = (
        configs_of(load_corpus("de", [str(folder)], segment=True), ["dc"], settings)
        for folder in (WIKIPEDIA, WIKIPEDIA / "data")
    )
    assert_equal(before, after, ["dc"])
    assert before["dc"].n_rows > 700


@pytest.mark.parametrize("settings", [ONE_BLOCK, BLOCKS], ids=["one block", "blocks"])
def test_what_two_corpora_have_is_used_once(two_corpora, tmp_path, settings):
    """The rows are those of one copy, and the copies of documents are counted as dropped."""
    again = tmp_path / "again"
    shutil.copytree(two_corpora / "first", again)
    tasks = ("bso", "so", "dc", "nsp", "sent_len", "bigram_shift", "subj_number", "somo", "dconn")
    once = configs_of(load_corpus("es", [str(two_corpora)]), tasks, settings)
    twice = configs_of(load_corpus("es", [str(two_corpora), str(again)]), tasks, settings)
    assert {"bso", "so", "dc", "sent_len"} <= twice.keys()
    for task, config in twice.items():
        assert problems(config) == {}, task
        ids = Counter(row["id"] for table in config.splits.values() for row in table.to_pylist())
        assert set(ids.values()) == {1}, task
    for task in ("bso", "sent_len"):
        assert twice[task].drops[COPY] > 0, task
        assert COPY not in once[task].drops
        assert "twice" in twice[task].meanings[COPY]
    if settings is ONE_BLOCK:  # else blocks begin and end with other parts
        for task in ("bso", "so", "dc", "nsp"):
            assert rows_of(twice[task]) == rows_of(once[task]), task


def test_a_document_that_a_corpus_has_twice_is_used_once(tmp_path):
    """Documents without an id, in one file: their texts alone say that they are the same."""
    texts = documents(sample_file("es").read_text(encoding="utf-8"))
    plain = ["\n".join(["# newdoc", *text.split("\n")[1:]]) for text in texts]
    configs = []
    for name, parts in (("once", plain), ("twice", [*plain, *plain[:12]])):
        numbers = itertools.count()
        lines = "".join(parts).split("\n")
        named = [f"# sent_id = s{next(numbers)}" if line.startswith("# sent_id") else line for line in lines]
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.conllu").write_text("\n".join(named), encoding="utf-8")
        corpus = load_corpus("es", [str(tmp_path / name)])
        configs.append(configs_of(corpus, ("bso", "so", "sent_len"), ONE_BLOCK))
    once, twice = configs
    assert {COPY} == twice["bso"].drops.keys() - once["bso"].drops.keys()
    for task in ("bso", "so"):
        assert rows_of(twice[task], "sent_ids", "doc_id") == rows_of(once[task], "sent_ids", "doc_id")
    assert problems(twice["sent_len"]) == {}


def test_of_two_copies_the_one_that_a_task_can_use_is_used(tmp_path):
    """The same documents in a corpus without trees and speakers, and in one with them."""
    text = sample_file("es").read_text(encoding="utf-8")
    bare = "\n".join(
        "\t".join([*line.split("\t")[:2], *"________"]) if line[:1].isdigit() else line for line in text.split("\n")
    )
    numbers = itertools.count()
    turns = "\n".join(
        f"# speaker = {'AB'[next(numbers) // 2 % 2]}\n{line}" if line.startswith("# sent_id") else line
        for line in text.split("\n")
    )
    for pair in ((bare, turns), (turns, bare)):
        home = tmp_path / str(pair[0] is bare)
        for name, content in zip("ab", pair, strict=True):
            (home / name).mkdir(parents=True)
            (home / name / "x.conllu").write_text(content, encoding="utf-8")
        whole, alone = (load_corpus("es", [str(home / name)]) for name in (".", "ab"[pair[1] is turns]))
        for task in ("subj_number", "speaker", "sent_len"):
            (both,), (one,) = (
                [*build_all(tasks_named([task]), corpus, ONE_BLOCK)] for corpus in (whole, alone)
            )  # with the reason why a task has no rows
            assert type(both) is type(one), (task, both)
            assert not isinstance(both, Unavailable) or task != "subj_number"


def test_relations_and_trees_of_two_corpora_are_used_once(tmp_path):
    write_many(tmp_path, "eng.pdtb.made", 40)
    again = tmp_path / "again"
    again.mkdir()
    for path in sorted(tmp_path.glob("eng.*")):
        shutil.copyfile(path, again / path.name.replace("pdtb", "rst"))
    trees, more = write_trees(tmp_path / "again", 40), tmp_path / "more" / "trees"
    shutil.copytree(trees, more)
    tasks = ("dr", "dr_tree", "connective")
    corpus = load_corpus("en", [str(tmp_path)])
    assert len(corpus.sources) == 4
    for task, config in configs_of(corpus, tasks, ONE_BLOCK).items():
        assert problems(config) == {}, task
        assert config.drops[COPY] * 2 <= config.candidates, task
        assert config.drops[COPY] > 0, task


def test_the_reason_of_a_copy_is_explained(two_corpora, tmp_path):
    shutil.copytree(two_corpora / "first", tmp_path / "again")
    corpus = load_corpus("es", [str(two_corpora), str(tmp_path / "again")])
    for task in ("bso", "sent_len"):
        traced = trace(all_tasks()[task], corpus, ONE_BLOCK)
        copies = traced.fates.filter(reason=COPY)
        assert copies["corpus"].n_unique() == 1
        (explained,) = [one for one in traced.explain(copies["sent_id"][0]) if one.corpus == copies["corpus"][0]]
        assert [loss["reason"] for loss in explained.losses] == [COPY]


def test_keys_are_the_same_on_every_machine(two_corpora):
    """A change of how keys are made changes all rows: it needs a new version of the reader."""
    (first, _) = load_corpus("es", [str(two_corpora)]).parts
    shard = first.load()
    doc, texts = shard.documents["doc_id"][0], shard.sentences.filter(doc=0)["text"].to_list()
    assert shard.documents["key"][0] == keys_of(["\x1f".join([doc, *texts]).encode()])[0]
