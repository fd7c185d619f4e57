"""From a corpus to configs: select on columns, sample, then write text.

Three steps, each over shards or over small frames: candidates are selected per shard, rows are chosen from the
candidates of the whole corpus, and the texts of the chosen rows are read per shard again. The steps over shards run in
this process or in any ``concurrent.futures`` executor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from discoprobe.builders import frequency, probes, stretches, syncretism, write
from discoprobe.builders.config import Config, Unavailable
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.builders.task import Arranged, Context, Task, tasks_named, unsupported
from discoprobe.builders.tree import Trees
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.language import language_data
from discoprobe.loaders.near import near_clusters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from discoprobe.builders.frequency import Frequencies
    from discoprobe.loaders.corpus import Corpus, Loadable, Source
    from discoprobe.loaders.language import LanguageData

T = TypeVar("T")


def build(task: str, corpus: Corpus, settings: Settings | None = None) -> Config:
    """Builds one task from a corpus.

    Args:
        task: a task's name.
        corpus: what ``load_corpus`` gave.
        settings: seed, sizes and filters; the defaults are those of the published release.

    Returns:
        The config, its splits as Arrow tables.

    Raises:
        UnknownNameError: for a task that is not there.
        UnsupportedError: if the corpus cannot support the task; says why.
    """
    results = list(build_all(tasks_named([task]), corpus, settings or Settings()))
    if isinstance(results[0], Unavailable):
        raise UnsupportedError(f"{results[0].name} cannot be built: {results[0].reason}")
    return results[0]


def build_all(
    tasks: Sequence[Task], corpus: Corpus, settings: Settings, executor: Executor | None = None
) -> Iterator[Config | Unavailable]:
    """Builds tasks from a corpus, in one pass over it before and one after sampling.

    Args:
        tasks: what to build.
        corpus: one language's corpora.
        settings: seed, sizes and filters.
        executor: runs the steps over shards; without one they run here.

    Yields:
        For each task its config, or why it is not there, in the order of ``tasks``.
    """
    language = language_data(corpus.lang)
    problems = {
        task.name: unsupported(task, corpus.layers, language) or syncretism.hindrance(task, language, settings)
        for task in tasks
    }
    able = [task for task in tasks if not problems[task.name]]
    found = _candidates(able, corpus, language, settings, executor)
    chosen = {task.name: _chosen(task, found, language, settings) for task in able}
    texts = _texts(found, list(chosen.values()), corpus, executor)
    for task in tasks:
        name = f"{task.name}_{corpus.lang}"
        if reason := problems[task.name]:
            yield Unavailable(name, task.name, corpus.lang, reason)
        else:
            notes = found.notes if task.select else stretches.ends(found.sentences)
            yield _config(task, chosen[task.name], texts, corpus, settings, notes)


@dataclass(frozen=True, slots=True)
class Selected:
    """What was selected in a shard, or in all of them.

    Texts, the candidates of discourse and of probing tasks, and what the word forms are.
    """

    texts: pl.DataFrame
    sentences: pl.DataFrame
    marks: dict[str, pl.DataFrame] = field(default_factory=dict)
    probes: dict[str, pl.DataFrame] = field(default_factory=dict)
    forms: list[pl.DataFrame] = field(default_factory=list)
    coverage: pl.DataFrame = field(default_factory=pl.DataFrame)
    notes: tuple[str, ...] = ()


def _select(
    part: Loadable, tasks: tuple[Task, ...], language: LanguageData, settings: Settings, listed: Frequencies | None
) -> Selected:
    """The candidates of one shard."""
    shard = part.load()
    marks = {task.name: task.mark(shard, language) for task in tasks if task.mark}
    probing = [task for task in tasks if task.select]
    trees = Trees(shard)
    shown = frequency.with_ipm(probes.sentences(trees, settings), trees, listed) if probing else pl.DataFrame()
    selected = {
        task.name: probes.candidates(
            task.select(trees, _context(task, language, settings, listed)), trees, shown, spaces=language.spaces
        )
        for task in probing
        if task.select
    }
    forms = [syncretism.forms(trees)] if any(syncretism.wanted(task, settings) for task in tasks) else []
    texts = shard.sentences.select("sent", "text")
    covered = frequency.coverage(shown) if probing else pl.DataFrame()
    return Selected(texts, stretches.sentences(shard, settings), marks, selected, forms, covered)


def _context(task: Task, language: LanguageData, settings: Settings, listed: Frequencies | None = None) -> Context:
    return Context(task.name, language, settings, task.labels, listed)


def _over_parts(step: Callable[..., T], corpus: Corpus, executor: Executor | None, *arguments: object) -> Iterator[T]:
    """``step(part, *arguments)`` for every shard, in order."""
    columns = [[argument] * len(corpus.parts) for argument in arguments]
    return (executor.map if executor else map)(step, corpus.parts, *columns)


def _candidates(
    tasks: list[Task], corpus: Corpus, language: LanguageData, settings: Settings, executor: Executor | None
) -> Selected:
    """The candidates of all shards, each with the cluster of sentences that resemble it."""
    probing = any(task.select for task in tasks)
    listed = _frequencies(corpus, language, settings, executor) if probing else None
    parts = list(_over_parts(_select, corpus, executor, tuple(tasks), language, settings, listed))
    verdict = frequency.judged([part.coverage for part in parts], listed, settings, corpus.layers)
    texts = _stacked([part.texts for part in parts])
    clusters = texts.select("shard", "sent", cluster=near_clusters(texts["text"]))
    sentences = _stacked([part.sentences for part in parts]).join(clusters, on=["shard", "sent"], how="left")
    return Selected(
        texts.clear(),
        stretches.stretches(sentences, settings),
        {task.name: _stacked([part.marks[task.name] for part in parts]) for task in tasks if task.mark},
        {
            task.name: frequency.filtered(_stacked([part.probes[task.name] for part in parts]), verdict, settings)
            .join(clusters, on=["shard", "sent"], how="left", maintain_order="left")
            .with_row_index("row")
            for task in tasks
            if task.select
        },
        [syncretism.merged([table for part in parts for table in part.forms])],
        notes=verdict.notes,
    )


def _frequencies(
    corpus: Corpus, language: LanguageData, settings: Settings, executor: Executor | None
) -> Frequencies | None:
    return frequency.frequencies(settings, language, lambda: _over_parts(frequency.counted, corpus, executor))


def _stacked(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The frames of all shards in one, with the number of the shard."""
    return pl.concat([frame.with_columns(shard=pl.lit(n, pl.UInt32)) for n, frame in enumerate(frames)])


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rows of a task and the candidates they are numbers of."""

    arranged: Arranged
    frame: pl.DataFrame

    @property
    def shown(self) -> pl.DataFrame:
        """Every sentence that a row shows: ``shard``, ``sent``."""
        rows = self.arranged.rows
        if rows.is_empty():
            return pl.DataFrame(schema={"shard": pl.UInt32, "sent": pl.UInt32})
        numbers = rows["members"].explode() if "members" in rows.columns else rows["row"]
        return self.frame.select("shard", "sent")[numbers.unique().drop_nulls().to_list()]


def _chosen(task: Task, found: Selected, language: LanguageData, settings: Settings) -> Chosen:
    context = _context(task, language, settings)
    if task.select:
        frame = probes.with_splits(found.probes[task.name], task, settings.seed)
        frame = syncretism.with_reasons(frame, task, found.forms[0], language, settings)
    elif task.mark:
        frame = found.sentences.join(found.marks[task.name], on=["shard", "sent"], how="left", maintain_order="left")
    else:
        frame = found.sentences
    if frame.is_empty():
        return Chosen(Arranged(pl.DataFrame(), reason=_nothing(task)), frame)
    return Chosen(task.arrange(frame, context), frame)


def _nothing(task: Task) -> str:
    """Why a task has no candidates at all."""
    return (
        f"no word that the task asks for has {task.feature}"
        if task.feature
        else "no sentence is what the task asks for"
    )


def _read_texts(part: Loadable, wanted: pl.DataFrame) -> pl.DataFrame:
    if wanted.is_empty():
        return wanted.with_columns(text=pl.lit(""))
    texts = part.load().sentences.select("sent", "text")
    return wanted.join(texts, on="sent", how="left", maintain_order="left")


def _texts(found: Selected, chosen: list[Chosen], corpus: Corpus, executor: Executor | None) -> pl.DataFrame:
    """``shard``, ``sent`` and ``text`` of every sentence that is shown in any row."""
    if not chosen:
        return found.texts
    wanted = pl.concat([one.shown for one in chosen]).unique().sort("shard", "sent")
    per_part = [wanted.filter(pl.col("shard") == n) for n in range(len(corpus.parts))]
    return pl.concat(list((executor.map if executor else map)(_read_texts, corpus.parts, per_part)))


def _config(  # noqa: PLR0913, PLR0917 (all that a config tells of)
    task: Task, made: Chosen, texts: pl.DataFrame, corpus: Corpus, settings: Settings, notes: tuple[str, ...]
) -> Config | Unavailable:
    arranged, name = made.arranged, f"{task.name}_{corpus.lang}"
    labels = arranged.labels or task.labels
    drops = {reason: n for reason, n in arranged.drops.items() if n}
    if problem := arranged.reason or _shortage(arranged.rows, labels):
        return Unavailable(name, task.name, corpus.lang, problem, arranged.candidates, drops)
    whole = write.table(task, arranged.rows, made.frame, texts, language_data(corpus.lang))
    return Config(
        name=name, task=task.name, lang=corpus.lang, shape=task.shape, labels=labels, drops=drops,
        splits={split: write.split_table(whole, split, task.shape) for split in SPLITS},
        candidates=arranged.candidates, settings=settings, sources=_used(corpus, whole),
        read=tuple(sorted(source.name for source in corpus.sources)), exempt=task.exempt,
        definition=task.definition, perturbation=task.perturbation, pairs=task.pairs, natural=task.natural,
        split_by=task.split_by, notes=(*notes, *_drawn(settings.draw)),
    )  # fmt: skip


def _drawn(draw: int) -> tuple[str, ...]:
    if not draw:
        return ()
    before = "the draw before this one" if draw == 1 else f"the {draw} draws before this one"
    return (f"Rows were drawn anew: in {before} the audit found what is or may be a shortcut",)


def _shortage(rows: pl.DataFrame, labels: tuple[str, ...]) -> str | None:
    """Why the rows make no config: there are none, there is one class, or a split lacks one."""
    if rows.is_empty():
        return "no candidates are left"
    if len(labels) < 2:  # noqa: PLR2004 (a classification has two classes)
        return f"one class only: {labels[0]}"
    for split in SPLITS:
        there = rows.filter(pl.col("split") == split)["label"].unique()
        if len(there) < len(labels):
            lacking = [name for number, name in enumerate(labels) if number not in there]
            return f"{split} has no row of {', '.join(lacking)}"
    return None


def _used(corpus: Corpus, whole: pl.DataFrame) -> tuple[Source, ...]:
    names = set(whole["corpora"].explode())
    return tuple(source for source in corpus.sources if source.name in names)
