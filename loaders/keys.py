"""Identity of documents and sentences: 64-bit BLAKE2b digests of what they are, the same on every machine."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

SIZE: Final = 8
BETWEEN: Final = "\x1f"
NOTHING: Final = "\x00"


def keys_of(texts: Iterable[str]) -> pl.Series:
    """The first 8 bytes of the BLAKE2b digest of each text, as little-endian u64."""
    digests = b"".join([blake2b(text, digest_size=SIZE).digest() for text in map(str.encode, texts)])
    return pl.Series("key", np.frombuffer(digests, "<u8"), pl.UInt64)


def record_keys(*columns: pl.Series) -> pl.Series:
    """The key of each record, whose fields are strings or null."""
    filled = [column.fill_null(NOTHING).to_list() for column in columns]
    return keys_of(map(BETWEEN.join, zip(*filled, strict=True)))


def text_keys(texts: Iterable[str]) -> pl.Series:
    """The key of each text with case folded and white space collapsed: equal for texts that differ in those only."""
    return keys_of([collapsed(text.casefold()) for text in texts])


def collapsed(text: str) -> str:
    """A text with one space for all white space, and none around it; most are so already, which is quick to see."""
    return text if text.isprintable() and "  " not in text and text == text.strip() else " ".join(text.split())
