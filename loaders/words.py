"""The word lines of a CoNLL-U text as columns: syntactic words, multiword tokens, and which word belongs to which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
import polars as pl

from discoprobe.loaders.cells import NO_NUMBER, numbers, occurrences, strings
from discoprobe.loaders.lines import NEWLINE, TAB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discoprobe.loaders.lines import Flags, Ints, Lines

NAMES: Final = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
READ: Final = ("id", "form", "lemma", "upos", "feats", "head", "deprel", "misc")
NO_SPACE: Final = b"SpaceAfter=No"
UNDERSCORE: Final = ord("_")
BAR: Final = ord("|")

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Table:
    """Word lines as columns, each cell a place in the text.

    Attributes:
        lines: the text.
        rows: number of each word line in the text.
        blocks: number of the block of each.
        tabs: offsets of the nine tabs of each.
        number: ID as a whole number, or :data:`NO_NUMBER`.
        head: HEAD as a whole number, or :data:`NO_NUMBER`.
    """

    lines: Lines
    rows: Ints
    blocks: Ints
    tabs: Ints
    number: Ints
    head: Ints

    def take(self, keep: Flags) -> Table:
        """The rows where ``keep`` is true."""
        columns = (self.rows, self.blocks, self.tabs, self.number, self.head)
        return Table(self.lines, *(column[keep] for column in columns))

    def span(self, name: str) -> tuple[Ints, Ints]:
        """Where the cells of a column begin and end in the text."""
        return _span(self.lines, self.rows, self.tabs, name)

    def strings(self, name: str, rows: Ints | None = None, valid: Flags | None = None) -> pl.Series:
        """The cells of a column in some rows (ascending, all if not given), null where they are not valid."""
        starts, ends = self.span(name)
        if rows is not None and len(rows) < len(starts):
            starts, ends = starts[rows], ends[rows]
            valid = None if valid is None else valid[rows]
        return strings(self.lines.data, starts, ends, valid)

    def is_empty(self, name: str) -> Flags:
        """Where the cell of a column has no characters."""
        starts, ends = self.span(name)
        found: Flags = starts == ends
        return found

    def is_missing(self, name: str) -> Flags:
        """Where the cell of a column is ``_``."""
        starts, ends = self.span(name)
        found: Flags = (ends - starts == 1) & (self.lines.array[starts] == UNDERSCORE)
        return found

    def cell(self, row: int, name: str) -> str:
        """One cell."""
        starts, ends = self.span(name)
        return self.lines.data[int(starts[row]) : int(ends[row])].decode()


def _span(lines: Lines, rows: Ints, tabs: Ints, name: str) -> tuple[Ints, Ints]:
    column = NAMES.index(name)
    starts = tabs[:, column - 1] + 1 if column else lines.starts[rows]
    ends = tabs[:, column] if column < len(NAMES) - 1 else lines.ends[rows]
    return starts, ends


def read_table(lines: Lines, rows: Ints, tabs: Ints) -> Table:
    """The lines with these numbers, and the offsets of the nine tabs in each."""
    number, head = (numbers(lines.data, *_span(lines, rows, tabs, name)) for name in ("id", "head"))
    return Table(lines, rows, lines.blocks[rows], tabs, number, head)


def space_follows(table: Table) -> Flags:
    """Whether a space follows each line's token in the text: if ``SpaceAfter=No`` is no item of its MISC."""
    found = np.ones(len(table.rows), bool)
    starts, ends = table.span("misc")
    at = occurrences(table.lines.data, NO_SPACE)
    row = np.searchsorted(ends, at)
    at, row = at[row < len(ends)], row[row < len(ends)]
    before, after = table.lines.array[at - 1], table.lines.array[at + len(NO_SPACE)]
    inside = (starts[row] <= at) & ((before == TAB) | (before == BAR)) & ((after == NEWLINE) | (after == BAR))
    found[row[inside]] = False
    return found


def pick(values: NDArray[T], rows: Ints) -> NDArray[T]:
    """Some rows of an array, in ascending order; the array itself if that is all of them."""
    return values if len(rows) == len(values) else values[rows]


def changes(blocks: Ints) -> Flags:
    """Whether each element of an ascending array differs from the one before it; true for the first."""
    found = np.ones(len(blocks), bool)
    found[1:] = blocks[1:] != blocks[:-1]
    return found


def position_in_block(blocks: Ints) -> Ints:
    """0-based position of each row inside its block; ``blocks`` is ascending."""
    at = np.arange(len(blocks))
    return at - np.maximum.accumulate(np.where(changes(blocks), at, 0)) if len(at) else at


@dataclass(frozen=True, slots=True)
class Ranges:
    """Multiword tokens.

    Attributes:
        row: index into the table's rows of each ``a-b`` line.
        first: the number a.
        last: the number b.
        word: position of word a among all words, if the line is where it belongs.
    """

    row: Ints
    first: Ints
    last: Ints
    word: Ints


@dataclass(frozen=True, slots=True)
class Words:
    """The syntactic words of a table.

    Attributes:
        rows: index into the table's rows of each word.
        numbers: its ID.
        heads: its HEAD, or :data:`NO_NUMBER`.
        blocks: number of its block.
        others: index into the table's rows of every line that is not a word.
        ranges: the multiword tokens among those.
    """

    rows: Ints
    numbers: Ints
    heads: Ints
    blocks: Ints
    others: Ints
    ranges: Ranges


def find_words(table: Table) -> Words:
    """Which lines are syntactic words (a whole number as ID) and which multiword tokens (``a-b``)."""
    ids = table.number
    is_word = ids != NO_NUMBER
    rows, others = np.flatnonzero(is_word), np.flatnonzero(~is_word)
    ranges = find_ranges(table, is_word, others)
    return Words(rows, pick(ids, rows), pick(table.head, rows), pick(table.blocks, rows), others, ranges)


def find_ranges(table: Table, is_word: Flags, others: Ints) -> Ranges:
    """The multiword tokens among the lines ``others`` (indices of rows that are not words)."""
    if not len(others):
        return Ranges(others, others, others, others)
    ends = table.strings("id", others).str.extract_groups(r"^([1-9][0-9]{0,8})-([1-9][0-9]{0,8})$").struct.unnest()
    first, last = (ends[name].cast(pl.Int64).fill_null(NO_NUMBER).to_numpy() for name in ends.columns)
    found = first != NO_NUMBER
    row = others[found]
    return Ranges(row, first[found], last[found], np.cumsum(is_word)[row])


@dataclass(frozen=True, slots=True)
class Units:
    """The orthographic tokens (a multiword token, or a word outside any), in order.

    Attributes:
        row: index into the table's rows of each unit.
        of_word: position among the units of the unit that each word belongs to.
        first: number of the first word of the unit for the words of a multiword token, 0 for other words.
    """

    row: Ints
    of_word: Ints
    first: Ints


def find_units(words: Words) -> Units:
    """The units of well-formed sentences."""
    ranges, n = words.ranges, len(words.rows)
    if not len(ranges.row):
        return Units(words.rows, np.arange(n), np.zeros(n, np.int64))
    edges = np.zeros(n + 1, np.int64)
    edges[ranges.word] += 1
    np.subtract.at(edges, ranges.word + ranges.last - ranges.first + 1, 1)
    covered = np.cumsum(edges[:-1]) > 0
    opens = ~covered
    opens[ranges.word] = True
    row = words.rows.copy()
    row[ranges.word] = ranges.row
    of_word = np.cumsum(opens) - 1
    heads = np.flatnonzero(opens)
    return Units(row[heads], of_word, np.where(covered, words.numbers[heads][of_word], 0))
