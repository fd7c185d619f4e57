"""A downloader for pooch that goes on where it was cut off and checks what arrived.

`pooch.retrieve` gives the temporary file beside the target, the check of the SHA-256 and the move into place; urllib3's
``Retry`` gives repeated requests, back-off and ``Retry-After``. Added here is what neither has: going on with a partial
file by HTTP ``Range`` after a broken connection or a killed process (pooch removes its temporary file on any failure),
the check of git's blob hash, which needs the size before the content, and a folder as the source.
"""

from __future__ import annotations

import re
import shutil
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
from requests.adapters import HTTPAdapter
from requests.exceptions import ChunkedEncodingError, ConnectionError, RequestException, Timeout  # noqa: A004
from urllib3.util import Retry

from discoprobe.loaders.errors import IntegrityError, RemoteError
from discoprobe.loaders.integrity import mismatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from urllib3 import BaseHTTPResponse

    from discoprobe.loaders.fetch import Patience
    from discoprobe.loaders.pinned import PinnedFile

CHUNK: Final = 2**14
"""Bytes read at once; as many at most are lost when a connection breaks."""
PASSING: Final = (429, 500, 502, 503, 504)
"""Statuses after which the same request may succeed."""
BROKEN: Final = (ChunkedEncodingError, ConnectionError, Timeout)
"""What requests raises when a body ends early or stops coming."""


class NotThereError(RemoteError):
    """The host or mirror does not have the file."""


class Download:
    """A downloader for `pooch.retrieve`, for one pinned file.

    Args:
        file: what the content must be.
        part: where the content gathers; what is there already is gone on with, and is kept when the connection breaks.
        patience: how often and how long to try again.
        advance: is told how many bytes have arrived, after each piece.
    """

    def __init__(self, file: PinnedFile, part: Path, patience: Patience, advance: Callable[[int], None]) -> None:
        self.file, self.part, self.patience, self.advance = file, part, patience, advance

    def __call__(self, url: str, output_file: str, _pooch: object) -> None:
        """Download to ``output_file``, which appears complete and checked or not at all.

        Raises:
            NotThereError: there is no such file (status 404, or none in the folder).
            IntegrityError: the content is not the pinned one.
            RemoteError: the host refuses, or the connection keeps breaking.
        """
        # pooch has made an empty temporary file: a process killed now would leave it behind
        Path(output_file).unlink(missing_ok=True)
        resumed = self._have() > 0
        self._gather(url)
        problem = mismatch(self.part, self.file)
        if problem and resumed:
            # the old part may have been of something else
            self.part.unlink()
            self._gather(url)
            problem = mismatch(self.part, self.file)
        if problem:
            self.part.unlink()
            raise IntegrityError(f"{url}: {problem}; nothing of it was kept, try again or another mirror")
        self.part.replace(output_file)

    def _gather(self, url: str) -> None:
        """Complete the part from a URL, or from a path as ``file:`` URL."""
        if url.startswith("file:"):
            self._copy(Path(url2pathname(urlsplit(url).path)))
        else:
            with closing(_session(self.patience)) as session:
                self._insist(session, url)

    def _insist(self, session: requests.Session, url: str) -> None:
        """Go on after every break of the connection, as often as patience has it."""
        for attempt in range(self.patience.retries + 1):
            try:
                self._receive(session, url)
            except BROKEN as error:
                if attempt == self.patience.retries:
                    kept = f"{self._have()} bytes have arrived and are kept"
                    raise RemoteError(f"{url}: the connection broke {attempt + 1} times; {kept}, try again") from error
                time.sleep(min(self.patience.backoff * 2**attempt, self.patience.longest))
            else:
                return

    def _copy(self, source: Path) -> None:
        if not source.is_file():
            raise NotThereError(f"{source}: no such file")
        shutil.copyfile(source, self.part)
        self.advance(self._have())

    def _receive(self, session: requests.Session, url: str) -> None:
        """Ask for what is missing and append it; begin anew where the host does not give just that."""
        have = self._have()
        if have and have == self.file.bytes:
            return
        with closing(self._open(session, url, have)) as response:
            total = _range(response)
            if response.status_code == requests.codes.requested_range_not_satisfiable and total == (None, have):
                return
            if response.status_code == requests.codes.ok or total[0] == have:
                self._append(response, "wb" if response.status_code == requests.codes.ok else "ab")
                return
        self.part.unlink()
        self._receive(session, url)

    def _open(self, session: requests.Session, url: str, have: int) -> requests.Response:
        """The answer to a request for the file from byte ``have`` on."""
        # a compressed answer would count other bytes than the file's
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
        try:
            response = session.get(url, headers=headers, stream=True, timeout=self.patience.timeout)
        except RequestException as error:
            raise RemoteError(f"{url}: {_reason(error)}; check the network, or set DISCOPROBE_MIRROR") from error
        status = response.status_code
        to_a_range = {requests.codes.partial_content, requests.codes.requested_range_not_satisfiable}
        if status == requests.codes.ok or (have and status in to_a_range):
            return response
        response.close()
        if status == requests.codes.not_found:
            raise NotThereError(f"{url}: the host has no such file (404)")
        raise RemoteError(f"{url}: the host answered {status} {response.reason}; try again later")

    def _append(self, response: requests.Response, mode: str) -> None:
        with self.part.open(mode) as part:
            for chunk in response.iter_content(CHUNK):
                part.write(chunk)
                self.advance(len(chunk))
                if self.file.bytes is not None and part.tell() > self.file.bytes:
                    # the check of the size will find it; no more needs to be written
                    break

    def _have(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0


def _session(patience: Patience) -> requests.Session:
    """A session that repeats requests which failed before an answer's body began."""

    class Bounded(Retry):
        """urllib3's policy with a bound on ``Retry-After``, which a host may set to hours."""

        def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
            seconds = super().get_retry_after(response)
            return None if seconds is None else min(seconds, patience.longest)

    policy = Bounded(
        total=patience.retries,
        backoff_factor=patience.backoff,
        backoff_max=patience.longest,
        status_forcelist=PASSING,
        raise_on_status=False,
    )
    session = requests.Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=policy))
    return session


def _range(response: requests.Response) -> tuple[int | None, int | None]:
    """Where the body of an answer begins and how long the file is, by its ``Content-Range``."""
    found = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", response.headers.get("Content-Range", ""))
    if found is None:
        return None, None
    start, total = found.groups()
    return None if start is None else int(start), None if total == "*" else int(total)


def _reason(error: RequestException) -> str:
    """The innermost cause, which is what a reader can act on."""
    cause: BaseException = error
    while (inner := getattr(cause, "reason", None) or (cause.args[0] if cause.args else None)) and isinstance(
        inner, BaseException
    ):
        cause = inner
    return " ".join(str(cause).split())
