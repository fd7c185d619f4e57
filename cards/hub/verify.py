"""Whether a release is what its manifest says, and whether it can be made again from its sources, byte by byte."""

import dataclasses
import tempfile
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from discoprobe.cards.hub.client import MAIN, Hub
from discoprobe.cards.hub.staging import CHANGELOG, published_label, read_remote, texts
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import ListedFile, Manifest, Published
from discoprobe.cards.release import diff
from discoprobe.cards.release.release_folder import README, documents
from discoprobe.cards.text import card
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.file_hashes import hashes_of

Rebuild: TypeAlias = Callable[[Manifest, Path], None]
"""Builds the configs of a manifest, from its sources and with its settings, into an empty folder."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A file of a release that is not what it should be, with the reasons that the manifests show, in words.

    ``step`` is ``published`` if it is not what the manifest lists, ``rebuilt`` if the rebuild gives another one.
    """

    path: str
    step: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """What a verification found.

    ``target`` is a folder or ``owner/name@revision``; ``commit`` is empty for a folder, ``release`` without a number.
    ``files`` were compared with the manifest and ``rebuilt`` with the rebuild; ``differences`` are those that differ.
    """

    target: str
    commit: str
    release: str
    files: int
    rebuilt: int
    differences: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON holds it."""
        return dataclasses.asdict(self) | {"verified": not self.differences}


def verify(target: str, rebuild: Rebuild | None, *, token: str | None = None) -> Verified:
    """Compares a release with its manifest, and with what its pinned sources give today.

    Args:
        target: a release folder, or ``owner/name`` or ``owner/name@v1.2.0`` on the Hub.
        rebuild: builds what a manifest describes; None compares the files with the manifest only.
        token: by default the one of ``HF_TOKEN`` or of ``hf auth login``.

    Raises:
        DiscoprobeError: if there is no release, or its sources cannot be had.
        RemoteError: if the Hub or the network failed.
    """
    release = _in_folder(Path(target)) if Path(target).is_dir() else _on_hub(target, token)
    found = release.manifest
    wrong = list(_unlike_listed(release))
    again: list[Difference] = []
    if rebuild:
        with tempfile.TemporaryDirectory(prefix="discoprobe-verify-") as place:
            out = Path(place) / "release"
            rebuild(found, out)
            again = [*compare(found, out), *_unlike_documents(found, release.documents())]
    number = len(manifest.files_of(found, found["configs"]))
    return Verified(
        target, release.commit, found.get("version", ""), len(manifest.listed(found)), number if rebuild else 0,
        (*wrong, *again),
    )  # fmt: skip


class _Release(NamedTuple):
    """A release to verify.

    Attributes:
        commit: of the Hub; empty for a folder.
        manifest: what it says of itself.
        paths: its files, without those that no manifest lists.
        entry: path → size and hash of a file; None if it is not there.
        documents: returns the files about all configs, as this version writes them.
    """

    commit: str
    manifest: Published
    paths: AbstractSet[str]
    entry: Callable[[str], ListedFile | None]
    documents: Callable[[], Mapping[str, str]]


def _in_folder(folder: Path) -> _Release:
    """A release folder; a copy of one of the Hub does not say for which repository its texts were written."""
    found: Published = manifest.read_release(folder)  # type: ignore[assignment]
    paths = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}

    def entry(path: str) -> ListedFile | None:
        return manifest.listed_file(folder / path) if (folder / path).is_file() else None

    return _Release(
        "", found, paths - {manifest.NAME, CHANGELOG}, entry, lambda: {} if found.get("version") else documents(found)
    )


def _on_hub(target: str, token: str | None) -> _Release:
    """A release on the Hub, at a tag, branch or commit; files without a hash in its tree are downloaded."""
    repo, _, revision = target.partition("@")
    hub = Hub(repo, token=token)
    remote = read_remote(hub, hub.commit_of(revision or MAIN))
    if remote.manifest is None or remote.head is None:
        raise DiscoprobeError(f"{target} holds no {manifest.NAME}: it is not a release of discoprobe")
    found, tree, commit = remote.manifest, remote.tree, remote.head
    sizes = {path: file["bytes"] for path, file in manifest.listed(found).items()}
    hub.fetch([path for path in tree if tree[path].sha256 is None and tree[path].size == sizes.get(path)], commit)

    def entry(path: str) -> ListedFile | None:
        file = tree.get(path)
        if file is None:
            return None
        if file.sha256 or file.size != sizes[path]:
            return {"sha256": file.sha256 or "", "bytes": file.size}
        return manifest.listed_file(hub.download(path, commit, file))

    return _Release(
        commit, found, tree.keys() - {manifest.NAME, ".gitattributes"}, entry,
        lambda: texts(found, published_label(repo, remote)),
    )  # fmt: skip


def _unlike_listed(release: _Release) -> Iterator[Difference]:
    """Files that are not what the manifest lists."""
    listed = manifest.listed(release.manifest)
    for path, entry in sorted(listed.items()):
        if why := _unlike(release.entry(path), entry):
            yield Difference(path, "published", (why,))
    for path in sorted(release.paths - listed.keys()):
        yield Difference(path, "published", ("the manifest does not list it",))


def _unlike(found: ListedFile | None, entry: ListedFile) -> str:
    """How a file differs from what is listed; empty if it does not."""
    if found is None:
        return "the manifest lists it, but it does not exist"
    if found["bytes"] != entry["bytes"]:
        return f"{found['bytes']} bytes, and the manifest says {entry['bytes']}: changed after it was built"
    if found["sha256"] != entry["sha256"]:
        digests = found["sha256"][:12], entry["sha256"][:12]
        return f"SHA-256 {digests[0]}…, and the manifest says {digests[1]}…: changed after it was built"
    return ""


# the rebuild


def compare(published: Published, folder: Path) -> Iterator[Difference]:
    """Files whose rebuilt content differs from what the manifest lists, with the reasons."""
    rebuilt = manifest.read(folder)
    for name in sorted(published["configs"]):
        before, after = (manifest.files_of(of_release, {name}) for of_release in (published, rebuilt))
        if (path := f"{name}/{README}") in after and "repository" in published:
            text = card.with_repository((folder / path).read_text(encoding="utf-8"), published["repository"])
            after[path] = manifest.listed_file(text.encode())
        differing = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
        why = tuple(reasons(name, published, rebuilt)) if differing else ()
        yield from (Difference(path, "rebuilt", why) for path in differing)


def _unlike_documents(published: Published, written: Mapping[str, str]) -> Iterator[Difference]:
    """Files about all configs that this version writes differently from the same manifest."""
    for path, text in written.items():
        entry = published["files"].get(path)
        if not entry or hashes_of(text.encode()).sha256 != entry["sha256"]:
            yield Difference(path, "rebuilt", ("the same manifest gives another text: written by another version",))


def reasons(name: str, published: Published, rebuilt: Manifest) -> Iterator[str]:
    """Why a config came out otherwise: source, settings, filter, versions of the code, in this order."""
    before, after = published["configs"][name], rebuilt["configs"].get(name)
    if after is None:
        yield f"it is not built any more: {rebuilt['unavailable'].get(name, 'no such task or language')}"
        return
    yield from _source_reasons(before["sources"], after["sources"], published, rebuilt)
    yield from _beside_reasons(before["lang"], published, rebuilt)
    yield from (f"setting {line}" for line in diff.values(before["settings"], after["settings"]))
    yield from _list_reasons(before.get("lists", {}), after.get("lists", {}), before["settings"])
    yield from (f"filter {line}" for line in diff.values(before["drops"], after["drops"]))
    used = published.get("built_with", {}).get(name, manifest.versions(published))
    code = diff.values(used, manifest.versions(rebuilt))
    yield from (f"version {line}" for line in code)
    yield _rows(before["content"] == after["content"], explained=bool(code))


def _source_reasons(before: list[str], after: list[str], published: Manifest, rebuilt: Manifest) -> Iterator[str]:
    yield from (f"source {name}: lacking now" for name in before if name not in after)
    yield from (f"source {name}: not there then" for name in after if name not in before)
    for name in before:
        if name in after:
            yield from (
                f"source {line}" for line in diff.source(name, published["sources"][name], rebuilt["sources"][name])
            )


def _beside_reasons(lang: str, published: Manifest, rebuilt: Manifest) -> Iterator[str]:
    """Changed corpora without a row in any config (``beside``): their near duplicates in other corpora are left out."""
    before, after = (found.get("beside", {}).get(lang, {}) for found in (published, rebuilt))
    known = published["sources"].keys() | rebuilt["sources"].keys()
    yield from (f"source {name}: not read now" for name in before if name not in after and name not in known)
    yield from (f"source {name}: not read then" for name in after if name not in before and name not in known)
    for name in before.keys() & after.keys():
        yield from (f"source {line}" for line in diff.source(name, before[name], after[name]))


def _list_reasons(
    before: Mapping[str, ListedFile], after: Mapping[str, ListedFile], settings: Mapping[str, object]
) -> Iterator[str]:
    """User's files that a setting names and that are not what they were."""
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            old, new = (found[name]["sha256"][:12] if name in found else "none" for found in (before, after))
            yield f"file of setting {name}, {settings.get(name, '')}: SHA-256 {old} → {new}"


def _rows(same: bool, *, explained: bool) -> str:  # noqa: FBT001 (a fact, not a switch)
    if not same:
        return "the rows differ"
    return "the rows are the same" + ("" if explained else "; only what is written around them differs")
