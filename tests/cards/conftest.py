"""A loopback Hub, a process with the unmodified clients, and the review application on a small release."""

import subprocess
import sys
import types
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import releases
from hub_client import Client
from hub_server import serving
from review_server import reviewing, small_release


@pytest.fixture(scope="module")
def hub():
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def client(hub, tmp_path_factory):
    made = Client(hub.url, tmp_path_factory.mktemp("home"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def python_with(tmp_path_factory):
    """A function: the interpreter of a new environment that has the packages of a reader, and nothing else."""
    made = {}

    def make(reader):
        if reader not in made:
            folder = tmp_path_factory.mktemp("environment")
            python = folder / "bin" / "python"
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            installed = subprocess.run(
                [python, "-m", "pip", "install", "--quiet", *releases.READERS[reader]],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            made[reader] = python, installed.stderr.strip()[-200:] if installed.returncode else ""
        python, problem = made[reader]
        if problem:
            pytest.skip(f"what {reader} needs cannot be installed here: {problem}")
        return python

    return make


@pytest.fixture
def build(hub, client, tmp_path):
    """A function that runs the program against the Hub, or with other clients: exit status, stdout and stderr.

    It is as quick as `command`: the clients' process forks, and has imported what the program needs.
    """

    def run(*arguments, clients=client, catalogue=None, **more):
        environment = {"DISCOPROBE_CACHE": str(tmp_path / "cache"), "TERM": "dumb", "COLUMNS": "160"} | more
        answer = clients.call(
            "program", hub.case("filled"), arguments=list(map(str, arguments)), environment=environment,
            folder=str(tmp_path), catalogue=catalogue,
        )  # fmt: skip
        return types.SimpleNamespace(**answer["result"])

    return run


@pytest.fixture
def release(tmp_path):
    return small_release(tmp_path / "release")


@pytest.fixture
def app(release):
    with reviewing(release) as made:
        yield made
