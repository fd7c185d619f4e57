"""What keeps a release from being published, found offline, before anything is sent.

In the order in which a release meets it: there are too many configs for one repository (`number_problem`, before
anything is built), the card is too large (`size_problem`, at the end of a build), an audit failed or a licence or an
attribution is lacking (`check_release`, at the start of a push), a task fails together with the published configs
(`check_designs`), and the card says what the Hub, its viewer or `datasets` would refuse or misread (`card_problems`).
The Hub checks a card only when the commit is made, and no client can do it without network.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import yaml

from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import yaml_header
from discoprobe.cards.metadata.manifest import SAFE_NAME, ConfigEntry, Manifest
from discoprobe.cards.metadata.yaml_header import MOST_CONFIGS
from discoprobe.cards.text.verdicts import ABOVE, UNMEASURED, verdicts
from discoprobe.loaders.catalogue import licences
from discoprobe.loaders.errors import AuditFailedError, DiscoprobeError

MOST_BYTES: Final = 100_000
"""Largest YAML: every ``load_dataset`` parses it in pure Python first, and the Hub's check refuses large ones (413)."""
_BLOCK = re.compile(r"\A---\r?\n(.*?\n)---\r?\n", re.DOTALL)
_FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_NEEDED = (
    "pretty_name", "language", "license", "multilinguality", "size_categories", "source_datasets",
    "annotations_creators", "task_categories", "tags", "configs",
)  # fmt: skip
_FORMS: Final[Mapping[str, Callable[[str], object]]] = {
    "language": yaml_header.is_language,
    "source_datasets": re.compile(r"original|extended|extended\|[\w./-]+").fullmatch,
    "tags": bool,
}
"""What the values of keys must be like for which the Hub has no closed list."""
_KEYS = frozenset({"config_name", "version", "default", "description", "data_dir", "data_files"})
"""Keys of a config; `datasets` passes any other one to the parquet reader, which does not know it."""
_RESERVED = frozenset({"data", "default"})
"""Names of configs that have a special meaning in `datasets`."""
_NAMED = 3
"""Names of a list that a message gives."""


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


def check_release(manifest: Manifest, allow_licence: Collection[str] = ()) -> None:
    """Makes sure that the configs of a manifest may be published.

    A config that is above a threshold may not, and one on which no solver could be measured may not. One that is
    open may: its rows cannot tell, and its card says so, with all figures and the smallest gain that they could show.

    Args:
        manifest: of what is to be published.
        allow_licence: licences that are published though they are not open, in any spelling; ``unknown`` is one.

    Raises:
        AuditFailedError: if a config failed its audit, was not audited, or was too small for it.
        DiscoprobeError: for a licence that forbids it, a source that cannot be attributed, or nothing to publish.
    """
    configs = manifest["configs"]
    if not configs:
        raise DiscoprobeError("there is no config to publish; build some first, and see the reasons for those left out")
    judged = dict(sorted(verdicts(configs).items()))
    if failed := {name: verdict for name, verdict in judged.items() if verdict.word == ABOVE}:
        what = name_some(f"{name} ({', '.join(verdict.checks)})" for name, verdict in failed.items())
        raise AuditFailedError(
            f"the audit failed: {what}; nothing is published; see build card, or build without --keep-failed"
        )
    if unaudited := [name for name, entry in sorted(configs.items()) if entry["audit"] is None]:
        raise AuditFailedError(
            f"not audited: {name_some(unaudited)}; nothing is published; build without --no-audit"
        )  # fmt: skip
    if unmeasured := [name for name, verdict in judged.items() if verdict.word == UNMEASURED]:
        raise AuditFailedError(
            f"the audit could measure nothing: {name_some(unmeasured)}; nothing is published; see build card"
        )
    names = sorted({name for entry in configs.values() for name in entry["sources"]})
    sources = {name: manifest["sources"][name] for name in names}
    check_licences({name: source["licence"] for name, source in sources.items()}, allow_licence)
    # An unknown licence, and what is dedicated to the public, ask for no attribution.
    without_credit = {"CC0-1.0", licences.PUBLIC_DOMAIN, licences.UNKNOWN}
    lacking = [
        name
        for name, source in sources.items()
        if not source["citation"].strip()
        and not without_credit.issuperset(licences.normalise(source["licence"]).split(" AND "))
    ]
    if lacking:
        raise DiscoprobeError(
            f"no attribution for {name_some(lacking)}: their licence requires one; give --citation to "
            "`build annotate` or `build import` for data of your own, or add a citation to the catalogue"
        )


def check_licences(licence_of: Mapping[str, str], allow_licence: Collection[str] = ()) -> None:
    """Makes sure that data from corpora with these licences may be published.

    Args:
        licence_of: the licence of each corpus, in any spelling, by the name of the corpus.
        allow_licence: as for `check_release`.

    Raises:
        DiscoprobeError: naming the first corpus that may not be published.
    """

    def plain(licence: str) -> str:
        return " ".join(licence.casefold().split())

    allowed = {licences.normalise(name) for name in allow_licence} | {plain(name) for name in allow_licence}
    for name, licence in sorted(licence_of.items()):
        parts = licences.normalise(licence).split(" AND ")
        closed = [part for part in parts if not licences.publishable(part) and part not in allowed]
        if closed and plain(licence) not in allowed:
            to_allow = licence if len(parts) > 1 else closed[0]
            raise DiscoprobeError(
                f"{name}: the licence '{licence}' does not allow publishing ({licences.openness(closed[0])});"
                f" exclude the corpus, or give --allow-licence '{to_allow}' if you have the right to publish it"
            )


