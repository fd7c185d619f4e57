"""What all tests share: a cache of their own, no network, and one build of each corpus per session."""

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.pop("COLUMNS", None)  # readline sets it in processes of pytest-xdist
os.environ["HF_DATASETS_CACHE"] = tempfile.mkdtemp(prefix="datasets-")  # no other run's datasets of the same name
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
sys.path.insert(0, str(Path(__file__).parent))  # modules that tests share, such as shared.py

import pytest
from filelock import FileLock
from hypothesis import settings as hypothesis_settings
from shared import DEFAULT, UD, run_in_process

from discoprobe.plan import plan
from discoprobe.sources import Request, load_corpus

hypothesis_settings.register_profile("untimed", deadline=None)  # machines are noisy
hypothesis_settings.load_profile("untimed")


def pytest_addoption(parser):
    parser.addoption("--write-versions", action="store_true", help="store what each step makes now, with its version")


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A cache that no other session fills; programs that tests start use it too."""
    folder = tmp_path_factory.mktemp("cache")
    before = {name: os.environ.get(name) for name in ("DISCOPROBE_CACHE", "DISCOPROBE_MIRROR")}
    os.environ["DISCOPROBE_CACHE"] = str(folder)
    os.environ.pop("DISCOPROBE_MIRROR", None)
    yield folder
    shutil.rmtree(os.environ["HF_DATASETS_CACHE"], ignore_errors=True)
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


@pytest.fixture(scope="session")
def corpus_of():
    """A function: the corpus of a language, of the sample or of the shared treebanks; read once."""
    read = {}

    def get(where, lang):
        if (where, lang) not in read:
            read[where, lang] = load_corpus(lang, ["sample" if where == "sample" else str(UD / lang)])
        return read[where, lang]

    return get


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    """A folder that all processes of a test run have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def built(corpus_of, shared_folder):
    """A function: every task's config, or why it is not there, by the name of the task; built once in a test run."""
    from discoprobe.builders import all_tasks, build_all

    results_of = {}

    def get(where, lang, settings=DEFAULT):
        key = where, lang, settings
        if key not in results_of:
            name = hashlib.sha256(repr(key).encode()).hexdigest()
            with FileLock(shared_folder / f"{name}.lock"):
                stored = shared_folder / f"{name}.built"
                if not stored.exists():
                    stored.write_bytes(b"")  # a build that fails is not tried again
                    results = build_all(list(all_tasks().values()), corpus_of(where, lang), settings)
                    stored.write_bytes(pickle.dumps({result.task: result for result in results}))
                assert stored.stat().st_size, "this build has failed before"
                results_of[key] = pickle.loads(stored.read_bytes())
        return results_of[key]

    return get


@pytest.fixture(scope="session")
def sample_release(shared_folder):
    """A release folder of all languages of the sample, as `build run` writes it; tests only read it.

    It has all tasks but the suites, with which it would have more configs than a card lists.

    It is built once for all processes of a test run (with the audit it takes a minute).
    """
    from discoprobe import pipeline

    out, done = shared_folder / "release" / "sample", shared_folder / "release" / "done"
    with FileLock(shared_folder / "release.lock"):
        if not done.exists():
            shutil.rmtree(shared_folder / "release", ignore_errors=True)
            pipeline.run(plan(Request(corpora=("sample",), tasks=("probing", "discourse", "relations"))), out)
            done.touch()
    return out


@pytest.fixture
def command(tmp_path):
    """A function that calls the program in this process: ``command("run", "--lang", "es", …, cwd=…, NAME=value)``.

    It returns what `subprocess.run` would: ``returncode``, ``stdout``, ``stderr``. `process` starts a real process, for
    tests of what a process does (which takes two seconds more).
    """

    def run(*arguments, cwd=tmp_path, **environment):
        return run_in_process(*arguments, cwd=cwd, environment={"TERM": "dumb", "COLUMNS": "120", **environment})

    return run


@pytest.fixture
def process(tmp_path):
    """A function that runs the program in a process of its own, called like `command`."""

    def run(*arguments, cwd=tmp_path, **environment):
        return subprocess.run(
            [sys.executable, "-m", "discoprobe", *map(str, arguments)], check=False, capture_output=True, text=True,
            cwd=cwd, env={**os.environ, "TERM": "dumb", "COLUMNS": "120", **environment}, timeout=300,
        )  # fmt: skip

    return run


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    """What needs the treebanks or models of ``../shared`` is slow: the default run is that of a fresh clone.

    Of the tests that are left, both of two processes begin with those that take minutes: else one would end long before
    the other.
    """
    for item in items:
        reasons = [mark.kwargs.get("reason", "") for mark in item.iter_markers("skipif")]
        if any("../shared" in reason for reason in reasons):
            item.add_marker(pytest.mark.slow)
    yield
    longest = [item for item in items if item.get_closest_marker("minutes")]
    others = [item for item in items if not item.get_closest_marker("minutes")]
    half = max(0, len(items) // 2 - len(longest[::2]))
    items[:] = [*longest[::2], *others[:half], *longest[1::2], *others[half:]]
