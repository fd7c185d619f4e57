"""First step of a build: the candidates of every shard, and facts that need the whole corpus.

Only small columns leave a shard: keys, labels, offsets and hashes, no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from discoprobe.builders.columns import PROBING_CANDIDATES, checked
from discoprobe.builders.passages import windows
from discoprobe.builders.sentences import candidates, frequency_filter, syncretism
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, DiscourseTask, ProbingTask
from discoprobe.loaders import near_duplicates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from discoprobe.builders.sentences.frequency_filter import Frequencies
    from discoprobe.builders.settings import Settings
    from discoprobe.builders.task import AnyTask
    from discoprobe.loaders.corpus import Corpus, Loadable, Shard
    from discoprobe.loaders.languages.language import LanguageData

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the tasks can sample from, over the whole corpus.

    Attributes:
        of_task: the candidates of each probing task, with ``shard``, ``cluster`` (of near duplicates) and ``row``.
        sentences: the sentences of documents, as ``windows.with_passages`` gives; empty without a discourse task.
        marks: what each discourse task with ``mark`` says of the sentences.
        forms: the word forms of the corpus, for the syncretism filter.
        frequencies: the word frequency list that was used.
        notes: what a card says of the candidates of probing tasks.
    """

    of_task: dict[str, pl.DataFrame]
    sentences: pl.DataFrame
    marks: dict[str, pl.DataFrame]
    forms: pl.DataFrame
    frequencies: Frequencies | None
    notes: tuple[str, ...]

    def frame(self, task: AnyTask) -> pl.DataFrame:
        """The candidates of one task."""
        if isinstance(task, ProbingTask):
            return self.of_task[task.name]
        if task.name in self.marks:
            return self.sentences.join(self.marks[task.name], on=["shard", "sent"], how="left", maintain_order="left")
        return self.sentences

    def notes_for(self, task: AnyTask) -> tuple[str, ...]:
        """What a card says of the candidates of a task."""
        return self.notes if isinstance(task, ProbingTask) else windows.ends(self.sentences)


@dataclass(frozen=True, slots=True)
class _Shard:
    """The candidates of one shard; the attributes are those of ``Candidates``."""

    sents: pl.DataFrame
    shingles: near_duplicates.Shingles
    of_task: dict[str, pl.DataFrame]
    sentences: pl.DataFrame | None
    marks: dict[str, pl.DataFrame]
    forms: pl.DataFrame | None
    coverage: pl.DataFrame


def over_shards(step: Callable[..., T], corpus: Corpus, executor: Executor | None, *arguments: object) -> Iterator[T]:
    """``step(shard, *arguments)`` for every shard, in order."""
    columns = [[argument] * len(corpus.parts) for argument in arguments]
    return (executor.map if executor else map)(step, corpus.parts, *columns)


def select(
    tasks: Sequence[AnyTask], corpus: Corpus, language: LanguageData, settings: Settings, executor: Executor | None
) -> Candidates:
    """The candidates of tasks that the corpus supports, from all shards.

    Args:
        tasks: what is built.
        corpus: one language's corpora.
        language: facts about the language.
        settings: seed, sizes and filters.
        executor: runs the steps over shards; without one they run here.
    """
    probing = [task for task in tasks if isinstance(task, ProbingTask)]
    frequencies = _frequencies(corpus, language, settings, executor) if probing else None
    shards = list(over_shards(_select, corpus, executor, tuple(tasks), language, settings, frequencies))
    ipm = frequency_filter.covered_corpora([shard.coverage for shard in shards], frequencies, settings, corpus.layers)
    clusters = _clusters(shards)
    found = [shard.sentences for shard in shards if shard.sentences is not None]
    sentences = stacked(found).join(clusters, on=["shard", "sent"], how="left") if found else pl.DataFrame()
    return Candidates(
        of_task={
            task.name: frequency_filter.filtered(stacked([shard.of_task[task.name] for shard in shards]), ipm, settings)
            .join(clusters, on=["shard", "sent"], how="left", maintain_order="left")
            .with_row_index("row")
            for task in probing
        },
        sentences=windows.with_passages(sentences, settings) if found else sentences,
        marks={name: stacked([shard.marks[name] for shard in shards]) for name in (shards[0].marks if shards else ())},
        forms=syncretism.merged([shard.forms for shard in shards if shard.forms is not None]),
        frequencies=frequencies,
        notes=ipm.notes,
    )


def _select(
    part: Loadable, tasks: tuple[AnyTask, ...], language: LanguageData, settings: Settings, listed: Frequencies | None
) -> _Shard:
    """The candidates of one shard."""
    shard = part.load()
    probing = [task for task in tasks if isinstance(task, ProbingTask)]
    discourse = [task for task in tasks if isinstance(task, DiscourseTask)]
    trees = Trees(shard)
    shown = frequency_filter.with_ipm(candidates.sentences(trees, settings), trees, listed) if probing else None
    return _Shard(
        sents=shard.sentences.select("sent"),
        shingles=near_duplicates.shingles(shard.sentences["text"]),
        of_task={
            task.name: candidates.candidates(
                _selected(task, trees, Context(task.name, language, settings, task.labels, listed)),
                trees, shown,
            )
            for task in probing
            if shown is not None
        },
        sentences=windows.sentences(shard, settings) if discourse else None,
        marks=_marks(discourse, shard, language),
        forms=syncretism.forms(trees) if any(syncretism.wanted(task, settings) for task in probing) else None,
        coverage=pl.DataFrame() if shown is None else frequency_filter.coverage(shown),
    )  # fmt: skip


def _selected(task: ProbingTask, trees: Trees, context: Context) -> pl.DataFrame:
    selected = task.select(trees, context).with_columns(pl.col("label").cast(pl.String))
    return checked(selected, PROBING_CANDIDATES, f"{task.name}: select")


def _marks(tasks: list[DiscourseTask], shard: Shard, language: LanguageData) -> dict[str, pl.DataFrame]:
    return {task.name: task.mark(shard, language) for task in tasks if task.mark}


def _clusters(shards: list[_Shard]) -> pl.DataFrame:
    """``shard``, ``sent`` and the ``cluster`` of near duplicates of every sentence."""
    cluster = near_duplicates.clusters(near_duplicates.together([shard.shingles for shard in shards]))
    return stacked([shard.sents for shard in shards]).select("shard", "sent", cluster=cluster)


def _frequencies(
    corpus: Corpus, language: LanguageData, settings: Settings, executor: Executor | None
) -> Frequencies | None:
    return frequency_filter.frequencies(
        settings, language, lambda: over_shards(frequency_filter.counted, corpus, executor)
    )


def stacked(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The frames of all shards in one, with the number of the ``shard``."""
    return pl.concat([frame.with_columns(shard=pl.lit(n, pl.UInt32)) for n, frame in enumerate(frames)])
