"""Plain text to paragraphs: what lines are, headings, furniture of pages, divided words."""

import pytest

from discoprobe.loaders.raw import DropCounts, RawDocument, ReadOptions, row_document

PROSE = """Am Morgen ging der Mann über die
Brücke und sah, dass der Fluss über
Nacht gestiegen war. Er blieb stehen.

Dann kam die Frau mit den beiden
Kindern und fragte ihn nach dem Weg
zum Bahnhof.
"""


def read(source, **options):
    counts = DropCounts()
    found = row_document(RawDocument("x", (), "x", source), ReadOptions(**options), counts)
    for paragraph in found.paragraphs:
        for start, end in paragraph.sentences or ():
            assert paragraph.text[start:end].strip()
    return found, dict(counts.reasons)


def texts(source, **options):
    return [paragraph.text for paragraph in read(source, **options)[0].paragraphs]


def kinds(source, **options):
    return [paragraph.kind for paragraph in read(source, **options)[0].paragraphs]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_wrapped_paragraphs(end):
    source = PROSE.replace("\n", end)
    found, _ = read(source)
    assert [p.text[:24] for p in found.paragraphs] == ["Am Morgen ging der Mann ", "Dann kam die Frau mit de"]
    for paragraph in found.paragraphs:
        start, end_ = paragraph.source_span(0, len(paragraph.text))
        assert " ".join(source[start:end_].split()) == paragraph.text
        assert paragraph.sentences is None


def test_a_sentence_per_line():
    source = (
        "== Tiere ==\nDer Hund bellt.\nDie Katze miaut!\nWas macht der Fisch?\nEr schweigt.\n\n=== Vögel\nSie singen.\n"
    )
    found, _ = read(source)
    heading, first, second, last = found.paragraphs
    assert (heading.kind, heading.text, second.kind, second.text) == ("heading", "Tiere", "heading", "Vögel")
    assert [first.text[a:b] for a, b in first.sentences] == source.split("\n")[1:5]
    assert [source[slice(*first.source_span(a, b))] for a, b in first.sentences] == source.split("\n")[1:5]
    assert last.sentences == ((0, 11),)


def test_a_paragraph_per_line():
    line = "Der Hund bellt laut. Die Katze miaut leise. Der Fisch schweigt."
    assert texts("\n".join([line] * 5)) == [line] * 5


def test_lines_as_the_user_says():
    assert len(texts(PROSE, lines="paragraphs")) == 6
    assert [len(p.sentences) for p in read(PROSE, lines="sentences")[0].paragraphs] == [3, 3]


@pytest.mark.parametrize("mark", ["# Titel", "## Titel ##", "== Titel ==", "=== Titel", "## Titel =", "# Titel #"])
@pytest.mark.parametrize("title", ["Titel", "Titel. —Der Wald. —Die Nacht" * 20, "a = b", "C# 3", "T"])
def test_marked_headings(mark, title):
    found, _ = read(f"{mark.replace('Titel', title)}\n{PROSE}")
    assert (found.paragraphs[0].kind, found.paragraphs[0].text) == ("heading", title)


def test_short_lines_without_end_are_headings_in_prose_only():
    assert kinds(f"Das erste Kapitel\n\n{PROSE}\n{PROSE}") == ["heading", "text", "text", "text", "text"]
    assert kinds("สวัสดีชาวโลก\n\nวันนี้อากาศดี\n\nเราไปตลาด") == ["text"] * 3


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        *(
            (speech, "text")
            for speech in ["—Nicht heute.", "– Nicht heute.", "-¡Hoy no!", "«Nicht.»", "„Nicht.“", "¿Hoy?"]
        ),
        *((other, "heading") for other in ["- Brot", "* Brot", "1. Brot", "Brot kauft man dort.", ""]),
    ],
)
def test_a_line_with_a_colon_is_a_heading_unless_speech_follows(after, kind):
    found, _ = read(f"{PROSE}\n\nUnd dann:\n\n{after}")
    assert {paragraph.text: paragraph.kind for paragraph in found.paragraphs}["Und dann:"] == kind


