"""The corpora of the catalogue as verified files in the cache.

A file is kept at ``corpora/<repo>/<commit>/<language>/<corpus>/<file>`` in the cache folder. Incomplete files are kept
in ``corpora/.partial``, named by the hash of their content; a lock lets one process at a time write each. A file gets
its final place when its size, its git blob SHA-1 and, where it is known, its SHA-256 are the pinned ones.

The environment variable ``DISCOPROBE_MIRROR`` names a folder or base URL that is used in place of the host.
"""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from discoprobe.loaders.catalogue.pins import PinnedCorpus, PinnedFile, TextCorpus
from discoprobe.loaders.errors import DiscoprobeError, IntegrityError, RemoteError
from discoprobe.loaders.fetch.download import DEFAULT_PATIENCE, Download, MissingFileError, Patience
from discoprobe.loaders.folders import cache_folder

Show = Callable[[int, int, int], None]
"""Is called with the number of files that are done, of all files, and of bytes that have arrived."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file of the catalogue in the cache.

    Attributes:
        corpus: the name of its corpus.
        file: what is pinned.
        location: where it is in the cache, or would be.
        state: ``corrupt`` if the content is not the pinned one.
        problem: how a corrupt file differs.
    """

    corpus: str
    file: PinnedFile
    location: Path
    state: Literal["ok", "missing", "corrupt"]
    problem: str = ""


def silent(_done: int, _files: int, _bytes: int) -> None:
    """Show nothing."""


def fetch(
    corpora: Iterable[PinnedCorpus], *, jobs: int = 4, patience: Patience = DEFAULT_PATIENCE, show: Show = silent
) -> list[Path]:
    """Download what is missing or corrupt in the cache, ``jobs`` files at a time.

    Args:
        corpora: corpora of the catalogue.
        jobs: number of threads.
        patience: how often and how long to try again.
        show: is called with the progress, by one thread at a time.

    Returns:
        The verified files of all corpora, in the order of the catalogue.

    Raises:
        IntegrityError: a file does not have the pinned content; it is not kept.
        RemoteError: the host or the mirror did not send a file. Complete files are kept.
        DiscoprobeError: the cache cannot be written.
    """
    wanted = [(corpus, file) for corpus in corpora for file in corpus.files]
    tally = _Tally(len(wanted), show)
    with ThreadPoolExecutor(max(1, jobs)) as threads:
        futures = [threads.submit(_Job(corpus, file, patience, tally).run) for corpus, file in wanted]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            tally.stop.set()
            threads.shutdown(cancel_futures=True)
    return _results(futures)


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
    """The URLs from which a file is requested, in this order: that of the host, or those of the mirror.

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


@dataclass(frozen=True, slots=True)
class _Job:
    """The task of one thread: one file of a corpus."""

    corpus: PinnedCorpus
    file: PinnedFile
    patience: Patience
    tally: "_Tally"

    def run(self) -> Path:
        """The path of the file in the cache; the file is downloaded unless it is there and correct."""
        target = location(self.corpus, self.file)
        try:
            if not self._done():
                self._obtain(target)
        except OSError as error:
            raise DiscoprobeError(
                f"cannot write {error.filename or target}: {error.strerror}; set DISCOPROBE_CACHE to another folder"
            ) from error
        self.tally.file()
        return target

    def _done(self) -> bool:
        return _state(self.corpus, self.file).state == "ok"

    def _obtain(self, target: Path) -> None:
        """Download the file under a lock: of two processes, one downloads and the other finds the file complete."""
        from filelock import FileLock  # noqa: PLC0415 (only a download needs it)

        partial = cache_folder() / "corpora" / ".partial"
        partial.mkdir(parents=True, exist_ok=True)
        with FileLock(partial / f"{self.file.content_hash}.lock"):
            if not self._done():
                target.unlink(missing_ok=True)
                self._download(target, partial / f"{self.file.content_hash}.part")

    def _download(self, target: Path, part: Path) -> None:
        """Download from the first place that has the pinned content."""
        download = Download(self.file, part, self.patience, self.tally.add)
        errors: list[RemoteError] = []
        for url in places(self.corpus, self.file):
            try:
                download.to(target, url)
            except (MissingFileError, IntegrityError) as error:
                errors.append(error)
            else:
                return
        raise self._failure(errors)

    def _failure(self, errors: Sequence[RemoteError]) -> RemoteError:
        """The error to report when no place had the file: wrong content first, else that the file is missing."""
        wrong = [error for error in errors if isinstance(error, IntegrityError)]
        if wrong or len(errors) == 1:
            return [*wrong, *errors][0]
        mirror = os.environ["DISCOPROBE_MIRROR"]
        return RemoteError(
            f"{mirror}: the mirror has no {self.corpus.name}/{self.file.path}, nor {self.file.content_hash}; "
            "add it there, or unset DISCOPROBE_MIRROR"
        )


def _results(futures: Sequence[Future[Path]]) -> list[Path]:
    """The results in order.

    Raises the first error that is not only the stop after another error.
    """
    done = [future for future in futures if not future.cancelled()]
    errors = [error for future in done if (error := future.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, _StoppedError)):
        raise error
    return [future.result() for future in futures]


class _StoppedError(Exception):
    """The download of another file failed, or the user interrupted; what has arrived is kept."""


@dataclass
class _Tally:
    """Counts files and bytes and shows the progress; setting `stop` ends the running downloads."""

    files: int
    show: Show
    done: int = 0
    bytes: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, count: int) -> None:
        if self.stop.is_set():
            raise _StoppedError
        with self.lock:
            self.bytes += count
            self.show(self.done, self.files, self.bytes)

    def file(self) -> None:
        with self.lock:
            self.done += 1
            self.show(self.done, self.files, self.bytes)
