"""The rows of one block; they depend on the block and the ``BlockPlan`` only."""

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.blockwise.cut import Block, sentences_of
from discoprobe.builders.config import schema
from discoprobe.builders.passages import windows
from discoprobe.builders.realise import rows_with_text
from discoprobe.builders.sample import TaskSample, sample
from discoprobe.builders.selection import Candidates, select
from discoprobe.builders.sentences.frequency_filter import Frequencies
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.builders.task import AnyTask, DiscourseTask, Sample
from discoprobe.loaders.corpus import Corpus, Shard, Source, joined
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.languages.language import LanguageData
from discoprobe.loaders.near_duplicates import Shingles

COLLECTED = ("key", "split", "corpora", "unit", "stratum", "number", "wording", "pair", "condition")
"""Columns that the collection of rows needs, beside those of the config."""


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """What holds for all blocks of a corpus.

    Attributes:
        language: facts about the language.
        settings: seed, sizes and filters, as the user set them.
        frequencies: the word frequency list.
        labels: those that tasks with open labels use, by task.
        sources: the corpora.
    """

    language: LanguageData
    settings: Settings
    frequencies: Frequencies | None = None
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class RowsOfTask:
    """The sample of a task in a block, with texts (``realise.rows_with_text``) and ``number`` (sentences shown).

    ``notes`` and ``ends`` (of passages) are for the card.
    """

    sample: Sample
    notes: tuple[str, ...]
    ends: Counter[str]


@dataclass(frozen=True, slots=True)
class BlockRows:
    """What a block gives.

    Attributes:
        of_task: rows by task.
        shingles: of all its sentences.
        splits: for each sentence the number of the split of its document; -1 if it has none, or is a short one, which
            may recur.
        words: number of words in the block.
    """

    of_task: Mapping[str, RowsOfTask]
    shingles: Shingles
    splits: npt.NDArray[np.int8]
    words: int


def load(block: Block) -> tuple[Shard, ...]:
    """The text of a block, one shard per corpus: a step over many small shards costs more than over a large one.

    Raises:
        DiscoprobeError: a part cannot be read; the message says which.
    """
    shards = []
    for part in block:
        try:
            shards.append(part.load())
        except DiscoprobeError:
            raise
        except Exception as error:
            raise DiscoprobeError(f"{part}: cannot be read: {type(error).__name__}: {error}") from error
    of_corpus: dict[str, list[Shard]] = {}
    for shard in shards:
        of_corpus.setdefault("\n".join(shard.documents["corpus"].unique().sort()), []).append(shard)
    return tuple(joined(of_one) for of_one in of_corpus.values())


def candidates_of(shards: Sequence[Shard], tasks: Sequence[AnyTask], plan: BlockPlan) -> Candidates:
    """The candidates of one of several blocks."""
    corpus = Corpus.of_shards(plan.language.code, shards, plan.sources)
    return select(tasks, corpus, plan.language, plan.settings, frequencies=plan.frequencies, by_hash=True)


def rows_of_block(block: Block, tasks: Sequence[AnyTask], plan: BlockPlan) -> BlockRows:
    """The rows of some tasks in a block.

    Raises:
        DiscoprobeError: a part of the block cannot be read.
    """
    shards = load(block)
    candidates = candidates_of(shards, tasks, plan)
    texts = sentences_of(shards)
    within = plan.settings.within_block()
    of_task = {}
    for task in tasks:
        chosen = sample(task, candidates, plan.language, within, plan.labels.get(task.name, ()))
        of_task[task.name] = _with_text(chosen, candidates, texts, plan.language)
    discourse = any(isinstance(task, DiscourseTask) for task in tasks)
    return BlockRows(
        of_task,
        candidates.shingles,
        _splits(candidates, texts) if discourse else np.full(texts.height, -1, np.int8),
        sum(int(shard.sentences["n_words"].sum()) for shard in shards),
    )


def _with_text(chosen: TaskSample, candidates: Candidates, texts: pl.DataFrame, language: LanguageData) -> RowsOfTask:
    rows = chosen.chosen.rows
    rows = rows if rows.is_empty() else rows_with_text(chosen, texts, language)
    needed = {*schema(chosen.task.shape).names, *COLLECTED}
    made = replace(chosen.chosen, rows=compact(rows.select(name for name in rows.columns if name in needed)))
    if isinstance(chosen.task, DiscourseTask):
        return RowsOfTask(made, (), windows.ends(candidates.sentences))
    return RowsOfTask(made, chosen.notes, Counter())


def compact(rows: pl.DataFrame) -> pl.DataFrame:
    """The same rows with strings of their own: those of polars are views, which keep all texts of a block in memory."""
    stored = io.BytesIO()
    rows.write_ipc(stored, compat_level=pl.CompatLevel.oldest())
    return pl.read_ipc(stored.getvalue())


def _splits(candidates: Candidates, texts: pl.DataFrame) -> npt.NDArray[np.int8]:
    sentences = candidates.sentences.filter("long").select("shard", "sent", split=pl.col("split").cast(pl.String))
    codes = {split: code for code, split in enumerate(SPLITS)}
    joined = texts.select("shard", "sent").join(sentences, on=["shard", "sent"], how="left", maintain_order="left")
    return joined.select(pl.col("split").replace_strict(codes, default=-1, return_dtype=pl.Int8))["split"].to_numpy()
