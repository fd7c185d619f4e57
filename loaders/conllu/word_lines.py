"""The lines of CoNLL-U files as columns: comments, word lines, and which of those are words or multiword tokens."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NAMES: Final = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
READ: Final = ("id", "form", "lemma", "upos", "feats", "head", "deprel", "misc")
TEN_CELLS: Final = b"\t" * (len(NAMES) - 1) + b"\n"
"""A line that tells polars how many cells there are, whatever the first line of a file has."""
WHITE: Final = "".join(chr(i) for i in range(0x3001) if chr(i).isspace())
"""What Python calls white space; none is after U+3000."""
NO_NUMBER: Final = -1
"""Stands for a cell with anything but a whole number of 32 bits; ``01`` is none."""
RANGE: Final = r"^(?<first>[1-9][0-9]{0,8})-(?<last>[1-9][0-9]{0,8})$"
"""The ID of a multiword token."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or a block of a large one."""

    stem: str  # the file's name without folder and suffixes, from which missing sentence ids are made
    data: bytes  # the text, with ``\n`` line ends and no byte order mark
    line: int = 0  # lines of the file before the block
    sentence: int = 0  # sentences of the file before the block


@dataclass(frozen=True, slots=True)
class Text:
    """The lines of several pieces as one text, in which no sentence continues from one piece to the next."""

    pieces: Sequence[Piece]  # where the lines come from
    starts: Ints  # number of the first line of each piece
    data: bytes  # UTF-8; bytes that are not UTF-8 are replaced
    lines: pl.Series  # without their ends
    is_comment: Flags  # whether each line begins with ``#``
    is_blank: Flags  # whether each line has only white space
    block: Ints  # number of the block (lines between blank lines) of each line; of a blank line, that of the next one
    first: Ints  # number of the first line of each block
    faults: dict[int, tuple[str, str]]  # what is wrong with the bytes of a line, by its number: kind and words

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
        lines = pl.read_lines(BytesIO(data))["line"]
    except pl.exceptions.ComputeError:
        faults = _faults(data)
        data = data.decode(errors="replace").encode()
        lines = pl.read_lines(BytesIO(data))["line"]
    perhaps_blank = (lines < "!") | (lines > "~")  # empty, or beginning with white space or a letter outside ASCII
    blank = perhaps_blank.to_numpy().copy()
    blank[blank] = (lines.filter(perhaps_blank).str.strip_chars(WHITE) == "").to_numpy()
    opens = ~blank & np.concatenate([[True], blank[:-1]])[: len(blank)]
    block, is_comment = np.cumsum(opens) - ~blank, lines.str.starts_with("#").to_numpy()
    return Text(pieces, starts, data, lines, is_comment, blank, block, np.flatnonzero(opens), faults)


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
    """The word lines: ``line`` and ``block`` (numbers), the cells by name (empty if missing), and ``n_cells``."""
    cells = pl.read_csv(
        BytesIO(TEN_CELLS + text.data), schema=dict.fromkeys(NAMES, pl.String), columns=list(map(NAMES.index, READ)),
        has_header=False, separator="\t", quote_char=None, comment_prefix="#", empty_string_is_null=False,
        truncate_ragged_lines=True,
    )[1:]  # fmt: skip
    cells = cells.filter(pl.Series(~text.is_blank[~text.is_comment]))
    line = np.flatnonzero(~text.is_comment & ~text.is_blank)
    n_tabs = np.full(len(line), len(NAMES) - 1)
    # No line has fewer than ten cells where each has MISC; then none has more if there are as many tabs as there must.
    if (cells["misc"] == "").any() or np.count_nonzero(np.frombuffer(text.data, np.uint8) == ord("\t")) != n_tabs.sum():
        n_tabs = text.lines.gather(line).str.count_matches("\t", literal=True).to_numpy().astype(np.int64)
    return cells.with_columns(line=line, block=text.block[line], n_cells=n_tabs + 1)


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
    """Which lines are syntactic words, and which are multiword tokens; without the blocks that are left out."""
    if left_out:
        lines = lines.filter(~pl.col("block").is_in(list(left_out)))
    cell = pl.col("id", "head")
    is_plain = (cell >= "1") | (cell == "0")  # no zero and no sign before the first digit
    numbers = lines.select(pl.when(is_plain).then(cell.cast(pl.UInt32, strict=False).cast(pl.Int64)))
    number, heads = (column.fill_null(NO_NUMBER).to_numpy() for column in numbers)
    is_word = number != NO_NUMBER
    rows = lines if is_word.all() else lines.filter(pl.Series(is_word))
    at = np.flatnonzero(~is_word)
    others = lines[at].with_columns(at=at, word=np.cumsum(is_word)[at], ends=pl.col("id").str.extract_groups(RANGE))
    ranges = others.unnest("ends").drop_nulls("first").cast({"first": pl.Int64, "last": pl.Int64})
    block = rows["block"].to_numpy()
    sentence = np.cumsum(changes(block)) - 1
    return Words(lines, heads, is_word, rows, number[is_word], heads[is_word], block, sentence, ranges)
