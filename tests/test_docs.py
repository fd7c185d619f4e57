"""Every command and option says what it does, and what README shows is what happens."""

import re
import shlex

import pytest
import typer.main
from shared import ROOT

from discoprobe.builders.task import all_tasks
from discoprobe.cli import app

README = (ROOT / "README.md").read_text(encoding="utf-8") if (ROOT / "README.md").exists() else ""
PROGRAMS = ("build", "discoprobe")


def commands_below(command, name=()):
    """Every command with its full name, groups included."""
    found = [(name, command)]
    for child, below in getattr(command, "commands", {}).items():
        found += commands_below(below, (*name, child))
    return found


COMMANDS = commands_below(typer.main.get_command(app))
LEAVES = {name: command for name, command in COMMANDS if not hasattr(command, "commands")}


def console_lines(text):
    """The commands of README: lines of ``console`` blocks that begin with ``$``."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [part for part in parts if part.split()[:1] and part.split()[0] in PROGRAMS]


SHOWN = console_lines(README)
NEEDS_README = pytest.mark.skipif(not SHOWN, reason="README has no console block with a command of the program")


@pytest.mark.parametrize("name", [pytest.param(name, id=" ".join(name) or "build") for name, _ in COMMANDS])
def test_every_command_and_option_has_help(name):
    command = dict(COMMANDS)[name]
    assert command.help
    assert command.help.strip()[0].isupper()
    for parameter in command.params:
        if parameter.name != "help":
            assert (getattr(parameter, "help", None) or "").strip(), f"{' '.join(name)}: {parameter.name} has no help"


@pytest.mark.parametrize("name", all_tasks())
def test_every_task_says_what_it_is(name):
    first, _, rest = all_tasks()[name].definition.partition("\n")
    assert len(first) <= 160
    assert first.strip()[-1] in ".?)"
    assert len(rest.split()) >= 20, "the card needs a definition"


@NEEDS_README
def test_readme_names_every_command():
    for name in LEAVES:
        assert f"build {' '.join(name)}" in README or f"build {name[0]}" in README, (
            f"README is silent on {' '.join(name)}"
        )


def command_of(words):
    """The command that the words call, and its arguments."""
    words = [word for word in words if word not in {"-v", "--verbose"}]
    name = next((tuple(words[:n]) for n in (2, 1) if tuple(words[:n]) in LEAVES), None)
    assert name, f"no such command: {' '.join(words)}"
    return LEAVES[name], words[len(name) :]


@NEEDS_README
@pytest.mark.parametrize("line", SHOWN)
def test_commands_of_readme_can_be_parsed(line):
    command, arguments = command_of(shlex.split(line, comments=True)[1:])
    known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    for word in arguments:
        if word.startswith("-"):
            assert word.partition("=")[0] in known | {"--help", "-h"}, line


FILES = (".conllu", ".tsv", ".parquet", ".csv")
NETWORK = {"push", "verify", "fetch", "diff"}


def needs_network(words):
    """Whether a command downloads or publishes: the catalogue's corpora, the Hub."""
    if words[1:2] == ["corpora"] or NETWORK & set(words):
        return bool(NETWORK & set(words))
    return words[1] in {"run", "tasks"} and "--lang" in words and "sample" not in words


@NEEDS_README
def test_commands_of_readme_run_as_written(command, tmp_path):
    """In the order of README, in one empty folder; what needs the network is only parsed (above)."""
    ran = 0
    for line in SHOWN:
        words = shlex.split(line, comments=True)
        files = [word for word in words[1:] if word.endswith(FILES) or word.startswith("my_")]
        if needs_network(words) or files or "|" in words:
            continue
        done = command(*words[1:], cwd=tmp_path)
        assert done.returncode in {0, 3}, f"{line}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        ran += 1
    assert ran


@NEEDS_README
def test_python_of_readme_compiles():
    for block in re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE):
        compile(block.replace(">>> ", "").replace("... ", ""), "README.md", "exec")
