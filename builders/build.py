"""From a corpus to configs: select candidates on columns, sample rows, then write text.

``select`` returns the candidates of all shards, ``sample`` chooses rows among them, and ``realise`` reads the texts of
the chosen rows and makes tables. The steps over shards run in this process or in any ``concurrent.futures`` executor.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from concurrent.futures import Future
from itertools import islice
from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders.blockwise.block_rows import BlockPlan, BlockRows, rows_of_block
from discoprobe.builders.blockwise.collect import Collected
from discoprobe.builders.blockwise.cut import blocks_of
from discoprobe.builders.blockwise.decisions import FIRST, with_labels
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.realise import config, read_texts, realise, unavailable
from discoprobe.builders.sample import sample
from discoprobe.builders.selection import frequencies_of, select, select_relations
from discoprobe.builders.sentences import syncretism
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import RelationTask, tasks_named, unsupported
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.near_duplicates import EarlierTexts
from discoprobe.loaders.process_pool import WORDS, Progress, n_workers, process_pool, silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from discoprobe.builders.blockwise.cut import Block
    from discoprobe.builders.task import AnyTask
    from discoprobe.loaders.corpus import Corpus


KILO = 1000


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
        ahead: so many blocks are given to the executor before their turn.
        progress: is told of a large corpus what has been read (in kB of text), and the rows of every config.

    Yields:
        For each task its config, or why it is not available, in the order of ``tasks``.
    """
    language = language_data(corpus.lang)
    problems = {
        task.name: _without_sentences(task, corpus)
        or unsupported(task, corpus.layers, language)
        or syncretism.hindrance(task, language, settings)
        for task in tasks
    }
    able = [task for task in tasks if not problems[task.name] and not isinstance(task, RelationTask)]
    related = [task for task in tasks if not problems[task.name] and isinstance(task, RelationTask)]
    relations = _relations(related, corpus, settings, executor)
    blocks = blocks_of([part for part in corpus.parts if part.size], settings) if able else []
    if len(blocks) > 1:
        made = _block_by_block(able, corpus, blocks, settings, executor, ahead, progress)
    else:
        shards_executor = executor if len(corpus.parts) > 1 else None
        made = (
            _at_once(able, dataclasses.replace(corpus, parts=blocks[0]), settings, shards_executor)
            if able
            else iter(())
        )
    for task in tasks:
        if problems[task.name]:
            yield Unavailable(f"{task.name}_{corpus.lang}", task.name, corpus.lang, problems[task.name])
        else:
            yield next(relations if isinstance(task, RelationTask) else made)


def _without_sentences(task: AnyTask, corpus: Corpus) -> str:
    """That the corpus has no sentences, which all but relation tasks are built from; empty if it has, or needs none."""
    return "" if corpus.n_sentences or isinstance(task, RelationTask) else "the corpus has no sentences, only trees"


def _at_once(
    tasks: Sequence[AnyTask], corpus: Corpus, settings: Settings, executor: Executor | None
) -> Iterator[Config | Unavailable]:
    """Builds tasks in one pass over the corpus before sampling and one after."""
    language = language_data(corpus.lang)
    frequencies = frequencies_of(tasks, corpus, language, settings, executor)
    candidates = select(tasks, corpus, language, settings, executor, frequencies=frequencies)
    samples = [sample(task, candidates, language, settings) for task in tasks]
    texts = read_texts(samples, corpus, executor)
    return (realise(made, texts, corpus, settings) for made in samples)


def _relations(
    tasks: Sequence[RelationTask], corpus: Corpus, settings: Settings, executor: Executor | None
) -> Iterator[Config | Unavailable]:
    """Builds relation tasks, however large the corpus is: relations are few, and the candidates have their texts."""
    if not tasks:
        return
    language = language_data(corpus.lang)
    parts = tuple(part for block in blocks_of(corpus.parts, settings) for part in block)
    read = dataclasses.replace(corpus, parts=parts)
    candidates = select_relations(tasks, read, language, settings, executor if len(parts) > 1 else None)
    for task in tasks:
        made = sample(task, candidates, language, settings)
        yield realise(made, pl.DataFrame(), corpus, settings)


def _block_by_block(  # noqa: PLR0913, PLR0917 (what a build consists of)
    tasks: Sequence[AnyTask], corpus: Corpus, blocks: Sequence[Block], settings: Settings, executor: Executor | None,
    ahead: int, progress: Progress,
) -> Iterator[Config | Unavailable]:  # fmt: skip
    """Builds tasks from one block after the other, until all configs are full."""
    language = language_data(corpus.lang)
    head = dataclasses.replace(corpus, parts=tuple(part for block in blocks[:FIRST] for part in block))
    words = frequencies_of(tasks, head, language, settings, executor)
    plan = BlockPlan(language, settings, words, sources=corpus.sources)
    plan, reasons = with_labels(plan, blocks, tasks, executor)
    collected = {
        task.name: Collected(task, plan.labels.get(task.name, task.labels), settings)
        for task in tasks
        if task.name not in reasons
    }
    earlier, sizes = EarlierTexts(), [sum(part.size for part in block) // KILO for block in blocks]
    for n, block_rows in enumerate(_rows_of_blocks(blocks, collected, plan, executor, ahead), 1):
        again, elsewhere = earlier.repeated(block_rows.shingles, block_rows.splits)
        for name, rows in block_rows.of_task.items():
            if not collected[name].full:
                collected[name].add(rows, again, elsewhere)
                progress(f"{name}_{corpus.lang}: rows", sum(collected[name].rows.values()), sum(settings.sizes))
        progress(f"reading {corpus.lang}: kB of text", sum(sizes[:n]), sum(sizes))
        progress(WORDS, block_rows.words, 0)
    for task in tasks:
        if task.name in reasons:
            yield Unavailable(f"{task.name}_{corpus.lang}", task.name, corpus.lang, reasons[task.name])
        else:
            made, problem = collected.pop(task.name).made(blocks)
            yield unavailable(made, corpus, problem) if problem else config(made, corpus, settings)


def _rows_of_blocks(
    blocks: Sequence[Block], collected: Mapping[str, Collected], plan: BlockPlan, executor: Executor | None, ahead: int
) -> Iterator[BlockRows]:
    """The rows of blocks in order, of the tasks that are not full, until all are.

    Blocks whose turn does not come are given up.
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
