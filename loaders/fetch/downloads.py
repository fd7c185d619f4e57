"""What `build corpora` reports: rows about the catalogue's corpora and their files in the cache.

The download of one pinned file: continued where it was interrupted, repeated when a host is busy, and checked.

`httpx2` sends the requests. This module adds that an interrupted download is continued with an HTTP ``Range`` request,
even after the process was killed; that a request is repeated after a pause if it failed for a temporary reason; that
the content is used only if it has the pinned size and hashes; and that a folder can be the source.

The corpora of the catalogue as verified files in the cache.

A file is kept at ``corpora/<repo>/<commit>/<language>/<corpus>/<file>`` in the cache folder. Incomplete files are kept
in ``corpora/.partial``, named by the hash of their content; a lock lets one process at a time write each. A file gets
its final place when its size, its git blob SHA-1 and, where it is known, its SHA-256 are the pinned ones.

The environment variable ``DISCOPROBE_MIRROR`` names a folder or base URL that is used in place of the host.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.licences import normalise
from discoprobe.loaders.catalogue.pins import LeftOut, PinnedCorpus, PinnedFile, TextCorpus
from discoprobe.loaders.catalogue.treebanks import HubText, hub_texts
from discoprobe.loaders.errors import DiscoprobeError, IntegrityError, RemoteError, UnknownNameError
from discoprobe.loaders.folders import cache_folder
from discoprobe.loaders.process_pool import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import httpx2


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


PULSE: Final = 0.5
"""Seconds between two reports of progress."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file of the catalogue in the cache.

    Attributes:
        corpus: the name of its corpus.
        file: the pinned file.
        location: its path in the cache, whether or not it exists.
        state: ``corrupt`` if the content is not the pinned one.
        problem: how a corrupt file differs.
    """

    corpus: str
    file: PinnedFile
    location: Path
    state: Literal["ok", "missing", "corrupt"]
    problem: str = ""


def fetch(
    corpora: Iterable[PinnedCorpus], *, jobs: int = 4, patience: Patience = DEFAULT_PATIENCE,
    progress: Progress = silent,
) -> list[Path]:  # fmt: skip
    """Download what is missing or corrupt in the cache, ``jobs`` files at a time.

    Args:
        corpora: corpora of the catalogue.
        jobs: number of threads.
        patience: how often and how long to try again.
        progress: called with ``downloading: kB``, the number of kB in the cache, and the total.

    Returns:
        The verified files of all corpora, in the order of the catalogue.

    Raises:
        IntegrityError: a file does not have the pinned content; it is not kept.
        RemoteError: the host or the mirror did not send a file. Complete files are kept.
        DiscoprobeError: the cache cannot be written.
    """
    wanted = [(corpus, file) for corpus in corpora for file in corpus.files]
    stop = threading.Event()
    with ThreadPoolExecutor(max(1, jobs)) as threads:
        futures = [threads.submit(_obtained, corpus, file, patience, stop) for corpus, file in wanted]
        try:
            pending = set(futures)
            while pending:
                finished, pending = wait(pending, timeout=PULSE, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                progress("downloading: kB", *_kilobytes(wanted))
        finally:  # after an error or Ctrl-C: the other downloads end, and what has arrived is kept
            stop.set()
            threads.shutdown(cancel_futures=True)
    return [future.result() for future in futures]


def check(corpora: Iterable[PinnedCorpus]) -> list[FileState]:
    """The state in the cache of every file of the corpora; reads the files."""
    return [_state(corpus, file) for corpus in corpora for file in corpus.files]


def location(corpus: PinnedCorpus, file: PinnedFile) -> Path:
    """The path of a file in the cache, whether or not it exists."""
    return folder(corpus) / file.name


def folder(corpus: PinnedCorpus) -> Path:
    """The folder of a corpus in the cache; it holds the pinned files and no others."""
    return cache_folder() / "corpora" / corpus.repo / corpus.commit / corpus.lang / corpus.name


def places(corpus: PinnedCorpus, file: PinnedFile) -> list[str]:
    """The URLs to try for a file, in this order: only that of the host, or only those of the mirror.

    A mirror may have the layout of the host (``<repo>/<commit>/<path>``), folders per corpus (``<treebank>/<file>``,
    also in a folder ``<code>`` or ``ud/<code>``; raw text in ``text/<code>`` or ``text``, in a folder named after the
    corpus or its repository), or files named by their git blob SHA-1 or SHA-256.

    Raises:
        DiscoprobeError: ``DISCOPROBE_MIRROR`` names a folder that does not exist.
    """
    mirror = os.environ.get("DISCOPROBE_MIRROR", "")
    if not mirror:
        return [corpus.url(file)]
    base = mirror.rstrip("/") if "://" in mirror else _folder(mirror).as_uri()
    return [f"{base}/{quote(path)}" for path in _mirror_paths(corpus, file)]


def _mirror_paths(corpus: PinnedCorpus, file: PinnedFile) -> list[str]:
    by_name = _text_paths(corpus, file) if isinstance(corpus, TextCorpus) else _treebank_paths(corpus, file)
    hashes = [name for name in (file.git_blob_sha1, file.sha256) if name]
    return [f"{corpus.repo}/{corpus.commit}/{file.path}", *by_name, *hashes]


def _treebank_paths(corpus: PinnedCorpus, file: PinnedFile) -> list[str]:
    repo = corpus.repo.rpartition("/")[2]
    homes = [
        f"{above}{name}"
        for name in dict.fromkeys((repo, corpus.name))
        for above in ("", f"{corpus.lang}/", f"ud/{corpus.lang}/")
    ]
    return [f"{home}/{path}" for home in homes for path in dict.fromkeys((file.path, file.name))]


def _text_paths(corpus: TextCorpus, file: PinnedFile) -> list[str]:
    """Paths by corpus (``text/de/eltec/DEU060.xml``), and by repository and folder (``text/de/klexikon/wiki/…``)."""
    repo = corpus.repo.rpartition("/")[2].lower()
    nested = "/".join(file.path.split("/")[-2:])
    homes = [f"text/{corpus.lang}/{corpus.stem}", f"text/{corpus.stem}", corpus.name]
    return [f"text/{corpus.lang}/{repo}/{nested}", *(f"{home}/{file.name}" for home in homes)]


def _folder(mirror: str) -> Path:
    named = Path(mirror).expanduser().resolve()
    if not named.is_dir():
        raise DiscoprobeError(f"DISCOPROBE_MIRROR={mirror}: no such folder, and no URL with http:// or https://")
    return named


def _state(corpus: PinnedCorpus, file: PinnedFile) -> FileState:
    path = location(corpus, file)
    if not path.is_file():
        return FileState(corpus.name, file, path, "missing")
    problem = file.mismatch(path)
    return FileState(corpus.name, file, path, "corrupt" if problem else "ok", problem)


def _obtained(corpus: PinnedCorpus, file: PinnedFile, patience: Patience, stop: threading.Event) -> Path:
    """The path of a file in the cache; it is downloaded unless it is there and correct.

    A lock lets one process download, and others find the complete file.
    """
    from filelock import FileLock  # noqa: PLC0415 (only a download needs it)

    target, part = location(corpus, file), _part(file)
    try:
        if _state(corpus, file).state == "ok":
            return target
        part.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(part.with_suffix(".lock")):
            if _state(corpus, file).state != "ok":
                target.unlink(missing_ok=True)
                download = Download(file, part, patience, stop)
                _download(download, target, corpus)
    except OSError as error:
        raise DiscoprobeError(
            f"cannot write {error.filename or target}: {error.strerror}; set DISCOPROBE_CACHE to another folder"
        ) from error
    return target


def _part(file: PinnedFile) -> Path:
    """Where a file is until it is complete."""
    return cache_folder() / "corpora" / ".partial" / f"{file.content_hash}.part"


def _kilobytes(wanted: Sequence[tuple[PinnedCorpus, PinnedFile]]) -> tuple[int, int]:
    """The kB of files that have arrived in the cache, and the total; unknown sizes count as what has arrived."""
    arrived = [_arrived(corpus, file) for corpus, file in wanted]
    sizes = [max(file.bytes or 0, there) for (_, file), there in zip(wanted, arrived, strict=True)]
    return math.ceil(sum(arrived) / 1000), math.ceil(sum(sizes) / 1000)


def _arrived(corpus: PinnedCorpus, file: PinnedFile) -> int:
    for path in (location(corpus, file), _part(file)):
        with suppress(OSError):
            return path.stat().st_size
    return 0


def _download(download: Download, target: Path, corpus: PinnedCorpus) -> None:
    """Download from the first of the URLs that has the pinned content.

    Raises:
        IntegrityError: none has it, and at least one has other content.
        RemoteError: none has the file.
    """
    errors: list[RemoteError] = []
    for url in places(corpus, download.file):
        try:
            download.to(target, url)
        except (MissingFileError, IntegrityError) as error:
            errors.append(error)
        else:
            return
    wrong = [error for error in errors if isinstance(error, IntegrityError)]
    if wrong or len(errors) == 1:
        raise [*wrong, *errors][0]
    raise RemoteError(
        f"{os.environ['DISCOPROBE_MIRROR']}: the mirror has no {corpus.name}/{download.file.path}, nor "
        f"{download.file.content_hash}; add it there, or unset DISCOPROBE_MIRROR"
    )


TEXT = "raw text"
"""The value of ``documents`` for a corpus that has to be annotated first."""
HUB_TEXT = "rows"
"""The value of ``documents`` for a dataset of the Hub: a row is a document."""


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A corpus of the catalogue.

    Attributes:
        lang: the code of its language.
        language: the English name of the language.
        name: as its publisher calls it.
        licence: the normalised identifier.
        documents: how documents are recognised, `TEXT` or `HUB_TEXT`.
        default: whether the corpus is used when none is named.
        files: the number of files.
        bytes: the sum of their sizes; None where a size is not known.
        cached: the number of files in the cache; their content is not checked.
        offered: whether the corpus can be downloaded.
        note: why it cannot be downloaded, or other information on it.
    """

    lang: str
    language: str
    name: str
    licence: str
    documents: str
    default: bool
    files: int = 0
    bytes: int | None = None
    cached: int = 0
    offered: bool = True
    note: str = ""


