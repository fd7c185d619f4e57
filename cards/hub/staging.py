"""What the Hub holds after a push, the published configs with the local ones in their place, and what that changes.

A local config replaces the published one of its name. A config that can no longer be built is removed. All others stay
byte for byte. The files about all configs (card, attribution, manifest, changelog) are written again from the manifest
of both. A push deletes and overwrites only files that a release wrote (`refuse_in_the_way`).

What a repository on the Hub holds: its files, its manifest, and the files that no release wrote.
"""

import dataclasses
import functools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

import pyarrow as pa

from discoprobe.cards.hub.client import Content, Hub, RemoteFile
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import ListedFile, Manifest, Published, merged, only
from discoprobe.cards.metadata.yaml_header import STANDALONE
from discoprobe.cards.release import checks, diff, rows
from discoprobe.cards.release.checks import some
from discoprobe.cards.release.diff import Changes
from discoprobe.cards.release.release_folder import README, documents
from discoprobe.cards.text import card
from discoprobe.loaders.errors import DiscoprobeError, RemoteError
from discoprobe.loaders.file_hashes import FileHashes, hashes_of

CHANGELOG = "CHANGELOG.md"
GIT = frozenset({".gitattributes", ".gitignore"})
"""Files that the Hub itself puts into a new repository, or that a person adds for git only."""


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

    def unmanaged(self) -> frozenset[str]:
        """The files that no release wrote; none of them is ever deleted.

        The folder of a published config belongs to the release as a whole: its card names the files of a split by a
        pattern, so that `datasets` would load whatever else is put there.
        """
        if self.manifest is None:
            return frozenset(self.tree)
        listed = {manifest.NAME, *self.manifest["files"]}
        folders = tuple(f"{name}/" for name in self.manifest["configs"])
        return frozenset(path for path in self.tree if path not in listed and not path.startswith(folders))

    def is_whole(self) -> bool:
        """Whether the repository has all files that its manifest lists, by size and hash; nothing is downloaded."""
        if self.manifest is None:
            return False
        for path, entry in manifest.listed(self.manifest).items():
            file = self.tree.get(path)
            if file is None or file.size != entry["bytes"] or file.sha256 not in {None, entry["sha256"]}:
                return False
        return True


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
        if hub.has(manifest.NAME, oid):  # to publish by such a listing would take the published configs away
            raise RemoteError(f"the Hub's list of the files of {hub.repo} lacks {manifest.NAME}; try later")
        return Remote(oid, tree, tags=refs.tags, replaceable=_replaceable(hub, oid, tree))
    published = _read_manifest(hub, oid, tree)
    changelog = _text(hub, CHANGELOG, oid, tree) if CHANGELOG in tree else ""
    return Remote(oid, tree, published, changelog, refs.tags)


def _read_manifest(hub: Hub, oid: str, tree: Mapping[str, RemoteFile]) -> Published:
    """The manifest of a commit, whose files are ``tree``."""
    parts = [path for path in tree if manifest.is_part(path)]
    hub.fetch(parts, oid)
    for path in parts:
        hub.download(path, oid, tree[path])  # checks what was fetched
    folder = hub.download(manifest.NAME, oid, tree[manifest.NAME]).parent
    return manifest.read(folder)  # type: ignore[return-value]


def _replaceable(hub: Hub, oid: str, tree: Mapping[str, RemoteFile]) -> frozenset[str]:
    """A README.md that no release wrote and that says nothing."""
    others = tree.keys() - GIT - {README}
    there = README in tree and says_nothing(_text(hub, README, oid, tree), others)
    return frozenset({README} if there else ())


def _text(hub: Hub, path: str, oid: str, tree: Mapping[str, RemoteFile]) -> str:
    return hub.download(path, oid, tree[path]).read_text(encoding="utf-8", errors="replace")


def says_nothing(card: str, others: Collection[str]) -> bool:
    """Whether a README.md that no release wrote may be replaced, given the repository's other files.

    It may where it describes nothing: where it has no text, as the Hub's form for new repositories leaves it, or where
    there is nothing else.
    """
    text = re.sub(r"\A---\n.*?^---\n?", "", card.replace("\r\n", "\n"), flags=re.DOTALL | re.MULTILINE)
    return not text.strip() or not others


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
    newest = diff.sections(label.changelog)[:1]
    written = documents(whole, repository=label.repository, release=label.release, changes="".join(newest))
    return written | ({CHANGELOG: label.changelog} if label.changelog else {})


def _check_card(files: Mapping[str, Wanted]) -> None:
    text = files[README].content
    assert isinstance(text, bytes)
    standalone = files[STANDALONE].content if STANDALONE in files else b""
    assert isinstance(standalone, bytes)
    if problems := checks.card_problems(text.decode(), files, standalone.decode()):
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

    path = f"{config}/{rows.file_name(split)}"
    if path not in remote.tree or remote.head is None:
        return None
    return pq.read_table(hub.download(path, remote.head, remote.tree[path]))
