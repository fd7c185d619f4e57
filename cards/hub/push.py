"""One push: the Hub holds the old release or the new one, never a mixture.

The order of the steps makes it safe. Files are uploaded first and are not visible yet. One commit, on top of the head
that the plan was made for, makes all of them visible at once. The tree of that commit is compared with the plan, and
some configs are loaded from it. The tag is set last: a tagged release is complete and was read back. A push that ends
early leaves the old release, or the new one without its tag; the next push sets the tag. `restore` makes main hold an
earlier release again, for a repository that somebody has changed by hand.
"""

import datetime as dt
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import field

from discoprobe.cards.hub import staging
from discoprobe.cards.hub.client import Content, Hub
from discoprobe.cards.hub.staging import Label, Remote, Staged, StagedFile, read_remote, stage
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.manifest import only
from discoprobe.cards.release import checks, diff
from discoprobe.cards.release.diff import Changes
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, RetryPolicy, UsageError
from discoprobe.loaders.files import File

Result = TypeVar("Result")
State = Literal["published", "proposed", "unchanged", "completed", "restored", "planned", "declined"]

_STALE = 412
_REASONS = 3
"""Number of configs that could not be built that a message names, if there is nothing else to publish."""
_PULLS = 20
"""Newest pull requests that are looked at for one of ours."""


class Options(msgspec.Struct, frozen=True):
    """How to push.

    Attributes:
        release: the number to publish under; proposed from the changes if empty.
        languages: of the folder's configs, only these languages.
        allow_licence: licences to publish under though they are not open.
        dry_run: plan and stop.
        private: create the repository as a private one, if it does not exist yet.
        pull_request: propose the commit instead of making it; the tag follows at the first push after the merge.
        read_back: load this many of the pushed configs before the tag is set.
        token: by default the one of ``HF_TOKEN`` or of ``hf auth login``.
        retry: how often and how long to try.
        day: the date in the changelog; today if None.
    """

    release: str = ""
    languages: tuple[str, ...] = ()
    allow_licence: tuple[str, ...] = ()
    dry_run: bool = False
    private: bool = False
    pull_request: bool = False
    read_back: int = 2
    token: str | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    day: dt.date | None = None

    def __repr__(self) -> str:
        return f"Options(release={self.release!r}, dry_run={self.dry_run}, pull_request={self.pull_request})"


class Plan(msgspec.Struct, frozen=True):
    """What a push will do.

    Attributes:
        release: the number of the release.
        last: the number of the release before; empty for the first.
        changes: since that; None where main is to hold a release again, whatever it holds.
        uploads: files to send and their bytes.
        deletes: files to delete.
        keeps: configs of the repository that stay as they are.
        unmanaged: files of the repository that are no part of a release; they stay.
        resourced: configs that are replaced by ones from other corpora: ``dc_es: UD_Spanish-AnCora → notes``.
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


class PushResult(msgspec.Struct, frozen=True):
    """What a push did.

    Attributes:
        state: ``published``; ``proposed`` as a pull request; ``unchanged``: the Hub holds this already; ``completed``:
            it does, and the tag that an interrupted push left out was set; ``restored``: main holds an earlier release
            again; ``planned`` by a dry run; ``declined``.
        plan: what was to be done.
        commit: the commit of the release, if there is one.
        url: where to look at it.
        notes: what else a person should know.
    """

    state: State
    plan: Plan
    commit: str | None = None
    url: str = ""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The outcome as JSON holds it."""
        plan: dict[str, Any] = msgspec.to_builtins(self.plan)
        return plan | {
            "state": self.state, "commit": self.commit, "url": self.url, "notes": list(self.notes)
        }  # fmt: skip


