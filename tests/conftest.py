"""What all tests share: a cache of their own, no network, and one build of each corpus per session."""

import os
import subprocess
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
sys.path.insert(0, str(Path(__file__).parent))  # modules that tests share, such as shared.py

import pytest

from discoprobe.request import Request
from discoprobe.sources import load_corpus


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A cache that no other session fills; programs that tests start use it too."""
    folder = tmp_path_factory.mktemp("cache")
    before = {name: os.environ.get(name) for name in ("DISCOPROBE_CACHE", "DISCOPROBE_MIRROR")}
    os.environ["DISCOPROBE_CACHE"] = str(folder)
    os.environ.pop("DISCOPROBE_MIRROR", None)
    yield folder
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


@pytest.fixture(scope="session")
def corpus_of():
    """A function: the corpus of a language, of the sample or of the shared treebanks; read once."""
    from shared import UD  # noqa: PLC0415

    read = {}

    def get(where, lang):
        if (where, lang) not in read:
            read[where, lang] = load_corpus(lang, ["sample" if where == "sample" else str(UD / lang)])
        return read[where, lang]

    return get


@pytest.fixture(scope="session")
def built(corpus_of):
    """A function: every task's config (or why it is not there) for a language; built once."""
    from discoprobe.builders.build import build_all  # noqa: PLC0415
    from discoprobe.builders.settings import Settings  # noqa: PLC0415
    from discoprobe.builders.task import all_tasks  # noqa: PLC0415

    done = {}

    def get(where, lang):
        if (where, lang) not in done:
            done[where, lang] = None
            results = build_all(list(all_tasks().values()), corpus_of(where, lang), Settings())
            done[where, lang] = {result.task: result for result in results}
        assert done[where, lang] is not None, "this build has failed before"
        return done[where, lang]

    return get


@pytest.fixture(scope="session")
def sample_release(tmp_path_factory):
    """A release folder of all languages of the sample and all tasks, as `build run` writes it."""
    from discoprobe import pipeline  # noqa: PLC0415

    out = tmp_path_factory.mktemp("release") / "sample"
    pipeline.run(Request(corpora=("sample",)), out)
    return out


@pytest.fixture
def command(tmp_path):
    """A function that runs the real program in a process of its own: ``command("run", "--lang", "es", …)``."""

    def run(*arguments, cwd=tmp_path, **environment):
        return subprocess.run(
            [sys.executable, "-m", "discoprobe", *map(str, arguments)], check=False, capture_output=True, text=True,
            cwd=cwd, env={**os.environ, "TERM": "dumb", "COLUMNS": "120", **environment}, timeout=300,
        )  # fmt: skip

    return run
