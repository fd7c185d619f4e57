"""What the Hub is to hold after a push: the local configs laid over the published ones.

A local config takes the place of the published one of its name, one that was tried and is not there any more takes it
away, and all others stay byte for byte. What speaks of all configs (card, attribution, manifest, changelog) is written
anew from the manifest of both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, cast

from discoprobe.cards import foreign, hub, manifest, plots, validate, version
from discoprobe.cards.release import README, documents
from discoprobe.loaders.errors import DiscoprobeError, RemoteError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from discoprobe.cards.hub import Content, RemoteFile
    from discoprobe.cards.manifest import FileEntry, Manifest

CHANGELOG = "CHANGELOG.md"
_PLOTS = f"{plots.FOLDER}/"


class Published(manifest.Manifest, total=False):
    """A manifest as it is published.

    ``version`` is the release. ``built_with`` has the versions of discoprobe and libraries of those configs that were
    built with others than the manifest's: they were published earlier and left as they were.
    """

    version: str
    built_with: dict[str, dict[str, str]]


@dataclass(frozen=True)
class Remote:
    """What a repository holds at its head.

    Attributes:
        head: commit of main; None for a repository that is not there.
        tree: its files.
        manifest: its manifest; None if nothing has been published.
        changelog: its changelog.
        tags: tags and their commits.
        replaceable: files that a release may replace though none put them there.
    """

    head: str | None = None
    tree: Mapping[str, RemoteFile] = field(default_factory=dict)
    manifest: Published | None = None
    changelog: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    replaceable: frozenset[str] = frozenset()

    def is_whole(self) -> bool:
        """Whether the head has the files that its manifest lists, as far as that shows without downloading them."""
        return self.manifest is not None and not unlike(self.tree, listed(self.manifest))


def listed(found: Manifest) -> dict[str, FileEntry]:
    """Every file that a manifest lists, by path."""
    configs = {
        f"{name}/{path}": entry for name, one in found["configs"].items() for path, entry in one["files"].items()
    }
    return configs | found["files"]


def unlike(tree: Mapping[str, RemoteFile], files: Mapping[str, FileEntry]) -> list[str]:
    """Listed files that a tree lacks or has with another size or, where the tree says it, another hash."""
    return sorted(
        path
        for path, entry in files.items()
        if path not in tree
        or tree[path].size != entry["bytes"]
        or (tree[path].sha256 or entry["sha256"]) != entry["sha256"]
    )


@dataclass(frozen=True)
class Wanted:
    """A file as it is to be: its bytes, or the published file that stays."""

    content: Content | None
    stays: RemoteFile | None = None

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the bytes that are at hand."""
        assert self.content is not None
        return hub.sha256(self.content)

    @cached_property
    def _blob(self) -> str:
        assert self.content is not None
        return hub.git_blob(self.content)

    def equals(self, remote: RemoteFile | None) -> bool:
        """Whether the published file is this one."""
        if remote is None or self.content is None:
            return remote is not None and remote == self.stays
        return remote.sha256 == self.sha256 if remote.sha256 else remote.blob == self._blob

    @property
    def size(self) -> int:
        """Bytes to send."""
        if self.content is None:
            return 0
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size


@dataclass(frozen=True)
class Staged:
    """Everything the Hub is to hold; ``foreign`` are files there that no release put there: they stay."""

    manifest: Published
    files: Mapping[str, Wanted]
    foreign: frozenset[str] = frozenset()

    def adds(self, tree: Mapping[str, RemoteFile]) -> dict[str, Content]:
        """What must be sent, by path."""
        return {
            path: wanted.content
            for path, wanted in sorted(self.files.items())
            if wanted.content is not None and not wanted.equals(tree.get(path))
        }

    def deletes(self, tree: Mapping[str, RemoteFile]) -> tuple[str, ...]:
        """What must go."""
        return tuple(sorted(tree.keys() - self.files.keys() - self.foreign))

    def is_at(self, tree: Mapping[str, RemoteFile]) -> bool:
        """Whether a revision with these files is exactly this release."""
        return not self.differing(tree)

    def differing(self, tree: Mapping[str, RemoteFile]) -> list[str]:
        """Paths that a revision lacks, has with other bytes, or has beyond the release."""
        wrong = [path for path, wanted in self.files.items() if not wanted.equals(tree.get(path))]
        return sorted([*wrong, *self.deletes(tree)])


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
    """The manifest of both, without the list of files that speak of all configs.

    Raises:
        DiscoprobeError: if a config that stays was built from another state of a corpus than the local ones.
    """
    whole = cast("Published", local | {"files": {}})
    if remote is None:
        return whole
    replaced = local["configs"].keys() | local["unavailable"].keys()
    kept = {name: entry for name, entry in remote["configs"].items() if name not in replaced}
    whole["configs"] = kept | local["configs"]
    whole["sources"] = _sources(remote, local, kept.keys())
    whole["skipped"] = remote["skipped"] | local["skipped"]
    if beside := remote.get("beside", {}) | local.get("beside", {}):
        whole["beside"] = beside
    whole["unavailable"] = {
        name: reason
        for name, reason in (remote["unavailable"] | local["unavailable"]).items()
        if name not in whole["configs"]
    }
    if others := _built_with(remote, whole, kept.keys()):
        whole["built_with"] = others
    return whole


