"""The manifest: where every row of a release comes from, how it was chosen, and the hash of every file."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from discoprobe.builders.settings import SPLITS
from discoprobe.cards import tables
from discoprobe.loaders.errors import DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from discoprobe.builders.audit.pool import Tally
    from discoprobe.builders.audit.report import Report
    from discoprobe.builders.config import Config, Unavailable
    from discoprobe.builders.settings import Settings
    from discoprobe.loaders.corpus import Corpus, Source

NAME = "manifest.json"
FORMAT = 1
SOFTWARE = ("datasets", "numpy", "polars", "pyarrow", "scikit-learn", "scipy", "wordfreq")
"""Libraries whose version can change a row or a byte."""


class FileEntry(TypedDict):
    """Size and hash of a file."""

    sha256: str
    bytes: int


class AuditEntry(TypedDict):
    """What an audit of a config found, in short; ``audit.json`` beside the config has the whole."""

    failed: list[str]
    undecided: list[str]
    majority: float
    strongest: str | None
    accuracy: float | None
    lift: float | None
    exempt: NotRequired[list[str]]
    tallies: NotRequired[dict[str, Tally]]


class ConfigEntry(TypedDict):
    """What the manifest says of a config.

    ``read`` are the corpora that it was built from, where that is more than ``sources``, which rows are from; ``lists``
    has size and hash of the user's own files that a setting names.
    """

    task: str
    lang: str
    summary: str
    shape: str
    labels: list[str]
    counts: dict[str, dict[str, int]]
    candidates: int
    drops: dict[str, int]
    notes: list[str]
    sources: list[str]
    settings: dict[str, object]
    content: dict[str, str]
    files: dict[str, FileEntry]
    audit: AuditEntry | None
    lists: NotRequired[dict[str, FileEntry]]
    read: NotRequired[list[str]]


class SourceEntry(TypedDict):
    """A corpus, as the catalogue pins it or as it was found; ``annotation`` is how one was made from raw text."""

    lang: str
    licence: str
    repo: str
    commit: str
    citation: str
    files: dict[str, FileEntry]
    annotation: NotRequired[dict[str, Any]]


class Manifest(TypedDict):
    """The whole file.

    ``beside`` has, by language, corpora that were read and of which no config shows a row: a sentence that resembles
    one of theirs may have been left out for it. ``inputs`` has a hash of all that made each config, or made it
    unavailable; it is kept in a folder of one's own and not published.
    """

    format: int
    discoprobe: str
    software: dict[str, str]
    sources: dict[str, SourceEntry]
    skipped: dict[str, dict[str, int]]
    configs: dict[str, ConfigEntry]
    unavailable: dict[str, str]
    files: dict[str, FileEntry]
    beside: NotRequired[dict[str, dict[str, SourceEntry]]]
    inputs: NotRequired[dict[str, str]]


def empty() -> Manifest:
    """The manifest of a release without configs."""
    return {
        "format": FORMAT,
        "discoprobe": importlib.metadata.version("discoprobe"),
        "software": {name: importlib.metadata.version(name) for name in SOFTWARE},
        "sources": {},
        "skipped": {},
        "configs": {},
        "unavailable": {},
        "files": {},
    }


def read(folder: Path) -> Manifest:
    """The manifest of a release folder; an empty one if there is none.

    Raises:
        DiscoprobeError: if the file cannot be read as a manifest.
    """
    path = folder / NAME
    if not path.exists():
        return empty()
    try:
        found: Manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DiscoprobeError(f"{path}: not a manifest ({error}); restore it or build into another folder") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT or empty().keys() - found.keys():
        raise DiscoprobeError(f"{path}: not a manifest of format {FORMAT}; build into another folder")
    for entry in found["configs"].values():
        entry["counts"] = _in_order(entry)
    return found


def _in_order(entry: ConfigEntry) -> dict[str, dict[str, int]]:
    """The counts as a build gives them, splits and labels in their order; the file has keys sorted."""
    counts = entry["counts"]
    return {split: {label: counts[split][label] for label in entry["labels"]} for split in SPLITS}


def render(manifest: Manifest) -> str:
    """The manifest as text, keys sorted."""
    return json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def renewed(
    old: Manifest,
    entries: dict[str, ConfigEntry],
    missing: list[Unavailable],
    corpora: list[Corpus],
    inputs: dict[str, str],
) -> Manifest:
    """The old manifest with what was built put in place of what stood there under the same names; no files yet."""
    fresh = empty()
    gone = {*entries, *(one.name for one in missing)}
    configs = {name: entry for name, entry in old["configs"].items() if name not in gone} | entries
    sources = dict(old["sources"])
    for corpus in corpora:
        sources |= {source.name: source_entry(source) for source in corpus.sources}
    used = {name for entry in configs.values() for name in entry["sources"]}
    unavailable = {name: reason for name, reason in old["unavailable"].items() if name not in gone}
    fresh["configs"] = configs
    fresh["sources"] = {name: entry for name, entry in sources.items() if name in used}
    renewed_languages = {corpus.lang for corpus in corpora}
    skipped = {lang: drops for lang, drops in old["skipped"].items() if lang not in renewed_languages}
    dropped: dict[str, Counter[str]] = {corpus.lang: Counter() for corpus in corpora if corpus.drops}
    for corpus in corpora:
        dropped.get(corpus.lang, Counter()).update(corpus.drops)
    fresh["skipped"] = skipped | {lang: dict(drops) for lang, drops in dropped.items()}
    fresh["unavailable"] = unavailable | {one.name: one.reason for one in missing}
    if beside := _beside(old, corpora, used):
        fresh["beside"] = beside
    if known := {name: digest for name, digest in old.get("inputs", {}).items() if name not in gone} | inputs:
        fresh["inputs"] = known
    return fresh


def _beside(old: Manifest, corpora: list[Corpus], used: Collection[str]) -> dict[str, dict[str, SourceEntry]]:
    read: dict[str, dict[str, SourceEntry]] = {}
    for corpus in corpora:
        read.setdefault(corpus.lang, {}).update({source.name: source_entry(source) for source in corpus.sources})
    langs = old.get("beside", {}) | read
    found = {lang: {name: one for name, one in own.items() if name not in used} for lang, own in langs.items()}
    return {lang: own for lang, own in sorted(found.items()) if own}


def audit_entry(report: Report) -> AuditEntry:
    """The short of a report."""
    from discoprobe.builders.audit.pool import tallies  # noqa: PLC0415 (scipy: a second, for those who only read)

    best = report.strongest
    return {
        "failed": [finding.check for finding in report.errors],
        "undecided": [finding.check for finding in report.undecided],
        "majority": next((one.accuracy for one in report.baselines if one.name == "majority"), 0.0),
        "strongest": best.check if best else None,
        "accuracy": best.accuracy if best else None,
        "lift": best.lift if best else None,
        "exempt": [finding.check for finding in report.findings if finding.status == "exempt"],
        "tallies": tallies(report),
    }


def config_entry(
    config: Config, content: dict[str, str], files: dict[str, FileEntry], report: Report | None = None
) -> ConfigEntry:
    """A config's entry; ``content`` has a hash of the rows per split, ``files`` what its folder holds."""
    entry: ConfigEntry = {
        "task": config.task,
        "lang": config.lang,
        "summary": config.definition.partition("\n")[0],
        "shape": str(config.shape),
        "labels": list(config.labels),
        "counts": config.counts(),
        "candidates": config.candidates,
        "drops": dict(config.drops),
        "notes": list(config.notes),
        "sources": [source.name for source in config.sources],
        "settings": json.loads(json.dumps(config.settings.to_dict())),
        "content": content,
        "files": files,
        "audit": audit_entry(report) if report else None,
    }
    if set(config.read) - set(entry["sources"]):
        entry["read"] = list(config.read)
    if lists := lists_of(config.settings):
        entry["lists"] = lists
    return entry


def lists_of(settings: Settings) -> dict[str, FileEntry]:
    """Size and hash of the user's files that settings name, by setting; only of those that are there."""
    there = {name: path for name, path in settings.files().items() if path.is_file()}
    return {name: {"sha256": tables.file_hash(path), "bytes": path.stat().st_size} for name, path in there.items()}


def source_entry(source: Source) -> SourceEntry:
    """A corpus's entry."""
    files = {file.path: dataclasses.asdict(file) for file in source.files}
    entry: SourceEntry = {
        "lang": source.lang,
        "licence": source.licence,
        "repo": source.repo,
        "commit": source.commit,
        "citation": source.citation,
        "files": {path: {"sha256": file["sha256"], "bytes": file["bytes"]} for path, file in files.items()},
    }
    if source.annotation is not None:
        entry["annotation"] = dict(source.annotation)
    return entry
