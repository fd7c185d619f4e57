"""Rows of a config as cards and reviewers see them: how long they are, examples of all labels, and texts in pieces.

`row_texts` gives the texts of a row in the order in which they are read, with the span that is edited or probed; a
`ShownText` is divided at this span, which templates then highlight.
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
from msgspec.structs import replace

from discoprobe.builders.config import Config, Shape
from discoprobe.cards.readers import TEXT_COLUMNS

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def lengths(config: Config) -> tuple[str, dict[str, tuple[int, ...]]]:
    """How long the rows of a config are, all splits together.

    Returns:
        The unit, ``words`` (UD words of the sentence) or ``characters`` (of all texts of the row); and per label least,
        lower quartile, median, upper quartile and most.
    """
    sizes = np.concatenate([_sizes(table) for table in config.splits.values()])
    labels = np.concatenate([table["label"].to_numpy() for table in config.splits.values()])
    of_label = {name: sizes[labels == number] for number, name in enumerate(config.labels) if (labels == number).any()}
    quantiles = {name: tuple(map(int, np.quantile(of_one, QUANTILES))) for name, of_one in of_label.items()}
    return "words" if config.shape is Shape.SENTENCE else "characters", quantiles


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


class ShownText(msgspec.Struct, frozen=True):
    """A text of a row, with the characters from ``start`` to ``end`` marked: what was edited, or what is asked about.

    Attributes:
        name: its column, or what that is called where the text is shown.
        text: all of it.
        start: first character that is marked.
        end: the character after the last one; the same number if none is marked.
        number: its number in a column of lists, else None.
        note: what a reader is told of it, such as its place in the source.
    """

    name: str
    text: str
    start: int = 0
    end: int = 0
    number: int | None = None
    note: str = ""

    def pieces(self, longest: int | None = _LONGEST) -> list[tuple[str, bool]]:
        """The text in pieces, each with whether it is marked; of a text that is longer, only the part around the mark.

        With None this is the complete text.
        """
        text, start, end = self.text, self.start, self.end
        longest = len(text) if longest is None else longest
        if not 0 <= start <= end <= len(text):
            start = end = 0
        end = min(end, start + longest)
        room = (longest - (end - start)) // 2
        first = 0 if len(text) <= longest else max(0, min(start - room, len(text) - longest))
        last = len(text) if len(text) <= longest else max(end, first + longest)
        before, after = "…" * (first > 0) + text[first:start], text[end:last] + "…" * (last < len(text))
        return [piece for piece in ((before, False), (text[start:end], True), (after, False)) if piece[0]]


ContextSentence: TypeAlias = tuple[str, bool, bool]
"""A sentence of the source of a row: its text, whether the row has it, and whether there is a gap in the source before.

Without a gap it follows the sentence before it in the list.
"""


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
    return [example_of(shape, labels, row) for row in chosen[:EXAMPLES]]


def example_of(shape: Shape, labels: Sequence[str], row: Row) -> Example:
    """A row as it is shown."""
    place = ", ".join(name for name in (row["corpus"], row["doc_id"]) if name)
    label = labels[row["label"]] if 0 <= row["label"] < len(labels) else str(row["label"])
    lines = []
    for text in row_texts(shape, row):
        name = f"choice {text.number}" if text.name == "choices" else str(text.number)
        lines.append(text if text.number is None else replace(text, name=name))
    order = list(row.get("order") or ())
    moved = order != sorted(order) and -1 not in order
    note = f"places in the source: {', '.join(map(str, order))}" if moved else ""
    return Example(row["id"], label, place, row["pair_id"] or "", tuple(lines), note)


def row_texts(shape: Shape, row: Row) -> Iterator[ShownText]:
    """The texts of a row in the order in which they are read, with what ``MARKED`` names marked."""
    match shape:
        case Shape.SENTENCE:
            span = (row["edit"] if row["original"] else None) or row["target"] or {}
            yield ShownText("text", row["text"], span.get("start", 0), span.get("end", 0))
        case Shape.SEQUENCE:
            yield from _texts_of_list(row, "sentences", row["position"])
        case Shape.CANDIDATE:
            yield from _texts_of_list(row, "sentences")
            yield ShownText("candidate", row["candidate"], 0, len(row["candidate"]))
        case Shape.CHOICE:
            yield from _texts_of_list(row, "context")
            yield from _texts_of_list(row, "choices", row["label"])
        case Shape.SUITE:
            for side in ("good", "bad"):
                span = region_span(row[f"regions_{side}"], row["region"])
                yield ShownText(side, row[f"sentence_{side}"], *span)
        case Shape.MENTIONS:
            yield ShownText("text", row["text"])
        case Shape.RELATION if row.get("marked"):
            yield ShownText("marked", row["marked"])
        case Shape.PAIR | Shape.RELATION | Shape.SCORED:
            yield from (ShownText(column, row[column]) for column in ("sentence1", "sentence2"))


def _texts_of_list(row: Row, column: str, marked: int = -1) -> Iterator[ShownText]:
    for number, text in enumerate(row[column]):
        yield ShownText(column, text, 0, len(text) if number == marked else 0, number)


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
