"""What the Hub holds, what it is to hold after a push, and what that changes.

`read_remote` reads a repository: its files, its manifest, and the files that no release wrote; if its head is no whole
release but a tag is, the error says how to put that back. `stage` puts the local
configs beside the published ones: a local config replaces the published one of its name, a config that can no longer be
built is removed, and all others stay byte for byte. The files about all configs (card, attribution, manifest,
changelog) are written again from the manifest of both. A push deletes and overwrites only files that a release wrote
(`check_path_conflicts`). `compare` says what a push would change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from discoprobe.cards.hub.client import Content
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.croissant import FOLDER
from discoprobe.cards.metadata.manifest import Manifest, only
from discoprobe.cards.release import checks, diff, language_files, rows
from discoprobe.cards.release.checks import name_some
from discoprobe.cards.release.language_files import LanguageFiles
from discoprobe.cards.release.release_folder import README, documents
from discoprobe.cards.text import card
from discoprobe.loaders.errors import DiscoprobeError, RemoteError
from discoprobe.loaders.files import File, hashes_of

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa

    from discoprobe.cards.hub.client import Hub
    from discoprobe.cards.release.diff import Changes

CHANGELOG = "CHANGELOG.md"
GIT = frozenset({".gitattributes", ".gitignore"})
"""Files that the Hub itself puts into a new repository, or that a person adds for git only."""
_LOADED_INSTEAD = frozenset({".huggingface.yaml", "dataset_infos.json"})
"""Files that `datasets` reads instead of a card's configs, or beside them; a script named like the repository too."""


class BrokenReleaseError(RemoteError):
    """A tag or main of a repository does not hold what the manifest there says."""


class Remote(msgspec.Struct, frozen=True):
    """What a repository holds at its head.

    Attributes:
        head: commit of main; None for a repository that is not there.
        tree: its files.
        manifest: its manifest; None if nothing has been published.
        changelog: its changelog.
        tags: tags and their commits.
        replaceable: files that a release may replace though none put them there.
        read: the bytes of one of its files.
    """

    head: str | None = None
    tree: Mapping[str, File] = field(default_factory=dict)
    manifest: Manifest | None = None
    changelog: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    replaceable: frozenset[str] = frozenset()
    read: Callable[[str], bytes] = field(default=lambda _: b"")

    @property
    def release(self) -> str:
        """The number of its release; empty if it has none."""
        return self.manifest.version if self.manifest else ""

    def unmanaged(self) -> frozenset[str]:
        """The files that no release wrote; none of them is ever deleted.

        The folder of a published config belongs to the release as a whole: its card names the files of a split by a
        pattern, so that `datasets` would load whatever else is put there.
        """
        if self.manifest is None:
            return frozenset(self.tree)
        listed = {manifest.NAME, *self.manifest.files}
        folders = tuple(f"{name}/" for name in self.manifest.configs)
        return frozenset(path for path in self.tree if path not in listed and not path.startswith(folders))

    def is_whole(self) -> bool:
        """Whether the repository has all files that its manifest lists, by size and hash; nothing is downloaded."""
        return self.manifest is not None and all(
            (file := self.tree.get(path)) and file.bytes == entry.bytes and file.sha256 in {"", entry.sha256}
            for path, entry in manifest.listed(self.manifest).items()
        )


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

    def read(path: str) -> bytes:
        return hub.download(path, oid, tree[path]).read_bytes()

    def text_of(path: str) -> str:
        return read(path).decode(errors="replace")

    if manifest.NAME not in tree:
        if hub.has(manifest.NAME, oid):  # to publish by such a listing would take the published configs away
            raise RemoteError(f"the Hub's list of the files of {hub.repo} lacks {manifest.NAME}; try later")
        if last := last_whole(hub, refs.tags):
            raise RemoteError(_restore_advice(hub, f"has no {manifest.NAME}", last))
        replaceable: frozenset[str] = frozenset()
        if README in tree:
            # A README.md that no release wrote may be replaced where it describes nothing: where it has no text, as the
            # Hub's form for new repositories leaves it, or where there is nothing else.
            text = text_of(README).replace("\r\n", "\n")
            text = re.sub(r"\A---\n.*?^---\n?", "", text, flags=re.DOTALL | re.MULTILINE)
            replaceable = frozenset({README} if not text.strip() or not tree.keys() - GIT - {README} else ())
        return Remote(oid, tree, tags=refs.tags, replaceable=replaceable)
    try:
        published = read_manifest(hub, oid, tree)
    except RemoteError:
        raise
    except DiscoprobeError as error:
        problem = f"holds a broken release ({_without_place(error)})"
        raise RemoteError(_restore_advice(hub, problem, last_whole(hub, refs.tags))) from None
    return Remote(oid, tree, published, text_of(CHANGELOG) if CHANGELOG in tree else "", refs.tags, read=read)


