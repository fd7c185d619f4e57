"""Blocks: which parts of a corpus are sampled together, what a block gives, and the rows of a config from all blocks.

A corpus that is not larger than a block is one block. The parts of a larger one are ordered by a hash of what they
are, and a block is a series of parts in this order with about the set amount of text. Where a block ends depends only
on the parts nearby: a new part changes its own block, and perhaps the next few (``blocks_of``).

``rows_of_block`` selects, samples and renders the rows of one block; they depend on the block and the ``BlockPlan``
only. ``ConfigRows`` takes the rows of one config from block after block, until its sizes are full.
"""

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.config import Config, Unavailable, schema
from discoprobe.builders.drops import BLOCKS, TEXT, Drops, fates_of
from discoprobe.builders.passages import windows
from discoprobe.builders.render import config_of, equal_to_others, rows_with_text, texts_of, unavailable, unclean_edits
from discoprobe.builders.sample import problem_of, sample_tasks
from discoprobe.builders.sampling.balance import REPEATED
from discoprobe.builders.selection import BlockPlan, select
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.builders.task import AnyTask, DiscourseTask, ProbingTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import Corpus, Loadable, Shard, joined
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.near_duplicates import Shingles

Block = tuple[Loadable, ...]
Flags = npt.NDArray[np.bool_]

LONGEST = 2
"""A block that has this many times the set amount of text ends in any case."""

NEEDED = (
    "key", "split", "corpora", "unit", "stratum", "number", "wording", "pair", "condition", "text", "edit", "target",
)  # fmt: skip
"""Columns of rows that are needed beside those of the config."""


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
        others = [part for part in parts if not getattr(part, "fills", False)]
        return [*blocks_of(others, settings), *blocks_of(filling, settings)]
    ordered = sorted(parts, key=lambda part: (hashing.digest(settings.seed, "part", part.identity), part.identity))
    if settings.most_documents is not None:
        ordered = _first_documents(ordered, settings.most_documents, settings.seed)
    if sum(part.size for part in ordered) <= settings.block:
        identities = {part.identity for part in ordered}
        in_source_order = tuple(part for part in parts if part.identity in identities)
        return [in_source_order if len(in_source_order) == len(ordered) else tuple(ordered)]
    blocks: list[Block] = []
    block: list[Loadable] = []
    size = 0
    for part in ordered:
        block.append(part)
        size += part.size
        may_end = hashing.digest(settings.seed, "ends", part.identity) % 2 == 0
        if (size >= settings.block and may_end) or size >= LONGEST * settings.block:
            blocks.append(tuple(block))
            block, size = [], 0
    return [*blocks, tuple(block)] if block else blocks


def _first_documents(ordered: Sequence[Loadable], most: int, seed: int) -> list[Loadable]:
    """The first parts, with ``most`` documents together; of the last part only the documents that are still needed."""
    first: list[Loadable] = []
    for part in ordered:
        if part.n_documents >= most:
            return [*first, part if part.n_documents == most else FirstDocuments(part, most, seed)]
        first.append(part)
        most -= part.n_documents
    return first


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


@dataclass(frozen=True, slots=True)
class RowsOfTask:
    """What a block gives to a config.

    Attributes:
        sample: rows with text, drops and labels, or the reason for no rows.
        notes: for the card.
        ends: sentences at which a passage ends, by reason, for the card.
        fates: what became of each sentence (``drops.fates_of``), if the plan says so.
    """

    sample: Sample
    notes: tuple[str, ...] = ()
    ends: Counter[str] = field(default_factory=Counter)
    fates: pl.DataFrame | None = None


@dataclass(frozen=True, slots=True)
class BlockRows:
    """What a block gives.

    Attributes:
        of_task: rows by task.
        shingles: of all its sentences.
        splits: for each sentence the number of the split of its document; -1 if it has none, or is a short one, which
            may recur.
        n_words: number of words in the block.
    """

    of_task: Mapping[str, RowsOfTask]
    shingles: Shingles
    splits: npt.NDArray[np.int8]
    n_words: int