def test_pages():
    pages = [f"{'Das Haus am Fluss' if n % 2 else 'Anna Muster'}\n\nund so weiter, Seite um Seite {n * 'x'},\n\n{n}\n\n"
             for n in range(11, 17)]  # fmt: skip
    found, reasons = read("Es beginnt.\n\n" + "".join(pages) + "bis zum Ende.")
    assert reasons == {"page-number": 6, "running-head": 6}
    assert [p.text[:16] for p in found.paragraphs] == ["Es beginnt.", "und so weiter, S"]
    assert "Haus" not in found.paragraphs[1].text
    assert found.paragraphs[1].text.endswith("bis zum Ende.")
    assert not found.gaps


@pytest.mark.parametrize("page_break", ["\f", "\f\n\n"])
def test_form_feeds(page_break):
    pages = (f"Kapitel 3 · {n}\nEin Satz auf Seite {'ab' * n}, der hier\nendet.\n" for n in range(1, 5))
    found, reasons = read("".join(f"{page_break}{page}" for page in pages))
    assert reasons == {"running-head": 4}
    assert len(found.paragraphs) == 4


def test_numbers_between_whole_paragraphs_are_chapters():
    _, reasons = read("".join(f"{n}\n\nDas ist das Kapitel mit {n} Seiten.\n\n" for n in range(1, 6)))
    assert reasons == {}


@pytest.mark.parametrize(
    ("source", "text", "n"),
    [
        ("Die Unter-\nsuchung läuft.", "Die Untersuchung läuft.", 1),
        ("Die Haus-\nund Gartenarbeit ruht.", "Die Haus- und Gartenarbeit ruht.", 0),
        ("Die US-\namerikanische oder US-amerikanische Bank.", "Die US-amerikanische oder US-amerikanische Bank.", 1),
        ("Sie fährt nach Baden-\nWürttemberg. Baden-Württemberg ist schön.",
         "Sie fährt nach Baden-Württemberg. Baden-Württemberg ist schön.", 1),
        ("Er sagte -\nund schwieg.", "Er sagte - und schwieg.", 0),
    ],
)  # fmt: skip
def test_divided_words(source, text, n):
    found, reasons = read(source, lang="de", lines="wrapped")
    assert found.paragraphs[0].text == text
    assert reasons.get("line-hyphen", 0) == n


@pytest.mark.parametrize(("lang", "text"), [("hr", "Kućno- i gradsko pravo."), ("xx", "Kućnoi gradsko pravo.")])
def test_divided_words_of_a_language_that_shares_a_frequency_list(lang, text):
    assert texts("Kućno-\ni gradsko pravo.", lang=lang) == [text]


@pytest.mark.parametrize("lang", ["zh", "ja", "ko"])
def test_divided_words_of_a_language_for_which_wordfreq_needs_another_library(lang):
    assert texts("Die Unter-\nsuchung läuft.", lang=lang, lines="wrapped") == ["Die Untersuchung läuft."]


def test_boilerplate_is_a_gap():
    source = PROSE.replace("\n\n", "\n\nTeilen Sie diesen Artikel!\n")
    counts = DropCounts()
    found = row_document(RawDocument("x", (), "x", source), ReadOptions(), counts, {"Teilen Sie diesen Artikel!"})
    assert dict(counts.reasons) == {"boilerplate": 1}
    assert (len(found.paragraphs), found.gaps) == (2, {1})


def test_a_line_with_markup_only_is_no_sentence():
    source = "Der Hund schläft.\nEr träumt.\n<br>\nDie Katze kommt.\nSie miaut.\n{{Vorlage}}\n"
    found, reasons = read(source, lines="sentences")
    assert [p.text for p in found.paragraphs] == ["Der Hund schläft. Er träumt. Die Katze kommt. Sie miaut."]
    assert reasons == {"tag": 1, "wiki-markup": 1}


@pytest.mark.parametrize("lines", ["wrapped", "sentences", "paragraphs"])
def test_a_gap_before_a_line_with_markup_only_is_before_what_follows(lines):
    source = "Der Hund schläft.\n\n| a | b |\n<br>\n\nEr träumt.\nDie Katze kommt.\n"
    found, reasons = read(source, lines=lines)
    assert found.gaps == {1}
    assert reasons == {"table": 1, "tag": 1}


