"""Croissant metadata (https://docs.mlcommons.org/croissant): every config as a record set over its parquet files.

The Hub writes such metadata by itself for at most a hundred configs. A larger release has the record sets in a file per
language, ``croissant/es.json``, which changes only with the configs of that language; ``croissant.json`` names these
files. Sizes and hashes of files are in the manifest.

What a dataset is for, and what it cannot show (RAI), are the sentences of `facts`, for a language those of its configs.
"""

import functools
import importlib.resources
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from discoprobe.builders.config import Shape, schema
from discoprobe.cards.metadata import facts, yaml_header
from discoprobe.cards.metadata.manifest import MOST_IN_CARD, ConfigEntry, Manifest, SourceEntry, only
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
    configs = manifest.configs
    address = f"https://huggingface.co/datasets/{repository}"
    dated = ({"version": release} if release else {}) | ({"datePublished": day} if day else {})
    if len(configs) <= MOST_IN_CARD:
        return {NAME: _dump_lines(_describe(manifest, repository) | dated | _records(configs, address))}
    parts = {}
    for lang in sorted({entry.lang for entry in configs.values()}):
        # the file of a language names no release, so that it stays as it is while the language does
        of_lang = {name: entry for name, entry in configs.items() if entry.lang == lang}
        described = _describe(only(manifest, {lang}), repository) | _records(of_lang, address)
        parts[f"{FOLDER}/{lang}.json"] = _dump_lines(described)
    links = [{"@type": "sc:Dataset", "url": f"{address}/resolve/main/{path}"} for path in parts]
    return {NAME: _dump_lines(_describe(manifest, repository) | dated | {"hasPart": links})} | parts