def push(
    folder: Path,
    repo: str,
    options: Options | None = None,
    *,
    confirm: Callable[[Plan], bool] = lambda _: True,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> PushResult:
    """Publishes the configs of a release folder, in one commit with a tag, beside what the repository has already.

    Args:
        folder: a release folder.
        repo: ``owner/name``; made if it is not there.
        options: how to push.
        confirm: asked before anything is sent; a push that it declines changes nothing.
        progress: called with the name of a step, how much of it is done, and how much there is.

    Raises:
        OutcomeError: if a config failed its audit or has none; the network was not touched.
        DiscoprobeError: a licence, an attribution, the card or the release number is wrong; nothing was sent.
        RemoteError: if somebody else committed meanwhile (nothing was published), or the Hub or the network failed.
    """
    return _Push(folder, repo, options or Options(), progress).run(confirm)


def restore(
    repo: str,
    release: str,
    options: Options | None = None,
    *,
    confirm: Callable[[Plan], bool] = lambda _: True,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> PushResult:
    """Makes main hold the files of a release again, in one commit, whatever it holds now; the next push starts there.

    Files that no release wrote stay, unless they are in a folder of the release or `datasets` reads them in its place.
    Commits and tags that are there stay, too.

    Args:
        repo: ``owner/name``.
        release: the number of the release, ``1.2.0`` or ``v1.2.0``.
        options: how to push; ``dry_run``, ``pull_request``, ``read_back``, ``token`` and ``retry`` count.
        confirm: asked before anything is sent.
        progress: as for `push`.

    Raises:
        UsageError: it cannot be the number of a release, or the name of a repository.
        RemoteError: somebody else committed meanwhile (nothing was restored), there is no such release, it is not whole
            itself, or the Hub or the network failed.
    """
    number = diff.parse(release)
    return _Restore(repo, options or Options(), progress).run(number, confirm)


def check_target(repo: str, options: Options, folder: Path | None = None) -> None:
    """Checks before anything is built whether a push can go to a repository.

    That is its name, the token, the right to write, and the number of configs with those that are published and those
    that ``folder`` has already.

    Raises:
        UsageError: the name cannot be a repository's, or the release number cannot be one.
        DiscoprobeError: there are too many configs.
        RemoteError: there is no token that may write to it, or the Hub does not answer.
    """
    if options.release:
        diff.parse(options.release)
    hub = Hub(repo, token=options.token, retry=options.retry)
    if not options.dry_run:
        hub.check_rights(pull=options.pull_request)
    published = read_remote(hub).manifest
    local = only(manifest.read(folder), options.languages).configs if folder else {}
    if problem := checks.number_problem(len((published.configs if published else {}).keys() | local.keys())):
        raise DiscoprobeError(problem)


class _Sender:
    """What sends one commit to a repository, and makes sure of what came of it."""

    def __init__(self, repo: str, options: Options, progress: Callable[[str, int, int], None]) -> None:
        self.options, self.progress = options, progress
        self.hub = Hub(repo, token=options.token, retry=options.retry)
        self.notes: list[str] = []

    def _commit(
        self, staged: Staged, adds: Mapping[str, Content], tree: Mapping[str, File], parent: str, message: str
    ) -> tuple[str, str | None]:
        """Uploads files and commits them on top of ``parent``, which has ``tree``; the commit and its pull request."""
        pull = self.options.pull_request
        additions, deletes = self.hub.upload(adds, pull=pull, progress=self.progress), staged.deletes(tree)
        oid, url = self._send_once(
            lambda: self.hub.commit(additions, deletes, message=message, parent=parent, pull=pull),
            lambda: (ours, None) if (ours := self._committed(staged, parent)) else None,
        )
        if differing := staged.differing(self.hub.tree(oid)):
            raise RemoteError(
                f"commit {oid[:12]} does not hold what was sent ({differing[0]}, {len(differing)} in all); it is"
                " not tagged: run the push again"
            )
        return oid, url

    def _send_once(self, send: Callable[[], Result], sent_before: Callable[[], Result | None]) -> Result:
        """What ``send`` returns; where no answer comes, what ``sent_before`` finds: nothing is sent twice blindly."""
        retry = self.options.retry
        for attempt in range(retry.attempts):
            try:
                return send()
            except RemoteError as error:
                if not error.transient and error.status != _STALE:
                    raise
                if (result := sent_before()) is not None:
                    return result
                if error.status == _STALE or attempt + 1 == retry.attempts:
                    raise
                retry.wait(attempt, error.wait)
        raise AssertionError("unreachable")

    def _committed(self, staged: Staged, parent: str) -> str | None:
        """Our commit, if it was made although no answer came; None if the head is still the parent.

        Raises:
            RemoteError: if somebody else's commit came before ours.
        """
        if self.options.pull_request:
            return self._proposed(staged)
        newer = self.hub.since(parent)
        if not newer:
            return None
        if ours := next((oid for oid in reversed(newer) if not staged.differing(self.hub.tree(oid))), None):
            return ours
        first = list(newer.values())[-1]
        raise RemoteError(
            f"somebody else committed {first} to {self.hub.repo} meanwhile; nothing of yours was published: run the"
            " push again, and it starts from there"
        )

    def _proposed(self, staged: Staged) -> str | None:
        """The commit of a pull request that holds exactly this, if there is one."""
        refs = self.hub.refs(pulls=True)
        pulls = list(refs.pulls.values())[-_PULLS:] if refs else []
        return next((oid for oid in reversed(pulls) if not staged.differing(self.hub.tree(oid))), None)

    def _read_back(self, staged: Staged, oid: str, configs: Iterable[str]) -> None:
        """Loads the first of these configs as users will, and counts their rows."""
        chosen = list(configs)[: self.options.read_back]
        with tempfile.TemporaryDirectory(prefix="discoprobe-") as cache:
            for done, name in enumerate(chosen, 1):
                counts = staged.manifest.configs[name].counts
                expected = {split: sum(labels.values()) for split, labels in counts.items()}
                if (loaded := self.hub.load(name, oid, Path(cache))) != expected:
                    raise RemoteError(
                        f"{name} of {oid[:12]} loads with {loaded} rows, not {expected}; it is not tagged"
                    )
                self.progress("reading back", done, len(chosen))

    def _result(self, state: State, plan: Plan, commit: str | None = None, url: str | None = None) -> PushResult:
        if commit and not url:
            url = self.hub.url(f"v{plan.release}" if state in {"published", "completed"} else commit)
        return PushResult(state, plan, commit, url or "", tuple(self.notes))


class _Push(_Sender):
    """A push under way: `run` tells it from the folder to the tag."""

    def __init__(self, folder: Path, repo: str, options: Options, progress: Callable[[str, int, int], None]) -> None:
        """Checks all that can be checked without network."""
        super().__init__(repo, options, progress)
        self.folder = folder
        self.local = only(manifest.read_release(folder), options.languages)
        if options.languages and not self.local.configs:
            reasons = [f"{name}: {reason}" for name, reason in self.local.unavailable.items()]
            why = f" ({'; '.join(reasons[:_REASONS])})" if reasons else ""
            raise UsageError(f"{folder} has no config of {', '.join(options.languages)}{why}; build it first")
        checks.check_release(self.local, options.allow_licence)
        if options.release:
            diff.parse(options.release)
        stage(folder, self.local, Remote(), Label(repo))

    def run(self, confirm: Callable[[Plan], bool]) -> PushResult:
        if not self.options.dry_run:
            self.hub.check_rights(pull=self.options.pull_request)
        remote = read_remote(self.hub)
        present = stage(self.folder, self.local, remote, staging.published_label(self.hub.repo, remote))
        if remote.manifest and not present.adds(remote.tree) and not present.deletes(remote.tree):
            return self._finish_published(remote, present)
        difference = staging.changes(self.folder, self.hub, remote, present)
        releases = [diff.parse(remote.release) if remote.release else None, diff.latest(remote.tags)]
        last = max(filter(None, releases), default=None)
        number = diff.propose(last, difference)
        if self.options.release:
            number = diff.check_number(diff.parse(self.options.release), last, difference)
        text = diff.section(number, difference, self.options.day or dt.datetime.now(tz=dt.UTC).date())
        label = Label(self.hub.repo, str(number), diff.with_section(remote.changelog, text))
        staged, plan = self._plan(remote, label, difference)
        if self.options.dry_run:
            return self._result("planned", plan)
        if not confirm(plan):
            return self._result("declined", plan)
        if remote.head is None:
            self.hub.create(private=self.options.private)
            remote = read_remote(self.hub)  # with what somebody else has put there since it was made
            if remote.head is None:
                raise RemoteError(f"{self.hub.repo} was created but is not there yet; run it again in a minute")
            if remote.manifest is not None:
                raise RemoteError(
                    f"somebody else has published in {self.hub.repo} meanwhile ({remote.head[:12]});"
                    " nothing of yours was published: run the push again, and it starts from there"
                )
            staged, plan = self._plan(remote, label, difference)
        return self._send(remote, staged, plan)

    def _finish_published(self, remote: Remote, present: Staged) -> PushResult:
        """The Hub holds this already; sets the tag that an interrupted push or a merged proposal still lacks."""
        assert remote.head is not None
        release = remote.release
        plan = Plan(self.hub.repo, release, release, Changes(), keeps=tuple(sorted(present.manifest.configs)))
        asked = diff.parse(self.options.release) if self.options.release else None
        if asked and (not release or asked != diff.parse(release)):
            self.notes.append(f"nothing changed since {release}, so there is no release {self.options.release}")
        if not release or f"v{release}" in remote.tags:
            return self._result("unchanged", plan, remote.tags.get(f"v{release}", remote.head))
        if self.options.dry_run:
            self.notes.append(f"the tag v{release} is missing: an earlier push was interrupted; the next one sets it")
            return self._result("planned", plan, remote.head)
        self._read_back(present, remote.head, self.local.configs)
        self._tag(f"v{release}", remote.head)
        return self._result("completed", plan, remote.head)

    def _plan(self, remote: Remote, label: Label, changes: Changes) -> tuple[Staged, Plan]:
        """The files of the new release, and what it takes to make the repository hold them."""
        staged = stage(self.folder, self.local, remote, label)
        checks.check_designs(staged.manifest.configs)
        staging.check_path_conflicts(remote, staged, self.hub.repo)
        before, after = remote.manifest.configs if remote.manifest else {}, self.local.configs
        return staged, Plan(
            repo=self.hub.repo,
            release=label.release,
            last=remote.release,
            changes=changes,
            uploads={path: staged.files[path].hashes.bytes or 0 for path in staged.adds(remote.tree)},
            deletes=staged.deletes(remote.tree),
            keeps=tuple(sorted(staged.manifest.configs.keys() - after.keys())),
            unmanaged=tuple(sorted(staged.unmanaged - staging.GIT - staged.files.keys())),
            resourced=tuple(
                f"{name}: {', '.join(sorted(before[name].sources))} → {', '.join(sorted(after[name].sources))}"
                for name in sorted(before.keys() & after.keys())
                if set(before[name].sources) != set(after[name].sources)
            ),
        )

    def _send(self, remote: Remote, staged: Staged, plan: Plan) -> PushResult:
        """Uploads, commits, looks at what came of it, and sets the tag last."""
        parent, pull, release = remote.head, self.options.pull_request, f"v{plan.release}"
        assert parent is not None
        interrupted = f"v{remote.release}"
        if remote.release and interrupted not in remote.tags and remote.is_whole():
            self._tag(interrupted, parent)  # before the head moves on
            self.notes.append(f"{interrupted} had no tag, for its push was interrupted: it has one now")
        if pull and (proposed := self._proposed(staged)):
            self.notes.append("the same content was proposed before")
            return self._result("proposed", plan, proposed)

        adds = staged.adds(remote.tree)
        oid, url = self._commit(staged, adds, remote.tree, parent, f"Release {release}")
        if pull:
            return self._result("proposed", plan, oid, url)
        self._read_back(staged, oid, self.local.configs)
        try:
            self._tag(release, oid)
        except RemoteError as error:
            raise RemoteError(
                f"main of {self.hub.repo} has the release ({oid[:12]}); only its tag {release} is missing, and the next"
                f" push sets it: {error}", error.status, transient=error.transient,
            ) from error  # fmt: skip

        content = staged.files[staging.CHANGELOG].content
        assert isinstance(content, bytes)
        beside = self.folder / f".{staging.CHANGELOG}.new"
        try:
            beside.write_bytes(content)
            beside.replace(self.folder / staging.CHANGELOG)
        except OSError as error:  # the release is out, so a full disk is worth no more than a note
            self.notes.append(f"{self.folder / staging.CHANGELOG} could not be written ({error.strerror})")
        if plan.unmanaged:
            self.notes.append(
                f"{len(plan.unmanaged)} files that no release put there stay: {', '.join(plan.unmanaged)}"
            )
        return self._result("published", plan, oid)

    def _tag(self, name: str, oid: str) -> None:
        """Sets the tag, once; a tag that is there is never moved.

        Raises:
            RemoteError: another commit has it.
        """

        def tagged() -> str | None:
            refs = self.hub.refs()
            tagged_commit = refs.tags.get(name) if refs else None
            if tagged_commit and tagged_commit != oid:
                raise RemoteError(
                    f"{name} of {self.hub.repo} was set to {tagged_commit[:12]} by somebody else; a tag is never moved:"
                    " give --release another number"
                )
            return tagged_commit

        self._send_once(lambda: self.hub.tag(name, oid, f"discoprobe {name}"), tagged)


class _Restore(_Sender):
    """A release that is put back: `run` tells it from the tag to the commit."""

    def run(self, release: diff.Version, confirm: Callable[[Plan], bool]) -> PushResult:
        hub, tag = self.hub, f"v{release}"
        if not self.options.dry_run:
            hub.check_rights(pull=self.options.pull_request)
        refs = hub.refs()
        if refs is None or refs.head is None or tag not in refs.tags:
            last = diff.latest(refs.tags if refs else ())
            raise RemoteError(f"{hub.repo} has no release {tag}" + (f"; its last one is v{last}" if last else ""))
        oid, head, now = refs.tags[tag], refs.head, hub.tree(refs.head)
        released = staging.read_release(hub, tag, oid)
        files = {path: released.tree[path] for path in (manifest.NAME, *manifest.listed(released.manifest))}
        keeps = staging.unmanaged_beside(released.manifest, now, staging.listed_at(hub, head, now), hub.repo)
        staged = Staged(released.manifest, {path: StagedFile(None, file) for path, file in files.items()}, keeps)
        differing = [path for path, file in files.items() if now.get(path) != file]
        plan = Plan(
            hub.repo, str(release), "", None, {path: files[path].bytes or 0 for path in differing}, staged.deletes(now),
            unmanaged=tuple(sorted(keeps - staging.GIT)),
        )  # fmt: skip
        if not staged.differing(now):
            return self._result("unchanged", plan, head)
        if self.options.dry_run:
            return self._result("planned", plan)
        if not confirm(plan):
            return self._result("declined", plan)
        hub.fetch(differing, oid)
        contents: dict[str, Content] = {path: hub.download(path, oid, files[path]) for path in differing}
        commit, url = self._commit(staged, contents, now, head, f"Restore {tag}")
        if self.options.pull_request:
            return self._result("proposed", plan, commit, url)
        self._read_back(staged, commit, released.manifest.configs)
        return self._result("restored", plan, commit)
