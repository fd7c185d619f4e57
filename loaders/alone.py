"""One process at a time in a folder that is being written."""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from discoprobe.loaders.errors import DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def alone(folder: Path, doing: str) -> Iterator[None]:
    """Keeps other processes out of a folder; the lock is elsewhere, and goes when they may come in again.

    Args:
        folder: need not be there yet.
        doing: what another process would be doing, ``another build is writing``.

    Raises:
        DiscoprobeError: another process is in it.
    """
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"discoprobe-{name}.lock"
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise DiscoprobeError(f"{doing} {folder}; wait for it, or give --out another folder") from None
    try:
        yield
    finally:
        with suppress(OSError):  # a lock on a file that is no more is none, which FileLock sees when it gets it
            path.unlink()
        lock.release()
