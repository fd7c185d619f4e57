"""Cache of parsed shards on disk: one file per entry, opened memory-mapped.

The name of an entry is the SHA-256 of everything that it depends on. The file has the tables of the shards as Arrow IPC
streams, a footer (JSON) with their offsets, the length of the footer, and a CRC-32 of everything before these two. It
is written under another name and then renamed, so that it is complete or absent. `find` checks the CRC-32; a damaged
entry counts as absent.
"""

import json
import os
import secrets
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl
import pyarrow as pa

from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.errors import DiscoprobeError

TABLES: Final = ("documents", "sentences", "tokens")
LAYERS: Final = ("relations", "rst_nodes", "mentions", "confidence")
"""Tables that are stored only where they have rows."""
ALIGNED: Final = 64
"""A table begins at a multiple of this, as Arrow's buffers do."""
END: Final = struct.Struct("<II")
"""The last bytes of a file: the length of its footer, and the CRC-32 of everything before them."""
_UNFINISHED: Final = ".new-"
"""Beginning of the name of an entry that is being written."""
_ABANDONED: Final = 24 * 3600
"""Seconds after which an unfinished entry is that of a killed program, and is deleted."""


class CachedShard(msgspec.Struct, frozen=True):
    """A shard in the cache: the file of its entry, name and offset of each table, and the properties of `Loadable`."""

    path: Path
    tables: tuple[tuple[str, int], ...]
    size: int
    n_documents: int
    identity: str

    @property
    def prepared(self) -> bool:
        """It is in the cache."""
        return True

    def load(self) -> Shard:
        """The shard, memory-mapped.

        Raises:
            DiscoprobeError: the entry was deleted or damaged after `find` had checked it.
        """
        try:
            file = pa.memory_map(str(self.path))
            tables: dict[str, pl.DataFrame] = {}
            for name, offset in self.tables:
                file.seek(offset)
                tables[name] = pl.DataFrame(pa.ipc.open_stream(file).read_all())
            return Shard(**tables)  # type: ignore[arg-type]  # a witness is a shard of its own
        except (OSError, pa.ArrowException) as error:
            message = f"{self.path}: the cached corpus is gone or damaged; run the command again"
            raise DiscoprobeError(message) from error


Entry = tuple[tuple[CachedShard, ...], Mapping[str, Any]]
"""What the cache holds for one key: shards, and a record (JSON values) about them."""


def find(folder: Path, key: str) -> Entry | None:
    """The entry with a key; None if there is none or it is damaged."""
    path = _place(folder, key)
    try:
        footer, checksum = _footer(path)
        return _entry(path, footer) if checksum == _checksum(path) else None
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return None


def record(folder: Path, key: str) -> Mapping[str, Any] | None:
    """The record of the entry with a key, without reading its tables; None if there is no such entry."""
    try:
        footer, _ = _footer(_place(folder, key))
        return _entry(folder, footer)[1]
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return None


def store(folder: Path, key: str, shards: Iterable[Shard], record: Callable[[], Mapping[str, Any]]) -> Entry:
    """Write an entry, one shard at a time, and return it.

    Args:
        folder: the cache.
        key: a hexadecimal digest of everything the entry depends on.
        shards: each is written before the next one is requested.
        record: called after the last shard is written; returns the record.

    Raises:
        DiscoprobeError: the cache cannot be written.
    """
    path = _place(folder, key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f"{_UNFINISHED}*"):
            with suppress(OSError):  # another process deletes it, too
                if left.stat().st_mtime < time.time() - _ABANDONED:
                    left.unlink()
        new = path.with_name(
            f"{_UNFINISHED}{secrets.token_hex(8)}"
        )  # not by mkstemp: others who share the cache read it
        try:
            with FileIO(new, "x") as file:
                written = []
                for shard in shards:
                    tables = []
                    for name in (*TABLES, *(layer for layer in LAYERS if getattr(shard, layer).height)):
                        tables.append((name, file.seek(-file.tell() % ALIGNED, os.SEEK_CUR)))
                        getattr(shard, name).write_ipc_stream(file, compression="uncompressed")
                    written.append((tables, shard.size, shard.n_documents, shard.identity))
                footer = json.dumps({"shards": written, "record": record()}).encode()
                file.write(footer)
                file.write(END.pack(len(footer), _checksum(new, left_out=0)))
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DiscoprobeError(
            f"{folder}: cannot write to the cache ({error.strerror or error}); set DISCOPROBE_CACHE to another folder",
        ) from error
    return _entry(path, footer)


def _place(folder: Path, key: str) -> Path:
    return folder / "shards" / f"{key}.arrow"


def _entry(path: Path, footer: bytes) -> Entry:
    stored = json.loads(footer)
    shards = (CachedShard(path, tuple(map(tuple, tables)), *facts) for tables, *facts in stored["shards"])
    return tuple(shards), stored["record"]


def _footer(path: Path) -> tuple[bytes, int]:
    """The footer of a file, and the checksum that the file ends with."""
    with path.open("rb") as file:
        size = file.seek(-END.size, os.SEEK_END)
        length, checksum = END.unpack(file.read())
        file.seek(size - length)
        return file.read(length), checksum


def _checksum(path: Path, left_out: int = END.size) -> int:
    """The CRC-32 of a file without its last ``left_out`` bytes."""
    data = pa.memory_map(str(path)).read_buffer()
    return zlib.crc32(memoryview(data)[: len(data) - left_out])
