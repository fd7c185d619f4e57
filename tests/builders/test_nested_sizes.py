"""A larger size only adds rows, in one block and in several, where the shares of the splits are the same."""

from itertools import pairwise

import msgspec
import pytest
from discourse_corpora import write_many, write_trees
from shared import SMALL_CLASSES

from discoprobe.builders import Config, Settings, all_tasks, build, tasks_named
from discoprobe.loaders import Corpus
from discoprobe.loaders.conllu import read_corpora

SIZES = ((8, 4, 6), (14, 6, 10), (100_000, 10_000, 10_000))
OF_ONE_SHARE = ((8, 4, 6), (16, 8, 12), (80_000, 40_000, 60_000))


def builds(corpus, settings, tasks, of_sizes=SIZES):
    """The configs of a corpus by task, for each of the sizes."""
    return [
        {
            result.task: result
            for result in build.build_all(tasks_named(tasks), corpus, msgspec.structs.replace(settings, sizes=sizes))
            if isinstance(result, Config)
        }
        for sizes in of_sizes
    ]


def shards_of_documents(shard):
    """A shard for each document."""
    for documents in shard.documents.partition_by("doc", maintain_order=True):
        sentences = shard.sentences.join(documents.select("doc"), on="doc", how="semi", maintain_order="left")
        tokens = shard.tokens.join(sentences.select("sent"), on="sent", how="semi", maintain_order="left")
        yield msgspec.structs.replace(shard, documents=documents, sentences=sentences, tokens=tokens)


def rows_of(config):
    return {
        (split, row["id"], row["label"], repr(row))
        for split, table in config.splits.items()
        for row in table.to_pylist()
    }


def not_nested(of_sizes):
    """The tasks of which a smaller size has a row that a larger one lacks."""
    of_task = {task: [rows_of(found[task]) for found in of_sizes if task in found] for task in of_sizes[-1]}
    assert sum(len(rows[0]) < len(rows[-1]) for rows in of_task.values()) >= len(of_task) / 2
    return [task for task, rows in of_task.items() if not all(fewer <= more for fewer, more in pairwise(rows))]


def test_sizes_are_nested_in_several_blocks(corpus_of):
    corpus = corpus_of("sample", "es")
    parts = [part for shard in corpus.shards() for part in shards_of_documents(shard)]
    settings = msgspec.structs.replace(SMALL_CLASSES, block=10_000)
    of_sizes = builds(Corpus.of_shards("es", parts), settings, sorted(all_tasks()), OF_ONE_SHARE)
    assert len(of_sizes[-1]) >= 18
    assert not_nested(of_sizes) == []


@pytest.mark.parametrize(
    ("lang", "tasks"),
    [
        ("es", {"discourse", "order_all", "order_context"}),  # what is balanced after the cut would not be the same
        ("de", {"so", "cloze", "nsp_choice"}),
    ],
)
def test_sizes_are_nested_in_one_block(corpus_of, lang, tasks):
    of_sizes = builds(corpus_of("sample", lang), SMALL_CLASSES, sorted(tasks))
    assert of_sizes[-1].keys() >= (tasks if "cloze" in tasks else {"cloze", "sp", "dconn", "order_all"})
    assert not_nested(of_sizes) == []


def test_relations_of_a_smaller_size_are_relations_of_a_larger_one(tmp_path):
    write_trees(write_many(tmp_path, "eng.pdtb.made", 40), 40)
    corpus = read_corpora([tmp_path])["en"]
    tasks = [task for task in tasks_named(["relations"]) if "coreference" not in task.needs]
    fewer, some, every = (
        [
            rows_of(config)
            for config in build.build_all(tasks, corpus, Settings(sizes=sizes))
            if isinstance(config, Config)
        ]
        for sizes in ((40, 20, 20), (60, 30, 30), Settings().sizes)
    )
    assert len(fewer) == len(every) == len(tasks)
    assert all(few < more <= most for few, more, most in zip(fewer, some, every, strict=True))
