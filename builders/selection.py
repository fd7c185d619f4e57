"""First step of a build: the candidates of every shard, and facts that need the whole corpus.

Only small columns leave a shard: keys, labels, offsets and hashes, no text.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import polars as pl

from discoprobe.builders.config import PROBING_CANDIDATES, RELATION_CANDIDATES, checked
from discoprobe.builders.passages import windows
from discoprobe.builders.passages.similarity import Similarity
from discoprobe.builders.sentences import candidates, frequency_filter, syncretism
from discoprobe.builders.sentences.frequency_filter import Frequencies
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask, Context, DiscourseTask, ProbingTask, RelationTask, unsupported
from discoprobe.loaders import near_duplicates
from discoprobe.loaders.corpus import Corpus, Loadable
from discoprobe.loaders.languages.language import LanguageData, language_data

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the tasks can sample from, over the whole corpus.

    Attributes:
        every: the sentences of all shards in order: ``shard``, ``sent``, and the ``cluster`` of near duplicates.
        shingles: what is compared of these sentences with those of other blocks.
        of_task: the candidates of each probing task, with ``shard``, ``cluster`` and ``row``; of each relation task,
            with ``corpus``, ``doc_id`` and ``row``.
        sentences: the sentences of documents, as ``windows.with_passages`` gives; empty without a discourse task.
        marks: what each discourse task with ``mark`` says of the sentences.
        forms: the word forms of the corpus, for the syncretism filter.
        frequencies: the word frequency list that was used.
        notes: what a card says of the candidates of probing tasks.
        by_hash: splits of groups depend on their keys alone.
        similarity: of ``sentences``.
    """

    every: pl.DataFrame
    shingles: near_duplicates.Shingles
    of_task: dict[str, pl.DataFrame]
    sentences: pl.DataFrame
    marks: dict[str, pl.DataFrame]
    forms: pl.DataFrame
    frequencies: Frequencies | None
    notes: tuple[str, ...]
    by_hash: bool = False
    similarity: Similarity | None = None

    def frame(self, task: AnyTask) -> pl.DataFrame:
        """The candidates of one task."""
        if isinstance(task, (ProbingTask, RelationTask)):
            return self.of_task[task.name]
        if task.name in self.marks:
            return self.sentences.join(self.marks[task.name], on=["shard", "sent"], how="left", maintain_order="left")
        return self.sentences

    def only(self, task: ProbingTask) -> "Candidates":
        """What the sample of one probing task needs, for another process."""
        nothing = pl.DataFrame()
        return replace(
            self, every=nothing, shingles=near_duplicates.together([]), of_task={task.name: self.of_task[task.name]},
            sentences=nothing, marks={}, similarity=None,
        )  # fmt: skip

    def notes_for(self, task: AnyTask) -> tuple[str, ...]:
        """What a card says of the candidates of a task."""
        if isinstance(task, RelationTask):
            return (task.note,)
        return self.notes if isinstance(task, ProbingTask) else windows.ends_note(windows.ends(self.sentences))


@dataclass(frozen=True, slots=True)
class _Shard:
    """The candidates of one shard: ``sents`` are its sentences, ``coverage`` is that of the frequency list.

    The other attributes are those of ``Candidates``.
    """

    sents: pl.DataFrame
    shingles: near_duplicates.Shingles
    of_task: dict[str, pl.DataFrame]
    sentences: pl.DataFrame | None
    marks: dict[str, pl.DataFrame]
    forms: pl.DataFrame | None
    coverage: pl.DataFrame


def hindrance(task: AnyTask, corpus: Corpus, settings: Settings) -> str:
    """Why the corpus or its language cannot support a task; empty if they may."""
    if not corpus.n_sentences and not isinstance(task, RelationTask):
        return "the corpus has no sentences, only trees"
    language = language_data(corpus.lang)
    return unsupported(task, corpus.layers, language) or syncretism.hindrance(task, language, settings)


def over_shards(step: Callable[..., T], corpus: Corpus, executor: Executor | None, *arguments: object) -> Iterator[T]:
    """``step(shard, *arguments)`` for every shard, in order."""
    columns = [[argument] * len(corpus.parts) for argument in arguments]
    return (executor.map if executor else map)(step, corpus.parts, *columns)


