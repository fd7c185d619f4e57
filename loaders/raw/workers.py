"""The annotations of batches, made by one process or several; those that are there are left as they are."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.raw.batches import Batch, annotate_batch, part_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from discoprobe.loaders.raw.sentences import Annotator, Engine

    Progress = Callable[[str, int, int], None]


def make_parts(batches: Sequence[Batch], engine: Engine, folder: Path, jobs: int, progress: Progress | None) -> int:
    """Annotate the batches whose annotation is not in a folder.

    Args:
        batches: all of them.
        engine: what annotates.
        folder: of annotations.
        jobs: number of processes; each loads the models, and works on one thread.
        progress: called after each batch.

    Returns:
        The number of words annotated now.

    Raises:
        DiscoprobeError: a process died, or annotation failed; what is done stays.
    """
    there = {batch.key: words for batch in batches if (words := part_words(folder, batch)) is not None}
    todo = list({batch.key: batch for batch in batches if batch.key not in there}.values())
    if not todo:
        return 0
    meter = _Meter(batches, there, progress)
    for batch, words in _annotated(todo, engine, folder, min(jobs, len(todo))):
        meter.add(batch, words)
    return meter.new


class _Meter:
    """Counts words, and tells how many there will be if those to come have as many characters as those so far."""

    def __init__(self, batches: Sequence[Batch], there: dict[str, int], progress: Progress | None) -> None:
        self.new = 0
        self._words = sum(there.values())
        self._characters = sum(batch.characters for batch in batches if batch.key in there)
        self._whole = sum(batch.characters for batch in batches)
        self._progress = progress
        if there:
            self._tell()

    def add(self, batch: Batch, words: int) -> None:
        """Count a batch."""
        self.new += words
        self._words += words
        self._characters += batch.characters
        self._tell()

    def _tell(self) -> None:
        if self._progress and self._characters:
            self._progress("annotating", self._words, round(self._words * self._whole / self._characters))


def _annotated(todo: Sequence[Batch], engine: Engine, folder: Path, jobs: int) -> Iterator[tuple[Batch, int]]:
    """Each batch with its number of words, when it is done."""
    if jobs == 1:
        annotator = engine.load()
        for batch in todo:
            yield batch, annotate_batch(annotator, batch, folder)
        return
    pool = ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_start, initargs=(engine,)
    )
    try:
        futures = {pool.submit(_work, batch, folder): batch for batch in todo}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise DiscoprobeError(
            "a process that annotates has died; if memory ran out, use fewer --jobs; what is annotated is kept"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


_STATE: dict[str, Annotator | DiscoprobeError] = {}
"""The annotator of this process, or why it could not be loaded."""


def _start(engine: Engine) -> None:
    """Loads the annotator of a new process, which ends with its parent however that ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _STATE["annotator"] = engine.load()
    except DiscoprobeError as error:
        _STATE["annotator"] = error


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(batch: Batch, folder: Path) -> int:
    annotator = _STATE["annotator"]
    if isinstance(annotator, DiscoprobeError):
        raise annotator
    return annotate_batch(annotator, batch, folder)
