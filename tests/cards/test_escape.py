"""Corpus text is data: whatever it says, a card shows its characters."""

import html
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discoprobe.cards.text import markdown

HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[click](javascript:alert(1))", "![x](//evil/x.png)",
    "| a | b |", "# heading", "---", "```\ncode", "`code`", "**bold** _it_ ~~gone~~", "$x^2$", "\\[x\\](y)",
    "a\nb\n\n# c",
    "&lt;b&gt;", "<!-- hidden", "</details>", "\u202eevil\u202c", "a\u2028b\u2029c", "tab\there",
    "{{ config }} {% raw %}",
    "---\nlicense: mit\n---", "\\", "\\`", "[^1]: note", "<https://evil>", "\x00\x1b[31m", "a\r\nb",
]  # fmt: skip


def shown(text):
    """What a reader sees of Markdown without markup: backslash escapes and entities resolved."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", html.unescape(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_is_markup(text):
    made = markdown(text)
    assert "\n" not in made
    assert "\r" not in made
    assert "<" not in made
    assert ">" not in made
    for mark in "`*_[]|#~$":
        assert not re.search(rf"(?<!\\)(?:\\\\)*{re.escape(mark)}", made), made


@given(st.text(max_size=200))
@example("a\\`b")
@example("&amp;")
def test_every_character_is_shown(text):
    expected = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in text)
    expected = re.sub("[\u202a-\u202e\u2066-\u2069]", "", re.sub("[\ufffe\uffff]", "\ufffd", expected))
    assert shown(markdown(text)) == expected


@given(st.text())
def test_one_line_without_tags(text):
    made = markdown(text)
    assert len(made.splitlines()) <= 1
    assert not {"<", ">"} & set(made)


def test_long_text_is_cut():
    assert markdown("a" * 5000).endswith("…")
    assert len(markdown("a" * 5000)) < 1000
    assert markdown("a" * 500) == "a" * 500
