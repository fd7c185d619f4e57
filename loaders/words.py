"""The word lines of a CoNLL-U text as columns: syntactic words, multiword tokens, and which word belongs to which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv

from discoprobe.loaders.corpus import UPOS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discoprobe.loaders.lines import Flags, Ints, Lines

NAMES: Final = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
READ: Final = ("id", "form", "lemma", "upos", "feats", "head", "deprel", "misc")
NO_NUMBER: Final = -1
BLOCK: Final = 2**20
"""Bytes that the CSV parser takes at a time: few enough for the processor's cache."""


@dataclass(frozen=True, slots=True)
class Table:
    """Word lines as columns.

    Attributes:
        cells: one row per line, the columns of :data:`READ` as strings, as they stand in the file.
        values: what they mean, see :func:`_values`.
        rows: number of the line in the text, per row of ``cells``.
        blocks: number of the block, per row of ``cells``.
    """

    cells: pl.DataFrame
    values: pl.DataFrame
    rows: Ints
    blocks: Ints

    def take(self, keep: Flags) -> Table:
        """The rows where ``keep`` is true."""
        return Table(self.cells.filter(keep), self.values.filter(keep), self.rows[keep], self.blocks[keep])

    def array(self, name: str) -> NDArray[Any]:
        """A column of ``values`` without nulls."""
        return self.values[name].to_numpy()


def read_table(lines: Lines, rows: Ints) -> Table:
    """The lines with these numbers, every one of which must have ten columns."""
    blocks = lines.blocks[rows]
    if not len(rows):
        cells = pl.DataFrame(schema=dict.fromkeys(READ, pl.String))
        return Table(cells, _values(cells), rows, blocks)
    longest = int((lines.ends[rows] - lines.starts[rows]).max()) + 1
    cells = pl.DataFrame(
        pa_csv.read_csv(
            pa.py_buffer(lines.text(rows)),
            read_options=pa_csv.ReadOptions(
                column_names=list(NAMES), use_threads=False, block_size=max(BLOCK, longest)
            ),
            parse_options=pa_csv.ParseOptions(delimiter="\t", quote_char=False, ignore_empty_lines=False),
            convert_options=pa_csv.ConvertOptions(
                check_utf8=False,
                include_columns=list(READ),
                column_types=dict.fromkeys(NAMES, pa.large_string()),
                strings_can_be_null=False,
            ),
        ),
    )
    return Table(cells, _values(cells), rows, blocks)


def _values(cells: pl.DataFrame) -> pl.DataFrame:
    """What the cells mean, row by row, in one pass over all columns.

    ``number`` and ``head`` are whole numbers or :data:`NO_NUMBER`; ``form`` is as it stands; ``lemma``, ``feats``,
    ``deprel`` and ``upos`` are null for ``_`` (a lemma ``_`` of the form ``_`` is itself), ``upos`` also for what is no
    universal tag; ``no_upos`` and ``no_head`` say that there was ``_``; ``empty`` that a cell that may not be empty is;
    ``spaced`` that a space follows; ``length`` is the form's, in characters.
    """
    return cells.select(
        number=_number("id"),
        head=_number("head"),
        no_head=pl.col("head") == "_",
        form="form",
        length=pl.col("form").str.len_chars(),
        lemma=pl.when((pl.col("lemma") != "_") | (pl.col("form") == "_")).then("lemma"),
        upos=pl.col("upos").cast(UPOS, strict=False),
        no_upos=pl.col("upos") == "_",
        feats=pl.when((pl.col("feats") != "_") & (pl.col("feats") != "")).then("feats"),
        deprel=pl.when(pl.col("deprel") != "_").then("deprel"),
        empty=pl.any_horizontal(pl.col("form", "lemma", "upos", "deprel") == ""),
        spaced=~_has_item("misc", "SpaceAfter=No"),
    )


def _has_item(column: str, item: str) -> pl.Expr:
    """Whether an item is in a list separated by ``|``."""
    cell = pl.col(column)
    inside = cell.str.contains(f"|{item}|", literal=True) | cell.str.ends_with(f"|{item}")
    return (cell == item) | cell.str.starts_with(f"{item}|") | inside


def _number(column: str) -> pl.Expr:
    """The whole number in a cell, or :data:`NO_NUMBER` for anything else, ``01`` and ``+1`` included."""
    cell = pl.col(column)
    odd = cell.str.starts_with("+") | (cell.str.starts_with("0") & (cell != "0"))
    return pl.when(~odd).then(cell.cast(pl.UInt32, strict=False)).cast(pl.Int64).fill_null(NO_NUMBER)


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
    ids = table.array("number")
    is_word = ids != NO_NUMBER
    rows, others = np.flatnonzero(is_word), np.flatnonzero(~is_word)
    ranges = find_ranges(table, is_word, others)
    return Words(rows, ids[rows], table.array("head")[rows], table.blocks[rows], others, ranges)


def find_ranges(table: Table, is_word: Flags, others: Ints) -> Ranges:
    """The multiword tokens among the lines ``others`` (indices of rows that are not words)."""
    if not len(others):
        return Ranges(others, others, others, others)
    ends = table.cells["id"].gather(others).str.extract_groups(r"^([1-9][0-9]{0,8})-([1-9][0-9]{0,8})$").struct.unnest()
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
