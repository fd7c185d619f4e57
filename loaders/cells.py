"""Cells of a text as columns, without parsing them one by one or copying them: strings, and whole numbers.

Strings are Arrow string views (https://arrow.apache.org/docs/format/Columnar.html, "Variable-size Binary View Layout"):
16 bytes each, the length and then either the string itself, if it has up to 12 bytes, or its first 4 bytes, the number
of a buffer and the offset there. The buffer is the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discoprobe.loaders.lines import Flags, Ints

PADDING: Final = 16
"""Bytes that must stand before the first and after the last cell of a text: cells are read 16 bytes at a time."""
NO_NUMBER: Final = -1
INLINE: Final = 12
MASKS: Final = np.array([2 ** (8 * n) - 1 for n in range(9)], np.uint64)
"""The first n bytes of eight."""
FIRST_MASKS: Final = np.array([MASKS[min(n, 4)] << np.uint64(32) for n in range(INLINE + 2)])
REST_MASKS: Final = np.array([*(MASKS[max(n - 4, 0)] for n in range(INLINE + 1)), 0], np.uint64)
"""What of the bytes from 4 before a cell, and from 4 after its start, belongs into its view; the last: of long ones."""
WORD: Final = 8
LARGEST: Final = 2**32 - 1
ZEROS: Final = np.uint64(0x3030303030303030)
"""The digit 0, eight times."""

_WHITE: Final = [chr(i).encode() for i in range(0x3001) if chr(i).isspace()]
WHITE_FIRST: Final = np.isin(np.arange(256), [character[0] for character in _WHITE])
"""Bytes that white space can begin with in UTF-8; none is after U+3000."""
WHITE_LAST: Final = np.isin(np.arange(256), [character[-1] for character in _WHITE])
"""Bytes that white space can end with."""


def strings(data: bytes, starts: Ints, ends: Ints, valid: Flags | None = None) -> pl.Series:
    """The cells between offsets, null where they are not valid.

    Args:
        data: the text; the cells must be UTF-8.
        starts: offset of the first byte of each cell.
        ends: offset of the byte after each cell.
        valid: which cells are not null; all, if not given.
    """
    if len(data) >= 2**31:
        raise OverflowError("a text of 2 GiB or more cannot be addressed by string views")
    sizes = ends - starts
    kinds = np.minimum(sizes, INLINE + 1)
    views = np.empty((len(starts), 2), np.uint64)
    views[:, 0] = _read(data, starts - 4) & FIRST_MASKS[kinds] | sizes.view(np.uint64)
    views[:, 1] = _read(data, starts + 4) & REST_MASKS[kinds]
    long = np.flatnonzero(sizes > INLINE)
    views[long, 1] = starts[long] << 32
    bits = None if valid is None or valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [bits, pa.py_buffer(views), pa.py_buffer(data)]
    return pl.Series(pa.Array.from_buffers(pa.string_view(), len(starts), buffers))


def _read(data: bytes, starts: Ints) -> NDArray[np.uint64]:
    """The eight bytes that stand at each offset, which need not be aligned."""
    windows: NDArray[np.uint64] = np.ndarray((max(len(data) - 7, 0),), "<u8", data, strides=(1,))
    return windows[starts]


def numbers(data: bytes, starts: Ints, ends: Ints) -> Ints:
    """The whole number in each cell, or :data:`NO_NUMBER` for anything else, ``01`` and ``+1`` included.

    Up to eight digits are read at once, as two of four, four of two and eight of one, in the bytes of one 64-bit number
    (W. Muła, "SIMD-ized conversion of strings to integers"); longer cells are rare and read one by one.
    """
    sizes = ends - starts
    missing = np.clip(WORD - sizes, 0, WORD)
    bits = 8 * missing.astype(np.uint64)
    padded = _shifted(_read(data, starts) & MASKS[WORD - missing], bits) | (ZEROS & MASKS[missing])
    values = _eight_digits(padded).astype(np.int64)
    leading_zero = (np.frombuffer(data, np.uint8)[starts] == ord("0")) & (sizes > 1)
    values[~_all_digits(padded) | leading_zero | (sizes == 0)] = NO_NUMBER
    for i in np.flatnonzero(sizes > WORD).tolist():
        values[i] = _long_number(data[starts[i] : ends[i]])
    return values


def _shifted(words: NDArray[np.uint64], bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Moved up by so many bits; nothing is left of a cell of no bytes."""
    return np.where(bits < 8 * WORD, words << np.minimum(bits, np.uint64(8 * WORD - 1)), np.uint64(0))


def _all_digits(words: NDArray[np.uint64]) -> Flags:
    """Whether all eight bytes are ASCII digits: 0x30 to 0x39, and not above when 6 is added."""
    high = np.uint64(0xF0F0F0F0F0F0F0F0)
    six = np.uint64(0x0606060606060606)
    found: Flags = ((words & high) == ZEROS) & (((words + six) & high) == ZEROS)
    return found


def _eight_digits(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The number whose digits are the bytes, the first of them the lowest byte."""
    found = words & np.uint64(0x0F0F0F0F0F0F0F0F)
    for width, mask in ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF)):
        base = np.uint64(10 ** (width // 8))
        found = (found * base + (found >> np.uint64(width))) & np.uint64(mask)
    return found


def _long_number(cell: bytes) -> int:
    value = int(cell) if cell.isdigit() and cell[:1] != b"0" else NO_NUMBER
    return value if value <= LARGEST else NO_NUMBER


def starts_with(data: bytes, starts: Ints, opening: bytes) -> Ints:
    """Which of the offsets an opening stands at, as indices."""
    found = np.arange(len(starts))
    for at in range(0, len(opening), WORD):
        part = opening[at : at + WORD]
        words = _read(data, starts[found] + at) & MASKS[len(part)]
        found = found[words == np.frombuffer(part.ljust(WORD, b"\0"), np.uint64)[0]]
    return found


def has_white_edge(data: bytes, starts: Ints, ends: Ints) -> Flags:
    """Whether the first or the last character between offsets is white space, as ``str.isspace`` has it."""
    array = np.frombuffer(data, np.uint8)
    found = WHITE_FIRST[array[starts]] | WHITE_LAST[array[ends - 1]]
    for i in np.flatnonzero(found).tolist():
        text = data[starts[i] : ends[i]].decode(errors="replace")
        found[i] = text.strip() != text
    return found


def occurrences(data: bytes, part: bytes) -> Ints:
    """The offsets at which a part occurs in the text."""
    sizes = np.fromiter(map(len, data.split(part)), np.int64)
    return np.cumsum(sizes[:-1] + len(part)) - len(part)
