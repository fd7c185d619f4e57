"""The Hub as publishing needs it: the one module that calls `huggingface_hub`.

`Hub` is a repository: what it holds (`refs`, `tree`, `download`), what is sent to it (`upload`, `commit`, `tag`), and
what users get from it (`load`). Reads and uploads are tried again (`RetryPolicy`); a commit and a tag are sent once: if
no answer comes, `push` looks whether they were made. Every failure is a `RemoteError`: one line of plain words, without
tokens and signed addresses (`Hub._explain`).
"""

from __future__ import annotations

import datetime as dt
import errno
import functools
import glob
import importlib
import itertools
import logging
import os
import re
import threading
from concurrent.futures import Future, wait
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

import huggingface_hub
import msgspec
from huggingface_hub import CommitOperationAdd, constants, errors, get_session
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import disable_progress_bars, validate_repo_id

from discoprobe.loaders.errors import IntegrityError, RemoteError, RetryPolicy, UsageError, asked_wait
from discoprobe.loaders.files import File, hashes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


Content: TypeAlias = "Path | bytes"
Result = TypeVar("Result")

MAIN = "main"
BATCH = 64
"""Files per upload call: progress is shown after each, and a killed push has lost at most one."""
_SILENCE, _AGAIN = 20.0, 60.0
"""Seconds without an answer until a line says that the program still waits, and seconds between further lines."""
_STORAGE_LEAST, _STORAGE_SPEED = 120.0, 5_000
"""Time limit of an upload to the storage of large files (Xet), whose client has none: seconds, plus size by speed."""
_STORAGE_WAITS = {"HF_XET_CLIENT_RETRY_BASE_DELAY": "1s", "HF_XET_CLIENT_RETRY_MAX_DURATION": "20s"}
"""Settings of the storage's client (Xet): how long it tries a request again; six minutes by default."""
_TRUSTED: Final = "HF_OIDC_RESOURCE"
"""The variable that asks for a token of a trusted publisher, and names its repository: ``datasets/org/name``."""
_EXCHANGE: Final = "/oauth/token"
_REFUSED: Final = frozenset({400, 401, 403, 404})
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_ANSWERS: Final = {
    401: "the Hub requires a valid token while {doing} (401); log in with `hf auth login` or set HF_TOKEN,"
    " and check the name {repo}: a wrong one gets the same answer",
    403: "the token may not do this to {repo} while {doing} (403); use one with write access to it",
    404: "{repo}, or a file of it, does not exist or is hidden from this token, while {doing} (404)",
    409: "the Hub is processing another change of {repo} while {doing} (409); run it again in a minute",
    412: "somebody else has committed to {repo} meanwhile (412); run it again",
    413: "too large for the Hub while {doing} (413); build fewer languages at once",
    429: "the Hub's rate limit is used up while {doing} (429); wait some minutes, then run it again",
}
"""What an HTTP status means, and what to do."""
_OTHER_TRANSIENT: Final = "the Hub answered {status} while {doing}; try later: nothing is half published"
_OTHER: Final = "the Hub refuses this while {doing} ({status}): nothing was published"
_log = logging.getLogger(__name__)

_HTTP: Final[Any] = importlib.import_module(type(get_session()).__module__.partition(".")[0])
"""The library that sends the requests of `huggingface_hub`: httpx2 from its version 2 on, httpx in 1, else requests."""
_NO_EXCHANGE: Final[type[Exception]] = getattr(errors, "OIDCError", errors.LocalTokenNotFoundError)
"""What the client raises if a job cannot get a token for ``HF_OIDC_RESOURCE``; older versions know no such tokens."""
_NO_ANSWER: Final[type[Exception]] = _HTTP.RequestException if _HTTP.__name__ == "requests" else _HTTP.HTTPError


class Change(msgspec.Struct, frozen=True):
    """A commit: its id, who made it, its title, and when (ISO 8601 in UTC)."""

    commit: str
    author: str
    title: str
    time: str


