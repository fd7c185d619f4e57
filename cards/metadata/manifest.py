"""The manifest of a release: the sources of its rows, how rows were chosen, and the hash of every file.

In a release of more than 100 configs, what belongs to one language is in a part, ``manifest/es.json``: a change of
some configs then changes only the parts of their languages. A part has keys of the manifest; ``files`` lists the parts.
"""

import importlib.metadata
import json
import platform
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NotRequired, TypedDict

from discoprobe.builders.audit.designs import Tally
from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata.folder_swap import recovered
from discoprobe.cards.readers.figures import ReaderFigures
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.file_hashes import hashes_of

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
