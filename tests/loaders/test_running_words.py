"""Words of running text in any script."""

import polars as pl
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders import (
    alphanumeric_words_of,
    is_unspaced,
    n_alphanumeric_words,
    n_running_words,
    n_words,
    running_words,
    word_count,
    word_spans,
)


def words(text):
    return pl.select(running_words(pl.lit(text))).item().to_list()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Del puente, nuevo…", ["del", "puente", "nuevo"]),
        ("ÉTÉ straße", ["été", "straße"]),
        ("Йод и Ёлка", ["йод", "и", "ёлка"]),
        ("don't 3,5 a_b", ["don", "t", "3", "5", "a_b"]),
        ("我们 go", ["我", "们", "go"]),
        ("カタ12", ["カ", "タ", "12"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("", []),
        ("…!?", []),
        ("⼀ 〇 々", ["〇", "々"]),  # the first is a radical: of a script without spaces, and no letter
    ],
)
def test_words(text, expected):
    assert words(text) == expected
    assert pl.select(n_running_words(pl.lit(text))).item() == len(expected)


@pytest.mark.parametrize(("text", "n"), [("我们走", 1), ("我", 0), ("we go", 2), ("…", 0), ("", 0)])
def test_two_characters_of_an_unspaced_script_are_a_word(text, n):
    assert pl.select(n_words(pl.lit(text))).item() == n


@pytest.mark.parametrize(("text", "n"), [("我们走", 1.5), ("我", 0.5), ("we go", 2), ("…", 0), ("", 0)])
def test_a_single_character_is_half_a_word(text, n):
    assert pl.select(n_words(pl.lit(text), halves=True)).item() == n


@given(st.text(max_size=60))
def test_words_are_lower_case_slices(text):
    for word in words(text):
        assert word
        assert " " not in word
    assert pl.select(n_running_words(pl.lit(text))).item() == len(words(text))
    assert words(text) == words(text.lower()) or text.lower() != text.lower().lower()


@given(st.text(alphabet="ab Ä,.", max_size=40))
def test_case_and_punctuation_do_not_matter(text):
    assert words(text) == words(text.upper()) == words(text.replace(",", " ").replace(".", " "))


@pytest.mark.parametrize(
    ("text", "expected"), [("我们走", True), ("we go", False), ("ไทย", True), ("", False), ("go 我", False)]
)
def test_scripts_without_spaces(text, expected):
    assert pl.select(is_unspaced(pl.lit(text))).item() is expected


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("Das ist ein Satz.", 4),
        ("Kapitel 2漢字", 4),
        ("2019年的春天,他来了。再见", 12),
        ("abc漢def ไทย", 6),
        (" ", 0),
        ("བཀྲ་ཤིས་བདེ་ལེགས། ངའི་མིང་", 6),
    ],
)
def test_number_of_words_between_white_space(text, n):
    assert word_count(text) == n


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'homme du Nord-Süd, 3.30 Uhr…", ["L'homme", "du", "Nord", "-", "Süd", ",", "3.30", "Uhr", "…"]),
        ("यह एक किताब है।", ["यह", "एक", "किताब", "है", "।"]),
        ("Привіт, м'яч!", ["Привіт", ",", "м'яч", "!"]),
        ("שָׁלוֹם עוֹלָם", ["שָׁלוֹם", "עוֹלָם"]),
        ("  ", []),
        ("", []),
    ],
)
def test_words_are_those_of_unicode(text, expected):
    assert [text[start:end] for start, end in word_spans(text)] == expected


@given(st.text(st.sampled_from("abÄßⅧª12.,:;'’·_-–/ \u0301\u200dкनि漢ใ½²€\N{GRINNING FACE}…«»"), max_size=40))
def test_words_are_counted_as_the_rules_divide_them(text):
    spoken = sum(bool(regex.search(r"[\p{L}\p{N}]", text[a:b])) for a, b in word_spans(text))
    assert n_alphanumeric_words(text) == spoken
    assert alphanumeric_words_of([text]) == [spoken]
