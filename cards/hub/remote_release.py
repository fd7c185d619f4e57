"""What a repository on the Hub holds: its files, its manifest, and the files that no release wrote."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from discoprobe.cards.hub.client import Hub, RemoteFile
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import Published
from discoprobe.cards.release.release_folder import README
from discoprobe.loaders.errors import RemoteError

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
