"""Which texts may be shown, in both directions."""

import re
import unicodedata

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discoprobe.loaders import FAULTS, fault, half_quoted


def why(text):
    return pl.select(fault(pl.lit(text))).item()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A \ufffd b", "replacement-character"),
        ("A\x07b", "control-character"),
        ("A\tb", "control-character"),
        ("A\u0085b", "control-character"),
        ("A \ue000 b", "private-use-character"),
        ("Il a dit Â« oui Â».", "mojibake"),
        ("NoÃ«l est là.", "mojibake"),
        ("it â€™s so", "mojibake"),
        ("Тогда [ формула ] верно.", "mask"),
        ("et euh j~, on a commencé", "transcription"),
        ("j'habite à XXX.", "transcription"),
        ("la vie // le temps", "transcription"),
        ("he { she |r went", "transcription"),
        ("He said [...] no", "transcription"),
        ("He said [?] no", "transcription"),
        ("@ann thank you!", "mention"),
        ("So much snow #winter", "mention"),
        ("Subject: the meeting", "e-mail-header"),
        ("Betreff: Ihr Schreiben", "e-mail-header"),
        ("• eat well", "list-item"),
        ("b) the second one", "list-item"),
        ("(12) Kaupallisella kuljetuksella tarkoitetaan vaihdantaa.", "list-item"),
        ("Figure 3: the arrow on the map", "caption"),
        ("Рис. 2. Карта города", "caption"),
        ("Image: Paul Budd.", "caption"),
        ("Los azulejos (derecha) cubren la muralla.", "caption"),
        ("Der Bürgermeister (2. v. l.) und seine Frau (rechts) kamen.", "caption"),
        ("Podtajnik Kieran Prendergast (lijevo) rukuje se s čelnikom.", "caption"),
        ("(Slijeva) Ivica Kostelić i Romed Baumann primaju odličja.", "caption"),
        ("Statsministern (till höger) hälsar på sin kollega.", "caption"),
        ("Ministr (vlevo) a jeho host (druhý zprava) přicházejí.", "caption"),
        ("ты взлети и поднимись над балканами небес где лишь Бог живёт да бес", "no-punctuation"),
        ("PRIMERA VICTORIA DEL ALAVÉS", "heading"),
        ("un poder polític se 'n va adonar a temps", "spacing"),
        ("diguem -ho així, el govern", "spacing"),
        ('"Estic enfonsada", va dir .', "spacing"),
        ("amarrado al 'Silver Shadow ' , un crucero.", "spacing"),
        ("à mon lieu de rendez-vous pour mon permis,", "fragment"),
        (", sottosegretario di Stato per la giustizia.", "fragment"),
        ("Les conferències , els dimarts, a les set.", "spacing"),
        ("Forma „Rumania ” a fost înlocuită.", "spacing"),
        ("Forma „ Rumania” a fost înlocuită.", "spacing"),
        ("A &amp; b", "entity"),
        ("A &#39; b", "entity"),
        ("A &#x27; b", "entity"),
        ("A <br> b", "tag"),
        ("A </div> b", "tag"),
        ('A <a href="x">b</a>', "tag"),
        ("A ____ b", "mask"),
        ("_ _ _ _", "mask"),
        ("V Praze, dne # října .", "mask"),
        ("místopředseda FS * Kučera", "mask"),
        ("průměr # .", "mask"),
        ("Oh, *** says it", "mask"),
        ("the *_ of it", "mask"),
        ("RT @xxxxxx: come here", "mask"),
        ("##### Карпин выступал в чемпионате Испании", "mask"),
        ("скорлупки яиц. IMG Предположительно", "mask"),
        ("матрицами (формула) с составляющей", "mask"),
        ("he slept-LSB-3-RSB- well", "entity"),
        ("Chegou a_ o Porto em_ essa manhã.", "entity"),
        ("write to a.b-c@post.example now", "contact"),
        ("see https://a.example for it", "contact"),
        ("see WWW.a.example for it", "contact"),
        ("at a.example.com/b one reads", "contact"),
        ("call +1 555 010 99 88", "contact"),
        ("call 5550109988 now", "contact"),
        ("call 555-010-9988 now", "contact"),
        ("au 01 99 00 12 34 demain", "contact"),
        ("тел. 555-01-99", "contact"),
        ("Tel. und Fax 05550 / 1234", "contact"),
        ("тел.: (555) 01 99 00", "contact"),
        ("«555-01-99»", "contact"),
        ("они сказали XXX и ушли", "transcription"),
        ("phone: (05) 5501 99", "contact"),
        ("- - Who is it? - -.", "stray-dash"),
        ("Come in - said Ann -.", "stray-dash"),
        ("one - two -, three", "stray-dash"),
        ("one - , three", "stray-dash"),
        ("one – – two", "stray-dash"),
        ("the  gap", "white-space"),
        ("the end |", "white-space"),
        ("e\u0301te\u0301", "not-nfc"),
        ("\u212b is no letter", "not-nfc"),
    ],
)
def test_not_clean(text, reason):
    assert why(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        *("Las obras del puente terminaron ayer.", "été", "R&D & more; so", "AT&T; yes", "1 < 2 and 3 > 2", "a <3 b"),
        *(
            "<< quoted >>",
            "A scris „Rumania” și „Romania”.",
            "Er sagte „ja“ und ”nein”.",
            "snake_case",
            "_emphasis_",
            "€ 5 — «yes»",
            "Она сказала: „да“.",
            "हिन्दी",
            "我们",
            "👍🏽 ok",
        ),
        *("1.500.000 maps, 12 345 678 people, on 2015-04-23", "a tel. is ringing, 3 of 12", "10.12.2015, 1990-2015"),
        *(
            "Ein- und Ausgang",
            "one - two - three",
            "Index.hr and Mr./Ms. A",
            "-- no, -3 and -ssa, -ssä",
            "km/h",
            "a | b",
        ),
        *("the code aXXXb", "ref555-01-99 is no number", "le hôtel5550199 est un nom"),
        *("a _ b", "chegou ao _Porto_ hoje", "x &c.; y", "עִבְרִית", "نص عربي", "# 5", "In C# it is 2*3"),
    ],
)
def test_clean(text):
    assert why(text) is None or unicodedata.normalize("NFC", text) != text


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Co", "Cs")), max_size=50))
def test_texts_without_any_mark_are_clean_if_they_are_composed(text):
    assume(not set("\ufffd&<_#*@/|-–—.:0123456789~{}[)•●▪◦‣·„") & set(text))
    assume(not re.search(FAULTS["mojibake"], text))
    assume("XXX" not in text and sum(letter.isupper() for letter in text) < 4)
    assume(not re.search(r"\s{2}|\d{3}|(?i:www|tel|tél|tl)", text))
    assume(not re.search(r"^\s*[,;،、，；：）]|\s,|[,،、，]\s*$", text))
    assert why(text) == (None if unicodedata.is_normalized("NFC", text) else "not-nfc")


