"""Cards: what a reader of the Hub sees of a release and of each config."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import yaml

from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.cards import escape
from discoprobe.loaders import licences

if TYPE_CHECKING:
    from jinja2 import Environment, Template

    from discoprobe.builders.config import Config
    from discoprobe.cards.manifest import ConfigEntry, Manifest

EXAMPLES = 5
OTHER = "other"
HUB_LICENCES = frozenset(
    {
        "apache-2.0", "mit", "gpl-2.0", "gpl-3.0", "lgpl-2.1", "lgpl-3.0", "lgpl-lr", "cc0-1.0", "cc-by-2.0", "cc-by-2.5",
        "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0",
        "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nd-4.0",
    }
)  # fmt: skip
"""The part of the Hub's closed list of licence identifiers that corpora use (https://hf.co/docs/hub/repositories-licenses)."""
_FAMILY_TAGS = ("probing", "discourse", "coherence", "linguistic-probing")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 (only to write cards)

    made = Environment(
        loader=PackageLoader("discoprobe.cards"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=False, keep_trailing_newline=True,  # noqa: S701 (Markdown: the filter `md` escapes corpus text)
    )  # fmt: skip
    made.filters["md"] = escape.markdown
    return made


def _template(name: str) -> Template:
    return _environment().get_template(name)


def release_card(manifest: Manifest) -> str:
    """README.md of a release: YAML that `datasets` reads, then what is in it."""
    configs = manifest["configs"]
    languages = sorted({entry["lang"] for entry in configs.values()})
    tasks = sorted({entry["task"] for entry in configs.values()})
    body = _template("release.md.jinja").render(
        manifest=manifest,
        languages=languages,
        tasks=[(task, _summary(configs, task)) for task in tasks],
        rows={name: {split: sum(labels.values()) for split, labels in entry["counts"].items()} for name, entry in configs.items()},
        default=_default(configs),
        splits=SPLITS,
    )
    return f"---\n{_yaml(manifest, languages)}---\n{body}"


def _summary(configs: dict[str, ConfigEntry], task: str) -> str:
    return next(entry["summary"] for entry in configs.values() if entry["task"] == task)


def _default(configs: dict[str, ConfigEntry]) -> str:
    """The one default config: the first coherence config, else the first of all."""
    return min(configs, key=lambda name: (configs[name]["task"] != "dc", name), default="")


def _yaml(manifest: Manifest, languages: list[str]) -> str:
    configs, default = manifest["configs"], _default(manifest["configs"])
    total = sum(n for entry in configs.values() for labels in entry["counts"].values() for n in labels.values())
    names = sorted({name for source in manifest["sources"].values() for name in _hub_licences(source["licence"])})
    data: dict[str, object] = {
        "pretty_name": "discoprobe",
        "language": languages,
        "license": names[0] if len(names) == 1 else names,
        **({"license_name": "see-attribution", "license_link": "ATTRIBUTION.md"} if OTHER in names else {}),
        "multilinguality": ["monolingual" if len(languages) == 1 else "multilingual"],
        "size_categories": [next((name for most, name in _SIZES if total < most), "n>1T")],
        "annotations_creators": ["expert-generated", "machine-generated"],
        "task_categories": ["text-classification", "multiple-choice"],
        "tags": list(_FAMILY_TAGS),
        "configs": [_config_yaml(name, name == default) for name in sorted(configs)],
    }
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1000))


def _hub_licences(licence: str) -> list[str]:
    """The identifiers that the Hub knows for a licence; ``other`` for what is not in its list."""
    names = [name.lower() for name in licences.normalise(licence).split(" AND ")]
    return [name if name in HUB_LICENCES else OTHER for name in names]


def _config_yaml(name: str, default: bool) -> dict[str, object]:  # noqa: FBT001 (one field of the YAML)
    files = [{"split": split, "path": f"{name}/{split}-*.parquet"} for split in SPLITS]
    return {"config_name": name} | ({"default": True} if default else {}) | {"data_files": files}


def attribution(manifest: Manifest) -> str:
    """ATTRIBUTION.md: each source with its licence, commit and citation."""
    return _template("attribution.md.jinja").render(sources=manifest["sources"])


def config_card(config: Config) -> str:
    """README.md of one config."""
    title, _, definition = config.definition.partition("\n")
    licence = licences.strictest([source.licence for source in config.sources])
    return _template("config.md.jinja").render(
        config=config, title=title, definition=definition.strip(), splits=SPLITS, counts=config.counts(), licence=licence,
        examples=[_example(config, row) for row in config.splits["test"].slice(0, EXAMPLES).to_pylist()],
        shape=str(config.shape), drops=sorted(config.drops.items(), key=lambda item: -item[1]),
    )  # fmt: skip


def _example(config: Config, row: dict[str, object]) -> dict[str, object]:
    """What the template shows of a row: its label and its lines, each with a mark (``**`` for the edited one)."""
    label = row["label"]
    name = config.labels[label] if isinstance(label, int) else ""
    return {"id": row["id"], "label": name, "lines": _LINES[config.shape](row)}


def _numbered(texts: object, marked: object = -1) -> list[tuple[str, str, bool]]:
    assert isinstance(texts, list)
    return [(str(number), text, number == marked) for number, text in enumerate(texts)]


def _sentence_lines(row: dict[str, object]) -> list[tuple[str, str, bool]]:
    lines = [("text", str(row["text"]), False)]
    if row["original"] is not None:
        lines.append(("original", str(row["original"]), False))
    if isinstance(target := row["target"], dict):
        lines.append(("target", str(target["form"]), False))
    return lines


_LINES = {
    Shape.SENTENCE: _sentence_lines,
    Shape.SEQUENCE: lambda row: _numbered(row["sentences"], row["position"]),
    Shape.PAIR: lambda row: [("1", row["sentence1"], False), ("2", row["sentence2"], False)],
    Shape.CANDIDATE: lambda row: [*_numbered(row["sentences"]), ("candidate", row["candidate"], True)],
    Shape.CHOICE: lambda row: [*_numbered(row["context"]), *[
        (f"choice {number}", text, number == row["label"]) for number, text, _ in [
            (int(n), t, m) for n, t, m in _numbered(row["choices"])]]],
}  # fmt: skip
