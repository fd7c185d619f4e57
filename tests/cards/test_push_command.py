"""`build push`, `build diff` and `build verify`, as a user types them, against the loopback Hub."""

import os
import pty
import re
import select
import subprocess
import sys

import pytest
from shared import sample_file

from discoprobe.cards.hub import PushResult
from discoprobe.cards.release.diff import Changes, ConfigChange, SplitChange
from discoprobe.cli.publishing import show_changes, show_plan

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

    def run(*words, answer=None):
        """``answer`` is typed on a terminal; without it there is no terminal."""
        case.seen.clear()
        environment = os.environ | {
            "HF_ENDPOINT": hub.url, "HF_TOKEN": case.token, "HF_HOME": str(home / "hf"), "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0",
        }  # fmt: skip
        terminal, stdin = pty.openpty() if answer else (None, subprocess.DEVNULL)
        if answer:
            os.write(terminal, answer.encode())
        return subprocess.run(
            [sys.executable, *words], cwd=home, env=environment, capture_output=True, text=True, check=False,
            timeout=120, stdin=stdin,
        )  # fmt: skip

    run.repo = case.repo
    return run


def test_the_plan_of_putting_a_release_back_names_files_and_says_nothing_of_changes(capsys):
    uploads = {"README.md": 1000, "bso_de/test.parquet": 2500}
    show_plan(PushResult("org/name", "1.0.0", "", None, uploads, ("other.parquet",)))
    assert capsys.readouterr().out.splitlines() == [
        "org/name 1.0.0: 2 files to send (3,500 bytes), 1 to delete",
        "files to send: README.md, bso_de/test.parquet",
        "files to delete: other.parquet",
    ]


def test_changes_count_rows_whose_text_was_edited(capsys):
    change = SplitChange(added=8, removed=6, edited=48)
    show_changes(Changes(changed=(ConfigChange("dc_es", {"train": change}),)))
    header, line = capsys.readouterr().out.splitlines()
    assert header.split() == ["config", "change", "added", "removed", "relabelled", "edited"]
    assert line.split() == ["dc_es", "changed", "8", "6", "0", "48"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_push_that_is_not_agreed_to_sends_nothing(program, hub):
    push = ("-m", "discoprobe", "push", "--corpus", "sample", "--task", "so", "--lang", "ru", "--repo", program.repo)
    unbuilt = program(*push, "--dry-run")
    assert "to build first, if the corpora support them:\nto build: so_ru (not built yet)\n" in unbuilt.stdout
    assert "planned" not in unbuilt.stdout
    declined = program(*push, answer="n\n")
    assert declined.returncode == 0, declined.stderr
    assert "Publish 1.0.0 to" in declined.stdout
    assert "declined" in declined.stdout
    planned = program(*push, "--dry-run")
    assert "planned" in planned.stdout
    assert "to build first" not in planned.stdout
    assert program.repo not in hub.repos


@pytest.mark.slow
def test_nothing_is_drawn_over_the_question(hub, home, tmp_path):
    """All of a real terminal: the bars of the build are gone, the plan is whole, and nothing moves until the answer."""
    case = hub.case("question")
    terminal, inside = pty.openpty()
    environment = os.environ | {
        "HF_ENDPOINT": hub.url, "HF_TOKEN": case.token, "HF_HOME": str(home / "hf"), "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0", "TERM": "xterm", "COLUMNS": "100",
    }  # fmt: skip
    words = [sys.executable, "-m", "discoprobe", *SAMPLE_PUSH, "--repo", case.repo]
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stdin=inside, stdout=inside, stderr=inside) as program:
        shown = b""
        while not shown.rstrip().endswith(b"[y/N]"):
            assert select.select([terminal], [], [], 100)[0], shown
            shown += os.read(terminal, 10_000)
        assert not select.select([terminal], [], [], 2)[0], os.read(terminal, 10_000)
        os.write(terminal, b"n\n")
        assert program.wait(60) == 0
    plan = re.sub(rb"\x1b\[[\d;?]*\w", b"", shown).rpartition(b"files to send")[2].decode().splitlines()
    assert [line.split()[0] for line in plan[1:3]] == ["config", "so_ru"]


SAMPLE_PUSH = ("push", "--corpus", "sample", "--task", "so", "--lang", "ru", "--out", "unbuilt")


def test_without_a_terminal_and_without_yes_nothing_is_built(build, tmp_path):
    done = build(*SAMPLE_PUSH, "--repo", "org/x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--yes" in done.stderr
    assert not (tmp_path / "unbuilt").exists()


@pytest.mark.parametrize(
    ("repo", "token", "status", "message"),
    [
        ("somebody/probes", "", 4, "may not write to repositories of somebody (403); give a --repo of"),
        ("org/a..b", "", 2, "'org/a..b' cannot be a repository"),
        ("org/foo.git", "", 2, "'org/foo.git' cannot be a repository"),
        ("org/x", "hf_wrong", 4, "valid token"),
        ("org/x", "hf_пароль", 2, "characters that no token has"),
    ],
)
def test_what_would_stop_a_push_is_said_before_anything_is_built(hub, build, tmp_path, repo, token, status, message):
    done = build(*SAMPLE_PUSH, "--repo", repo, "--yes", HF_TOKEN=token or hub.case("refused").token)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "unbuilt").exists()


def test_a_text_without_a_licence_is_refused_before_anything_is_built(hub, build, tmp_path):
    changed = sample_file("es").read_text("utf-8") + "# mine\n"
    (tmp_path / "es_gsd-ud-train.conllu").write_text(changed, encoding="utf-8")
    case = hub.case("unlicensed")
    done = build(
        "push", "--corpus", "es_gsd-ud-train.conllu", "--task", "so", "--out", "unbuilt", "--repo", case.repo, "--yes",
        HF_TOKEN=case.token,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "files to send" not in done.stdout
    assert "--allow-licence 'unknown'" in done.stderr
    assert "its files are not those of UD_Spanish-GSD in the catalogue" in done.stderr
    assert "--corpus UD_Spanish-GSD in place of the path" in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("error: ")
    assert not (tmp_path / "unbuilt").exists()


def test_the_plan_is_printed_in_full_with_yes_too(hub, build):
    case = hub.case("agreed")
    done = build(*SAMPLE_PUSH, "--repo", case.repo, "--yes", "--private", HF_TOKEN=case.token)
    assert done.returncode == 0, done.stderr
    assert "files to send" in done.stdout
    assert "so_ru" in done.stdout
    assert "published:" in done.stdout
    assert hub.repos[case.repo].private
