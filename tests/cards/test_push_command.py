"""`build push`, `build diff` and `build verify`, as a user types them, against the loopback Hub."""

import os
import subprocess
import sys

import pytest

LOAD = """
from datasets import load_dataset
print(load_dataset({repo!r}, {config!r}, revision={revision!r})["test"].num_rows)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def program(hub, home, request):
    case = hub.case(request.node.name.replace("_", "-"))

    def run(*words):
        case.seen.clear()
        environment = {
            **os.environ,
            "HF_ENDPOINT": hub.url,
            "HF_TOKEN": case.token,
            "HF_HOME": str(home / "hf"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_OFFLINE": "0",
            "HF_DATASETS_OFFLINE": "0",
        }
        return subprocess.run(
            [sys.executable, *words],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )

    run.repo = case.repo
    return run


def test_from_corpus_to_hub_and_back(program):
    build = ("-m", "discoprobe")
    push = (*build, "push", "--corpus", "sample", "--task", "bso,dc", "--repo", program.repo, "--yes")

    first = program(*push, "--lang", "de")
    assert first.returncode == 0, first.stderr
    assert f"published: {program.repo} 1.0.0" in first.stdout

    second = program(*push, "--lang", "es")
    assert second.returncode == 0, second.stderr
    assert f"published: {program.repo} 1.1.0" in second.stdout

    again = program(*push, "--lang", "es")
    assert again.returncode == 0, again.stderr
    assert "unchanged" in again.stdout

    for config in ("bso_de", "dc_es"):
        loaded = program("-c", LOAD.format(repo=program.repo, config=config, revision="v1.1.0"))
        assert loaded.returncode == 0, loaded.stderr
        assert int(loaded.stdout) > 0

    changes = program(*build, "diff", "--against", f"{program.repo}@v1.0.0", "--lang", "es")
    assert changes.returncode == 0, changes.stderr
    assert "dc_es" in changes.stdout
    assert "new" in changes.stdout

    verified = program(*build, "verify", f"{program.repo}@v1.1.0")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert " 0 differ" in verified.stdout


def test_a_push_that_is_not_agreed_to_sends_nothing(program, hub):
    push = ("-m", "discoprobe", "push", "--corpus", "sample", "--task", "so", "--lang", "ru", "--repo", program.repo)
    declined = program(*push)
    assert declined.returncode == 0, declined.stderr
    assert "declined" in declined.stdout
    planned = program(*push, "--dry-run")
    assert "planned" in planned.stdout
    assert program.repo not in hub.repos
