"""The lines of a CoNLL-U text, as numpy arrays: where they begin and end, what they are, which sentence they are in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

NEWLINE: Final = 10
TAB: Final = 9
HASH: Final = 35
RETURN: Final = 13
WHITE: Final = np.isin(np.arange(256), np.frombuffer(b" \t\r\v\f\xc2\xe2\xe3", np.uint8))
"""First bytes of a line that may be white space throughout (the last three begin non-ASCII spaces)."""

BLANK: Final = 0
COMMENT: Final = 1
WORD: Final = 2
COLUMNS: Final = 10


@dataclass(frozen=True, slots=True)
class Lines:
    r"""The lines of a text.

    Attributes:
        data: the text, with ``\n`` line ends and a final one.
        starts: offset of the first byte of each line.
        ends: offset of each line's newline.
        kinds: :data:`BLANK`, :data:`COMMENT` or :data:`WORD`, per line.
        blocks: number of the block (lines between blank lines) that each line is in; for a blank line, of the next one.
    """

    data: bytes
    starts: Ints
    ends: Ints
    kinds: NDArray[np.uint8]
    blocks: Ints

    def rows(self, kind: int) -> Ints:
        """Numbers of the lines of a kind."""
        return np.flatnonzero(self.kinds == kind)

    @property
    def array(self) -> NDArray[np.uint8]:
        """The text as an array."""
        return np.frombuffer(self.data, np.uint8)

    def line(self, row: int) -> bytes:
        """One line, without its newline."""
        start, end = int(self.starts[row]), int(self.ends[row])
        return self.data[start:end]


def split_lines(data: bytes) -> Lines:
    r"""The lines of a text that has ``\n`` line ends and a final one."""
    buffer = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(buffer == NEWLINE)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1]) if len(ends) else ends
    first = buffer[starts]
    kinds = np.full(len(starts), WORD, np.uint8)
    kinds[first == HASH] = COMMENT
    kinds[first == NEWLINE] = BLANK
    for row in np.flatnonzero(WHITE[first]).tolist():
        if not data[starts[row] : ends[row]].decode(errors="replace").strip():
            kinds[row] = BLANK
    filled = kinds != BLANK
    opens = filled & ~np.concatenate([[False], filled[:-1]])
    return Lines(data, starts, ends, kinds, np.cumsum(opens) - filled)


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are valid UTF-8 (polars checks it many times faster than Python decodes)."""
    buffers = [None, pa.py_buffer(np.array([0, len(data)], np.int64)), pa.py_buffer(data)]
    whole = pl.Series(pa.Array.from_buffers(pa.large_binary(), 1, buffers))
    try:
        whole.cast(pl.String)
    except pl.exceptions.ComputeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Tabs:
    """The tabs in some lines.

    Attributes:
        offsets: of all tabs in the text.
        first: index into ``offsets`` of the first tab of each line.
        counts: number of tabs in each line.
    """

    offsets: Ints
    first: Ints
    counts: Ints

    def of(self, lines: Flags, number: int) -> Ints:
        """The offsets of the tabs of chosen lines, each of which has the same number; shape (lines, number)."""
        first = self.first[lines]
        if len(self.offsets) == number * len(first):
            return self.offsets.reshape(-1, number)
        found: Ints = self.offsets[first[:, None] + np.arange(number)]
        return found


def find_tabs(lines: Lines, rows: Ints, expected: int) -> Tabs:
    """The tabs in the lines with these numbers; fast where there is the expected number of them everywhere."""
    tabs = np.flatnonzero(lines.array == TAB)
    starts, ends = lines.starts[rows], lines.ends[rows]
    if (
        len(tabs) == expected * len(rows)
        and (tabs[::expected] > starts).all()
        and (tabs[expected - 1 :: expected] < ends).all()
    ):
        return Tabs(tabs, np.arange(0, len(tabs), expected), np.full(len(rows), expected))
    first = np.searchsorted(tabs, starts)
    return Tabs(tabs, first, np.searchsorted(tabs, ends) - first)
