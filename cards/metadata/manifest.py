"""The manifest of a release: the sources of its rows, how rows were chosen, and the hash of every file.

In a release of more than 100 configs, what belongs to one language is in a part, ``manifest/es.json``: a change of
some configs then changes only the parts of their languages. A part has keys of the manifest; ``files`` lists the parts.

The manifest's entries for configs, audits and sources.

Manifests combined: an older release with what was built anew, a published release with a local one.
"""

import importlib.metadata
import json
import platform
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, NotRequired, TypedDict, cast

from discoprobe import builders, cards
from discoprobe.builders.audit.report import Report, Tally
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.cards.readers import ReaderFigures
from discoprobe.loaders.corpus import VERSION as READER_VERSION
from discoprobe.loaders.corpus import Corpus, Source
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.file_hashes import hashes_of
from discoprobe.loaders.folders import recovered

NAME = "manifest.json"
PARTS = "manifest"
"""The folder of the parts."""
PLOTS = "assets"
"""The folder of plots."""
ATTRIBUTION = "attribution"
"""The folder of tables that name documents."""
FORMAT = 1
MOST_IN_CARD = 100
"""Most configs of a release without parts, whose card lists them all, as the Hub's page on how to load does."""
SOFTWARE = (
    "conllu", "datasets", "langcodes", "msgspec", "numpy", "polars", "py3langid", "pyarrow", "pymorphy3",
    "pymorphy3-dicts-ru", "pymorphy3-dicts-uk", "regex", "scikit-learn", "scipy", "sentencex", "wordfreq",
)  # fmt: skip
"""Distributions, dictionaries too, whose version can change a row, a byte or an audit."""
SAFE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""Names of configs, tasks and languages: they become names of files and folders."""


class ListedFile(TypedDict):
    """Size and hash of a file."""

    sha256: str
    bytes: int


class AuditEntry(TypedDict):
    """A summary of a config's audit; ``audit.json`` in the folder of the config has the whole report."""

    failed: list[str]
    resolution: NotRequired[float | None]
    majority: float
    strongest: str | None
    accuracy: float | None
    gain: NotRequired[float | None]
    exempt: NotRequired[list[str]]
    evidence: NotRequired[dict[str, Tally]]


class Audited(TypedDict):
    """The task of a config, and what its audit found; None without an audit."""

    task: str
    audit: AuditEntry | None


