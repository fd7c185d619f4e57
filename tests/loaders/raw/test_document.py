"""A text that is edited any number of times still knows where each of its characters comes from."""

import pickle
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders.raw import DropCounts, TextWithOffsets, clean

LETTERS = "ab é\u0301\u00ad\n"


@st.composite
def edits_of(draw, length):
    found, at = [], 0
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(at, length))
        end = draw(st.integers(start, length))
        found.append((start, end, draw(st.sampled_from(["", "x", "yz", " "]))))
        at = max(end, start + 1)
        if at > length:
            break
    return found


def apply(characters, edits):
    """The reference: a list of (character, source start, source end), one entry per character."""
    found, at = [], 0
    for start, end, text in edits:
        found += characters[at:start]
        if text:
            span = (characters[start][1], characters[end - 1][2]) if end > start else None
            found += [(letter, *(span or (None, None))) for letter in text]
        at = end
    return found + characters[at:]


@given(st.data())
def test_every_kept_character_is_where_it_was(data):
    source = data.draw(st.text(LETTERS, min_size=1, max_size=20))
    text, reference = TextWithOffsets(source), [(letter, i, i + 1) for i, letter in enumerate(source)]
    for _ in range(3):
        edits = [edit for edit in data.draw(edits_of(len(text.text))) if edit[1] > edit[0]]
        text, reference = text.edited(edits), apply(reference, edits)
        start = data.draw(st.integers(0, len(text.text)))
        end = data.draw(st.integers(start, len(text.text)))
        text, reference = text.cut(start, end), reference[start:end]
    assert text.text == "".join(letter for letter, _, _ in reference)
    for i, (_, start, end) in enumerate(reference):
        assert text.source_span(i, i + 1) == (start, end)


@given(st.text("aeou\u0308\u0323\u0301가\u1100\u1161\u11a8각", max_size=30))
def test_composition_keeps_offsets(source):
    text = clean(TextWithOffsets(source), DropCounts(), "x")
    assert text.text == unicodedata.normalize("NFC", source)
    spans = [text.source_span(i, i + 1) for i in range(len(text.text))]
    for letter, (start, end) in zip(text.text, spans, strict=True):
        assert letter in unicodedata.normalize("NFC", source[start:end])
    assert "".join(source[start:end] for start, end in sorted(set(spans))) == source


def test_what_was_taken_out_belongs_to_neither_side():
    text, n = TextWithOffsets("das <b>alte</b> Haus").sub(re.compile("<[^>]*>"), "")
    assert (text.text, n) == ("das alte Haus", 2)
    assert text.source_span(4, 8) == (7, 11)
    assert text.source_span(0, 8) == (0, 11)
    assert text.source_span(8, 13) == (15, 20)


def test_joined_texts_keep_their_offsets():
    parts = [TextWithOffsets("Ja.", 10), TextWithOffsets("Nein.", 20)]
    text, spans = TextWithOffsets.joined(parts)
    assert [text.text[start:end] for start, end in spans] == ["Ja.", "Nein."]
    assert [text.source_span(*span) for span in spans] == [(10, 13), (20, 25)]


@pytest.mark.parametrize("source", ["", " ", "x"])
def test_small_texts(source):
    assert TextWithOffsets(source).stripped().text == source.strip()


def test_pickling_keeps_offsets():
    text, _ = TextWithOffsets("das <b>alte</b> Haus", 7).sub(re.compile("<[^>]*>"), "")
    again = pickle.loads(pickle.dumps(text))
    assert again.text == text.text
    assert again.spans.tolist() == text.spans.tolist()
