"""Pinned files of the catalogue: which corpora a name means, their files in the cache, and how these are downloaded.

`select` gives the corpora that names mean; `list_corpora` says what the catalogue has. `fetch` downloads what is
missing in the cache, `state_of` compares what is there with the pins. A file is kept at
``corpora/<repo>/<commit>/<language>/<corpus>/<file>`` in the cache folder. Incomplete files are kept in
``corpora/.partial``, named by the hash of their content; a lock lets one process at a time write each. A file gets its
final place when its size, its git blob SHA-1 and, where it is known, its SHA-256 are the pinned ones.

`requests` sends them. This module adds that an interrupted download is continued with an HTTP ``Range`` request,
even after the process was killed, and that a request is repeated after a pause if it failed for a temporary reason. The
environment variable ``DISCOPROBE_MIRROR`` names a folder or base URL that is used in place of the host.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.licences import normalise
from discoprobe.loaders.catalogue.treebanks import FormsTable, Licences, PinnedCorpus, TextCorpus
from discoprobe.loaders.errors import (
    DiscoprobeError,
    IntegrityError,
    RemoteError,
    RetryPolicy,
    UnknownNameError,
    asked_wait,
)
from discoprobe.loaders.files import File, cache_folder
from discoprobe.loaders.process_pool import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import requests

DOWNLOADS: Final = RetryPolicy(attempts=6, first_wait=0.5, timeout=30)
CHUNK: Final = 2**14
"""Number of bytes that are written at once; no more than these are lost when a connection breaks."""
TEMPORARY: Final = frozenset({429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed."""
TO_A_RANGE: Final = frozenset({HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE})
"""Statuses of a response to a request for a part of a file."""
PULSE: Final = 0.5
"""Seconds between two reports of progress."""
TEXT: Final = "raw text"
"""The value of ``documents`` for a corpus that has to be annotated first."""
FORMS: Final = "inflected forms"
"""The value of ``documents`` for a table of forms."""
HUB_TEXT: Final = "rows"
"""The value of ``documents`` for a dataset of the Hub: a row is a document."""


def select(names: Iterable[str], licences: Licences = "open") -> list[PinnedCorpus]:
    """The corpora with these names or prefixes, and all corpora of the languages with these codes or names.

    Without names: all corpora. Each corpus is listed once, in the order given; those that are not used by default are
    included.

    Args:
        names: of corpora and languages.
        licences: which corpora may be used.

    Raises:
        UnknownNameError: a name is neither a language nor a corpus; the message lists similar ones.
        UnsupportedError: a language has no openly licensed corpus, or a corpus is not offered.
    """
    corpora: list[PinnedCorpus] = []
    for name in list(names) or [head.code for head in treebanks.languages(every=licences == "all")]:
        try:
            language = treebanks.language(name)
        except UnknownNameError:
            known = treebanks.known(name)
            corpora.append(known if isinstance(known, FormsTable) else treebanks.corpus(name, licences))
        else:
            closed = [record for record in language.left_out if record.files and licences == "all"]
            of_language = (*language.treebanks, *closed, *language.texts)
            corpora += of_language or (treebanks.needed_corpora(name, licences) if names else ())
            if of_language and language.forms and (language.forms.default or licences == "all"):
                corpora.append(language.forms)
    return list(dict.fromkeys(corpora))


