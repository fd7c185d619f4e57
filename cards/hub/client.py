"""The Hub as publishing needs it: the one module that calls `huggingface_hub`.

Reads and uploads are tried again; the waits grow, or are as long as the Hub asks. A commit and a tag are sent once: if
no answer comes, `push` looks whether they were made. Every failure is a `HubError` in plain words (`failures`).

Errors of the Hub and of the network as one line of plain words, without tokens and signed addresses.
"""

from __future__ import annotations

import errno
import glob
import itertools
import logging
import os
import re
import threading
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from discoprobe.loaders.errors import IntegrityError, RemoteError, RetryPolicy, UsageError, asked_wait
from discoprobe.loaders.file_hashes import hashes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import httpx2
    from huggingface_hub import CommitOperationAdd

    from discoprobe.loaders.file_hashes import FileHashes


_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class HubError(RemoteError):
    """The Hub or the way to it failed.

    Attributes:
        status: HTTP status; None where there was no answer.
        transient: whether it may go well the next time.
        wait: seconds that the Hub asked to wait.
    """

    def __init__(self, message: str, *, status: int | None, transient: bool, wait: float | None = None) -> None:
        super().__init__(message)
        self.status, self.transient, self.wait = status, transient, wait


@dataclass(frozen=True, slots=True)
class Failures:
    """What went wrong with a repository at an endpoint, in messages that do not show the token."""

    repo: str
    endpoint: str
    token: str | None = field(repr=False)

    def told(self, error: BaseException, doing: str) -> HubError | None:
        """The error in plain words; None for one that has nothing to do with the Hub."""
        if odd := self._odd(error, doing):
            return odd
        if clear := next((clear for cause in _causes(error) if (clear := self._cause(cause, doing))), None):
            return clear
        if isinstance(error, ValueError):  # what the client says of an answer that it cannot use
            words = f"the Hub's answer while {doing} is not as expected ({self.safe(str(error))}); try later"
            return HubError(words, status=None, transient=True)
        return None

    def _cause(self, cause: BaseException, doing: str) -> HubError | None:
        import httpx2  # noqa: PLC0415
        from huggingface_hub import errors  # noqa: PLC0415

        if isinstance(cause, errors.LocalTokenNotFoundError):
            return final(f"no token for {self.endpoint}; log in with `hf auth login` or set HF_TOKEN", 401)
        if isinstance(cause, errors.OfflineModeIsEnabled):
            return final(f"HF_HUB_OFFLINE is set, so {self.repo} cannot be reached; unset it")
        if isinstance(cause, errors.HfHubHTTPError):
            return self._answered(cause, doing)
        if isinstance(cause, httpx2.HTTPError):
            words = (
                f"no answer from {self.endpoint} while {doing} ({type(cause).__name__}); check the network, then run it"
            )
            return HubError(f"{words} again: nothing is half published", status=None, transient=True)
        return self._system(cause, doing) if isinstance(cause, OSError) else None

    def _system(self, error: OSError, doing: str) -> HubError | None:
        from huggingface_hub import errors  # noqa: PLC0415

        if isinstance(error, errors.FileMetadataError):
            return final(f"what answers while {doing} is not the Hub: a file comes without its hash and commit")
        if error.errno is None and doing == "uploading":  # an error of this machine has a number
            return self.storage(self.safe(str(error)), doing)
        full = error.errno in _DISK_FULL
        return final(f"no space left on this machine while {doing}; free some, then run it again") if full else None

    def _odd(self, error: BaseException, doing: str) -> HubError | None:
        if isinstance(error, ValueError) and "Invalid metadata in README.md" in str(error):
            return final(f"the Hub refuses the card: {self.safe(str(error))}", 400)
        if isinstance(error, ValueError) and type(error).__name__ == "JSONDecodeError":
            # the check of a card reads JSON before it looks at the status: a busy Hub's page of HTML ends up here
            return HubError(f"the Hub's answer while {doing} is not JSON; try later", status=None, transient=True)
        if isinstance(error, (LookupError, TypeError, AttributeError)):
            words = f"the Hub's answer while {doing} is incomplete ({type(error).__name__}); try later"
            return HubError(words, status=None, transient=True)
        if type(error) is RuntimeError and error.__cause__ is None:
            return self.storage(self.safe(str(error)), doing)
        return None

    def storage(self, message: str, doing: str, *, transient: bool = False) -> HubError:
        """A failure of the storage of large files (Xet): its client gives up with a text only."""
        if re.search(r"\b40[13]\b|[Ff]orbidden|[Uu]nauthorized", message):
            return final(f"the Hub's storage (Xet) refuses the token while {doing}; use one with write access", 403)
        status = re.search(r"\(([45]\d\d [A-Z][\w ]*)\)", message)
        words = (
            f"the Hub's storage (Xet) failed while {doing} ({status[1] if status else message[:120]}); nothing was"
            " published: try later, or with HF_HUB_DISABLE_XET=1"
        )
        return HubError(words, status=int(status[1][:3]) if status else None, transient=transient)

    def _answered(self, error: Any, doing: str) -> HubError:
        response = error.response
        status = int(response.status_code)
        message = self.safe(response.headers.get("X-Error-Message") or getattr(error, "server_message", None) or "")
        message = "" if message.startswith("<") else message  # a page of a proxy
        return HubError(
            self._words(status, doing) + (f" (the Hub says: {message})" if message else ""),
            status=status, transient=status in _TRANSIENT, wait=asked_wait(response.headers),
        )  # fmt: skip

    def _words(self, status: int, doing: str) -> str:
        known = {
            401: f"the Hub requires a valid token while {doing} (401); log in with `hf auth login` or set HF_TOKEN,"
            f" and check the name {self.repo}: a wrong one gets the same answer",
            403: f"the token may not do this to {self.repo} while {doing} (403); use one with write access to it",
            404: f"{self.repo}, or a file of it, does not exist or is hidden from this token, while {doing} (404)",
            409: f"the Hub is processing another change of {self.repo} while {doing} (409); run it again in a minute",
            412: f"somebody else has committed to {self.repo} meanwhile (412); run it again",
            413: f"too large for the Hub while {doing} (413); build fewer languages at once",
            429: f"the Hub's rate limit is used up while {doing} (429); wait some minutes, then run it again",
        }
        if status in _TRANSIENT:
            return known.get(status, f"the Hub answered {status} while {doing}; try later: nothing is half published")
        return known.get(status, f"the Hub refuses this while {doing} ({status}): nothing was published")

    def safe(self, text: str) -> str:
        """Text from elsewhere on one line, without tokens and without the signed part of addresses."""
        text = text.replace(self.token, "hf_…") if self.token else text
        text = re.sub(r"\bhf_\w{4,}|(?<=\?)\S*(?:Signature|token|Credential)=\S*", "…", text)
        return " ".join(text.split())[:300]


