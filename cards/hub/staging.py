"""What the Hub holds, what it is to hold after a push, and what that changes.

`plan_push` tells it from the release folder to the plan: `read_remote` reads a repository, its files and its manifest;
if its head is no whole release but a tag is, the error says how to put that back. `stage` puts the local configs beside
the published ones: a local config replaces the published one of its name, a config that can no longer be built is
removed, and all others stay byte for byte. The files about all configs (card, attribution, manifest, changelog) are
written again from the manifest of both. `changes` compares that with what is published, and so numbers the release. A
push deletes and overwrites only files that a release wrote (`check_path_conflicts`). `plan_restore` makes the plan that
puts an earlier release back, for a repository that somebody has changed by hand. `push.send` carries a plan out.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import field
from msgspec.structs import replace

from discoprobe.cards.hub.client import Content, Hub
from discoprobe.cards.hub.corrections import check_taken
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.croissant import FOLDER
from discoprobe.cards.metadata.manifest import README, Manifest, only
from discoprobe.cards.release import checks, diff, language_files, rows
from discoprobe.cards.release.checks import name_some
from discoprobe.cards.release.diff import Changes, Level
from discoprobe.cards.release.language_files import LanguageFiles
from discoprobe.cards.release.release_folder import documents
from discoprobe.cards.text import card
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UsageError
from discoprobe.loaders.files import File, hashes_of

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa

CHANGELOG = "CHANGELOG.md"
GIT = frozenset({".gitattributes", ".gitignore"})
"""Files that the Hub itself puts into a new repository, or that a person adds for git only."""
_REASONS = 3
"""Number of configs that could not be built that a message names, if there is nothing else to publish."""


class BrokenReleaseError(RemoteError):
    """A tag or main of a repository does not hold what the manifest there says."""


class Remote(msgspec.Struct, frozen=True):
    """What a repository holds at a commit, or a release folder, as far as it is compared with one.

    Attributes:
        head: the commit; None for a folder, and for a repository that is not there.
        tree: its files.
        manifest: its manifest; None if nothing has been published.
        readme: its card, which has the number of the release; empty where the tag of the manifest says it.
        changelog: its changelog.
        tags: tags and their commits.
        replaceable: files that a release may replace though none put them there.
    """

    head: str | None = None
    tree: Mapping[str, File] = field(default_factory=dict)
    manifest: Manifest | None = None
    readme: str = ""
    changelog: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    replaceable: frozenset[str] = frozenset()

    @property
    def release(self) -> str:
        """The number of its release; empty if it has none."""
        return card.sealed_release(self.readme)[0] or (self.manifest.version if self.manifest else "")

    def unmanaged(self) -> frozenset[str]:
        """The files that no release wrote; none of them is ever deleted.

        The folder of a published config belongs to the release as a whole: its card names the files of a split by a
        pattern, so that `datasets` would load whatever else is put there.
        """
        if self.manifest is None:
            return frozenset(self.tree)
        listed = manifest.paths(self.manifest)
        folders = tuple(f"{name}/" for name in self.manifest.configs)
        return frozenset(path for path in self.tree if path not in listed and not path.startswith(folders))

    def is_whole(self) -> bool:
        """Whether the repository has its card and what its manifest lists, by size and hash; nothing is downloaded.

        The card is as it was written, if its text is at hand.
        """
        if not self.manifest or README not in self.tree:
            return False
        if self.readme and README not in self.manifest.files and not card.sealed_release(self.readme)[1]:
            return False
        return all(
            (file := self.tree.get(path)) and file.bytes == entry.bytes and file.sha256 in {"", entry.sha256}
            for path, entry in manifest.listed(self.manifest).items()
        )


class Staged(msgspec.Struct, frozen=True):
    """What a repository is to hold, beside what it holds now.

    Attributes:
        manifest: of the release.
        files: all files of the release, by path.
        remote: what the repository holds now.
        unmanaged: files there that are not of the release: they stay.
        configs: the configs that are published now, not those that stay.
        contents: what is at hand of the files: bytes, or where they are.
        source: the commit that has the other files that are not there now; empty if there are none.
    """

    manifest: Manifest
    files: Mapping[str, File]
    remote: Remote
    unmanaged: frozenset[str]
    configs: tuple[str, ...]
    contents: Mapping[str, Content] = field(default_factory=dict)
    source: str = ""

    def adds(self, tree: Mapping[str, File] | None = None) -> list[str]:
        """What the repository, or another tree, lacks or has with other bytes."""
        tree = self.remote.tree if tree is None else tree
        return [path for path, file in self.files.items() if path not in tree or not tree[path].holds(file)]

    def deletes(self, tree: Mapping[str, File] | None = None) -> list[str]:
        """What the repository, or another tree, has beyond the release."""
        tree = self.remote.tree if tree is None else tree
        return sorted(tree.keys() - self.files.keys() - self.unmanaged)


class PushResult(msgspec.Struct, frozen=True):
    """What a push is to do, or did.

    Attributes:
        release: the number of the release.
        last: the number of the release before; empty for the first.
        changes: since that; None where main is to hold a release again, whatever it holds.
        uploads: files to send and their bytes.
        deletes: files to delete.
        keeps: configs of the repository that stay as they are.
        unmanaged: files of the repository that are no part of a release; they stay.
        resourced: configs that are replaced by ones from other corpora: ``dc_es: UD_Spanish-AnCora → notes``.
        state: ``planned``; ``published``; ``proposed`` as a pull request; ``unchanged``: the Hub holds this already;
            ``completed``: it does, and the tag that an interrupted push left out was set; ``restored``: main holds an
            earlier release again; ``declined``.
        commit: the commit of the release, if there is one.
        url: where to look at it.
        notes: what else a person should know.
    """

    repo: str
    release: str
    last: str
    changes: Changes | None
    uploads: Mapping[str, int] = field(default_factory=dict)
    deletes: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    unmanaged: tuple[str, ...] = ()
    resourced: tuple[str, ...] = ()
    state: Literal["planned", "published", "proposed", "unchanged", "completed", "restored", "declined"] = "planned"
    commit: str | None = None
    url: str = ""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The plan and the outcome as JSON holds them."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values

    def with_files(self, staged: Staged) -> PushResult:
        """The plan with the files that have to be sent and deleted."""
        return replace(
            self,
            uploads={path: staged.files[path].bytes or 0 for path in staged.adds()},
            deletes=tuple(staged.deletes()),
            unmanaged=tuple(sorted(staged.unmanaged - GIT - staged.files.keys())),
        )


def check_target(
    hub: Hub, folder: Path | None = None, *, release: str = "", languages: Collection[str] = (), dry_run: bool = False
) -> None:
    """Checks before anything is built whether a push can go to a repository.

    That is the right to write, and the number of configs with those that are published and those that ``folder`` has
    already.

    Raises:
        UsageError: the release number cannot be one.
        DiscoprobeError: there are too many configs.
        RemoteError: there is no token that may write to it, or the Hub does not answer.
    """
    if release:
        diff.parse(release)
    if not dry_run:
        hub.check_rights()
    published = read_remote(hub).manifest
    local = only(manifest.read(folder), languages).configs if folder else {}
    if problem := checks.number_problem(len((published.configs if published else {}).keys() | local.keys())):
        raise DiscoprobeError(problem)


def plan_push(  # noqa: PLR0913 (what a user chooses)
    folder: Path, hub: Hub, *, release: str = "", languages: Collection[str] = (), allow_licence: Collection[str] = (),
    dry_run: bool = False, day: dt.date | None = None,
) -> tuple[PushResult, Staged]:  # fmt: skip
    """What publishing the configs of a release folder would do, beside what the repository has; nothing is sent.

    All that can be checked without network is checked first.

    Args:
        folder: a release folder.
        hub: the repository; it need not be there yet.
        release: the number to publish under; proposed from the changes if empty.
        languages: of the folder's configs, only these languages.
        allow_licence: licences to publish under though they are not open.
        dry_run: the plan is not carried out, so that no right to write is needed.
        day: the date in the changelog; today if None.

    Returns:
        The plan, with the state ``unchanged`` if there is nothing to do, and what `push.send` needs to carry it out.

    Raises:
        AuditFailedError: if a config failed its audit or has none; the network was not touched.
        DiscoprobeError: a licence, an attribution, the card or the release number is wrong.
        RemoteError: if the Hub or the network failed; the message says what to do.
    """
    local = only(manifest.read_release(folder), languages)
    if languages and not local.configs:
        reasons = [f"{name}: {reason}" for name, reason in local.unavailable.items()]
        why = f" ({'; '.join(reasons[:_REASONS])})" if reasons else ""
        raise UsageError(f"{folder} has no config of {', '.join(languages)}{why}; build it first")
    checks.check_release(local, allow_licence)
    asked = diff.parse(release) if release else None
    stage(folder, local, hub, Remote())
    if not dry_run:
        hub.check_rights()

    remote = read_remote(hub)
    check_taken(hub, remote, local)
    present = stage(folder, local, hub, remote)
    published, notes = remote.release, []
    if remote.manifest and not present.adds() and not present.deletes():
        if asked and (not published or asked != diff.parse(published)):
            notes.append(f"nothing changed since {published}, so there is no release {release}")
        tag, commit = f"v{published}", remote.head or ""
        lacks_tag = bool(published) and tag not in remote.tags
        if lacks_tag and dry_run:
            notes.append(f"the tag {tag} is missing: an earlier push was interrupted; the next one sets it")
        result = PushResult(
            hub.repo, published, published, Changes(), keeps=tuple(sorted(present.manifest.configs)),
            state="planned" if lacks_tag else "unchanged", commit=commit if lacks_tag else remote.tags.get(tag, commit),
            notes=tuple(notes),
        )  # fmt: skip
        return replace(result, url=hub.url(result.commit or "")), present

    difference = changes(folder, hub, present)
    releases = [diff.parse(published) if published else None, diff.latest(remote.tags)]
    last = max(filter(None, releases), default=None)
    number = diff.check_number(asked, last, difference) if asked else diff.propose(last, difference)
    section = diff.section(number, difference, day or dt.datetime.now(tz=dt.UTC).date())
    only_words = present.adds() == [README] and not present.deletes() and last and number < last.next(Level.MINOR)
    changelog = None if only_words else diff.with_section(remote.changelog, section)
    staged = stage(folder, local, hub, remote, release=str(number), changelog=changelog)
    checks.check_designs(staged.manifest.configs)
    check_path_conflicts(hub.repo, staged)
    before, after = remote.manifest.configs if remote.manifest else {}, local.configs
    result = PushResult(
        hub.repo, str(number), published, difference,
        keeps=tuple(sorted(staged.manifest.configs.keys() - after.keys())),
        resourced=tuple(
            f"{name}: {', '.join(sorted(before[name].sources))} → {', '.join(sorted(after[name].sources))}"
            for name in sorted(before.keys() & after.keys())
            if set(before[name].sources) != set(after[name].sources)
        ),
    )  # fmt: skip
    return result.with_files(staged), staged


def plan_restore(hub: Hub, release: str, *, dry_run: bool = False) -> tuple[PushResult, Staged]:
    """What makes main hold the files of a release again, whatever it holds now; the next push starts there.

    Files that no release wrote stay, unless they are in a folder of the release or `datasets` reads them in its place.
    Commits and tags that are there stay, too.

    Args:
        hub: the repository.
        release: the number of the release, ``1.2.0`` or ``v1.2.0``.
        dry_run: as for `plan_push`.

    Raises:
        UsageError: it cannot be the number of a release.
        RemoteError: there is no such release, it is not whole itself, or the Hub or the network failed.
    """
    number = diff.parse(release)
    if not dry_run:
        hub.check_rights()
    head, tags = hub.refs()
    if head is None or f"v{number}" not in tags:
        last = diff.latest(tags)
        raise RemoteError(f"{hub.repo} has no release v{number}" + (f"; its last one is v{last}" if last else ""))
    now, oid = hub.tree(head), tags[f"v{number}"]
    released, tree = read_release(hub, f"v{number}", oid)
    folders = {*released.configs, *manifest.OF_LANGUAGES, manifest.PARTS, FOLDER}
    gone = manifest.paths(released) | _listed_at(hub, head, now) | _loaded_instead(hub.repo)
    unmanaged = frozenset(path for path in now if path not in gone and path.partition("/")[0] not in folders)
    files = {path: tree[path] for path in sorted(manifest.paths(released))}
    staged = Staged(released, files, Remote(head, now), unmanaged, tuple(released.configs), source=oid)
    result = PushResult(hub.repo, str(number), "", None).with_files(staged)
    if not result.uploads and not result.deletes:
        result = replace(result, state="unchanged", commit=head, url=hub.url(head))
    return result, staged


def read_remote(hub: Hub, revision: str = "") -> Remote:
    """What a repository holds, at its head or at a revision.

    Raises:
        RemoteError: if it cannot be read.
    """
    head, tags = hub.refs()
    if head is None:
        return Remote()
    oid = hub.commit_of(revision) if revision else head
    tree = hub.tree(oid)
    if manifest.NAME not in tree:
        if hub.has(manifest.NAME, oid):  # to publish by such a listing would take the published configs away
            raise RemoteError(f"the Hub's list of the files of {hub.repo} lacks {manifest.NAME}; try later")
        if last := last_whole(hub, tags):
            raise RemoteError(_restore_advice(hub, f"has no {manifest.NAME}", last))
        replaceable: frozenset[str] = frozenset()
        if README in tree:
            # A README.md that no release wrote may be replaced where it describes nothing: where it has no text, as the
            # Hub's form for new repositories leaves it, or where there is nothing else.
            text = text_of(hub, README, oid, tree).replace("\r\n", "\n")
            text = re.sub(r"\A---\n.*?^---\n?", "", text, flags=re.DOTALL | re.MULTILINE)
            replaceable = frozenset({README} if not text.strip() or not tree.keys() - GIT - {README} else ())
        return Remote(oid, tree, tags=tags, replaceable=replaceable)
    try:
        published = read_manifest(hub, oid, tree)
    except RemoteError:
        raise
    except DiscoprobeError as error:
        problem = f"holds a broken release ({_without_place(error)})"
        raise RemoteError(_restore_advice(hub, problem, last_whole(hub, tags))) from None
    readme = "" if tags.get(f"v{published.version}") == oid else text_of(hub, README, oid, tree)
    return Remote(oid, tree, published, readme, text_of(hub, CHANGELOG, oid, tree), tags)


def text_of(hub: Hub, path: str, oid: str, tree: Mapping[str, File]) -> str:
    """The text of a file of a commit; empty if it is not there."""
    return hub.download(path, oid, tree[path]).read_bytes().decode(errors="replace") if path in tree else ""


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


def read_release(hub: Hub, tag: str, oid: str) -> tuple[Manifest, Mapping[str, File]]:
    """The manifest of the release that a tag names, and the files of its commit.

    Raises:
        BrokenReleaseError: the commit of the tag does not have all of it.
        RemoteError: the Hub does not give it.
    """
    tree = hub.tree(oid)
    problem = f"it has no {manifest.NAME}"
    if manifest.NAME in tree:
        try:
            released = read_manifest(hub, oid, tree)
        except RemoteError:
            raise
        except DiscoprobeError as error:
            problem = _without_place(error)
        else:
            readme = text_of(hub, README, oid, tree)
            if Remote(oid, tree, released, readme).is_whole():
                return released, tree
            problem = "files are missing or are not those that its manifest lists"
    raise BrokenReleaseError(f"{tag} of {hub.repo} is no whole release: {problem}; name another release")


def last_whole(hub: Hub, tags: Mapping[str, str]) -> str:
    """The tag of the last release, if its commit has all of it; else empty."""
    last = diff.latest(tags)
    try:
        return f"v{last}" if last and read_release(hub, f"v{last}", tags[f"v{last}"]) else ""
    except BrokenReleaseError:
        return ""


def _listed_at(hub: Hub, oid: str, tree: Mapping[str, File]) -> frozenset[str]:
    """The files of the release of a commit; none where its manifest cannot be read."""
    try:
        return frozenset(manifest.paths(read_manifest(hub, oid, tree))) if manifest.NAME in tree else frozenset()
    except RemoteError:
        raise
    except DiscoprobeError:
        return frozenset()


def _without_place(error: DiscoprobeError) -> str:
    """What is wrong with a manifest, without its place in the client's cache and the remedy, which is for a folder."""
    return re.sub(r"^\S*?(?=manifest(?:\.json|/[\w-]+\.parquet): )", "", str(error).rpartition(";")[0])