def read_manifest(hub: Hub, oid: str, tree: Mapping[str, File]) -> Manifest:
    """The manifest of a commit, with its parts.

    Raises:
        DiscoprobeError: it cannot be read as one.
        RemoteError: the Hub does not give it.
    """
    parts = [path for path in tree if manifest.is_part(path)]
    hub.fetch(parts, oid)
    for path in parts:
        hub.download(path, oid, tree[path])  # checks what was fetched
    return manifest.read(hub.download(manifest.NAME, oid, tree[manifest.NAME]).parent)


class WholeRelease(msgspec.Struct, frozen=True):
    """A whole release: its manifest, and the files of its commit."""

    manifest: Manifest
    tree: Mapping[str, File]


def read_release(hub: Hub, tag: str, oid: str) -> WholeRelease:
    """The release that a tag names.

    Raises:
        BrokenReleaseError: the commit of the tag does not have all of it.
        RemoteError: the Hub does not give it.
    """
    tree = hub.tree(oid)
    problem = f"it has no {manifest.NAME}"
    if manifest.NAME in tree:
        try:
            remote = Remote(oid, tree, read_manifest(hub, oid, tree))
        except RemoteError:
            raise
        except DiscoprobeError as error:
            problem = _without_place(error)
        else:
            if remote.manifest and remote.is_whole():
                return WholeRelease(remote.manifest, tree)
            problem = "files are missing or are not those that its manifest lists"
    raise BrokenReleaseError(f"{tag} of {hub.repo} is no whole release: {problem}; name another release")


def last_whole(hub: Hub, tags: Mapping[str, str]) -> str:
    """The tag of the last release, if its commit has all of it; else empty."""
    last = diff.latest(tags)
    try:
        return f"v{last}" if last and read_release(hub, f"v{last}", tags[f"v{last}"]) else ""
    except BrokenReleaseError:
        return ""


def listed_at(hub: Hub, oid: str, tree: Mapping[str, File]) -> frozenset[str]:
    """The files that the manifest of a commit lists; none where it cannot be read."""
    try:
        return frozenset(manifest.listed(read_manifest(hub, oid, tree))) if manifest.NAME in tree else frozenset()
    except RemoteError:
        raise
    except DiscoprobeError:
        return frozenset()


def unmanaged_beside(
    released: Manifest, tree: Mapping[str, File], listed: Collection[str], repo: str
) -> frozenset[str]:
    """The files of a damaged commit that stay beside a release that is put back.

    ``listed`` are those that the manifest of the commit lists, which go.
    """
    folders = {*released.configs, *manifest.OF_LANGUAGES, manifest.PARTS, FOLDER}
    loaded_instead = {*_LOADED_INSTEAD, f"{repo.rpartition('/')[2]}.py"}
    gone = {manifest.NAME, *manifest.listed(released), *listed, *loaded_instead}
    return frozenset(path for path in tree if path not in gone and path.partition("/")[0] not in folders)


def _without_place(error: DiscoprobeError) -> str:
    """What is wrong with a manifest, without its place in the client's cache and the remedy, which is for a folder."""
    return re.sub(r"^\S*?(?=manifest(?:/[\w-]+)?\.json: )", "", str(error).rpartition(";")[0])


def _restore_advice(hub: Hub, problem: str, tag: str) -> str:
    remedy = (
        f"put the last release back with `build push --restore {tag} --repo {hub.repo}`, or give" if tag else "give"
    )
    return f"main of {hub.repo} {problem}; {remedy} another --repo"


