"""The YAML at the head of README.md: what the Hub shows beside a dataset and how `datasets` finds its configs.

It names files. Features and label names stand in the parquet files, and the manifest has the numbers of rows: every
``load_dataset`` parses this YAML before anything else, so that each byte of it costs all users.
The default config has a hash of all rows as its description, because the cache of `datasets` goes by the YAML.

The configs of a large release stand in `.huggingface.yaml`, which `datasets` reads in place of the card's: the Hub
refuses a card with much YAML, and people read the card. Numbers of rows (`dataset_info`) are in the card of a small
release only.

First come the Hub's closed lists (``hub_lists.toml``): what a card's metadata may say. `data` has the metadata as
values; `front_matter` and `standalone` are the texts.
"""

import functools
import importlib.resources
import re
import tomllib
from collections.abc import Mapping
from typing import Final

import langcodes
import yaml

from discoprobe.builders.config import Shape
from discoprobe.cards.metadata.manifest import MOST_IN_CARD, ConfigEntry, Manifest, split_file
from discoprobe.loaders.catalogue import licences
from discoprobe.loaders.corpus import TOKENISED
from discoprobe.loaders.files import File, hash_of_json

OTHER: Final = "other"
PRETTY_NAME = "discoprobe"
_ANNOTATED = "universal-dependencies"
"""A tag of data from corpora with trees, so not of text whose sentences were found by rules."""
TAGS = ("probing", "discourse", "coherence", "linguistic-probing", _ANNOTATED)
STANDALONE = ".huggingface.yaml"
MOST_CONFIGS = 4_000
"""Most configs of a repository; the Hub's viewer shows none if there are more (its CONFIG_NAMES_MAX_NUMBER)."""
_HUB_NAMES: Final = {"lgpllr": "lgpl-lr", "c-uda-1.0": "c-uda"}
"""Licences whose SPDX identifier is not the Hub's."""
_PRIVATE_USE = re.compile(r"q[a-t][a-z]")
"""ISO 639-2 reserves qaa–qtz for local use: Universal Dependencies has ``qhe`` and ``qtd`` for mixed languages."""
_ACCEPTABILITY = frozenset({"bigram_shift", "ngram_shift", "somo", "coord_inv"})
"""Tasks that set an edited sentence against its original."""
DEFAULT = ("en", "dc")
"""Language and task of the config that is loaded without a name, where there are such configs."""


@functools.cache
def closed_lists() -> dict[str, list[str]]:
    """The values that the Hub knows, by the key of the YAML."""
    text = importlib.resources.files("discoprobe.cards.metadata").joinpath("hub_lists.toml").read_bytes()
    return tomllib.loads(text.decode())


def hub_licences(name: str) -> tuple[str, ...]:
    """The Hub's identifiers for a licence in any spelling, or several; ``other`` for one that the Hub does not list."""
    spdx = [part.lower() for part in licences.normalise(name).split(" AND ")]
    identifiers = [_HUB_NAMES.get(part, part) for part in spdx]
    return tuple(part if part in closed_lists()["license"] else OTHER for part in identifiers)


def size_category(rows: int) -> str:
    """The size category of a number of rows."""
    names = closed_lists()["size_categories"]
    return next((name for power, name in enumerate(names[:-1], 3) if rows < 10**power), names[-1])


@functools.cache
def language_code(code: str) -> str:
    """The ISO 639-1 code of a language where it has one, else its ISO 639-3 code: ``sme`` becomes ``se``.

    A code of local use becomes ``mis`` (ISO 639-3: a language without a code).
    """
    return "mis" if _PRIVATE_USE.fullmatch(code) else str(langcodes.standardize_tag(code))


def is_language(code: str) -> bool:
    """Whether ``code`` is a code of ISO 639-1 or 639-3 in the form that the Hub lists."""
    has_form = re.fullmatch(r"[a-z]{2,3}", code) and not _PRIVATE_USE.fullmatch(code)
    return bool(has_form) and langcodes.Language.get(code).is_valid() and langcodes.standardize_tag(code) == code


def languages(configs: Mapping[str, ConfigEntry]) -> list[str]:
    """The languages of the configs, by the codes that the Hub has for them."""
    return sorted({language_code(entry.lang) for entry in configs.values()})


def n_rows(entry: ConfigEntry) -> int:
    """Rows of a config in all splits."""
    return sum(sum(labels.values()) for labels in entry.counts.values())


def default_config(configs: Mapping[str, ConfigEntry]) -> str:
    """The config that is loaded without a name: English if there is an English one, and `dc` if there is one.

    Else the first in alphabetical order; empty if there are no configs.
    """
    lang, task = DEFAULT
    return min(configs, key=lambda name: (configs[name].lang != lang, configs[name].task != task, name), default="")


