"""From a corpus to configs: select candidates from all shards, sample rows among them, realise these as tables of text.

The steps over shards run in this process or in any ``concurrent.futures`` executor.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor

from discoprobe.builders.blockwise.build_blocks import build_blocks
from discoprobe.builders.blockwise.cut import Block, blocks_of
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.realise import read_texts, realise, unavailable
from discoprobe.builders.sample import samples
from discoprobe.builders.selection import frequencies_of, hindrance, select
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask, RelationTask, tasks_named
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.process_pool import WORDS, Progress, n_workers, process_pool, silent


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
