"""The whole way from names of corpora to a release folder: what `build run` does, without options and messages."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discoprobe.request import Progress, Request, silent
from discoprobe.sources import corpora_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from pathlib import Path

    from discoprobe.builders.config import Config, Unavailable
    from discoprobe.builders.task import Task
    from discoprobe.cards.manifest import Manifest
    from discoprobe.loaders.corpus import Corpus


def configs(
    corpus: Corpus, tasks: Sequence[Task], request: Request, executor: Executor | None, progress: Progress = silent
) -> Iterator[Config | Unavailable]:
    """The configs of one language, in the order of ``tasks``."""
    from discoprobe.builders.build import build_all  # noqa: PLC0415 (imports polars and scipy)

    several = executor if len(corpus.parts) > 1 else None
    for done, result in enumerate(build_all(tasks, corpus, request.settings, several), 1):
        progress(f"building {corpus.lang}", done, len(tasks))
        yield result


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run built: the manifest of the release, and what is not there."""

    manifest: Manifest
    built: tuple[str, ...]
    missing: tuple[Unavailable, ...]

    @property
    def failed(self) -> list[str]:
        """Configs that were built though they fail the audit, by themselves or with their task."""
        from discoprobe.cards.verdicts import FAILED, verdicts  # noqa: PLC0415 (scipy: a second)

        said = verdicts(self.manifest["configs"])
        return [name for name in self.built if said[name].word == FAILED]


def run(request: Request, out: Path, progress: Progress = silent) -> Outcome:
    """Builds a release folder, or renews what it is asked for in one that is there.

    Raises:
        DiscoprobeError: for anything wrong with the request, the corpora or the folder; ``out`` is then as it was.
    """
    from discoprobe.builders.task import tasks_named  # noqa: PLC0415

    tasks = tasks_named(request.tasks)
    return _built(corpora_of(request, tasks, progress), request, out, progress)


def renew(request: Request, out: Path, progress: Progress = silent) -> tuple[Outcome, tuple[str, ...]]:
    """Builds what is missing or stale of what a request asks for; the rest of the folder is not touched.

    Returns:
        What was built, and the names of what is up to date: configs, and ones that cannot be built.

    Raises:
        DiscoprobeError: as for `run`.
    """
    from discoprobe.builders.task import tasks_named  # noqa: PLC0415
    from discoprobe.cards import manifest  # noqa: PLC0415
    from discoprobe.cards.inputs import up_to_date  # noqa: PLC0415

    tasks, found = tasks_named(request.tasks), manifest.read(out)
    fresh: list[str] = []
    stale: list[tuple[Corpus, list[Task]]] = []
    for corpus, wanted in corpora_of(request, tasks, progress):
        inputs = _inputs(corpus, request)
        kept = [task for task in wanted if up_to_date(out, found, f"{task.name}_{corpus.lang}", inputs)]
        fresh += [f"{task.name}_{corpus.lang}" for task in kept]
        if rest := [task for task in wanted if task not in kept]:
            stale.append((corpus, rest))
    outcome = _built(stale, request, out, progress) if stale else Outcome(found, (), ())
    return outcome, tuple(fresh)


def _inputs(corpus: Corpus, request: Request) -> str:
    from discoprobe.cards.inputs import digest  # noqa: PLC0415

    return digest(corpus, request.settings, audit=request.audit, keep_failed=request.keep_failed)


def _built(wanted: Iterable[tuple[Corpus, Sequence[Task]]], request: Request, out: Path, progress: Progress) -> Outcome:
    """What is wanted of each corpus, in the release folder."""
    from discoprobe.builders.config import Unavailable  # noqa: PLC0415
    from discoprobe.cards.release import open_release  # noqa: PLC0415
    from discoprobe.drawing import audited  # noqa: PLC0415 (imports scikit-learn)

    built: list[str] = []
    missing: list[Unavailable] = []
    with open_release(out) as release, processes(request.jobs) as executor:
        for corpus, tasks in wanted:
            release.add_corpus(corpus)
            inputs = _inputs(corpus, request)
            for result, report in audited(corpus, tasks, request, executor, progress):
                release.add(result, report, inputs)
                missing.append(result) if isinstance(result, Unavailable) else built.append(result.name)
        left = release.leave_out(_unwanted(request))
        manifest = release.finish()
    there = [name for name in built if name in manifest["configs"]]
    return Outcome(manifest, tuple(there), (*missing, *left))


def _unwanted(request: Request) -> set[str]:
    """The verdicts on configs that are not to be in the release."""
    from discoprobe.cards.verdicts import FAILED, UNDECIDED  # noqa: PLC0415 (scipy: a second)

    return ({UNDECIDED} if request.only_decided else set()) | (set() if request.keep_failed else {FAILED})


def processes(jobs: int) -> AbstractContextManager[Executor | None]:
    """Processes to work in, none for one job. They are spawned: polars' threads do not survive a fork."""
    if jobs == 1:
        return nullcontext()
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))


def support(request: Request, progress: Progress = silent) -> list[dict[str, str | int | bool | None]]:
    """What each language's corpora support: a row per language and task, with the reason for what they do not."""
    from discoprobe.builders.config import Unavailable  # noqa: PLC0415
    from discoprobe.builders.task import tasks_named  # noqa: PLC0415

    tasks = tasks_named(request.tasks)
    rows: list[dict[str, str | int | bool | None]] = []
    for corpus, wanted in corpora_of(request, tasks, progress):
        for result in configs(corpus, wanted, request, None, progress):
            there = not isinstance(result, Unavailable)
            rows.append(
                {
                    "lang": corpus.lang,
                    "task": result.task,
                    "available": there,
                    "rows": None if isinstance(result, Unavailable) else result.n_rows,
                    "candidates": result.candidates,
                    "reason": result.reason if isinstance(result, Unavailable) else None,
                }
            )
    return rows
