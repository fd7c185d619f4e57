"""Steps in processes, in an executor that is given, on a Dask cluster that loses a worker, and in threads."""

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from raw_cases import articles

from discoprobe import build, load_corpus, pipeline, use_executor
from discoprobe.builders import Settings
from discoprobe.loaders import RemoteError, Source, UsageError, cluster, n_workers
from discoprobe.loaders.process_pool import process_pool
from discoprobe.loaders.raw import AnnotationOptions
from discoprobe.loaders.raw.prepare import prepare
from discoprobe.plan import plan
from discoprobe.sources import Request

SEGMENTED = AnnotationOptions(segment=True)


@pytest.fixture(scope="module")
def dask():
    """A cluster of three processes."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")
    with distributed.LocalCluster(3, threads_per_worker=1, dashboard_address=None) as made:
        yield made


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Row groups of five articles."""
    folder = tmp_path_factory.mktemp("cuentos")
    texts = articles(120)
    table = pa.table({"text": texts, "id": [f"c/{number}" for number in range(len(texts))]})
    pq.write_table(table, folder / "a.parquet", row_group_size=5)
    return folder


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A function that begins with an empty cache."""
    return lambda name: monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / name))


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Killer:
    """Progress that kills a worker, once, when a step has begun."""

    def __init__(self, dask, step):
        self.dask, self.step, self.killed = dask, step, 0

    def __call__(self, step, done, total):
        if step.startswith(self.step) and done < total and not self.killed:
            self.killed = next(nanny.pid for nanny in self.dask.workers.values())
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.slow
def test_a_build_that_loses_a_worker_gives_the_same_bytes(dask, text, tmp_path, own_cache):
    request = Request(
        ("es",), (str(text),), ("so", "dc", "nsp", "dconn"), Settings(block=12_000), raw=SEGMENTED, keep_failed=True
    )
    own_cache("one")
    pipeline.run(plan(request), tmp_path / "plain")
    own_cache("two")
    kill = Killer(dask, "reading es")
    with cluster(dask.scheduler_address):
        pipeline.run(plan(request), tmp_path / "cluster", kill)
    assert kill.killed
    assert contents(tmp_path / "cluster") == contents(tmp_path / "plain")
    assert len(contents(tmp_path / "plain")) > 10


@pytest.mark.slow
def test_an_annotation_that_loses_a_worker_gives_the_same_bytes(dask, tmp_path, own_cache):
    source = tmp_path / "texts"
    source.mkdir()
    for number, article in enumerate(articles(400)):
        (source / f"{number:03}.txt").write_text(article, encoding="utf-8")
    facts = Source("cuentos", "es", "CC0 1.0")
    own_cache("one")
    prepare(str(source), facts, SEGMENTED, out=tmp_path / "plain")
    own_cache("two")
    kill = Killer(dask, "annotating")
    with cluster(dask.scheduler_address):
        prepare(str(source), facts, SEGMENTED, out=tmp_path / "cluster", progress=kill)
    assert kill.killed
    assert contents(tmp_path / "cluster") == contents(tmp_path / "plain")


def test_any_executor_builds(own_cache):
    own_cache("one")
    corpus = load_corpus("es", ["sample"])
    with ThreadPoolExecutor(2) as executor, use_executor(executor, 2):
        config = build("bso", corpus)
    assert config.splits == build("bso", corpus).splits


def test_workers_that_are_given_use_the_folders_of_the_caller(tmp_path, monkeypatch):
    """Also if the caller changes them after the workers have started."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor, use_executor(executor, 3):
        assert n_workers(1) == 3
        executor.submit(os.getpid).result()
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
        with process_pool(1) as given:
            assert given.submit(os.getcwd).result() == str(tmp_path)
            assert given.submit(os.getenv, "DISCOPROBE_CACHE").result() == str(tmp_path / "cache")
    assert n_workers(2) == 2


WAITING = """
import os, sys, time
from discoprobe.loaders.process_pool import process_pool

if __name__ == "__main__":
    with process_pool(2) as executor:
        print(executor.submit(os.getpid).result(), flush=True)
        time.sleep(600)
"""


def is_running(pid):
    """Whether there is such a process that has not ended; one whose parent has not asked for it counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
def test_workers_end_when_the_program_is_killed(tmp_path):
    script = tmp_path / "waiting.py"
    script.write_text(WAITING, encoding="utf-8")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as program:
        worker = int(program.stdout.readline())
        assert is_running(worker)
        program.kill()
    try:
        end = time.monotonic() + 60
        while is_running(worker) and time.monotonic() < end:
            time.sleep(0.1)
        assert not is_running(worker)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def test_what_is_wrong_with_a_cluster_is_said(dask, command, monkeypatch, tmp_path):
    done = command("run", "--lang", "es", "--corpus", "sample", "--cluster", str(tmp_path / "none.json"))
    assert done.returncode == 2
    assert "none.json: neither tcp://HOST:PORT nor a scheduler file" in done.stderr
    module = importlib.import_module("discoprobe.loaders.process_pool")  # the room offers a function of this name
    monkeypatch.setattr(module, "_sees", lambda _: (False, version("discoprobe")))
    with pytest.raises(RemoteError, match="share"), cluster(dask.scheduler_address):
        pass


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install distributed"), cluster("tcp://127.0.0.1:1"):
        pass
