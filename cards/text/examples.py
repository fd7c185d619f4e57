"""Rows of a config as cards and reviewers see them: how long they are, examples of all labels, and texts in pieces.

`row_texts` gives the texts of a row in the order in which they are read, with the span that is edited or probed;
`pieces` divides a text at this span, which templates then highlight.
"""

import operator
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from discoprobe.builders.config import Config, Shape
from discoprobe.cards.readers import TEXT_COLUMNS

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


class Lengths(msgspec.Struct, frozen=True):
    """How long the rows of a config are.

    Attributes:
        unit: ``words`` (UD words of the sentence) or ``characters`` (of all texts of the row).
        quantiles: per label, least, lower quartile, median, upper quartile and most.
    """

    unit: str
    quantiles: Mapping[str, tuple[int, ...]]


def lengths(config: Config) -> Lengths:
    """The lengths of a config's rows, all splits together."""
    sizes = np.concatenate([_sizes(table) for table in config.splits.values()])
    labels = np.concatenate([table["label"].to_numpy() for table in config.splits.values()])
    of_label = {name: sizes[labels == number] for number, name in enumerate(config.labels) if (labels == number).any()}
    return Lengths(
        "words" if config.shape is Shape.SENTENCE else "characters",
        {name: tuple(int(value) for value in np.quantile(of_one, QUANTILES)) for name, of_one in of_label.items()},
    )


def _sizes(table: pa.Table) -> npt.NDArray[np.int64]:
    """The length of each row; of a pair in a suite, that of its good text."""
    if "n_words" in table.column_names:
        return np.asarray(table["n_words"].to_numpy(), dtype=np.int64)
    names = [name for name in TEXT_COLUMNS if name in table.column_names and name != "sentence_bad"]
    frame = pl.DataFrame({name: pl.from_arrow(table[name]) for name in names})
    texts = [
        pl.col(name).list.join("") if isinstance(kind, pl.List) else pl.col(name) for name, kind in frame.schema.items()
    ]
    return frame.select(n=pl.concat_str(texts).str.len_chars())["n"].to_numpy().astype(np.int64)


EXAMPLES = 6
_POOL = 3_000
"""Rows of the test split that examples are taken from; they stand in hash order, so the first are as good as any."""
_LONGEST = 320
"""Characters of a text that are shown."""

Row: TypeAlias = Mapping[str, Any]


class TextPiece(msgspec.Struct, frozen=True):
    """A piece of text, and whether it is marked."""

    text: str
    marked: bool = False


class RowText(msgspec.Struct, frozen=True):
    """One text of a row: its column, its number in a column of lists (else None), and the span that is marked in it."""

    column: str
    number: int | None
    text: str
    start: int = 0
    end: int = 0


class ShownText(msgspec.Struct, frozen=True):
    """One text of a row as it is shown: what it is called, its pieces, and a note such as its place in the source."""

    name: str
    pieces: tuple[TextPiece, ...]
    note: str = ""


class ContextSentence(msgspec.Struct, frozen=True):
    """A sentence of the source of a row.

    ``in_row`` says that the row has it, ``after_gap`` that it does not follow the one before in the source.
    """

    sent_id: str
    text: str
    in_row: bool
    after_gap: bool


class Example(msgspec.Struct, frozen=True):
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
    lines: tuple[ShownText, ...]
    note: str = ""


def examples(shape: Shape, labels: Sequence[str], test: pa.Table) -> list[Example]:
    """Six rows of the test split, each pair complete, all labels as evenly as six rows allow.

    If rows come in pairs, these are the rows of the first pairs, each pair's by label. Else they are rows of each label
    in turn, shown label by label.
    """
    by_pair: defaultdict[str, list[Row]] = defaultdict(list)
    by_label: defaultdict[int, list[Row]] = defaultdict(list)
    for row in test.slice(0, _POOL).to_pylist():
        by_label[row["label"]].append(row)
        if row["pair_id"] is not None:
            by_pair[row["pair_id"]].append(row)
    chosen = [
        row for pair in by_pair.values() if len(pair) > 1 for row in sorted(pair, key=operator.itemgetter("label"))
    ]
    if not chosen:
        turns = sorted((turn, label) for label, rows in by_label.items() for turn in range(min(len(rows), EXAMPLES)))
        places = sorted((label, turn) for turn, label in turns[:EXAMPLES])
        chosen = [by_label[label][turn] for label, turn in places]
    return [_example(shape, labels, row) for row in chosen[:EXAMPLES]]


