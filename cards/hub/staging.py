"""What the Hub holds after a push, the published configs with the local ones in their place, and what that changes.

A local config replaces the published one of its name. A config that can no longer be built is removed. All others stay
byte for byte. The files about all configs (card, attribution, manifest, changelog) are written again from the manifest
of both. A push deletes and overwrites only files that a release wrote (`refuse_in_the_way`).
"""

import dataclasses
import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import pyarrow as pa

from discoprobe.cards.hub.client import Content, Hub, RemoteFile
from discoprobe.cards.hub.remote_release import CHANGELOG, Remote, read_remote
from discoprobe.cards.metadata import card_checks, manifest
from discoprobe.cards.metadata.manifest import ListedFile, Manifest, Published
from discoprobe.cards.metadata.manifest_merge import merged, only
from discoprobe.cards.metadata.yaml_header import STANDALONE
from discoprobe.cards.release import diff, parquet_files, version
from discoprobe.cards.release.diff import Changes
from discoprobe.cards.release.publish_checks import some
from discoprobe.cards.release.release_folder import README, documents
from discoprobe.cards.text import card
from discoprobe.loaders.errors import DiscoprobeError, RemoteError
from discoprobe.loaders.file_hashes import FileHashes, hashes_of

_LOADED_INSTEAD = frozenset({".huggingface.yaml", "dataset_infos.json"})
"""Files that `datasets` reads instead of a card's configs, or beside them; a script named like the repository too."""


@dataclass(frozen=True)
class Wanted:
    """A file of the repository after the push: its bytes, or the published file that stays."""

    content: "Content | None"
    stays: RemoteFile | None = None

    @cached_property
    def hashes(self) -> FileHashes:
        """Size and hashes of the local bytes."""
        assert self.content is not None
        return hashes_of(self.content)

    @property
    def listed(self) -> ListedFile:
        """The entry of the manifest for the local bytes."""
        return {"sha256": self.hashes.sha256, "bytes": self.hashes.bytes}

    def equals(self, remote: RemoteFile | None) -> bool:
        """Whether the published file is this one."""
        if remote is None or self.content is None:
            return remote is not None and remote == self.stays
        return remote.holds(self.hashes)


@dataclass(frozen=True)
class Staged:
    """All files that the Hub is to hold; ``unmanaged`` are files there that no release wrote: they stay."""

    manifest: Published
    files: Mapping[str, Wanted]
    unmanaged: frozenset[str] = frozenset()

    def adds(self, tree: Mapping[str, RemoteFile]) -> dict[str, Content]:
        """What must be sent, by path."""
        return {
            path: wanted.content
            for path, wanted in sorted(self.files.items())
            if wanted.content is not None and not wanted.equals(tree.get(path))
        }

    def deletes(self, tree: Mapping[str, RemoteFile]) -> tuple[str, ...]:
        """What must be deleted."""
        return tuple(sorted(tree.keys() - self.files.keys() - self.unmanaged))

    def is_at(self, tree: Mapping[str, RemoteFile]) -> bool:
        """Whether a revision with these files is exactly this release."""
        return not self.differing(tree)

    def differing(self, tree: Mapping[str, RemoteFile]) -> list[str]:
        """Paths that a revision lacks, has with other bytes, or has beyond the release."""
        wrong = [path for path, wanted in self.files.items() if not wanted.equals(tree.get(path))]
        return sorted([*wrong, *self.deletes(tree)])


@dataclass(frozen=True, slots=True)
class Label:
    """The repository of a release, its number (empty: none yet), and the whole changelog."""

    repository: str
    release: str = ""
    changelog: str = ""


def stage(folder: Path, local: Manifest, remote: Remote, label: Label) -> Staged:
    """The files that the repository must have after the push: those of ``local`` and those of configs that stay.

    Raises:
        DiscoprobeError: if a local file differs from its entry in the manifest, the manifests contradict each other, or
            the Hub would refuse the card.
        RemoteError: if the repository lacks a file of a config that is to stay.
    """
    combined = merged(remote.manifest, local)
    combined.pop("inputs", None)
    if label.release:
        combined["version"] = label.release
    combined["repository"] = label.repository
    files = _local_files(folder, local) | _kept_files(remote, combined, local)
    _name_repository(files, combined, local, label.repository)
    files |= {path: Wanted(text.encode()) for path, text in texts(combined, label).items()}
    combined["files"] = _entries(files, remote.manifest, combined)
    files |= {path: Wanted(text.encode()) for path, text in manifest.texts(combined).items()}
    _check_card(files)
    return Staged(combined, files, remote.unmanaged())


def texts(whole: Published, label: Label) -> dict[str, str]:
    """The files about the release as a whole, without the manifest: path and text."""
    newest = version.sections(label.changelog)[:1]
    written = documents(whole, repository=label.repository, release=label.release, changes="".join(newest))
    return written | ({CHANGELOG: label.changelog} if label.changelog else {})