def _sources(remote: Published, local: Manifest, kept: Collection[str]) -> dict[str, manifest.SourceEntry]:
    for config in sorted(kept):
        for name in remote["configs"][config]["sources"]:
            if name in local["sources"] and remote["sources"][name] != local["sources"][name]:
                raise DiscoprobeError(
                    f"{config} on the Hub was built from another state of {name} than what is to be pushed; build"
                    f" {config} too, so that the release has one state of each corpus"
                )
    used = {name for config in kept for name in remote["configs"][config]["sources"]}
    return {name: remote["sources"][name] for name in sorted(used)} | local["sources"]


def versions(found: Manifest) -> dict[str, str]:
    """Versions of discoprobe and of the libraries that a manifest names."""
    return {"discoprobe": found["discoprobe"], **found["software"]}


def _built_with(remote: Published, whole: Published, kept: Collection[str]) -> dict[str, dict[str, str]]:
    earlier = remote.get("built_with", {})
    found = {name: earlier.get(name, versions(remote)) for name in sorted(kept)}
    return {name: used for name, used in found.items() if used != versions(whole)}


@dataclass(frozen=True, slots=True)
class Label:
    """What a release is called: where it goes, its number (empty: none yet), and the whole changelog."""

    repository: str
    release: str = ""
    changelog: str = ""


def stage(folder: Path, local: Manifest, remote: Remote, label: Label) -> Staged:
    """What the Hub is to hold, under a release number and with a changelog.

    Raises:
        DiscoprobeError: if a local file is not what the manifest says, the manifests cannot be laid over each other, or
            the Hub would refuse the card.
        RemoteError: if the repository lacks a file of a config that is to stay.
    """
    whole = merged(remote.manifest, local)
    whole.pop("inputs", None)
    if label.release:
        whole["version"] = label.release
    files = _local_files(folder, local) | _kept_files(remote, whole, local)
    files |= {path: Wanted(text.encode()) for path, text in texts(whole, label).items()}
    whole["files"] = _entries(files, remote.manifest, whole)
    files[manifest.NAME] = Wanted(manifest.render(whole).encode())
    _check_card(files)
    return Staged(whole, files, foreign.foreign(remote))


def texts(whole: Published, label: Label) -> dict[str, str]:
    """The files that speak of all configs, without the manifest, by path."""
    newest = version.sections(label.changelog)[:1]
    written = documents(whole, repository=label.repository, release=label.release, changes="".join(newest))
    return written | ({CHANGELOG: label.changelog} if label.changelog else {})


def _check_card(files: Mapping[str, Wanted]) -> None:
    text = files[README].content
    assert isinstance(text, bytes)
    if found := validate.card_problems(text.decode(), files):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise DiscoprobeError(f"the card of the release would be refused: {found[0]}{more}")


def _local_files(folder: Path, local: Manifest) -> dict[str, Wanted]:
    """Files of the local configs and their plots."""
    listed = {f"{name}/{path}": entry for name, one in local["configs"].items() for path, entry in one["files"].items()}
    listed |= {path: entry for path, entry in local["files"].items() if plotted(path, local["configs"])}
    return {path: Wanted(_checked(folder / path, entry)) for path, entry in listed.items()}


def _checked(path: Path, entry: FileEntry) -> Path:
    if not path.is_file() or hub.sha256(path) != entry["sha256"]:
        raise DiscoprobeError(f"{path} is not what the manifest says; build it anew")
    return path


def plotted(path: str, configs: Collection[str]) -> bool:
    """Whether a file is a plot of one of the configs: ``assets/dc_es-rows.svg`` is one of ``dc_es``."""
    return path.startswith(_PLOTS) and path.removeprefix(_PLOTS).partition("-")[0] in configs


def _kept_files(remote: Remote, whole: Published, local: Manifest) -> dict[str, Wanted]:
    """Published files of the configs that stay."""
    if remote.manifest is None:
        return {}
    kept = whole["configs"].keys() - local["configs"].keys()
    paths = [f"{name}/{path}" for name in kept for path in whole["configs"][name]["files"]]
    paths += [path for path in remote.manifest["files"] if plotted(path, kept)]
    if lacking := sorted(set(paths) - remote.tree.keys()):
        raise RemoteError(
            f"the repository lacks {lacking[0]}, which its manifest lists ({len(lacking)} in all): somebody has deleted"
            " it; build that language too, and push again"
        )
    return {path: Wanted(None, remote.tree[path]) for path in paths}


def _entries(files: Mapping[str, Wanted], remote: Published | None, whole: Published) -> dict[str, FileEntry]:
    """Sizes and hashes of the files that belong to no config's folder."""
    folders = tuple(f"{name}/" for name in whole["configs"])
    published = remote["files"] if remote else {}
    return {
        path: published[path] if wanted.content is None else {"sha256": wanted.sha256, "bytes": wanted.size}
        for path, wanted in sorted(files.items())
        if not path.startswith(folders)
    }
