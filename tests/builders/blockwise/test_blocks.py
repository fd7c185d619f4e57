"""A corpus in many parts, built block by block: what is read, what is kept, and what never leaks.

The parts are the documents of the sample; the blocks are tiny.
"""

from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from statistics import mean
from types import SimpleNamespace

import msgspec
import numpy as np
import polars as pl
import pytest
from shared import SMALL_CLASSES

from discoprobe.builders import (
    Config,
    ConfigRows,
    Context,
    Settings,
    all_tasks,
    blocks_of,
    build,
    collect_rows,
    load,
    merge,
    rows_of_block,
    select,
    tasks_named,
)
from discoprobe.builders import build as build_blocks
from discoprobe.builders.audit import INTEGRITY, from_config
from discoprobe.builders.sampling import split_of
from discoprobe.loaders import WORDS, Corpus, DiscoprobeError, Shard, joined, silent
from discoprobe.loaders.languages import language_data

TASKS = ("bso", "so", "dc", "sp_swap", "dconn", "subj_number", "bigram_shift", "sent_len")
TINY = msgspec.structs.replace(SMALL_CLASSES, seed=17, block=5000, sizes=(55_000, 15_000, 30_000))
"""About ten documents of the sample are a block. Sizes divide the text: a tenth of the sample would be too little.
With this seed every task has rows in each split."""
CHECKS = (
    "dup-within",
    "dup-across",
    "label-conflict",
    "sentence-leak",
    "near-dup",
    "target-leak",
    "pair-split",
    "balance",
)


def by_document(shard, name="", copy=0):
    """A shard for each document; a ``copy`` has other keys and names, but the same texts."""
    found = []
    for documents in shard.documents.partition_by("doc", maintain_order=True):
        sentences = shard.sentences.join(documents.select("doc"), on="doc", how="semi", maintain_order="left")
        tokens = shard.tokens.join(sentences.select("sent"), on="sent", how="semi", maintain_order="left")
        renamed = documents.with_columns(pl.col("key") + copy, doc_id=pl.col("doc_id") + name)
        found.append(Shard(renamed, sentences.with_columns(pl.col("key") + copy), tokens))
    return found


@pytest.fixture(scope="session")
def parts(corpus_of):
    return [part for shard in corpus_of("sample", "es").shards() for part in by_document(shard)]


def made(parts, settings=TINY, tasks=TASKS, **options):
    """The configs that can be built, by task."""
    results = build.build_all(tasks_named(tasks), Corpus.of_shards("es", parts), settings, **options)
    return {result.task: result for result in results if isinstance(result, Config)}


@pytest.fixture(scope="module")
def whole(parts):
    return made(parts)


def identities(parts):
    """The identities of the parts of each block."""
    return [[part.identity for part in block] for block in blocks_of(parts, TINY)]


def rows_of(config):
    """Rows by id, each with its split."""
    return {row["id"]: (split, row) for split, table in config.splits.items() for row in table.to_pylist()}


def problems(config):
    """What the audit's checks of integrity find."""
    data = from_config(config)
    found = {name: INTEGRITY[name](data) for name in CHECKS}
    return {name: finding.measured for name, finding in found.items() if finding.measured}


def test_there_are_several_blocks_and_all_tasks(parts, whole):
    blocks = blocks_of(parts, TINY)
    assert len(blocks) >= 4
    assert Counter(part.identity for block in blocks for part in block) == Counter(part.identity for part in parts)
    assert whole.keys() == set(TASKS)


def test_a_small_corpus_is_one_block_whose_order_depends_on_contents(parts):
    (block,) = blocks_of(parts, SMALL_CLASSES)
    assert sorted(map(id, block)) == sorted(map(id, parts))
    (reversed_block,) = blocks_of(parts[::-1], SMALL_CLASSES)
    assert [id(part) for part in block] == [id(part) for part in reversed_block]


def test_where_blocks_end_depends_on_the_parts_nearby(parts):
    """A part more changes the block that it comes into and at most a few after it, wherever it stands in the list."""
    before, after = identities(parts[1:]), identities(parts)
    assert identities(parts[:0:-1]) == before
    assert identities(parts[::-1]) == after
    at = next(n for n, block in enumerate(after) if parts[0].identity in block)
    assert after[:at] == before[:at]
    assert all(sum(part.size for part in block) < 3 * TINY.block for block in blocks_of(parts, TINY))