def list_corpora(names: Iterable[str] = ()) -> list[dict[str, str | int | None]]:
    """The corpora of the languages with these codes or names, or of all, as rows of a table.

    A row has ``lang``, ``language`` (the English name), ``name``, ``licence`` (the normalised identifier),
    ``documents`` (how they are recognised, `TEXT`, `FORMS` or `HUB_TEXT`) and ``default``; the number of ``files``,
    their ``bytes`` (None where a size is not known) and how many are ``cached``, whose content is not checked.
    ``offered`` is whether the corpus is openly licensed: else it is used with ``--licences all`` only, if it has files.
    ``note`` says why it is not offered, or something else about it.

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    rows: list[dict[str, str | int | None]] = []
    for language in [treebanks.language(name) for name in names] or treebanks.languages(every=True):
        about = {"lang": language.code, "language": language.name}
        pinned: list[tuple[PinnedCorpus, str, str]] = [
            *((bank, str(bank.documents), bank.note) for bank in language.treebanks),
            *((text, TEXT, text.note or text.licence_note) for text in language.texts),
            *([(language.forms, FORMS, language.forms.note)] if language.forms else []),
            *((record, str(record.documents), record.reason) for record in language.left_out),
        ]
        for corpus, documents, note in pinned:
            offered = not isinstance(corpus, treebanks.LeftOut)
            rows.append({
                **about, "name": corpus.name, "licence": normalise(corpus.licence), "documents": documents,
                "default": corpus.default and offered, "files": len(corpus.files),
                "bytes": corpus.bytes if corpus.files else None,
                "cached": len(corpus.files) - len(missing(corpus)), "offered": offered, "note": note,
            })  # fmt: skip
        rows += (
            {
                **about, "name": text.corpus(language.code), "licence": normalise(text.licence),
                "documents": HUB_TEXT, "default": text.default, "files": 0, "bytes": None, "cached": 0,
                "offered": True, "note": f"{text.note}; {text.repo} at {text.commit[:7]}, read with --segment",
            }
            for text in treebanks.hub_texts() if language.code not in text.without
        )  # fmt: skip
    return rows


def folder(corpus: PinnedCorpus) -> Path:
    """The folder of a corpus in the cache; it holds the pinned files and no others."""
    return cache_folder() / "corpora" / corpus.repo / corpus.commit / corpus.lang / corpus.name


def missing(corpus: PinnedCorpus) -> list[File]:
    """The files of a corpus that the cache lacks; they are looked for only where it has a folder, which is fast."""
    if not (place := folder(corpus)).is_dir():
        return list(corpus.files)
    return [file for file in corpus.files if not (place / corpus.place(file)).is_file()]


def location(corpus: PinnedCorpus, file: File) -> Path:
    """The path of a file in the cache, whether or not it exists."""
    return folder(corpus) / corpus.place(file)


def _part(file: File) -> Path:
    """Where a file is until it is complete."""
    return cache_folder() / "corpora" / ".partial" / f"{file.content_hash}.part"


def state_of(corpus: PinnedCorpus, file: File) -> tuple[Literal["ok", "missing", "corrupt"], str]:
    """The state of a file in the cache, which is read; and how a corrupt one, whose content is not pinned, differs."""
    path = location(corpus, file)
    if not path.is_file():
        return "missing", ""
    problem = file.mismatch(path)
    return "corrupt" if problem else "ok", problem


def fetch(
    corpora: Iterable[PinnedCorpus], *, jobs: int = 4, retry: RetryPolicy = DOWNLOADS, progress: Progress = silent
) -> list[Path]:
    """Download what is missing or corrupt in the cache, ``jobs`` files at a time.

    Args:
        corpora: corpora of the catalogue.
        jobs: number of threads.
        retry: how often and how long to try again.
        progress: called with ``downloading: kB``, the number of kB in the cache, and the total.

    Returns:
        The verified files of all corpora, in the order of the catalogue.

    Raises:
        IntegrityError: a file does not have the pinned content; it is not kept.
        RemoteError: the host or the mirror did not send a file. Complete files are kept.
        DiscoprobeError: the cache cannot be written.
    """
    requested = [(corpus, file) for corpus in corpora for file in corpus.files]
    stop = threading.Event()
    with ThreadPoolExecutor(max(1, jobs)) as threads:
        futures = [threads.submit(_fetch_file, corpus, file, retry, stop) for corpus, file in requested]
        try:
            pending = set(futures)
            while pending:
                finished, pending = wait(pending, timeout=PULSE, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                arrived = total = 0
                for corpus, file in requested:
                    size = _size(location(corpus, file)) or _size(_part(file))
                    arrived, total = arrived + size, total + max(file.bytes or 0, size)
                progress("downloading: kB", math.ceil(arrived / 1000), math.ceil(total / 1000))
        finally:  # after an error or Ctrl-C: the other downloads end, and what has arrived is kept
            stop.set()
            threads.shutdown(cancel_futures=True)
    return [future.result() for future in futures]


def _size(path: Path) -> int:
    """The bytes of a file, 0 where there is none; another thread may move it meanwhile."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _fetch_file(corpus: PinnedCorpus, file: File, retry: RetryPolicy, stop: threading.Event) -> Path:
    """The path of a file in the cache; it is downloaded unless it is there and correct.

    A lock lets one process download, and others find the complete file. Of several URLs, the first that has the pinned
    content is used.

    Raises:
        IntegrityError: no URL has the pinned content, and at least one has other content.
        RemoteError: no URL has the file, or one fails.
    """
    from filelock import FileLock  # noqa: PLC0415 (only a download needs it)

    target, part = location(corpus, file), _part(file)
    try:
        if state_of(corpus, file)[0] == "ok":
            return target
        part.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(part.with_suffix(".lock")):
            if state_of(corpus, file)[0] == "ok":
                return target
            target.unlink(missing_ok=True)
            errors: list[RemoteError] = []
            in_plugin = treebanks.own_file(corpus, file.path)
            if not in_plugin and not corpus.repo:
                raise RemoteError(f"{corpus.name}: the folder of its plugin has no file {file.path}")
            for url in [in_plugin.as_uri()] if in_plugin else places(corpus, file):
                try:
                    _download(url, file, part, retry, stop)
                except RemoteError as error:
                    if error.status != HTTPStatus.NOT_FOUND and not isinstance(error, IntegrityError):
                        raise
                    errors.append(error)
                else:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    return part.replace(target)
    except OSError as error:
        raise DiscoprobeError(
            f"cannot write {error.filename or target}: {error.strerror}; set DISCOPROBE_CACHE to another folder"
        ) from error
    wrong = [error for error in errors if isinstance(error, IntegrityError)]
    if wrong or len(errors) == 1:
        raise [*wrong, *errors][0]
    raise RemoteError(
        f"{os.environ['DISCOPROBE_MIRROR']}: the mirror has no {corpus.name}/{file.path}, nor "
        f"{file.content_hash}; add it there, or unset DISCOPROBE_MIRROR"
    )


