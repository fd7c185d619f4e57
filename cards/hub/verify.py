"""Whether a release is what its manifest says, and whether it can be made again from its sources, byte by byte.

`verify` reads a release from a folder or the Hub, compares its files with the manifest, builds it again, and compares
the two manifests; `reasons` says why a config came out otherwise.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from discoprobe.cards.hub.client import MAIN, Hub
from discoprobe.cards.hub.staging import CHANGELOG, Remote, read_remote, text_of, texts
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import README, Manifest
from discoprobe.cards.release import diff, language_files
from discoprobe.cards.release.language_files import LanguageFiles
from discoprobe.cards.text import card
from discoprobe.loaders.errors import DiscoprobeError

Rebuild: TypeAlias = Callable[[Manifest, Path], None]
"""Builds the configs of a manifest, from its sources and with its settings, into an empty folder."""


class Difference(msgspec.Struct, frozen=True):
    """A file of a release that is not what it should be, with the reasons that the manifests show, in words.

    ``step`` is ``published`` if it is not what the manifest lists, ``rebuilt`` if the rebuild gives another one.
    """

    path: str
    step: str
    why: tuple[str, ...]


class Verified(msgspec.Struct, frozen=True):
    """What a verification found.

    ``target`` is a folder or ``owner/name@revision``; ``commit`` is empty for a folder, ``release`` without a number.
    ``files`` were compared with the manifest, README.md with its last line, and ``rebuilt`` with the rebuild;
    ``differences`` are those that differ.
    """

    target: str
    commit: str
    release: str
    files: int
    rebuilt: int
    differences: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON holds it."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values | {"verified": not self.differences}


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
    release, repository = _read_folder(Path(target)) if Path(target).is_dir() else _read_hub(target, token)
    assert release.manifest is not None
    published, listed = release.manifest, manifest.listed(release.manifest)
    differences = []
    for path, entry in sorted(listed.items()):
        if (actual := release.tree.get(path)) is None:
            why = "the manifest lists it, but it does not exist"
        elif actual.bytes != entry.bytes:
            why = f"{actual.bytes} bytes, and the manifest says {entry.bytes}: changed after it was built"
        elif (digest := actual.sha256) != entry.sha256:
            why = f"SHA-256 {digest[:12]}…, and the manifest says {entry.sha256[:12]}…: changed after it was built"
        else:
            continue
        differences.append(Difference(path, "published", (why,)))
    if README not in listed and not card.sealed_release(release.readme)[1]:
        size = release.tree[README].bytes if README in release.tree else 0
        why = f"{size} bytes without the hash that its last line gives: changed after it was built"
        differences.append(Difference(README, "published", (why if size else "it does not exist",)))
    unlisted = sorted(release.tree.keys() - listed.keys() - {README})
    differences += [Difference(path, "published", ("the manifest does not list it",)) for path in unlisted]
    n_rebuilt = 0
    if rebuild:
        n_rebuilt = len(manifest.files_of(published, published.configs))
        with tempfile.TemporaryDirectory(prefix="discoprobe-verify-") as place:
            rebuild(published, Path(place) / "release")
            differences += _compare_rebuilt(published, Path(place) / "release")
        named = replace(published, repository=repository)
        there = published.files | {README: manifest.listed_file(release.readme.encode())}
        for path, text in texts(named, release.changelog, release.release).items() if repository else ():
            if there.get(path) != manifest.listed_file(text.encode()):
                why = "the same manifest gives another text: written by another version"
                differences.append(Difference(path, "rebuilt", (why,)))
    files = len(listed.keys() | {README})
    return Verified(target, release.head or "", release.release, files, n_rebuilt, tuple(differences))


def _read_folder(folder: Path) -> tuple[Remote, str]:
    """A release folder, without files that no manifest lists, and the repository that its texts about all configs name.

    That is empty where they do not say it.
    """
    published = manifest.read_release(folder)
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    managed = paths.keys() - {manifest.NAME, CHANGELOG}
    files = {name: manifest.listed_file(paths[name]) for name in managed}
    readme = paths[README].read_bytes().decode(errors="replace") if README in paths else ""
    return Remote(tree=files, manifest=published, readme=readme), "" if published.version else card.REPOSITORY


def _read_hub(target: str, token: str | None) -> tuple[Remote, str]:
    """The same of a release on the Hub, at a tag, branch or commit; files without a hash in its tree are downloaded."""
    repo, _, revision = target.partition("@")
    hub = Hub(repo, token=token)
    remote = read_remote(hub, hub.commit_of(revision or MAIN))
    if remote.manifest is None or remote.head is None:
        raise DiscoprobeError(f"{target} holds no {manifest.NAME}: it is not a release of discoprobe")
    tree = remote.tree
    sizes = {path: entry.bytes for path, entry in manifest.listed(remote.manifest).items()}
    unhashed = [path for path, file in tree.items() if not file.sha256 and file.bytes == sizes.get(path)]
    hub.fetch(unhashed, remote.head)
    files = {path: tree[path] for path in tree.keys() - {manifest.NAME, ".gitattributes"}}
    for path in unhashed:
        files[path] = manifest.listed_file(hub.download(path, remote.head, tree[path]))
    return replace(remote, tree=files, readme=text_of(hub, README, remote.head, tree)), repo


def _compare_rebuilt(published: Manifest, folder: Path) -> Iterator[Difference]:
    """Files whose rebuilt content differs from what the manifest lists, with the reasons."""
    rebuilt = manifest.read(folder)
    by_language: dict[str, dict[str, tuple[str, ...]]] = {}  # the reasons of each config
    for name, entry in sorted(published.configs.items()):
        before = {f"{name}/{path}": file for path, file in entry.files.items()}
        now = rebuilt.configs.get(name)
        after = {f"{name}/{path}": file for path, file in now.files.items()} if now else {}
        why = by_language.setdefault(entry.lang, {})[name] = tuple(reasons(name, published, rebuilt))
        differing = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
        yield from (Difference(path, "rebuilt", why) for path in differing)
    for lang, of_configs in by_language.items():
        files = LanguageFiles.of_folder(folder, lang)
        if repository := published.repository:
            files.cards = {name: card.with_repository(text, repository) for name, text in files.cards.items()}
        contents = {path: manifest.listed_file(content) for path, content in files.contents().items()}
        for path in language_files.paths(lang):
            if published.files.get(path) != contents.get(path):
                lines = (f"{name}: {line}" for name, lines in of_configs.items() for line in lines)
                yield Difference(path, "rebuilt", tuple(lines))


def reasons(name: str, published: Manifest, rebuilt: Manifest) -> Iterator[str]:
    """Why a config came out otherwise: source, settings, filter, versions of the code, in this order."""
    before, after = published.configs[name], rebuilt.configs.get(name)
    if after is None:
        yield f"it is not built any more: {rebuilt.unavailable.get(name, 'no such task or language')}"
        return
    yield from (f"source {source}: lacking now" for source in before.sources if source not in after.sources)
    yield from (f"source {source}: not there then" for source in after.sources if source not in before.sources)
    for source in before.sources:
        if source in after.sources:
            lines = diff.source_changes(source, published.sources[source], rebuilt.sources[source])
            yield from (f"source {line}" for line in lines)

    # Corpora without a row in any config (``beside``): their near duplicates in other corpora are left out.
    then, now = (release.beside.get(before.lang, {}) for release in (published, rebuilt))
    with_rows = published.sources.keys() | rebuilt.sources.keys()
    yield from (f"source {source}: not read now" for source in then if source not in now and source not in with_rows)
    yield from (f"source {source}: not read then" for source in now if source not in then and source not in with_rows)
    for source in sorted(then.keys() & now.keys()):
        yield from (f"source {line}" for line in diff.source_changes(source, then[source], now[source]))

    yield from (f"setting {line}" for line in diff.changed_values(before.settings, after.settings))
    lists = before.lists, after.lists  # the user's files that a setting names
    for setting in dict.fromkeys([*lists[0], *lists[1]]):
        if lists[0].get(setting) != lists[1].get(setting):
            old, new = (files[setting].sha256[:12] if setting in files else "none" for files in lists)
            yield f"file of setting {setting}, {before.settings.get(setting, '')}: SHA-256 {old} → {new}"
    yield from (f"filter {line}" for line in diff.changed_values(before.drops, after.drops))
    used = published.built_with.get(name, manifest.versions(published))
    code = diff.changed_values(used, manifest.versions(rebuilt))
    yield from (f"version {line}" for line in code)
    if before.content != after.content:
        yield "the rows differ"
    else:
        yield "the rows are the same" + ("" if code else "; only what is written around them differs")