def _restore_advice(hub: Hub, problem: str, tag: str) -> str:
    remedy = (
        f"put the last release back with `build push --restore {tag} --repo {hub.repo}`, or give" if tag else "give"
    )
    return f"main of {hub.repo} {problem}; {remedy} another --repo"


def stage(  # noqa: PLR0913 (what is here, what is there, and what both are called)
    folder: Path, local: Manifest, hub: Hub, remote: Remote, *, release: str | None = None, changelog: str | None = None
) -> Staged:
    """The files that the repository must have after the push: those of ``local`` and those of configs that stay.

    They are about a release with this number and the whole changelog; by default with those of the published one. A
    release without a changelog of its own changes README.md alone.

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
    combined.inputs, combined.repository = {}, hub.repo
    published_version = remote.manifest.version if remote.manifest else ""
    combined.version = published_version if release is None or changelog is None else release
    number = remote.release if release is None else release

    files: dict[str, File] = {}
    contents: dict[str, Content] = {}
    for path, entry in local_files.items():
        if not (folder / path).is_file() or _listed(file := hashes_of(folder / path)) != entry:
            raise DiscoprobeError(f"{folder / path} differs from the manifest; build it again")
        if path.partition("/")[0] in local.configs:
            files[path], contents[path] = file, folder / path
    if lacking := sorted(staying_files.keys() - remote.tree.keys()):
        raise RemoteError(
            f"the repository lacks {lacking[0]}, which its manifest lists ({len(lacking)} in all): somebody has deleted"
            f" it; build that language too, and push again{_or_restore(remote)}"
        )
    files |= {path: remote.tree[path] for path in staying_files}

    def add(new: Mapping[str, bytes]) -> None:
        files.update({path: hashes_of(content) for path, content in new.items()})
        contents.update(new)

    gone = before.keys() - staying
    for lang in sorted({entry.lang for entry in (*local.configs.values(), *map(before.__getitem__, gone))}):
        paths = language_files.paths(lang)
        of_lang = LanguageFiles.read(
            lang, {path: _published_bytes(hub, remote, path) for path in paths if path in files}.get
        )
        of_lang.remove(gone)
        ours = LanguageFiles.of_folder(folder, lang)
        ours.remove(ours.cards.keys() - local.configs.keys())
        ours.cards = {name: card.with_repository(text, hub.repo) for name, text in ours.cards.items()}
        of_lang.add(ours)
        for path in paths:
            files.pop(path, None)
        add(of_lang.contents())
    about_all = texts(combined, remote.changelog if changelog is None else changelog, number)
    add({path: text.encode() for path, text in about_all.items()})
    folders = tuple(f"{name}/" for name in combined.configs)
    published = remote.manifest.files if remote.manifest else {}
    combined.files = {
        path: _listed(file) if path in contents else published[path]
        for path, file in sorted(files.items())
        if path != README and not path.startswith(folders)
    }
    add(manifest.contents(combined))
    splits = [
        f"{name}/{manifest.split_file(split)}" for name, entry in combined.configs.items() for split in entry.counts
    ]
    if lacking := [path for path in splits if path not in files]:
        raise DiscoprobeError(
            f"the manifest does not list {lacking[0]} ({len(lacking)} in all); build that config again"
        )
    if problem := checks.number_problem(len(combined.configs)) or checks.size_problem(about_all[README]):
        raise DiscoprobeError(f"{README}: {problem}")
    files = dict(sorted(files.items()))
    return Staged(combined, files, remote, remote.unmanaged(), tuple(local.configs), contents)


def _listed(file: File) -> File:
    """A file as manifests list it (`manifest.listed_file`): by size and SHA-256."""
    return File("", file.sha256, file.bytes)


def _published_bytes(hub: Hub, remote: Remote, path: str) -> bytes:
    """A file of configs that stay, which is to be written again with those of the push.

    Raises:
        RemoteError: somebody has changed it.
    """
    content = hub.download(path, remote.head or "", remote.tree[path]).read_bytes()
    if remote.manifest and manifest.listed_file(content) != remote.manifest.files.get(path):
        raise RemoteError(
            f"{path} of the repository is not what its manifest lists: somebody has changed it; build that language"
            f" too, and push again{_or_restore(remote)}"
        )
    return content


def _or_restore(remote: Remote) -> str:
    last = diff.latest(remote.tags)
    return f", or put the release back (build push --restore v{last})" if last else ""


def texts(combined: Manifest, changelog: str, release: str) -> dict[str, str]:
    """The files about the release as a whole, without the manifest, which names the repository: path, text."""
    newest = "".join(diff.sections(changelog)[:1])
    written = documents(combined, repository=combined.repository, release=release, changes=newest)
    return written | ({CHANGELOG: changelog} if changelog else {})


def _loaded_instead(repo: str) -> set[str]:
    """Files that `datasets` reads instead of a card's configs, or beside them; a script of its name too."""
    return {".huggingface.yaml", "dataset_infos.json", f"{repo.rpartition('/')[2]}.py"}


