"""The same bytes with one, two and three processes and on a Dask worker, in blocks, for every task of every family."""

import contextlib
import importlib.util

import msgspec
import pytest
from copied_corpora import write_copies, write_corpora
from shared import SMALL_CLASSES, tree_of

from discoprobe import pipeline
from discoprobe.builders import FAMILIES, Settings, all_tasks, blocks_of
from discoprobe.cards.metadata import manifest
from discoprobe.loaders import cluster
from discoprobe.plan import plan
from discoprobe.sources import Request, load_corpus

SMALL_BLOCKS = msgspec.structs.replace(SMALL_CLASSES, block=20_000, sizes=(55_000, 15_000, 30_000))
BLOCK = 2**20
"""Bytes of a block of some ten thousand sentences. ``benchmark.py release`` compares blocks of real text."""


def build(out, request, jobs):
    """Adds the configs of a request to a release folder, without audit."""
    pipeline.run(plan(msgspec.structs.replace(request, jobs=jobs, audit=False)), out)


def differing(out, other):
    """The files that two releases do not have in common, byte by byte, tables first; there must be some to compare."""
    first, second = tree_of(out), tree_of(other)
    assert sum(name.endswith(".parquet") for name in first) >= 3
    others = [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)]
    return sorted(others, key=lambda name: (not name.endswith(".parquet"), name))


@contextlib.contextmanager
def dask_worker():
    """A cluster of one process, in which all steps run inside the block."""
    import distributed

    with (
        distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=None) as dask,
        cluster(dask.scheduler_address),
    ):
        yield


WAYS = {"2 processes": (2, contextlib.nullcontext), "3 processes": (3, contextlib.nullcontext)}
if importlib.util.find_spec("distributed"):
    WAYS["a Dask worker"] = (1, dask_worker)


OF_STORIES = {"antecedent_suite", "bridging_choice", "given_new", "salience", "same_entity"}
"""Tasks that need passages about several entities, which the made corpora do not have (`test_mention_tasks`)."""
OF_DEEP_TREES = {"deep_tree"}
"""Tasks that need long sentences with flat trees and others with deep ones."""


@pytest.mark.slow
@pytest.mark.minutes
def test_every_task_of_every_family_in_small_blocks(tmp_path):
    """All tasks from five languages, and those that `feats` generates from one of them."""
    corpora = write_corpora(tmp_path / "corpora")
    for path in corpora.values():
        assert len(blocks_of([part for part in load_corpus(str(path)).parts if part.size], SMALL_BLOCKS)) >= 2
    requests = [
        Request(corpora=tuple(map(str, corpora.values())), tasks=FAMILIES, settings=SMALL_BLOCKS),
        Request(corpora=(str(corpora["en"]),), tasks=("feats",), settings=SMALL_BLOCKS),
    ]
    for request in requests:
        build(tmp_path / "1 process", request, 1)
    configs = manifest.read(tmp_path / "1 process").configs
    tasks = {entry.task for entry in configs.values()}
    assert set(all_tasks()) - tasks == OF_STORIES | OF_DEEP_TREES
    assert sum(task.startswith("feats_") for task in tasks) >= 15
    for name, (jobs, running) in WAYS.items():
        with running():
            for request in requests:
                build(tmp_path / name, request, jobs)
    assert {name: differing(tmp_path / "1 process", tmp_path / name) for name in WAYS} == {name: [] for name in WAYS}


@pytest.mark.slow
@pytest.mark.minutes
def test_blocks_of_a_megabyte(tmp_path):
    """Two or more blocks of the size of a book, from copies with other words."""
    corpus = write_copies(tmp_path / "corpora", "es", 110)
    settings = Settings(block=BLOCK)
    assert len(blocks_of(load_corpus(str(corpus)).parts, settings)) >= 2
    tasks = ("dc", "nsp", "nsp_choice", "cloze", "sp", "bigram_shift", "subj_number", "tree_depth")
    request = Request(corpora=(str(corpus),), tasks=tasks, settings=settings)
    for jobs in (1, 3):
        build(tmp_path / str(jobs), request, jobs)
    assert {entry.task for entry in manifest.read(tmp_path / "1").configs.values()} == set(tasks)
    assert differing(tmp_path / "1", tmp_path / "3") == []
