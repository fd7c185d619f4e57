"""Divides CoNLL-U files into lines: comments and word lines, and among these the words and multiword tokens."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discoprobe.loaders.keys import WHITE

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NAMES: Final = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
READ: Final = ("id", "form", "lemma", "upos", "feats", "head", "deprel", "misc")
NO_NUMBER: Final = -1
"""Stands for a cell without a 32-bit whole number in its usual notation; ``01`` is not a number here."""
RANGE: Final = r"^([1-9][0-9]{0,8})-([1-9][0-9]{0,8})$"
"""The ID of a multiword token."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or a block of a large one."""

    stem: str  # the file's name without folder and suffixes, from which missing sentence ids are made
    data: bytes  # the text, with ``\n`` line ends and no byte order mark
    line: int = 0  # number of lines of the file before the block
    sentence: int = 0  # number of sentences of the file before the block


@dataclass(frozen=True, slots=True)
class Text:
    """The lines of several pieces as one text, in which no sentence continues from one piece to the next."""

    pieces: Sequence[Piece]  # where the lines come from
    starts: Ints  # number of the first line of each piece
    lines: pl.Series  # without their ends; bytes that are not UTF-8 are replaced
    is_comment: Flags  # whether each line begins with ``#``
    is_blank: Flags  # whether each line has only white space
    block: Ints  # number of the block (lines between blank lines) of each line; of a blank line, that of the next one
    first: Ints  # number of the first line of each block
    faults: dict[int, tuple[str, str]]  # number of a line with invalid bytes → reason and message

    def piece(self, lines: Ints) -> Ints:
        """The index of the piece that each of the lines is in."""
        return np.searchsorted(self.starts, lines, side="right") - 1


def read_text(pieces: Sequence[Piece]) -> Text:
    """The lines of pieces, in order."""
    data = b"\n\n".join(piece.data for piece in pieces)
    starts = np.cumsum([0, *(piece.data.count(b"\n") + 2 for piece in pieces[:-1])])
    if data[-1:] not in {b"", b"\n"}:
        data += b"\n"  # polars cannot read a comment without it
    faults = _faults(data) if b"\r" in data else {}
    try:
        lines = pl.read_lines(BytesIO(data))["line"].rechunk()
    except pl.exceptions.ComputeError:
        faults = _faults(data)
        lines = pl.read_lines(BytesIO(data.decode(errors="replace").encode()))["line"].rechunk()
    perhaps_blank = (lines < "!") | (lines > "~")  # empty, or beginning with white space or a letter outside ASCII
    blank = perhaps_blank.to_numpy().copy()
    blank[blank] = (lines.filter(perhaps_blank).str.strip_chars(WHITE) == "").to_numpy()
    opens = ~blank & np.concatenate([[True], blank[:-1]])[: len(blank)]
    block, is_comment = np.cumsum(opens) - ~blank, lines.str.starts_with("#").to_numpy()
    return Text(pieces, starts, lines, is_comment, blank, block, np.flatnonzero(opens), faults)


def _faults(data: bytes) -> dict[int, tuple[str, str]]:
    """What is wrong with the bytes of lines, as in :class:`Text`."""
    faults = {}
    for i, line in enumerate(data.split(b"\n")):
        if b"\r" in line:
            faults[i] = ("line end", "a carriage return inside the line")
        try:
            line.decode()
        except UnicodeDecodeError as error:
            where = f"byte 0x{line[error.start]:02x} at position {error.start + 1} of the line"
            faults[i] = ("encoding", f"invalid UTF-8: {where}")
    return faults


def read_rows(text: Text) -> pl.DataFrame:
    """The word lines: the cells by name (empty if missing), ``n_cells``, and ``line`` and ``block`` (numbers)."""
    line = np.flatnonzero(~text.is_comment & ~text.is_blank)
    cells = text.lines.gather(line).str.split("\t")
    n_cells = cells.list.len()
    if (n_cells != len(NAMES)).any():
        cells = cells.list.concat(pl.Series([[""] * len(NAMES)])).list.head(len(NAMES))
    columns = [pl.col("line").gather_every(len(NAMES), NAMES.index(name)).alias(name) for name in READ]
    numbers = {"n_cells": n_cells, "line": pl.Series(line), "block": pl.Series(text.block[line])}
    return cells.explode().to_frame().select(*columns, **numbers)


def changes(blocks: Ints) -> Flags:
    """Whether each element of an ascending array differs from the one before it; true for the first."""
    return np.concatenate([[True], blocks[1:] != blocks[:-1]])[: len(blocks)]


def position_in_block(blocks: Ints) -> Ints:
    """0-based position of each row inside its block; ``blocks`` is ascending."""
    at = np.arange(len(blocks))
    return at - np.maximum.accumulate(np.where(changes(blocks), at, 0))


@dataclass(frozen=True, slots=True)
class Words:
    """The syntactic words (lines with a whole number as ID) and the multiword tokens (``a-b``) among word lines."""

    lines: pl.DataFrame  # all word lines, as :func:`read_rows` gives them
    heads: Ints  # the HEAD of each of them, or :data:`NO_NUMBER`
    is_word: Flags  # whether each of them is a word
    rows: pl.DataFrame  # the lines of the words
    number: Ints  # the ID of each word
    head: Ints  # the HEAD of each word
    block: Ints  # the block of each word
    sentence: Ints  # index of the sentence of each word, among those with words
    ranges: pl.DataFrame  # multiword tokens: ``at`` (index of the line), ``first``, ``last``, ``word`` (index of first)


def find_words(lines: pl.DataFrame, left_out: Collection[int] = ()) -> Words:
    """The words and multiword tokens among word lines, without the blocks ``left_out``."""
    if left_out:
        lines = lines.filter(~pl.col("block").is_in(list(left_out)))
    cell = pl.col("id", "head")
    is_plain = (cell >= "1") | (cell == "0")  # no zero and no sign before the first digit
    numbers = pl.when(is_plain).then(cell.cast(pl.UInt32, strict=False).cast(pl.Int64)).fill_null(NO_NUMBER)
    number, heads = (column.to_numpy() for column in lines.select(numbers))
    is_word = number != NO_NUMBER
    rows = lines if is_word.all() else lines.filter(pl.Series(is_word))
    at = np.flatnonzero(~is_word)
    first, last = (pl.col("id").str.extract(RANGE, group).cast(pl.Int64) for group in (1, 2))
    ranges = lines[at].with_columns(at=at, word=np.cumsum(is_word)[at], first=first, last=last).drop_nulls("first")
    block = rows["block"].to_numpy()
    sentence = np.cumsum(changes(block)) - 1
    return Words(lines, heads, is_word, rows, number[is_word], heads[is_word], block, sentence, ranges)
