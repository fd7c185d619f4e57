"""Archives of files: ``unpacked`` in a temporary folder, or ``unpacked_in_cache``, which is done once."""

import functools
import lzma
import os
import secrets
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError, first_line
from discoprobe.loaders.files import cache_folder, hashes_of

ARCHIVES: Final = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
LARGEST_ARCHIVE: Final = 8 << 30
"""Largest number of bytes that an archive is unpacked to."""


def is_archive(path: Path) -> bool:
    """Whether the name is that of an archive of files."""
    return path.name.lower().endswith(ARCHIVES)


@contextmanager
def unpacked(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The paths with a temporary folder in place of each archive, or its file, if it holds only one.

    Raises:
        CorpusFormatError: an archive is damaged, encrypted or larger than ``LARGEST_ARCHIVE``.
    """
    with tempfile.TemporaryDirectory() as scratch:
        contents = []
        for number, path in enumerate(paths):
            if not (path.is_file() and is_archive(path)):
                contents.append(path)
                continue
            folder = Path(scratch) / str(number) / path.name.split(".")[0]
            _unpack(path, folder, lambda _: True)
            files = [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith(".")]
            contents.append(files[0] if len(files) == 1 else folder)
        yield contents


def unpacked_in_cache(path: Path, wanted: Callable[[str], bool]) -> Path:
    """A folder in the cache with the ``wanted`` files of an archive, by their names; it is unpacked once.

    Raises:
        CorpusFormatError: the archive is damaged, encrypted or larger than ``LARGEST_ARCHIVE``.
        DiscoprobeError: the cache cannot be written.
    """
    status = path.stat()
    folder = cache_folder() / "archives" / _digest(path.resolve(), status.st_mtime_ns, status.st_size)
    if not folder.is_dir():
        part = folder.with_name(f".{folder.name}-{os.getpid()}-{secrets.token_hex(4)}")
        try:
            part.mkdir(parents=True)
            _unpack(path, part, wanted)
            if not folder.is_dir():
                part.rename(folder)
        except OSError as error:
            if not folder.is_dir():  # another process may have been faster
                problem = f"cannot write {error.filename or folder}: {error.strerror}"
                raise DiscoprobeError(f"{problem}; set DISCOPROBE_CACHE to another folder") from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return folder


@functools.lru_cache(maxsize=16)
def _digest(path: Path, _changed: int, _size: int) -> str:
    return hashes_of(path, with_git=False).sha256


def _unpack(path: Path, folder: Path, wanted: Callable[[str], bool]) -> None:
    """Write the wanted files of an archive into a folder."""
    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                members = [each for each in archive.infolist() if wanted(PurePosixPath(each.filename).name)]
                _check_size(path, sum(member.file_size for member in members))
                archive.extractall(folder, members)  # noqa: S202 (ZIP paths stay inside)
        else:
            with tarfile.open(path) as tar:
                entries = [each for each in tar if each.isdir() or wanted(PurePosixPath(each.name).name)]
                _check_size(path, sum(entry.size for entry in entries))
                tar.extractall(folder, entries, filter="data")
    except (EOFError, RuntimeError, ValueError, NotImplementedError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
            tarfile.TarError, OSError) as error:  # fmt: skip
        raise CorpusFormatError(f"not a readable archive: {first_line(error)}", path=str(path)) from error


def _check_size(path: Path, n: int) -> None:
    if n > LARGEST_ARCHIVE:
        raise CorpusFormatError(f"unpacked it has {n >> 30} GiB; unpack it and name its files", path=str(path))
