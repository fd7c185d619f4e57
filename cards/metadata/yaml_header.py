"""The YAML at the head of README.md: what the Hub shows beside a dataset and how `datasets` finds its configs.

It names files. Features and label names stand in the parquet files, and the manifest has the numbers of rows: every
``load_dataset`` parses this YAML before anything else, so that each byte of it costs all users.
The default config has a hash of all rows as its description, because the cache of `datasets` goes by the YAML.

The configs of a large release stand in `.huggingface.yaml`, which `datasets` reads in place of the card's: the Hub
refuses a card with much YAML, and people read the card. Numbers of rows (`dataset_info`) are in the card of a small
release only.

The Hub's closed lists (``hub_lists.toml``): what a card's metadata may say.
"""

import functools
import importlib.resources
import re
import tomllib
from collections.abc import Mapping
from typing import Final

import yaml

from discoprobe.builders.config import Shape
from discoprobe.cards.metadata.manifest import MOST_IN_CARD, ConfigEntry, Manifest, SourceEntry
from discoprobe.loaders.catalogue import licences
from discoprobe.loaders.file_hashes import hash_of_json

OTHER: Final = "other"

_HUB_NAMES: Final = {"lgpllr": "lgpl-lr", "c-uda-1.0": "c-uda"}
"""Licences whose SPDX identifier is not the Hub's."""


@functools.cache
def closed_lists() -> dict[str, list[str]]:
    """The values that the Hub knows, by the key of the YAML."""
    data = importlib.resources.files("discoprobe.cards.metadata").joinpath("hub_lists.toml").read_bytes()
    return tomllib.loads(data.decode())


def hub_licences(name: str) -> tuple[str, ...]:
    """The Hub's identifiers for a licence in any spelling, or several; ``other`` for one that the Hub does not list."""
    spdx = [part.lower() for part in licences.normalise(name).split(" AND ")]
    known = [_HUB_NAMES.get(part, part) for part in spdx]
    return tuple(part if part in closed_lists()["license"] else OTHER for part in known)


def size_category(rows: int) -> str:
    """The size category of a number of rows."""
    names = closed_lists()["size_categories"]
    return next((name for power, name in enumerate(names[:-1], 3) if rows < 10**power), names[-1])


_PRIVATE_USE = re.compile(r"q[a-t][a-z]")
"""ISO 639-2 reserves qaa–qtz for local use: Universal Dependencies has ``qhe`` and ``qtd`` for mixed languages."""


@functools.cache
def language_code(code: str) -> str:
    """The ISO 639-1 code of a language where it has one, else its ISO 639-3 code: ``sme`` becomes ``se``.

    A code of local use becomes ``mis`` (ISO 639-3: a language without a code).
    """
    import langcodes  # noqa: PLC0415 (half a megabyte of tables)

    return "mis" if _PRIVATE_USE.fullmatch(code) else str(langcodes.standardize_tag(code))


def is_language(code: str) -> bool:
    """Whether ``code`` is a code of ISO 639-1 or 639-3 in the form that the Hub lists."""
    import langcodes  # noqa: PLC0415

    shaped = re.fullmatch(r"[a-z]{2,3}", code) and not _PRIVATE_USE.fullmatch(code)
    return bool(shaped) and langcodes.Language.get(code).is_valid() and langcodes.standardize_tag(code) == code


PRETTY_NAME = "discoprobe"
_ACCEPTABILITY = frozenset({"bigram_shift", "ngram_shift", "somo", "coord_inv"})
"""Tasks that set an edited sentence against its original."""
TAGS = ("probing", "discourse", "coherence", "linguistic-probing", "universal-dependencies")
STANDALONE = ".huggingface.yaml"
MOST_CONFIGS = 4_000
"""Most configs of a repository; the Hub's viewer shows none if there are more (its CONFIG_NAMES_MAX_NUMBER)."""
_DEFAULT = ("en", "dc")
"""Language and task of the config that is loaded without a name, where there are such configs."""


def front_matter(manifest: Manifest) -> str:
    """The YAML block with its two lines of dashes."""
    return f"---\n{_dumped(data(manifest))}---\n"


def standalone(manifest: Manifest) -> str:
    """The text of ``.huggingface.yaml``: all configs of a release that has more than the card lists; else empty."""
    configs = manifest["configs"]
    return _dumped({"configs": _config_list(configs)}) if len(configs) > MOST_IN_CARD else ""


def _dumped(values: Mapping[str, object]) -> str:
    return yaml.dump(
        dict(values), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**20, default_flow_style=None
    )


class _Inline(list[dict[str, object]]):
    """A list that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes plain values, and an inline list as one."""


_Dumper.add_representer(
    _Inline, lambda dumper, value: dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)
)


