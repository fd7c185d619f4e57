"""Keys and choices: 64-bit hashes of content, the same on every machine.

A key identifies a document, sentence or row by its content (BLAKE2b): the reader makes the columns ``key`` of corpora
(`document_keys`, `sentence_keys`). The names of corpora and folders are in no key. Every choice is a hash of such a key
and a seed key, which names the seed, the task and what is chosen; there is no random generator. A row gets the same
choice for any order and place of files, number of processes and machine, and with any other rows, so two builds are
byte-identical and a new document does not change the rows of the others.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

SIZE: Final = 8
BETWEEN: Final = "\x1f"  # separates the fields of a record
NOTHING: Final = "\x00"  # stands for null
WHITE: Final = "".join(chr(i) for i in range(0x3001) if chr(i).isspace())
"""All white space of ``str.isspace``; none is above U+3000."""
UNCOLLAPSED: Final = f"^[{WHITE}]|[{WHITE}]$|[{WHITE}]{{2}}|[{WHITE.replace(' ', '')}]"
"""White space that has to be collapsed: at either end, several characters in a row, or any but a plain space."""

Keys = npt.NDArray[np.uint64]

GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio
INVERSE: Final = pow(int(GAMMA), -1, 1 << 64)
MIX1: Final = np.uint64(0xBF58476D1CE4E5B9)
MIX2: Final = np.uint64(0x94D049BB133111EB)


def splitmix64(keys: npt.ArrayLike) -> Keys:
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


def document_keys(names: Iterable[str | None], texts: Iterable[Iterable[str]]) -> pl.Series:
    """The key of each document: of its id and of the texts of its sentences, or segments, in order.

    Args:
        names: the ids that the corpus gives; null for a document without one, whatever it is called instead.
        texts: of each document.
    """
    named = (NOTHING if name is None else name for name in names)
    return keys_of([BETWEEN.join([name, *parts]).encode() for name, parts in zip(named, texts, strict=True)])


def sentence_keys(documents: npt.ArrayLike, index: npt.ArrayLike) -> Keys:
    """The key of each sentence of a document: of the key of the document, and of its place in it."""
    return combine(documents, np.asarray(index, dtype=np.uint64))


def loose_sentence_keys(sent_ids: Sequence[str | None], texts: Sequence[str]) -> pl.Series:
    """The key of each sentence outside documents: of its id and text, and of how many before have the same."""
    before = Counter[tuple[str | None, str]]()
    numbers = []
    for sentence in zip(sent_ids, texts, strict=True):
        numbers.append(str(before[sentence]))
        before[sentence] += 1
    return record_keys(sent_ids, texts, numbers)


def text_keys(texts: Sequence[str]) -> pl.Series:
    """The key of each text with case folded and white space collapsed: equal for texts that differ in those only."""
    folded = "\n".join(texts).casefold()
    if folded.count("\n") >= len(texts):
        return keys_of([" ".join(text.casefold().split()).encode() for text in texts])
    lines = folded.split("\n") if texts else []
    for row in pl.Series(lines, dtype=pl.String).str.contains(UNCOLLAPSED).arg_true():
        lines[row] = " ".join(lines[row].split())
    return keys_of([line.encode() for line in lines])


AT_ONCE: Final = 1 << 15
"""Bytes of strings that are hashed together: what is computed for them stays in the processor's cache."""


@lru_cache(8)
def powers(base: int, n: int) -> Keys:
    """The first ``n`` powers of an odd number, modulo 2^64."""
    return np.cumprod(np.concatenate([np.ones(1, np.uint64), np.full(n - 1, np.uint64(base), np.uint64)]))


def hash_strings(strings: pl.Series, seed: int = 0) -> Keys:
    """A 64-bit hash of each string, as fast as every word of a corpus needs.

    Unlike that of polars, it is the same in all versions. A string has the sum of a number for each of its bytes times
    a power for the place of the byte, mixed with its length.

    Args:
        strings: without nulls.
        seed: of several hashes of the same strings.
    """
    array = strings.to_arrow(compat_level=pl.CompatLevel.oldest())
    _, bounds, content = array.buffers()
    ends = np.zeros(1, np.int64)
    if len(array):
        ends = np.frombuffer(bounds, np.int64)[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(content, np.uint8) if content else np.empty(0, np.uint8)
    numbers, lengths = splitmix64(np.arange(256)), np.diff(ends)
    size = max(AT_ONCE, int(lengths.max(initial=0)))
    forward, back = powers(int(GAMMA), size), powers(INVERSE, size + 1)
    hashes, first = np.empty(len(lengths), np.uint64), 0
    while first < len(lengths):
        last = int(np.searchsorted(ends, ends[first] + size, side="right")) - 1
        places = ends[first : last + 1] - ends[first]
        sums = np.zeros(places[-1] + 1, np.uint64)
        np.cumsum(numbers[data[ends[first] : ends[last]]] * forward[: places[-1]], out=sums[1:])
        hashes[first:last] = (sums[places[1:]] - sums[places[:-1]]) * back[places[:-1]]
        first = last
    return splitmix64(hashes ^ splitmix64(lengths.astype(np.uint64) ^ np.uint64(seed << 32)))


def hashed(text: pl.Expr, seed: int = 0) -> pl.Expr:
    """The hash of strings or values of an Enum, as `hash_strings` makes it; null for null."""
    return text.map_batches(partial(_hashed, seed=seed), return_dtype=pl.UInt64, is_elementwise=True)


def _hashed(texts: pl.Series, seed: int) -> pl.Series:
    strings = texts.cast(pl.String)
    hashes = pl.Series(texts.name, hash_strings(strings.fill_null(""), seed))
    return hashes.set(strings.is_null(), None) if strings.null_count() else hashes


def digest(*parts: str | int) -> int:
    """A 64-bit hash of ``parts`` (BLAKE2b), the same on every machine."""
    text = BETWEEN.join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=SIZE).digest(), "little")


def as_text(column: str) -> pl.Expr:
    """The keys of a column as 16 hexadecimal digits; null for null."""
    keys = pl.col(column).cast(pl.UInt64).fill_null(0)
    digits = keys.map_batches(
        lambda column: pl.Series(column.name, column.to_numpy().astype(">u8").view("V8").tolist(), dtype=pl.Binary),
        return_dtype=pl.Binary,
    ).bin.encode("hex")
    return pl.when(pl.col(column).is_not_null()).then(digits).alias(column)


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


def permutations(keys: npt.ArrayLike, n: int, *seed_key: str | int) -> npt.NDArray[np.int64]:
    """For each key a permutation of ``range(n)`` that is not the identity, uniform over those (n ≥ 2): (keys, n)."""
    keys = np.asarray(keys, dtype=np.uint64)
    orders, places, attempt = np.tile(np.arange(n), (len(keys), 1)), np.arange(n, dtype=np.uint64), 0
    while len(same := np.flatnonzero((orders == places).all(axis=1))):
        hashes = mix(keys[same, None] ^ places, *seed_key, "permutation", attempt)
        orders[same] = np.argsort(hashes, axis=1, kind="stable")
        attempt += 1
    return orders
