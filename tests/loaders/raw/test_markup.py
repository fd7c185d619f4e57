"""What cleaning takes out of a stretch of text, and what it leaves."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders.raw import DropCounts, TextWithOffsets, clean


def cleaned(source):
    counts = DropCounts()
    return clean(TextWithOffsets(source), counts, "x").text, dict(counts.reasons)


@pytest.mark.parametrize(
    ("source", "text", "reasons"),
    [
        ("ein <b class='x'>fettes</b> Wort", "ein fettes Wort", {"tag": 2}),
        ("eins<br/>zwei<p>drei", "eins zwei drei", {"tag": 2}),
        ("a <!-- weg\n damit --> b <script>x < 1</script>c", "a b c", {"tag": 2}),
        ("3 < 4 und 5 > 4, a <b and c> d", "3 < 4 und 5 > 4, a <b and c> d", {}),
        ("Hinz &amp; Kunz &#8211; &auml;", "Hinz & Kunz – ä", {"entity": 3}),
        ("AT&T; &unbekannt;", "AT&T; &unbekannt;", {}),
        ("&amp;unbekannt;", "&unbekannt;", {"entity": 1}),
        ("Zucker\u00adrübe und Rüben\u00ad\n  zucker", "Zuckerrübe und Rübenzucker", {"soft-hyphen": 2}),
        ("a\u200bb\x07c\ufeff", "abc", {"control-character": 3}),
        ("می\u200cخواهم", "می\u200cخواهم", {}),
        ("Cafe\u0301", "Café", {"not-nfc": 1}),
        ("'''Berlin''' ist [[Hauptstadt|die Hauptstadt]]", "Berlin ist die Hauptstadt", {"wiki-markup": 4}),
        (r"der Radius r {\displaystyle \!\ r_{\mathrm {x} }} ist", "der Radius r ist", {"wiki-markup": 1}),
        (r"die Länge {{ {\displaystyle a} }}ist", "die Länge ist", {"wiki-markup": 2}),
        ("Das ist belegt.[12] Und [13] das nicht.", "Das ist belegt. Und [13] das nicht.", {"reference-mark": 1}),
        ("* Erstens", "Erstens", {"bullet": 1}),
        ("- ¿Cuál? — 3 * 4", "- ¿Cuál? — 3 * 4", {}),
        ("  viel\t\u00a0Platz \r\n hier ", "viel Platz hier", {}),
    ],
)
def test_what_is_taken_out(source, text, reasons):
    assert cleaned(source) == (text, reasons)


@given(st.text(max_size=60))
def test_what_is_left_is_in_the_source(source):
    paragraph = clean(TextWithOffsets(source), DropCounts(), "x")
    assert unicodedata.is_normalized("NFC", paragraph.text)
    assert not re.search(r"\s\s|^\s|\s$|[^\S ]|\u00ad", paragraph.text)
    for i, letter in enumerate(paragraph.text):
        start, end = paragraph.source_span(i, i + 1)
        assert 0 <= start < end <= len(source)
        if "&" not in source:
            assert letter == " " or letter in unicodedata.normalize("NFC", source[start:end])


def test_a_reason_must_be_known():
    with pytest.raises(KeyError):
        DropCounts().add("whim", "x")