def data(manifest: Manifest) -> dict[str, object]:
    """The metadata as values."""
    configs, default = manifest["configs"], default_config(manifest["configs"])
    codes = languages(configs)
    few = len(configs) <= MOST_IN_CARD
    listed = configs if few else {default: configs[default]}
    tiny = sorted(name for name, one in configs.items() if one.get("tiny")) if few else []
    return {
        "pretty_name": PRETTY_NAME,
        "language": codes,
        **_licence(manifest),
        "multilinguality": ["monolingual" if len(codes) == 1 else "multilingual"],
        "size_categories": [size_category(sum(map(n_rows, configs.values())))],
        "source_datasets": sorted({_source_dataset(name, one) for name, one in manifest["sources"].items()}),
        "annotations_creators": ["expert-generated", "machine-generated"],
        "language_creators": ["found"],
        "task_categories": _task_categories(configs),
        "task_ids": _task_ids(configs),
        "tags": list(TAGS),
        **({"tiny_configs": tiny} if tiny else {}),
        "configs": [one for one in _config_list(configs) if one["config_name"] in listed],
        **({"dataset_info": [_info(name, one) for name, one in sorted(configs.items())]} if few else {}),
    }


def _config_list(configs: Mapping[str, ConfigEntry]) -> list[dict[str, object]]:
    default = default_config(configs)
    return [
        _config(name, entry, _content(configs) if name == default else "") for name, entry in sorted(configs.items())
    ]


def languages(configs: Mapping[str, ConfigEntry]) -> list[str]:
    """The languages of the configs, by the codes that the Hub has for them."""
    return sorted({language_code(entry["lang"]) for entry in configs.values()})


def n_rows(entry: ConfigEntry) -> int:
    """Rows of a config in all splits."""
    return sum(sum(labels.values()) for labels in entry["counts"].values())


def default_config(configs: Mapping[str, ConfigEntry]) -> str:
    """The config that is loaded without a name: English if there is an English one, and `dc` if there is one.

    Else the first in alphabetical order; empty if there are no configs.
    """
    lang, task = _DEFAULT
    return min(
        configs, key=lambda name: (configs[name]["lang"] != lang, configs[name]["task"] != task, name), default=""
    )


def _licence(manifest: Manifest) -> dict[str, object]:
    named = {source["licence"]: hub_licences(source["licence"]) for source in manifest["sources"].values()}
    ids = sorted({one for several in named.values() for one in several})
    shown: dict[str, object] = {"license": ids[0] if len(ids) == 1 else ids}
    if OTHER in ids:
        shown |= {"license_name": _other_name(named), "license_link": "ATTRIBUTION.md"}
    return shown


def _other_name(named: Mapping[str, tuple[str, ...]]) -> str:
    """The name of what the Hub calls ``other``: the licence's own if it is one, else where to look."""
    others = [name for name, ids in named.items() if OTHER in ids]
    return re.sub(r"[^a-z0-9.]+", "-", others[0].lower()).strip("-") if len(others) == 1 else "see-attribution"


def _source_dataset(corpus: str, source: SourceEntry) -> str:
    """Files of the builder's own, a treebank of Universal Dependencies, or another published corpus.

    A file that is only named like a treebank is the builder's own: it has no repository.
    """
    if not source["repo"]:
        return "original"
    return "extended|universal_dependencies" if corpus.startswith("UD_") else "extended"


def _task_categories(configs: Mapping[str, ConfigEntry]) -> list[str]:
    shapes = {entry["shape"] for entry in configs.values()}
    choice = ["multiple-choice"] if Shape.CHOICE in shapes else []
    return [*(["text-classification"] if shapes - {Shape.CHOICE} else []), *choice]


def _task_ids(configs: Mapping[str, ConfigEntry]) -> list[str]:
    """The Hub's finer names of tasks: an original against an edited sentence is a judgement of acceptability."""
    entries = configs.values()
    ids = {
        "acceptability-classification": any(
            one["task"] in _ACCEPTABILITY or one["shape"] == Shape.SUITE for one in entries
        ),
        "multi-class-classification": any(
            one["shape"] not in {Shape.CHOICE, Shape.SUITE} and len(next(iter(one["counts"].values()), {})) > 2  # noqa: PLR2004
            for one in entries
        ),
        "multiple-choice-qa": any(one["shape"] == Shape.CHOICE for one in entries),
    }
    return [name for name, there in ids.items() if there]


def _info(name: str, entry: ConfigEntry) -> dict[str, object]:
    """Numbers of rows of a config; its features stand in the parquet files."""
    splits = entry["counts"]
    size = {split: entry["files"].get(f"{split}-00000-of-00001.parquet", {"bytes": 0})["bytes"] for split in splits}
    infos = _Inline(
        {"name": split, "num_bytes": size[split], "num_examples": sum(splits[split].values())} for split in splits
    )
    return {"config_name": name, "splits": infos}


def _config(name: str, entry: ConfigEntry, content: str) -> dict[str, object]:
    """The entry of a config; ``content`` is the hash of all rows for the default config, empty for the others."""
    files = _Inline({"split": split, "path": f"{name}/{split}-*"} for split in entry["counts"])
    default = {"default": True, "description": content} if content else {}
    return {"config_name": name} | default | {"data_files": files}


def _content(configs: Mapping[str, ConfigEntry]) -> str:
    """A hash of the rows of all configs.

    `datasets` caches a local folder under a hash of this YAML, without a look at the files. So the YAML must change
    when rows change; else `load_dataset` returns the rows of an earlier build. One config's entry is enough.
    """
    content = {name: entry["content"] for name, entry in sorted(configs.items())}
    return hash_of_json(content)[:16]
