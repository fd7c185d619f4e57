"""Identity of documents and sentences: 64-bit BLAKE2b digests of what they are, the same on every machine."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

SIZE: Final = 8
BETWEEN: Final = "\x1f"
NOTHING: Final = "\x00"
WHITE: Final = np.array([chr(i).isspace() for i in range(0x3002)])
"""Which characters are white space; none is after U+3000."""
GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)
MIX1: Final = np.uint64(0xBF58476D1CE4E5B9)
MIX2: Final = np.uint64(0x94D049BB133111EB)


def splitmix64(keys: ArrayLike) -> NDArray[np.uint64]:
    """One 64-bit hash per 64-bit key (SplitMix64; Steele, Lea & Flood 2014)."""
    with np.errstate(over="ignore"):
        z = np.asarray(keys, dtype=np.uint64) + GAMMA
        z = (z ^ (z >> np.uint64(30))) * MIX1
        z = (z ^ (z >> np.uint64(27))) * MIX2
        return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def keys_of(texts: Iterable[bytes]) -> pl.Series:
    """The first 8 bytes of the BLAKE2b digest of each text (in UTF-8), as little-endian u64."""
    digests = b"".join([blake2b(text, digest_size=SIZE).digest() for text in texts])
    return pl.Series("key", np.frombuffer(digests, "<u8"), pl.UInt64)


def record_keys(*columns: Iterable[str | None]) -> pl.Series:
    """The key of each record, whose fields are strings or null."""
    filled = [[NOTHING if field is None else field for field in column] for column in columns]
    return keys_of([BETWEEN.join(fields).encode() for fields in zip(*filled, strict=True)])


def text_keys(texts: Sequence[str]) -> pl.Series:
    """The key of each text with case folded and white space collapsed: equal for texts that differ in those only."""
    folded = "\n".join(texts).casefold()
    if folded.count("\n") >= len(texts):
        return keys_of([" ".join(text.casefold().split()).encode() for text in texts])
    lines = folded.encode().split(b"\n") if texts else []
    for row in _uncollapsed(folded).tolist():
        lines[row] = " ".join(lines[row].decode().split()).encode()
    return keys_of(lines)


def _uncollapsed(lines: str) -> NDArray[np.int64]:
    """Numbers of the lines that have white space around them, or inside other than one space at a time."""
    letters = np.frombuffer(f"\n{lines}\n".encode("utf-32-le", "surrogatepass"), "<u4")
    white = np.flatnonzero(WHITE[np.minimum(letters, len(WHITE) - 1)])
    white_letters = letters[white]
    wrong = (white_letters != ord(" ")) & (white_letters != ord("\n"))
    pairs = np.diff(white) == 1
    wrong[:-1] |= pairs & (white_letters[:-1] != ord("\n"))
    wrong[1:] |= pairs & (white_letters[1:] != ord("\n"))
    line = np.cumsum(white_letters == ord("\n")) - 1
    return np.unique(line[wrong])
