"""Manifests combined: an older release with what was built anew, a published release with a local one."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import cast

from discoprobe.builders.config import Unavailable
from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest, Published, SourceEntry, empty, versions
from discoprobe.cards.metadata.manifest_entries import source_entry
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.errors import DiscoprobeError


def renewed(
    old: Manifest,
    entries: dict[str, ConfigEntry],
    missing: list[Unavailable],
    corpora: list[Corpus],
    inputs: dict[str, str],
) -> Manifest:
    """The old manifest with the new results in place of those of the same names, and without files.

    Args:
        old: the manifest of the release so far.
        entries: the configs that were built.
        missing: the configs that could not be built.
        corpora: the corpora that were read.
        inputs: hash of everything that each of these results depends on (`staleness.digest`).
    """
    fresh = empty()
    gone = {*entries, *(one.name for one in missing)}
    configs = {name: entry for name, entry in old["configs"].items() if name not in gone} | entries
    sources = dict(old["sources"])
    for corpus in corpora:
        sources |= {source.name: source_entry(source) for source in corpus.sources}
    used = {name for entry in configs.values() for name in entry["sources"]}
    unavailable = {name: reason for name, reason in old["unavailable"].items() if name not in gone}
    fresh["configs"] = configs
    fresh["sources"] = {name: entry for name, entry in sources.items() if name in used}
    renewed_languages = {corpus.lang for corpus in corpora}
    skipped = {lang: drops for lang, drops in old["skipped"].items() if lang not in renewed_languages}
    dropped: dict[str, Counter[str]] = {corpus.lang: Counter() for corpus in corpora if corpus.drops}
    for corpus in corpora:
        dropped.get(corpus.lang, Counter()).update(corpus.drops)
    fresh["skipped"] = skipped | {lang: dict(drops) for lang, drops in dropped.items()}
    fresh["unavailable"] = unavailable | {one.name: one.reason for one in missing}
    _keep_drops(fresh, old.get("unavailable_drops", {}) | {one.name: dict(one.drops) for one in missing})
    if beside := _beside(old, corpora, used):
        fresh["beside"] = beside
    if known := {name: digest for name, digest in old.get("inputs", {}).items() if name not in gone} | inputs:
        fresh["inputs"] = known
    return fresh


def _keep_drops(manifest: Manifest, drops: Mapping[str, dict[str, int]]) -> None:
    """Adds the drops of the configs that are not available."""
    present = {name: of_config for name, of_config in drops.items() if of_config and name in manifest["unavailable"]}
    if present:
        manifest["unavailable_drops"] = present


def _beside(old: Manifest, corpora: list[Corpus], used: Collection[str]) -> dict[str, dict[str, SourceEntry]]:
    read: dict[str, dict[str, SourceEntry]] = {}
    for corpus in corpora:
        read.setdefault(corpus.lang, {}).update({source.name: source_entry(source) for source in corpus.sources})
    langs = old.get("beside", {}) | read
    found = {lang: {name: one for name, one in own.items() if name not in used} for lang, own in langs.items()}
    return {lang: own for lang, own in sorted(found.items()) if own}


def only(local: Manifest, languages: Collection[str]) -> Manifest:
    """The manifest without other languages; the same if none is named."""
    if not languages:
        return local
    configs = {name: entry for name, entry in local["configs"].items() if entry["lang"] in languages}
    used = {name for entry in configs.values() for name in entry["sources"]}
    return {
        **local,
        "configs": configs,
        "sources": {name: entry for name, entry in local["sources"].items() if name in used},
        "skipped": {lang: drops for lang, drops in local["skipped"].items() if lang in languages},
        "unavailable": {
            name: reason for name, reason in local["unavailable"].items() if name.rpartition("_")[2] in languages
        },
        "beside": {lang: own for lang, own in local.get("beside", {}).items() if lang in languages},
    }


def merged(remote: Published | None, local: Manifest) -> Published:
    """The manifest of both, without the list of the files about all configs.

    Raises:
        DiscoprobeError: if a config that stays was built from another state of a corpus than the local ones.
    """
    manifest = cast("Published", local | {"files": {}})
    if remote is None:
        return manifest
    replaced = local["configs"].keys() | local["unavailable"].keys()
    kept_configs = {name: entry for name, entry in remote["configs"].items() if name not in replaced}
    manifest["configs"] = kept_configs | local["configs"]
    manifest["sources"] = _sources(remote, local, kept_configs.keys())
    manifest["skipped"] = remote["skipped"] | local["skipped"]
    if beside := remote.get("beside", {}) | local.get("beside", {}):
        manifest["beside"] = beside
    manifest["unavailable"] = {
        name: reason
        for name, reason in (remote["unavailable"] | local["unavailable"]).items()
        if name not in manifest["configs"]
    }
    _keep_drops(manifest, remote.get("unavailable_drops", {}) | local.get("unavailable_drops", {}))
    if others := _built_with(remote, manifest, kept_configs.keys()):
        manifest["built_with"] = others
    return manifest


def _sources(remote: Published, local: Manifest, kept: Collection[str]) -> dict[str, SourceEntry]:
    for config in sorted(kept):
        for name in remote["configs"][config]["sources"]:
            if name in local["sources"] and remote["sources"][name] != local["sources"][name]:
                raise DiscoprobeError(
                    f"{config} on the Hub was built from another version of {name} than the configs to be pushed;"
                    f" build {config} too, so that the release has one version of each corpus"
                )
    used = {name for config in kept for name in remote["configs"][config]["sources"]}
    return {name: remote["sources"][name] for name in sorted(used)} | local["sources"]


def _built_with(remote: Published, whole: Published, kept: Collection[str]) -> dict[str, dict[str, str]]:
    earlier = remote.get("built_with", {})
    built_with = {name: earlier.get(name, versions(remote)) for name in sorted(kept)}
    return {name: used for name, used in built_with.items() if used != versions(whole)}
