"""The YAML at the head of README.md: what the Hub shows beside a data set and how `datasets` finds its configs.

It names files only. Features and label names stand in the parquet files, numbers of rows in the manifest and in
croissant.json: every ``load_dataset`` parses this YAML before anything else, so that each byte of it costs all users.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.cards import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discoprobe.cards.manifest import ConfigEntry, Manifest, SourceEntry

PRETTY_NAME = "discoprobe"
TAGS = ("probing", "discourse", "coherence", "linguistic-probing", "universal-dependencies")
_DEFAULT_TASK = "dc"


def front_matter(manifest: Manifest, release: str = "") -> str:
    """The YAML block with its two lines of dashes; every config has ``version`` if the release has a number."""
    text = yaml.dump(
        data(manifest, release), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**20,
        default_flow_style=None,
    )  # fmt: skip
    return f"---\n{text}---\n"


class _Inline(list[dict[str, str]]):
    """A list that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes plain values, and an inline list as one."""


_Dumper.add_representer(
    _Inline, lambda dumper, value: dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)
)


def data(manifest: Manifest, release: str = "") -> dict[str, object]:
    """The metadata as values."""
    configs, default = manifest["configs"], default_config(manifest["configs"])
    codes = languages(configs)
    return {
        "pretty_name": PRETTY_NAME,
        "language": codes,
        **_licence(manifest),
        "multilinguality": ["monolingual" if len(codes) == 1 else "multilingual"],
        "size_categories": [vocabulary.size_category(sum(map(n_rows, configs.values())))],
        "source_datasets": sorted({_source_dataset(name, one) for name, one in manifest["sources"].items()}),
        "annotations_creators": ["expert-generated", "machine-generated"],
        "language_creators": ["found"],
        "task_categories": _task_categories(configs),
        "tags": list(TAGS),
        "configs": [_config(name, release, default=name == default) for name in sorted(configs)],
    }


def languages(configs: Mapping[str, ConfigEntry]) -> list[str]:
    """The languages of the configs, by the codes that the Hub has for them."""
    return sorted({vocabulary.language_code(entry["lang"]) for entry in configs.values()})


def n_rows(entry: ConfigEntry) -> int:
    """Rows of a config in all splits."""
    return sum(sum(labels.values()) for labels in entry["counts"].values())


def default_config(configs: Mapping[str, ConfigEntry]) -> str:
    """The config that the viewer opens with: the first coherence config, else the first of all; empty without any."""
    return min(configs, key=lambda name: (configs[name]["task"] != _DEFAULT_TASK, name), default="")


def _licence(manifest: Manifest) -> dict[str, object]:
    named = {source["licence"]: vocabulary.hub_licences(source["licence"]) for source in manifest["sources"].values()}
    ids = sorted({one for several in named.values() for one in several})
    shown: dict[str, object] = {"license": ids[0] if len(ids) == 1 else ids}
    if vocabulary.OTHER in ids:
        shown |= {"license_name": _other_name(named), "license_link": "ATTRIBUTION.md"}
    return shown


def _other_name(named: Mapping[str, tuple[str, ...]]) -> str:
    """The name of what the Hub calls ``other``: the licence's own if it is one, else where to look."""
    others = [name for name, ids in named.items() if vocabulary.OTHER in ids]
    return re.sub(r"[^a-z0-9.]+", "-", others[0].lower()).strip("-") if len(others) == 1 else "see-attribution"


def _source_dataset(corpus: str, source: SourceEntry) -> str:
    """A treebank of Universal Dependencies, another published corpus, or files of the builder's own."""
    if corpus.startswith("UD_"):
        return "extended|universal_dependencies"
    return "extended" if source["repo"] else "original"


def _task_categories(configs: Mapping[str, ConfigEntry]) -> list[str]:
    shapes = {entry["shape"] for entry in configs.values()}
    choice = ["multiple-choice"] if Shape.CHOICE in shapes else []
    return [*(["text-classification"] if shapes - {Shape.CHOICE} else []), *choice]


def _config(name: str, release: str, *, default: bool) -> dict[str, object]:
    files = _Inline({"split": split, "path": f"{name}/{split}-*"} for split in SPLITS)
    version = {"version": release} if release else {}
    return {"config_name": name} | version | ({"default": True} if default else {}) | {"data_files": files}