class StagedFile(msgspec.Struct, frozen=True, dict=True):
    """A file of the repository after the push: its bytes, or the published file that stays."""

    content: Content | None
    stays: File | None = None

    @cached_property
    def hashes(self) -> File:
        """Size and hashes of the local bytes."""
        assert self.content is not None
        return hashes_of(self.content)

    @property
    def listed(self) -> File:
        """The entry of the manifest for the local bytes."""
        return File("", self.hashes.sha256, self.hashes.bytes)

    def equals(self, remote: File | None) -> bool:
        """Whether the published file is this one."""
        if remote is None or self.content is None:
            return remote is not None and remote == self.stays
        return remote.holds(self.hashes)


class Staged(msgspec.Struct, frozen=True):
    """All files that the Hub is to hold; ``unmanaged`` are files there that no release wrote: they stay."""

    manifest: Manifest
    files: Mapping[str, StagedFile]
    unmanaged: frozenset[str] = frozenset()

    def adds(self, tree: Mapping[str, File]) -> dict[str, Content]:
        """What must be sent, by path."""
        return {
            path: file.content
            for path, file in sorted(self.files.items())
            if file.content is not None and not file.equals(tree.get(path))
        }

    def deletes(self, tree: Mapping[str, File]) -> tuple[str, ...]:
        """What must be deleted."""
        return tuple(sorted(tree.keys() - self.files.keys() - self.unmanaged))

    def differing(self, tree: Mapping[str, File]) -> list[str]:
        """Paths that a revision lacks, has with other bytes, or has beyond the release; empty if it is this release."""
        differing = [path for path, file in self.files.items() if not file.equals(tree.get(path))]
        return sorted([*differing, *self.deletes(tree)])


class Label(msgspec.Struct, frozen=True):
    """The repository of a release, its number (empty: none yet), and the whole changelog."""

    repository: str
    release: str = ""
    changelog: str = ""


def published_label(repo: str, remote: Remote) -> Label:
    """What the published release is called."""
    return Label(repo, remote.release, remote.changelog)


def stage(folder: Path, local: Manifest, remote: Remote, label: Label) -> Staged:
    """The files that the repository must have after the push: those of ``local`` and those of configs that stay.

    Raises:
        DiscoprobeError: if a local file differs from its entry in the manifest, the manifests contradict each other or
            list not all splits, or the Hub would refuse the size of the card.
        RemoteError: if the repository lacks a file of a config that is to stay.
    """
    combined = manifest.merged(remote.manifest, local)
    before = remote.manifest.configs if remote.manifest else {}
    staying = combined.configs.keys() - local.configs.keys()
    local_files = manifest.files_of(local, local.configs)
    staying_files = manifest.files_of(remote.manifest, staying) if remote.manifest else {}
    combined.inputs, combined.repository, combined.version = {}, label.repository, label.release

    for path, entry in local_files.items():
        if not (folder / path).is_file() or manifest.listed_file(folder / path) != entry:
            raise DiscoprobeError(f"{folder / path} differs from the manifest; build it again")
    if lacking := sorted(staying_files.keys() - remote.tree.keys()):
        raise RemoteError(
            f"the repository lacks {lacking[0]}, which its manifest lists ({len(lacking)} in all): somebody has deleted"
            f" it; build that language too, and push again{_or_restore(remote)}"
        )
    files = {path: StagedFile(None, remote.tree[path]) for path in staying_files}
    files |= {path: StagedFile(folder / path) for path in local_files if path.partition("/")[0] in local.configs}
    gone = before.keys() - staying
    for lang in sorted({entry.lang for entry in (*local.configs.values(), *map(before.__getitem__, gone))}):
        published_parts = {path: _published_bytes(remote, path) for path in language_files.paths(lang) if path in files}
        of_lang = LanguageFiles.read(lang, published_parts.get)
        of_lang.remove(gone)
        ours = LanguageFiles.of_folder(folder, lang)
        ours.remove(ours.cards.keys() - local.configs.keys())
        ours.cards = {name: card.with_repository(text, label.repository) for name, text in ours.cards.items()}
        of_lang.add(ours)
        for path in language_files.paths(lang):
            files.pop(path, None)
        files |= {path: StagedFile(content) for path, content in of_lang.contents().items()}
    about_all = texts(combined, label)
    files |= {path: StagedFile(text.encode()) for path, text in about_all.items()}
    folders = tuple(f"{name}/" for name in combined.configs)
    published = remote.manifest.files if remote.manifest else {}
    combined.files = {
        path: published[path] if file.content is None else file.listed
        for path, file in sorted(files.items())
        if not path.startswith(folders)
    }
    files |= {path: StagedFile(text.encode()) for path, text in manifest.texts(combined).items()}
    splits = [
        f"{name}/{manifest.split_file(split)}" for name, entry in combined.configs.items() for split in entry.counts
    ]
    if lacking := [path for path in splits if path not in files]:
        raise DiscoprobeError(
            f"the manifest does not list {lacking[0]} ({len(lacking)} in all); build that config again"
        )
    if problem := checks.number_problem(len(combined.configs)) or checks.size_problem(about_all[README]):
        raise DiscoprobeError(f"{README}: {problem}")
    return Staged(combined, files, remote.unmanaged())


