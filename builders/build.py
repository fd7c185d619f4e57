"""From a corpus to configs: read it block by block, collect the rows of every config, and make the configs of them.

``_read_blocks`` tells it in order, ``blocks`` what happens in a block. A small corpus is one block, whose parts and
tasks any ``concurrent.futures`` executor can divide among workers; of a large one, which is read until the sizes are
full, each worker gets a block. ``ConfigRows`` takes the rows of one config from block after block, and makes the
config.
"""

from __future__ import annotations

import io
import math
import threading
from collections import Counter, deque
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from itertools import chain, repeat
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from discoprobe.builders.blocks import (
    Block,
    BlockRows,
    SomeDocuments,
    blocks_of,
    compact,
    fills,
    load,
    rows_of_block,
)
from discoprobe.builders.config import ANNOTATION, Config, Shape, Unavailable, regions, schema
from discoprobe.builders.drops import BLOCKS, COPY, TEXT, Drops, meanings
from discoprobe.builders.passages import windows
from discoprobe.builders.sampling.balance import REPEATED
from discoprobe.builders.selection import (
    Candidates,
    frequencies_of,
    hindrance,
    merge,
    problem_of,
    problem_of_sample,
    sample,
    select,
)
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.builders.task import AnyTask, Context, ProbingTask, RelationTask, Sample, tasks_named
from discoprobe.loaders import clean_text, hashing
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.corpus import BLANKS
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.files import File
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.near_duplicates import EarlierTexts
from discoprobe.loaders.process_pool import WORDS, Progress, n_workers, process_pool, silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from discoprobe.loaders.corpus import Corpus

Flags = npt.NDArray[np.bool_]

KILO = 1000
LOOK = 1.0
"""Seconds between two looks at what is prepared."""
SPARE = 1.2
"""How much more text is read in advance for a task than it needs by its rows so far."""

FIRST = (1, 2, 4, 8)
"""Numbers of first blocks that decide on the classes of a task with open labels; the first number that suffices counts.
A class with too few candidates in eight blocks is no class. A small first block and the next count as one."""
FIRST_OF_SLOW = 4
"""The same for blocks of text that is annotated for them."""


def build(task: str, corpus: Corpus, settings: Settings | None = None, progress: Progress = silent) -> Config:
    """Builds one task from a corpus.

    Args:
        task: name of a task.
        corpus: what ``load_corpus`` returns.
        settings: seed, sizes and filters; the defaults are those of the published release.
        progress: as for `build_all`.

    Returns:
        The config, its splits as Arrow tables.

    Raises:
        UnknownNameError: there is no task of that name.
        UnsupportedError: the corpus cannot support the task; the message says why.
    """
    with process_pool(1) as executor:
        config = next(build_all(tasks_named([task]), corpus, settings or Settings(), executor, progress=progress))
    if isinstance(config, Unavailable):
        raise UnsupportedError(f"{config.name} cannot be built: {config.reason}")
    return config


def build_all(  # noqa: PLR0913 (what a build consists of)
    tasks: Sequence[AnyTask], corpus: Corpus, settings: Settings, executor: Executor | None = None, *, jobs: int = 1,
    progress: Progress = silent,
) -> Iterator[Config | Unavailable]:  # fmt: skip
    """Builds tasks from a corpus, block by block until the sizes are full.

    Args:
        tasks: what to build.
        corpus: one language's corpora.
        settings: seed, sizes and filters.
        executor: runs the steps over parts or blocks; without one they run here.
        jobs: number of processes of the executor, which gets at most two blocks more than these in advance.
        progress: called with the number of words read and, for a large corpus, with the text read so far (kB) and the
            rows of every config.

    Yields:
        For each task its config, or why it is not available, in the order of ``tasks``.
    """
    collected = collect_rows(tasks, corpus, settings, executor, jobs, progress)
    for task in tasks:
        yield collected.pop(task.name).config(corpus)


