"""What agents read, docs/llms.txt and the skill file, is short, and each command and link in it is right."""

import re

import pytest
import typer.main
import yaml
from shared import ROOT

from discoprobe.cli import app

LLMS, SKILL = ROOT / "docs" / "llms.txt", ROOT / "docs" / "skill" / "SKILL.md"
COMMANDS = [line[2:] for line in SKILL.read_text(encoding="utf-8").splitlines() if line.startswith("$ build ")]


def test_there_are_commands():
    assert len(COMMANDS) >= 8


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_and_its_options_exist(line):
    command = typer.main.get_command(app)
    words = line.split()[1:]
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context(command.name, words, resilient_parsing=False)  # it would name what it does not know


def test_llms_txt_has_its_form():
    """https://llmstxt.org: a title, a summary, and lists of links below headings."""
    text = LLMS.read_text(encoding="utf-8")
    title, summary, _ = re.split(r"\n\n", text, maxsplit=2)
    assert title == "# discoprobe"
    assert all(line.startswith("> ") for line in summary.splitlines())
    for section in text.split("\n## ")[1:]:
        lines = section.splitlines()[2:]
        assert all(re.match(r"- \[[^\]]+\]\([^)]+\)", line) for line in lines if line), lines


@pytest.mark.parametrize("path", [LLMS, SKILL])
def test_links_lead_somewhere_and_the_text_is_short(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (path.parent / target.partition("#")[0]).exists(), target
    assert len(text.split()) < 350


def test_the_skill_says_when_it_is_used():
    _, front, body = SKILL.read_text(encoding="utf-8").split("---\n", 2)
    about = yaml.safe_load(front)
    assert about.keys() == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9-]{1,64}", about["name"])
    assert len(about["description"]) <= 1024
    assert body.lstrip().startswith("# ")


def test_the_exit_statuses_are_those_of_the_program():
    from discoprobe.loaders import errors

    text = LLMS.read_text(encoding="utf-8")
    statuses = {
        1: errors.DiscoprobeError, 2: errors.UsageError, 4: errors.RemoteError,
    }  # fmt: skip
    for status, kind in statuses.items():
        assert kind.exit_status == status
        assert f"{status} " in text
    assert errors.AUDIT_FAILED == 3