def half(text):
    return pl.select(half_quoted(pl.lit(text))).item()


@pytest.mark.parametrize(
    "text",
    [
        *('"Come in, said Ann.', 'Come in", said Ann.', "«Да, сказал он.", "Да», сказал он."),
        *("„Ja, sagte er.", "“Yes, he said.", "Yes,” he said.", "er sagt „ja“ und „nein", "ja“ und „nein“"),
        *("he (she sleeps", "he) sleeps", "see b) and go", "他说「好", "``Ja'', sagte er.", "``Ja", "Ja''"),
    ],
)
def test_half_a_pair_of_marks(text):
    assert half(text) == "quotes"


@pytest.mark.parametrize(
    "text",
    [
        *(
            '"Come in", said Ann.',
            "«Да», сказал он.",
            "»Ja«, sagte er.",
            "„Ja“, sagte er.",
            "„Tak”, rzekł.",
            "“Yes,” he said.",
        ),
        *(
            "”Ja”, sade han.",
            "“Ja“, sade han.",
            'דו"ח של צה"ל',
            'a 5" disc',
            "he (and she) sleeps",
            "so it is :)",
            "ну да)))",
            "he (she (they)) sleeps",
            "b) he sleeps",
            "(b) he sleeps",
            "3.2) so",
        ),
        *(
            "it's Ann's",
            "d''Agenda'",
            'ב"מי נפתוח" שם',
            'the "So"s and "No"s',
            "dogs' and cats'",
            "他说「好」。",
            "plain",
        ),
    ],
)
def test_whole_pairs_of_marks(text):
    assert half(text) is None


def test_every_reason_is_tested():
    tested = {mark.args[1][i][1] for mark in test_not_clean.pytestmark for i in range(len(mark.args[1]))}
    assert {*FAULTS, "spacing", "not-nfc"} == tested


def test_the_first_reason_counts():
    assert why("\ufffd &amp;") == "replacement-character"


@pytest.mark.parametrize(
    ("n", "tight", "reason"), [(60, 0, None), (1, 0, "spacing"), (25, 20, None), (25, 30, "spacing")]
)
def test_a_blank_before_an_apostrophe_is_no_fault_where_the_language_writes_it(n, tight, reason):
    """Afrikaans has an article *'n*; Catalan has no blank before its clitics but by mistake."""
    texts = pl.DataFrame({"text": ["Dit is 'n huis."] * n + ["Se'n va."] * tight + ["Kom binne."] * 500})
    assert texts.select(found=fault(pl.col("text")))["found"][0] == reason


@pytest.mark.parametrize(("tight", "reason"), [(40, None), (60, "spacing")])
def test_some_sentences_of_a_corpus_show_less_well_where_it_writes_blanks(tight, reason):
    texts = pl.DataFrame({"text": ["Dit is 'n huis."] * 20 + ["Se'n va."] * tight})
    assert texts.select(found=fault(pl.col("text"), some=True))["found"][0] == reason
    assert texts.select(found=fault(pl.col("text")))["found"][0] == "spacing"


@pytest.mark.parametrize(("n", "reason"), [(60, None), (6, "spacing")])
def test_a_blank_before_a_mark_is_no_fault_where_words_are_usually_written_apart(n, reason):
    texts = pl.DataFrame({"text": ["Mr. Ni , wo dit ."] * n + ["Mr. Ni, wo dit."] * (200 - n)})
    assert texts.select(found=fault(pl.col("text")))["found"][0] == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("and the sculpture stood in the garden for many years before anybody asked", "no-punctuation"),
        ("THE END OF THE WAR", "heading"),
        ("Figure 1: the garden", "caption"),
        ("le chat , dit-il , dort.", "spacing"),
    ],
)
def test_a_part_of_a_sentence_may_be_written_as_a_sentence_may_not(text, reason):
    assert why(text) == reason
    assert why("ni he , wo dit .") is None
    assert pl.select(fault(pl.lit(text), whole=False)).item() is None
    assert pl.select(fault(pl.lit(f"{text} ____"), whole=False)).item() == "mask"