def collect_rows(  # noqa: PLR0913, PLR0917 (what a build consists of)
    tasks: Sequence[AnyTask], corpus: Corpus, settings: Settings, executor: Executor | None, jobs: int,
    progress: Progress, *, trace: bool = False,
) -> dict[str, ConfigRows]:  # fmt: skip
    """The rows of every task by its name, or why the corpus cannot support it.

    Relations are few, so that those of all parts are sampled together, as if they were one block.

    The arguments are those of `build_all`; with ``trace``, lost candidates are remembered for `build why`.
    """
    language = language_data(corpus.lang)
    forms = corpus.forms
    if own := settings.files().get("paradigms"):
        forms = Source("", corpus.lang, files=(File(own.name, url=str(own)),))
    context = Context(
        "", language, settings, forms=forms, sources=corpus.sources, tokenised=corpus.tokenised, layers=corpus.layers,
        n_sentences=corpus.n_sentences, trust=corpus.trust, drops=Drops(trace),
    )  # fmt: skip
    hindrances = {task.name: hindrance(task, context) for task in tasks}
    collected = {
        task.name: ConfigRows(task, [], context, hindrances[task.name]) for task in tasks if hindrances[task.name]
    }
    possible = [task for task in tasks if not hindrances[task.name]]
    if others := [task for task in possible if not isinstance(task, RelationTask)]:
        blocks = blocks_of([part for part in corpus.parts if part.size], settings)
        collected |= _read_blocks(others, blocks, context, executor, jobs, progress)
    if relations := [task for task in possible if isinstance(task, RelationTask)]:
        only = tuple(chain.from_iterable(blocks_of(corpus.parts, settings)))
        collected |= _read_blocks(relations, [only], context, executor, jobs, silent)
    return collected