def select(  # noqa: PLR0913 (one keyword more than a function may have)
    tasks: Sequence[AnyTask], corpus: Corpus, language: LanguageData, settings: Settings,
    executor: Executor | None = None, *, frequencies: Frequencies | None = None, by_hash: bool = False,
) -> Candidates:  # fmt: skip
    """The candidates of tasks that the corpus supports, from all shards.

    Args:
        tasks: what is built; either relation tasks only, or none of them.
        corpus: one language's corpora.
        language: facts about the language.
        settings: seed, sizes and filters.
        executor: runs the steps over shards; without one they run here.
        frequencies: the word frequency list, as ``frequencies_of`` gives.
        by_hash: whether the splits of groups depend on their keys alone.
    """
    if any(isinstance(task, RelationTask) for task in tasks):
        return _relations(tasks, corpus, language, settings, executor)
    probing = [task for task in tasks if isinstance(task, ProbingTask)]
    frequencies = frequencies if probing else None
    shards = list(over_shards(_select, corpus, executor, tuple(tasks), language, settings, frequencies))
    ipm = frequency_filter.covered_corpora([shard.coverage for shard in shards], frequencies, settings, corpus.layers)
    shingles = near_duplicates.together([shard.shingles for shard in shards])
    clusters = stacked([shard.sents for shard in shards]).select(
        "shard", "sent", cluster=near_duplicates.clusters(shingles)
    )
    of_documents = [shard.sentences for shard in shards if shard.sentences is not None]
    sentences = pl.DataFrame()
    if of_documents:
        sentences = windows.with_passages(
            stacked(of_documents).join(clusters, on=["shard", "sent"], how="left"), settings,
            by_hash=by_hash, left_out=windows.not_prose(corpus.sources, settings),
        )  # fmt: skip
    return Candidates(
        every=clusters,
        shingles=shingles,
        of_task={
            task.name: frequency_filter.filtered(stacked([shard.of_task[task.name] for shard in shards]), ipm, settings)
            .join(clusters, on=["shard", "sent"], how="left", maintain_order="left")
            .with_row_index("row")
            for task in probing
        },
        sentences=sentences,
        similarity=Similarity(sentences),
        marks={name: stacked([shard.marks[name] for shard in shards]) for name in (shards[0].marks if shards else ())},
        forms=syncretism.merged([shard.forms for shard in shards if shard.forms is not None]),
        frequencies=frequencies,
        notes=ipm.notes,
        by_hash=by_hash,
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
        marks={task.name: task.mark(shard, language) for task in discourse if task.mark},
        forms=syncretism.forms(trees) if any(syncretism.wanted(task, settings) for task in probing) else None,
        coverage=pl.DataFrame() if shown is None else frequency_filter.coverage(shown),
    )  # fmt: skip


def _relations(
    tasks: Sequence[AnyTask], corpus: Corpus, language: LanguageData, settings: Settings, executor: Executor | None
) -> Candidates:
    """The candidates of relation tasks, from all shards; relations are few, so that their texts come along."""
    shards = list(over_shards(_relations_of_shard, corpus, executor, tuple(tasks), language, settings))
    nothing = pl.DataFrame()
    return Candidates(
        every=nothing, shingles=near_duplicates.together([]), sentences=nothing, marks={}, forms=nothing,
        of_task={task.name: stacked([found[task.name] for found in shards]).with_row_index("row") for task in tasks},
        frequencies=None, notes=(),
    )  # fmt: skip


def _relations_of_shard(
    part: Loadable, tasks: tuple[RelationTask, ...], language: LanguageData, settings: Settings
) -> dict[str, pl.DataFrame]:
    """The candidates of one shard by task, with the corpus and the id of their document."""
    shard = part.load()
    documents = shard.documents.select("doc", "corpus", "doc_id")
    found = {}
    for task in tasks:
        selected = task.select(shard, Context(task.name, language, settings, task.labels))
        checked(selected, RELATION_CANDIDATES, f"{task.name}: select")
        found[task.name] = selected.join(documents, on="doc", maintain_order="left")
    return found


def _selected(task: ProbingTask, trees: Trees, context: Context) -> pl.DataFrame:
    selected = task.select(trees, context).with_columns(pl.col("label").cast(pl.String))
    return checked(selected, PROBING_CANDIDATES, f"{task.name}: select")


def frequencies_of(
    tasks: Sequence[AnyTask], corpus: Corpus, language: LanguageData, settings: Settings,
    executor: Executor | None = None,
) -> Frequencies | None:  # fmt: skip
    """The word frequency list that tasks use; None without a probing task, or if there is no list of the language."""
    if not any(isinstance(task, ProbingTask) for task in tasks):
        return None
    return frequency_filter.frequencies(
        settings, language, lambda: over_shards(frequency_filter.counted, corpus, executor)
    )


def stacked(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The frames of all shards in one, with the number of the ``shard``."""
    return pl.concat([frame.with_columns(shard=pl.lit(n, pl.UInt32)) for n, frame in enumerate(frames)])


def merged(blocks: Sequence[Candidates], tasks: Sequence[AnyTask]) -> Candidates:
    """The candidates of tasks in several blocks as those of one; near duplicates between blocks are not looked for."""
    shards = np.cumsum([0, *(block.every["shard"].n_unique() for block in blocks)])
    sentences = np.cumsum([0, *(block.every.height for block in blocks)])
    offsets = [{"shard": shards[n], "cluster": sentences[n], "passage": sentences[n]} for n in range(len(blocks))]
    probing = [task.name for task in tasks if isinstance(task, ProbingTask)]
    marks = [task.name for task in tasks if isinstance(task, DiscourseTask) and task.mark]

    def together(frames: list[pl.DataFrame]) -> pl.DataFrame:
        moved = [
            frame.with_columns(
                (pl.col(name) + n).cast(frame.schema[name]) for name, n in of_block.items() if name in frame.columns
            )
            for frame, of_block in zip(frames, offsets, strict=True)
            if frame.width
        ]
        return pl.concat(moved).drop("row", strict=False).with_row_index("row") if moved else pl.DataFrame()

    return Candidates(
        every=together([block.every for block in blocks]).drop("row"),
        shingles=near_duplicates.together([block.shingles for block in blocks]),
        of_task={name: together([block.of_task[name] for block in blocks]) for name in probing},
        sentences=together([block.sentences for block in blocks]),
        marks={name: together([block.marks[name] for block in blocks]).drop("row") for name in marks},
        forms=syncretism.merged([block.forms for block in blocks]),
        frequencies=blocks[0].frequencies,
        notes=tuple(dict.fromkeys(note for block in blocks for note in block.notes)),
        by_hash=True,
    )
