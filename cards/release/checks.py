"""Checks of a release before anything of it is published: audits, licences, attribution.

What the Hub, or `datasets`, would refuse or misread in a release: found offline, before anything is sent.

The Hub checks a card only when the commit is made, and no client can do it without network. Each rule here is one that
the Hub's endpoint, its viewer, or the loader of `datasets` follows.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import yaml_header
from discoprobe.cards.metadata.manifest import SAFE_NAME, ConfigEntry, Manifest, SourceEntry
from discoprobe.cards.metadata.yaml_header import MOST_CONFIGS, STANDALONE
from discoprobe.cards.text.verdicts import FAILED, verdicts
from discoprobe.loaders.catalogue import licences
from discoprobe.loaders.errors import AuditFailedError, DiscoprobeError

MOST_BYTES: Final = 100_000
"""Largest YAML: every ``load_dataset`` parses it in pure Python first, and the Hub's check refuses large ones (413)."""
_BLOCK = re.compile(r"\A---\r?\n(.*?\n)---\r?\n", re.DOTALL)
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_NEEDED = (
    "pretty_name", "language", "license", "multilinguality", "size_categories", "source_datasets",
    "annotations_creators", "task_categories", "tags", "configs",
)  # fmt: skip
_KEYS = frozenset({"config_name", "version", "default", "description", "data_files"})
"""Keys of a config; `datasets` passes any other one to the parquet reader, which does not know it."""
_RESERVED = frozenset({"data", "default"})
"""Names of configs that have a special meaning in `datasets`."""


def problems(folder: Path) -> list[str]:
    """What is wrong with the card of a release folder; nothing for a card that the Hub takes."""
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    standalone = folder / STANDALONE
    text = standalone.read_text(encoding="utf-8") if standalone.is_file() else ""
    return card_problems((folder / "README.md").read_text(encoding="utf-8"), files, text)


def card_problems(card: str, files: Iterable[str], standalone: str = "") -> list[str]:
    """What is wrong with a card, given the paths of the repository's files.

    Args:
        card: README.md, YAML and text.
        files: all files of the repository, relative to its root.
        standalone: the text of ``.huggingface.yaml``, whose configs are read in place of the card's; empty without.
    """
    block = _BLOCK.match(card)
    if not block:
        return ["it does not begin with a YAML block between two lines of dashes"]
    try:
        data = yaml.safe_load(block[1])
    except yaml.YAMLError as error:
        return [f"its YAML cannot be read: {' '.join(str(error).split())}"]
    if not isinstance(data, dict):
        return ["its YAML is no mapping"]
    if standalone:
        data |= yaml.load(standalone, Loader=_FAST)  # noqa: S506 (the safe one, in C where there is one)
    number = len(data["configs"]) if isinstance(data.get("configs"), list) else 0
    general = [size_problem(card), number_problem(number)]
    return [*filter(None, general), *_data_problems(data, frozenset(files))]


_FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def number_problem(configs: int) -> str:
    """What is wrong with a number of configs; empty if one repository can have them."""
    if configs <= MOST_CONFIGS:
        return ""
    return (
        f"{configs:,} configs are too many for one repository: the Hub's viewer shows none of more than"
        f" {MOST_CONFIGS:,}; publish languages in groups (--lang, --out), each in a repository of its own (--repo)"
    )


def size_problem(card: str) -> str:
    """What is wrong with the size of a card's YAML; empty for a size that the Hub accepts."""
    block = _BLOCK.match(card)
    size = len(block[1].encode()) if block else 0
    if size <= MOST_BYTES:
        return ""
    return (
        f"its YAML has {size:,} bytes, and the Hub accepts {MOST_BYTES:,}; build fewer languages or tasks into one"
        " folder, and publish each folder in a repository of its own (--lang, --out, --repo)"
    )


def _data_problems(data: Mapping[str, Any], files: frozenset[str]) -> Iterator[str]:
    yield from (f"`{key}` is missing or empty" for key in _NEEDED if not data.get(key))
    for key in [*yaml_header.closed_lists(), *_FORMS]:
        unknown = [value for value in _several(data.get(key)) if not _is_known(key, value)]
        yield from (f"`{key}` has {value!r}, which the Hub does not know" for value in unknown)
    yield from _licence_problems(data)
    if data.get("configs"):
        yield from _config_problems(data["configs"], files)