def places(corpus: PinnedCorpus, file: File) -> list[str]:
    """The URLs to try for a file, in this order: only that of the host, or only those of the mirror.

    A mirror may have the layout of the host (``<repo>/<commit>/<path>``), folders per corpus (``<treebank>/<file>``,
    also in a folder ``<code>``, ``ud/<code>`` or ``rst/<code>``; raw text in ``text/<code>`` or ``text``, in a folder
    named after the corpus or its repository), or files named by their git blob SHA-1 or SHA-256.

    Raises:
        DiscoprobeError: ``DISCOPROBE_MIRROR`` names a folder that does not exist.
    """
    mirror = os.environ.get("DISCOPROBE_MIRROR", "")
    if not mirror:
        return [corpus.url(file)]
    base = mirror.rstrip("/")
    if "://" not in mirror:
        home = Path(mirror).expanduser().resolve()
        if not home.is_dir():
            raise DiscoprobeError(f"DISCOPROBE_MIRROR={mirror}: no such folder, and no URL with http:// or https://")
        base = home.as_uri()
    repo, lang = corpus.repo.rpartition("/")[2], corpus.lang
    if isinstance(corpus, TextCorpus):  # ``text/de/klexikon/wiki/…``, ``text/de/eltec/DEU060.xml``
        homes = [f"text/{lang}/{corpus.stem}", f"text/{corpus.stem}", corpus.name]
        nested = "/".join(file.path.split("/")[-2:])
        by_name = [f"text/{lang}/{repo.lower()}/{nested}", *(f"{home}/{file.name}" for home in homes)]
    else:
        names = dict.fromkeys((repo, corpus.name))
        homes = [f"{above}{name}" for name in names for above in ("", f"{lang}/", f"ud/{lang}/", f"rst/{lang}/")]
        by_name = [f"{home}/{path}" for home in homes for path in dict.fromkeys((file.path, file.name))]
    hashes = [name for name in (file.git_blob_sha1, file.sha256) if name]
    return [f"{base}/{quote(path)}" for path in (f"{corpus.repo}/{corpus.commit}/{file.path}", *by_name, *hashes)]