class ConfigEntry(Audited):
    """What the manifest says of a config.

    ``read`` are the corpora that it was built from, where that is more than ``sources``, which rows are from; ``lists``
    has size and hash of the user's own files that a setting names. ``versions`` are the versions of the steps that made
    it (`stage_versions`). ``tiny`` says that a split has fewer rows than a published config needs. ``readers`` has what
    people and models found who read rows (``person``, ``model``), and ``excluded`` the rows that were left out because
    of what readers said, by id with the verdict. ``example`` is a row of test, long texts cut.
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
    files: dict[str, ListedFile]
    versions: NotRequired[dict[str, int]]
    lists: NotRequired[dict[str, ListedFile]]
    read: NotRequired[list[str]]
    tiny: NotRequired[bool]
    readers: NotRequired[dict[str, ReaderFigures]]
    excluded: NotRequired[dict[str, str]]
    example: NotRequired[dict[str, Any]]


class SourceEntry(TypedDict):
    """A corpus, as the catalogue pins it or as it was found; ``annotation`` is how one was made from raw text."""

    lang: str
    licence: str
    repo: str
    commit: str
    citation: str
    files: dict[str, ListedFile]
    annotation: NotRequired[dict[str, Any]]


class Manifest(TypedDict):
    """The whole file.

    ``beside`` has, by language, the corpora that were read but have no row in any config: sentences of other corpora
    may have been left out because they nearly repeat one of theirs. ``inputs`` has a hash of everything that each
    config, or the reason why there is none, depends on; it is not published.
    ``unavailable_drops`` has the drops by reason of configs that are not available.
    """

    format: int
    discoprobe: str
    software: dict[str, str]
    sources: dict[str, SourceEntry]
    skipped: dict[str, dict[str, int]]
    configs: dict[str, ConfigEntry]
    unavailable: dict[str, str]
    files: dict[str, ListedFile]
    beside: NotRequired[dict[str, dict[str, SourceEntry]]]
    inputs: NotRequired[dict[str, str]]
    unavailable_drops: NotRequired[dict[str, dict[str, int]]]


class Published(Manifest, total=False):
    """A manifest as it is published.

    ``version`` is the release, and ``repository`` the one that the cards name. ``built_with`` has the versions of
    discoprobe and libraries of those configs that were built with others than the manifest's: they were published
    earlier and left as they were.
    """

    version: str
    repository: str
    built_with: dict[str, dict[str, str]]


def installed(names: Iterable[str]) -> dict[str, str]:
    """The versions of Python and of these distributions, in order; empty for one that is not installed."""
    versions = {"python": platform.python_version()}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = ""
    return versions


def software() -> dict[str, str]:
    """The versions of Python and of those libraries of ``SOFTWARE`` that are installed."""
    return {name: version for name, version in installed(SOFTWARE).items() if version}


def empty() -> Manifest:
    """The manifest of a release without configs."""
    return {
        "format": FORMAT,
        "discoprobe": importlib.metadata.version("discoprobe"),
        "software": software(),
        "sources": {},
        "skipped": {},
        "configs": {},
        "unavailable": {},
        "files": {},
    }


def read(folder: Path) -> Manifest:
    """The manifest of a release folder with its parts; an empty one if there is none.

    Raises:
        DiscoprobeError: the file cannot be read as a manifest, it names files outside of the release, or a file of the
            release is a link to another place.
    """
    path = recovered(folder) / NAME
    if not path.exists():
        return empty()
    manifest: Manifest = _parsed(path)
    if manifest.get("format") != FORMAT or empty().keys() - manifest.keys():
        raise DiscoprobeError(f"{path}: not a manifest of format {FORMAT}; build into another folder")
    _check_names(path, manifest)
    _check_links(path.parent, manifest)
    if parts := [path.parent / name for name in manifest["files"] if is_part(name)]:
        _add(manifest, [_parsed(part) for part in parts])
        _check_names(path, manifest)
        _check_links(path.parent, manifest)
    for entry in manifest["configs"].values():
        entry["counts"] = _in_order(entry)
    return manifest


def read_release(folder: Path) -> Manifest:
    """The manifest of a release folder.

    Raises:
        DiscoprobeError: there is none, or as for `read`.
    """
    if not (folder / NAME).is_file():
        raise DiscoprobeError(f"{folder} holds no {NAME}; build a release there first, or name its folder")
    return read(folder)


def _parsed(path: Path) -> Any:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DiscoprobeError(f"{path}: not a manifest ({error}); restore it or build into another folder") from error
    if not isinstance(found, dict):
        raise DiscoprobeError(f"{path}: not a manifest; restore it or build into another folder")
    return found


def is_part(path: str) -> bool:
    """Whether a path inside a release is that of a part."""
    return path.startswith(f"{PARTS}/")


def _add(manifest: Any, parts: Iterable[dict[str, dict[str, Any]]]) -> None:
    """Adds the entries of the parts; the order of keys is that of a manifest without parts."""
    for part in parts:
        for key, entries in part.items():
            manifest[key] = dict(sorted({**manifest.get(key, {}), **entries}.items()))


def _check_names(path: Path, manifest: Manifest) -> None:
    """Refuses names that would lead out of the release folder, for they become names of files and folders."""
    entries = manifest["configs"].values()
    names = [*manifest["configs"], *manifest["unavailable"]]
    names += [entry[key] for entry in entries for key in ("task", "lang")]
    for name in names:
        if not isinstance(name, str) or not SAFE_NAME.fullmatch(name):
            raise DiscoprobeError(f"{path}: {name!r} cannot be the name of a config, task or language; do not use it")
    for file in [*manifest["files"], *(file for entry in entries for file in entry["files"])]:
        if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts or "\\" in file:
            raise DiscoprobeError(f"{path}: {file!r} leads out of the release folder; do not use it")


def _check_links(folder: Path, manifest: Manifest) -> None:
    """Refuses files of a release that are links to other places; the Hub client's cache links to its own blobs."""
    folder = folder.resolve()
    allowed = (folder, folder.parent.parent / "blobs")
    for path in ("README.md", *manifest["files"], *config_files(manifest, manifest["configs"])):
        file = folder / path
        linked = file.is_symlink() or file.parent.is_symlink()
        if linked and not any(file.resolve().is_relative_to(place) for place in allowed):
            raise DiscoprobeError(f"{file} is a symbolic link that leads out of the release folder; do not use it")


