"""Progress where stderr is no terminal: a line after ten seconds and each minute, and the speed at the end."""

import re
import time

import pytest
from shared import ROOT

from discoprobe.cli import terminal
from discoprobe.loaders import WORDS


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    return now


def test_a_line_a_minute_says_how_far_each_step_is(clock, capsys):
    with terminal.progress() as progress:
        for step, total in {"reading de: kB of text": 9000, "bso_de: rows": 500, "dc_de: rows": 1000}.items():
            progress(step, 0, total)
        for second in range(10, 131, 10):
            clock[0] = second
            progress("bso_de: rows", min(second * 10, 500), 500)
            progress("dc_de: rows", second, 1000)
            progress("reading de: kB of text", 10 * second, 9000)
            progress(WORDS, 10_000, 0)
    first, second, third, speed = capsys.readouterr().err.splitlines()
    assert first.startswith("reading de: kB of text: 0 of 9,000 (1 min left); bso_de: rows: 100 of 500")
    assert second == "reading de: kB of text: 600 of 9,000 (14 min left); dc_de: rows: 60 of 1,000"
    assert third == "reading de: kB of text: 1,200 of 9,000 (13 min left); dc_de: rows: 120 of 1,000"
    assert "bso_de" not in second
    assert speed == "130,000 words in 130 s: 1,000 words/s"


def test_a_step_without_words_says_no_speed(clock, capsys):
    with terminal.progress() as progress:
        progress("building es", 1, 2)
        clock[0] = 5
    assert capsys.readouterr().err == ""


def test_a_rare_config_ends_when_all_is_read_and_reading_when_all_configs_are_full(clock, capsys):
    with terminal.progress() as progress:
        for step in ("reading de: kB of text", "somo_de: rows", "so_de: rows"):
            progress(step, 0, 120_000)
        clock[0] = 60
        progress("reading de: kB of text", 40_000, 120_000)
        progress("so_de: rows", 60_000, 120_000)
        clock[0] = 120
        progress("somo_de: rows", 12, 120_000)
    _, line = capsys.readouterr().err.splitlines()
    assert line == (
        "reading de: kB of text: 40,000 of 120,000 (1 min left); somo_de: rows: 12 of 120,000; "
        "so_de: rows: 60,000 of 120,000 (1 min left)"
    )


def test_the_time_left_goes_down_while_a_block_is_built(clock, capsys):
    """Blocks of 1,000 kB take two minutes; the third takes five."""
    step, lines = "reading de: kB of text", []
    with terminal.progress() as progress:
        progress(step, 0, 9000)
        for minute in range(1, 8):
            clock[0] = 60 * minute
            if minute in {2, 4}:
                progress(step, 500 * minute, 9000)
            progress("bso_de: rows", 0, 500)  # each step that reports has the line printed
            lines.append(capsys.readouterr().err.partition(";")[0].strip())
    left = [line.removesuffix(" min left)").rpartition("(")[2] for line in lines[1:]]
    assert lines[1] == "reading de: kB of text: 1,000 of 9,000 (16 min left)"
    assert left == ["16", "15", "14", "13", "12", "12"]


def test_the_bar_of_a_terminal_shows_the_same_time_left(clock):
    display = terminal.ProgressDisplay()
    display("reading de: kB of text", 0, 9000)
    clock[0] = 120
    display("reading de: kB of text", 1000, 9000)
    clock[0] = 150
    (task,) = display._bars.tasks
    assert display._bars.columns[-1].render(task).plain == "0:15:30"


def test_no_config_takes_longer_when_all_is_read(clock, capsys):
    with terminal.progress() as progress:
        progress("somo_de: rows", 0, 120_000)
        progress("reading de: kB of text", 0, 9000)
        clock[0] = 60
        progress("reading de: kB of text", 9000, 9000)
        clock[0] = 120
        progress("somo_de: rows", 12, 120_000)
    assert capsys.readouterr().err.splitlines()[-1] == "somo_de: rows: 12 of 120,000"


def test_the_same_step_of_a_second_corpus_is_timed_from_its_own_beginning(clock, capsys):
    with terminal.progress() as progress:
        progress("auditing de", 0, 1)
        clock[0] = 10
        progress("auditing de", 1, 1)
        clock[0] = 600
        progress("auditing de", 0, 15)
        clock[0] = 660
        progress("auditing de", 1, 15)
    assert capsys.readouterr().err.splitlines()[-1] == "auditing de: 1 of 15 (14 min left)"


def test_a_line_comes_also_while_no_step_says_anything(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "LINE_SECONDS", 0.1)
    monkeypatch.setattr(terminal, "FIRST_SECONDS", 0.05)
    with terminal.progress() as progress:
        progress("reading de: kB of text", 0, 9000)
        printed, deadline = "", time.monotonic() + 20
        while printed.count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            printed += capsys.readouterr().err
    assert printed.count("\n") >= 2
    assert set(printed.splitlines()) == {"reading de: kB of text: 0 of 9,000 (1 min left)"}


def test_annotation_is_counted_in_words(clock, capsys):
    with terminal.progress() as progress:
        progress("annotating", 1_000, 50_000)
        clock[0] = 61
        progress("annotating", 2_000, 50_000)
    assert "annotating: 2,000 of 50,000 words" in capsys.readouterr().err


def test_a_bar_that_is_full_is_not_shown(clock):
    """What is full is done, and another step is at work; of a step that is named again the bar comes back."""
    with terminal.progress() as progress:
        progress("building es: tasks", 1, 2)
        progress("reading es: kB of text", 9, 9)
        shown = {task.description: task.visible for task in progress._bars.tasks}
        assert shown == {"building es: tasks": True, "reading es: kB of text": False}
        progress("reading es: kB of text", 1, 9)
        assert all(task.visible for task in progress._bars.tasks)


def test_every_step_says_what_it_counts():
    """``auditing es: datasets``; a step of a single unit has a name only."""
    named = {}
    for path in [*(ROOT / "scripts" / "discoprobe").glob("*.py"), *(ROOT / "cards").rglob("*.py")]:
        named |= dict.fromkeys(
            re.findall(r'progress\(f?"([^"]+)", (?!0, 1\)|1, 1\))', path.read_text("utf-8")), path.name
        )
    assert len(named) >= 5
    assert [step for step in named if ": " not in step] == []


def test_a_time_left_is_said_before_the_first_unit_is_done(clock, capsys):
    """Nine configs from 88 MB of text took 792 seconds; Stanza annotates some 2,000 words a second."""
    with terminal.progress() as progress:
        progress("reading de: kB of text", 0, 88_000)
        for name in "abcdefghi":
            progress(f"{name}_de: rows", 0, 120_000)
        progress(terminal.ANNOTATING, 0, 600_000)
        progress("comparing labels of de", 0, 4)
        for seconds in (10, 70, 130):
            clock[0] = seconds
            progress("a_de: rows", 0, 120_000)
    lines = [line.split("; ") for line in capsys.readouterr().err.splitlines()]
    assert [line[0] for line in lines] == [
        f"reading de: kB of text: 0 of 88,000 ({minutes} min left)" for minutes in (14, 13, 12)
    ]
    assert lines[0][-2:] == [
        "annotating: 0 of 600,000 words (5 min left)",
        "comparing labels of de: 0 of 4 (1 min left)",
    ]
