"""Worker processes and progress, the same way for every step that takes long."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from discoprobe.loaders.errors import DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, the number of units done, and the total; the command line draws it."""


WORDS = "words"
"""The step whose ``done`` is a further number of words that were read: no progress, but the speed."""


def silent(_step: str, _done: int, _total: int) -> None:
    """Report no progress."""


@contextmanager
def process_pool(
    jobs: int, initializer: Callable[..., object] | None = None, initargs: tuple[Any, ...] = ()
) -> Iterator[Executor | None]:
    """New processes to work in, or None for one job.

    They are spawned, since the threads of polars and torch do not survive a fork. Each ends with its parent, also when
    the parent is killed. Tasks that have not begun are cancelled at the end.

    Args:
        jobs: number of processes.
        initializer: called in each process before its first task.
        initargs: its arguments.

    Raises:
        DiscoprobeError: a process died.
    """
    if jobs <= 1:
        yield None
        return
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_start, initargs=(initializer, initargs))
    try:
        yield pool
    except BrokenProcessPool as error:
        raise DiscoprobeError("a worker process has died; if memory ran out, use fewer --jobs") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start(initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*initargs)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