def _download(url: str, file: File, part: Path, retry: RetryPolicy, stop: threading.Event) -> None:
    """Complete ``part`` from an HTTP or ``file:`` URL, and check its content.

    A part that exists is continued, and stays if the download fails, which ends when ``stop`` is set.

    Raises:
        IntegrityError: the content is not the pinned one.
        RemoteError: there is no such file (status 404), the host refuses, or all attempts failed.
    """
    continued = _size(part) > 0
    _complete(url, file, part, retry, stop)
    problem = file.mismatch(part)
    if problem and continued:  # the existing part may have been of another content
        part.unlink()
        _complete(url, file, part, retry, stop)
        problem = file.mismatch(part)
    if problem:
        part.unlink()
        raise IntegrityError(f"{url}: {problem}; nothing was kept; try again, or another mirror")


def _complete(url: str, file: File, part: Path, retry: RetryPolicy, stop: threading.Event) -> None:
    if url.startswith("file:"):
        source = Path(url2pathname(urlsplit(url).path))
        if not source.is_file():
            raise RemoteError(f"{source}: no such file", HTTPStatus.NOT_FOUND)
        shutil.copyfile(source, part)
        return
    import requests  # noqa: PLC0415 (needed for a download only; a tenth of a second)

    with requests.Session() as session:
        get = partial(session.get, stream=True, timeout=retry.timeout)
        for attempt in range(retry.attempts):
            if file.bytes and _size(part) == file.bytes:
                return
            try:
                _receive(get, url, file, part, stop)
            except RemoteError as error:
                if not error.transient:
                    raise
                if attempt + 1 == retry.attempts:
                    raise RemoteError(f"{error} (attempt {attempt + 1} of {attempt + 1})") from error
                retry.wait(attempt, error.wait)
            else:
                return


def _receive(get: Callable[..., requests.Response], url: str, file: File, part: Path, stop: threading.Event) -> None:
    """Request the missing bytes and append them; start from the beginning if the host sends others.

    Raises:
        RemoteError: the host refuses; ``transient`` without or with a broken connection, or with one of the statuses
            ``TEMPORARY``.
    """
    from requests import exceptions  # noqa: PLC0415 (loaded by now)

    arrived = _size(part)
    # without compression, so that sizes and ranges are those of the file
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={arrived}-"} if arrived else {})
    advice = "check the network, or set DISCOPROBE_MIRROR"
    try:
        response = get(url, headers=headers)
    except (exceptions.InvalidSchema, exceptions.InvalidURL, exceptions.MissingSchema) as error:
        raise RemoteError(f"{url}: {error}; {advice}") from error
    except exceptions.RequestException as error:
        raise RemoteError(f"{url}: {_reason(error)}; {advice}", transient=True) from error
    with closing(response):
        status = response.status_code
        if status != HTTPStatus.OK and not (arrived and status in TO_A_RANGE):
            raise _refusal(response)
        # the position of the first byte that is sent, and the size of the file; each may be missing
        sent = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", response.headers.get("Content-Range", ""))
        start, size = sent.groups() if sent else (None, None)
        if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and (start, size) == (None, str(arrived)):
            return
        if status == HTTPStatus.OK or start == str(arrived):
            try:
                with part.open("wb" if status == HTTPStatus.OK else "ab") as stream:
                    for chunk in response.iter_content(CHUNK):
                        stream.write(chunk)
                        if stop.is_set():
                            raise RemoteError("the download was ended, because another one failed")
                        if file.bytes is not None and stream.tell() > file.bytes:
                            return  # too long: the check of the size will fail
            except exceptions.RequestException as error:
                so_far = f"{_size(part)} bytes have arrived and are kept"
                raise RemoteError(f"{url}: the connection broke; {so_far}, try again", transient=True) from error
            return
    part.unlink()
    _receive(get, url, file, part, stop)


def _reason(error: BaseException) -> str:
    """Why there was no answer, as the system says it; the text of `requests` repeats the address, several times."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


def _refusal(response: requests.Response) -> RemoteError:
    """The error for a response without the file."""
    status, url = response.status_code, response.url
    if status == HTTPStatus.NOT_FOUND:
        return RemoteError(f"{url}: the host has no such file (404)", status)
    problem = f"{url}: the host answered {status} {response.reason}; try again later"
    return RemoteError(problem, status, transient=status in TEMPORARY, wait=asked_wait(response.headers))
