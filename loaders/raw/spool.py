"""Rows of tables put in the order of their documents' ids, on disk."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from discoprobe.loaders.raw.tables import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA: Final = pa.schema([("row", pa.large_binary())])
BATCH_ROWS: Final = 64
BATCH_BYTES: Final = 8 * 2**20


class Spool:
    """Rows kept in a temporary file; one at a time is in memory, in any order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[bytes] = []
        self._bytes = 0
        self._places: list[tuple[int, int]] = []
        self._batches = 0
        self._writer = pa.ipc.new_file(str(path), SCHEMA)
        self._reader: pa.ipc.RecordBatchFileReader | None = None

    def add(self, row: Row) -> int:
        """Keep a row; returns its number."""
        data = json.dumps(asdict(row)).encode()
        self._places.append((self._batches, len(self._rows)))
        self._rows.append(data)
        self._bytes += len(data)
        if len(self._rows) == BATCH_ROWS or self._bytes > BATCH_BYTES:
            self._write()
        return len(self._places) - 1

    def _write(self) -> None:
        self._writer.write_batch(pa.record_batch([pa.array(self._rows, pa.large_binary())], schema=SCHEMA))
        self._rows, self._bytes, self._batches = [], 0, self._batches + 1

    def row(self, number: int) -> Row:
        """A row that was kept; none can be added after the first is read."""
        if self._reader is None:
            if self._rows:
                self._write()
            self._writer.close()
            self._reader = pa.ipc.open_file(pa.memory_map(str(self._path)))
        batch, place = self._places[number]
        return Row(**json.loads(self._reader.get_batch(batch)["row"][place].as_py()))


@contextmanager
def spool() -> Iterator[Spool]:
    """An empty spool; its file is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="discoprobe-") as folder:
        yield Spool(Path(folder) / "rows.arrow")
