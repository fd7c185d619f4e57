"""What a newcomer types first: nothing, help, tab, and the options of habit."""

import json
import re

import pytest
from shared import run_in_process

from discoprobe.builders import all_tasks

SAMPLE = ("run", "--lang", "es", "--corpus", "sample", "--task", "bso", "--no-audit")


def panels(text):
    """The options of each panel of a help page."""
    found, name = {}, ""
    for line in text.splitlines():
        if head := re.match(r"╭─ (\w+) ─", line):
            name = head[1]
        elif option := re.match(r"│ (?:\* +)?(--[\w-]+)", line):
            found.setdefault(name, []).append(option[1])
    return found


@pytest.mark.parametrize(
    ("name", "first", "panels_of"),
    [
        ("run", 5, ["Corpora", "Sizes", "Filters", "Audit", "Output"]),
        ("push", 7, ["Publishing", "Corpora", "Sizes", "Filters", "Output"]),
    ],
)
def test_help_begins_with_what_people_need_first(name, first, panels_of):
    done = run_in_process(name, "--help", environment={"TERM": "dumb", "COLUMNS": "100"})
    shown = panels(done.stdout)
    assert [*shown] == ["Options", *panels_of]
    options = [option for option in shown["Options"] if option != "--help"]
    assert len(options) == first
    assert {"--lang", "--corpus", "--task", "--out", "--dry-run"} <= set(options)


def test_nothing_says_what_to_type_first(tmp_path):
    done = run_in_process(cwd=tmp_path)
    assert done.returncode == 2
    lines = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  build ")]
    assert [line[0] for line in lines] == ["run", "tasks", "annotate", "audit", "--help"]
    assert len(done.stdout.splitlines()) <= 12
    until = [line.index(word) for line in lines[:1] for word in line if word == "sample"]
    assert run_in_process(*lines[0][: until[0] + 1], "--task", "bso", "--no-audit", cwd=tmp_path).returncode == 0


def completed(line, **environment):
    """What the shell offers at the end of a line."""
    words = line.split(" ")
    asked = {"_BUILD_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    return run_in_process(environment=asked | environment).stdout.split()


def test_languages_tasks_and_configs_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {"es", "et", "eu"} <= set(completed("build run --lang e"))
    assert "de,es" in completed("build run --lang de,e")
    assert set(completed("build run --task ns")) == {name for name in all_tasks() if name.startswith("ns")}
    assert completed("build run --task dc,disc") == ["dc,discourse"]
    assert run_in_process(*SAMPLE, "--out", "rel").returncode == 0
    assert completed("build card --out rel b") == ["bso_es"]
    assert completed("build audit --out nowhere b") == []
    assert "sample" in completed("build run --corpus s")
    assert "UD_Spanish-AnCora" in completed("build run --corpus UD_Spanish-")


@pytest.mark.parametrize("place", ["before", "after"])
def test_quiet_prints_errors_only(process, tmp_path, place):
    line = ["--quiet", *SAMPLE] if place == "before" else [*SAMPLE, "-q"]
    done = process(*line, "--out", "rel")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "rel" / "manifest.json").is_file()


def test_quiet_keeps_errors_json_and_what_was_asked_for(process):
    assert json.loads(process(*SAMPLE, "--json", "-q").stdout)["configs"]
    wrong = process("-q", "run", "--lang", "xx")
    assert wrong.stderr.startswith("error: ")
    assert process("-q", "tasks").stdout, "a list is what was asked for"


def test_the_log_is_shown_wherever_it_is_asked_for(process):
    done = process(*SAMPLE, "-v")
    assert done.returncode == 0
    assert "bso_es: " in done.stdout


def test_every_report_is_there_as_json(tmp_path):
    (made,) = [run_in_process("new", "task", "my_task", "--json", cwd=tmp_path)]
    written = json.loads(made.stdout)
    assert (tmp_path / written["file"]).is_file()
    assert [line.split()[1] for line in written["commands"]] == ["check", "run"]
    assert run_in_process(*SAMPLE, "--out", "rel", cwd=tmp_path).returncode == 0
    card = json.loads(run_in_process("card", "bso_es", "--out", "rel", "--json", cwd=tmp_path).stdout)
    assert card["config"] == "bso_es"
    assert card["card"].startswith("#")
    assert card["entry"]["counts"]["train"]


def test_a_folder_of_a_plugin_is_checked(tmp_path):
    for line in (("task", "my_task"), ("language", "da"), ("corpus", "mine", "--lang", "es")):
        assert run_in_process("new", *line, "--plugins", "own", cwd=tmp_path).returncode == 0
    done = run_in_process("check", "own", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "no mistakes in 3 files\n")
    (tmp_path / "own" / "languages" / "da.toml").write_text("nmae = 'x'\n", encoding="utf-8")
    broken = run_in_process("check", "own", "--json", cwd=tmp_path)
    assert broken.returncode == 1
    assert any("nmae" in line for line in json.loads(broken.stdout))
    (tmp_path / "empty").mkdir()
    nothing = run_in_process("check", "empty", cwd=tmp_path)
    assert nothing.returncode == 2
    assert "build new" in nothing.stderr