def _published_bytes(remote: Remote, path: str) -> bytes:
    """A file of configs that stay, which is to be written again with those of the push.

    Raises:
        RemoteError: somebody has changed it.
    """
    content = remote.read(path)
    if remote.manifest and manifest.listed_file(content) != remote.manifest.files.get(path):
        raise RemoteError(
            f"{path} of the repository is not what its manifest lists: somebody has changed it; build that language"
            f" too, and push again{_or_restore(remote)}"
        )
    return content


def _or_restore(remote: Remote) -> str:
    last = diff.latest(remote.tags)
    return f", or put the release back (build push --restore v{last})" if last else ""


def texts(combined: Manifest, label: Label) -> dict[str, str]:
    """The files about the release as a whole, without the manifest: path and text."""
    newest = diff.sections(label.changelog)[:1]
    written = documents(combined, repository=label.repository, release=label.release, changes="".join(newest))
    return written | ({CHANGELOG: label.changelog} if label.changelog else {})


def check_path_conflicts(remote: Remote, staged: Staged, repo: str) -> None:
    """Makes sure that a release would overwrite nothing of somebody else's, and that `datasets` would read its card.

    Raises:
        RemoteError: naming what is in the way.
    """
    folders = {str(folder) for path in staged.files for folder in PurePosixPath(path).parents}
    loaded_instead = {*_LOADED_INSTEAD, f"{repo.rpartition('/')[2]}.py"}
    conflicts = []
    for path in sorted(staged.unmanaged - remote.replaceable):
        file = staged.files.get(path)
        above = {str(folder) for folder in PurePosixPath(path).parents}
        if (
            (file and not file.equals(remote.tree[path]))
            or path.partition("/")[0] in staged.manifest.configs
            or path in folders | loaded_instead
            or above & staged.files.keys()
        ):
            conflicts.append(path)
    if conflicts:
        raise RemoteError(
            f"{repo} holds files that are not of a release and have the names of files of this one:"
            f" {name_some(conflicts)}; rename or delete them there, or give another --repo"
        )


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
    from discoprobe.cards.hub.client import Hub  # noqa: PLC0415 (half a second that two folders do without)

    repo, _, revision = against.partition("@")
    hub = Hub(repo)
    remote = read_remote(hub, revision)
    if remote.manifest is None:
        raise RemoteError(f"{against} holds no release; publish one first, or compare with a folder")
    return changes(folder, hub, remote, stage(folder, local, remote, published_label(repo, remote)))


def changes(folder: Path, hub: Hub, remote: Remote, staged: Staged) -> Changes:
    """What changes, with the files that are neither rows nor written anew for every release."""
    new = diff.in_folder(folder, staged.manifest)
    if remote.manifest is None:
        return diff.compare(None, new)

    def published_rows(config: str, split: str) -> pa.Table | None:
        path = f"{config}/{manifest.split_file(split)}"
        if path not in remote.tree or remote.head is None:
            return None
        return rows.read_table(hub.download(path, remote.head, remote.tree[path]))

    difference = diff.compare(diff.Side(remote.manifest, published_rows), new)
    touched = [*staged.adds(remote.tree), *staged.deletes(remote.tree)]
    files = tuple(sorted(path for path in touched if not path.endswith(".parquet")))
    return msgspec.structs.replace(difference, files=files)