def final(message: str, status: int | None = None) -> HubError:
    """An error that another try does not remove."""
    return HubError(message, status=status, transient=False)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes; the client wraps a failed upload in an error of its own."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


Content: TypeAlias = "Path | bytes"
Result = TypeVar("Result")

REPO_TYPE = "dataset"
MAIN = "main"
BATCH = 64
"""Files per upload call: progress is shown after each, and a killed push has lost at most one."""

_SILENCE, _AGAIN = 20.0, 60.0
"""Seconds without an answer until a line says that the program still waits, and seconds between further lines."""
_STORAGE_ANSWER = 15.0
"""Seconds that the storage of large files (Xet) has for its first answer, before anything is sent to it."""
_STORAGE_LEAST, _STORAGE_SPEED = 120.0, 5_000
"""Time limit of an upload to the storage: a number of seconds, plus the size at a speed in bytes per second."""
_STORAGE_WAITS = {"HF_XET_CLIENT_RETRY_BASE_DELAY": "1s", "HF_XET_CLIENT_RETRY_MAX_DURATION": "20s"}
"""Settings of the storage's client (Xet): how long it tries a request again; six minutes by default."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a revision: its size, SHA-256 where it is stored with LFS, and its git blob."""

    size: int
    sha256: str | None
    blob: str

    def holds(self, hashes: FileHashes) -> bool:
        """Whether the file's bytes have these hashes."""
        return self.sha256 == hashes.sha256 if self.sha256 else self.blob == hashes.git_blob_sha1


