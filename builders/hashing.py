"""Choices without a random generator: every choice is a hash of a key and a seed key.

A row gets the same choice for any order of files, number of processes and machine, and with any other rows, so two
builds are byte-identical and a new document does not change the rows of the others. Keys are 64-bit integers that the
reader derives from content (columns ``key``). A seed key names the seed, the task and what is chosen.
"""

import hashlib

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.loaders.keys import splitmix64

Keys = npt.NDArray[np.uint64]


def digest(*parts: str | int) -> int:
    """A 64-bit hash of ``parts`` (BLAKE2b), the same on every machine."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def as_text(column: str) -> pl.Expr:
    """The keys of a column as 16 hexadecimal digits; null for null."""
    keys = pl.col(column).cast(pl.UInt64).fill_null(0)
    digits = keys.map_batches(_big_endian, return_dtype=pl.Binary).bin.encode("hex")
    return pl.when(pl.col(column).is_not_null()).then(digits).alias(column)


def _big_endian(keys: pl.Series) -> pl.Series:
    return pl.Series(keys.name, keys.to_numpy().astype(">u8").view("V8").tolist(), dtype=pl.Binary)


def mix(keys: npt.ArrayLike, *seed_key: str | int) -> Keys:
    """One 64-bit hash per key for a seed_key (SplitMix64; Steele, Lea & Flood 2014)."""
    return splitmix64(np.asarray(keys, dtype=np.uint64) ^ np.uint64(digest(*seed_key)))


def combine(left: npt.ArrayLike, right: npt.ArrayLike) -> Keys:
    """One key for each pair of keys; the order inside the pair counts."""
    return mix(mix(left, "left") ^ np.asarray(right, dtype=np.uint64), "pair")


def unit(keys: npt.ArrayLike, *seed_key: str | int) -> npt.NDArray[np.float64]:
    """A number in [0, 1) for each key."""
    return np.asarray((mix(keys, *seed_key) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def pick(keys: npt.ArrayLike, n: npt.ArrayLike, *seed_key: str | int) -> npt.NDArray[np.int64]:
    """A whole number in [0, n) for each key; ``n`` is one number or one per key."""
    return np.asarray(np.floor(unit(keys, *seed_key) * np.asarray(n)).astype(np.int64))


def ranking(keys: npt.ArrayLike, *seed_key: str | int) -> npt.NDArray[np.int64]:
    """The positions of ``keys`` in hash order: ``keys[ranking(keys, …)]`` is shuffled."""
    keys = np.asarray(keys, dtype=np.uint64)
    return np.lexsort((keys, mix(keys, *seed_key)))


def permutation(key: int, n: int, *seed_key: str | int) -> npt.NDArray[np.int64]:
    """A permutation of ``range(n)`` that is not the identity, uniform over those (n ≥ 2)."""
    attempt = 0
    while True:
        hashes = mix(np.arange(n, dtype=np.uint64) ^ np.uint64(key), *seed_key, "permutation", attempt)
        order = np.argsort(hashes, kind="stable")
        if not np.array_equal(order, np.arange(n)):
            return order
        attempt += 1
