"""What a release folder changes in a repository on the Hub, or in another release folder."""

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from discoprobe.cards.hub.client import Hub
from discoprobe.cards.hub.remote_release import Remote, read_remote
from discoprobe.cards.hub.staging import Label, Staged, stage
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import Manifest
from discoprobe.cards.metadata.manifest_merge import only
from discoprobe.cards.release import diff, parquet_files
from discoprobe.cards.release.diff import Changes
from discoprobe.loaders.errors import RemoteError


def compare(folder: Path, against: str, *, languages: Collection[str] = ()) -> Changes:
    """What a push of a release folder would change.

    Args:
        folder: a release folder.
        against: another release folder, or a repository (``owner/name`` or ``owner/name@v1.2.0``; its head by default).
        languages: of the folder's configs, only these languages.

    Raises:
        DiscoprobeError: if one of the two is no release.
    """
    local = only(manifest.read_release(folder), languages)
    if (other := Path(against)).is_dir():
        return diff.compare(diff.Folder(other, manifest.read_release(other)), diff.Folder(folder, local))
    repo, _, revision = against.partition("@")
    hub = Hub(repo)
    remote = read_remote(hub, revision)
    if remote.manifest is None:
        raise RemoteError(f"{against} holds no release; publish one first, or compare with a folder")
    return changes(folder, hub, remote, stage(folder, local, remote, published_label(repo, remote)))


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

        path = f"{config}/{parquet_files.file_name(split)}"
        if path not in self.remote.tree or self.remote.head is None:
            return None
        return pq.read_table(self.hub.download(path, self.remote.head, self.remote.tree[path]))


def changes(folder: Path, hub: Hub, remote: Remote, staged: Staged) -> Changes:
    """What changes, with the files that are neither rows nor written anew for every release."""
    old = _RemoteSide(hub, remote) if remote.manifest else None
    difference = diff.compare(old, diff.Folder(folder, staged.manifest))
    if old is None:
        return difference
    touched = [*staged.adds(remote.tree), *staged.deletes(remote.tree)]
    files = tuple(sorted(path for path in touched if not path.endswith(".parquet")))
    return dataclasses.replace(difference, files=files)
