"""Hashes of the content of files: SHA-256, and git's SHA-1 of a blob.

Everything in discoprobe that compares files by content uses `hashes_of`: corpora against the catalogue, the cache of
parsed corpora, models, releases against their manifest and against the Hub. `hash_of_json` hashes the inputs of a
stored result, so that it can be found again. This is apart from `hashing`, whose keys are columns, since commands that
only list or download corpora need no polars.
"""

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from discoprobe.loaders.errors import DiscoprobeError

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
    try:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as stream:
            size = len(content) if isinstance(content, bytes) else content.stat().st_size
            sha256 = hashlib.sha256()
            blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            part = memoryview(bytearray(min(size, _CHUNK) + 1))
            while n_read := stream.readinto(part):
                sha256.update(part[:n_read])
                if with_git:
                    blob.update(part[:n_read])
    except OSError as error:
        raise DiscoprobeError(f"{content!s}: cannot be read: {error.strerror}") from error
    return FileHashes(size, sha256.hexdigest(), blob.hexdigest() if with_git else "")


def hash_of_json(content: object) -> str:
    """SHA-256, in hexadecimal, of a value as JSON with sorted keys; mappings of any type are JSON objects."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=dict).encode()).hexdigest()