@pytest.mark.parametrize("source", ["", "\n", " \n\t\n", "\f"])
def test_nothing(source):
    assert texts(source) == []


@pytest.mark.parametrize("begin", ["x ", "# x"])
@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "{{",
        "{\\displaystyle {a{b{",
        "<!--",
        "<script>",
        "<p ",
        " ",
        "= ",
        "[[a|",
        "\n \n",
        "ab-\n",
        "1\n",
        "a\f\n",
    ],
)
def test_time_is_linear_for_hostile_lines(begin, unit):
    found, _ = read(begin + unit * (100_000 // len(unit)))
    assert len(found.paragraphs) <= 3


MAIL = """From: Ana <ana@example.org>
To: Ben <ben@example.org>
Subject: Reise nach Köln

Hallo Ben, der Zug fährt um neun. Wir treffen uns am Gleis.

> Wann fährt der Zug?
> Wo treffen wir uns?

Bring bitte das Buch mit.
--
Ana Muster
Tel. 0221 1234
"""
CHAT = """[12:03] Ana: Der Zug fährt um neun.
[12:04] Ben Muster: Gut. Wo treffen wir uns?
[12:05] Ana: Am Gleis natürlich.
[12:09] Ben Muster: Bis gleich.
"""
MBOX = """From ana@example.org Thu Aug  8 14:11:25 2002
Received: from localhost (localhost [127.0.0.1])
    by phobos.example.org for <ben@example.org>
From: Ana <ana@example.org>
Subject: Reise

Hallo Ben,

Am Montag, 8. August, schrieb Ben:
> Kommst du mit?
> Ja?

Ich komme gern.

-------- Weitergeleitet --------

Wir sehen uns am Gleis.

Viele Grüße
Ana Muster
____________________________
Liste der Reisenden
https://example.org/liste
"""
IRC = """2018-10-10T17:34:45 * ana has joined
2018-10-10T17:35:25 <ana> hello there
2020-03-17T00:51:21  <ben> you're welcome :)
2020-03-17T00:52:10  *** ben <ben@example.org> has quit
"""
README = """---
title: Daten
date: 2024
---

![Bild](bild.png) Die **Daten** stehen [hier](https://example.org/a_(b)). Sie sind frei.
"""
LIST = """Für die Reise brauchen wir noch einiges.

- Brot und Käse
- zwei Flaschen Wasser
- eine Karte

Danach gehen wir los.
"""
DIALOGUE = """- Kommst du mit?
- Ja, ich komme gern.
- Dann gehen wir los.
"""


@pytest.mark.parametrize(
    ("source", "left", "reasons"),
    [
        (MAIL, ["Hallo Ben, der Zug fährt um neun. Wir treffen uns am Gleis.", "Bring bitte das Buch mit."],
         {"mail-header": 3, "reply": 2, "signature": 3}),
        (CHAT, ["Der Zug fährt um neun.", "Gut. Wo treffen wir uns?", "Am Gleis natürlich.", "Bis gleich."],
         {"chat-prefix": 4}),
        (MBOX, ["Ich komme gern.", "Wir sehen uns am Gleis."],
         {"mail-header": 6, "reply": 3, "signature": 4, "no-letters": 2}),
        (IRC, ["hello there", "you're welcome :)"], {"chat-prefix": 4}),
        (README, ["Die Daten stehen hier. Sie sind frei."], {"code": 4, "wiki-markup": 5}),
        (LIST, ["Für die Reise brauchen wir noch einiges.", "Danach gehen wir los."], {"list": 3}),
        (DIALOGUE, None, {}),
        ("Um 12:03 Uhr kam Ana. Sie sagte: nein.\n\nBen ging.\n", None, {}),
    ],
)  # fmt: skip
def test_mails_chats_and_lists_by_their_layout(source, left, reasons):
    counts = DropCounts()
    found = row_document(RawDocument("a", (), "a", source), ReadOptions(lang="de"), counts)
    assert {reason: n for reason, n in counts.reasons.items() if n} == reasons
    if left is not None:
        assert [paragraph.text for paragraph in found.paragraphs] == left
    else:
        words = " ".join(paragraph.text for paragraph in found.paragraphs).split()
        assert words == source.split()
