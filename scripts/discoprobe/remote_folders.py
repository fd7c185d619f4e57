"""Reads and writes folders by path or by URL (`s3://`, `gs://`, `file://`, and other protocols of fsspec).

A folder at a URL is copied to the cache for reading. For writing, a local folder is copied to the URL at the end, the
manifest last: if this is interrupted, the old manifest is there, and shows which files differ from it.
"""

import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.yaml_header import STANDALONE
from discoprobe.loaders.annotation_manifest import NAME as ANNOTATION
from discoprobe.loaders.catalogue.treebanks import HUB
from discoprobe.loaders.errors import DiscoprobeError, UsageError
from discoprobe.loaders.fetch.remote_files import (
    copy_here,
    copy_there,
    files_below,
    is_url,
    local_copy,
    remove,
)
from discoprobe.loaders.files import cache_folder, hashes_of

_LAST: Final = (ANNOTATION, manifest.NAME)
"""Files that are copied last: they say that the others are complete."""


def local(source: str) -> Path:
    """The path of a local folder or file: a path as it is, or a copy in the cache of what is at a URL.

    Raises:
        RemoteError: the URL cannot be read.
    """
    return local_copy(source, cache_folder() / "remote") if is_url(source) else Path(source)


@contextmanager
def release_at(target: str) -> Iterator[Path]:
    """A release folder to write: the path, or a local copy of the release at a URL, which is copied back at the end.

    If anything fails inside the block, nothing is copied to the URL.

    Raises:
        UsageError: the URL is one of the Hub, or holds something else than a release.
        RemoteError: the URL cannot be read or written.
        DiscoprobeError: files of the release would differ from its manifest.
    """
    with _folder_for(target) as folder:
        if not is_url(target):
            yield folder
            return
        remote = files_below(target)
        if remote and manifest.NAME not in {file.path for file in remote}:
            raise UsageError(f"{target} is not empty and holds no {manifest.NAME}; give --out a new URL or a release")
        copy_here(remote, folder)
        before = _hashes(folder)
        yield folder
        hashes, listed = _hashes(folder), manifest.listed(manifest.read(folder))
        if wrong := [name for name, entry in listed.items() if hashes.get(name) != entry.sha256]:
            raise DiscoprobeError(
                f"{target}: {len(wrong)} files are not as {manifest.NAME} says, such as {wrong[0]}: a copy was "
                "interrupted; build these configs in the same command, or give another URL"
            )
        _replace(target, folder, before)


@contextmanager
def corpus_at(target: str) -> Iterator[Path]:
    """The folder of a corpus to annotate: the path, or one in the cache that is copied to a URL when it is complete.

    Raises:
        UsageError: the URL is one of the Hub.
        RemoteError: the URL cannot be read or written.
    """
    in_cache = cache_folder() / "written" / hashlib.sha256(target.encode()).hexdigest()[:16]
    with _folder_for(target, in_cache) as folder:
        yield folder
        if is_url(target):
            _replace(target, folder, {})


@contextmanager
def new_folder_at(target: str) -> Iterator[Path]:
    """A folder to write that is not there yet or is empty: the path, or one that is copied to a URL at the end.

    Raises:
        UsageError: the URL is one of the Hub, or holds files.
        RemoteError: the URL cannot be read or written.
    """
    with _folder_for(target) as folder:
        if is_url(target) and files_below(target):
            raise UsageError(f"{target} is not empty; give a new folder")
        yield folder
        if is_url(target):
            _replace(target, folder, {})


@contextmanager
def _folder_for(target: str, in_cache: Path | None = None) -> Iterator[Path]:
    """A path as it is; for a URL the folder ``in_cache``, by default one that is removed at the end."""
    if not is_url(target):
        yield Path(target)
        return
    if target.startswith(HUB):
        raise UsageError(f"--out {target}: the Hub takes a release as one commit; use `build push --repo owner/name`")
    with tempfile.TemporaryDirectory(prefix="discoprobe-") as place:
        yield in_cache or Path(place) / "new"


def _hashes(folder: Path) -> dict[str, str]:
    """Path below a folder → SHA-256, of all files except hidden ones; ``STANDALONE`` is included."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()] if folder.exists() else []
    names = {path.relative_to(folder): path for path in paths}
    return {
        name.as_posix(): hashes_of(path).sha256
        for name, path in names.items()
        if not name.parts[0].startswith(".") or name.as_posix() == STANDALONE
    }


def _replace(target: str, folder: Path, before: Mapping[str, str]) -> None:
    """Copies new and changed files to a URL, and removes those that the folder no longer has."""
    after = _hashes(folder)
    new = [name for name, digest in after.items() if before.get(name) != digest]
    copy_there(folder, sorted(new, key=lambda name: (name in _LAST, name)), target)
    remove(target, [name for name in before if name not in after])
