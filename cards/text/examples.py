"""Rows of a config as a card shows them: both labels, with what was edited or is asked about marked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from discoprobe.builders.config import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

EXAMPLES = 6
_POOL = 3_000
"""Rows of the test split that examples are taken from; they stand in hash order, so the first are as good as any."""
_LONGEST = 320
"""Characters of a text that are shown."""

Row: TypeAlias = "Mapping[str, Any]"


class TextPiece(NamedTuple):
    """A stretch of text, and whether it is marked."""

    text: str
    marked: bool = False


class ExampleText(NamedTuple):
    """One text of a row: what it is called, and its pieces."""

    name: str
    pieces: tuple[TextPiece, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A row to show.

    Attributes:
        id: of the row.
        label: its label's name.
        place: corpus and document it comes from.
        pair: its ``pair_id``, empty without.
        lines: its texts.
        note: what the row says beside its texts, such as the order of its sentences.
    """

    id: str
    label: str
    place: str
    pair: str
    lines: tuple[ExampleText, ...]
    note: str = ""


def examples(shape: Shape, labels: Sequence[str], test: pa.Table) -> list[Example]:
    """Six rows of the test split, each pair whole, all labels as evenly as six rows allow."""
    rows = test.slice(0, _POOL).to_pylist()
    chosen = _pairs(rows) or _of_each_label(rows)
    return [_example(shape, labels, row) for row in chosen[:EXAMPLES]]


def _pairs(rows: Iterable[Row]) -> list[Row]:
    """The members of the first pairs, a pair's rows beside each other by label; none where rows are not paired."""
    by_pair: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["pair_id"] is not None:
            by_pair[row["pair_id"]].append(row)
    return [
        row for pair in by_pair.values() if len(pair) > 1 for row in sorted(pair, key=lambda row: int(row["label"]))
    ]


def _of_each_label(rows: Iterable[Row]) -> list[Row]:
    """Rows in turn of each label, labels in the order of their numbers."""
    by_label: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_label[row["label"]].append(row)
    turns = [(turn, label, row) for label, several in by_label.items() for turn, row in enumerate(several[:EXAMPLES])]
    first = sorted(turns, key=lambda one: one[:2])[:EXAMPLES]
    return [row for _, _, row in sorted(first, key=lambda one: (one[1], one[0]))]


def _example(shape: Shape, labels: Sequence[str], row: Row) -> Example:
    place = ", ".join(name for name in (row["corpus"], row["doc_id"]) if name)
    label = labels[row["label"]] if 0 <= row["label"] < len(labels) else str(row["label"])
    return Example(row["id"], label, place, row["pair_id"] or "", tuple(_LINES[shape](row)), _note(row))


def _note(row: Row) -> str:
    order = row.get("order")
    if not order or list(order) == sorted(order) or -1 in order:
        return ""
    return f"places in the source: {', '.join(map(str, order))}"


def pieces(text: str, start: int = 0, end: int = 0) -> tuple[TextPiece, ...]:
    """The text with the characters from ``start`` to ``end`` marked; of a long text, what stands around them."""
    if not 0 <= start <= end <= len(text):
        start = end = 0
    end = min(end, start + _LONGEST)
    room = (_LONGEST - (end - start)) // 2
    first = 0 if len(text) <= _LONGEST else max(0, min(start - room, len(text) - _LONGEST))
    last = len(text) if len(text) <= _LONGEST else max(end, first + _LONGEST)
    cut = [
        TextPiece("…" * (first > 0) + text[first:start]),
        TextPiece(text[start:end], marked=True),
        TextPiece(text[end:last] + "…" * (last < len(text))),
    ]
    return tuple(piece for piece in cut if piece.text)


def _whole(text: str, *, marked: bool) -> tuple[TextPiece, ...]:
    return pieces(text, 0, len(text)) if marked else pieces(text)


def _numbered(texts: Iterable[str], marked: int = -1) -> Iterator[ExampleText]:
    for number, text in enumerate(texts):
        yield ExampleText(str(number), _whole(text, marked=number == marked))


def _sentence(row: Row) -> Iterator[ExampleText]:
    span = (row["edit"] if row["original"] else None) or row["target"] or {}
    yield ExampleText("text", pieces(row["text"], span.get("start", 0), span.get("end", 0)))


def _candidate(row: Row) -> Iterator[ExampleText]:
    yield from _numbered(row["sentences"])
    yield ExampleText("candidate", _whole(row["candidate"], marked=True))


def _choice(row: Row) -> Iterator[ExampleText]:
    yield from _numbered(row["context"])
    for line in _numbered(row["choices"], row["label"]):
        yield ExampleText(f"choice {line.name}", line.pieces)


def _pair(row: Row) -> Iterator[ExampleText]:
    yield ExampleText("sentence1", pieces(row["sentence1"]))
    yield ExampleText("sentence2", pieces(row["sentence2"]))


def _suite(row: Row) -> Iterator[ExampleText]:
    for side in ("good", "bad"):
        start, end = region_span(row[f"regions_{side}"], row["region"])
        yield ExampleText(side, pieces(row[f"sentence_{side}"], start, end))


def region_span(regions: Sequence[str], number: int) -> tuple[int, int]:
    """First and end character of a region in the text that the regions make; nothing for number 0."""
    if not number:
        return 0, 0
    start = sum(len(region) + 1 for region in regions[: number - 1] if region)
    return start, start + len(regions[number - 1])


_LINES: dict[Shape, Callable[[Row], Iterable[ExampleText]]] = {
    Shape.SENTENCE: _sentence,
    Shape.SEQUENCE: lambda row: _numbered(row["sentences"], row["position"]),
    Shape.SCORED: _pair,
    Shape.PAIR: _pair,
    Shape.RELATION: _pair,
    Shape.CANDIDATE: _candidate,
    Shape.CHOICE: _choice,
    Shape.SUITE: _suite,
}
MARKED = {
    Shape.SENTENCE: "the edited or the probed word",
    Shape.SEQUENCE: "the sentence that was moved or put in",
    Shape.CANDIDATE: "the candidate",
    Shape.CHOICE: "the right choice",
    Shape.SUITE: "the region in which the texts are compared",
}
"""What the mark in an example means, by shape."""