@dataclass(frozen=True, slots=True)
class Refs:
    """Branches, tags and pull requests of a repository, each with the commit it stands at."""

    head: str | None
    tags: Mapping[str, str]
    pulls: Mapping[str, str]


class Hub:
    """A dataset repository on the Hub.

    Args:
        repo: ``owner/name``.
        endpoint: address of the Hub; by default ``HF_ENDPOINT``, else huggingface.co.
        token: by default the one of ``HF_TOKEN`` or of ``hf auth login``.
        retry: how often and how long to try.

    Raises:
        UsageError: if ``repo`` is no ``owner/name``.
    """

    def __init__(
        self, repo: str, *, endpoint: str | None = None, token: str | None = None, retry: RetryPolicy | None = None
    ) -> None:
        check_repo_name(repo)
        if token is None:
            token = os.environ.get("HF_TOKEN")
        token = (token or "").strip() or None
        if token and not re.fullmatch("[!-~]+", token):
            raise UsageError("the token of the Hub (HF_TOKEN) has characters that no token has; copy it again")
        from huggingface_hub import HfApi  # noqa: PLC0415 (half a second that only publishing needs)

        self.repo = repo
        self.retry = retry or RetryPolicy()
        self._api = HfApi(endpoint=endpoint, token=token, library_name="discoprobe")
        self._failures = Failures(repo, str(self._api.endpoint), token)
        self._where: dict[str, Any] = {"repo_id": repo, "repo_type": REPO_TYPE}
        _quiet()
        _set_timeout(self.retry.timeout)
        for name, value in _STORAGE_WAITS.items():
            os.environ.setdefault(name, value)

    @property
    def endpoint(self) -> str:
        """Address of the Hub."""
        return str(self._api.endpoint)

    def url(self, revision: str) -> str:
        """Where a person sees a revision."""
        return f"{self.endpoint}/datasets/{self.repo}/tree/{revision}"

    # reading

    def check_rights(self, *, pull: bool = False) -> None:
        """Makes sure that the token may write to the repository.

        Args:
            pull: only propose a pull request, which needs no right to write to the owner's repositories.

        Raises:
            HubError: there is no token, it is not valid, it can only read, or the repository belongs to somebody else.
        """
        user = self._tried("checking the token", lambda: _named(self._api.whoami()))
        if user.get("auth", {}).get("accessToken", {}).get("role") == "read":
            message = "the token can only read, so the Hub would refuse the push (403); make one with write access"
            raise HubError(f"{message} at {self.endpoint}/settings/tokens", status=403, transient=False)
        owner = self.repo.partition("/")[0]
        writable = [org["name"] for org in user.get("orgs", []) if org.get("roleInOrg") != "read"]
        if not pull and owner not in {user.get("name"), *writable}:
            names = ", ".join(name for name in (user.get("name"), *writable) if name)
            raise final(
                f"the token of {user.get('name')} may not write to repositories of {owner} (403); give a --repo of"
                f" {names}, or --create-pr to propose a pull request", 403,
            )  # fmt: skip

    def refs(self, *, pulls: bool = False) -> Refs | None:
        """Where branch, tags and (if asked for) pull requests stand; None if there is no such repository."""
        try:
            refs = self._ask("reading the refs", self._api.list_repo_refs, include_pull_requests=pulls)
        except HubError as error:
            if error.status == 404:  # noqa: PLR2004 (HTTP's number)
                return None
            raise
        head = next((ref.target_commit for ref in refs.branches if ref.name == MAIN), None)
        return Refs(
            head,
            {ref.name: ref.target_commit for ref in refs.tags},
            {ref.ref: ref.target_commit for ref in refs.pull_requests or []},
        )

    def tree(self, revision: str) -> dict[str, RemoteFile]:
        """All files of a revision, by path.

        Raises:
            HubError: if there is no such repository or revision.
        """
        from huggingface_hub import RepoFile  # noqa: PLC0415

        entries = self._tried(
            "listing the files",
            lambda: list(self._api.list_repo_tree(**self._where, revision=revision, recursive=True)),
        )
        return {
            file.path: RemoteFile(file.size, file.lfs.sha256 if file.lfs else None, file.blob_id)
            for file in entries
            if isinstance(file, RepoFile)
        }

    def has(self, path: str, revision: str) -> bool:
        """Whether a revision has a file, whatever its listing says."""
        return self._ask(f"looking for {path}", self._api.file_exists, filename=path, revision=revision)

    def commit_of(self, revision: str) -> str:
        """The full commit id of a tag, branch or short id.

        Raises:
            HubError: if there is no such repository or revision.
        """
        return str(self._ask(f"looking for {revision}", self._api.repo_info, revision=revision).sha)

    def download(self, path: str, revision: str, expected: RemoteFile) -> Path:
        """A file of a commit, from the client's cache if it is there, in any case the right bytes.

        Raises:
            HubError: if it cannot be had.
            IntegrityError: if what comes is not what the Hub lists, twice.
        """
        get = self._api.hf_hub_download
        for force in (False, True):
            local = self._ask(f"downloading {path}", get, filename=path, revision=revision, force_download=force)
            if expected.holds(hashes_of(Path(local))):
                return Path(local)
        raise IntegrityError(f"{self.repo}: the downloaded {path} is not the file that the Hub lists; try again later")

    def fetch(self, paths: Sequence[str], revision: str) -> None:
        """Brings files into the client's cache, several at once; `download` then finds and checks them there."""
        if paths:
            literal = [*map(glob.escape, paths)]
            self._ask("downloading", self._api.snapshot_download, revision=revision, allow_patterns=literal)

    def since(self, parent: str) -> dict[str, str]:
        """The commits of main after ``parent``, newest first, each in words with author and title.

        All of the history that is at hand if ``parent`` is not in it.
        """
        commits = self._ask("reading the history", self._api.list_repo_commits, revision=MAIN)
        newer = itertools.takewhile(lambda commit: commit.commit_id != parent, commits)
        return {
            one.commit_id: f"{one.commit_id[:12]} ({', '.join(one.authors) or 'unknown'}: {one.title})" for one in newer
        }

    # writing

    def create(self, *, private: bool = False) -> None:
        """Creates the repository, if it does not exist yet."""
        self._ask("creating the repository", self._api.create_repo, exist_ok=True, private=private or None)

    def upload(
        self, files: Mapping[str, Content], *, pull: bool, progress: Callable[[str, int, int], None]
    ) -> list[CommitOperationAdd]:
        """Sends what the Hub does not hold yet; nothing is visible before the commit, and nothing is sent twice.

        Returns:
            What to commit; it can be used again when the commit is tried again.
        """
        from huggingface_hub import CommitOperationAdd  # noqa: PLC0415

        additions = [CommitOperationAdd(path, content) for path, content in sorted(files.items())]
        if _uses_storage() and any(path.endswith(".parquet") for path in files):
            self._tried("asking its storage (Xet)", lambda: self._ask_storage(pull=pull))
        progress("uploading", 0, len(additions))
        for start in range(0, len(additions), BATCH):
            self._send(additions[start : start + BATCH], pull=pull)
            progress("uploading", min(start + BATCH, len(additions)), len(additions))
        return additions

    def _send(self, batch: list[CommitOperationAdd], *, pull: bool) -> None:
        size = sum(one.upload_info.size for one in batch)
        self._tried(
            "uploading", lambda: self._api.preupload_lfs_files(additions=batch, **self._where, create_pr=pull or None),
            limit=_STORAGE_LEAST + size / _STORAGE_SPEED if _uses_storage() else None,
        )  # fmt: skip

    def _ask_storage(self, *, pull: bool) -> None:
        """Asks the storage of large files (Xet) for a piece that it cannot hold, with a token for the upload.

        Its own client says nothing until it gives up; so one that does not work is found here, before the upload.

        Raises:
            HubError: the storage refuses the token, fails, or does not answer in time.
        """
        import httpx2  # noqa: PLC0415
        from huggingface_hub import get_session  # noqa: PLC0415
        from huggingface_hub.utils import build_hf_headers, hf_raise_for_status  # noqa: PLC0415

        address = f"{self.endpoint}/api/datasets/{self.repo}/xet-write-token/{MAIN}{'?create_pr=1' * pull}"
        granted = get_session().get(address, headers=build_hf_headers(token=self._api.token))
        hf_raise_for_status(granted)
        piece = f"{granted.headers['X-Xet-Cas-Url']}/v1/chunks/default/{'0' * 64}"
        headers = {"Authorization": f"Bearer {granted.headers['X-Xet-Access-Token']}"}
        try:
            answer = get_session().get(piece, headers=headers, timeout=_STORAGE_ANSWER)
        except httpx2.TimeoutException as error:
            raise self._failures.storage(f"no answer within {_STORAGE_ANSWER:.0f} s", "uploading") from error
        except httpx2.HTTPError as error:
            words = f"no connection: {type(error).__name__}"
            raise self._failures.storage(words, "uploading", transient=True) from error
        if answer.status_code in {401, 403} or answer.is_server_error:
            words = f"({answer.status_code} {answer.reason_phrase or 'Error'})"
            raise self._failures.storage(words, "uploading", transient=answer.is_server_error)

    def commit(
        self, additions: Sequence[CommitOperationAdd], deletes: Sequence[str], *, message: str, parent: str, pull: bool
    ) -> tuple[str, str | None]:
        """Makes one commit on top of ``parent``; sent once.

        Returns:
            Its id and, if it is proposed, the address of its pull request.

        Raises:
            HubError: if it was refused, or if no answer came and it may or may not have been made.
        """
        from huggingface_hub import CommitOperationDelete  # noqa: PLC0415

        operations: list[Any] = [*additions, *(CommitOperationDelete(path) for path in deletes)]
        made = self._once(
            "committing",
            lambda: self._api.create_commit(
                operations=operations, commit_message=message, parent_commit=parent, create_pr=pull or None,
                **self._where,
            ),
        )  # fmt: skip
        return made.oid, made.pr_url

    def tag(self, name: str, oid: str, message: str) -> None:
        """Makes a tag; sent once, and never moves one that is there.

        Raises:
            HubError: as for `commit`; status 409 if there is such a tag.
        """
        self._once("tagging", lambda: self._api.create_tag(**self._where, tag=name, revision=oid, tag_message=message))

    # reading back, as users will

    def load(self, config: str, revision: str, cache: Path) -> dict[str, int]:
        """Rows per split that `datasets` loads.

        Raises:
            HubError: if it does not load.
        """
        from datasets import load_dataset  # noqa: PLC0415 (a second)
        from datasets.utils import disable_progress_bars  # noqa: PLC0415

        disable_progress_bars()
        try:
            loaded = load_dataset(self.repo, config, revision=revision, token=self._api.token, cache_dir=str(cache))
        except Exception as error:  # `datasets` lets anything through, down to the parquet reader's errors
            raise self._failures.told(error, f"loading {config}") or HubError(
                f"{self.repo}: {config} does not load ({self._failures.safe(str(error))})", status=None, transient=False
            ) from error
        return {split: table.num_rows for split, table in loaded.items()}

    # trying

    def _ask(self, doing: str, method: Callable[..., Result], **options: Any) -> Result:
        """What a method of the client answers about the repository; tried again."""
        return self._tried(doing, lambda: method(**self._where, **options))

    def _tried(self, doing: str, function: Callable[[], Result], *, limit: float | None = None) -> Result:
        for attempt in range(self.retry.attempts):
            try:
                return self._once(doing, function, limit=limit)
            except HubError as error:
                if not error.transient or attempt + 1 == self.retry.attempts:
                    raise
                if not attempt:  # minutes can pass until the last try
                    what = f"answered {error.status}" if error.status else "did not answer as it should"
                    _log.warning("%s %s while %s; trying again", self.endpoint, what, doing)
                self.retry.wait(attempt, error.wait)
        raise AssertionError("unreachable")

    def _once(self, doing: str, function: Callable[[], Result], *, limit: float | None = None) -> Result:
        import httpx2  # noqa: PLC0415 (what `huggingface_hub` speaks HTTP with)

        try:
            return _interruptible(function, doing, limit)
        except (httpx2.HTTPError, OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError) as error:
            if clear := self._failures.told(error, doing):
                raise clear from error
            raise