def _check_card(files: Mapping[str, Wanted]) -> None:
    text = files[README].content
    assert isinstance(text, bytes)
    standalone = files[STANDALONE].content if STANDALONE in files else b""
    assert isinstance(standalone, bytes)
    if problems := card_checks.card_problems(text.decode(), files, standalone.decode()):
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise DiscoprobeError(f"the card of the release would be refused: {problems[0]}{more}")


def _local_files(folder: Path, local: Manifest) -> dict[str, Wanted]:
    """Files of the local configs and their plots."""
    files = manifest.files_of(local, local["configs"])
    return {path: Wanted(_checked(folder / path, entry)) for path, entry in files.items()}


def _name_repository(files: dict[str, Wanted], whole: Published, local: Manifest, repository: str) -> None:
    """Puts the name of the repository on the cards of the local configs, and the new hashes into the manifest."""
    whole["configs"] = dict(whole["configs"])  # the local manifest may have the same one
    for name in local["configs"]:
        content = files[f"{name}/{README}"].content
        assert isinstance(content, Path)
        made = Wanted(card.with_repository(content.read_text(encoding="utf-8"), repository).encode())
        files[f"{name}/{README}"] = made
        entry = whole["configs"][name]
        whole["configs"][name] = {**entry, "files": entry["files"] | {README: made.listed}}


def _checked(path: Path, entry: ListedFile) -> Path:
    if not path.is_file() or hashes_of(path).sha256 != entry["sha256"]:
        raise DiscoprobeError(f"{path} differs from the manifest; build it again")
    return path


def _kept_files(remote: Remote, whole: Published, local: Manifest) -> dict[str, Wanted]:
    """Published files of the configs that stay."""
    if remote.manifest is None:
        return {}
    paths = manifest.files_of(remote.manifest, whole["configs"].keys() - local["configs"].keys()).keys()
    if lacking := sorted(paths - remote.tree.keys()):
        raise RemoteError(
            f"the repository lacks {lacking[0]}, which its manifest lists ({len(lacking)} in all): somebody has deleted"
            " it; build that language too, and push again"
        )
    return {path: Wanted(None, remote.tree[path]) for path in paths}


def _entries(files: Mapping[str, Wanted], remote: Published | None, whole: Published) -> dict[str, ListedFile]:
    """Sizes and hashes of the files that belong to no config's folder."""
    folders = tuple(f"{name}/" for name in whole["configs"])
    published = remote["files"] if remote else {}
    return {
        path: published[path] if wanted.content is None else wanted.listed
        for path, wanted in sorted(files.items())
        if not path.startswith(folders)
    }


def refuse_in_the_way(remote: Remote, staged: Staged, repo: str) -> None:
    """Makes sure that a release would overwrite nothing of somebody else's, and that `datasets` would read its card.

    Raises:
        RemoteError: naming what is in the way.
    """
    if paths := sorted(_in_the_way(remote, staged, repo)):
        raise RemoteError(
            f"{repo} holds files that are not of a release and have the names of files of this one: {some(paths)};"
            " rename or delete them there, or give another --repo"
        )


def _in_the_way(remote: Remote, staged: Staged, repo: str) -> Iterator[str]:
    configs = staged.manifest["configs"]
    folders = {str(folder) for path in staged.files for folder in PurePosixPath(path).parents}
    instead = {*_LOADED_INSTEAD, f"{repo.rpartition('/')[2]}.py"}
    for path in staged.unmanaged - remote.replaceable:
        wanted = staged.files.get(path)
        above = {str(folder) for folder in PurePosixPath(path).parents}
        if (
            (wanted and not wanted.equals(remote.tree[path]))
            or path.partition("/")[0] in configs
            or path in folders | instead
            or above & staged.files.keys()
        ):
            yield path


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
        return diff.compare(diff.in_folder(other, manifest.read_release(other)), diff.in_folder(folder, local))
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


def changes(folder: Path, hub: Hub, remote: Remote, staged: Staged) -> Changes:
    """What changes, with the files that are neither rows nor written anew for every release."""
    new = diff.in_folder(folder, staged.manifest)
    if remote.manifest is None:
        return diff.compare(None, new)
    difference = diff.compare(diff.Side(remote.manifest, functools.partial(_downloaded, hub, remote)), new)
    touched = [*staged.adds(remote.tree), *staged.deletes(remote.tree)]
    files = tuple(sorted(path for path in touched if not path.endswith(".parquet")))
    return dataclasses.replace(difference, files=files)


def _downloaded(hub: Hub, remote: Remote, config: str, split: str) -> pa.Table | None:
    """The published rows of a split; None if there is no such split."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    path = f"{config}/{parquet_files.file_name(split)}"
    if path not in remote.tree or remote.head is None:
        return None
    return pq.read_table(hub.download(path, remote.head, remote.tree[path]))
