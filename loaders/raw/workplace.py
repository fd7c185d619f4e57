"""A folder for unfinished work in a cache that several processes share, and what killed ones left there."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from filelock import FileLock, Timeout

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = ".reading-"
GUARD: Final = ".reading.lock"
LOCK: Final = "lock"


@contextmanager
def workplace(cache: Path) -> Iterator[Path]:
    """A new folder in a cache, deleted at the end; those of processes that were killed are deleted too.

    A process holds a lock in its folder as long as it lives. Whoever makes a folder or looks for abandoned ones holds
    the lock of the cache, so that none is taken for abandoned before its process has locked it.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / GUARD):
        for folder in sorted(cache.glob(f"{PREFIX}*")):
            _delete_if_abandoned(folder)
        own = Path(tempfile.mkdtemp(prefix=PREFIX, dir=cache))
        lock = FileLock(own / LOCK)
        lock.acquire()
    try:
        yield own
    finally:
        lock.release()
        shutil.rmtree(own, ignore_errors=True)


def _delete_if_abandoned(folder: Path) -> None:
    try:
        with FileLock(folder / LOCK, timeout=0):
            pass
    except (Timeout, OSError):  # in use, or gone by now
        return
    shutil.rmtree(folder, ignore_errors=True)
