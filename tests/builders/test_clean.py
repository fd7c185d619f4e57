"""Which texts may be shown (TASKS rule 7), in both directions."""

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders.clean import FAULTS, fault


def why(text):
    return pl.select(fault(pl.lit(text))).item()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A \ufffd b", "replacement-character"),
        ("A\x07b", "control-character"),
        ("A\tb", "control-character"),
        ("A\u0085b", "control-character"),
        ("A \ue000 b", "private-use-character"),
        ("A &amp; b", "entity"),
        ("A &#39; b", "entity"),
        ("A &#x27; b", "entity"),
        ("A <br> b", "tag"),
        ("A </div> b", "tag"),
        ('A <a href="x">b</a>', "tag"),
        ("A ____ b", "mask"),
        ("_ _ _ _", "mask"),
        ("V Praze, dne # října .", "mask"),
        ("místopředseda FS * Kučera", "mask"),
        ("průměr # .", "mask"),
        ("e\u0301te\u0301", "not-nfc"),
        ("\u212b is no letter", "not-nfc"),
    ],
)
def test_not_clean(text, reason):
    assert why(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        *("Las obras del puente terminaron ayer.", "été", "R&D & more; so", "AT&T; yes", "1 < 2 and 3 > 2", "a <3 b"),
        *("<< quoted >>", "snake_case", "_emphasis_", "€ 5 — «yes»", "Она сказала: „да“.", "हिन्दी", "我们", "👍🏽 ok"),
        *("a _ b", "x &c.; y", "עִבְרִית", "نص عربي", "* An item", "# 5 and a #tag", "In C# it is 2*3"),
    ],
)
def test_clean(text):
    assert why(text) is None or unicodedata.normalize("NFC", text) != text


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Co", "Cs")), max_size=50))
def test_texts_without_any_mark_are_clean_if_they_are_composed(text):
    if not set("\ufffd&<_#*") & set(text):
        assert why(text) == (None if unicodedata.is_normalized("NFC", text) else "not-nfc")


def test_every_reason_is_tested():
    tested = {mark.args[1][i][1] for mark in test_not_clean.pytestmark for i in range(len(mark.args[1]))}
    assert set(FAULTS) | {"not-nfc"} == tested


def test_the_first_reason_counts():
    assert why("\ufffd &amp;") == "replacement-character"
