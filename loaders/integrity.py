"""Whether a file is the one that was pinned: size, git blob SHA-1 and, where known, SHA-256."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from discoprobe.loaders.pinned import PinnedFile

_CHUNK: Final = 2**20


def mismatch(path: Path, file: PinnedFile) -> str:
    """What tells the content of ``path`` from the pinned file (``expected …, got …``); empty where it is the same.

    Raises:
        OSError: the file cannot be read.
    """
    size = path.stat().st_size
    if file.bytes not in {None, size}:
        return f"expected {file.bytes} bytes, got {size}"
    blob, sha256 = digests(path)
    if file.git_blob_sha1 not in {"", blob}:
        return f"expected git blob SHA-1 {file.git_blob_sha1}, got {blob}"
    if file.sha256 not in {None, sha256}:
        return f"expected SHA-256 {file.sha256}, got {sha256}"
    return ""


def digests(path: Path) -> tuple[str, str]:
    r"""The git blob SHA-1 (of ``blob <size>\0`` and the content) and the SHA-256 of a file, in hexadecimal."""
    blob = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    sha256 = hashlib.sha256()
    with path.open("rb") as source:
        while chunk := source.read(_CHUNK):
            blob.update(chunk)
            sha256.update(chunk)
    return blob.hexdigest(), sha256.hexdigest()
