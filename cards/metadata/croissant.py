"""Croissant metadata (https://docs.mlcommons.org/croissant): every config as a record set, every file with its hash.

The Hub writes such metadata by itself for at most a hundred configs; this file has all.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discoprobe.builders.config import Shape, schema
from discoprobe.cards.metadata import yaml_header
from discoprobe.loaders.catalogue import licences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest

NAME = "croissant.json"
_CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "containedIn": "cr:containedIn", "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/", "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty", "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract", "field": "cr:field", "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
"""The context that the specification prescribes."""
_PARQUET = "application/x-parquet"
_TYPES = {
    pa.string(): "sc:Text",
    pa.int64(): "cr:Int64",
    pa.int32(): "cr:Int32",
    pa.float32(): "cr:Float32",
    pa.float64(): "cr:Float64",
}


def croissant(manifest: Manifest, *, repository: str, release: str = "") -> str:
    """croissant.json of a release.

    Every split of a config is a record set ``{config}/{split}`` over one file; file addresses are relative to the
    repository, so that the file describes a downloaded folder as well.
    """
    configs = manifest["configs"]
    described: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "discoprobe",
        "description": "Probing and discourse datasets from annotated corpora: balanced, split without leaks, audited.",
        "url": f"https://huggingface.co/datasets/{repository}",
        "license": sorted({_licence(source["licence"]) for source in manifest["sources"].values()}),
        "inLanguage": yaml_header.languages(configs),
        "keywords": list(yaml_header.TAGS),
        "citeAs": f"discoprobe{' ' + release if release else ''}, https://huggingface.co/datasets/{repository}",
        **({"version": release} if release else {}),
        "rai:dataLimitations": "Labels come from treebank annotation; genres and sizes differ between languages.",
        "rai:dataCollection": "Rows are selected from annotated corpora by rule; manifest.json has sources and more.",
        "distribution": [file for name, entry in sorted(configs.items()) for file in _files(name, entry)],
        "recordSet": [records for name, entry in sorted(configs.items()) for records in _record_sets(name, entry)],
    }
    return _json(described)


def _json(described: dict[str, Any]) -> str:
    """JSON with one line per file and per record set: a third of the bytes of an indented one, and diffs still read."""
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


def _splits(entry: ConfigEntry) -> Iterator[tuple[str, str]]:
    """The splits of a config, each with its file inside the config's folder."""
    for split in entry["counts"]:
        files = [file for file in entry["files"] if file.startswith(f"{split}-") and file.endswith(".parquet")]
        yield from ((split, file) for file in files)


def _files(name: str, entry: ConfigEntry) -> Iterator[dict[str, Any]]:
    for split, file in _splits(entry):
        yield {
            "@type": "cr:FileObject",
            "@id": _file_id(name, split),
            "name": f"{split}-of-{name}",
            "contentUrl": f"{name}/{file}",
            "contentSize": f"{entry['files'][file]['bytes']} B",
            "encodingFormat": _PARQUET,
            "sha256": entry["files"][file]["sha256"],
        }


def _file_id(name: str, split: str) -> str:
    return f"{name}-{split}.parquet"


def _record_sets(name: str, entry: ConfigEntry) -> Iterator[dict[str, Any]]:
    for split, _ in _splits(entry):
        of = f"{name}/{split}"
        fields = [_field(of, column, _file_id(name, split)) for column in schema(Shape(entry["shape"]))]
        rows = sum(entry["counts"][split].values())
        yield {
            "@type": "cr:RecordSet",
            "@id": of,
            "name": of,
            "description": f"{entry['summary']} {rows} rows; labels: {', '.join(entry['labels'][:20])}",
            "key": {"@id": f"{of}/id"},
            "field": fields,
        }


def _field(of: str, column: pa.Field, file: str) -> dict[str, Any]:
    """A column; a struct has its members as sub-fields."""
    source = {"fileObject": {"@id": file}, "extract": {"column": column.name}}
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
