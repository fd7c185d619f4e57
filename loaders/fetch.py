"""The corpora of the catalogue as verified files in the cache.

A file is kept at ``$DISCOPROBE_CACHE/corpora/<repo>/<commit>/<language>/<corpus>/<file>`` (by default in the user's
cache folder): the last three parts say to a reader of the folder what the file is. Files that are being downloaded
gather in ``corpora/.partial`` under their hash, one process at a time. No file gets its place before its size, its git
blob SHA-1 and, where known, its SHA-256 are the pinned ones.

``DISCOPROBE_MIRROR`` names a folder or base URL that stands in for the host; nothing else is then asked.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from discoprobe.loaders.errors import DiscoprobeError, IntegrityError, RemoteError
from discoprobe.loaders.integrity import mismatch
from discoprobe.loaders.pinned import TextCorpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from discoprobe.loaders.pinned import PinnedCorpus, PinnedFile

    Show = Callable[[int, int, int], None]
    """Is told of progress: files done, files in all, bytes that have arrived."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try: attempts after the first, and seconds.

    ``backoff`` is the first wait and doubles with every attempt, ``longest`` bounds any wait, also one that a host asks
    for; ``timeout`` is how long a host may be silent.
    """

    retries: int = 5
    backoff: float = 0.5
    longest: float = 60
    timeout: float = 30


@dataclass(frozen=True, slots=True)
class FileState:
    """A file of the catalogue in the cache: where it is or would be, and whether it is what was pinned."""

    corpus: str
    file: PinnedFile
    location: Path
    state: Literal["ok", "missing", "corrupt"]
    problem: str = ""


def fetch(
    corpora: Iterable[PinnedCorpus], *, jobs: int = 4, patience: Patience = Patience(), show: Show | None = None
) -> list[Path]:
    """Download what is missing or corrupt in the cache, ``jobs`` files at a time.

    Args:
        corpora: of the catalogue.
        jobs: threads.
        patience: how often and how long to try again.
        show: is told of progress; without it, a bar on stderr where that is a terminal.

    Returns:
        The verified files of every corpus, in the catalogue's order.

    Raises:
        IntegrityError: a file is not the one that was pinned; it was not kept.
        RemoteError: the host, or the mirror, did not give a file. Files that were complete are kept.
        DiscoprobeError: the cache cannot be written.
    """
    wanted = [(corpus, file) for corpus in corpora for file in corpus.files]
    with _shown(show, len(wanted)) as tally, ThreadPoolExecutor(max(1, jobs)) as threads:
        futures = [threads.submit(_Job(corpus, file, patience, tally).run) for corpus, file in wanted]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            tally.stop.set()
            threads.shutdown(cancel_futures=True)
    return _results(futures)


def check(corpora: Iterable[PinnedCorpus]) -> list[FileState]:
    """The state of every file of the corpora in the cache, by reading it."""
    return [_state(corpus, file) for corpus in corpora for file in corpus.files]


def cache_folder() -> Path:
    """Where downloads and derived files are kept: ``DISCOPROBE_CACHE``, or the user's cache folder of the system."""
    if named := os.environ.get("DISCOPROBE_CACHE"):
        return Path(named).expanduser().resolve()
    import pooch  # noqa: PLC0415 (slow to import, and only here to know the system's folder)

    return Path(pooch.os_cache("discoprobe"))


def location(corpus: PinnedCorpus, file: PinnedFile) -> Path:
    """Where a file is kept in the cache, whether or not it is there."""
    return folder(corpus) / file.name


def folder(corpus: PinnedCorpus) -> Path:
    """Where the files of a corpus are kept in the cache, these and no others."""
    return cache_folder() / "corpora" / corpus.repo / corpus.commit / corpus.lang / corpus.name


