"""Whether a config of a release folder is up to date: a build would give the same result now.

A config is up to date if nothing that can change a byte of it differs from when it was built: the corpora of its
language with the hash of every file, the settings and the user's files that they name, the data of the language, the
versions of the steps and of the task (`stage_versions`), Python and the libraries. All of that goes into one hash, and
every file of the config must still be what the manifest lists.
"""

import dataclasses
import functools
import importlib.metadata
import re
from collections.abc import Mapping
from pathlib import Path

from discoprobe.builders.settings import Settings
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import ListedFile, Manifest
from discoprobe.cards.metadata.manifest_entries import lists_of, stage_versions
from discoprobe.loaders import languages
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.file_hashes import hash_of_json, hashes_of

PACKAGE = "discoprobe"


def digest(
    corpus: Corpus, settings: Settings, task_version: int, excluded: Mapping[str, str] | None = None, **flags: bool
) -> str:
    """A hash of all that makes a config, besides the name of its task.

    ``excluded`` are the rows that are left out because readers found them faulty, by id; ``flags`` are options that
    change a result, such as whether it is audited.
    """
    made_of = {
        "lang": corpus.lang,
        "sources": [dataclasses.asdict(source) for source in corpus.sources],
        "drops": [dict(corpus.drops), corpus.drop_places, corpus.notes],
        "counts": dataclasses.asdict(corpus.counts),
        "settings": settings.to_dict(),
        "lists": lists_of(settings),
        "excluded": dict(excluded or {}),
        "flags": flags,
        "language": language_file_hash(corpus.lang),
        "versions": stage_versions(task_version),
        "software": software(),
    }
    return hash_of_json(made_of)


def language_file_hash(lang: str) -> str:
    """The SHA-256 of a language's data file; empty for a language without one."""
    path = Path(languages.__file__).parent / f"{lang}.toml"
    return hashes_of(path).sha256 if path.is_file() else ""


@functools.cache
def software() -> dict[str, str]:
    """Versions of Python and of every library that this package asks for; empty for one that is not installed."""
    asked = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in importlib.metadata.requires(PACKAGE) or []}
    return manifest.installed(sorted(asked | set(manifest.SOFTWARE)))


def up_to_date(folder: Path, found: Manifest, name: str, inputs: str) -> bool:
    """Whether a config, or the reason why there is none of this name, is what a build would give now."""
    if found.get("inputs", {}).get(name) != inputs:
        return False
    if name in found["unavailable"]:
        return not (folder / name).exists()
    return name in found["configs"] and _whole(folder, name, manifest.files_of(found, {name}))


def _whole(folder: Path, name: str, listed: dict[str, ListedFile]) -> bool:
    """Whether the folder has the listed files of a config and no others."""
    there = {path.relative_to(folder).as_posix() for path in (folder / name).rglob("*") if path.is_file()}
    return there <= listed.keys() and all(
        (folder / path).is_file() and manifest.listed_file(folder / path) == entry for path, entry in listed.items()
    )
