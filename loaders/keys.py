"""Identity of documents and sentences: 64-bit BLAKE2b digests of what they are, the same on every machine."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SIZE: Final = 8
BETWEEN: Final = "\x1f"
NOTHING: Final = "\x00"
WHITE: Final = np.array([chr(i).isspace() for i in range(0x3002)])
"""Which characters are white space; none is after U+3000."""


def keys_of(texts: Iterable[bytes]) -> pl.Series:
    """The first 8 bytes of the BLAKE2b digest of each text (in UTF-8), as little-endian u64."""
    digests = b"".join([blake2b(text, digest_size=SIZE).digest() for text in texts])
    return pl.Series("key", np.frombuffer(digests, "<u8"), pl.UInt64)


def record_keys(*columns: Iterable[str | None]) -> pl.Series:
    """The key of each record, whose fields are strings or null."""
    filled = [[NOTHING if field is None else field for field in column] for column in columns]
    return keys_of(map(str.encode, map(BETWEEN.join, zip(*filled, strict=True))))


def text_keys(texts: Sequence[str]) -> pl.Series:
    """The key of each text with case folded and white space collapsed: equal for texts that differ in those only."""
    folded = "\n".join(texts).casefold()
    if folded.count("\n") >= len(texts) or not _is_collapsed(folded):
        folded = "\n".join([" ".join(text.casefold().split()) for text in texts])
    return keys_of(folded.encode().split(b"\n") if texts else [])


def _is_collapsed(lines: str) -> bool:
    """Whether lines have no white space around them, and inside no other than one space at a time."""
    letters = np.frombuffer(f"\n{lines}\n".encode("utf-32-le", "surrogatepass"), "<u4")
    white = WHITE[np.minimum(letters, len(WHITE) - 1)]
    other = letters[white & (letters != ord(" "))] != ord("\n")
    return not other.any() and not (white[1:] & white[:-1]).any()
