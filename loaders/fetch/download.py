"""The download of one pinned file: continued where it was interrupted, repeated when a host is busy, and checked.

`httpx2` sends the requests. This module adds that an interrupted download is continued with an HTTP ``Range`` request,
even after the process was killed; that a request is repeated after a pause if it failed for a temporary reason; that
the content is used only if it has the pinned size and hashes; and that a folder can be the source.
"""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from discoprobe.loaders.errors import IntegrityError, RemoteError

if TYPE_CHECKING:
    import threading

    import httpx2

    from discoprobe.loaders.catalogue.pins import PinnedFile

CHUNK: Final = 2**14
"""Number of bytes that are written at once; no more than these are lost when a connection breaks."""
TEMPORARY: Final = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
"""Statuses after which the same request may succeed."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to try a download.

    Attributes:
        retries: number of attempts after the first.
        backoff: the first pause in seconds; it doubles with every attempt.
        longest: the longest pause in seconds, even if a host asks for a longer one.
        timeout: seconds to wait for a host that sends nothing.
    """

    retries: int = 5
    backoff: float = 0.5
    longest: float = 60
    timeout: float = 30


DEFAULT_PATIENCE: Final = Patience()


class MissingFileError(RemoteError):
    """The host or mirror does not have the file."""


class _TemporaryError(Exception):
    """A request failed and may succeed later; ``pause`` is the number of seconds that the host asks to wait."""

    def __init__(self, problem: str, pause: float = 0) -> None:
        super().__init__(problem)
        self.pause = pause


@dataclass(frozen=True, slots=True)
class Download:
    """The download of one pinned file.

    Attributes:
        file: the pinned file, which the content must match.
        part: the path of the incomplete file. If it exists, the download continues it; it stays when a download fails.
        patience: how often and how long to try again.
        stop: an event that ends the download when it is set; the incomplete file stays.
    """

    file: PinnedFile
    part: Path
    patience: Patience
    stop: threading.Event

    def to(self, target: Path, url: str) -> None:
        """Download from ``url`` to ``target``, which appears complete and checked, or not at all.

        Raises:
            MissingFileError: there is no such file (status 404, or none in the folder of a ``file:`` URL).
            IntegrityError: the content is not the pinned one.
            RemoteError: the host refuses, or all attempts failed.
        """
        continued = self._arrived() > 0
        self._complete(url)
        problem = self.file.mismatch(self.part)
        if problem and continued:
            # the existing part may have been of another content
            self.part.unlink()
            self._complete(url)
            problem = self.file.mismatch(self.part)
        if problem:
            self.part.unlink()
            raise IntegrityError(f"{url}: {problem}; nothing was kept; try again, or another mirror")
        target.parent.mkdir(parents=True, exist_ok=True)
        self.part.replace(target)

    def _complete(self, url: str) -> None:
        """Complete the part from an HTTP or ``file:`` URL."""
        if url.startswith("file:"):
            self._copy(Path(url2pathname(urlsplit(url).path)))
            return
        import httpx2  # noqa: PLC0415 (slow to import, and needed for a download only)

        with httpx2.Client(timeout=self.patience.timeout, follow_redirects=True) as client:
            self._try_repeatedly(client, url)

    def _copy(self, source: Path) -> None:
        if not source.is_file():
            raise MissingFileError(f"{source}: no such file")
        shutil.copyfile(source, self.part)

    def _try_repeatedly(self, client: httpx2.Client, url: str) -> None:
        attempts = self.patience.retries + 1
        for attempt in range(1, attempts + 1):
            try:
                self._receive(client, url)
            except _TemporaryError as error:
                if attempt == attempts:
                    raise RemoteError(f"{url}: {error} (attempt {attempt} of {attempts})") from error
                time.sleep(min(max(self.patience.backoff * 2 ** (attempt - 1), error.pause), self.patience.longest))
            else:
                return

    def _receive(self, client: httpx2.Client, url: str) -> None:
        """Request the missing bytes and append them; start from the beginning if the host sends others."""
        arrived = self._arrived()
        if arrived and arrived == self.file.bytes:
            return
        response = _response(client, url, arrived)
        try:
            status, (start, size) = response.status_code, _content_range(response)
            if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and (start, size) == (None, arrived):
                return
            if status == HTTPStatus.OK or start == arrived:
                self._write(response, "wb" if status == HTTPStatus.OK else "ab")
                return
        finally:
            response.close()
        self.part.unlink()
        self._receive(client, url)

    def _write(self, response: httpx2.Response, mode: str) -> None:
        import httpx2  # noqa: PLC0415 (slow to import)

        try:
            with self.part.open(mode) as part:
                for chunk in response.iter_bytes(CHUNK):
                    part.write(chunk)
                    if self.stop.is_set():
                        raise RemoteError("the download was ended, because another one failed")
                    if self.file.bytes is not None and part.tell() > self.file.bytes:
                        # too long: the check of the size will fail
                        break
        except httpx2.RequestError as error:
            so_far = f"{self._arrived()} bytes have arrived and are kept"
            raise _TemporaryError(f"the connection broke; {so_far}, try again") from error

    def _arrived(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0


def _response(client: httpx2.Client, url: str, start: int) -> httpx2.Response:
    """The response to a request for the file from byte ``start`` on; its body has not been read.

    Raises:
        _TemporaryError: no connection, or one of the statuses ``TEMPORARY``.
        RemoteError: the URL cannot be used, or the host refuses.
    """
    import httpx2  # noqa: PLC0415 (slow to import)

    # without compression, so that sizes and ranges are those of the file
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    advice = "check the network, or set DISCOPROBE_MIRROR"
    try:
        response = client.send(client.build_request("GET", url, headers=headers), stream=True)
    except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
        raise RemoteError(f"{url}: {error}; {advice}") from error
    except httpx2.RequestError as error:
        raise _TemporaryError(f"{error or type(error).__name__}; {advice}") from error
    if not _is_usable(response.status_code, partial=start > 0):
        response.close()
        raise _refusal(response)
    return response


def _is_usable(status: int, *, partial: bool) -> bool:
    to_a_range = {HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE}
    return status == HTTPStatus.OK or (partial and status in to_a_range)


def _refusal(response: httpx2.Response) -> Exception:
    """The error for a response without the file."""
    status = response.status_code
    if status == HTTPStatus.NOT_FOUND:
        return MissingFileError(f"{response.request.url}: the host has no such file (404)")
    problem = f"the host answered {status} {response.reason_phrase}; try again later"
    if status in TEMPORARY:
        return _TemporaryError(problem, _retry_after(response.headers.get("Retry-After", "")))
    return RemoteError(f"{response.request.url}: {problem}")


def _retry_after(header: str) -> float:
    """The seconds until the time in a ``Retry-After`` header (a number of seconds, or a date); 0 if it has neither."""
    if header.isdecimal():
        return float(header)
    try:
        return (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):  # no date, or a date without a time zone
        return 0


def _content_range(response: httpx2.Response) -> tuple[int | None, int | None]:
    """The position of the first byte, and the size of the file, from ``Content-Range``; None if it does not say."""
    header = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", response.headers.get("Content-Range", ""))
    if header is None:
        return None, None
    start, size = header.groups()
    return None if start is None else int(start), None if size == "*" else int(size)