def _interruptible(function: Callable[[], Result], doing: str, limit: float | None) -> Result:
    """The result of a function that runs in a thread: Ctrl-C ends the wait for it, whatever the function waits for.

    The client waits for its own threads, and its storage's client for native ones, until they have their answers. The
    thread goes on after Ctrl-C or the limit, so a program that is to end has to end with ``os._exit``.

    Raises:
        ConnectionError: the result is not there after ``limit`` seconds.
    """
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:  # noqa: BLE001 (raised again in the caller's thread)
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    waited, step = 0.0, _SILENCE
    while not wait([outcome], step).done:
        waited, step = waited + step, _AGAIN
        if limit is not None and waited >= limit:
            raise ConnectionError(f"no end within {waited:.0f} s")
        _log.warning("still %s after %.0f s; Ctrl-C ends it", doing, waited)
    return outcome.result()


def check_repo_name(repo: str) -> None:
    """Makes sure that the Hub accepts a name for a repository.

    Raises:
        UsageError: it is not ``owner/name``, or has what the Hub forbids: ``..``, ``--``, ``.git`` at the end.
    """
    from huggingface_hub.utils import HFValidationError, validate_repo_id  # noqa: PLC0415

    try:
        validate_repo_id(repo)
        valid = bool(re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", repo, re.ASCII))
    except HFValidationError:
        valid = False
    if not valid:
        raise UsageError(f"'{repo}' cannot be a repository of the Hub; write owner/name, such as org/discoprobe")


def _named(user: dict[str, Any]) -> dict[str, Any]:
    """A user as the Hub describes one; a KeyError or TypeError for anything else."""
    user["name"]
    return user


def _uses_storage() -> bool:
    """Whether the client sends large files to the storage of its own (Xet)."""
    from huggingface_hub import constants  # noqa: PLC0415

    return not constants.HF_HUB_DISABLE_XET and find_spec("hf_xet") is not None


def _quiet() -> None:
    """Hides the client's own warnings: they quote signed addresses, and every failure becomes a `HubError`."""
    from huggingface_hub.utils import disable_progress_bars  # noqa: PLC0415

    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    logging.getLogger("httpx2").setLevel(logging.WARNING)


def _set_timeout(seconds: float) -> None:
    """Gives every request of the client a timeout; without it, a silent server would stop a push for ever.

    The sessions of the client keep their own hooks (offline mode, ids of requests).
    """
    import httpx2  # noqa: PLC0415
    from huggingface_hub import get_session, set_client_factory  # noqa: PLC0415

    hooks = [hook for hook in get_session().event_hooks["request"] if not isinstance(hook, _Timeout)]

    def with_timeout() -> httpx2.Client:
        return httpx2.Client(
            event_hooks={"request": [*hooks, _Timeout(seconds)]}, follow_redirects=True, timeout=seconds
        )  # fmt: skip

    set_client_factory(with_timeout)


@dataclass(frozen=True, slots=True)
class _Timeout:
    """Sets the timeout of a request that has none: listings ask for no timeout, whatever the session's is."""

    seconds: float

    def __call__(self, request: httpx2.Request) -> None:
        given = request.extensions.get("timeout", {})
        steps = ("connect", "read", "write", "pool")
        request.extensions["timeout"] = {step: given.get(step) or self.seconds for step in steps}