def test_no_leak_no_repetition_and_equal_labels(whole):
    for task, config in whole.items():
        assert problems(config) == {}, task
        assert config.n_rows >= 12, task


@pytest.mark.parametrize("task", ["sent_len", "dconn"])
def test_every_candidate_is_a_row_or_counted_as_dropped(whole, task):
    """Also the rows that still wait for one of another label when all blocks are read: they are unbalanced."""
    config = whole[task]
    assert config.n_rows + sum(config.drops.values()) == config.candidates


@pytest.mark.parametrize("small", [(11, 3, 6), (22, 6, 12)])
def test_a_larger_size_only_adds_rows(parts, whole, small):
    """Also with sizes that are no multiple of the number of labels; labels stay balanced."""
    tasks = ("bso", "dc", "subj_number")
    smaller = made(parts, msgspec.structs.replace(TINY, sizes=small), tasks)
    larger = made(parts, msgspec.structs.replace(TINY, sizes=(44, 12, 24)), tasks)
    for task in tasks:
        few, some, every = (rows_of(found[task]) for found in (smaller, larger, whole))
        assert few.items() <= some.items() <= every.items(), task
        sizes = [table.num_rows for table in smaller[task].splits.values()]
        full = [table.num_rows for table in whole[task].splits.values()]
        assert sizes == [min(every, size // 2 * 2) for size, every in zip(small, full, strict=True)], task
        assert problems(smaller[task]) == {}, task


def test_reading_stops_when_all_is_full(parts):
    """As few blocks as have the rows; the config says which parts they were."""
    loaded = []

    class Counting:
        prepared = True

        def __init__(self, part):
            self.part, self.size, self.n_documents, self.identity = part, part.size, part.n_documents, part.identity

        def load(self):
            loaded.append(self.identity)
            return self.part

    corpus = msgspec.structs.replace(Corpus.of_shards("es", parts), parts=tuple(map(Counting, parts)))
    settings = msgspec.structs.replace(TINY, sizes=(11, 3, 6))
    said = {}
    (bso,) = build.build_all(
        tasks_named(["bso"]), corpus, settings, progress=lambda step, done, total: said.update({step: (done, total)})
    )
    done, total = said["reading es: kB of text"]
    assert done == total < sum(part.size for part in parts) / 1000, "reading ends when all is full"
    assert loaded == [name for block in identities(parts) for name in block][: len(loaded)]
    assert len(loaded) < len(parts) * 0.75
    assert list(bso.parts) == loaded
    assert "Read until the sizes were full" in bso.notes[-1]
    loaded.clear()
    (larger,) = build.build_all(tasks_named(["bso"]), corpus, TINY)
    assert sorted(loaded) == sorted(part.identity for part in parts)
    assert larger.parts == ()


def test_words_are_counted_in_text_without_tokens_too(parts):
    """The speed that is printed at the end; text that is only divided into sentences has no tokens."""
    texts = [Shard(part.documents, part.sentences, part.tokens.clear()) for part in parts]
    counted = Counter()
    made(texts, tasks=("bso",), progress=lambda step, done, _total: counted.update({step: done * (step == WORDS)}))
    assert counted[WORDS] == sum(part.sentences["n_words"].sum() for part in parts)


def test_workers_and_the_order_of_parts_make_no_difference(parts, whole):
    tasks = ("bso", "dc", "dconn")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        for settings in (TINY, msgspec.structs.replace(TINY, sizes=(12, 4, 6))):
            plain = made(parts, settings, tasks)
            other = made(parts[::-1], settings, tasks, executor=executor, jobs=2)
            assert [(config.splits, config.drops, config.notes) for config in plain.values()] == [
                (config.splits, config.drops, config.notes) for config in other.values()
            ]


class AtOnce(Executor):
    """Runs each step when it is submitted, and remembers which tasks it was for."""

    def __init__(self):
        self.begun = []

    def submit(self, function, block, tasks, context):
        self.begun.append([task.name for task in tasks])
        future = Future()
        future.set_result(function(block, tasks, context))
        return future

    def map(self, function, *arguments):
        return map(function, *arguments)


def test_workers_begin_what_the_rows_so_far_ask_for(parts):
    """A block that is begun and not needed costs as much as one that is, and so does a task that is full before it."""

    def begun(tasks, **options):
        executor = AtOnce()
        made(parts, msgspec.structs.replace(TINY, **options), tasks, executor=executor, jobs=1)
        return executor.begun

    n_blocks = len(identities(parts))
    alone = begun(["bso"], sizes=(8, 2, 4))
    assert alone == [["bso"]] * len(alone)
    assert len(alone) < n_blocks, "the first blocks have enough"
    first, *later = begun(["bso", "sent_len"], sizes=(8, 2, 4))
    assert first == ["bso", "sent_len"]
    assert later[-1] == ["sent_len"]
    assert sum("bso" in tasks for tasks in (first, *later)) == len(alone)
    assert len(later) < n_blocks
    assert begun(["bso"]) == [["bso"]] * n_blocks


def test_a_task_that_needs_more_blocks_than_expected_gets_the_same_rows(parts, whole, monkeypatch):
    """It gets its rows of a block that was begun for others, and the splits of its sentences are known all the same."""
    tasks, executor, seen = ["sent_len", "dc", "bso"], AtOnce(), []

    class Looking(build_blocks.EarlierTexts):
        def repeated(self, shingled, groups):
            seen.append(groups.tolist())
            return super().repeated(shingled, groups)

    monkeypatch.setattr(build_blocks, "EarlierTexts", Looking)
    made(parts, TINY, tasks)
    expected, seen = seen, []
    needed = property(lambda rows: np.inf if rows.task.name == "sent_len" else 1.0)
    monkeypatch.setattr(ConfigRows, "text_needed", needed)
    late = made(parts, TINY, tasks, executor=executor, jobs=1)
    assert executor.begun.count(["dc", "bso"]) == executor.begun.count(["sent_len"]) > 0
    assert seen == expected
    for task in tasks:
        assert late[task].splits == whole[task].splits
        assert late[task].drops == whole[task].drops


def test_a_part_more_leaves_the_blocks_before_it(parts, whole):
    """Its rows are added; the rows of the blocks before it stay, and no task whose rows need no match has fewer."""
    for left_out in (7, 20):
        fewer = made([part for n, part in enumerate(parts) if n != left_out], tasks=("bso", "so", "sp_swap", "dc"))
        blocks = blocks_of(parts, TINY)
        at = next(n for n, block in enumerate(identities(parts)) if parts[left_out].identity in block)
        earlier = {name for block in blocks[:at] for part in block for name in part.documents["doc_id"]}
        for task, config in fewer.items():
            stay = {name: row for name, row in rows_of(config).items() if row[1]["doc_id"] in earlier}
            assert stay.items() <= rows_of(whole[task]).items()
            if task in {"so", "sp_swap"}:
                assert config.n_rows <= whole[task].n_rows


def test_what_one_block_repeats_of_another_is_left_out(parts, monkeypatch):
    """Documents again under other names: elsewhere they are in another split, and in the same one they are doubles."""
    doubled = [*parts, *(copy for part in parts[:20] for copy in by_document(part, "-again", 12345))]
    configs = made(doubled, tasks=("bso", "sent_len"))
    assert {task: problems(config) for task, config in configs.items()} == {"bso": {}, "sent_len": {}}
    assert configs["bso"].drops["in-two-splits"] > 0
    assert configs["bso"].drops["duplicate"] > 0
    assert configs["sent_len"].drops["near-duplicate"] > 0

    class Forgetful(build_blocks.EarlierTexts):
        def repeated(self, found, groups):
            nothing, _ = super().repeated(found, groups)
            return nothing & False, nothing & False

    monkeypatch.setattr(build_blocks, "EarlierTexts", Forgetful)
    assert {"sentence-leak", "dup-within"} <= problems(made(doubled, tasks=("bso",))["bso"]).keys()


def test_one_sentence_of_another_split_or_all_that_recur_drop_a_passage(parts):
    """A passage may share some sentences with an earlier one of its own split, but none with another split."""
    plan = Context("", language_data("es"), TINY, small=False)
    of_block = rows_of_block(blocks_of(parts, TINY)[0], tasks_named(["bso"]), plan)
    rows = of_block.of_task["bso"].rows
    passage = rows["number"][0].to_list()
    assert len(set(passage)) > 1

    def drops(repeated, in_other_split, of_copies=()):
        flags = [np.isin(np.arange(len(of_block.splits)), numbers) for numbers in (repeated, in_other_split)]
        collected = ConfigRows(all_tasks()["bso"], [], plan)
        copies = np.isin(np.arange(len(of_block.splits)), of_copies)
        collected.add(of_block.of_task["bso"], *flags, copies)
        return {reason: collected.drops.counts[reason] for reason in ("copy", "in-two-splits", "duplicate")}

    def n_rows(condition):
        return rows.filter(pl.col("unit").is_in(rows.filter(condition)["unit"].implode())).height

    with_first = n_rows(pl.col("number").list.contains(passage[0]))
    assert drops(passage[:1], passage[:1]) == {"copy": 0, "in-two-splits": with_first, "duplicate": 0}
    assert drops(passage[:1], []) == {"copy": 0, "in-two-splits": 0, "duplicate": 0}
    assert drops(passage, [], passage[:1]) == {"copy": with_first, "in-two-splits": 0, "duplicate": 0}
    repeated = n_rows(pl.col("number").list.eval(pl.element().is_in(passage)).list.all())
    assert drops(passage, []) == {"copy": 0, "in-two-splits": 0, "duplicate": repeated}


def test_short_sentences_of_a_block_may_recur_in_other_splits(parts):
    def words_in(block):
        return pl.concat(shard.sentences["text"] for shard in load(block)).str.split(" ").list.len().to_numpy()

    block = next(block for block in blocks_of(parts, TINY) if (words_in(block) <= 4).any())
    splits = rows_of_block(block, tasks_named(["bso"]), Context("", language_data("es"), TINY, small=False)).splits
    n_words = words_in(block)
    assert (splits[n_words <= 4] == -1).all()
    assert (splits[n_words >= 6] >= 0).all()


def test_a_passage_that_recurs_is_no_row_whatever_its_distractor_is(parts):
    """The copies have other keys: the same passage is paired with another distractor."""
    for n, copy in ((12, 2**40 + 7), (20, 12345)):
        doubled = [*parts, *(again for part in parts[:n] for again in by_document(part, "-again", copy))]
        configs = made(doubled, tasks=("dc", "nsp"))
        assert {task: problems(config) for task, config in configs.items()} == {"dc": {}, "nsp": {}}


def test_a_part_that_cannot_be_read_says_which(parts):
    class Broken:
        size, n_documents, identity, prepared = 500, 1, "chapter 7", True

        def __str__(self):
            return "novels.parquet, row group 7"

        def load(self):
            raise OSError("the file is gone")

    corpus = msgspec.structs.replace(Corpus.of_shards("es", parts), parts=(*parts, Broken()))
    with pytest.raises(
        DiscoprobeError, match=r"novels.parquet, row group 7: cannot be read: OSError: the file is gone"
    ):
        list(build.build_all(tasks_named(["bso"]), corpus, TINY))


@pytest.mark.parametrize("block", [TINY.block, SMALL_CLASSES.block])
def test_the_first_documents_in_hash_order(parts, corpus_of, block):
    """So many at most, whether each is a part or all are one; more documents only add documents."""
    one = corpus_of("sample", "es").parts
    for these in (parts, one):
        before = set()
        for number in (5, 12):
            settings = msgspec.structs.replace(TINY, block=block, most_documents=number)
            shards = [part.load() for group in blocks_of(these, settings) for part in group]
            found = {key for shard in shards for key in shard.documents["key"]}
            assert len(found) == number
            assert before <= found
            assert all(shard.sentences["doc"].is_in(shard.documents["doc"].implode()).all() for shard in shards)
            assert all(shard.tokens["sent"].is_in(shard.sentences["sent"].implode()).all() for shard in shards)
            before = found


def test_shards_of_a_block_are_read_as_one(parts):
    """Their tables are one below the other, and every key still leads to the same row."""
    one = joined(parts[:9])
    assert one.sentences["sent"].is_unique().all()
    assert one.documents["doc"].is_unique().all()
    assert one.sentences.group_by("doc", "run").len().height == sum(
        part.sentences.group_by("doc", "run").len().height for part in parts[:9]
    )
    for column in ("text", "key", "sent_id"):
        assert one.sentences[column].to_list() == [value for part in parts[:9] for value in part.sentences[column]]

    def words(shard):
        named = shard.sentences.join(shard.documents.select("doc", "doc_id"), on="doc")
        return shard.tokens.join(named.select("sent", "sent_id", "doc_id"), on="sent").drop("sent").rows()

    assert sorted(map(repr, words(one))) == sorted(repr(word) for part in parts[:9] for word in words(part))


@pytest.mark.parametrize(("small", "n_drops"), [(False, 2), (True, 1)])
def test_a_pair_whose_text_another_has_is_left_out_and_counted(small, n_drops):
    """As two rows; of a small corpus as one pair, since its sample counts pairs."""
    task = all_tasks()["bigram_shift"]
    collected = ConfigRows(task, [], Context("", language_data("es"), Settings(), small=small))
    first = pl.DataFrame({"unit": [1, 1, 2, 2], "key": [1, 2, 3, 4], "text": ["a b", "b a", "c d", "d c"]})
    later = pl.DataFrame({"unit": [3, 3, 4, 4], "key": [5, 6, 7, 8], "text": ["e f", "f e", "D C", "x y"]})
    assert collected._without_equal_texts(first).height == 4
    assert collected._without_equal_texts(later)["unit"].to_list() == [3, 3]
    assert collected.drops.counts["equal-text"] == n_drops


def test_a_new_part_changes_few_blocks():
    """A block ends at a part whose hash says so: then the next blocks begin where they did without the new part."""
    chapters = [SimpleNamespace(identity=f"chapter {n}", size=500 + n * 379 % 1000, n_documents=1) for n in range(400)]
    settings = Settings(block=10_000)

    def blocks(parts):
        return {tuple(part.identity for part in block) for block in blocks_of(parts, settings)}

    every = blocks(chapters)
    changed = [len(every - blocks(chapters[:n] + chapters[n + 1 :])) for n in range(0, len(chapters), 8)]
    assert len(every) > 30
    assert mean(changed) < 5


def test_first_documents_have_their_share_of_the_text(corpus_of):
    (whole,) = corpus_of("sample", "es").parts
    ((first,),) = blocks_of([whole], msgspec.structs.replace(TINY, block=10**6, most_documents=7))
    assert first.size == pytest.approx(whole.size * 7 / whole.n_documents, abs=1)


def test_the_hash_of_a_document_alone_decides_on_its_split(parts):
    """Its split is the same in whatever block it is, and whatever else is in it."""
    block = blocks_of(parts, TINY)[0]
    splits = rows_of_block(block, tasks_named(["bso"]), Context("", language_data("es"), TINY, small=False)).splits
    keys = pl.concat(
        shard.sentences.select("doc").join(shard.documents.select("doc", "key"), on="doc", maintain_order="left")
        for shard in load(block)
    )["key"].to_numpy()
    of_hash = split_of(keys, TINY.seed, shares=TINY.shares).to_physical().to_numpy()
    assert len(set(of_hash)) > 1
    assert (splits[splits >= 0] == of_hash[splits >= 0]).all()


def test_candidates_of_several_blocks_stay_apart(parts):
    """Decisions about labels see several blocks as one; a cluster or passage of one block is none of another."""
    tasks = tasks_named(["sent_len", "bso"])
    first, second = (
        select(tasks, load(block), Context("", language_data("es"), TINY, small=False))
        for block in blocks_of(parts, TINY)[:2]
    )
    together = merge([first, second, first], tasks)  # what a block has again is there once
    for one, other, both in (
        (first.of_task["sent_len"], second.of_task["sent_len"], together.of_task["sent_len"]),
        (first.sentences, second.sentences, together.sentences),
    ):
        assert both.height == one.height + other.height
        assert both["row"].to_list() == list(range(both.height))
        for column in {"shard", "cluster", "passage"} & set(one.columns):
            numbers = [frame[column].drop_nulls().n_unique() for frame in (one, other)]
            assert both[column].drop_nulls().n_unique() == sum(numbers), column


def test_wordings_of_earlier_blocks_count():
    """Two pairs of a config may have the same wording, wherever they are."""
    collected = ConfigRows(
        all_tasks()["agreement_suite"], [], Context("", language_data("es"), Settings(), small=False)
    )

    def pairs(*wordings):
        return pl.DataFrame({
            "unit": [n for n, _ in enumerate(wordings) for _ in "ab"], "key": range(2 * len(wordings)),
            "label": [0, 1] * len(wordings), "wording": [wording for wording in wordings for _ in "ab"],
        })  # fmt: skip

    assert collected._without_repeated_wording(pairs(1, 1, 2)).height == 6
    assert collected._without_repeated_wording(pairs(1, 2, 3))["wording"].to_list() == [2, 2, 3, 3]
    assert collected.drops.counts["repeated"] == 2


@pytest.mark.parametrize("task", ["bso", "subj_number"])
def test_the_rows_of_a_block_do_not_depend_on_the_sizes(parts, task):
    """Sizes and the least number of rows of a label are those of all blocks together."""
    block = blocks_of(parts, TINY)[1]  # the first one is small

    def sample_of(**values):
        plan = Context("", language_data("es"), msgspec.structs.replace(TINY, **values), small=False)
        return rows_of_block(block, tasks_named([task]), plan).of_task[task]

    unlimited = sample_of()
    assert unlimited.rows.height > 4
    assert sample_of(sizes=(11, 3, 6), min_class=1000).rows.equals(unlimited.rows)


def test_a_block_that_decides_on_labels_is_counted_once(parts):
    """Also if the blocks before it were too few: here no label ever has enough rows."""
    loaded = Counter()

    class Counting:
        prepared = True

        def __init__(self, part):
            self.part, self.size, self.n_documents, self.identity = part, part.size, part.n_documents, part.identity

        def load(self):
            loaded[self.identity] += 1
            return self.part

    corpus = msgspec.structs.replace(Corpus.of_shards("es", parts), parts=tuple(map(Counting, parts)))
    settings = msgspec.structs.replace(TINY, min_class=10_000)
    (config,) = build.build_all(tasks_named(["sent_len"]), corpus, settings)
    assert "10000 are needed" in config.reason.replace(",", "")
    first = {name for block in identities(parts)[: build.FIRST[-1] + 1] for name in block}  # the first one is small
    assert loaded == dict.fromkeys(first, 1)


def test_the_size_does_not_decide_on_the_labels(parts):
    """A larger size only adds rows, so what the first blocks have decides on the labels, and not what fits."""
    labels = {
        sizes: collect_rows(
            tasks_named(["sent_len"]),
            Corpus.of_shards("es", parts),
            msgspec.structs.replace(TINY, sizes=sizes),
            None,
            1,
            silent,
        )["sent_len"].labels
        for sizes in ((11, 3, 6), TINY.sizes)
    }
    assert len(labels[TINY.sizes]) > 2
    assert labels[11, 3, 6] == labels[TINY.sizes]


def test_the_first_block_is_small_and_what_is_left_of_its_part_is_in_the_next(corpus_of):
    """The first rows are there soon, and no document is read twice or not at all."""
    (shard,) = corpus_of("sample", "es").shards()
    settings = msgspec.structs.replace(TINY, block=shard.size // 2)
    (first,), (others,) = blocks_of([shard], settings)
    assert 0 < first.size < settings.block / 4
    assert first.n_documents + others.n_documents == shard.n_documents
    read = pl.concat([part.load().documents for part in (first, others)])
    assert read.sort("key").equals(shard.documents.sort("key"))
    assert len({first.identity, others.identity, shard.identity}) == 3
    rows = build.collect_rows(tasks_named(["bso"]), Corpus.of_shards("es", [shard]), settings, None, 1, silent)["bso"]
    assert rows.config(Corpus.of_shards("es", [shard])).parts in {(), (shard.identity,)}