class Hub:
    """A repository on the Hub: of a dataset, if nothing else is said.

    Args:
        repo: ``owner/name``.
        endpoint: address of the Hub; by default ``HF_ENDPOINT``, else huggingface.co.
        token: by default the client's: the one that a job of continuous integration gets for ``HF_OIDC_RESOURCE``
            (Trusted Publishers), else ``HF_TOKEN``, else that of ``hf auth login``.
        retry: how often and how long to try.
        pull_request: propose commits instead of making them, which needs no right to write.
        kind: of repository.

    Raises:
        UsageError: if ``repo`` is no ``owner/name``, ``HF_TOKEN`` no token, or the client too old for trusted
            publishers.
    """

    def __init__(  # noqa: PLR0913 (what is asked of which repository, and as whom)
        self, repo: str, *, endpoint: str | None = None, token: str | None = None, retry: RetryPolicy | None = None,
        pull_request: bool = False, kind: Literal["dataset", "model"] = "dataset",
    ) -> None:  # fmt: skip
        try:
            validate_repo_id(repo)
            valid = bool(re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", repo, re.ASCII))
        except errors.HFValidationError:  # what the Hub forbids: ``..``, ``--``, ``.git`` at the end
            valid = False
        if not valid:
            raise UsageError(f"'{repo}' cannot be a repository of the Hub; write owner/name, such as org/discoprobe")
        self._trusted = os.environ.get(_TRUSTED, "").strip() if token is None else ""
        if self._trusted and not hasattr(errors, "OIDCError"):
            raise UsageError(f"{_TRUSTED} needs a newer client of the Hub: pip install --upgrade huggingface_hub")
        if token is None and not self._trusted:
            token = os.environ.get("HF_TOKEN")
        token = (token or "").strip() or None
        if token and not re.fullmatch("[!-~]+", token):
            raise UsageError("the token of the Hub (HF_TOKEN) has characters that no token has; copy it again")
        self.repo, self.retry, self.pull_request = repo, retry or RetryPolicy(), pull_request
        self._api = huggingface_hub.HfApi(endpoint=endpoint, token=token, library_name="discoprobe")
        self._token = token
        self._where: dict[str, Any] = {"repo_id": repo, "repo_type": kind}
        self._folder = "datasets/" if kind == "dataset" else ""
        _prepare_client(self.retry.timeout)

    @property
    def endpoint(self) -> str:
        """Address of the Hub."""
        return str(self._api.endpoint)

    def url(self, revision: str) -> str:
        """Where a person sees a revision."""
        return f"{self.endpoint}/{self._folder}{self.repo}/tree/{revision}"

    # reading

    def check_rights(self) -> None:
        """Makes sure that the token may write to the repository, or propose a pull request.

        The token of a trusted publisher belongs to no member of an organisation: it is for the repository that
        ``HF_OIDC_RESOURCE`` names.

        Raises:
            RemoteError: there is no token, it is not valid, it can only read, or the repository is somebody else's.
        """

        def named_user() -> dict[str, Any]:
            user = self._api.whoami()
            user["name"]  # an answer without it is not the Hub's: the KeyError or TypeError is explained
            return user

        user = self._retry("checking the token", named_user)
        if user.get("auth", {}).get("accessToken", {}).get("role") == "read":
            message = "the token can only read, so the Hub would refuse the push (403); make one with write access"
            raise RemoteError(f"{message} at {self.endpoint}/settings/tokens", 403)
        if self._trusted:
            if self._trusted != f"{self._folder}{self.repo}":
                raise RemoteError(
                    f"{_TRUSTED} is {self._trusted}, so the token may not write to {self.repo} (403); set it to"
                    f" {self._folder}{self.repo}", 403,
                )  # fmt: skip
            return
        owner = self.repo.partition("/")[0]
        writable = [org["name"] for org in user.get("orgs", []) if org.get("roleInOrg") != "read"]
        if not self.pull_request and owner not in {user.get("name"), *writable}:
            names = ", ".join(name for name in (user.get("name"), *writable) if name)
            raise RemoteError(
                f"the token of {user.get('name')} may not write to repositories of {owner} (403); give a --repo of"
                f" {names}, or --create-pr to propose a pull request", 403,
            )  # fmt: skip

    def refs(self) -> tuple[str | None, dict[str, str]]:
        """The commit of main, and that of each tag; None and nothing if there is no such repository."""
        refs = self._list_refs(pulls=False)
        head = next((ref.target_commit for ref in refs.branches if ref.name == MAIN), None) if refs else None
        return head, {ref.name: ref.target_commit for ref in refs.tags} if refs else {}

    def pulls(self) -> list[str]:
        """The commits of the pull requests."""
        refs = self._list_refs(pulls=True)
        return [ref.target_commit for ref in (refs and refs.pull_requests) or []]

    def _list_refs(self, *, pulls: bool) -> huggingface_hub.GitRefs | None:
        try:
            return self._ask("reading the refs", self._api.list_repo_refs, include_pull_requests=pulls)
        except RemoteError as error:
            if error.status == 404:  # noqa: PLR2004 (HTTP's number)
                return None
            raise

    def tree(self, revision: str) -> dict[str, File]:
        """All files of a revision, by path: with their SHA-256 where they are stored with LFS, else with git's hash.

        Raises:
            RemoteError: if there is no such repository or revision.
        """
        entries = self._retry(
            "listing the files",
            lambda: list(self._api.list_repo_tree(**self._where, revision=revision, recursive=True)),
        )
        return {
            file.path: (
                File(file.path, file.lfs.sha256, file.size)
                if file.lfs
                else File(file.path, "", file.size, file.blob_id)
            )
            for file in entries
            if isinstance(file, RepoFile)
        }

    def has(self, path: str, revision: str) -> bool:
        """Whether a revision has a file, whatever its listing says."""
        return self._ask(f"looking for {path}", self._api.file_exists, filename=path, revision=revision)

    def commit_of(self, revision: str) -> str:
        """The full commit id of a tag, branch or short id.

        Raises:
            RemoteError: if there is no such repository or revision.
        """
        return str(self._ask(f"looking for {revision}", self._api.repo_info, revision=revision).sha)

    def download(self, path: str, revision: str, expected: File) -> Path:
        """A file of a commit, from the client's cache if it is there, in any case the right bytes.

        Raises:
            RemoteError: if it cannot be had.
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
        return {
            change.commit: f"{change.commit[:12]} ({change.author}: {change.title})"
            for change in self.changes_since(parent)
        }

    def changes_since(self, parent: str, revision: str = MAIN) -> list[Change]:
        """The commits of a branch or pull request after ``parent``, newest first.

        All of the history that is at hand if ``parent`` is not in it.
        """
        commits = self._ask("reading the history", self._api.list_repo_commits, revision=revision)
        newer = itertools.takewhile(lambda commit: commit.commit_id != parent, commits)
        return [
            Change(
                commit.commit_id, ", ".join(commit.authors) or "unknown", commit.title,
                commit.created_at.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            )
            for commit in newer
        ]  # fmt: skip

    # writing

    def create(self, *, private: bool = False) -> None:
        """Creates the repository, if it does not exist yet."""
        self._ask("creating the repository", self._api.create_repo, exist_ok=True, private=private or None)

    def upload(
        self, files: Mapping[str, Content], progress: Callable[[str, int, int], None]
    ) -> list[CommitOperationAdd]:
        """Sends what the Hub does not hold yet; nothing is visible before the commit, and nothing is sent twice.

        Returns:
            What to commit; it can be used again when the commit is tried again.
        """
        additions = [CommitOperationAdd(path, content) for path, content in sorted(files.items())]
        uses_storage = not constants.HF_HUB_DISABLE_XET and find_spec("hf_xet") is not None
        progress("uploading: files", 0, len(additions))
        for start in range(0, len(additions), BATCH):
            batch = additions[start : start + BATCH]
            size = sum(addition.upload_info.size for addition in batch)
            send = functools.partial(
                self._api.preupload_lfs_files, additions=batch, **self._where, create_pr=self.pull_request or None
            )
            limit = _STORAGE_LEAST + size / _STORAGE_SPEED if uses_storage else None
            self._retry("uploading", send, limit=limit)
            progress("uploading: files", min(start + BATCH, len(additions)), len(additions))
        return additions

    def commit(
        self, additions: Sequence[CommitOperationAdd], deletes: Sequence[str], *, message: str, parent: str
    ) -> tuple[str, str]:
        """Makes one commit on top of ``parent``; sent once.

        Returns:
            Its id and, if it is proposed, the address of its pull request, else empty.

        Raises:
            RemoteError: if it was refused, or if no answer came and it may or may not have been made.
        """
        operations: list[Any] = [*additions, *(huggingface_hub.CommitOperationDelete(path) for path in deletes)]
        commit = self._try_once(
            "committing",
            lambda: self._api.create_commit(
                operations=operations, commit_message=message, parent_commit=parent,
                create_pr=self.pull_request or None, **self._where,
            ),
        )  # fmt: skip
        return commit.oid, commit.pr_url or ""

    def tag(self, name: str, oid: str, message: str) -> None:
        """Makes a tag; sent once, and never moves one that is there.

        Raises:
            RemoteError: as for `commit`; status 409 if there is such a tag.
        """
        self._try_once(
            "tagging", lambda: self._api.create_tag(**self._where, tag=name, revision=oid, tag_message=message)
        )

    # reading back, as users will

    def load(self, config: str, revision: str, cache: Path) -> dict[str, int]:
        """Rows per split that `datasets` loads.

        Raises:
            RemoteError: if it does not load.
        """
        import datasets

        datasets.disable_progress_bars()
        try:
            loaded = datasets.load_dataset(
                self.repo, config, revision=revision, token=self._api.token, cache_dir=str(cache)
            )
        except Exception as error:  # `datasets` lets anything through, down to the parquet reader's errors
            raise self._explain(error, f"loading {config}") or RemoteError(
                f"{self.repo}: {config} does not load ({self._safe(str(error))})"
            ) from error
        return {split: table.num_rows for split, table in loaded.items()}

    # trying

    def _ask(self, doing: str, method: Callable[..., Result], **options: Any) -> Result:
        """What a method of the client answers about the repository; tried again."""
        return self._retry(doing, lambda: method(**self._where, **options))

    def _retry(self, doing: str, function: Callable[[], Result], *, limit: float | None = None) -> Result:
        for attempt in range(self.retry.attempts):
            try:
                return self._try_once(doing, function, limit=limit)
            except RemoteError as error:
                if not error.transient or attempt + 1 == self.retry.attempts:
                    raise
                if not attempt:  # minutes can pass until the last try
                    what = f"answered {error.status}" if error.status else "did not answer as it should"
                    _log.warning("%s %s while %s; trying again", self.endpoint, what, doing)
                self.retry.wait(attempt, error.wait)
        raise AssertionError("unreachable")

    def _try_once(self, doing: str, function: Callable[[], Result], *, limit: float | None = None) -> Result:
        try:
            return _run_interruptibly(function, doing, limit)
        except (
            _NO_ANSWER, _NO_EXCHANGE, OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError,
        ) as error:  # fmt: skip
            if explained := self._explain(error, doing):
                raise explained from error
            raise

    # what went wrong, without the token

    def _explain(self, error: BaseException, doing: str) -> RemoteError | None:  # noqa: PLR0911 (one per kind of error)
        """The error in plain words; None for one that has nothing to do with the Hub."""
        if isinstance(error, ValueError) and "Invalid metadata in README.md" in str(error):
            return RemoteError(f"the Hub refuses the card: {self._safe(str(error))}", 400)
        if isinstance(error, ValueError) and type(error).__name__ == "JSONDecodeError":
            # the check of a card reads JSON before it looks at the status: a busy Hub's page of HTML ends up here
            return RemoteError(f"the Hub's answer while {doing} is not JSON; try later", transient=True)
        if isinstance(error, (LookupError, TypeError, AttributeError)):
            words = f"the Hub's answer while {doing} is incomplete ({type(error).__name__}); try later"
            return RemoteError(words, transient=True)
        if type(error) is RuntimeError and error.__cause__ is None:
            return self._explain_storage(self._safe(str(error)), doing)
        cause: BaseException | None = error
        while cause is not None:  # the client wraps a failed upload in an error of its own
            if explained := self._explain_cause(cause, doing):
                return explained
            cause = cause.__cause__ or cause.__context__
        if isinstance(error, ValueError):  # what the client says of an answer that it cannot use
            words = f"the Hub's answer while {doing} is not as expected ({self._safe(str(error))}); try later"
            return RemoteError(words, transient=True)
        return None

    def _explain_cause(self, cause: BaseException, doing: str) -> RemoteError | None:  # noqa: PLR0911 (the same)
        if isinstance(cause, _NO_EXCHANGE):
            words = "this job has no token of its provider: give it `permissions: id-token: write`, or HF_OIDC_ID_TOKEN"
            return RemoteError(f"{words} ({self._safe(str(cause))})", 401)
        if isinstance(cause, errors.LocalTokenNotFoundError):
            return RemoteError(f"no token for {self.endpoint}; log in with `hf auth login` or set HF_TOKEN", 401)
        if isinstance(cause, errors.OfflineModeIsEnabled):
            return RemoteError(f"HF_HUB_OFFLINE is set, so {self.repo} cannot be reached; unset it")
        if isinstance(cause, errors.HfHubHTTPError) or getattr(cause, "response", None) is not None:
            return self._explain_answer(cause, doing)
        if isinstance(cause, _NO_ANSWER):
            words = (
                f"no answer from {self.endpoint} while {doing} ({type(cause).__name__}); check the network, then run it"
            )
            return RemoteError(f"{words} again: nothing is half published", transient=True)
        if isinstance(cause, errors.FileMetadataError):
            return RemoteError(f"what answers while {doing} is not the Hub: a file comes without its hash and commit")
        if isinstance(cause, OSError) and cause.errno is None and doing == "uploading":
            return self._explain_storage(self._safe(str(cause)), doing)  # an error of this machine has a number
        if isinstance(cause, OSError) and cause.errno in _DISK_FULL:
            return RemoteError(f"no space left on this machine while {doing}; free some, then run it again")
        return None

    def _explain_answer(self, error: Any, doing: str) -> RemoteError:
        status, headers = int(error.response.status_code), error.response.headers
        if self._trusted and str(error.response.url).partition("?")[0].endswith(_EXCHANGE) and status in _REFUSED:
            return RemoteError(
                f"the Hub does not trust this job to publish {self._trusted} ({status}); add the repository of the"
                f" workflow and its file at {self.endpoint}/{self._trusted}/settings, Trusted Publishers", status,
            )  # fmt: skip
        transient = status in _TRANSIENT
        words = _ANSWERS.get(status, _OTHER_TRANSIENT if transient else _OTHER)
        words = words.format(doing=doing, repo=self.repo, status=status)
        message = self._safe(headers.get("X-Error-Message") or getattr(error, "server_message", "") or "")
        if message and not message.startswith("<"):  # a page of a proxy
            words += f" (the Hub says: {message})"
        return RemoteError(words, status, transient=transient, wait=asked_wait(headers))

    def _explain_storage(self, message: str, doing: str) -> RemoteError:
        """A failure of the storage of large files (Xet): its client gives up with a text only."""
        if re.search(r"\b40[13]\b|[Ff]orbidden|[Uu]nauthorized", message):
            return RemoteError(
                f"the Hub's storage (Xet) refuses the token while {doing}; use one with write access", 403
            )
        status = re.search(r"\(([45]\d\d [A-Z][\w ]*)\)", message)
        words = (
            f"the Hub's storage (Xet) failed while {doing} ({status[1] if status else message[:120]}); nothing was"
            " published: try later, or with HF_HUB_DISABLE_XET=1"
        )
        return RemoteError(words, int(status[1][:3]) if status else None)

    def _safe(self, text: str) -> str:
        """Text from elsewhere on one line, without tokens and without the signed part of addresses."""
        text = text.replace(self._token, "hf_…") if self._token else text
        text = re.sub(r"\bhf_[\w.-]{4,}|\beyJ[\w-]+\.[\w.-]+|(?<=\?)\S*(?:Signature|token|Credential)=\S*", "…", text)
        return " ".join(text.split())[:300]


def _run_interruptibly(function: Callable[[], Result], doing: str, limit: float | None) -> Result:
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


def _prepare_client(timeout: float) -> None:
    """Makes the client of this program quiet, with a timeout for every request.

    Its own warnings quote signed addresses, and every failure becomes a `RemoteError`. Without a timeout, a silent
    server would stop a push for ever. The sessions of the client keep their own hooks (offline mode, ids of requests).
    """
    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    logging.getLogger(_HTTP.__name__).setLevel(logging.WARNING)
    for name, value in _STORAGE_WAITS.items():
        os.environ.setdefault(name, value)
    if _HTTP.__name__ == "requests":
        import requests  # noqa: PLC0415 (newer versions of the client do without it)

        class Session(requests.Session):
            def request(self, *arguments: Any, **options: Any) -> requests.Response:
                return super().request(*arguments, **options | {"timeout": options.get("timeout") or timeout})

        adapters = cast("requests.Session", get_session()).adapters

        def session() -> Session:
            new = Session()
            for prefix, adapter in adapters.items():
                new.mount(prefix, adapter)
            return new

        huggingface_hub.configure_http_backend(backend_factory=session)  # type: ignore[attr-defined, unused-ignore]
        return
    hooks = get_session().event_hooks["request"]
    hooks = [hook for hook in hooks if getattr(hook, "func", None) is not _limit_request]
    hooks.append(functools.partial(_limit_request, timeout))

    def client() -> Any:
        return _HTTP.Client(event_hooks={"request": hooks}, follow_redirects=True, timeout=timeout)

    huggingface_hub.set_client_factory(client)


def _limit_request(seconds: float, request: Any) -> None:
    """Sets the timeout of a request that has none: listings ask for no timeout, whatever the session's is."""
    asked = request.extensions.get("timeout", {})
    steps = ("connect", "read", "write", "pool")
    request.extensions["timeout"] = {step: asked.get(step) or seconds for step in steps}
