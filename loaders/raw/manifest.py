"""``annotate.json``: what an annotated corpus was made from, by what, and the hash of every file of it."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, TypedDict

from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.stretches import digest
from discoprobe.loaders.treebanks import DocumentRule, TreebankFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from discoprobe.loaders.corpus import SourceFile

NAME: Final = "annotate.json"
WORK: Final = ".annotating"
"""The folder beside it with everything unfinished; it is gone when ``annotate.json`` is there."""
FORMAT: Final = 1


class FileEntry(TypedDict):
    """Hash and size of a file."""

    sha256: str
    bytes: int


class RawManifest(TypedDict):
    """The whole file.

    ``content`` is the digest of everything that the annotation depends on; ``made_by`` the software, packages and
    models; ``read`` the options under which the text was read; ``drops`` what was left out by reason, in ``reading``
    and in ``annotation``; ``mends`` how many limits of sentences that the segmenter found were mended, by kind
    (:data:`discoprobe.loaders.raw.boundaries.MENDS`); ``source`` the files of the text, and ``files`` those of the
    corpus.
    """

    format: int
    name: str
    lang: str
    licence: str
    citation: str
    repo: str
    commit: str
    discoprobe: str
    content: str
    made_by: dict[str, Any]
    read: dict[str, Any]
    documents: int
    sentences: int
    words: int
    drops: dict[str, dict[str, int]]
    mends: dict[str, int]
    drop_places: dict[str, list[str]]
    source: dict[str, FileEntry]
    files: dict[str, FileEntry]


def entries(files: Iterable[SourceFile]) -> dict[str, FileEntry]:
    """Files as the manifest lists them."""
    return {file.path: FileEntry(sha256=file.sha256, bytes=file.bytes) for file in files}


def dump(manifest: RawManifest) -> bytes:
    """The bytes of the file."""
    return (json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def read_manifest(folder: Path) -> RawManifest | None:
    """The manifest of a folder; None if it has none.

    Raises:
        DiscoprobeError: it is damaged, or of a later version.
    """
    path = folder / NAME
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _read(path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=64)
def _read(path: Path, _mtime: int, _size: int) -> RawManifest:
    try:
        found: RawManifest = json.loads(path.read_bytes())
        if found["format"] != FORMAT:
            raise DiscoprobeError(f"{path} is of format {found['format']}, and this version reads {FORMAT}")
        missing = RawManifest.__required_keys__ - found.keys()
    except (ValueError, TypeError, KeyError) as error:
        raise DiscoprobeError(f"{path} is damaged ({error}); annotate again into a new folder") from error
    if missing:
        raise DiscoprobeError(f"{path} has no {', '.join(sorted(missing))}; annotate again into a new folder")
    return found


def unlike(folder: Path, files: Mapping[str, FileEntry]) -> str:
    """The first file of a corpus that is not as its manifest lists it, and how; empty if all are."""
    for name, entry in files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is not there"
        found = digest(path)
        if (found.bytes, found.sha256) != (entry["bytes"], entry["sha256"]):
            return f"{name} was changed"
    return ""


def corpus_facts(path: Path) -> TreebankFacts | None:
    """What the manifest beside a CoNLL-U file says of its corpus; None if there is no manifest.

    Raises:
        DiscoprobeError: the annotation of the folder is unfinished, or the manifest is damaged.
    """
    folder = path.parent
    found = read_manifest(folder)
    if found is None:
        if (folder / WORK).is_dir():
            raise DiscoprobeError(f"{folder}: its annotation is unfinished; run `build annotate` again, it goes on")
        return None
    return TreebankFacts(
        found["name"], found["lang"], found["licence"], found["repo"], found["commit"], found["citation"],
        DocumentRule("newdoc"),
    )  # fmt: skip


def annotation_of(path: Path) -> Mapping[str, Any] | None:
    """How the corpus that a CoNLL-U file belongs to was made, as JSON values; None if it was not made from raw text.

    ``text`` is the number of files of the source, their bytes and one digest of them all; of text from a repository
    every file is ``listed``, so that it can be fetched again.
    """
    found = read_manifest(path.parent)
    if found is None:
        return None
    text = _summary(found["source"]) | ({"listed": found["source"]} if found["commit"] else {})
    keys = ("made_by", "read", "drops", "mends", "content")
    return {key: found[key] for key in keys} | {"text": text}  # type: ignore[literal-required]


def _summary(files: Mapping[str, FileEntry]) -> dict[str, Any]:
    listing = "".join(f"{entry['sha256']}  {name}\n" for name, entry in sorted(files.items()))
    return {
        "files": len(files),
        "bytes": sum(entry["bytes"] for entry in files.values()),
        "sha256": hashlib.sha256(listing.encode()).hexdigest(),
    }
