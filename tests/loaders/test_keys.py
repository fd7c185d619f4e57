"""Keys of texts: equal for texts that differ in case and white space only, whatever that space is."""

import pytest

from discoprobe.loaders import keys_of, text_keys

WHITE = [chr(i) for i in range(0x11_0000) if chr(i).isspace()]


@pytest.mark.parametrize("space", [" ", "  ", *WHITE])
def test_white_space_and_case_do_not_count(space):
    texts = [f"Ab{space}cd", f"{space}ab cd", f"ab cd{space}", f"aB{space * 2}cD", "ab cd"]
    expected = keys_of([b"ab cd"]).to_list()
    assert text_keys(texts).to_list() == 5 * expected
    assert [key for text in texts for key in text_keys([text])] == 5 * expected


def test_other_texts_have_other_keys():
    texts = ["abcd", "ab cd", "ab\u200bcd", "a b c d", "", "straße", "gross"]
    assert text_keys(texts).n_unique() == len(texts)
    assert text_keys(["STRASSE"]).to_list() == text_keys(["straße"]).to_list()
    assert text_keys([]).to_list() == []
