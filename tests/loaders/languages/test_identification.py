"""Language identification is nearly always right on real news."""

import pytest
from shared import SHARED

from discoprobe.loaders.raw import is_known, probabilities

NTREX = SHARED / "corpora" / "text" / "ntrex128"


@pytest.mark.skipif(not NTREX.is_dir(), reason="no ../shared with raw text beside the repository")
@pytest.mark.parametrize(("lang", "file"), [("de", "deu"), ("es", "spa"), ("uk", "ukr"), ("fa", "fas"), ("ja", "jpn")])
def test_language_of_news(lang, file):
    lines = (NTREX / f"newstest2019-ref.{file}.txt").read_text("utf-8").splitlines()[:300]
    long = [line for line in lines if sum(map(str.isalpha, line)) >= 50]
    assert is_known(lang)
    judged = [probabilities(text, lang) for text in long]
    assert sum(own < other for own, other in judged) <= len(long) / 200
    assert max(other for _, other in judged) < 0.9
