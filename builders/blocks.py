"""The rows of one config, collected from block after block.

Rows come in sets that have every label equally often: a pair, or one row of each label (inside a stratum, where a task
has strata). A set is complete with the block that brings its last row. Complete sets have an order: by block,
then by hash. A config takes them in this order until its sizes are full. So a larger size only adds sets, and what is
read after a config is full makes no difference.

Blocks: groups of parts of a corpus that are sampled together.

A corpus that is not larger than a block is one block. The parts of a larger one are ordered by a hash of what they
are, and a block is a series of parts in this order with about the set amount of text. Where a block ends depends only
on the parts nearby: a new part changes its own block, and perhaps the next few.

The rows of one block; they depend on the block and the ``BlockPlan`` only.
"""

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.config import Config, Unavailable, schema
from discoprobe.builders.passages import windows
from discoprobe.builders.render import config_of, equal_to_others, rows_with_text, unclean_edits
from discoprobe.builders.sample import TaskSample, problem_of, sample
from discoprobe.builders.sampling.balance import REPEATED
from discoprobe.builders.selection import Candidates, select
from discoprobe.builders.sentences.frequency_filter import Frequencies
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.builders.task import AnyTask, DiscourseTask, ProbingTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import Corpus, Loadable, Shard, Source, joined
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.languages.language import LanguageData
from discoprobe.loaders.near_duplicates import Shingles

Block = tuple[Loadable, ...]

LONGEST = 2
"""A block that has this many times the set amount of text ends in any case."""


@dataclass(frozen=True, slots=True)
class FirstDocuments:
    """A part of which only the first documents in hash order are read."""

    part: Loadable
    n_documents: int
    seed: int

    @property
    def size(self) -> int:
        """Bytes of text of these documents, about."""
        return round(self.part.size * self.n_documents / max(self.part.n_documents, 1))

    @property
    def identity(self) -> str:
        """The part, and how many of its documents."""
        return f"{self.part.identity}[:{self.n_documents}]"

    def load(self) -> Shard:
        """The shard without the other documents."""
        shard = self.part.load()
        keys = shard.documents["key"].to_numpy()
        first = shard.documents[hashing.ranking(keys, self.seed, "documents")[: self.n_documents]].select("doc")
        documents, sentences, relations, rst_nodes = (
            table.join(first, on="doc", how="semi", maintain_order="left")
            for table in (shard.documents, shard.sentences, shard.relations, shard.rst_nodes)
        )
        tokens, mentions = (
            table.join(sentences, on="sent", how="semi", maintain_order="left")
            for table in (shard.tokens, shard.mentions)
        )
        return Shard(documents, sentences, tokens, relations, rst_nodes, mentions)


def blocks_of(parts: Sequence[Loadable], settings: Settings) -> list[Block]:
    """The blocks of a corpus in the order in which they are read; one, in the order of the parts, for a small corpus.

    Parts that fill the sizes (``fills``) are in blocks of their own, after all others.

    Args:
        parts: of the corpus.
        settings: ``block``, ``most_documents`` and the seed.
    """
    filling = [part for part in parts if getattr(part, "fills", False)]
    if filling and len(filling) < len(parts):
        first = [part for part in parts if not getattr(part, "fills", False)]
        return [*blocks_of(first, settings), *blocks_of(filling, settings)]
    ordered = sorted(parts, key=lambda part: (hashing.digest(settings.seed, "part", part.identity), part.identity))
    if settings.most_documents is not None:
        ordered = _first(ordered, settings.most_documents, settings.seed)
    if sum(part.size for part in ordered) <= settings.block:
        identities = {part.identity for part in ordered}
        in_source_order = tuple(part for part in parts if part.identity in identities)
        return [in_source_order if len(in_source_order) == len(ordered) else tuple(ordered)]
    return _cut(ordered, settings.block, settings.seed)


def _first(ordered: Sequence[Loadable], most: int, seed: int) -> list[Loadable]:
    """The first parts, with ``most`` documents together; of the last part only the documents that are still needed."""
    first: list[Loadable] = []
    for part in ordered:
        if part.n_documents >= most:
            return [*first, part if part.n_documents == most else FirstDocuments(part, most, seed)]
        first.append(part)
        most -= part.n_documents
    return first


def _cut(ordered: Sequence[Loadable], size: int, seed: int) -> list[Block]:
    """A block ends when it is large enough and the hash of its last part is even."""
    blocks: list[Block] = []
    block: list[Loadable] = []
    total = 0
    for part in ordered:
        block.append(part)
        total += part.size
        ends = hashing.digest(seed, "ends", part.identity) % 2 == 0
        if (total >= size and ends) or total >= LONGEST * size:
            blocks.append(tuple(block))
            block, total = [], 0
    return [*blocks, tuple(block)] if block else blocks