def rows_of_block(
    block: Block, tasks: Sequence[AnyTask], plan: BlockPlan, executor: Executor | None = None
) -> BlockRows:
    """The rows of some tasks in a block.

    Args:
        block: parts of the corpus.
        tasks: either relation tasks only, or none of them.
        plan: what holds for all blocks.
        executor: of the only block, its parts and tasks can be divided among workers; of several blocks, each is the
            work of one.

    Raises:
        DiscoprobeError: a part of the block cannot be read.
    """
    parts = block if plan.only_block else load(block)
    candidates = select(tasks, parts, plan, executor)
    samples = sample_tasks(tasks, candidates, plan, executor)
    texts = texts_of(samples, candidates.every, parts, executor)
    of_task = {}
    for sample in samples:
        task, chosen, ends = sample.task, sample.chosen, Counter[str]()
        if isinstance(task, DiscourseTask):
            ends = windows.ends(sample.frame)
        if plan.only_block:
            chosen = replace(chosen, labels=sample.labels, reason=sample.problem)
        rows = chosen.rows
        if not rows.is_empty() and not (plan.only_block and chosen.reason):
            rows = rows_with_text(sample, texts, plan.language)
            rows = rows.select(name for name in rows.columns if name in {*schema(task.shape).names, *NEEDED})
            rows = rows if plan.only_block else compact(rows)
        fates = fates_of(sample.frame, chosen.drops) if plan.trace else None
        of_task[task.name] = RowsOfTask(replace(chosen, rows=rows), sample.notes, ends, fates)
    splits = np.full(candidates.every.height, -1, np.int8)
    if not candidates.sentences.is_empty():
        codes = {split: code for code, split in enumerate(SPLITS)}
        long = candidates.sentences.filter("long").select("shard", "sent", split=pl.col("split").cast(pl.String))
        every = candidates.every.join(long, on=["shard", "sent"], how="left", maintain_order="left")
        splits = every["split"].replace_strict(codes, default=-1, return_dtype=pl.Int8).to_numpy()
    return BlockRows(of_task, candidates.shingles, splits, candidates.n_words)


def compact(rows: pl.DataFrame) -> pl.DataFrame:
    """The same rows with strings of their own: those of polars are views, which keep all texts of a block in memory."""
    stored = io.BytesIO()
    rows.write_ipc(stored, compat_level=pl.CompatLevel.oldest())
    return pl.read_ipc(stored.getvalue())


