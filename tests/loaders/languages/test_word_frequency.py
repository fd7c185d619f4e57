"""Frequency lists: wordfreq's, and a user's with clear errors."""

import polars as pl
import pytest

from discoprobe.loaders import DiscoprobeError, UsageError
from discoprobe.loaders.languages import read_frequencies, wordfreq_code, wordfreq_form, wordfreq_ipm


def _list(folder, text):
    path = folder / "list.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _as_dict(frame):
    return dict(frame.select("word", "ipm").iter_rows())


def test_a_list_with_and_without_header_and_with_a_byte_order_mark(tmp_path):
    expected = {"дом": 391.5, "мочь": 2912.0}
    lines = "дом\t391.5\nмочь\t2912\n"
    assert _as_dict(read_frequencies(_list(tmp_path, lines))) == expected
    assert _as_dict(read_frequencies(_list(tmp_path, "\ufefflemma\tipm\n\n" + lines))) == expected


def test_homographs_are_added_and_capitals_do_not_count(tmp_path):
    assert _as_dict(read_frequencies(_list(tmp_path, "а\t8198\nа\t19.8\nА\t2.2\n"))) == {"а": pytest.approx(8220)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("дом 391\n", "list.tsv:1: expected lemma<TAB>ipm, found 'дом 391'"),
        ("a\t1\nb\t2\t3\n", "list.tsv:2: expected lemma<TAB>ipm"),
        ("a\t1\n\t2\n", "list.tsv:2: expected lemma<TAB>ipm"),
        ("a\tmany\n", "list.tsv:1: 'many' is not a frequency per million words"),
        ("a\t-1\n", "list.tsv:1: '-1' is not a frequency"),
        ("a\tnan\n", "list.tsv:1: 'nan' is not a frequency"),
        ("a\t1000001\n", "list.tsv:1: '1000001' is not a frequency"),
        ("lemma\tipm\n", "has no frequencies"),
        ("", "has no frequencies"),
        (b"\xff\xfe", "not UTF-8 (byte 0)"),
    ],
)
def test_a_faulty_list_is_refused_with_its_line(tmp_path, text, said):
    with pytest.raises(DiscoprobeError) as caught:
        read_frequencies(_list(tmp_path, text))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_list_that_is_not_there_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"none\.tsv: cannot be read"):
        read_frequencies(tmp_path / "none.tsv")


@pytest.mark.parametrize(
    ("lang", "code"),
    [
        ("es", "es"),
        ("lt", "lt"),
        ("is", "is"),
        ("sr", "sh"),  # Serbian, Croatian and Bosnian are languages of the macro-language Serbo-Croatian
        ("hr", "sh"),
        ("no", "nb"),  # Norwegian is the macro-language of Bokmål
        ("tl", "fil"),  # two codes of one language
        ("zh", "zh"),
        ("cop", None),
        ("gsw", None),  # German is another language, however near
        ("eu", None),
        ("hbo", None),
        ("grc", None),
    ],
)
def test_a_list_is_found_by_language_and_macro_language(lang, code):
    assert wordfreq_code(lang) == code


def test_every_list_of_wordfreq_is_found_by_its_own_code():
    import wordfreq

    assert [code for code in wordfreq.available_languages() if wordfreq_code(code) != code] == []


def test_one_per_million_is_zipf_three():
    import wordfreq

    words = ["the", "garden", "enjambment"]
    expected = [10 ** (wordfreq.zipf_frequency(word, "en") - 3) for word in words]
    assert wordfreq_ipm(pl.Series([*words, "qqqq"]), "en").to_list() == pytest.approx([*expected, 0.0], rel=0.02)


def test_words_are_written_as_the_list_writes_them():
    assert wordfreq_form(pl.Series(["Garden"]), "en").to_list() == ["garden"]
    assert wordfreq_form(pl.Series(["IŞIK", "İnsan"]), "tr").to_list() == ["ışık", "insan"]
    assert wordfreq_form(pl.Series(["مُتَّحِد"]), "ar").to_list() == ["متحد"]


def test_a_language_that_wordfreq_lacks_is_an_error_that_names_the_way_out():
    with pytest.raises(DiscoprobeError, match="wordfreq has no list 'cop'"):
        wordfreq_ipm(pl.Series(["a"]), "cop")
