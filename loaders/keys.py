"""Keys that identify documents and sentences: 64-bit BLAKE2b digests of their content, the same on every machine."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

SIZE: Final = 8
BETWEEN: Final = "\x1f"  # separates the fields of a record
NOTHING: Final = "\x00"  # stands for null
WHITE: Final = "".join(chr(i) for i in range(0x3001) if chr(i).isspace())
"""All white space of ``str.isspace``; none is above U+3000."""
UNCOLLAPSED: Final = f"^[{WHITE}]|[{WHITE}]$|[{WHITE}]{{2}}|[{WHITE.replace(' ', '')}]"
"""White space that has to be collapsed: at either end, several characters in a row, or any but a plain space."""
GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio
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
    lines = folded.split("\n") if texts else []
    for row in pl.Series(lines, dtype=pl.String).str.contains(UNCOLLAPSED).arg_true():
        lines[row] = " ".join(lines[row].split())
    return keys_of([line.encode() for line in lines])
