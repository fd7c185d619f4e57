"""The lines of CoNLL-U files as columns: comments, word lines, and which of those are words or multiword tokens."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NAMES: Final = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
READ: Final = ("id", "form", "lemma", "upos", "feats", "head", "deprel", "misc")
WHITE: Final = "".join(chr(i) for i in range(0x3001) if chr(i).isspace())
"""What Python calls white space; none is after U+3000."""
NO_NUMBER: Final = -1
RANGE: Final = r"^([1-9][0-9]{0,8})-([1-9][0-9]{0,8})$"
"""The ID of a multiword token."""
NO_SPACE: Final = r"(^|\|)SpaceAfter=No(\||$)"


@dataclass(frozen=True, slots=True)
class Piece:
    r"""A file, or a block of a large one.

    Attributes:
        stem: the file's name without folder and suffixes, from which missing sentence ids are made.
        data: the text, with ``\n`` line ends and no byte order mark.
        line: lines of the file before the block.
        sentence: sentences of the file before the block.
    """

    stem: str
    data: bytes
    line: int = 0
    sentence: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """The lines of several pieces as one text, in which no sentence continues from one piece to the next.

    Attributes:
        pieces: where the lines come from.
        lines: the lines, without their ends; bytes that are not UTF-8 are replaced.
        is_comment: whether each line begins with ``#``.
        is_blank: whether each line has only white space.
        block: number of the block (lines between blank lines) of each line; for a blank line, of the next one.
        not_utf8: what is wrong with each line that is not UTF-8, by number of the line.
        with_return: numbers of the lines with a carriage return inside.
    """

    pieces: Sequence[Piece]
    lines: pl.Series
    is_comment: Flags
    is_blank: Flags
    block: Ints
    not_utf8: dict[int, str]
    with_return: list[int]

    def first_lines(self) -> Ints:
        """The number of the first line of each piece."""
        sizes = [piece.data.count(b"\n") + 2 for piece in self.pieces]
        return np.cumsum([0, *sizes[:-1]])

    def piece(self, lines: Ints) -> Ints:
        """The index of the piece that each of the lines is in."""
        if len(self.pieces) == 1:
            return np.zeros(len(lines), np.int64)
        return np.searchsorted(self.first_lines(), lines, side="right") - 1


def read_text(pieces: Sequence[Piece]) -> Text:
    """The lines of pieces, in order."""
    data = b"\n\n".join(piece.data for piece in pieces)
    not_utf8: dict[int, str] = {}
    with_return = [i for i, line in enumerate(data.split(b"\n")) if b"\r" in line] if b"\r" in data else []
    try:
        lines = pl.read_lines(BytesIO(data))["line"]
    except pl.exceptions.ComputeError:
        not_utf8 = {i: problem for i, line in enumerate(data.split(b"\n")) if (problem := _encoding_problem(line))}
        lines = pl.read_lines(BytesIO(data.decode(errors="replace").encode()))["line"]
    blank = (lines.str.strip_chars(WHITE) == "").to_numpy()
    opens = ~blank & np.concatenate([[True], blank[:-1]])[: len(blank)]
    block = np.cumsum(opens) - ~blank
    return Text(pieces, lines, lines.str.starts_with("#").to_numpy(), blank, block, not_utf8, with_return)


def _encoding_problem(line: bytes) -> str:
    """What is wrong with a line that is not UTF-8; empty if it is."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        return f"invalid UTF-8: byte 0x{byte:02x} at position {error.start + 1} of the line"
    return ""


def read_rows(text: Text) -> pl.DataFrame:
    """The word lines: ``line`` and ``block`` (numbers), the cells by name, and ``more``, null in lines of ten cells.

    In lines with fewer than ten cells ``misc`` is null.
    """
    line = np.flatnonzero(~(text.is_comment | text.is_blank))
    cells = text.lines.gather(line).str.splitn("\t", len(NAMES) + 1).struct.unnest()
    cells.columns = [*NAMES, "more"]
    return cells.select(pl.Series("line", line), pl.Series("block", text.block[line]), *READ, "more")