def data(manifest: Manifest, title: str = PRETTY_NAME) -> dict[str, object]:
    """The metadata as values; ``title`` is the name of the data set."""
    configs, default = manifest.configs, default_config(manifest.configs)
    entries = configs.values()
    codes = languages(configs)
    few = len(configs) <= MOST_IN_CARD

    ids_of = {source.licence: hub_licences(source.licence) for source in manifest.sources.values()}
    ids = sorted({part for parts in ids_of.values() for part in parts})
    licence: dict[str, object] = {"license": ids[0] if len(ids) == 1 else ids}
    if OTHER in ids:  # the licence's own name if it is a single one, else where to look
        others = [name for name, parts in ids_of.items() if OTHER in parts]
        name = re.sub(r"[^a-z0-9.]+", "-", others[0].lower()).strip("-") if len(others) == 1 else "see-attribution"
        licence |= {"license_name": name, "license_link": "ATTRIBUTION.md"}

    # A file that is only named like a treebank is the builder's own: it has no repository.
    datasets = {
        "original" if not source.repo
        else "extended|universal_dependencies" if name.startswith("UD_")
        else "extended"
        for name, source in manifest.sources.items()
    }  # fmt: skip
    shapes = {entry.shape for entry in entries}
    categories = {"text-classification": shapes - {Shape.CHOICE}, "multiple-choice": Shape.CHOICE in shapes}
    # The Hub's finer names of tasks: an original against an edited sentence is a judgement of acceptability.
    task_ids = {
        "acceptability-classification": Shape.SUITE in shapes or any(entry.task in _ACCEPTABILITY for entry in entries),
        "multi-class-classification": any(
            entry.shape not in {Shape.CHOICE, Shape.SUITE} and len(next(iter(entry.counts.values()), {})) > 2  # noqa: PLR2004
            for entry in entries
        ),
        "multiple-choice-qa": Shape.CHOICE in shapes,
    }
    engines = {source.annotation.get("made_by", {}).get("engine") for source in manifest.sources.values()}
    by_hand = None in engines or not engines
    tiny = sorted(name for name, entry in configs.items() if entry.tiny) if few else []
    small = sorted(name for name, entry in configs.items() if entry.small) if few else []
    tokenised = [
        name for name, entry in sorted(configs.items()) if any(note.endswith(TOKENISED) for note in entry.notes)
    ]
    silver = [name for name, entry in sorted(configs.items()) if entry.silver]
    of_models = [name for name, entry in sorted(configs.items()) if entry.silver_test]
    infos = []
    for name, entry in sorted(configs.items()) if few else ():
        n_bytes = {split: entry.files.get(split_file(split), File()).bytes or 0 for split in entry.counts}
        splits = _Inline(
            {"name": split, "num_bytes": n_bytes[split], "num_examples": sum(labels.values())}
            for split, labels in entry.counts.items()
        )
        infos.append({"config_name": name, "splits": splits})
    return {
        "pretty_name": title,
        "language": codes,
        **licence,
        "multilinguality": ["monolingual" if len(codes) == 1 else "multilingual"],
        "size_categories": [size_category(sum(map(n_rows, entries)))],
        "source_datasets": sorted(datasets),
        "annotations_creators": [*(["expert-generated"] if by_hand else []), "machine-generated"],
        "language_creators": ["found"],
        "task_categories": [name for name, applies in categories.items() if applies],
        "task_ids": [name for name, applies in task_ids.items() if applies],
        "tags": [tag for tag in TAGS if tag != _ANNOTATED or engines != {"rules"}],
        **({"tiny_configs": tiny} if tiny else {}),
        **({"small_configs": small} if small else {}),
        **({"tokenised_configs": tokenised} if tokenised and few else {}),
        **({"silver_configs": silver} if silver and few else {}),
        **({"silver_test_configs": of_models} if of_models and few else {}),
        "configs": [entry for entry in _config_list(configs) if few or entry["config_name"] == default],
        **({"dataset_info": infos} if few else {}),
    }


def _config_list(configs: Mapping[str, ConfigEntry], *, short: bool = False) -> list[dict[str, object]]:
    """The entry of each config; the default one has a hash of the rows of all configs.

    `datasets` caches a local folder under a hash of this YAML, without a look at the files. So the YAML must change
    when rows change; else `load_dataset` returns the rows of an earlier build. One config's entry is enough.

    ``short`` names the folder of a config and refers to the list of files of an earlier one: a third of the time that
    PyYAML needs. The first config has whole paths, by which `datasets` finds out what kind of files there are.
    """
    default = default_config(configs)
    content = hash_of_json({name: entry.content for name, entry in sorted(configs.items())})[:16]
    listed: list[dict[str, object]] = []
    in_folder: dict[tuple[str, ...], _Inline] = {}
    for name, entry in sorted(configs.items()):
        listed.append({"config_name": name})
        if name == default:
            listed[-1] |= {"default": True, "description": content}
        splits = tuple(entry.counts)
        if not short or len(listed) == 1:
            files = _Inline({"split": split, "path": f"{name}/{split}-*"} for split in splits)
        else:
            listed[-1]["data_dir"] = name
            of_splits = _Inline({"split": split, "path": f"{split}-*"} for split in splits)
            files = in_folder.setdefault(splits, of_splits)
        listed[-1]["data_files"] = files
    return listed


class _Inline(list[dict[str, object]]):
    """A list that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes plain values, and an inline list as one."""


_Dumper.add_representer(
    _Inline, lambda dumper, value: dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)
)


def front_matter(manifest: Manifest, title: str = PRETTY_NAME) -> str:
    """The YAML block with its two lines of dashes."""
    return f"---\n{_dump(data(manifest, title))}---\n"


def standalone(manifest: Manifest) -> str:
    """The text of ``.huggingface.yaml``: all configs of a release that has more than the card lists; else empty."""
    configs = manifest.configs
    return _dump({"configs": _config_list(configs, short=True)}) if len(configs) > MOST_IN_CARD else ""


def _dump(values: Mapping[str, object]) -> str:
    return yaml.dump(
        dict(values), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**20, default_flow_style=None
    )