def _in_order(entry: ConfigEntry) -> dict[str, dict[str, int]]:
    """The counts as a build gives them: splits and the labels that are used, in order; the file has keys sorted."""
    counts = entry["counts"]
    return {
        split: {label: counts[split][label] for label in entry["labels"] if label in counts[split]}
        for split in SPLITS
        if split in counts
    }


def texts(manifest: Manifest) -> dict[str, str]:
    """The manifest as text, keys sorted, by path: ``manifest.json``, and before it the parts, if it has any."""
    if len(manifest["configs"]) <= MOST_IN_CARD:
        return {NAME: _json(manifest)}
    rest: dict[str, Any] = {}
    parts: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for key, value in manifest.items():
        rest[key] = {} if isinstance(value, dict) else value
        for name, entry in value.items() if isinstance(value, dict) else ():
            lang = _language(manifest, key, name)
            (parts[lang].setdefault(key, {}) if lang else rest[key])[name] = entry
    written = {f"{PARTS}/{lang}.json": _json(part) for lang, part in sorted(parts.items())}
    rest["files"] |= {path: listed_file(text.encode()) for path, text in written.items()}
    return {**written, NAME: _json(rest)}


def _language(manifest: Manifest, key: str, name: str) -> str:
    """The language that an entry belongs to; empty for one of the whole release."""
    if key in {"skipped", "beside"}:
        return name
    if key == "sources":
        return manifest["sources"][name]["lang"]
    if key == "files":
        folder, _, file = name.partition("/")
        name = file.partition("-" if folder == PLOTS else ".")[0] if folder in {PLOTS, ATTRIBUTION} else ""
    elif key not in {"configs", "unavailable", "unavailable_drops", "inputs", "built_with"}:
        return ""
    return name.rpartition("_")[2]