def select(names: Iterable[str]) -> list[PinnedCorpus]:
    """The corpora with these names or prefixes, and all corpora of the languages with these codes or names.

    Without names: all corpora. Each corpus is listed once, in the order given; those that are not used by default are
    included.

    Raises:
        UnknownNameError: a name is neither a language nor a corpus; the message lists similar ones.
        UnsupportedError: a language has no openly licensed corpus, or a corpus is not offered.
    """
    wanted = list(names) or [language.code for language in treebanks.languages()]
    return list(dict.fromkeys(corpus for name in wanted for corpus in _named(name)))


def list_corpora(names: Iterable[str] = ()) -> list[CorpusRow]:
    """The corpora of the languages with these codes or names, or of all; those not offered come with the reason.

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    languages = [treebanks.language(name) for name in names] or treebanks.languages(every=True)
    return [row for language in languages for row in _rows(language)]


def _named(name: str) -> Sequence[PinnedCorpus]:
    try:
        language = treebanks.language(name)
    except UnknownNameError:
        return (treebanks.corpus(name),)
    return (*language.treebanks, *language.texts) or treebanks.open_treebanks(name)


def _rows(language: treebanks.Language) -> list[CorpusRow]:
    offered = [_offered(language, bank, str(bank.documents), bank.note) for bank in language.treebanks]
    offered += [_offered(language, text, TEXT, text.note or text.licence_note) for text in language.texts]
    of_hub = [_of_hub(language, text) for text in hub_texts() if language.code not in text.without]
    return [*offered, *of_hub, *(_left_out(language, left) for left in language.left_out)]


def _offered(language: treebanks.Language, corpus: PinnedCorpus, documents: str, note: str) -> CorpusRow:
    cached = sum(location(corpus, file).is_file() for file in corpus.files)
    return CorpusRow(
        language.code, language.name, corpus.name, normalise(corpus.licence), documents, corpus.default,
        len(corpus.files), corpus.bytes, cached, note=note,
    )  # fmt: skip


def _of_hub(language: treebanks.Language, text: HubText) -> CorpusRow:
    note = f"{text.note}; {text.repo} at {text.commit[:7]}, read with --segment"
    name, licence = text.corpus(language.code), normalise(text.licence)
    return CorpusRow(language.code, language.name, name, licence, HUB_TEXT, text.default, note=note)


def _left_out(language: treebanks.Language, left: LeftOut) -> CorpusRow:
    return CorpusRow(
        language.code, language.name, left.name, normalise(left.licence), str(left.documents), default=False,
        offered=False, note=left.reason,
    )  # fmt: skip
