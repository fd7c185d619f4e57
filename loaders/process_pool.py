"""Worker processes and the reporting of progress, for all steps that take long.

A step asks `process_pool` for an executor: processes of its own, or the executor that was given with `use_executor`.
"""

import importlib
import importlib.metadata
import itertools
import multiprocessing
import os
import pickle  # noqa: TID251 (between processes of one run)
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UsageError
from discoprobe.loaders.files import cache_folder
from discoprobe.loaders.plugins import VARIABLE

T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, the number of units done, and the total; the command line shows it."""
WORDS = "words"
"""Not a step: ``done`` is the number of words read since the last call, from which the speed is computed."""


def silent(_step: str, _done: int, _total: int) -> None:
    """Report no progress."""


_GIVEN: ContextVar[tuple[Executor, int] | None] = ContextVar("given", default=None)
"""The executor of `use_executor`, and the number of its workers; None if each step starts its own processes."""
_ANSWER = 30
"""Seconds to wait for a cluster and for its first worker."""
_LOST = 3
"""How often the work on a shard is started again after its worker was lost."""


_thread_pools = cache(ThreadpoolController)


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, BLAS has one thread: matrices are small, and a second thread doubles the processor time."""
    with _thread_pools().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def process_pool(jobs: int) -> Iterator[Executor | None]:
    """The executor that was given with `use_executor`; else new processes to work in, or None for one job.

    New processes are spawned, since the threads of polars and torch do not survive a fork. Each ends with its parent,
    also when the parent is killed. Tasks that have not begun are cancelled at the end.

    Raises:
        DiscoprobeError: a process died.
    """
    shared = _GIVEN.get()
    if shared is None and jobs <= 1:
        yield None
        return
    try:
        if shared:
            yield _SetUpExecutor(shared[0])
            return
        spawn = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_start)
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)
    except BrokenExecutor as error:
        raise DiscoprobeError("a worker process has died; if memory ran out, use fewer --jobs") from error


@contextmanager
def use_executor(executor: Executor, workers: int) -> Iterator[None]:
    """Run all steps inside the block in an executor; the result is the same to the byte.

    Its workers must see the same folders: the cache, the corpora and, for annotation, the output folder.

    Args:
        executor: any executor with the interface of ``concurrent.futures``; it is not shut down.
        workers: number of tasks that it runs at the same time.
    """
    token = _GIVEN.set((executor, workers))
    try:
        yield
    finally:
        _GIVEN.reset(token)


def n_workers(jobs: int) -> int:
    """The number of tasks that run at the same time: that of the executor of `use_executor`, else ``jobs``."""
    shared = _GIVEN.get()
    return shared[1] if shared else jobs


def in_order(
    function: Callable[..., T], work: Iterable[tuple[Any, ...]], executor: Executor | None, workers: int
) -> Iterator[T]:
    """The result of each tuple of arguments, in their order.

    Arguments are taken from ``work`` for one task more than there are workers, so that memory holds no others.
    """
    if executor is None:
        yield from itertools.starmap(function, work)
        return
    waiting = iter(work)
    begun = deque(executor.submit(function, *arguments) for arguments in itertools.islice(waiting, workers + 1))
    while begun:
        yield begun.popleft().result()
        begun.extend(executor.submit(function, *arguments) for arguments in itertools.islice(waiting, 1))


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """Run all steps inside the block on a Dask cluster (extra ``cluster``); the work of lost workers is repeated.

    Args:
        address: of the scheduler, ``tcp://HOST:PORT``, or the path of its scheduler file.

    Raises:
        UsageError: Dask is not installed, or the address is neither a URL nor a file.
        RemoteError: no scheduler or worker answers, or the workers see another cache or have another version.
        DiscoprobeError: several workers were lost while they worked on the same shard.
    """
    try:
        distributed: Any = importlib.import_module("distributed")  # an extra without types
    except ImportError as error:
        raise UsageError("--cluster needs Dask: pip install distributed") from error
    if "://" not in address and not Path(address).is_file():
        raise UsageError(f"--cluster {address}: neither tcp://HOST:PORT nor a scheduler file")
    place: dict[str, str] = {"address": address} if "://" in address else {"scheduler_file": address}
    try:
        client = distributed.Client(**place, timeout=_ANSWER)
        client.wait_for_workers(1, timeout=_ANSWER)
    except (OSError, ValueError, TimeoutError) as error:
        raise RemoteError(f"{address}: no Dask scheduler with workers ({error}); see docs/cluster.md") from error
    with client:
        _check_workers(client.run)
        try:
            with use_executor(client.get_executor(pure=False, retries=_LOST), sum(client.nthreads().values())):
                yield
        except distributed.KilledWorker as error:
            problem = f"{_LOST} workers were lost while they worked on the same shard; give them more memory"
            raise DiscoprobeError(f"{address}: {problem}") from error
        except CancelledError as error:
            raise RemoteError(f"{address}: the cluster is gone; start it and run the command again") from error


def _check_workers(run: Callable[..., dict[str, tuple[bool, str]]]) -> None:
    """Check that all workers see this cache and have this version of discoprobe.

    Args:
        run: calls a function in every worker; returns the results by the worker's address.
    """
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".seen-") as file:
        try:
            answers = run(_sees, file.name)
        except ImportError as error:
            raise RemoteError(f"the workers cannot import discoprobe ({error}); install it there") from error
    version = importlib.metadata.version("discoprobe")
    for worker, (sees, of_worker) in answers.items():
        if of_worker != version:
            raise RemoteError(f"{worker} has discoprobe {of_worker}, not {version}; install the same version")
        if not sees:
            raise RemoteError(f"{worker} does not see {folder}; set DISCOPROBE_CACHE to a shared folder")


def _sees(path: str) -> tuple[bool, str]:
    return Path(path).exists(), importlib.metadata.version("discoprobe")


class _SetUpExecutor(Executor):
    """An executor whose workers use this process's working directory, cache and plugins."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._folders = os.getcwd(), str(cache_folder()), os.environ.get(VARIABLE, "")  # noqa: PTH109

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call a function in a worker. It is pickled with its arguments here, so that Dask does not inspect them."""
        return self._executor.submit(_call, self._folders, pickle.dumps((fn, args, kwargs)))


def _call(folders: tuple[str, str, str], called: bytes) -> Any:
    """In a worker: call the pickled function with the folders of the process that submitted it."""
    os.chdir(folders[0])
    os.environ["DISCOPROBE_CACHE"], os.environ[VARIABLE] = folders[1:]
    fn, args, kwargs = pickle.loads(called)  # noqa: S301 (the parent wrote it)
    return fn(*args, **kwargs)


def _start() -> None:
    """Make a worker end when its parent ends, even if the parent is killed."""

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
