"""From a corpus to configs: read it block by block, collect the rows of every config, and make the configs of them.

``build_all`` tells it in order. What a block gives is in ``blocks``: candidates (``selection``), sampled rows
(``sample``), their texts (``render``). A small corpus is one block, whose parts and tasks any ``concurrent.futures``
executor can divide among workers; of a large one, which is read until the sizes are full, each worker gets a block.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from itertools import chain, islice, repeat

import numpy as np

from discoprobe.builders.blocks import Block, BlockRows, ConfigRows, blocks_of, load, rows_of_block
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.sample import sample
from discoprobe.builders.selection import BlockPlan, Candidates, frequencies_of, hindrance, merge, select
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask, RelationTask, tasks_named
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.near_duplicates import EarlierTexts
from discoprobe.loaders.process_pool import WORDS, Progress, n_workers, process_pool, silent

KILO = 1000

FIRST = (1, 2, 4, 8)
"""Numbers of first blocks that decide on the classes of a task with open labels; the first number that suffices counts.
A class with too few candidates in eight blocks is no class."""


def build(task: str, corpus: Corpus, settings: Settings | None = None) -> Config:
    """Builds one task from a corpus.

    Args:
        task: name of a task.
        corpus: what ``load_corpus`` returns.
        settings: seed, sizes and filters; the defaults are those of the published release.

    Returns:
        The config, its splits as Arrow tables.

    Raises:
        UnknownNameError: there is no task of that name.
        UnsupportedError: the corpus cannot support the task; the message says why.
    """
    with process_pool(1) as executor:
        config = next(build_all(tasks_named([task]), corpus, settings or Settings(), executor, ahead=n_workers(1) + 1))
    if isinstance(config, Unavailable):
        raise UnsupportedError(f"{config.name} cannot be built: {config.reason}")
    return config


def build_all(  # noqa: PLR0913 (what a build consists of)
    tasks: Sequence[AnyTask], corpus: Corpus, settings: Settings, executor: Executor | None = None, *, ahead: int = 2,
    progress: Progress = silent,
) -> Iterator[Config | Unavailable]:  # fmt: skip
    """Builds tasks from a corpus, block by block until the sizes are full.

    Args:
        tasks: what to build.
        corpus: one language's corpora.
        settings: seed, sizes and filters.
        executor: runs the steps over parts or blocks; without one they run here.
        ahead: number of blocks that the executor gets in advance.
        progress: called with the number of words read and, for a large corpus, with the text read so far (kB) and the
            rows of every config.

    Yields:
        For each task its config, or why it is not available, in the order of ``tasks``.
    """
    collected = collect_rows(tasks, corpus, settings, executor, ahead, progress)
    for task in tasks:
        yield collected.pop(task.name).config(corpus)


def collect_rows(  # noqa: PLR0913, PLR0917 (what a build consists of)
    tasks: Sequence[AnyTask], corpus: Corpus, settings: Settings, executor: Executor | None, ahead: int,
    progress: Progress, *, trace: bool = False,
) -> dict[str, ConfigRows]:  # fmt: skip
    """The rows of every task by its name, or why the corpus cannot support it.

    Relations are few, so that those of all parts are sampled together, as the only block.

    Args:
        tasks: what to build.
        corpus: one language's corpora.
        settings: seed, sizes and filters.
        executor: runs the steps over parts or blocks; without one they run here.
        ahead: number of blocks that the executor gets in advance.
        progress: called with what was read.
        trace: whether lost candidates are remembered, for `build why`.
    """
    language = language_data(corpus.lang)
    plan = BlockPlan(language, settings, corpus.sources, corpus.layers, corpus.n_sentences, trace=trace)
    hindrances = {task.name: hindrance(task, plan) for task in tasks}
    collected = {
        task.name: ConfigRows(task, [], plan, hindrances[task.name]) for task in tasks if hindrances[task.name]
    }
    possible = [task for task in tasks if not hindrances[task.name]]
    if others := [task for task in possible if not isinstance(task, RelationTask)]:
        blocks = blocks_of([part for part in corpus.parts if part.size], settings)
        collected |= _read_blocks(others, blocks, plan, executor, ahead, progress)
    if relations := [task for task in possible if isinstance(task, RelationTask)]:
        only = tuple(chain.from_iterable(blocks_of(corpus.parts, settings)))
        collected |= _read_blocks(relations, [only], plan, executor, ahead, silent)
    return collected


def _read_blocks(  # noqa: PLR0913, PLR0917 (what a build consists of)
    tasks: Sequence[AnyTask], blocks: Sequence[Block], plan: BlockPlan, executor: Executor | None, ahead: int,
    progress: Progress,
) -> dict[str, ConfigRows]:  # fmt: skip
    """The rows of tasks from one block after the other, until all are full.

    The results of blocks are used in their order. Blocks that were started and are not needed are cancelled.
    """
    first_parts = [part for block in blocks[: FIRST[-1]] for part in block]
    plan = replace(
        plan, only_block=len(blocks) == 1, frequencies=frequencies_of(tasks, first_parts, plan, executor)
    )  # fmt: skip
    reasons: Mapping[str, str] = {}
    if not plan.only_block:
        labels, reasons = _decide_labels(tasks, blocks[: FIRST[-1]], plan, executor, ahead)
        plan = replace(plan, labels=labels)
    collected = {task.name: ConfigRows(task, blocks, plan, reasons.get(task.name, "")) for task in tasks}
    report = silent if plan.only_block else progress
    step, sizes = (
        f"reading {plan.language.code}: kB of text",
        [sum(part.size for part in block) // KILO for block in blocks],
    )
    report(step, 0, sum(sizes))
    for name, rows in collected.items():
        if not rows.full:
            report(f"{name}_{plan.language.code}: rows", 0, rows.size)
    earlier, n_read = EarlierTexts(), 0
    unread, begun = iter(blocks), deque[Future[BlockRows]]()
    while unfilled := [rows.task for rows in collected.values() if not rows.full]:
        if executor is None or plan.only_block:
            block = next(unread, None)
            if block is None:
                break
            of_block = rows_of_block(block, unfilled, plan, executor)
        else:
            in_advance = islice(unread, ahead - len(begun))
            begun += [executor.submit(rows_of_block, block, unfilled, plan) for block in in_advance]
            if not begun:
                break
            of_block = begun.popleft().result()
        repeated = in_other_split = np.zeros(0, dtype=bool)
        if not plan.only_block:
            repeated, in_other_split = earlier.repeated(of_block.shingles, of_block.splits)
        n_read += 1
        report(step, sum(sizes[:n_read]), sum(sizes))
        for name, of_task in of_block.of_task.items():
            rows = collected[name]
            if not rows.full:
                rows.add(of_task, repeated, in_other_split)
                n_rows = sum(rows.rows.values())
                report(f"{name}_{plan.language.code}: rows", n_rows, n_rows if rows.full else rows.size)
        progress(WORDS, of_block.n_words, 0)
    for future in begun:
        future.cancel()
    report(step, sum(sizes[:n_read]), sum(sizes[:n_read]))
    return collected


def _decide_labels(
    tasks: Sequence[AnyTask], blocks: Sequence[Block], plan: BlockPlan, executor: Executor | None, n_groups: int
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The labels of tasks with open label sets by the first of several blocks, and why those of others have none.

    The executor decides ``n_groups`` groups of tasks at the same time.

    Raises:
        DiscoprobeError: a part of a block cannot be read.
    """
    deciding = [task for task in tasks if task.open]
    groups = [group for n in range(n_groups) if (group := deciding[n::n_groups])] if executor else [deciding]
    labels: dict[str, tuple[str, ...]] = {}
    reasons: dict[str, str] = {}
    for of_group, why_none in (executor.map if executor else map)(
        _labels_by_blocks, groups, repeat(blocks), repeat(plan)
    ):
        labels |= of_group
        reasons |= why_none
    return labels, reasons


def _labels_by_blocks(
    tasks: Sequence[AnyTask], blocks: Sequence[Block], plan: BlockPlan
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The labels of each task by as few blocks as ``FIRST`` permits, and why the other tasks have none."""
    labels: dict[str, tuple[str, ...]] = {}
    reasons: dict[str, str] = {}
    candidates: list[Candidates] = []
    for n_blocks in FIRST:
        undecided = [task for task in tasks if task.name not in labels]
        new_blocks = blocks[len(candidates) : n_blocks]
        if not undecided or not new_blocks:
            break
        candidates += [select(undecided, load(block), plan) for block in new_blocks]
        together = merge(candidates, undecided)
        for task in undecided:
            of_task = sample(task, together, plan, plan.settings.without_sizes())
            if of_task.problem:
                reasons[task.name] = of_task.problem
            else:
                labels[task.name] = of_task.used
    return labels, {name: reason for name, reason in reasons.items() if name not in labels}