def _read_blocks(  # noqa: PLR0913, PLR0917 (what a build consists of)
    tasks: Sequence[AnyTask], blocks: Sequence[Block], context: Context, executor: Executor | None, jobs: int,
    progress: Progress,
) -> dict[str, ConfigRows]:  # fmt: skip
    """The rows of tasks from one block after the other, until all are full.

    The results of blocks are used in their order. Each worker begins with a block for all tasks. The rows of the first
    one show how much more text each task needs, and so which blocks are begun for which tasks. A task that needs more
    gets its rows of a block later. Blocks that were started and are not needed are cancelled.
    """
    first_blocks, ahead = _first_blocks(blocks, context.settings.block), n_workers(jobs) + 2
    report = silent if len(blocks) == 1 else progress
    with ExitStack() as preparing:
        preparing.enter_context(_preparation_reported(blocks[: max(FIRST[-1], ahead)], context.language.code, report))
        frequencies = frequencies_of(tasks, [part for block in first_blocks for part in block], context, executor)
        context = replace(context, small=len(blocks) == 1, frequencies=frequencies)
        gold = blocks.index(next(filter(_fills, blocks), ())) if context.trust and any(map(_fills, blocks)) else 0
        context = replace(context, gold_blocks=gold)
        labels: dict[str, tuple[str, ...]] = {}
        reasons: dict[str, str] = {}
        if not context.small:  # the first blocks decide on the labels of tasks with open label sets
            undecided = [task for task in tasks if task.open]
            groups = [group for n in range(ahead) if (group := undecided[n::ahead])] if executor else [undecided]
            decide = executor.map if executor else map
            deciding = f"choosing the labels of {context.language.code}: tasks"
            progress(deciding, 0, len(undecided))
            for of_group, why_none in decide(_labels_by_blocks, groups, repeat(first_blocks), repeat(context)):
                labels |= of_group
                reasons |= why_none
            progress(deciding, len(undecided), len(undecided))
            context = replace(context, decided_labels=labels)
        collected = {task.name: ConfigRows(task, blocks, context, reasons.get(task.name, "")) for task in tasks}
        step = f"reading {context.language.code}: kB of text"
        sizes = [sum(part.size for part in block) for block in blocks]
        report(step, 0, sum(sizes) // KILO)
        for name, rows in collected.items():
            if not rows.full:
                report(f"{name}_{context.language.code}: rows", 0, rows.size)
        earlier, known, n_read = EarlierTexts(), np.empty(0, np.uint64), 0
        begun = deque[Future[BlockRows]]()
        while n_read < len(blocks) and (unfilled := [rows for rows in collected.values() if not rows.full]):
            block, tasks = blocks[n_read], [rows.task for rows in unfilled]
            if gold and n_read == gold:  # what people annotated has its rows; the text fills what is left of each split
                context = replace(context, shares={name: rows.shares_left for name, rows in collected.items()})
            if executor is None or context.small:
                of_block = rows_of_block(block, tasks, context, executor, progress if context.small else silent)
            else:
                last = min(gold if n_read < gold else len(blocks), n_read + (ahead if n_read else n_workers(jobs)))
                for n in range(n_read + len(begun), last):
                    asking = [rows.task for rows in unfilled if rows.text_needed > sum(sizes[n_read:n])]
                    if not asking:
                        break
                    begun.append(executor.submit(rows_of_block, blocks[n], asking, context))
                of_block = begun.popleft().result()
                if late := [task for task in tasks if task.name not in of_block.of_task]:
                    of_late = executor.submit(rows_of_block, block, late, context).result()
                    splits = np.maximum(of_block.splits, of_late.splits)  # probing tasks alone know none
                    of_block = replace(of_block, of_task={**of_block.of_task, **of_late.of_task}, splits=splits)
            preparing.close()
            repeated = in_other_split = of_copies = np.zeros(0, dtype=bool)
            if not context.small:
                repeated, in_other_split = earlier.repeated(of_block.shingles, of_block.splits)
                owners, of_sentence = np.unique(of_block.owners, return_inverse=True)
                of_copies = np.isin(owners, known)[of_sentence]
                known = np.union1d(known, owners)
            n_read += 1
            report(step, sum(sizes[:n_read]) // KILO, sum(sizes) // KILO)
            for name, of_task in of_block.of_task.items():
                rows = collected[name]
                if not rows.full:
                    rows.add(of_task, repeated, in_other_split, of_copies)
                    n_rows = sum(rows.rows.values())
                    report(f"{name}_{context.language.code}: rows", n_rows, n_rows if rows.full else rows.size)
            progress(WORDS, of_block.n_words, 0)
    for future in begun:
        future.cancel()
    report(step, sum(sizes[:n_read]) // KILO, sum(sizes[:n_read]) // KILO)
    for name, rows in collected.items():
        if not rows.full:  # there is no more text
            n_rows = sum(rows.rows.values())
            report(f"{name}_{context.language.code}: rows", n_rows, n_rows)
    return collected


def _first_blocks(blocks: Sequence[Block], size: int) -> list[Block]:
    """The blocks that may decide on labels; a first one with less than half of ``size`` together with the next."""
    if len(blocks) > 1 and not any(map(_fills, blocks)) and sum(part.size for part in blocks[0]) < size / 2:
        return [(*blocks[0], *blocks[1]), *blocks[2 : FIRST[-1] + 1]]
    are_slow = any(getattr(part, "slow", False) for block in blocks for part in block)
    return [
        block for n, block in enumerate(blocks[: FIRST[-1]]) if n < FIRST_OF_SLOW or not (are_slow and _fills(block))
    ]


def _fills(block: Block) -> bool:
    """Whether a block has text that is read after the corpora."""
    return any(map(fills, block))


@contextmanager
def _preparation_reported(blocks: Sequence[Block], code: str, progress: Progress) -> Iterator[None]:
    """Inside, reports how many parts of blocks are divided into sentences, by whatever step loads them first."""
    parts = [part for block in blocks for part in block]
    waiting = [part for part in parts if not part.prepared]
    if not waiting or progress is silent:
        yield
        return
    ended, step = threading.Event(), f"dividing the first text of {code} into sentences: parts"

    def look() -> None:
        while waiting and not ended.wait(LOOK):
            waiting[:] = [part for part in waiting if not part.prepared]
            progress(step, len(parts) - len(waiting), len(parts))

    progress(step, len(parts) - len(waiting), len(parts))
    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join()
        progress(step, len(parts), len(parts))


def _labels_by_blocks(
    tasks: Sequence[AnyTask], blocks: Sequence[Block], context: Context
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The labels of each task by as few blocks as ``FIRST`` permits, and why the other tasks have none.

    Raises:
        DiscoprobeError: a part of a block cannot be read.
    """
    labels: dict[str, tuple[str, ...]] = {}
    reasons: dict[str, str] = {}
    candidates: list[Candidates] = []
    for n_blocks in FIRST:
        undecided = [task for task in tasks if task.name not in labels]
        new_blocks = blocks[len(candidates) : n_blocks]
        if not undecided or not new_blocks:
            break
        candidates += [select(undecided, load(block), context) for block in new_blocks]
        together = merge(candidates, undecided)
        for task in undecided:
            of_task = sample(task, together, context, context.settings.without_sizes())
            if problem := problem_of_sample(task, of_task):
                reasons[task.name] = problem
            else:
                labels[task.name] = of_task.labels or task.labels
    return labels, {name: reason for name, reason in reasons.items() if name not in labels}


SPREAD = 0.02
"""Largest share of a label's silver rows with targets of one lemma: a model is surest of the most frequent words."""


class ConfigRows:
    """The rows of a config from the blocks so far.

    Rows come in sets that have every label equally often: a pair, or one row of each label (inside a stratum, where a
    task has strata). A set is complete with the block that brings its last row. Complete sets have an order: by block,
    then by hash. A config takes them in this order until its sizes are full. So a larger size only adds sets, and what
    is read after a config is full makes no difference. The rows of a small corpus are taken as they are: its sample
    has the set sizes.

    Attributes:
        task: whose rows they are.
        labels: the labels that its rows have.
        blocks: all of the corpus.
        rows: number of rows in each split.
        drops: the candidates that were lost.
    """

    def __init__(self, task: AnyTask, blocks: Sequence[Block], context: Context, reason: str = "") -> None:
        """Collects rows from blocks; with a ``reason`` for no config it takes none."""
        self.task, self.labels = task, context.decided_labels.get(task.name, task.labels)
        self.rows = dict.fromkeys(task.splits, 0)
        self.drops = Drops(context.drops.remember)
        self.blocks, self._context = blocks, context
        self._settings = task.sized(context.settings)
        self._n_blocks, self._candidates = 0, 0
        self._notes: list[str] = []
        self._reasons: list[str] = [reason] if reason else []
        self._ends: Counter[str] = Counter()
        self._texts = pl.Series("text", [], dtype=pl.UInt64)
        self._wordings: Counter[int] = Counter()
        self._targets: Counter[tuple[str, int, str]] = Counter()
        self._incomplete = pl.DataFrame()
        self._taken: list[pl.DataFrame | bytes] = []  # those of several blocks wait as compressed bytes
        self._full = dict.fromkeys(task.splits, bool(reason))

    @property
    def size(self) -> int:
        """The largest number of rows."""
        return sum(self._settings.size(split) for split in self.task.splits)

    @property
    def shares_left(self) -> tuple[float, ...]:
        """The share of each split in the rows that are missing."""
        left = [max(0, self._settings.size(split) - self.rows.get(split, 0)) for split in SPLITS]
        return tuple(n / max(1, sum(left)) for n in left)

    @property
    def full(self) -> bool:
        """Whether no split has room for another set."""
        return all(self._full.values())

    @property
    def text_needed(self) -> float:
        """Bytes of text that fill it, if they give as many rows as those so far; some more, since blocks differ."""
        read = sum(part.size for block in self.blocks_read for part in block)
        needed = [
            read * (self._settings.size(split) / n - 1) if (n := self.rows[split]) else math.inf
            for split, full in self._full.items()
            if not full
        ]
        return max(1.0, SPARE * max(needed)) if needed else 0.0

    @property
    def blocks_read(self) -> Sequence[Block]:
        """The blocks whose rows were added."""
        return self.blocks[: self._n_blocks]

    def add(self, sample: Sample, repeated: Flags, in_other_split: Flags, of_copies: Flags) -> None:
        """Adds the rows that a block has of the task, while there is room.

        Args:
            sample: rows with text, and what was dropped.
            repeated: which sentences of the block nearly repeat one of an earlier block.
            in_other_split: which of them one in a document of another split.
            of_copies: which sentences are in a document, or are one outside documents, that an earlier block has.
        """
        self._n_blocks += 1
        self._candidates += sample.candidates
        self._ends.update(sample.ends)
        self._notes += [note for note in sample.notes if note not in self._notes]
        self._reasons += [sample.reason] if sample.reason else []
        self.drops.marks += sample.drops.marks
        if self._context.small:
            self.labels = sample.labels
        if sample.rows.is_empty() or sample.reason:
            return
        rows = sample.rows
        if self._context.silver:
            kind = pl.col("corpora").list.eval(pl.element().is_in(list(self._context.silver))).list.any()
            gold, silver = map(pl.lit, ANNOTATION)
            rows = rows.with_columns(annotation=pl.when(kind).then(silver).otherwise(gold))
            if isinstance(self.task, ProbingTask) and self.task.split_by == "target":
                rows = self._without_frequent_targets(rows)
        rows = self._without_sentences(rows, of_copies, COPY)
        if isinstance(self.task, ProbingTask):
            rows = self._without_sentences(rows, repeated, "near-duplicate")
        else:
            rows = self._without_sentences(rows, in_other_split, "in-two-splits")
            rows = self._without_sentences(rows, repeated, "duplicate", every=True)
        if isinstance(self.task, ProbingTask) and self.task.pairs:
            # originals are clean, so the edit is the cause
            unclean = rows.filter(clean_text.fault(pl.col("text")).is_not_null())["unit"].unique()
            rows = self._without_equal_texts(rows)
            rows = self._without_units(rows, unclean, "unclean-edit", TEXT)
        if self._context.small:
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

    def _without_sentences(self, rows: pl.DataFrame, flags: Flags, reason: str, *, every: bool = False) -> pl.DataFrame:
        """The rows without units of which a row has a sentence with a flag, or has only such sentences (``every``)."""
        if not flags.any():
            return self.drops.keep(rows, rows, reason, step=BLOCKS)
        flagged = pl.col("number").is_in(np.flatnonzero(flags))
        lost = rows.explode("number").group_by("unit", "key").agg(lost=flagged.all() if every else flagged.any())
        return self._without_units(rows, lost.filter("lost")["unit"].unique(), reason)

    def _without_equal_texts(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows without the units with a text that another unit has, in this block or before.

        An edit can give the original of another sentence.
        """
        texts = (
            rows.select("unit", text=hashing.hashed(pl.col("text").str.to_lowercase())).unique().sort("text", "unit")
        )
        before = texts.filter(pl.col("text").is_in(self._texts.implode()))["unit"]
        in_block = texts.filter(pl.col("unit").cum_count().over("text") > 1)["unit"]  # all but the first of equal ones
        self._texts = pl.concat([self._texts, texts["text"].unique()])
        return self._without_units(rows, pl.concat([before, in_block]).unique(), "equal-text", TEXT)

    def _without_repeated_wording(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows without the units whose wording more than ``REPEATED`` pairs have, with those of earlier blocks."""
        counts = Counter(rows.filter(pl.col("label") == 0)["wording"].to_list())
        often = [wording for wording, n in counts.items() if self._wordings[wording] + n > REPEATED]
        rows = self._without_units(rows, rows.filter(pl.col("wording").is_in(often))["unit"].unique(), "repeated")
        self._wordings.update(rows.filter(pl.col("label") == 0)["wording"].to_list())
        return rows

    def _without_frequent_targets(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows without silver ones of lemmas that ``SPREAD`` of the wanted rows of their label have already."""
        number = max(1, len(self.labels))
        most = {split: max(1, round(SPREAD * self._settings.size(split) / number)) for split in SPLITS}
        of_target = ["split", "label", "_lemma"]
        lemma = pl.col("target").struct.field("lemma")
        hashes = pl.Series(hashing.mix(rows["key"].to_numpy(), "spread", *self._seed_key))
        ordered = rows.with_columns(_lemma=lemma, _hash=hashes, _gold=pl.col("annotation") == ANNOTATION[0])
        ordered = ordered.sort("_gold", "_hash", descending=[True, False])
        places = ordered.select(*of_target).iter_rows()
        counted = list[int]()
        for split, label, name in places:
            self._targets[split, label, name] += 1
            counted.append(self._targets[split, label, name])
        limit = pl.col("split").cast(pl.String).replace_strict(most, return_dtype=pl.Int64)
        seldom = pl.Series(counted, dtype=pl.Int64) <= limit
        kept = ordered.filter(pl.col("_gold") | pl.col("_lemma").is_null() | seldom)
        others = rows.filter(pl.col("key").is_in(kept["key"].implode()))
        return self.drops.keep(rows, others, "frequent-target", step=BLOCKS)

    def _without_units(self, rows: pl.DataFrame, units: pl.Series, reason: str, step: str = BLOCKS) -> pl.DataFrame:
        others = rows.filter(~pl.col("unit").is_in(units.implode()))
        n = rows.height - others.height
        # the sample of a small corpus counts what it drops in pairs; between blocks rows are counted
        return self.drops.keep(rows, others, reason, n=n // 2 if self._context.small else n, step=step)

    def _complete_sets(self, rows: pl.DataFrame) -> pl.DataFrame:
        """One row of each label and stratum at a time, of gold or of silver; others wait for rows of later blocks."""
        hashes = pl.Series(hashing.mix(rows["key"].to_numpy(), "row of set", *self._seed_key))
        new = rows.sort(hashes).with_columns(_new=True)
        # labels are balanced among gold and among silver rows, so that the annotation tells nothing of them
        cell = ["split", "stratum", *(["annotation"] if self._context.silver else [])]
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
        self.drops.lose("unbalanced", self._incomplete, step=BLOCKS)
        frames = [pl.read_ipc(rows) if isinstance(rows, bytes) else rows for rows in self._taken]
        rows = pl.concat(frames) if frames else pl.DataFrame()
        task, labels = self.task, self.task.labels or self.labels
        reason = "".join(self._reasons[:1])
        if not rows.is_empty():
            reason = "" if self._context.small else self._problem(rows, labels)
        elif not reason and not (self._context.small and frames):
            reason = "no candidates are left"
        name, drops = f"{task.name}_{corpus.lang}", {name: n for name, n in self.drops.counts.items() if n}
        if reason:
            return Unavailable(name, task.name, corpus.lang, reason, self._candidates, drops)
        notes, parts = [*self._notes, *windows.ends_note(self._ends)], list[str]()
        if len(self.blocks_read) < len(self.blocks) or self._settings.most_documents is not None:
            read = (part for block in self.blocks_read for part in block)
            whole = (part.part if isinstance(part, SomeDocuments) else part for part in read)
            parts = list(dict.fromkeys(part.identity for part in whole))
        if len(self.blocks_read) < len(self.blocks):
            size = f"{self._n_blocks} blocks of about {self._settings.block / 2**20:g} MB of text"
            notes.append(f"Read until the sizes were full: {size}, in hash order")
        shape = task.shape
        if "spacing" in rows.columns and (by_rule := rows["spacing"].count()):
            notes.append(
                f"The blanks of {by_rule:,} of {rows.height:,} rows are set by rule: their corpus has words only"
            )
        used = set(rows["corpora"].explode())
        notes += [note for note in corpus.notes if any(note.startswith(f"{name}: {BLANKS}") for name in used)]
        if task.conditions:
            rows, shape, labels = suite_rows(rows, task), Shape.SUITE, task.conditions
        order = pl.Series(hashing.mix(rows["key"].to_numpy(), "row order", task.name))  # does not depend on labels
        silver = "annotation" in rows.columns and ANNOTATION[1] in rows["annotation"]
        rows, columns = rows.with_columns(_order=order).sort("_order"), schema(shape, silver=silver)
        sources = [source for source in corpus.sources if source.name in used]
        if task.uses_forms and self._context.forms and self._context.forms.name:
            sources.append(self._context.forms)
        return Config(
            name=name, task=task.name, lang=corpus.lang, shape=shape, labels=labels,
            splits={
                split: _table(rows.filter(pl.col("split") == split).select(columns.names)).cast(columns)
                for split in task.splits
            },
            drops=drops, meanings=meanings(drops, task.reasons), candidates=self._candidates,
            settings=self._context.settings, sources=tuple(sources),
            read=tuple(sorted(source.name for source in corpus.sources)), exempt=task.exempt,
            definition=task.definition, asks=task.asks, papers=task.papers, pairs=task.paired, split_by=task.split_by,
            version=task.version, notes=tuple(notes), parts=tuple(parts), natural=task.natural,
        )  # fmt: skip

    def _problem(self, rows: pl.DataFrame, labels: tuple[str, ...]) -> str:
        """Why the rows of several blocks make no config; empty if they do."""
        problem = problem_of(rows, labels, self.labels, self.task.splits)
        least, counts = self._settings.min_class, Counter(rows["label"].to_list())
        rarest = min(self.labels, key=lambda name: counts[labels.index(name)])
        number = counts[labels.index(rarest)]
        if not problem and isinstance(self.task, ProbingTask) and number < least:
            return f"{number} rows of {rarest} are left after filters and matching; {least} are needed"
        return problem


def suite_rows(rows: pl.DataFrame, task: AnyTask) -> pl.DataFrame:
    """The rows of a suite, one per pair: both texts, and each in regions that spaces join.

    A sentence has the regions before, edit and after, a passage has one region per sentence. ``label`` is the
    condition.

    Args:
        rows: originals (label 0) and edited texts (label 1), or choices of two, of which ``label`` is the right one.
        task: names the conditions and the region in which the texts are compared.
    """
    said = pl.col("speakers") if "speakers" in rows.columns else pl.lit(None, pl.List(pl.String))
    if task.shape is Shape.CHOICE:
        right, wrong = (pl.concat_list(pl.col("choices").list.get(at)) for at in (pl.col("label"), 1 - pl.col("label")))
        # a sentence from elsewhere stands in the turn of the one that it replaces
        n = pl.col("context").list.len()
        speakers = said.list.head(n).list.concat(pl.concat_list(said.list.get(n + pl.col("label"))))
        pairs = rows.with_columns(
            regions_good=pl.col("context").list.concat(right), regions_bad=pl.col("context").list.concat(wrong),
            pair_id="id", speakers_good=speakers, speakers_bad=speakers,
        )  # fmt: skip
    else:
        divided: pl.Series | str = "sentences"
        if "text" in rows.columns:
            edits = rows.select("text", pl.col("edit").struct.unnest())
            divided = pl.Series([regions(text, start, end) for text, start, end in edits.iter_rows()])
        both = rows.with_columns(regions_good=divided, speakers_good=said)
        edited = both.filter(pl.col("label") == 1)
        edited = edited.select("pair", regions_bad="regions_good", speakers_bad="speakers_good")
        pairs = both.filter(pl.col("label") == 0).join(edited, on="pair", maintain_order="left")
    names = pl.col("condition") if "condition" in rows.columns else pl.lit(task.conditions[0])
    columns = {"target": "target", "subject": "controller"}
    words = {name: pl.col(column) if column in rows.columns else pl.lit(None) for name, column in columns.items()}
    return pairs.with_columns(
        label=names.replace_strict(task.conditions, range(len(task.conditions)), return_dtype=pl.Int64),
        **{
            f"sentence_{version}": pl.col(f"regions_{version}")
            .list.eval(pl.element().filter(pl.element() != ""))
            .list.join(" ")
            for version in ("good", "bad")
        },
        region=pl.lit(task.region), **words,
    )  # fmt: skip


def _table(rows: pl.DataFrame) -> pa.Table:
    """The rows in Arrow; structs that are null in all rows are made anew, as `filter` of polars 1.35 shortens them."""
    null = (name for name, kind in rows.schema.items() if kind == pl.Struct and rows[name].null_count() == rows.height)
    return rows.with_columns(pl.lit(None, rows.schema[name]).alias(name) for name in null).to_arrow()
