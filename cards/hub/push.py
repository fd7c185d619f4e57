"""Carries out the plan of a push: the Hub holds the old release or the new one, never a mixture.

The order of the steps of `send` makes it safe. Files are uploaded first and are not visible yet. One commit, on top of
the head that the plan was made for, makes all of them visible at once. The tree of that commit is compared with the
plan, and some configs are loaded from it. The tag is set last: a tagged release is complete and was read back. A push
that ends early leaves the old release, or the new one without its tag; the next push sets the tag.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from discoprobe.cards.hub.client import Hub
from discoprobe.cards.hub.staging import CHANGELOG, PushResult, Staged, check_path_conflicts, read_remote
from discoprobe.loaders.errors import RemoteError
from discoprobe.loaders.files import hashes_of

Result = TypeVar("Result")

_STALE = 412
_PULLS = 20
"""Newest pull requests that are looked at for one of ours."""


def send(  # noqa: PLR0913 (what was planned, and what a user chooses)
    hub: Hub, result: PushResult, staged: Staged, *, folder: Path | None = None, private: bool = False,
    read_back: int = 2, progress: Callable[[str, int, int], None] = lambda *_: None,
) -> PushResult:  # fmt: skip
    """Makes a repository hold what was planned, in one commit, with a tag for a new release.

    Args:
        hub: the repository; it is created if it is not there.
        result: the plan, of `plan_push` or `plan_restore`; if it is not to be carried out, it is returned as it is.
        staged: what belongs to the plan.
        folder: the release folder, which gets the new changelog.
        private: create the repository as a private one.
        read_back: load this many of the pushed configs before the tag is set.
        progress: called with the name of a step, how much of it is done, and how much there is.

    Raises:
        RemoteError: if somebody else committed meanwhile (nothing was published), or the Hub or the network failed; the
            message says what to do.
    """
    if result.state != "planned":
        return result
    if staged.remote.head is None:
        hub.create(private=private)
        remote = read_remote(hub)  # with what somebody else has put there since it was made
        if remote.head is None:
            raise RemoteError(f"{hub.repo} was created but is not there yet; run it again in a minute")
        if remote.manifest is not None:
            raise RemoteError(
                f"somebody else has published in {hub.repo} meanwhile ({remote.head[:12]});"
                " nothing of yours was published: run the push again, and it starts from there"
            )
        staged = replace(staged, remote=remote, unmanaged=remote.unmanaged())
        check_path_conflicts(hub.repo, staged)
        result = result.with_files(staged)
    tag, remote, parent = f"v{result.release}", staged.remote, staged.remote.head or ""
    is_release, notes = result.changes is not None, [*result.notes]
    if not result.uploads and not result.deletes:  # only the tag is missing
        _read_back(hub, staged, parent, read_back, progress)
        _tag(hub, tag, parent)
        return replace(result, state="completed", url=hub.url(tag))

    last = f"v{remote.release}"
    if is_release and remote.release and last not in remote.tags and remote.is_whole():
        _tag(hub, last, parent)  # before the head moves on
        notes.append(f"{last} had no tag, for its push was interrupted: it has one now")
    if is_release and hub.pull_request and (proposed := _proposed(hub, staged)):
        notes.append("the same content was proposed before")
        return replace(result, state="proposed", commit=proposed, url=hub.url(proposed), notes=tuple(notes))

    elsewhere = [path for path in result.uploads if path not in staged.contents]
    hub.fetch(elsewhere, staged.source)
    contents = {
        path: staged.contents[path]
        if path in staged.contents
        else hub.download(path, staged.source, staged.files[path])
        for path in result.uploads
    }
    additions, message = hub.upload(contents, progress), f"{'Release' if is_release else 'Restore'} {tag}"
    oid, url = _send_once(
        hub,
        lambda: hub.commit(additions, result.deletes, message=message, parent=parent),
        lambda: (ours, "") if (ours := _committed(hub, staged, parent)) else None,
    )
    tree = hub.tree(oid)
    if differing := sorted([*staged.adds(tree), *staged.deletes(tree)]):
        raise RemoteError(
            f"commit {oid[:12]} does not hold what was sent ({differing[0]}, {len(differing)} in all); it is"
            " not tagged: run the push again"
        )
    result = replace(result, commit=oid, url=url or hub.url(oid), notes=tuple(notes))
    if hub.pull_request:
        return replace(result, state="proposed")
    _read_back(hub, staged, oid, read_back, progress)
    if not is_release:
        return replace(result, state="restored")
    try:
        _tag(hub, tag, oid)
    except RemoteError as error:
        raise RemoteError(
            f"main of {hub.repo} has the release ({oid[:12]}); only its tag {tag} is missing, and the next"
            f" push sets it: {error}", error.status, transient=error.transient,
        ) from error  # fmt: skip

    content = staged.contents[CHANGELOG]
    if folder and isinstance(content, bytes):
        beside = folder / f".{CHANGELOG}.new"
        try:
            beside.write_bytes(content)
            beside.replace(folder / CHANGELOG)
        except OSError as error:  # the release is out, so a full disk is worth no more than a note
            notes.append(f"{folder / CHANGELOG} could not be written ({error.strerror})")
    if result.unmanaged:
        notes.append(f"{len(result.unmanaged)} files that no release put there stay: {', '.join(result.unmanaged)}")
    return replace(result, state="published", url=hub.url(tag), notes=tuple(notes))


def propose_file(hub: Hub, path: str, content: bytes, message: str) -> str:
    """Proposes a file of a repository, in place of one with its name.

    Returns:
        The address of the pull request; empty if main, or a pull request that is there, has the file already.

    Raises:
        RemoteError: the repository is not there, or the Hub or the network failed.
    """
    hub.check_rights()
    head, _ = hub.refs()
    if head is None:
        raise RemoteError(f"there is no repository {hub.repo} on the Hub, or the token may not see it", 404)
    file = hashes_of(content)

    def there(commits: Sequence[str]) -> str | None:
        trees = ((oid, hub.tree(oid)) for oid in commits)
        return next((oid for oid, tree in trees if path in tree and tree[path].holds(file)), None)

    if there([head, *hub.pulls()[-_PULLS:]]):
        return ""
    additions = hub.upload({path: content}, lambda *_: None)

    def proposed() -> tuple[str, str] | None:
        oid = there(hub.pulls()[-_PULLS:])
        return (oid, hub.url(oid)) if oid else None

    return _send_once(hub, lambda: hub.commit(additions, (), message=message, parent=head), proposed)[1]


def _send_once(hub: Hub, send_it: Callable[[], Result], sent_before: Callable[[], Result | None]) -> Result:
    """What ``send_it`` returns; where no answer comes, what ``sent_before`` finds: nothing is sent twice blindly."""
    for attempt in range(hub.retry.attempts):
        try:
            return send_it()
        except RemoteError as error:
            if not error.transient and error.status != _STALE:
                raise
            if (result := sent_before()) is not None:
                return result
            if error.status == _STALE or attempt + 1 == hub.retry.attempts:
                raise
            hub.retry.wait(attempt, error.wait)
    raise AssertionError("unreachable")


def _committed(hub: Hub, staged: Staged, parent: str) -> str | None:
    """Our commit, if it was made although no answer came; None if the head is still the parent.

    Raises:
        RemoteError: if somebody else's commit came before ours.
    """
    if hub.pull_request:
        return _proposed(hub, staged)
    newer = hub.since(parent)
    if not newer:
        return None
    if ours := _newest_with(hub, staged, [*newer]):
        return ours
    first = list(newer.values())[-1]
    raise RemoteError(
        f"somebody else committed {first} to {hub.repo} meanwhile; nothing of yours was published: run the"
        " push again, and it starts from there"
    )


def _proposed(hub: Hub, staged: Staged) -> str | None:
    """The commit of a pull request that holds exactly this, if there is one."""
    return _newest_with(hub, staged, hub.pulls()[-_PULLS:])


def _newest_with(hub: Hub, staged: Staged, commits: list[str]) -> str | None:
    """The last of these commits that holds exactly this, if there is one."""
    trees = ((oid, hub.tree(oid)) for oid in reversed(commits))
    return next((oid for oid, tree in trees if not staged.adds(tree) and not staged.deletes(tree)), None)


def _read_back(hub: Hub, staged: Staged, oid: str, number: int, progress: Callable[[str, int, int], None]) -> None:
    """Loads the first configs that were pushed as users will, and counts their rows."""
    chosen = staged.configs[:number]
    with tempfile.TemporaryDirectory(prefix="discoprobe-") as cache:
        for done, name in enumerate(chosen, 1):
            counts = staged.manifest.configs[name].counts
            expected = {split: sum(labels.values()) for split, labels in counts.items()}
            if (loaded := hub.load(name, oid, Path(cache))) != expected:
                raise RemoteError(f"{name} of {oid[:12]} loads with {loaded} rows, not {expected}; it is not tagged")
            progress("reading back: datasets", done, len(chosen))


def _tag(hub: Hub, name: str, oid: str) -> None:
    """Sets the tag, once; a tag that is there is never moved.

    Raises:
        RemoteError: another commit has it.
    """

    def tagged() -> str | None:
        tagged_commit = hub.refs()[1].get(name)
        if tagged_commit and tagged_commit != oid:
            raise RemoteError(
                f"{name} of {hub.repo} was set to {tagged_commit[:12]} by somebody else; a tag is never moved:"
                " give --release another number"
            )
        return tagged_commit

    _send_once(hub, lambda: hub.tag(name, oid, f"discoprobe {name}"), tagged)