def _describe(manifest: Manifest, repository: str) -> dict[str, Any]:
    """The metadata of all configs of a manifest as a whole; it names no release, so that it changes with them only."""
    context = importlib.resources.files("discoprobe.cards.metadata") / "croissant_context.json"
    configs = manifest.configs
    used = {source for entry in configs.values() for source in entry.sources}
    sources = {name: source for name, source in sorted(manifest.sources.items()) if name in used}
    links = set()
    for licence in {source.licence for source in sources.values()}:
        spdx = licences.normalise(licence)
        has_page = " " not in spdx and spdx != licences.UNKNOWN and not spdx.startswith("LicenseRef-")
        links.add(f"https://spdx.org/licenses/{spdx}" if has_page else licence)
    name, address = repository.rpartition("/")[2], f"https://huggingface.co/datasets/{repository}"
    return {
        "@context": json.loads(context.read_text(encoding="utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": name,
        "description": facts.SHORT,
        "url": address,
        "creator": {"@type": "sc:Organization", "name": facts.author(repository), "url": address.rpartition("/")[0]},
        "license": sorted(links),
        "inLanguage": yaml_header.languages(configs),
        "keywords": list(yaml_header.TAGS),
        "citeAs": f"{facts.author(repository)}. {facts.title(repository)}. {address}",
        **_responsible(manifest, sources),
    }


def _responsible(manifest: Manifest, sources: Mapping[str, SourceEntry]) -> dict[str, Any]:
    """What responsible use needs to know (Croissant RAI), and where the data come from (PROV)."""
    said, configs = facts.facts_of(manifest), manifest.configs.values()
    software = [source.annotation.get("made_by", {}).get("software", {}) for source in sources.values()]
    edited = any(entry.silver or (entry.audit and entry.audit.edited) for entry in configs)
    values: dict[str, Any] = {
        "rai:dataLimitations": said.limitations,
        "rai:dataBiases": said.biases,
        "rai:dataUseCases": [*said.intended, *(f"not {misuse}" for misuse in said.misuses)],
        "rai:dataSocialImpact": said.contamination,
        "rai:personalSensitiveInformation": [facts.SENSITIVE],
        "rai:dataCollection": " ".join(said.collection),
        "rai:dataCollectionType": ["Secondary data analysis"],
        "rai:dataCollectionRawData": "; ".join(
            f"{name} ({licences.normalise(source.licence)})" for name, source in sources.items()
        ),
        "rai:dataAnnotationProtocol": " ".join(said.annotation),
        "rai:machineAnnotationTools": sorted({f"{tool} {used}" for tools in software for tool, used in tools.items()}),
        "rai:hasSyntheticData": edited,
        "prov:wasDerivedFrom": [
            f"https://github.com/{source.repo}/tree/{source.commit}" for source in sources.values() if source.commit
        ],
        "prov:wasGeneratedBy": f"discoprobe {manifest.discoprobe}",
    }
    return {name: value for name, value in values.items() if value not in ([], "", ())}


def _records(configs: Mapping[str, ConfigEntry], address: str) -> dict[str, Any]:
    """Files and record sets of some configs; the split of a row is what the name of its file says."""
    repository_file = {
        "@type": "cr:FileObject", "@id": REPOSITORY, "name": REPOSITORY, "encodingFormat": "git+https",
        "contentUrl": address, "sha256": _GIT,
    }  # fmt: skip
    files, record_sets = [], []
    for name, entry in sorted(configs.items()):
        files.append({
            "@type": "cr:FileSet", "@id": name, "containedIn": {"@id": REPOSITORY}, "encodingFormat": _PARQUET,
            "includes": f"{name}/*.parquet",
        })  # fmt: skip
        split = {
            "@type": "cr:Field", "@id": f"{name}/rows/split", "name": "split", "dataType": "sc:Text",
            "source": {
                "fileSet": {"@id": name}, "extract": {"fileProperty": "filename"},
                "transform": {"regex": r"^([a-z]+)-.*$"},
            },
        }  # fmt: skip
        columns = schema(Shape(entry.shape), silver=bool(entry.silver))
        record_sets.append({
            "@type": "cr:RecordSet",
            "@id": f"{name}/rows",
            "name": name,
            "description": entry.summary,
            "key": {"@id": f"{name}/rows/id"},
            "field": [split, *(_field(name, column, entry.labels) for column in columns)],
        })  # fmt: skip
    return {"distribution": [repository_file, *files], "recordSet": record_sets}


def _field(config: str, column: pa.Field, labels: Sequence[str]) -> dict[str, Any]:
    """A column; a struct, or a list of them, has its members as sub-fields; the label says what its numbers mean."""
    place = f"{config}/rows/{column.name}"
    source = {"fileSet": {"@id": config}, "extract": {"column": column.name}}
    field: dict[str, Any] = {"@type": "cr:Field", "@id": place, "name": column.name}
    is_list = pa.types.is_list(column.type)
    kind = column.type.value_type if is_list else column.type
    if is_list:
        field["repeated"] = True
    if pa.types.is_struct(kind):
        members = [
            {
                "@type": "cr:Field", "@id": f"{place}/{member.name}", "name": member.name,
                "dataType": _TYPES[member.type], "source": source | {"transform": {"jsonPath": f"$.{member.name}"}},
            }
            for member in kind
        ]  # fmt: skip
        return field | {"source": source, "subField": members}
    field["dataType"] = _TYPES[kind]
    field["source"] = source
    if column.name == "label":
        meanings = ", ".join(f"{number} {label}" for number, label in enumerate(labels[:_LABELS]))
        field["description"] = meanings + (f" … {len(labels)} in all" if len(labels) > _LABELS else "")
    return field


def _dump_lines(description: dict[str, Any]) -> str:
    """JSON with one line per file and record set: a third of the bytes of indented JSON, and diffs stay readable."""
    compact = functools.partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    lines = []
    for key, value in description.items():
        is_long = isinstance(value, list) and value and isinstance(value[0], dict)
        text = "[\n" + ",\n".join(map(compact, value)) + "\n]" if is_long else compact(value)
        lines.append(f"{compact(key)}:{text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
