"""From a corpus to configs: select candidates on columns, sample rows, then write text.

``select`` returns the candidates of all shards, ``sample`` chooses rows among them, and ``realise`` reads the texts of
the chosen rows and makes tables. The steps over shards run in this process or in any ``concurrent.futures`` executor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.realise import read_texts, realise
from discoprobe.builders.sample import sample
from discoprobe.builders.selection import select
from discoprobe.builders.sentences import syncretism
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import tasks_named, unsupported
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.languages.language import language_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

    from discoprobe.builders.task import AnyTask
    from discoprobe.loaders.corpus import Corpus


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
    config = next(build_all(tasks_named([task]), corpus, settings or Settings()))
    if isinstance(config, Unavailable):
        raise UnsupportedError(f"{config.name} cannot be built: {config.reason}")
    return config


def build_all(
    tasks: Sequence[AnyTask], corpus: Corpus, settings: Settings, executor: Executor | None = None
) -> Iterator[Config | Unavailable]:
    """Builds tasks from a corpus, in one pass over it before sampling and one after.

    Args:
        tasks: what to build.
        corpus: one language's corpora.
        settings: seed, sizes and filters.
        executor: runs the steps over shards; without one they run here.

    Yields:
        For each task its config, or why it is not available, in the order of ``tasks``.
    """
    language = language_data(corpus.lang)
    problems = {
        task.name: unsupported(task, corpus.layers, language) or syncretism.hindrance(task, language, settings)
        for task in tasks
    }
    able = [task for task in tasks if not problems[task.name]]
    candidates = select(able, corpus, language, settings, executor)
    samples = {task.name: sample(task, candidates, language, settings) for task in able}
    texts = read_texts(list(samples.values()), corpus, executor)
    for task in tasks:
        if task.name in samples:
            yield realise(samples[task.name], texts, corpus, settings)
        else:
            yield Unavailable(f"{task.name}_{corpus.lang}", task.name, corpus.lang, problems[task.name])
