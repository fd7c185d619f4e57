"""Folders and files that processes share: the cache, locks, folders for unfinished work, complete files."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from discoprobe.loaders.errors import DiscoprobeError

PREFIX: Final = ".reading-"
GUARD: Final = ".reading.lock"
LOCK: Final = "lock"


def cache_folder() -> Path:
    """The folder of everything that is kept between runs: downloads, parsed corpora, annotated text.

    ``$DISCOPROBE_CACHE``, else ``$XDG_CACHE_HOME/discoprobe``, else ``~/.cache/discoprobe``, on every system.
    """
    if folder := os.environ.get("DISCOPROBE_CACHE"):
        return Path(folder).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discoprobe"


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file under another name and rename it, so that it is complete or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{os.getpid()}.new")
    new.write_bytes(data)
    new.replace(path)


@contextmanager
def alone(folder: Path, doing: str, path: Path) -> Iterator[None]:
    """Lock a folder against other processes, including those of other containers that mount it.

    Args:
        folder: the folder; it need not exist yet.
        doing: the beginning of the message if the folder is locked, such as ``another build is writing``.
        path: the lock file, on the file system of the folder; it is deleted at the end.

    Raises:
        DiscoprobeError: another process has locked the folder, or no file can be written beside it.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 (imports asyncio; most commands lock nothing)

    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        _check_writable(path.parent, folder)
        raise DiscoprobeError(f"{doing} {folder}; wait for it, or give --out another folder") from None
    try:
        yield
    finally:
        with suppress(OSError):  # FileLock notices when it has locked a deleted file, and locks again
            path.unlink()
        lock.release()


def _check_writable(beside: Path, folder: Path) -> None:
    """Raise a DiscoprobeError for a folder that cannot be written: FileLock reports it like one that is locked."""
    try:
        tempfile.TemporaryFile(dir=beside).close()
    except OSError as error:
        raise DiscoprobeError(f"{folder}: no file can be written beside it: {error.strerror}") from None


@contextmanager
def work_folder(cache: Path) -> Iterator[Path]:
    """A new folder in a cache that is deleted at the end; those of killed processes are deleted too.

    A process holds a lock in its folder as long as it lives. The lock of the cache is held while a folder is made and
    while abandoned ones are deleted, so that no folder is deleted before its process has locked it.
    """
    from filelock import FileLock  # noqa: PLC0415 (imports asyncio; most commands lock nothing)

    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / GUARD):
        for folder in sorted(cache.glob(f"{PREFIX}*")):
            _delete_if_abandoned(folder)
        new = Path(tempfile.mkdtemp(prefix=PREFIX, dir=cache))
        lock = FileLock(new / LOCK)
        lock.acquire()
    try:
        yield new
    finally:
        lock.release()
        shutil.rmtree(new, ignore_errors=True)


def _delete_if_abandoned(folder: Path) -> None:
    from filelock import FileLock, Timeout  # noqa: PLC0415 (imports asyncio; most commands lock nothing)

    try:
        with FileLock(folder / LOCK, timeout=0):
            pass
    except (Timeout, OSError):  # in use, or already deleted
        return
    shutil.rmtree(folder, ignore_errors=True)
