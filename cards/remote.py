"""A repository as it stands, and what a release folder changes in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discoprobe.cards import diff, foreign, manifest, tables
from discoprobe.cards.diff import Changes
from discoprobe.cards.hub import Hub
from discoprobe.cards.release import README
from discoprobe.cards.staging import CHANGELOG, Label, Published, Remote, only, stage
from discoprobe.loaders.errors import DiscoprobeError, RemoteError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pyarrow as pa

    from discoprobe.cards.hub import RemoteFile
    from discoprobe.cards.manifest import Manifest
    from discoprobe.cards.staging import Staged


def compare(folder: Path, against: str, *, languages: Collection[str] = (), endpoint: str | None = None) -> Changes:
    """What a push of a release folder would change.

    Args:
        folder: a release folder.
        against: another release folder, or a repository (``owner/name`` or ``owner/name@v1.2.0``; its head by default).
        languages: of the folder's configs, only these languages.
        endpoint: address of the Hub; by default ``HF_ENDPOINT``.

    Raises:
        DiscoprobeError: if one of the two is no release.
    """
    local = only(read_local(folder), languages)
    if Path(against).is_dir():
        return diff.compare(diff.Folder(Path(against), read_local(Path(against))), diff.Folder(folder, local))
    repo, _, revision = against.partition("@")
    hub = Hub(repo, endpoint=endpoint)
    remote = read_remote(hub, revision)
    if remote.manifest is None:
        raise RemoteError(f"{against} holds no release; publish one first, or compare with a folder")
    return changes(folder, hub, remote, stage(folder, local, remote, published_label(repo, remote)))


def read_local(folder: Path) -> Manifest:
    """The manifest of a release folder.

    Raises:
        DiscoprobeError: if there is none.
    """
    if not (folder / manifest.NAME).is_file():
        raise DiscoprobeError(f"{folder} holds no {manifest.NAME}; build a release there first, or name its folder")
    return manifest.read(folder)


def read_remote(hub: Hub, revision: str = "") -> Remote:
    """What a repository holds, at its head or at a revision.

    Raises:
        RemoteError: if it cannot be read.
    """
    refs = hub.refs()
    if refs is None or refs.head is None:
        return Remote()
    oid = hub.commit_of(revision) if revision else refs.head
    tree = hub.tree(oid)
    if manifest.NAME not in tree:
        return Remote(oid, tree, tags=refs.tags, replaceable=_replaceable(hub, oid, tree))
    found: Published = manifest.read(hub.download(manifest.NAME, oid, tree[manifest.NAME]).parent)  # type: ignore[assignment]
    changelog = _text(hub, CHANGELOG, oid, tree) if CHANGELOG in tree else ""
    return Remote(oid, tree, found, changelog, refs.tags)


def _replaceable(hub: Hub, oid: str, tree: Mapping[str, RemoteFile]) -> frozenset[str]:
    """A README.md that no release wrote and that says nothing."""
    others = tree.keys() - foreign.GIT - {README}
    there = README in tree and foreign.says_nothing(_text(hub, README, oid, tree), others)
    return frozenset({README} if there else ())


def _text(hub: Hub, path: str, oid: str, tree: Mapping[str, RemoteFile]) -> str:
    return hub.download(path, oid, tree[path]).read_text(encoding="utf-8", errors="replace")


def published_label(repo: str, remote: Remote) -> Label:
    """What the published release is called."""
    release = remote.manifest.get("version", "") if remote.manifest else ""
    return Label(repo, release, remote.changelog)


@dataclass(frozen=True, slots=True)
class _RemoteSide:
    """The published release as a side of a comparison; splits are downloaded when they are asked for."""

    hub: Hub
    remote: Remote

    @property
    def manifest(self) -> Manifest:
        assert self.remote.manifest is not None
        return self.remote.manifest

    def table(self, config: str, split: str) -> pa.Table | None:
        """The rows of a split; None if it has no such split."""
        import pyarrow.parquet as pq  # noqa: PLC0415

        path = f"{config}/{tables.file_name(split)}"
        if path not in self.remote.tree or self.remote.head is None:
            return None
        return pq.read_table(self.hub.download(path, self.remote.head, self.remote.tree[path]))


def changes(folder: Path, hub: Hub, remote: Remote, staged: Staged) -> Changes:
    """What changes, with the files that are neither rows nor written anew for every release."""
    old = _RemoteSide(hub, remote) if remote.manifest else None
    found = diff.compare(old, diff.Folder(folder, staged.manifest))
    if old is None:
        return found
    touched = [*staged.adds(remote.tree), *staged.deletes(remote.tree)]
    files = tuple(sorted(path for path in touched if not path.endswith(".parquet")))
    return Changes(found.added, found.removed, found.changed, found.sources, found.software, files)