def _several(value: object) -> list[object]:
    """A value that may stand for a list of one."""
    return list(value) if isinstance(value, list) else [] if value is None else [value]


_FORMS: Final[Mapping[str, Callable[[str], object]]] = {
    "language": yaml_header.is_language,
    "source_datasets": re.compile(r"original|extended|extended\|[\w./-]+").fullmatch,
    "tags": bool,
}
"""What the values of other keys must be like."""


def _is_known(key: str, value: object) -> bool:
    if not isinstance(value, str):
        return False
    return bool(_FORMS[key](value)) if key in _FORMS else value in yaml_header.closed_lists()[key]


def _licence_problems(data: Mapping[str, Any]) -> Iterator[str]:
    """``license: other`` needs a name and a link."""
    if yaml_header.OTHER in _several(data.get("license")):
        lacking = [key for key in ("license_name", "license_link") if not data.get(key)]
        yield from (f"`license` is other, so `{key}` is needed" for key in lacking)


def _config_problems(configs: object, files: frozenset[str]) -> Iterator[str]:
    if not isinstance(configs, list) or not all(isinstance(one, dict) for one in configs):
        yield "`configs` is no list of mappings"
        return
    names = Counter(str(one.get("config_name")) for one in configs)
    yield from (f"config {name} is listed {times} times" for name, times in names.items() if times > 1)
    defaults = [one.get("config_name") for one in configs if one.get("default")]
    if len(defaults) != 1:
        yield f"{len(defaults)} configs are the default; one must be"
    if len({bool(one.get("version")) for one in configs}) > 1:
        yield "some configs have a version and some have none"
    folders = _folders(files)
    for one in configs:
        yield from (f"config {one.get('config_name')}: {problem}" for problem in _one_config(one, folders))


def _folders(files: frozenset[str]) -> dict[str, list[str]]:
    """The files of each folder, so that a pattern is matched against a few."""
    by_folder: dict[str, list[str]] = {}
    for path in files:
        folder, _, name = path.rpartition("/")
        by_folder.setdefault(folder, []).append(name)
    return by_folder


def _one_config(config: Mapping[str, Any], folders: Mapping[str, list[str]]) -> Iterator[str]:
    name = config.get("config_name")
    if not isinstance(name, str) or not SAFE_NAME.fullmatch(name) or name in _RESERVED:
        yield "its name is not made of a-z, 0-9, - and _, or has a meaning of its own"
    yield from (f"unknown key `{key}`" for key in config if key not in _KEYS)
    if not _VERSION.fullmatch(str(config.get("version", "0.0.0"))):
        yield f"its version is {config['version']!r}, not three numbers"
    yield from _file_problems(config.get("data_files"), folders)


def _file_problems(data_files: object, folders: Mapping[str, list[str]]) -> Iterator[str]:
    if not isinstance(data_files, list) or not all(map(_is_file_entry, data_files)):
        yield "`data_files` is no list of `split` and `path`"
        return
    splits = [one["split"] for one in data_files]
    if splits not in (list(SPLITS), list(SPLITS[-1:])):
        yield f"its splits are {', '.join(map(str, splits))}, not {', '.join(SPLITS)} (or {SPLITS[-1]} alone)"
    for one in data_files:
        if not _matches(str(one["path"]), folders):
            yield f"no file of the release is {one['path']}"


def _is_file_entry(entry: object) -> bool:
    return isinstance(entry, dict) and set(entry) == {"split", "path"}


def _matches(pattern: str, folders: Mapping[str, list[str]]) -> bool:
    """Whether a file has this path; ``*`` stands for characters of a file name only."""
    folder, _, name = pattern.rpartition("/")
    shape = re.compile(".*".join(map(re.escape, name.split("*"))))
    return "*" not in folder and any(shape.fullmatch(file) for file in folders.get(folder, ()))


_SHOWN = 3


