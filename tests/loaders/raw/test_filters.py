"""Filters: script, language, length, and what recurs; every drop has its reason."""

import pytest
from shared import SHARED

from discoprobe.loaders.raw.language_share import is_known, probability
from discoprobe.loaders.raw.options import ReadOptions
from discoprobe.loaders.raw.read import read_documents
from discoprobe.loaders.raw.scripts import script_share

GERMAN = "Der alte Mann ging jeden Morgen über die Brücke und kaufte am Markt frisches Brot für seine Nachbarin."
ENGLISH = "The old man walked across the bridge every morning and bought fresh bread for his neighbour at the market."
OTHER = "Nachts schlief die ganze Stadt, nur in der kleinen Bäckerei neben der Kirche brannte noch immer das Licht."
RUSSIAN = "Старик каждое утро ходил через мост и покупал на рынке свежий хлеб для своей соседки, которая жила одна."
LONG = " ".join(f"Im Jahr {n} kam die Gruppe {n * 7} nach Hause und blieb bis zum Abend {n * 3}." for n in range(20))


@pytest.fixture
def read(tmp_path):
    def documents(texts, **options):
        for name, text in texts.items():
            (tmp_path / f"{name}.txt").write_text(text)
        corpus = read_documents(tmp_path, ReadOptions(**options))
        return {d.doc_id: d for d in corpus}, dict(corpus.counts.reasons)

    return documents


def test_other_scripts_and_languages(read):
    found, reasons = read({"a": f"{GERMAN}\n\n{RUSSIAN}\n\n{ENGLISH}\n\n{OTHER}", "b": ENGLISH}, lang="de")
    assert [p.text for p in found["a"].paragraphs] == [GERMAN, OTHER]
    assert found["a"].gaps == {1}
    assert reasons["script"] == 1
    assert reasons["paragraph-language"] == 2
    assert "b" not in found


def test_a_document_in_another_language_goes_as_a_whole(read):
    found, reasons = read({"a": f"{ENGLISH}\n\n{ENGLISH[4:]}\n\n{GERMAN}"}, lang="de")
    assert not found
    assert reasons["document-language"] == 1


def test_filters_can_be_switched_off(read):
    texts = {"a": f"{RUSSIAN}\n\n{ENGLISH}", "b": f"{RUSSIAN}\n\n{ENGLISH}"}
    found, reasons = read(texts, lang="de", script_share=0, language_share=0, duplicates=False)
    assert [len(d.paragraphs) for d in found.values()] == [2, 2]
    assert reasons == {}


@pytest.mark.parametrize(
    ("text", "lang", "share"),
    [("Привет Welt", "ru", 0.6), ("漢字かなカナ", "ja", 1), ("漢字", "zh", 1), ("한국 漢字", "ko", 1),
     ("Београд Zagreb", "sr", 1),
     ("12 + 3", "de", 1), ("whatever", "akk", 1), ("שלום", "he", 1), ("سلام", "fa", 1), ("Ἑλλάς", "grc", 1)],
)  # fmt: skip
def test_script_share(text, lang, share):
    assert script_share(text, lang) == pytest.approx(share, abs=0.01)


def test_lengths(read):
    found, reasons = read({"a": "Ja.\n\n* * *\n\nDas ist ein ganzer Satz.\n\n42"}, min_words=3)
    assert [p.text for p in found["a"].paragraphs] == ["Das ist ein ganzer Satz."]
    assert reasons == {"short-paragraph": 1, "no-letters": 2}


def test_repeated_documents_and_paragraphs(read):
    texts = {
        "a": f"{LONG}\n\nJa.", "b": f"{LONG}\n\nJa.", "c": f"{LONG[:-4]}\n\nNein.", "d": f"{GERMAN}\n\nEnde der Sache.",
        "e": f"Es war einmal ein Mann.\n\n{GERMAN.upper()}\n\nJa.", "f": "Ja.\n\nUnd nein, das war alles.",
    }  # fmt: skip
    found, reasons = read(texts)
    assert reasons == {"duplicate-document": 1, "near-duplicate-document": 1, "duplicate-paragraph": 1}
    assert sorted(found) == ["a", "d", "e", "f"]
    assert [p.text for p in found["e"].paragraphs] == ["Es war einmal ein Mann.", "Ja."]
    assert found["e"].gaps == {1}


def test_boilerplate(read):
    texts = {f"d{n}": f"Text {'x' * n} steht hier.\n\nAlle Rechte bei uns, Stand 20{n:02}.\n\n»Ja.«" for n in range(5)}
    found, reasons = read(texts)
    assert reasons == {"boilerplate": 5}
    assert {len(d.paragraphs) for d in found.values()} == {2}
    assert read(texts, boilerplate=6)[1] == {}


NTREX = SHARED / "corpora" / "text" / "ntrex128"


@pytest.mark.skipif(not NTREX.is_dir(), reason="no ../shared with raw text beside the repository")
@pytest.mark.parametrize(("lang", "file"), [("de", "deu"), ("es", "spa"), ("uk", "ukr"), ("fa", "fas"), ("ja", "jpn")])
def test_language_of_news(lang, file):
    lines = (NTREX / f"newstest2019-ref.{file}.txt").read_text("utf-8").splitlines()[:300]
    long = [line for line in lines if sum(map(str.isalpha, line)) >= 50]
    assert is_known(lang)
    judged = [probability(line, lang) for line in long]
    assert sum(own < other for own, other in judged) <= len(long) / 200
    assert max(other for _, other in judged) < 0.9