def sentences_of(shards: Sequence[Shard]) -> pl.DataFrame:
    """Every sentence of shards in order: ``shard``, ``sent``, ``number`` (its place) and ``text``."""
    columns = [
        shard.sentences.select(pl.lit(n, pl.UInt32).alias("shard"), "sent", "text") for n, shard in enumerate(shards)
    ]
    return pl.concat(columns).with_row_index("number")


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


Flags = npt.NDArray[np.bool_]


class Collected:
    """The rows of a task from the blocks so far.

    Attributes:
        task: whose rows they are.
        labels: the labels that its rows have.
    """

    def __init__(self, task: AnyTask, labels: tuple[str, ...], settings: Settings) -> None:
        self.task, self.labels = task, labels
        self._asked, self._settings = settings, task.sized(settings)
        self._in_sets = settings.match and not task.pairs
        self._waiting = pl.DataFrame()
        self._kept: list[bytes] = []  # frames, compressed: they wait until all blocks are read
        self._rows = dict.fromkeys(task.splits, 0)
        self._full = dict.fromkeys(task.splits, False)
        self._texts = pl.Series("text", [], dtype=pl.UInt64)
        self._wordings: Counter[int] = Counter()
        self._drops: Counter[str] = Counter()
        self._notes: list[str] = []
        self._reasons: list[str] = []
        self._candidates = 0
        self._ends: Counter[str] = Counter()
        self._n_blocks = 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """The most rows of each split."""
        return tuple(self._settings.size(split) for split in self.task.splits)

    @property
    def rows(self) -> dict[str, int]:
        """Number of rows in each split."""
        return dict(self._rows)

    @property
    def full(self) -> bool:
        """Whether no split has room for another set."""
        return all(self._full.values())

    def add(self, found: RowsOfTask, again: Flags, elsewhere: Flags) -> None:
        """Adds the rows that a block has of the task, while there is room.

        Args:
            found: the rows, and what was dropped.
            again: which sentences of the block nearly repeat one of an earlier block.
            elsewhere: which of them one in a document of another split.
        """
        self._n_blocks += 1
        sample = found.sample
        self._drops.update(sample.drops)
        self._ends.update(found.ends)
        self._candidates += sample.candidates
        self._notes += [note for note in found.notes if note not in self._notes]
        self._reasons += [sample.reason] if sample.reason else []
        if sample.rows.is_empty():
            return
        if isinstance(self.task, ProbingTask):
            rows = self._without(sample.rows, _any(again), "near-duplicate")
            rows = self._without_equal_texts(rows) if self.task.pairs else rows
            rows = self._left(rows, unclean_edits(rows), "unclean-edit") if self.task.pairs else rows
            rows = self._without_repeated(rows) if "wording" in rows.columns else rows
        else:
            rows = self._without(sample.rows, _any(elsewhere), "in-two-splits")
            rows = self._without(rows, _all(again), "duplicate")
        for split, sets in self._sets(rows).items():
            self._keep(split, sets)

    def _without(self, rows: pl.DataFrame, repeats: pl.Expr, reason: str) -> pl.DataFrame:
        """The rows without the units of which a row fulfils ``repeats``, an expression over its ``number``."""
        lost = rows.explode("number").group_by("unit", "key").agg(lost=repeats).filter("lost")["unit"]
        return self._left(rows, lost.unique(), reason)

    def _without_equal_texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows without the units with a text that another unit has, in this block or before."""
        texts = rows.select("unit", text=pl.col("text").str.to_lowercase().hash(0))
        before = texts.filter(pl.col("text").is_in(self._texts.implode()))["unit"]
        left = self._left(rows, pl.concat([before, equal_to_others(rows)]).unique(), "equal-text")
        self._texts = pl.concat([self._texts, texts["text"].unique()])
        return left

    def _without_repeated(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows without the units whose wording more than ``REPEATED`` pairs have, with those of earlier blocks."""
        counts = Counter(rows.filter(pl.col("label") == 0)["wording"].to_list())
        often = [wording for wording, n in counts.items() if self._wordings[wording] + n > REPEATED]
        lost = rows.filter(pl.col("wording").is_in(often))["unit"].unique()
        left = self._left(rows, lost, "repeated")
        self._wordings.update(left.filter(pl.col("label") == 0)["wording"].to_list())
        return left

    def _left(self, rows: pl.DataFrame, lost: pl.Series, reason: str) -> pl.DataFrame:
        left = rows.filter(~pl.col("unit").is_in(lost.implode()))
        self._drops[reason] += rows.height - left.height
        return left

    def _sets(self, rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """The sets that are complete now, by split: rows with ``set``, their order."""
        rows = self._completed(rows) if self._in_sets else rows.with_columns(set="unit")
        order = pl.Series(hashing.mix(rows["set"].to_numpy(), "set", *self._seed_key))
        rows = rows.with_columns(set=order)
        return {split: rows.filter(pl.col("split") == split).sort("set", "key") for split in self.task.splits}

    def _completed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """One row of each label and stratum at a time; the others wait for rows of later blocks."""
        hashes = pl.Series(hashing.mix(rows["key"].to_numpy(), "row of set", *self._seed_key))
        new = rows.sort(hashes).with_columns(_new=True)
        cell = ["split", "stratum"]
        ranked = pl.concat([self._waiting.with_columns(_new=False), new]) if self._waiting.width else new
        ranked = ranked.with_columns(_rank=pl.int_range(pl.len()).over(*cell, "label"))
        of_labels = ranked.group_by(*cell, "label").len()
        sets = of_labels.group_by(cell).agg(_sets=pl.col("len").min(), _labels=pl.len())
        ranked = ranked.join(sets, on=cell, how="left", nulls_equal=True, maintain_order="left")
        complete = (pl.col("_labels") == len(self.labels)) & (pl.col("_rank") < pl.col("_sets"))
        left = ranked.filter(~complete, pl.col("_rank") < max(self._settings.sizes))
        before, added = (left.filter(pl.col("_new") == new).select(rows.columns) for new in (False, True))
        self._waiting = pl.concat([before, compact(added)], rechunk=True)
        done = ranked.filter(complete).with_columns(set=pl.col("key").min().over(*cell, "_rank"))
        return done.select(*rows.columns, "set")

    @property
    def _seed_key(self) -> tuple[int | str, ...]:
        return self._settings.seed, self.task.name

    def _keep(self, split: str, sets: pl.DataFrame) -> None:
        """Keeps whole sets while there is room; the first that does not fit ends the split."""
        if self._full[split] or sets.is_empty():
            return
        sizes = sets.group_by("set", maintain_order=True).len()
        fits = sizes.filter(pl.col("len").cum_sum() <= self._settings.size(split) - self._rows[split])
        new_sets = sets.head(int(fits["len"].sum()))
        stored = io.BytesIO()
        new_sets.drop("number").write_ipc(stored, compression="zstd")
        self._kept.append(stored.getvalue())
        self._rows[split] += new_sets.height
        room = self._settings.size(split) - self._rows[split]
        self._full[split] = fits.height < sizes.height or room < int(sizes["len"].max())  # type: ignore[arg-type]
        self._drops["over-size"] += sets.height - new_sets.height

    def config(self, blocks: Sequence[Block], corpus: Corpus) -> Config | Unavailable:
        """The config of the rows, or why they make none.

        Args:
            blocks: of the corpus, in the order in which their rows were added.
            corpus: where the rows come from.
        """
        read = blocks[: self._n_blocks]
        parts = tuple(part.identity for block in read for part in block) if len(read) < len(blocks) else ()
        notes = (*self._notes, *windows.ends_note(self._ends), *self._note(parts))
        rows = pl.concat([pl.read_ipc(stored) for stored in self._kept]) if self._kept else pl.DataFrame()
        drops = self._drops + Counter({"unbalanced": self._waiting.height})
        labels = self.task.labels or self.labels
        made = Sample(rows, drops, labels, self._candidates, self._problem(rows, labels))
        return config_of(self.task, made, corpus, self._asked, notes, parts)

    def _note(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        if not parts:
            return ()
        size = self._settings.block / 2**20
        return (f"Read until the sizes were full: {self._n_blocks} blocks of about {size:g} MB of text, in hash order",)

    def _problem(self, rows: pl.DataFrame, labels: tuple[str, ...]) -> str:
        if rows.is_empty():
            return self._reasons[0] if self._reasons else "no candidates are left"
        problem = problem_of(rows, labels, self.labels, self.task.splits)
        least, counts = self._settings.min_class, Counter(rows["label"].to_list())
        rarest = min(self.labels, key=lambda name: counts[labels.index(name)])
        number = counts[labels.index(rarest)]
        if not problem and isinstance(self.task, ProbingTask) and number < least:
            return f"{number} rows of {rarest} are left after filters and matching; {least} are needed"
        return problem


def _any(repeated: Flags) -> pl.Expr:
    """Whether any of some sentences is among those that are repeated."""
    return pl.col("number").is_in(np.flatnonzero(repeated)).any()


def _all(repeated: Flags) -> pl.Expr:
    return pl.col("number").is_in(np.flatnonzero(repeated)).all()