def _example(shape: Shape, labels: Sequence[str], row: Row) -> Example:
    place = ", ".join(name for name in (row["corpus"], row["doc_id"]) if name)
    label = labels[row["label"]] if 0 <= row["label"] < len(labels) else str(row["label"])
    lines = []
    for column, number, text, start, end in map(msgspec.structs.astuple, row_texts(shape, row)):
        name = column if number is None else f"choice {number}" if column == "choices" else str(number)
        lines.append(ShownText(name, pieces(text, start, end)))
    order = list(row.get("order") or ())
    moved = order != sorted(order) and -1 not in order
    note = f"places in the source: {', '.join(map(str, order))}" if moved else ""
    return Example(row["id"], label, place, row["pair_id"] or "", tuple(lines), note)


def pieces(text: str, start: int = 0, end: int = 0, longest: int = _LONGEST) -> tuple[TextPiece, ...]:
    """The text with the characters from ``start`` to ``end`` marked; of a long text, only the part around them."""
    if not 0 <= start <= end <= len(text):
        start = end = 0
    end = min(end, start + longest)
    room = (longest - (end - start)) // 2
    first = 0 if len(text) <= longest else max(0, min(start - room, len(text) - longest))
    last = len(text) if len(text) <= longest else max(end, first + longest)
    cut = [
        TextPiece("…" * (first > 0) + text[first:start]),
        TextPiece(text[start:end], marked=True),
        TextPiece(text[end:last] + "…" * (last < len(text))),
    ]
    return tuple(piece for piece in cut if piece.text)


def row_texts(shape: Shape, row: Row) -> Iterator[RowText]:
    """The texts of a row in the order in which they are read, with what ``MARKED`` names marked."""
    match shape:
        case Shape.SENTENCE:
            span = (row["edit"] if row["original"] else None) or row["target"] or {}
            yield RowText("text", None, row["text"], span.get("start", 0), span.get("end", 0))
        case Shape.SEQUENCE:
            yield from _texts_of_list(row, "sentences", row["position"])
        case Shape.CANDIDATE:
            yield from _texts_of_list(row, "sentences")
            yield RowText("candidate", None, row["candidate"], 0, len(row["candidate"]))
        case Shape.CHOICE:
            yield from _texts_of_list(row, "context")
            yield from _texts_of_list(row, "choices", row["label"])
        case Shape.SUITE:
            for side in ("good", "bad"):
                span = region_span(row[f"regions_{side}"], row["region"])
                yield RowText(side, None, row[f"sentence_{side}"], *span)
        case Shape.MENTIONS:
            yield RowText("text", None, row["text"])
        case Shape.RELATION if row.get("marked"):
            yield RowText("marked", None, row["marked"])
        case Shape.PAIR | Shape.RELATION | Shape.SCORED:
            yield from (RowText(column, None, row[column]) for column in ("sentence1", "sentence2"))


def _texts_of_list(row: Row, column: str, marked: int = -1) -> Iterator[RowText]:
    for number, text in enumerate(row[column]):
        yield RowText(column, number, text, 0, len(text) if number == marked else 0)


def region_span(regions: Sequence[str], number: int) -> tuple[int, int]:
    """First and end character of a region in the text that the regions make; nothing for number 0."""
    if not number:
        return 0, 0
    start = sum(len(region) + 1 for region in regions[: number - 1] if region)
    return start, start + len(regions[number - 1])


MARKED = {
    Shape.SENTENCE: "the edited word, or the word that the label is about",
    Shape.SEQUENCE: "the sentence that was moved or inserted",
    Shape.CANDIDATE: "the candidate",
    Shape.CHOICE: "the correct choice",
    Shape.SUITE: "the region in which the texts are compared",
}
"""What the mark in an example means, by shape."""