def check_designs(configs: Mapping[str, ConfigEntry]) -> None:
    """Makes sure that no task fails with the rows of all languages that will be published together.

    Raises:
        AuditFailedError: naming the task; then the cards of its configs would say something else than the release's.
    """
    of_design = {
        configs[name]["task"]: verdict.checks for name, verdict in verdicts(configs).items() if verdict.of_design
    }
    if of_design:
        what = name_some(f"{task} ({', '.join(checks)})" for task, checks in sorted(of_design.items()))
        raise AuditFailedError(
            f"the audit fails together with the published configs: {what}; nothing is published; publish this"
            " task in a repository of its own, or leave it out with --task"
        )


def name_some(names: Iterable[str]) -> str:
    """The first names of a list, and how many more there are."""
    several = list(names)
    more = len(several) - _NAMED
    return ", ".join(several[:_NAMED]) + (f" and {more} more" if more > 0 else "")


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
    general = [problem for problem in (size_problem(card), number_problem(number)) if problem]
    of_configs = _list_problems(data["configs"], files) if data.get("configs") else ()
    return [*general, *_value_problems(data), *of_configs]


def _value_problems(data: Mapping[str, Any]) -> Iterator[str]:
    """Keys that are missing, and values that the Hub does not know."""
    yield from (f"`{key}` is missing or empty" for key in _NEEDED if not data.get(key))
    values = {key: value if isinstance(value, list) else [value] for key, value in data.items() if value is not None}
    closed_lists = yaml_header.closed_lists()
    for key in [*closed_lists, *_FORMS]:
        is_known = _FORMS[key] if key in _FORMS else closed_lists[key].__contains__
        unknown = [value for value in values.get(key, ()) if not (isinstance(value, str) and is_known(value))]
        yield from (f"`{key}` has {value!r}, which the Hub does not know" for value in unknown)
    if yaml_header.OTHER in values.get("license", ()):
        lacking = [key for key in ("license_name", "license_link") if not data.get(key)]
        yield from (f"`license` is other, so `{key}` is needed" for key in lacking)


def _list_problems(configs: object, files: Iterable[str]) -> Iterator[str]:
    """What is wrong with the list of configs."""
    if not isinstance(configs, list) or not all(isinstance(config, dict) for config in configs):
        yield "`configs` is no list of mappings"
        return
    names = Counter(str(config.get("config_name")) for config in configs)
    yield from (f"config {name} is listed {times} times" for name, times in names.items() if times > 1)
    defaults = sum(bool(config.get("default")) for config in configs)
    if defaults != 1:
        yield f"{defaults} configs are the default; one must be"
    if len({bool(config.get("version")) for config in configs}) > 1:
        yield "some configs have a version and some have none"
    by_folder: defaultdict[str, list[str]] = defaultdict(list)  # so that a pattern is matched against a few files
    for path in files:
        folder, _, name = path.rpartition("/")
        by_folder[folder].append(name)
    for config in configs:
        yield from (f"config {config.get('config_name')}: {problem}" for problem in _entry_problems(config, by_folder))


def _entry_problems(config: Mapping[str, Any], by_folder: Mapping[str, list[str]]) -> Iterator[str]:
    """What is wrong with the entry of a config, given the names of the files in each folder."""
    name = config.get("config_name")
    if not isinstance(name, str) or not SAFE_NAME.fullmatch(name) or name in _RESERVED:
        yield "its name is not made of a-z, 0-9, - and _, or has a meaning of its own"
    yield from (f"unknown key `{key}`" for key in config if key not in _KEYS)
    if not _VERSION.fullmatch(str(config.get("version", "0.0.0"))):
        yield f"its version is {config['version']!r}, not three numbers"
    entries = config.get("data_files")
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and set(entry) == {"split", "path"} for entry in entries
    ):
        yield "`data_files` is no list of `split` and `path`"
        return
    splits = [entry["split"] for entry in entries]
    if splits not in (list(SPLITS), list(SPLITS[-1:])):
        yield f"its splits are {', '.join(map(str, splits))}, not {', '.join(SPLITS)} (or {SPLITS[-1]} alone)"
    for entry in entries:
        folder, _, pattern = "/".join(filter(None, (config.get("data_dir"), str(entry["path"])))).rpartition("/")
        name_form = re.compile(
            ".*".join(map(re.escape, pattern.split("*")))
        )  # ``*`` stands for a part of the name only
        if "*" in folder or not any(map(name_form.fullmatch, by_folder.get(folder, ()))):
            yield f"no file of the release is {entry['path']}"
