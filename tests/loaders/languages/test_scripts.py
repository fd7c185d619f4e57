"""Scripts: the letters of a language, and whether it has spaces between words."""

import pytest

from discoprobe.loaders import word_count
from discoprobe.loaders.languages import (
    WITHOUT_SPACES,
    has_spaces,
    lacking,
    language_data,
    languages,
    script_share,
)
from discoprobe.loaders.raw.segmentation import sentence_spans


@pytest.mark.parametrize(
    ("text", "lang", "share"),
    [("Привет Welt", "ru", 0.6), ("漢字かなカナ", "ja", 1), ("漢字", "zh", 1), ("한국 漢字", "ko", 1),
     ("Београд Zagreb", "sr", 1),
     ("12 + 3", "de", 1), ("whatever", "akk", 1), ("שלום", "he", 1), ("سلام", "fa", 1), ("Ἑλλάς", "grc", 1)],
)  # fmt: skip
def test_script_share(text, lang, share):
    assert script_share(text, lang) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(
    ("lang", "spaces"), [("th", False), ("yue", False), ("bo", False), ("ko", True), ("vi", True), ("xx", True)]
)
def test_a_language_without_a_file_has_spaces_if_its_script_has(lang, spaces):
    assert language_data(lang).spaces is spaces


@pytest.mark.parametrize("lang", languages())
def test_files_and_scripts_agree_on_spaces(lang):
    assert language_data(lang).spaces is has_spaces(lang)


def test_words_are_counted_in_every_script_without_spaces():
    two = {
        "Hans": "汉字", "Hant": "漢字", "Hani": "漢字", "Jpan": "かナ", "Thai": "ไท", "Laoo": "ລາ", "Khmr": "ខម",
        "Mymr": "မန", "Tibt": "བཀྲ་ཤིས",
    }  # fmt: skip
    assert {script: word_count(text) for script, text in two.items()} == dict.fromkeys(WITHOUT_SPACES, 2)


@pytest.mark.parametrize(
    ("lang", "text", "divided"),
    [
        ("am", "ሰላም ነው። ደህና ነው።", True),
        ("hy", "Ես եմ։ Դու ես։", True),
        ("my", "ငါ။ သင်။", True),
        ("or", "ମୁଁ। ତୁମେ।", True),
        ("ur", "میں۔ تم۔", True),
        ("yi", "איך גיי. דו גייסט.", True),
        ("bo", "བོད། ཡིན།", False),
        ("th", "ผมไป คุณมา", False),
    ],
)
def test_sentence_marks_are_lacking_where_rules_find_none(lang, text, divided):
    assert (len(sentence_spans(text, lang)) == 2) == divided
    assert ("sentence marks" not in lacking(lang)) == divided


def test_what_a_language_lacks():
    assert lacking("de") == []
    assert lacking("wo") == ["frequency list"]
    assert "spaces" in lacking("zh")
    assert lacking("qfn") == ["connectives", "pronouns", "frequency list"]