def check_path_conflicts(repo: str, staged: Staged) -> None:
    """Makes sure that a release would overwrite nothing of somebody else's, and that `datasets` would read its card.

    Raises:
        RemoteError: naming what is in the way.
    """
    folders = {str(folder) for path in staged.files for folder in PurePosixPath(path).parents}
    conflicts = []
    for path in sorted(staged.unmanaged - staged.remote.replaceable):
        file = staged.files.get(path)
        above = {str(folder) for folder in PurePosixPath(path).parents}
        if (
            (file and not staged.remote.tree[path].holds(file))
            or path.partition("/")[0] in staged.manifest.configs
            or path in folders | _loaded_instead(repo)
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
    repo, _, revision = against.partition("@")
    hub = Hub(repo)
    remote = read_remote(hub, revision)
    if remote.manifest is None:
        raise RemoteError(f"{against} holds no release; publish one first, or compare with a folder")
    return changes(folder, hub, stage(folder, local, hub, remote))


def changes(folder: Path, hub: Hub, staged: Staged) -> Changes:
    """What changes, with the files that are neither rows nor written anew for every release."""
    remote, new = staged.remote, diff.in_folder(folder, staged.manifest)
    if remote.manifest is None:
        return diff.compare(None, new)

    def published_rows(config: str, split: str) -> pa.Table | None:
        path = f"{config}/{manifest.split_file(split)}"
        if path not in remote.tree or remote.head is None:
            return None
        return rows.read_table(hub.download(path, remote.head, remote.tree[path]))

    difference = diff.compare((remote.manifest, published_rows), new)
    touched = [*staged.adds(), *staged.deletes()]
    return replace(difference, files=tuple(sorted(path for path in touched if not path.endswith(".parquet"))))