def check(manifest: Manifest, allow_licence: Collection[str] = ()) -> None:
    """Makes sure that the configs of a manifest may be published.

    Args:
        manifest: of what is to be published.
        allow_licence: licences that are published though they are not open, in any spelling; ``unknown`` is one.

    Raises:
        AuditFailedError: if a config failed its audit or was not audited.
        DiscoprobeError: for a licence that forbids it, a source that cannot be attributed, or nothing to publish.
    """
    if not manifest["configs"]:
        raise DiscoprobeError("there is no config to publish; build some first, and see the reasons for those left out")
    _check_audits(manifest["configs"])
    used = sorted({name for entry in manifest["configs"].values() for name in entry["sources"]})
    check_licences({name: manifest["sources"][name]["licence"] for name in used}, allow_licence)
    _check_attribution({name: manifest["sources"][name] for name in used})


def check_licences(licence_of: Mapping[str, str], allow_licence: Collection[str] = ()) -> None:
    """Makes sure that data from corpora with these licences may be published.

    Args:
        licence_of: the licence of each corpus, in any spelling, by the name of the corpus.
        allow_licence: as for `check`.

    Raises:
        DiscoprobeError: naming the first corpus that may not be published.
    """
    allowed = {licences.normalise(name) for name in allow_licence} | {_plain(name) for name in allow_licence}
    for name, licence in sorted(licence_of.items()):
        _check_licence(name, licence, allowed)


def _check_audits(configs: dict[str, ConfigEntry]) -> None:
    unknown = [name for name, entry in sorted(configs.items()) if entry["audit"] is None]
    failed = {name: one.checks for name, one in sorted(verdicts(configs).items()) if one.word == FAILED}
    if failed:
        what = some(f"{name} ({', '.join(checks)})" for name, checks in failed.items())
        raise AuditFailedError(
            f"the audit failed: {what}; nothing is published; see build card, or build without --keep-failed"
        )
    if unknown:
        raise AuditFailedError(f"not audited: {some(unknown)}; nothing is published; build without --no-audit")


def check_designs(configs: Mapping[str, ConfigEntry]) -> None:
    """Makes sure that no task fails with the rows of all languages that will be published together.

    Raises:
        AuditFailedError: naming the task; then the cards of its configs would say *passed*, and the release's *failed*.
    """
    found = {configs[name]["task"]: one.checks for name, one in verdicts(configs).items() if one.of_design}
    if found:
        what = some(f"{task} ({', '.join(checks)})" for task, checks in sorted(found.items()))
        raise AuditFailedError(
            f"the audit fails together with the published configs: {what}; nothing is published; publish this"
            " task in a repository of its own, or leave it out with --task"
        )


def _check_licence(name: str, licence: str, allowed: Collection[str]) -> None:
    parts = licences.normalise(licence).split(" AND ")
    closed = [part for part in parts if not licences.publishable(part) and part not in allowed]
    if closed and _plain(licence) not in allowed:
        named = licence if len(parts) > 1 else closed[0]
        raise DiscoprobeError(
            f"{name}: the licence '{licence}' does not allow publishing ({licences.openness(closed[0])});"
            f" exclude the corpus, or give --allow-licence '{named}' if you have the right to publish it"
        )


def _plain(licence: str) -> str:
    """The name of a licence in lower case, with single spaces."""
    return " ".join(licence.casefold().split())


def _check_attribution(sources: dict[str, SourceEntry]) -> None:
    lacking = [
        name for name, source in sources.items() if not source["citation"].strip() and _asks_credit(source["licence"])
    ]
    if lacking:
        raise DiscoprobeError(
            f"no attribution for {some(lacking)}: their licence requires one; add their citation to the catalogue"
        )


def _asks_credit(licence: str) -> bool:
    """Whether a licence is known that asks for attribution: not a dedication to the public, not an unknown one."""
    return any(
        part not in {"CC0-1.0", licences.PUBLIC_DOMAIN, licences.UNKNOWN}
        for part in licences.normalise(licence).split(" AND ")
    )


def some(names: Iterable[str]) -> str:
    """The first names of a list, and how many more there are."""
    found = list(names)
    return ", ".join(found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
