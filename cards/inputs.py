"""Whether a config of a release folder is what a build would give now.

A config is up to date if nothing that can change a byte of it differs from when it was built: the corpora of its
language with the hash of every file, the settings and the user's files that they name, the code and data of this
package, Python and the libraries. All of that goes into one hash, and every file of the config must still be what the
manifest lists. What is not sure counts as stale: a needless build costs minutes, a stale config in a release its worth.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.metadata
import json
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

from discoprobe.cards import manifest, staging, tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from discoprobe.builders.settings import Settings
    from discoprobe.cards.manifest import FileEntry, Manifest
    from discoprobe.loaders.corpus import Corpus

PACKAGE = "discoprobe"
PARTS = ("loaders", "builders", "cards", "request.py", "sources.py", "pipeline.py", "drawing.py")
"""What a config's bytes depend on: not the command line, and not what it shows."""


def digest(corpus: Corpus, settings: Settings, **flags: bool) -> str:
    """A hash of all that makes the configs of a language, besides the name of their task.

    Args:
        corpus: what was read.
        settings: how to build.
        **flags: what else decides on a result, such as whether it is audited.
    """
    made_of = {
        "lang": corpus.lang,
        "sources": [dataclasses.asdict(source) for source in corpus.sources],
        "drops": [dict(corpus.drops), corpus.drop_places, corpus.notes],
        "counts": dataclasses.asdict(corpus.counts),
        "settings": settings.to_dict(),
        "lists": manifest.lists_of(settings),
        "flags": flags,
        "code": code(),
        "software": software(),
    }
    return hashlib.sha256(json.dumps(made_of, sort_keys=True, default=dict).encode()).hexdigest()


@functools.cache
def code() -> str:
    """A hash of the modules and data files of this package."""
    return tree_hash(Path(__file__).parents[1], PARTS)


def tree_hash(root: Path, parts: Iterable[str]) -> str:
    """A hash of files and folders below ``root``, with the names of all files; compiled modules do not count."""
    found = hashlib.sha256()
    for path in sorted(file for part in parts for file in _files(root / part)):
        found.update(f"{path.relative_to(root).as_posix()}\0{tables.file_hash(path)}\0".encode())
    return found.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    inside = path.rglob("*") if path.is_dir() else [path]
    return (file for file in inside if file.is_file() and "__pycache__" not in file.parts)


@functools.cache
def software() -> dict[str, str]:
    """Versions of Python and of every library that this package asks for and that is installed."""
    asked = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in importlib.metadata.requires(PACKAGE) or []}
    found = {"python": platform.python_version()}
    for name in sorted(asked | set(manifest.SOFTWARE)):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""
    return found


def up_to_date(folder: Path, found: Manifest, name: str, inputs: str) -> bool:
    """Whether a config, or that there is none of this name and why, is what a build would give now."""
    if found.get("inputs", {}).get(name) != inputs:
        return False
    if name in found["unavailable"]:
        return not (folder / name).exists()
    return name in found["configs"] and _whole(folder, name, files_of(name, found))


def files_of(name: str, found: Manifest) -> dict[str, FileEntry]:
    """A config's files and plots; none if it is not there."""
    return {
        path: entry
        for path, entry in staging.listed(found).items()
        if path.startswith(f"{name}/") or staging.plotted(path, {name})
    }


def _whole(folder: Path, name: str, listed: dict[str, FileEntry]) -> bool:
    """Whether the folder has the listed files of a config and no others."""
    there = {path.relative_to(folder).as_posix() for path in (folder / name).rglob("*") if path.is_file()}
    return there <= listed.keys() and all(
        (folder / path).is_file()
        and (folder / path).stat().st_size == entry["bytes"]
        and tables.file_hash(folder / path) == entry["sha256"]
        for path, entry in listed.items()
    )
