"""Language identification is nearly always right on real news."""

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier
from shared import SHARED

from discoprobe.loaders.raw import is_known, probabilities
from discoprobe.loaders.raw.raw_corpus import CHARACTERS, SAME

MODEL = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
GERMAN = "Der alte Mann ging jeden Morgen über die Brücke und kaufte am Markt frisches Brot für seine Nachbarin. " * 8

NTREX = SHARED / "corpora" / "text" / "ntrex128"


@pytest.mark.skipif(not NTREX.is_dir(), reason="no ../shared with raw text beside the repository")
@pytest.mark.parametrize(("lang", "file"), [("de", "deu"), ("es", "spa"), ("uk", "ukr"), ("fa", "fas"), ("ja", "jpn")])
def test_language_of_news(lang, file):
    lines = (NTREX / f"newstest2019-ref.{file}.txt").read_text("utf-8").splitlines()[:300]
    long = [line for line in lines if sum(map(str.isalpha, line)) >= 50]
    assert is_known(lang)
    judged = probabilities(long, lang)
    assert sum(own < other for own, other in judged) <= len(long) / 200
    assert max(other for _, other in judged) < 0.9


def test_probabilities_are_those_of_the_classifier():
    """Of texts of all lengths together, and of each alone; of a language with two scripts, and without a feature."""
    texts = [
        "",
        "12 34",
        "Wie spät ist es?",
        "QUÉ HORA ES",
        "Данас је леп дан, сутра ће падати киша." * 20,
        "a\u0301 " * 9,
    ]
    texts += [GERMAN[:n] for n in (1, 2, 40, 500, 700)] + ["Danas je lep dan.", "今日はいい天気ですね。", "\ud800x"]
    for lang in ("de", "sr", "es"):
        same = next((languages for languages in SAME if lang in languages), {lang})
        for text, found in zip(texts, probabilities(texts, lang), strict=True):
            ranked = MODEL.rank(text[:CHARACTERS])
            expected = (
                sum(share for code, share in ranked if code in same),
                next(share for code, share in ranked if code not in same),
            )
            assert found == pytest.approx(expected, abs=1e-4), text
            assert probabilities([text], lang) == [pytest.approx(found, abs=1e-6)]
    assert probabilities([], "de") == []
