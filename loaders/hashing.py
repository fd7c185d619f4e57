"""Choices without a random generator: every choice is a hash of a key and a seed key.

A row gets the same choice for any order of files, number of processes and machine, and with any other rows, so two
builds are byte-identical and a new document does not change the rows of the others. Keys are 64-bit integers that the
reader derives from content (columns ``key``). A seed key names the seed, the task and what is chosen.

Keys that identify documents and sentences: 64-bit BLAKE2b digests of their content, the same on every machine.

Hashes of the content of files: SHA-256, and git's SHA-1 of a blob.

Everything in discoprobe that compares files by content uses `hashes_of`: corpora against the catalogue, the cache of
parsed corpora, models, releases against their manifest and against the Hub. `hash_of_json` hashes the inputs of a
stored result, so that it can be found again.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from numpy.typing import ArrayLike, NDArray

from discoprobe.loaders.errors import DiscoprobeError

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


_CHUNK: Final = 2**18


@dataclass(frozen=True, slots=True)
class FileHashes:
    r"""The size of a content and its hashes in hexadecimal.

    Attributes:
        bytes: the size.
        sha256: SHA-256 of the content.
        git_blob_sha1: SHA-1 of ``blob <size>\0`` and the content, as ``git hash-object`` prints it; empty where it was
            not asked for.
    """

    bytes: int
    sha256: str
    git_blob_sha1: str


def hashes_of(content: Path | bytes, *, with_git: bool = True) -> FileHashes:
    """The size and hashes of a file, or of bytes in memory. A file is read once, in pieces.

    Args:
        content: the path of the file, or the bytes.
        with_git: whether git's hash is computed too, which doubles the time.

    Raises:
        DiscoprobeError: the file cannot be read.
    """
    if isinstance(content, bytes):
        return _hashes(io.BytesIO(content), len(content), with_git=with_git)
    try:
        with content.open("rb") as file:
            return _hashes(file, content.stat().st_size, with_git=with_git)
    except OSError as error:
        raise DiscoprobeError(f"{content}: cannot be read: {error.strerror}") from error


def hash_of_json(content: object) -> str:
    """SHA-256, in hexadecimal, of a value as JSON with sorted keys; mappings of any type are JSON objects."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=dict).encode()).hexdigest()


def _hashes(stream: io.BufferedIOBase, size: int, *, with_git: bool) -> FileHashes:
    sha256 = hashlib.sha256()
    blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    part = memoryview(bytearray(min(size, _CHUNK) + 1))
    while n_read := stream.readinto(part):
        sha256.update(part[:n_read])
        if with_git:
            blob.update(part[:n_read])
    return FileHashes(size, sha256.hexdigest(), blob.hexdigest() if with_git else "")


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
