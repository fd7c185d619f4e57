"""Markdown in texts of the Hub, and what their extraction has lost."""

from collections import Counter

import pytest
from raw_cases import document

from discoprobe.loaders.raw import (
    DropCounts,
    RawDocument,
    ReadOptions,
    RuleEngine,
    annotated_documents,
    lost_text,
    row_document,
)

PROSE = "Der Fluss entspringt im Gebirge. Er mündet nach hundert Kilometern ins Meer."
MORE = "An seinem Ufer liegen drei Städte. Die größte hat einen Hafen."


def read(source):
    counts = DropCounts()
    text = row_document(RawDocument("a", (), "a", source), ReadOptions(lang="de"), counts)
    return [(p.kind, p.text) for p in text.paragraphs], text.gaps, counts.reasons


@pytest.mark.parametrize(
    ("removed", "reason", "lines"),
    [
        ("- Quelle\n- Mündung\n  mit Delta\n- Ufer", "list", 4),
        ("1. Quelle.\n2. Mündung.", "list", 2),
        ("* Quelle", "list", 1),
        ("| Stadt | Einwohner |\n|---|---:|\n| Essen | 500 |", "table", 3),
        ("Stadt | Einwohner\n--- | ---\n| Essen | 500 |", "table", 2),
        ("```python\nprint('Der Fluss.')\n\nx = 1\n```", "code", 5),
        ("$$\nE = mc^2\n$$", "formula", 3),
        ("$$E = mc^2$$", "formula", 1),
        ("$a^2 + b^2$", "formula", 1),
    ],
)
def test_what_is_no_running_text_ends_a_passage(removed, reason, lines):
    paragraphs, gaps, reasons = read(f"# Der Fluss\n\n{PROSE}\n\n{removed}\n\n{MORE}")
    texts = [text for kind, text in paragraphs if kind == "text"]
    assert (texts[0], texts[-1]) == (PROSE, MORE)
    assert gaps == {len(paragraphs) - 1}
    assert reasons[reason] == lines


def test_turns_of_a_dialogue_are_no_list():
    turns = ["- Wohin gehst du?", "- Nach Hause.", "- Dann komme ich mit."]
    for between in ("\n", "\n\n"):
        paragraphs, _, reasons = read(between.join(turns))
        assert " ".join(text for _, text in paragraphs) == " ".join(turns)
        assert not reasons
    paragraphs, _, _ = read("# Kapitel\n\n" + "\n\n".join(turns))
    assert [text for kind, text in paragraphs if kind == "text"] == turns


def test_a_fence_that_nothing_closes_is_text():
    paragraphs, _, reasons = read(f"```\n\n{PROSE}\n\n{MORE}")
    assert PROSE in [text for _, text in paragraphs]
    assert not reasons["code"]


def test_a_first_line_without_a_final_mark_is_a_heading_however_long():
    title = "Verzeichnis der Flüsse und Bäche im Einzugsgebiet der oberen Donau und ihrer Zuflüsse von der Quelle an"
    paragraphs, _, _ = read(f"{title}\n\n{PROSE}\n\n{MORE}")
    assert paragraphs == [("heading", title), ("text", PROSE), ("text", MORE)]
    paragraphs, _, _ = read(f"{PROSE}\n\n{title}\n\n{MORE}\n\n{MORE}")
    assert ("text", title) in paragraphs


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Heidelberg ( , Bedeutung unsicher) ist eine Großstadt.", "empty-brackets"),
        ("Das Trema () zeigt zwei Silben an.", "empty-brackets"),
        ("Andersen anhören?/i war ein Dichter.", "empty-brackets"),
        ("Das Stigma (, ) ist eine Ligatur.", "empty-brackets"),
        ("Die Masse ( M ) steigt.", "empty-brackets"),
        ("Dabei gilt W = F * s = 1 für beide.", "formula"),
        ("Der Wert {\\displaystyle x} steigt.", "formula"),
        ("Auf den Feldern [11] stand das Zuckerrohr.", "note-mark"),
        ("Der Brunnen steht am Dom (50° 56' N, 6° 57' O50.93996.9573).", "coordinates"),
        ("Sie liegt auf 13° 24′ 15,1″ O52.502 in der Ebene.", "coordinates"),
        ("Die Brücke Gazela (44.80277777777820.44083333333395) führt hinüber.", "coordinates"),
        ("Der Wert 3.141593 ist bekannt.", ""),
        ("| Hausrinder sind nützlich.", "table-row"),
        ("Er gründete die Kolonie Haabets , die verlegt wurde.", "space-before-comma"),
        ("Bei 40 °C (im Schatten) blieb er zu Hause.", ""),
        ("Das Wort uva (,Turner') ist alt, und a) ist b.", ""),
        ("Der Preis stieg auf 350 US$ (5 %), sagte sie :)", ""),
        ("El conde de S.*** casó en 1811 con ella.", ""),
    ],
)
def test_a_sentence_with_a_trace_of_extraction_is_dropped(sentence, reason):
    assert lost_text([[PROSE], [sentence, MORE]]) == [[""], [reason, ""]]


def test_a_paragraph_that_is_cut_off_loses_its_open_ends():
    paragraphs = [[PROSE]] * 8 + [[PROSE, "Der Fluss ist"], ["breit und tief.", MORE]]
    assert lost_text(paragraphs)[-2:] == [["", "unfinished"], ["continued", ""]]
    unmarked = [["der fluss ist breit"]] * 5
    assert lost_text(unmarked) == [[""]] * 5


@pytest.mark.parametrize(
    ("begins", "interrupted"),
    [
        ("Die Vorläufer", True),
        ("»Die Vorläufer", False),
        ("– Die Vorläufer", False),
        ("die Vorläufer", False),
        ("植物 Die Vorläufer", False),
    ],
)
def test_a_paragraph_after_a_colon_whose_list_was_lost_opens_a_passage(begins, interrupted):
    texts = [f"{PROSE} Die Voraussetzungen waren:", f"{begins} kennt man aus dem Karbon. {MORE}"]
    ((_, sentences),) = annotated_documents([document("Bäume", texts)], RuleEngine("de"), Counter(), Counter())
    opens = [one.text for one in sentences if one.opens_passage]
    assert len(opens) == 1 + interrupted
    assert opens[-1].startswith(begins if interrupted else "Der Fluss")
