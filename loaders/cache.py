"""Parsed shards on disk: Arrow IPC files, found by the content they were made from, opened memory-mapped.

An entry is a folder whose name is the SHA-256 of everything it depends on. It is written beside its place and renamed,
so that it is complete or absent. Its files are checked against sizes and checksums when it is found, and an entry that
fails is made again.
"""

import json
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa

from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.errors import DiscoprobeError

TABLES: Final = ("documents", "sentences", "tokens")
LAYERS: Final = ("relations", "rst_nodes", "mentions")
"""Tables that are stored only where they have rows."""
RECORD: Final = "entry.json"


@dataclass(frozen=True, slots=True)
class CachedShard:
    """A shard in the cache: the folder of its entry, its number there, and what `Loadable` says of it."""

    folder: Path
    number: int
    size: int
    n_documents: int
    identity: str

    def load(self) -> Shard:
        """The shard, memory-mapped.

        Raises:
            DiscoprobeError: the entry is gone or damaged, which is seen here only if it happened after it was found.
        """
        try:
            layers = {layer: _mapped(self._path(layer)) for layer in LAYERS if self._path(layer).exists()}
            return Shard(*(_mapped(self._path(table)) for table in TABLES), **layers)
        except (OSError, pa.ArrowException) as error:
            raise DiscoprobeError(
                f"{self.folder}: the cached corpus is gone or damaged; run the command again"
            ) from error

    def _path(self, table: str) -> Path:
        return self.folder / f"{self.number}.{table}.arrow"


@dataclass(frozen=True, slots=True)
class Entry:
    """What the cache holds for one key: shards, and a record (JSON values) about them."""

    shards: tuple[CachedShard, ...]
    record: Mapping[str, Any]


def find(folder: Path, key: str) -> Entry | None:
    """The entry with a key; None if there is none, or if it is not as it was written."""
    home = _home(folder, key)
    try:
        stored = json.loads((home / RECORD).read_bytes())
        is_intact = all(_checksum(home / name) == expected for name, expected in stored["files"].items())
        return Entry(_shards(home, stored["shards"]), stored["record"]) if is_intact else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def record(folder: Path, key: str) -> Mapping[str, Any] | None:
    """The record of an entry, whose tables are not looked at; None if there is no entry with this key."""
    try:
        stored: Mapping[str, Any] = json.loads((_home(folder, key) / RECORD).read_bytes())["record"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return stored


def store(folder: Path, key: str, shards: Iterable[Shard], record: Callable[[], Mapping[str, Any]]) -> Entry:
    """Write an entry, one shard at a time, and find it.

    Args:
        folder: the cache.
        key: a hexadecimal digest of everything the entry depends on.
        shards: written as they come.
        record: gives the record, when the last shard is written.

    Raises:
        DiscoprobeError: the cache cannot be written.
    """
    home = _home(folder, key)
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=home.parent) as work:
            new = Path(work) / key
            new.mkdir()
            facts = _write(new, shards)
            files = {path.name: _checksum(path) for path in sorted(new.iterdir())}
            (new / RECORD).write_text(json.dumps({"files": files, "shards": facts, "record": record()}))
            _put_in_place(new, home, Path(work))
    except OSError as error:
        raise DiscoprobeError(
            f"{folder}: cannot write to the cache ({error.strerror or error}); set DISCOPROBE_CACHE to another folder",
        ) from error
    return Entry(_shards(home, facts), json.loads(json.dumps(record())))


def _shards(home: Path, facts: Sequence[Sequence[Any]]) -> tuple[CachedShard, ...]:
    return tuple(CachedShard(home, number, *of_shard) for number, of_shard in enumerate(facts))


def _mapped(path: Path) -> pl.DataFrame:
    """The table in an Arrow IPC file, whose columns are the file's pages in memory."""
    return pl.DataFrame(pa.ipc.open_file(pa.memory_map(str(path))).read_all())


def _home(folder: Path, key: str) -> Path:
    return folder / "shards" / key[:2] / key


def _write(folder: Path, shards: Iterable[Shard]) -> list[tuple[int, int, str]]:
    """Writes the tables of each shard; returns its size, number of documents and identity."""
    facts = []
    for number, shard in enumerate(shards):
        for table in (*TABLES, *(layer for layer in LAYERS if getattr(shard, layer).height)):
            getattr(shard, table).write_ipc(folder / f"{number}.{table}.arrow", compression="uncompressed")
        facts.append((shard.size, shard.n_documents, shard.identity))
    return facts


def _put_in_place(new: Path, home: Path, work: Path) -> None:
    """Rename; what was there is moved aside first. Another process that got there first made the same entry."""
    if home.exists():
        home.rename(work / "old")
    try:
        new.rename(home)
    except OSError:
        if not (home / RECORD).exists():
            raise


def _checksum(path: Path) -> list[int]:
    """Size and CRC-32: enough to find a truncated or damaged file, and as fast as the disk."""
    data = path.read_bytes()
    return [len(data), zlib.crc32(data)]