def _json(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def listed_file(content: Path | bytes) -> ListedFile:
    """The size and hash of a file, or of bytes that are to be one."""
    hashes = hashes_of(content)
    return {"sha256": hashes.sha256, "bytes": hashes.bytes}


def listed(manifest: Manifest) -> dict[str, ListedFile]:
    """The size and hash of every file that a manifest lists, by path inside the release."""
    return config_files(manifest, manifest["configs"]) | manifest["files"]


def config_files(manifest: Manifest, names: Iterable[str]) -> dict[str, ListedFile]:
    """The size and hash of every file in the folders of some configs, by path inside the release."""
    return {f"{name}/{path}": entry for name in names for path, entry in manifest["configs"][name]["files"].items()}


def files_of(manifest: Manifest, names: Collection[str]) -> dict[str, ListedFile]:
    """The size and hash of every file of some configs, with their plots and tables of documents, by path."""
    files = config_files(manifest, [name for name in names if name in manifest["configs"]])
    return files | {path: entry for path, entry in manifest["files"].items() if is_file_of(path, names)}


def is_file_of(path: str, configs: Collection[str]) -> bool:
    """Whether a file outside the folders of configs belongs to one of them: a plot, or its table of documents."""
    return is_plot_of(path, configs) or path in {attribution_name(config) for config in configs}


def attribution_name(config: str) -> str:
    """The table with ids, titles and URLs of the documents of a config, where its corpora have them."""
    return f"{ATTRIBUTION}/{config}.parquet"


def is_plot_of(path: str, configs: Collection[str]) -> bool:
    """Whether a file is a plot of one of the configs, as ``assets/dc_es-rows.svg`` is a plot of ``dc_es``."""
    return path.startswith(f"{PLOTS}/") and path.removeprefix(f"{PLOTS}/").partition("-")[0] in configs


def versions(manifest: Manifest) -> dict[str, str]:
    """The versions of discoprobe and of the libraries that a manifest names."""
    return {"discoprobe": manifest["discoprobe"], **manifest["software"]}


_LONGEST: Final = 160
"""Characters of a text in the example of a config."""


def audit_entry(report: Report) -> AuditEntry:
    """The summary of a report."""
    from discoprobe.builders.audit.report import tallies  # noqa: PLC0415 (scipy: a second, for those who only read)

    best = report.strongest
    return {
        "failed": [finding.check for finding in report.errors],
        "resolution": report.resolution,
        "majority": next((one.accuracy for one in report.baselines if one.name == "majority"), 0.0),
        "strongest": best.check if best else None,
        "accuracy": best.accuracy if best else None,
        "gain": best.gain if best else None,
        "exempt": [finding.check for finding in report.findings if finding.status == "exempt"],
        "evidence": tallies(report),
    }


def config_entry(
    config: Config, content: dict[str, str], files: dict[str, ListedFile], report: Report | None = None
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
        "versions": stage_versions(config.version),
    }
    if config.tiny:
        entry["tiny"] = True
    if set(config.read) - set(entry["sources"]):
        entry["read"] = list(config.read)
    if config.splits["test"].num_rows:
        entry["example"] = _cut(config.splits["test"].slice(0, 1).to_pylist()[0])
    if config.excluded:
        entry["excluded"] = dict(config.excluded)
    if lists := lists_of(config.settings):
        entry["lists"] = lists
    return entry


def _cut(value: Any) -> Any:
    """A value of a row with texts of at most ``_LONGEST`` characters."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
    if isinstance(value, list):
        return [_cut(one) for one in value]
    return {name: _cut(one) for name, one in value.items()} if isinstance(value, dict) else value


def lists_of(settings: Settings) -> dict[str, ListedFile]:
    """Size and hash of the user's files that settings name, by setting; only of those that are there."""
    return {name: listed_file(path) for name, path in settings.files().items() if path.is_file()}


def source_entry(source: Source) -> SourceEntry:
    """A corpus's entry."""
    entry: SourceEntry = {
        "lang": source.lang,
        "licence": source.licence,
        "repo": source.repo,
        "commit": source.commit,
        "citation": source.citation,
        "files": {file.path: {"sha256": file.sha256, "bytes": file.bytes} for file in source.files},
    }
    if source.annotation is not None:
        entry["annotation"] = dict(source.annotation)
    return entry


def stage_versions(task_version: int) -> dict[str, int]:
    """The version of each step that makes a config, by the name of the step; each is defined in the step's package.

    They are raised by hand: a change of the code that changes no output leaves the published configs as they are.
    ``tests/golden/test_stage_versions.py`` fails where an output changes and its version does not.
    """
    from discoprobe.builders.audit import report  # noqa: PLC0415 (scipy: a second, for those who only read)

    return {
        "reader": READER_VERSION,
        "build": builders.VERSION,
        "task": task_version,
        "audit": report.VERSION,
        "card": cards.VERSION,
    }


def renewed(
    old: Manifest,
    entries: dict[str, ConfigEntry],
    missing: list[Unavailable],
    corpora: list[Corpus],
    inputs: dict[str, str],
) -> Manifest:
    """The old manifest with the new results in place of those of the same names, and without files.

    Args:
        old: the manifest of the release so far.
        entries: the configs that were built.
        missing: the configs that could not be built.
        corpora: the corpora that were read.
        inputs: hash of everything that each of these results depends on (`staleness.digest`).
    """
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
    _keep_drops(fresh, old.get("unavailable_drops", {}) | {one.name: dict(one.drops) for one in missing})
    if beside := _beside(old, corpora, used):
        fresh["beside"] = beside
    if known := {name: digest for name, digest in old.get("inputs", {}).items() if name not in gone} | inputs:
        fresh["inputs"] = known
    return fresh


def _keep_drops(manifest: Manifest, drops: Mapping[str, dict[str, int]]) -> None:
    """Adds the drops of the configs that are not available."""
    present = {name: of_config for name, of_config in drops.items() if of_config and name in manifest["unavailable"]}
    if present:
        manifest["unavailable_drops"] = present


def _beside(old: Manifest, corpora: list[Corpus], used: Collection[str]) -> dict[str, dict[str, SourceEntry]]:
    read: dict[str, dict[str, SourceEntry]] = {}
    for corpus in corpora:
        read.setdefault(corpus.lang, {}).update({source.name: source_entry(source) for source in corpus.sources})
    langs = old.get("beside", {}) | read
    found = {lang: {name: one for name, one in own.items() if name not in used} for lang, own in langs.items()}
    return {lang: own for lang, own in sorted(found.items()) if own}


def only(local: Manifest, languages: Collection[str]) -> Manifest:
    """The manifest without other languages; the same if none is named."""
    if not languages:
        return local
    configs = {name: entry for name, entry in local["configs"].items() if entry["lang"] in languages}
    used = {name for entry in configs.values() for name in entry["sources"]}
    return {
        **local,
        "configs": configs,
        "sources": {name: entry for name, entry in local["sources"].items() if name in used},
        "skipped": {lang: drops for lang, drops in local["skipped"].items() if lang in languages},
        "unavailable": {
            name: reason for name, reason in local["unavailable"].items() if name.rpartition("_")[2] in languages
        },
        "beside": {lang: own for lang, own in local.get("beside", {}).items() if lang in languages},
    }


def merged(remote: Published | None, local: Manifest) -> Published:
    """The manifest of both, without the list of the files about all configs.

    Raises:
        DiscoprobeError: if a config that stays was built from another state of a corpus than the local ones.
    """
    manifest = cast("Published", local | {"files": {}})
    if remote is None:
        return manifest
    replaced = local["configs"].keys() | local["unavailable"].keys()
    kept_configs = {name: entry for name, entry in remote["configs"].items() if name not in replaced}
    manifest["configs"] = kept_configs | local["configs"]
    manifest["sources"] = _sources(remote, local, kept_configs.keys())
    manifest["skipped"] = remote["skipped"] | local["skipped"]
    if beside := remote.get("beside", {}) | local.get("beside", {}):
        manifest["beside"] = beside
    manifest["unavailable"] = {
        name: reason
        for name, reason in (remote["unavailable"] | local["unavailable"]).items()
        if name not in manifest["configs"]
    }
    _keep_drops(manifest, remote.get("unavailable_drops", {}) | local.get("unavailable_drops", {}))
    if others := _built_with(remote, manifest, kept_configs.keys()):
        manifest["built_with"] = others
    return manifest


def _sources(remote: Published, local: Manifest, kept: Collection[str]) -> dict[str, SourceEntry]:
    for config in sorted(kept):
        for name in remote["configs"][config]["sources"]:
            if name in local["sources"] and remote["sources"][name] != local["sources"][name]:
                raise DiscoprobeError(
                    f"{config} on the Hub was built from another version of {name} than the configs to be pushed;"
                    f" build {config} too, so that the release has one version of each corpus"
                )
    used = {name for config in kept for name in remote["configs"][config]["sources"]}
    return {name: remote["sources"][name] for name in sorted(used)} | local["sources"]


def _built_with(remote: Published, whole: Published, kept: Collection[str]) -> dict[str, dict[str, str]]:
    earlier = remote.get("built_with", {})
    built_with = {name: earlier.get(name, versions(remote)) for name in sorted(kept)}
    return {name: used for name, used in built_with.items() if used != versions(whole)}
