"""Croissant metadata (https://docs.mlcommons.org/croissant): every config as a record set over its parquet files.

The Hub writes such metadata by itself for at most a hundred configs. A larger release has the record sets in a file per
language, ``croissant/es.json``, which changes only with the configs of that language; ``croissant.json`` names these
files. Sizes and hashes of files are in the manifest.
"""

import functools
import importlib.resources
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from discoprobe.builders.config import Shape, schema
from discoprobe.cards.metadata import yaml_header
from discoprobe.cards.metadata.manifest import MOST_IN_CARD, ConfigEntry, Manifest
from discoprobe.loaders.catalogue import licences

NAME = "croissant.json"
FOLDER = "croissant"
"""The folder of the files of a language."""
REPOSITORY = "repository"
"""The id of the repository among the files that are described."""
_LABELS = 40
"""Labels whose meaning is given."""
_GIT = "https://github.com/mlcommons/croissant/issues/80"
"""What the specification's examples give in place of the hash of a whole repository."""
_PARQUET = "application/x-parquet"
_TYPES = {
    pa.string(): "sc:Text",
    pa.int64(): "cr:Int64",
    pa.int32(): "cr:Int32",
    pa.float32(): "cr:Float32",
    pa.float64(): "cr:Float64",
}


def croissant(manifest: Manifest, *, repository: str, release: str = "", day: str = "") -> dict[str, str]:
    """The Croissant files of a release, by path.

    A config is a record set over its three files, with the split as a field. Addresses are relative to the repository,
    which a reader in a downloaded folder maps to it (``Dataset(…, mapping={"repository": folder})``).

    Args:
        manifest: what the release holds.
        repository: the Hub repository.
        release: its number, ``1.2.0``; empty for a build that is not released.
        day: the date of the release, ISO 8601; empty if it has none.
    """
    configs = manifest["configs"]
    dated = ({"version": release} if release else {}) | ({"datePublished": day} if day else {})
    if len(configs) <= MOST_IN_CARD:
        return {NAME: _json(_described(manifest, configs, repository) | dated | _records(configs, repository))}
    languages = sorted({entry["lang"] for entry in configs.values()})
    parts = {f"{FOLDER}/{lang}.json": _language(manifest, lang, repository) for lang in languages}
    named = [{"@type": "sc:Dataset", "url": f"{_address(repository)}/resolve/main/{path}"} for path in parts]
    return {NAME: _json(_described(manifest, configs, repository) | dated | {"hasPart": named})} | parts


def _language(manifest: Manifest, lang: str, repository: str) -> str:
    """The file of a language; it names no release, so that it stays as it is while the language does."""
    configs = {name: entry for name, entry in manifest["configs"].items() if entry["lang"] == lang}
    return _json(_described(manifest, configs, repository) | _records(configs, repository))


def _described(manifest: Manifest, configs: Mapping[str, ConfigEntry], repository: str) -> dict[str, Any]:
    """The metadata of the dataset as a whole."""
    used = {source for entry in configs.values() for source in entry["sources"]}
    return {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "discoprobe",
        "description": "Probing and discourse datasets from annotated corpora: balanced, split without leaks, audited.",
        "url": _address(repository),
        "license": sorted({_licence(one["licence"]) for name, one in manifest["sources"].items() if name in used}),
        "inLanguage": yaml_header.languages(configs),
        "keywords": list(yaml_header.TAGS),
        "citeAs": f"discoprobe, {_address(repository)}",
        "rai:dataLimitations": "Labels come from treebank annotation; genres and sizes differ between languages.",
        "rai:dataCollection": "Rows are selected from annotated corpora by rule; manifest.json has sources and more.",
    }


@functools.cache
def _context() -> dict[str, Any]:
    """The JSON-LD ``@context`` of the Croissant specification."""
    file = importlib.resources.files("discoprobe.cards.metadata") / "croissant_context.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _address(repository: str) -> str:
    return f"https://huggingface.co/datasets/{repository}"


def _records(configs: Mapping[str, ConfigEntry], repository: str) -> dict[str, Any]:
    """Files and record sets of some configs."""
    repository_file = {
        "@type": "cr:FileObject", "@id": REPOSITORY, "name": REPOSITORY, "encodingFormat": "git+https",
        "contentUrl": _address(repository), "sha256": _GIT,
    }  # fmt: skip
    files = [
        {
            "@type": "cr:FileSet", "@id": name, "containedIn": {"@id": REPOSITORY}, "encodingFormat": _PARQUET,
            "includes": f"{name}/*.parquet",
        }
        for name in sorted(configs)
    ]  # fmt: skip
    return {
        "distribution": [repository_file, *files],
        "recordSet": [_record_set(name, entry) for name, entry in sorted(configs.items())],
    }


def _json(described: dict[str, Any]) -> str:
    """JSON with one line per file and record set: a third of the bytes of indented JSON, and diffs stay readable."""
    lines = []
    for key, value in described.items():
        many = isinstance(value, list) and value and isinstance(value[0], dict)
        shown = "[\n" + ",\n".join(map(_compact, value)) + "\n]" if many else _compact(value)
        lines.append(f"{_compact(key)}:{shown}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _licence(name: str) -> str:
    """A link to the licence where SPDX has a page on it, else its name."""
    spdx = licences.normalise(name)
    listed = " " not in spdx and spdx != licences.UNKNOWN and not spdx.startswith("LicenseRef-")
    return f"https://spdx.org/licenses/{spdx}" if listed else name


def _record_set(name: str, entry: ConfigEntry) -> dict[str, Any]:
    """A config: its columns and the split, which the name of the file says."""
    of = f"{name}/rows"
    split = {
        "@type": "cr:Field", "@id": f"{of}/split", "name": "split", "dataType": "sc:Text",
        "source": {
            "fileSet": {"@id": name}, "extract": {"fileProperty": "filename"}, "transform": {"regex": r"^([a-z]+)-.*$"}
        },
    }  # fmt: skip
    return {
        "@type": "cr:RecordSet",
        "@id": of,
        "name": name,
        "description": entry["summary"],
        "key": {"@id": f"{of}/id"},
        "field": [split, *(_labelled(_field(of, column, name), entry) for column in schema(Shape(entry["shape"])))],
    }


def _labelled(field: dict[str, Any], entry: ConfigEntry) -> dict[str, Any]:
    """A field; the label's says what its numbers mean."""
    if field["name"] != "label":
        return field
    labels = entry["labels"]
    more = f" … {len(labels)} in all" if len(labels) > _LABELS else ""
    meanings = ", ".join(f"{number} {label}" for number, label in enumerate(labels[:_LABELS]))
    return field | {"description": meanings + more}


def _field(of: str, column: pa.Field, files: str) -> dict[str, Any]:
    """A column; a struct has its members as sub-fields."""
    source = {"fileSet": {"@id": files}, "extract": {"column": column.name}}
    described: dict[str, Any] = {"@type": "cr:Field", "@id": f"{of}/{column.name}", "name": column.name}
    if pa.types.is_struct(column.type):
        members = [
            {
                "@type": "cr:Field", "@id": f"{of}/{column.name}/{member.name}", "name": member.name,
                "dataType": _TYPES[member.type], "source": source | {"transform": {"jsonPath": f"$.{member.name}"}},
            }
            for member in column.type
        ]  # fmt: skip
        return described | {"source": source, "subField": members}
    many = pa.types.is_list(column.type)
    kind = _TYPES[column.type.value_type if many else column.type]
    return described | {"dataType": kind} | ({"repeated": True} if many else {}) | {"source": source}
