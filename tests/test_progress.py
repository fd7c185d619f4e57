"""Progress where stderr is no terminal: a line a minute with all that is not done, and the speed at the end."""

import pytest

from discoprobe.cli import terminal
from discoprobe.loaders.process_pool import WORDS


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    return now


def test_a_line_a_minute_says_how_far_each_step_is(clock, capsys):
    with terminal.progress() as progress:
        progress("reading de: kB of text", 0, 9000)
        for second in range(10, 131, 10):
            clock[0] = second
            progress("bso_de: rows", min(second * 10, 500), 500)
            progress("dc_de: rows", second, 1000)
            progress("reading de: kB of text", 10 * second, 9000)
            progress(WORDS, 1000, 0)
    first, second, speed = capsys.readouterr().err.splitlines()
    assert first == "reading de: kB of text: 500 of 9,000 (17 min left); dc_de: rows: 50 of 1,000 (16 min left)"
    assert "dc_de: rows: 110 of 1,000 (" in second
    assert "bso_de" not in second
    assert speed == "13,000 words in 130 s: 100 words/s"


def test_a_step_without_words_says_no_speed(clock, capsys):
    with terminal.progress() as progress:
        progress("building es", 1, 2)
        clock[0] = 5
    assert capsys.readouterr().err == ""
