"""The corpora of the catalogue as verified files in the cache.

A file is kept at ``corpora/<repo>/<commit>/<language>/<corpus>/<file>`` in the cache folder. Incomplete files are kept
in ``corpora/.partial``, named by the hash of their content; a lock lets one process at a time write each. A file gets
its final place when its size, its git blob SHA-1 and, where it is known, its SHA-256 are the pinned ones.

The environment variable ``DISCOPROBE_MIRROR`` names a folder or base URL that is used in place of the host.
"""

import math
import os
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from discoprobe.loaders.catalogue.pins import PinnedCorpus, PinnedFile, TextCorpus
from discoprobe.loaders.errors import DiscoprobeError, IntegrityError, RemoteError
from discoprobe.loaders.fetch.download import DEFAULT_PATIENCE, Download, MissingFileError, Patience
from discoprobe.loaders.folders import cache_folder
from discoprobe.loaders.process_pool import Progress, silent

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