def whole_numbers(cells: pl.Series) -> Ints:
    """The whole number of 32 bits in each cell, or :data:`NO_NUMBER` for anything else, ``01`` and ``+1`` included."""
    numbers = cells.cast(pl.UInt32, strict=False).cast(pl.Int64)
    as_written = (numbers.cast(pl.String) == cells).fill_null(value=False).to_numpy()
    return np.where(as_written, numbers.fill_null(NO_NUMBER).to_numpy(), NO_NUMBER)


def changes(blocks: Ints) -> Flags:
    """Whether each element of an ascending array differs from the one before it; true for the first."""
    return np.concatenate([[True], blocks[1:] != blocks[:-1]])[: len(blocks)]


def position_in_block(blocks: Ints) -> Ints:
    """0-based position of each row inside its block; ``blocks`` is ascending."""
    at = np.arange(len(blocks))
    return at - np.maximum.accumulate(np.where(changes(blocks), at, 0))


@dataclass(frozen=True, slots=True)
class Words:
    """The syntactic words among word lines, and the other lines.

    Attributes:
        rows: the lines of the words, as :func:`read_rows` gives them, with ``number`` (ID).
        at: index of each word among all word lines.
        number: the ID of each.
        head: the HEAD of each, or :data:`NO_NUMBER`.
        block: the block of each.
        others: the lines that are no words.
        ranges: the multiword tokens among those: ``form``, ``misc``, ``line``, ``block``, ``first`` and ``last`` word
            number, and ``word``, the index of the first word where the line is in its place.
    """

    rows: pl.DataFrame
    number: Ints
    head: Ints
    block: Ints
    others: pl.DataFrame
    ranges: pl.DataFrame


def find_words(rows: pl.DataFrame) -> Words:
    """Which lines are syntactic words (a whole number as ID) and which multiword tokens (``a-b``)."""
    number = whole_numbers(rows["id"])
    is_word = number != NO_NUMBER
    rows = rows.with_columns(number=number, word=np.cumsum(is_word))
    words, others = (
        (rows, rows.clear()) if is_word.all() else (rows.filter(pl.Series(is_word)), rows.filter(pl.Series(~is_word)))
    )
    ends = others["id"].str.extract_groups(RANGE).struct.unnest().cast(pl.Int64)
    ranges = others.with_columns(ends["1"].alias("first"), ends["2"].alias("last")).drop_nulls("first")
    return Words(
        words, words["number"].to_numpy(), whole_numbers(words["head"]), words["block"].to_numpy(), others, ranges
    )


@dataclass(frozen=True, slots=True)
class Units:
    """The orthographic tokens (a multiword token, or a word outside any), in order.

    Attributes:
        rows: ``form``, ``misc`` and ``block`` of each.
        of_word: index of the unit that each word belongs to.
        first: number of the first word of the unit for the words of a multiword token, 0 for other words.
    """

    rows: pl.DataFrame
    of_word: Ints
    first: Ints


def find_units(words: Words) -> Units:
    """The orthographic tokens of well-formed sentences."""
    rows, n = words.rows.select("form", "misc", "block"), words.rows.height
    if words.ranges.is_empty():
        return Units(rows, np.arange(n), np.zeros(n, np.int64))
    at, first, last = (words.ranges[name].to_numpy() for name in ("word", "first", "last"))
    edges = np.zeros(n + 1, np.int64)
    edges[at] += 1
    np.subtract.at(edges, at + last - first + 1, 1)
    covered = np.cumsum(edges[:-1]) > 0
    opens = ~covered
    opens[at] = True
    line = np.where(covered, n, np.arange(n))
    line[at] = n + np.arange(len(at))
    heads = np.flatnonzero(opens)
    of_word = np.cumsum(opens) - 1
    units = pl.concat([rows, words.ranges.select(rows.columns)]).gather(line[heads])
    return Units(units, of_word, np.where(covered, words.number[heads][of_word], 0))


def space_follows(misc: pl.Series) -> Flags:
    """Whether a space follows each token in the text: if ``SpaceAfter=No`` is no item of its MISC."""
    return ~misc.str.contains(NO_SPACE).to_numpy()


def nullable(values: Ints, valid: Flags, dtype: type[np.unsignedinteger]) -> pl.Series:
    """Numbers as a column, null where they are not valid."""
    return pl.Series(pa.array(values.astype(dtype), mask=~valid))