def places(corpus: PinnedCorpus, file: PinnedFile) -> list[str]:
    """The URLs at which a file is looked for, in this order: the host's, or those of the mirror.

    A mirror may be laid out like the host (``<repo>/<commit>/<path>``), by corpus (``<treebank>/<file>``, also below
    the language's code or ``ud/<code>``; raw text below ``text/<code>`` or ``text``, in a folder named after the corpus
    or its repository), or by content (the git blob SHA-1 or the SHA-256 as the file's name).
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
    """By corpus (``text/de/eltec/DEU060.xml``), or by repository and the last folder (``text/de/klexikon/wiki/…``)."""
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
    problem = mismatch(path, file)
    return FileState(corpus.name, file, path, "corrupt" if problem else "ok", problem)


@dataclass(frozen=True, slots=True)
class _Job:
    """One file to be got into the cache."""

    corpus: PinnedCorpus
    file: PinnedFile
    patience: Patience
    tally: _Tally

    def run(self) -> Path:
        """The file in its place in the cache, downloaded unless it is there and whole."""
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
        """Download the file under a lock, so that of two processes one downloads and the other finds it done."""
        from filelock import FileLock  # noqa: PLC0415 (only a download needs it)

        partial = cache_folder() / "corpora" / ".partial"
        partial.mkdir(parents=True, exist_ok=True)
        with FileLock(partial / f"{self.file.digest}.lock"):
            if not self._done():
                target.unlink(missing_ok=True)
                self._first(target, partial / f"{self.file.digest}.part")

    def _first(self, target: Path, part: Path) -> None:
        """Download from the first place that has the pinned content."""
        import pooch  # noqa: PLC0415 (slow to import, needed for a download only)

        from discoprobe.loaders.download import Download, NotThereError  # noqa: PLC0415 (imports requests)

        pooch.get_logger().setLevel("WARNING")
        download = Download(self.file, part, self.patience, self.tally.add)
        known = f"sha256:{self.file.sha256}" if self.file.sha256 else None
        refused: list[RemoteError] = []
        for url in places(self.corpus, self.file):
            try:
                pooch.retrieve(url, known, target.name, target.parent, downloader=download)
            except (NotThereError, IntegrityError) as error:
                refused.append(error)
            else:
                return
        raise self._refusal(refused)

    def _refusal(self, refused: Sequence[RemoteError]) -> RemoteError:
        """What to tell after every place refused: that a file there is wrong, else that there is none."""
        wrong = [error for error in refused if isinstance(error, IntegrityError)]
        if wrong or len(refused) == 1:
            return [*wrong, *refused][0]
        mirror = os.environ["DISCOPROBE_MIRROR"]
        return RemoteError(
            f"{mirror}: the mirror has no {self.corpus.name}/{self.file.path}, nor {self.file.digest}; "
            "add it there, or unset DISCOPROBE_MIRROR"
        )


def _results(futures: Sequence[Future[Path]]) -> list[Path]:
    """The results in order, or the first error that is not merely the stop after another one."""
    done = [future for future in futures if not future.cancelled()]
    errors = [error for future in done if (error := future.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, _StoppedError)):
        raise error
    return [future.result() for future in futures]


class _StoppedError(Exception):
    """Another file failed, or the user interrupted; what has arrived is kept."""


@dataclass
class _Tally:
    """Counts what the threads have done and shows it; `stop` ends downloads that are under way."""

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


@contextlib.contextmanager
def _shown(show: Show | None, files: int) -> Iterator[_Tally]:
    """A tally that is shown by ``show``, or on a terminal by a bar, or not at all."""
    if show is not None or not sys.stderr.isatty():
        yield _Tally(files, show or _silent)
        return
    from rich.console import Console  # noqa: PLC0415 (only a terminal needs it)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (
        TextColumn("fetching"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files, {task.fields[size]:.1f} MB"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=files, size=0.0)
        yield _Tally(files, lambda done, _, size: bar.update(task, completed=done, size=size / 1e6))


def _silent(_done: int, _files: int, _bytes: int) -> None:
    """Show nothing."""
