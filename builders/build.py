"""From a corpus to configs: select candidates from all shards, sample rows among them, realise these as tables of text.

The steps over shards run in this process or in any ``concurrent.futures`` executor.

Builds tasks block by block: reading stops when all configs are full.

The first blocks decide on the classes of tasks with open label sets.
"""

import dataclasses
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from itertools import islice, repeat

from discoprobe.builders.blocks import (
    Block,
    BlockPlan,
    BlockRows,
    Collected,
    blocks_of,
    candidates_of,
    load,
    rows_of_block,
)
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.render import read_texts, realise, unavailable
from discoprobe.builders.sample import sample, samples
from discoprobe.builders.selection import Candidates, frequencies_of, hindrance, merged, select
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


def build_blocks(  # noqa: PLR0913, PLR0917 (what a build consists of)
    tasks: Sequence[AnyTask], corpus: Corpus, blocks: Sequence[Block], settings: Settings, executor: Executor | None,
    ahead: int, progress: Progress,
) -> Iterator[Config | Unavailable]:  # fmt: skip
    """Builds tasks from one block after the other, until all configs are full.

    Args:
        tasks: what to build; the corpus can support them.
        corpus: one language's corpora.
        blocks: all of the corpus, in the order in which they are read.
        settings: seed, sizes and filters.
        executor: makes the rows of blocks; without one they are made here.
        ahead: number of blocks that the executor gets in advance.
        progress: gets what has been read (in kB of text and in words), and the rows of every config.

    Yields:
        For each task its config, or why it is not available, in the order of ``tasks``.
    """
    language = language_data(corpus.lang)
    sizes = [sum(part.size for part in block) // KILO for block in blocks]
    progress(f"reading {corpus.lang}: kB of text", 0, sum(sizes))
    head = dataclasses.replace(corpus, parts=tuple(part for block in blocks[: FIRST[-1]] for part in block))
    words = frequencies_of(tasks, head, language, settings, executor)
    plan = BlockPlan(language, settings, words, sources=corpus.sources)
    plan, reasons = _with_labels(plan, blocks, tasks, executor, ahead)
    collected = {
        task.name: Collected(task, plan.labels.get(task.name, task.labels), settings)
        for task in tasks
        if task.name not in reasons
    }
    most = {name: sum(one.sizes) for name, one in collected.items()}
    for name, rows_at_most in most.items():
        progress(f"{name}_{corpus.lang}: rows", 0, rows_at_most)
    earlier, read = EarlierTexts(), 0
    for size, block_rows in zip(sizes, _rows_of_blocks(blocks, collected, plan, executor, ahead), strict=False):
        again, elsewhere = earlier.repeated(block_rows.shingles, block_rows.splits)
        read += size
        progress(f"reading {corpus.lang}: kB of text", read, sum(sizes))
        for name, rows in block_rows.of_task.items():
            if not collected[name].full:
                collected[name].add(rows, again, elsewhere)
                n_rows = sum(collected[name].rows.values())
                progress(f"{name}_{corpus.lang}: rows", n_rows, n_rows if collected[name].full else most[name])
        progress(WORDS, block_rows.words, 0)
    progress(f"reading {corpus.lang}: kB of text", read, read)
    for task in tasks:
        if task.name in reasons:
            yield unavailable(task, corpus, reasons[task.name])
        else:
            yield collected.pop(task.name).config(blocks, corpus)


def _rows_of_blocks(
    blocks: Sequence[Block], collected: Mapping[str, Collected], plan: BlockPlan, executor: Executor | None, ahead: int
) -> Iterator[BlockRows]:
    """The rows of blocks in order, of the tasks that are not full, until all are.

    Blocks that were started and are not needed are cancelled.
    """
    left, begun = iter(blocks), deque[Future[BlockRows]]()
    while wanted := [one.task for one in collected.values() if not one.full]:
        if executor is None:
            block = next(left, None)
            if block is None:
                return
            yield rows_of_block(block, wanted, plan)
            continue
        begun += [executor.submit(rows_of_block, block, wanted, plan) for block in islice(left, ahead - len(begun))]
        if not begun:
            return
        yield begun.popleft().result()
    for future in begun:
        future.cancel()


def _with_labels(
    plan: BlockPlan, blocks: Sequence[Block], tasks: Sequence[AnyTask], executor: Executor | None, calls: int
) -> tuple[BlockPlan, dict[str, str]]:
    """The plan with the labels of tasks with open label sets, and why those of the others cannot be decided.

    Args:
        plan: what is known already.
        blocks: all blocks in their order.
        tasks: what is built.
        executor: decides; without one it is done here.
        calls: number of groups of tasks that the executor decides at the same time.

    Raises:
        DiscoprobeError: a part of a block cannot be read.
    """
    deciding = [task for task in tasks if task.open]
    if not deciding:
        return plan, {}
    groups = [group for n in range(calls) if (group := deciding[n::calls])] if executor else [deciding]
    decided = [*(executor.map if executor else map)(_decide, repeat(blocks[: FIRST[-1]]), groups, repeat(plan))]
    labels, reasons = ({name: one for of in found for name, one in of.items()} for found in zip(*decided, strict=True))
    return dataclasses.replace(plan, labels=labels), reasons


def _decide(
    blocks: Sequence[Block], tasks: Sequence[AnyTask], plan: BlockPlan
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The labels of each task by the first blocks, as few as ``FIRST`` permits, and why the other tasks have none.

    Args:
        blocks: the first ones, in their order.
        tasks: those with open labels.
        plan: what is known already.

    Raises:
        DiscoprobeError: a part of a block cannot be read.
    """
    labels: dict[str, tuple[str, ...]] = {}
    reasons: dict[str, str] = {}
    candidates: list[Candidates] = []
    for n_blocks in FIRST:
        left = [task for task in tasks if task.name not in labels]
        new_blocks = blocks[len(candidates) : n_blocks]
        if not left or not new_blocks:
            break
        candidates += [candidates_of(load(block), left, plan) for block in new_blocks]
        together = merged(candidates, left)
        for task in left:
            made = sample(task, together, plan.language, plan.settings.without_sizes())
            if made.problem:
                reasons[task.name] = made.problem
            else:
                labels[task.name] = made.used
    return labels, {name: reason for name, reason in reasons.items() if name not in labels}


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
    """Builds tasks from a corpus: at once, or, if it is large, block by block until the sizes are full.

    Args:
        tasks: what to build.
        corpus: one language's corpora.
        settings: seed, sizes and filters.
        executor: runs the steps over shards or blocks; without one they run here.
        ahead: number of blocks that the executor gets in advance.
        progress: called, for a large corpus, with the text read so far (kB) and the rows of every config.

    Yields:
        For each task its config, or why it is not available, in the order of ``tasks``.
    """
    problems = {task.name: hindrance(task, corpus, settings) for task in tasks}
    relations = [task for task in tasks if not problems[task.name] and isinstance(task, RelationTask)]
    others = [task for task in tasks if not problems[task.name] and not isinstance(task, RelationTask)]
    blocks = blocks_of([part for part in corpus.parts if part.size], settings)
    of_relations = _at_once(relations, corpus, blocks_of(corpus.parts, settings), settings, executor, silent)
    if len(blocks) > 1:
        of_others = build_blocks(others, corpus, blocks, settings, executor, ahead, progress)
    else:
        of_others = _at_once(others, corpus, blocks, settings, executor, progress)
    for task in tasks:
        if problem := problems[task.name]:
            yield unavailable(task, corpus, problem)
        else:
            yield next(of_relations if isinstance(task, RelationTask) else of_others)


def _at_once(  # noqa: PLR0913, PLR0917 (what a build consists of)
    tasks: Sequence[AnyTask], corpus: Corpus, blocks: Sequence[Block], settings: Settings, executor: Executor | None,
    progress: Progress,
) -> Iterator[Config | Unavailable]:  # fmt: skip
    """Builds tasks in two passes: one selects candidates, one reads the texts of the sampled rows."""
    if not tasks:
        return
    language = language_data(corpus.lang)
    corpus = dataclasses.replace(corpus, parts=tuple(part for block in blocks for part in block))
    of_parts = executor if len(corpus.parts) > 1 else None
    frequencies = frequencies_of(tasks, corpus, language, settings, of_parts)
    candidates = select(tasks, corpus, language, settings, of_parts, frequencies=frequencies)
    task_samples = samples(tasks, candidates, language, settings, executor)
    texts = read_texts(task_samples, corpus, of_parts)
    progress(WORDS, corpus.n_words, 0)
    yield from (realise(task_sample, texts, corpus, settings) for task_sample in task_samples)
