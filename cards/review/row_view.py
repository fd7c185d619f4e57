"""A row as a reader sees it: its texts in pieces, what was edited marked, and its pair beside it."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from discoprobe.builders.config import Shape
from discoprobe.cards.metadata import vocabulary
from discoprobe.cards.readers.marks import PLACES, sides
from discoprobe.cards.review.row_store import ReleaseRow
from discoprobe.cards.text.examples import RowText, ShownText, TextPiece, pieces, row_texts

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_NAMES = {
    "sentences": "sentence", "choices": "choice", "sentence1": "first sentence", "sentence2": "second sentence",
}  # fmt: skip
"""Columns that are called otherwise."""


class ContextSentence(NamedTuple):
    """A sentence of the source of a row.

    ``shown`` says that the row has it, ``after_gap`` that it does not follow the one before in the source.
    """

    sent_id: str
    text: str
    shown: bool
    after_gap: bool


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row to be printed; ``lang`` is the code for its texts, ``facts`` are its other columns."""

    row: ReleaseRow
    texts: tuple[ShownText, ...]
    lang: str
    facts: Mapping[str, str]


def question_texts(row: ReleaseRow) -> tuple[ShownText, ...]:
    """The texts of a row without anything that gives its label away: no edit, no target, no place in the source."""
    texts = {name: one.text for name, one in _texts(row)}
    if row.entry["shape"] == Shape.SUITE:
        texts = {place: texts[side] for place, side in zip(PLACES, sides(row.id), strict=True)}
    return tuple(ShownText(name, (TextPiece(text),)) for name, text in texts.items())


def shown_row(row: ReleaseRow) -> ShownRow:
    """A row with what was edited, or is asked about, marked."""
    return ShownRow(row, tuple(_marked(row)), language(row), _facts(row))


def side_by_side(row: ReleaseRow, pair: Sequence[ReleaseRow]) -> list[ShownRow]:
    """The versions of a pair, each marked where it differs from the first (the original).

    An edited sentence whose original is not a row is compared with the column ``original``.
    """
    if len(pair) > 1:
        return _compared(pair) if row.entry["shape"] == Shape.SENTENCE else [_against(one, pair) for one in pair]
    if row.values.get("original"):
        left, right = differences(row.values["original"], row.values["text"])
        original = ShownRow(row, (ShownText("original", left),), language(row), {})
        return [original, ShownRow(row, (ShownText("text", right),), language(row), {})]
    return []


def _compared(pair: Sequence[ReleaseRow]) -> list[ShownRow]:
    texts = [str(one.values["text"]) for one in pair]
    sides = [differences(texts[0], text) for text in texts[1:]]
    return [
        ShownRow(one, (ShownText("text", found),), language(one), _facts(one))
        for one, found in zip(pair, [sides[0][0], *(right for _, right in sides)], strict=True)
    ]


def _against(row: ReleaseRow, pair: Sequence[ReleaseRow]) -> ShownRow:
    """A row of several texts, those marked that no other row of its pair has in the same place."""
    shown, own = shown_row(row), [one.text for _, one in _texts(row)]
    others = [[text.text for _, text in _texts(one)] for one in pair if one.id != row.id]
    texts = [
        ShownText(one.name, (TextPiece(text, any(other[number : number + 1] != [text] for other in others)),), one.note)
        for number, (one, text) in enumerate(zip(shown.texts, own, strict=True))
    ]
    return ShownRow(row, tuple(texts), shown.lang, shown.facts)


def differences(left: str, right: str) -> tuple[tuple[TextPiece, ...], tuple[TextPiece, ...]]:
    """Two texts in pieces, each marked from the first word that differs to the last."""
    start = _shared(_WORD.findall(left), _WORD.findall(right))
    end = _shared(_WORD.findall(left[start:])[::-1], _WORD.findall(right[start:])[::-1])

    def marked(text: str) -> tuple[TextPiece, ...]:
        edit = text[start : len(text) - end]
        return _pieces(text, start + len(edit) - len(edit.lstrip()), start + len(edit.rstrip()))

    return marked(left), marked(right)


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    """The number of characters of the words with which both begin."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return sum(len(word) for word, _ in same)


def language(row: ReleaseRow) -> str:
    """The code of the language of a row's texts, as HTML has it."""
    return vocabulary.language_code(row.entry["lang"])


def _texts(row: ReleaseRow) -> Iterator[tuple[str, RowText]]:
    """The texts of a row with what they are called."""
    for one in row_texts(Shape(row.entry["shape"]), row.values):
        name = _NAMES.get(one.column, one.column)
        yield name if one.number is None else f"{name} {one.number + 1}", one


def _marked(row: ReleaseRow) -> Iterator[ShownText]:
    order = row.values.get("order")
    for name, one in _texts(row):
        note = "" if order is None or one.number is None else _source_place(order, one.number)
        yield ShownText(name, _pieces(one.text, one.start, one.end), note)


def _source_place(order: Sequence[int], number: int) -> str:
    """Where a sentence of a passage that was changed stands in the source; empty for one that is in its place."""
    places = [place for place in order if place >= 0]
    if order[number] < 0:
        return "from elsewhere"
    return "" if places == sorted(places) else f"{order[number] + 1} in the source"


def _pieces(text: str, start: int, end: int) -> tuple[TextPiece, ...]:
    """The whole text in pieces, the characters from ``start`` to ``end`` marked."""
    return pieces(text, start, end, longest=len(text))


def _facts(row: ReleaseRow) -> dict[str, str]:
    """The columns of a row that are no texts, in words; those without a value are left out."""
    values = row.values
    found: dict[str, Any] = {name: values[name] for name in ("corpus", "doc_id", "group", "pair_id")}
    found |= {name: values.get(name) for name in ("orig_label", "direction", "rel_type", "removed")}
    found["sent_ids"] = ", ".join(values["sent_ids"] or ())
    if target := values.get("target"):
        found["target"] = f"{target['form']} ({target['lemma']}, {target['upos']})"
    if values.get("n_words") is not None:
        found["words"] = values["n_words"]
    distractor = values.get("distractor")
    found["distractor"] = ", ".join(filter(None, distractor)) if isinstance(distractor, list) else distractor
    return {name: str(value) for name, value in found.items() if value not in {None, ""}}
