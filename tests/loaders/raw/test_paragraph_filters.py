"""Filters: script, language, length, and what recurs; every drop has its reason."""

import pytest

from discoprobe.loaders.raw import (
    DropCounts,
    Paragraph,
    RawDocument,
    ReadOptions,
    TextWithOffsets,
    filter_paragraphs,
    read_documents,
    with_boilerplate,
)

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


def test_the_language_of_a_document_is_that_of_most_of_its_text(read):
    """And not of most of its paragraphs, which can be short."""
    long = " ".join([GERMAN, OTHER, GERMAN.replace("Mann", "Bauer"), OTHER.replace("Stadt", "Straße")])
    found, reasons = read({"a": f"{ENGLISH}\n\n{long}\n\n{ENGLISH[4:]}"}, lang="de")
    assert [p.text for p in found["a"].paragraphs] == [long]
    assert reasons == {"paragraph-language": 2}


def test_filters_can_be_switched_off(read):
    texts = {"a": f"{RUSSIAN}\n\n{ENGLISH}", "b": f"{RUSSIAN}\n\n{ENGLISH}"}
    found, reasons = read(texts, lang="de", script_share=0, language_share=0, duplicates=False)
    assert [len(d.paragraphs) for d in found.values()] == [2, 2]
    assert reasons == {}


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


def test_a_paragraph_is_kept_if_the_document_that_has_it_too_is_dropped(read):
    texts = {"a": LONG, "b": f"{LONG}\n\n{GERMAN}", "c": f"{OTHER}\n\n{GERMAN}"}
    found, reasons = read(texts)
    assert reasons == {"near-duplicate-document": 1}
    assert [p.text for p in found["c"].paragraphs] == [OTHER, GERMAN]


def test_parts_of_a_long_paragraph_keep_their_sentences_and_one_gap():
    text = f"{GERMAN} {OTHER} {GERMAN}"
    starts = [0, len(GERMAN) + 1, len(GERMAN) + len(OTHER) + 2]
    spans = tuple((start, start + len(each)) for start, each in zip(starts, (GERMAN, OTHER, GERMAN), strict=True))
    long = Paragraph(TextWithOffsets(text), sentences=spans, gap=True)
    document = RawDocument("d", (long,), "d.txt", text)
    options = ReadOptions(max_characters=len(GERMAN) + len(OTHER) + 2)
    (filtered,) = filter_paragraphs([document], options, DropCounts())
    parts = filtered.paragraphs
    shown = [[part.text[start:end] for start, end in part.sentences] for part in parts]
    assert shown == [[GERMAN, OTHER], [GERMAN]]
    assert [part.gap for part in parts] == [True, False], "text was removed before the first part only"


def test_boilerplate(read):
    texts = {f"d{n}": f"Text {'x' * n} steht hier.\n\nAlle Rechte bei uns, auch 2003.\n\n»Ja.«" for n in range(5)}
    found, reasons = read(texts)
    assert reasons == {"boilerplate": 5}
    assert {len(d.paragraphs) for d in found.values()} == {2}
    assert read(texts, boilerplate=6)[1] == {}


def test_in_many_documents_a_line_must_recur_in_a_share_of_them():
    texts = [f"Dieser Text hat die Nummer {n} von allen." for n in range(3500)]
    for n in range(7):
        texts[n] += "\n\nAlle Rechte bei uns, auch 2003."
    for n in range(6):
        texts[n + 7] += "\n\nDiese Zeile steht in sechs Texten."
    rows = [RawDocument(str(n), (), f"t.jsonl:{n}", text) for n, text in enumerate(texts, 1)]
    recurring = [set(lines) for _, lines in with_boilerplate(rows, 2)]
    assert recurring[:7] == [{"Alle Rechte bei uns, auch 2003."}] * 7, "7 of 3,500 documents are .002"
    assert not any(recurring[7:])
    assert all(lines for _, lines in with_boilerplate(rows[:13], 2)), "in few documents, two are enough"


NAMES = ("Aachen", "Berlin", "Coburg", "Dresden", "Essen", "Fulda")
TOWN = "Die Stadt hat {n}37 Einwohner. Sie liegt {n} km vom Meer."
NOTE = "Haftung für den Inhalt verlinkter Seiten übernehmen wir nicht. Für den Inhalt sind deren Betreiber da."
BOILERPLATE = {
    # (a text in which n and name differ from document to document, what of it is left out)
    "a line with the same numbers": ("{name} ist schön.\n\nAlle Rechte bei uns, 2003.", ["Alle Rechte bei uns, 2003."]),
    "a long line": ("{name} ist schön.\n\n" + NOTE, [NOTE]),
    "most of a page": ("{name}!\n\n" + NOTE, [NOTE]),
    # what recurs and is text
    "a document that has nothing else": (NOTE, []),
    "a document that has nothing else but numbers": (NOTE + "\n\n{n}", []),
    "a template that is all of a document": (TOWN, []),
    "a template that is most of a document": ("{name}.\n\nDie Stadt hat {n}37 Einwohner und {n} Kirchen.", []),
    "a sentence with another number": (
        "In {name} steht ein altes Haus, das man besuchen kann.\n\nDie Staatsverschuldung betrug 2016 {n},5 %.", [],
    ),
    "a long template in a document": (
        "{name} ist schön, weil {name} am Wasser liegt und viele Leute gern nach {name} fahren.\n\n" + TOWN, [],
    ),
    "a heading": ("== Alles über die Stadt ==\n\nNach {name} fahren viele Leute.", []),
    "an exclamation": ("{name}!\n\nWas ist denn?\n\nNichts.", []),
}  # fmt: skip


@pytest.mark.parametrize(("template", "left_out"), BOILERPLATE.values(), ids=BOILERPLATE)
def test_what_is_boilerplate_and_what_is_text(read, template, left_out):
    texts = {name: template.format(n=n, name=name) for n, name in enumerate(NAMES, 1)}
    found, reasons = read(texts, duplicates=False)
    assert reasons.pop("boilerplate", 0) == len(left_out) * len(NAMES)
    assert reasons.keys() <= {"no-letters"}
    assert sorted(found) == sorted(NAMES), "no document is lost"
    for n, name in enumerate(NAMES, 1):
        taken = [line.format(n=n) for line in left_out]
        lines = [line for line in texts[name].split("\n\n") if line not in taken and not line.isdigit()]
        assert [p.text for p in found[name].paragraphs] == [line.strip("= ") for line in lines]


def test_of_equal_documents_one_stays(read):
    found, reasons = read({f"d{n}": NOTE for n in range(9)})
    assert len(found) == 1
    assert reasons == {"duplicate-document": 8}


def test_documents_of_short_paragraphs_are_compared_too(read):
    lines = [f"Sie sah den {n}. Vogel." for n in range(40)]
    found, reasons = read({"a": "\n\n".join(lines), "b": "\n\n".join([*lines[:-1], "Er auch."]), "c": "Sie sah ihn."})
    assert sorted(found) == ["a", "c"]
    assert reasons == {"near-duplicate-document": 1}


def test_articles_that_differ_in_numbers_stay(read):
    texts = {f"d{n:03}": f"Die Stadt hat {n * 37} Einwohner. Sie liegt {n} km vom Meer." for n in range(200)}
    found, reasons = read(texts, lang="de")
    assert (len(found), reasons) == (200, {})