class ConfigRows:
    """The rows of a config from the blocks so far.

    Rows come in sets that have every label equally often: a pair, or one row of each label (inside a stratum, where a
    task has strata). A set is complete with the block that brings its last row. Complete sets have an order: by block,
    then by hash. A config takes them in this order until its sizes are full. So a larger size only adds sets, and what
    is read after a config is full makes no difference. The rows of an only block are taken as they are: its sample has
    the set sizes.

    Attributes:
        task: whose rows they are.
        labels: the labels that its rows have.
        blocks: all of the corpus.
        rows: number of rows in each split.
        fates: what became of each sentence in each block, if the plan says so.
        drops: the candidates that were lost.
    """

    def __init__(self, task: AnyTask, blocks: Sequence[Block], plan: BlockPlan, reason: str = "") -> None:
        """Collects rows from blocks; with a ``reason`` for no config it takes none."""
        self.task, self.labels = task, plan.labels.get(task.name, task.labels)
        self.rows = dict.fromkeys(task.splits, 0)
        self.drops, self.fates = Drops(trace=plan.trace), list[pl.DataFrame]()
        self.blocks, self._plan, self._reason = blocks, plan, reason
        self._settings = task.sized(plan.settings)
        self._n_blocks, self._candidates = 0, 0
        self._notes: list[str] = []
        self._reasons: list[str] = [reason] if reason else []
        self._ends: Counter[str] = Counter()
        self._texts = pl.Series("text", [], dtype=pl.UInt64)
        self._wordings: Counter[int] = Counter()
        self._incomplete = pl.DataFrame()
        self._taken: list[pl.DataFrame | bytes] = []  # those of several blocks wait as compressed bytes
        self._full = dict.fromkeys(task.splits, bool(reason))

    @property
    def size(self) -> int:
        """The largest number of rows."""
        return sum(self._settings.size(split) for split in self.task.splits)

    @property
    def full(self) -> bool:
        """Whether no split has room for another set."""
        return all(self._full.values())

    @property
    def blocks_read(self) -> Sequence[Block]:
        """The blocks whose rows were added."""
        return self.blocks[: self._n_blocks]

    def add(self, of_block: RowsOfTask, repeated: Flags, in_other_split: Flags) -> None:
        """Adds the rows that a block has of the task, while there is room.

        Args:
            of_block: the rows, and what was dropped.
            repeated: which sentences of the block nearly repeat one of an earlier block.
            in_other_split: which of them one in a document of another split.
        """
        sample = of_block.sample
        self._n_blocks += 1
        self._candidates += sample.candidates
        self._ends.update(of_block.ends)
        self._notes += [note for note in of_block.notes if note not in self._notes]
        self._reasons += [sample.reason] if sample.reason else []
        self.drops.count(sample.drops)
        if of_block.fates is not None:
            self.fates.append(of_block.fates)
        if self._plan.only_block:
            self.labels = sample.labels
        if sample.rows.is_empty() or (self._plan.only_block and sample.reason):
            return
        rows = sample.rows
        if not self._plan.only_block:
            again, elsewhere = (pl.col("number").is_in(np.flatnonzero(flags)) for flags in (repeated, in_other_split))
            if isinstance(self.task, ProbingTask):
                rows = self._without_sentences(rows, again.any(), "near-duplicate")
            else:
                rows = self._without_sentences(rows, elsewhere.any(), "in-two-splits")
                rows = self._without_sentences(rows, again.all(), "duplicate")
        if isinstance(self.task, ProbingTask) and self.task.pairs:
            unclean = unclean_edits(rows)
            rows = self._without_equal_texts(rows)
            rows = self._without_units(rows, unclean, "unclean-edit", TEXT)
        if self._plan.only_block:
            self._taken.append(rows)
            return
        if isinstance(self.task, ProbingTask) and "wording" in rows.columns:
            rows = self._without_repeated_wording(rows)
        rows = (
            self._complete_sets(rows) if self._settings.match and not self.task.pairs else rows.with_columns(set="unit")
        )
        rows = rows.with_columns(set=pl.Series(hashing.mix(rows["set"].to_numpy(), "set", *self._seed_key)))
        for split in self.task.splits:
            self._take(split, rows.filter(pl.col("split") == split).sort("set", "key"))

    def _without_sentences(self, rows: pl.DataFrame, repeated: pl.Expr, reason: str) -> pl.DataFrame:
        """The rows without the units of which a row fulfils ``repeated``, an expression over its ``number``."""
        lost = rows.explode("number").group_by("unit", "key").agg(lost=repeated).filter("lost")["unit"]
        return self._without_units(rows, lost.unique(), reason)

    def _without_equal_texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows without the units with a text that another unit has, in this block or before."""
        texts = rows.select("unit", text=pl.col("text").str.to_lowercase().hash(0))
        before = texts.filter(pl.col("text").is_in(self._texts.implode()))["unit"]
        self._texts = pl.concat([self._texts, texts["text"].unique()])
        return self._without_units(rows, pl.concat([before, equal_to_others(rows)]).unique(), "equal-text", TEXT)

    def _without_repeated_wording(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows without the units whose wording more than ``REPEATED`` pairs have, with those of earlier blocks."""
        counts = Counter(rows.filter(pl.col("label") == 0)["wording"].to_list())
        often = [wording for wording, n in counts.items() if self._wordings[wording] + n > REPEATED]
        rows = self._without_units(rows, rows.filter(pl.col("wording").is_in(often))["unit"].unique(), "repeated")
        self._wordings.update(rows.filter(pl.col("label") == 0)["wording"].to_list())
        return rows

    def _without_units(self, rows: pl.DataFrame, units: pl.Series, reason: str, step: str = BLOCKS) -> pl.DataFrame:
        others = rows.filter(~pl.col("unit").is_in(units.implode()))
        n = rows.height - others.height
        # what the sample of the only block dropped was counted in pairs; of several blocks rows are counted
        return self.drops.keep(rows, others, reason, n=n // 2 if self._plan.only_block else n, step=step)

    def _complete_sets(self, rows: pl.DataFrame) -> pl.DataFrame:
        """One row of each label and stratum at a time; the others wait for rows of later blocks."""
        hashes = pl.Series(hashing.mix(rows["key"].to_numpy(), "row of set", *self._seed_key))
        new = rows.sort(hashes).with_columns(_new=True)
        cell = ["split", "stratum"]
        ranked = pl.concat([self._incomplete.with_columns(_new=False), new]) if self._incomplete.width else new
        ranked = ranked.with_columns(_rank=pl.int_range(pl.len()).over(*cell, "label"))
        of_labels = ranked.group_by(*cell, "label").len()
        sets = of_labels.group_by(cell).agg(_sets=pl.col("len").min(), _labels=pl.len())
        ranked = ranked.join(sets, on=cell, how="left", nulls_equal=True, maintain_order="left")
        complete = (pl.col("_labels") == len(self.labels)) & (pl.col("_rank") < pl.col("_sets"))
        waiting = ranked.filter(~complete, pl.col("_rank") < max(self._settings.sizes))
        before, added = (waiting.filter(pl.col("_new") == new).select(rows.columns) for new in (False, True))
        self._incomplete = pl.concat([before, compact(added)], rechunk=True)
        done = ranked.filter(complete).with_columns(set=pl.col("key").min().over(*cell, "_rank"))
        return done.select(*rows.columns, "set")

    def _take(self, split: str, sets: pl.DataFrame) -> None:
        """Takes complete sets while there is room; the first that does not fit ends the split."""
        if self._full[split] or sets.is_empty():
            return
        sizes = sets.group_by("set", maintain_order=True).len()
        fits = sizes.filter(pl.col("len").cum_sum() <= self._settings.size(split) - self.rows[split])
        new_sets = self.drops.keep(sets, sets.head(int(fits["len"].sum())), "over-size", step=BLOCKS)
        stored = io.BytesIO()
        new_sets.drop("number").write_ipc(stored, compression="zstd")
        self._taken.append(stored.getvalue())
        self.rows[split] += new_sets.height
        room = self._settings.size(split) - self.rows[split]
        self._full[split] = fits.height < sizes.height or room < int(sizes["len"].max())  # type: ignore[arg-type]

    @property
    def _seed_key(self) -> tuple[int | str, ...]:
        return self._settings.seed, self.task.name

    def config(self, corpus: Corpus) -> Config | Unavailable:
        """The config of the rows, or why they make none; ``corpus`` is where they come from."""
        if self._reason:
            return unavailable(self.task, corpus, self._reason)
        self.drops.lose("unbalanced", self._incomplete, step=BLOCKS)
        frames = [pl.read_ipc(rows) if isinstance(rows, bytes) else rows for rows in self._taken]
        rows = pl.concat(frames) if frames else pl.DataFrame()
        labels = self.task.labels or self.labels
        notes = (*self._notes, *windows.ends_note(self._ends))
        parts: tuple[str, ...] = ()
        if len(self.blocks_read) < len(self.blocks):
            parts = tuple(part.identity for block in self.blocks_read for part in block)
            size = f"{self._n_blocks} blocks of about {self._settings.block / 2**20:g} MB of text"
            notes = (*notes, f"Read until the sizes were full: {size}, in hash order")
        reason = "".join(self._reasons[:1])
        if not rows.is_empty():
            reason = "" if self._plan.only_block else self._problem(rows, labels)
        elif not reason and not (self._plan.only_block and frames):
            reason = "no candidates are left"
        sample = Sample(rows, self.drops, labels, self._candidates, reason)
        return config_of(self.task, sample, corpus, self._plan.settings, notes, parts)

    def _problem(self, rows: pl.DataFrame, labels: tuple[str, ...]) -> str:
        """Why the rows of several blocks make no config; empty if they do."""
        problem = problem_of(rows, labels, self.labels, self.task.splits)
        least, counts = self._settings.min_class, Counter(rows["label"].to_list())
        rarest = min(self.labels, key=lambda name: counts[labels.index(name)])
        number = counts[labels.index(rarest)]
        if not problem and isinstance(self.task, ProbingTask) and number < least:
            return f"{number} rows of {rarest} are left after filters and matching; {least} are needed"
        return problem
