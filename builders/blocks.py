"""Blocks: which parts of a corpus are sampled together, and the rows of text that a block gives.

A corpus that is not larger than a block is one block. The parts of a larger one are ordered by a hash of what they
are, and a block is a series of parts in this order with about the set amount of text. Where a block ends depends only
on the parts nearby: a new part changes its own block, and perhaps the next few (``blocks_of``).

``rows_of_block`` tells what happens in a block: candidates and sampled rows (``selection``), then the texts of the
sentences that rows show (``texts_of``), and the rows with them, with edits made (``rows_with_text``). Rows depend on
the block and the ``Context`` only.
"""

import io
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from discoprobe.builders.config import Shape, schema
from discoprobe.builders.selection import problem_of_sample, sample_tasks, select, sentences_of
from discoprobe.builders.settings import SPLITS, Settings
from discoprobe.builders.task import AnyTask, Context, ProbingTask, RelationTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import Loadable, Shard, joined
from discoprobe.loaders.errors import DiscoprobeError
from discoprobe.loaders.languages.language import LanguageData
from discoprobe.loaders.near_duplicates import Shingles
from discoprobe.loaders.process_pool import Progress, silent

Block = tuple[Loadable, ...]

SLOW_BLOCK = 2**18
"""Bytes of text in the first block of parts that take long to load, about: less is then read that is not needed, and
there is a first figure soon. Each of the next has twice the text of the one before, up to the set amount: labels are
matched in plenty of text."""

LONGEST = 2
"""A block that has this many times the set amount of text ends in any case."""

FIRST_BLOCK = 8
"""The first block has this part of the set amount of text, so that the first rows are there soon."""

NEEDED = (
    "key", "split", "corpora", "unit", "stratum", "number", "wording", "pair", "condition", "text", "edit", "target",
    "annotation", "controller", "speakers",
)  # fmt: skip
"""Columns of rows that are needed beside those of the config."""

_SPAN = pl.Struct({"start": pl.Int32, "end": pl.Int32})
_TEXTS_OF_SHAPE: dict[Shape, list[pl.Expr]] = {
    Shape.SENTENCE: [
        pl.col("sentences").list.first().alias("text"),
        pl.col("original"),
        pl.lit(None).alias("target"),
        pl.lit(None, _SPAN).alias("edit"),
        pl.lit(None, pl.Float32).alias("ipm_share"),
    ],
    Shape.PAIR: [
        pl.col("sentences").list.get(0).alias("sentence1"),
        pl.col("sentences").list.get(1).alias("sentence2"),
        pl.col("original", "removed"),
    ],
    Shape.SEQUENCE: [pl.col("sentences")],
    Shape.CANDIDATE: [
        pl.col("sentences").list.head(pl.col("sentences").list.len() - 1),
        pl.col("sentences").list.last().alias("candidate"),
    ],
    Shape.CHOICE: [
        pl.col("sentences").list.head("n_context").alias("context"),
        pl.col("sentences").list.slice("n_context").alias("choices"),
    ],
}


def fills(part: Loadable) -> bool:
    """Whether a part is read after those of the corpora, until the sizes are full."""
    return bool(getattr(part, "fills", False))


class SomeDocuments(msgspec.Struct, frozen=True):
    """A part of which only some documents are read: so many in hash order, after the first ``after`` ones."""

    part: Loadable
    n_documents: int
    seed: int
    after: int = 0

    @property
    def size(self) -> int:
        """Bytes of text of these documents, about."""
        return round(self.part.size * self.n_documents / max(self.part.n_documents, 1))

    @property
    def prepared(self) -> bool:
        """Whether the part is in memory or in the cache."""
        return self.part.prepared

    @property
    def identity(self) -> str:
        """The part, and which of its documents."""
        return f"{self.part.identity}[{self.after or ''}:{self.after + self.n_documents}]"

    def load(self) -> Shard:
        """The shard without the other documents."""
        shard = self.part.load()
        keys = shard.documents["key"].to_numpy()
        order = hashing.ranking(keys, self.seed, "documents")
        some = shard.documents[order[self.after : self.after + self.n_documents]].select("doc")
        documents, sentences, relations, rst_nodes = (
            table.join(some, on="doc", how="semi", maintain_order="left")
            for table in (shard.documents, shard.sentences, shard.relations, shard.rst_nodes)
        )
        tokens, mentions, confidence = (
            table.join(sentences, on="sent", how="semi", maintain_order="left")
            for table in (shard.tokens, shard.mentions, shard.confidence)
        )
        # a witness may have more sentences: it is asked for those of the shard
        return Shard(documents, sentences, tokens, relations, rst_nodes, mentions, confidence, shard.witness)


def blocks_of(parts: Sequence[Loadable], settings: Settings, *, soon: bool = True) -> list[Block]:
    """The blocks of a corpus in the order in which they are read; one for a small corpus.

    The order of the parts is that of a hash of their content, so that no name of a corpus or folder decides on it.
    Parts that fill the sizes (``fills``) are in blocks of their own, after all others; without them, the first block is
    small (``FIRST_BLOCK``), and a part with more text is divided.

    Args:
        parts: of the corpus.
        settings: ``block``, ``most_documents`` and the seed.
        soon: whether the first block is small.
    """
    filling = [part for part in parts if fills(part)]
    if filling and len(filling) < len(parts):
        others = [part for part in parts if not fills(part)]
        return [*blocks_of(others, settings, soon=False), *blocks_of(filling, settings, soon=False)]
    are_slow = any(getattr(part, "slow", False) for part in filling)

    def limit() -> int:
        """Bytes of text of the next block."""
        return min(settings.block, SLOW_BLOCK << len(blocks)) if are_slow else settings.block

    ordered = sorted(parts, key=lambda part: (hashing.digest(settings.seed, "part", part.identity), part.identity))
    if settings.most_documents is not None:
        first: list[Loadable] = []
        missing = settings.most_documents
        for part in ordered:
            if missing > 0:
                first.append(part if part.n_documents <= missing else SomeDocuments(part, missing, settings.seed))
            missing -= part.n_documents
        ordered = first
    blocks: list[Block] = []
    if sum(part.size for part in ordered) <= limit():
        return [tuple(ordered)]
    block: list[Loadable] = []
    size = 0
    soon = soon and not filling
    if soon:
        ordered[:1] = _divided(ordered[0], settings.block // FIRST_BLOCK, settings.seed)
    for part in ordered:
        block.append(part)
        size += part.size
        may_end = part.size >= limit() or hashing.digest(settings.seed, "ends", part.identity) % 2 == 0
        longest = settings.block // FIRST_BLOCK if soon and not blocks else LONGEST * limit()
        if (size >= limit() and may_end) or size >= longest:
            blocks.append(tuple(block))
            block, size = [], 0
    return [*blocks, tuple(block)] if block else blocks


def _divided(part: Loadable, size: int, seed: int) -> list[Loadable]:
    """Documents of a part with about ``size`` bytes of text, and its other documents; the part if it is not larger."""
    n_documents = -(-part.n_documents * size // max(part.size, 1))
    if n_documents >= part.n_documents or isinstance(part, SomeDocuments):
        return [part]
    others = SomeDocuments(part, part.n_documents - n_documents, seed, n_documents)
    return [SomeDocuments(part, n_documents, seed), others]


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


class BlockRows(msgspec.Struct, frozen=True):
    """What a block gives.

    Attributes:
        of_task: the samples by task: rows with text, or the reason for no rows.
        shingles: of all its sentences.
        splits: for each sentence the number of the split of its document; -1 if it has none, or is a short one, which
            may recur.
        n_words: number of words in the block.
        owners: for each sentence the key of the first one of its document, or its own outside documents: a block that
            has the same has a copy.
    """

    of_task: Mapping[str, Sample]
    shingles: Shingles
    splits: npt.NDArray[np.int8]
    n_words: int
    owners: hashing.Keys


def rows_of_block(
    block: Block, tasks: Sequence[AnyTask], context: Context, executor: Executor | None = None,
    progress: Progress = silent,
) -> BlockRows:  # fmt: skip
    """The rows of some tasks in a block.

    Args:
        block: parts of the corpus.
        tasks: either relation tasks only, or none of them.
        context: what holds for all tasks and blocks.
        executor: of a small corpus, parts and tasks can be divided among workers; a block of a larger one is the work
            of one.
        progress: called with the parts whose candidates are selected, and the tasks whose rows are chosen.

    Raises:
        DiscoprobeError: a part of the block cannot be read.
    """
    parts = block if context.small else load(block)
    candidates = select(tasks, parts, context, executor, progress)
    samples = sample_tasks(tasks, candidates, context, executor, progress)
    shown = [sentences_of(*each) for each in zip(tasks, samples, strict=True)]
    texts = texts_of(shown, candidates.every, parts, executor)
    of_task = {}
    for task, sample in zip(tasks, samples, strict=True):
        rows, labels, reason = sample.rows, sample.labels, sample.reason
        if context.small:  # its sample is the config
            labels, reason = task.labels or labels, problem_of_sample(task, sample)
        if not rows.is_empty() and not reason:
            rows = rows_with_text(task, sample, texts, context.language)
            rows = compact(rows.select(name for name in rows.columns if name in {*schema(task.shape).names, *NEEDED}))
        of_task[task.name] = replace(
            sample, rows=rows, labels=labels, reason=reason, frame=pl.DataFrame(),
            drops=sample.drops.with_ids(sample.frame),
        )  # fmt: skip
    splits = np.full(candidates.every.height, -1, np.int8)
    if not candidates.sentences.is_empty():
        codes = {split: code for code, split in enumerate(SPLITS)}
        long = candidates.sentences.filter("long").select("shard", "sent", split=pl.col("split").cast(pl.String))
        every = candidates.every.join(long, on=["shard", "sent"], how="left", maintain_order="left")
        splits = every["split"].replace_strict(codes, default=-1, return_dtype=pl.Int8).to_numpy()
    owners = candidates.every["owner"].to_numpy()
    return BlockRows(of_task, candidates.shingles, splits, candidates.n_words, owners)


def compact(rows: pl.DataFrame) -> pl.DataFrame:
    """The same rows with strings of their own: those of polars are views, which keep all texts of a block in memory."""
    stored = io.BytesIO()
    rows.write_ipc(stored, compat_level=pl.CompatLevel.oldest())
    return pl.read_ipc(stored.getvalue())


def texts_of(
    shown: Sequence[pl.DataFrame], every: pl.DataFrame, parts: Sequence[Loadable], executor: Executor | None
) -> pl.DataFrame:
    """The sentences that rows show: ``shard``, ``sent``, ``text``, ``speaker``, and ``number``, the place in ``every``.

    Args:
        shown: ``sentences_of`` all samples.
        every: all sentences of the block in order: ``shard`` and ``sent``.
        parts: of the block.
        executor: reads the parts.
    """
    sentences = pl.concat([every.select("shard", "sent").clear(), *shown]).unique()
    numbered = every.select("shard", "sent").with_row_index("number")
    numbered = numbered.join(sentences, on=["shard", "sent"], how="semi", maintain_order="left")
    of_parts = [numbered.filter(pl.col("shard") == n) for n in range(len(parts))]
    texts = (executor.map if executor and len(parts) > 1 else map)(_texts_of_part, parts, of_parts)
    return pl.concat([_texts_of_part(None, numbered.clear()), *texts])


def _texts_of_part(part: Loadable | None, numbered: pl.DataFrame) -> pl.DataFrame:
    if part is None or numbered.is_empty():
        return numbered.with_columns(text=pl.lit(""), speaker=pl.lit(None, pl.String))
    sentences = part.load().sentences.select("sent", "text", "speaker")
    return numbered.join(sentences, on="sent", how="left", maintain_order="left")


def rows_with_text(task: AnyTask, sample: Sample, texts: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """All rows of a sample with the columns of the task's shape.

    Beside them are ``key``, ``split``, ``corpora``, ``number`` (of the sentences shown), ``unit`` (equal for rows that
    go together) and ``stratum`` (the counts of labels are equal inside each of its values; null for no stratum).

    Args:
        task: whose rows they are.
        sample: at least one row, and the candidates.
        texts: what ``texts_of`` returned.
        language: knows its capitals.
    """
    rows = sample.rows
    unit = "ring" if "ring" in rows.columns else pl.coalesce("pair", "key")
    stratum = next((name for name in ("stratum", "cell") if name in rows.columns), None)
    rows = rows.with_columns(unit=unit, stratum=pl.col(stratum).cast(pl.String) if stratum else pl.lit(None, pl.String))
    if isinstance(task, ProbingTask):
        rows = _sentence_rows(task, rows, texts)
    elif isinstance(task, RelationTask):
        rows = rows.with_columns(sent_ids="ids", corpora=pl.concat_list("corpus"))
    else:
        rows = _sequence_rows(task, rows, sample.frame, texts, language)
    return rows.with_columns(id=hashing.as_text("key"), pair_id=hashing.as_text("pair"))


def _sentence_rows(task: ProbingTask, rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Rows of one sentence (they are candidates themselves), edited where the row says so.

    ``target`` is the probed word. Edited rows have the ``original``; both versions have ``edit``, the place of the edit
    in the text that the row shows, so that both can be scored by region.
    """
    rows = rows.join(texts, on=["shard", "sent"], how="left", maintain_order="left")
    if "ipm_share" not in rows.columns:
        rows = rows.with_columns(ipm_share=pl.lit(None, pl.Float32))
    if task.edit is None:
        rows = rows.with_columns(original=pl.lit(None, pl.String), edit=pl.lit(None, _SPAN))
    else:
        versions: list[tuple[str, str | None, dict[str, int]]] = []
        for text, edited, plan in rows.select("text", "edited", "plan").iter_rows():
            edit = task.edit(text, plan)
            if edited:
                new = text[: edit.start] + edit.replacement + text[edit.end :]
                versions.append((new, text, {"start": edit.start, "end": edit.start + len(edit.replacement)}))
            else:
                versions.append((text, None, {"start": edit.start, "end": edit.end}))
        columns: dict[str, pl.DataType | type[pl.DataType]] = {"text": pl.String, "original": pl.String, "edit": _SPAN}
        rows = rows.drop("text").hstack(pl.DataFrame(versions, schema=columns, orient="row"))
    word = pl.struct(
        start="target_start", end="target_end", form="target_form", lemma="target_lemma", upos="target_upos"
    )
    return rows.with_columns(
        sent_ids=pl.concat_list("sent_id"), corpora=pl.concat_list("corpus"), number=pl.concat_list("number"),
        target=pl.when(pl.col("target_form").is_not_null()).then(word),
    )  # fmt: skip


def _sequence_rows(
    task: AnyTask, rows: pl.DataFrame, frame: pl.DataFrame, texts: pl.DataFrame, language: LanguageData
) -> pl.DataFrame:
    """Rows of several sentences.

    If the rows have ``trim``, the last sentence loses so many characters at its beginning and then begins with a
    capital; ``original`` is this sentence as it was, ``removed`` what it lost.
    """
    facts = frame.select(pl.col("row").cast(pl.Int64), "shard", "sent", "sent_id", "corpus").join(
        texts, on=["shard", "sent"], how="left", maintain_order="left"
    )
    extra = [name for name in ("trim", "n_context") if name in rows.columns]
    sequences = (
        rows.select("key", row="members")
        .explode("row")
        .join(facts, on="row", how="left", maintain_order="left")
        .group_by("key", maintain_order=True)
        .agg("number", sent_ids="sent_id", sentences="text", corpora="corpus", speakers="speaker")
        .join(rows.select("key", *extra), on="key", maintain_order="left")
        .with_columns(original=pl.lit(None, pl.String), removed=pl.lit(None, pl.String))
    )
    if "trim" in extra:
        pairs = list(sequences.select("sentences", "trim").iter_rows())
        trimmed = [[*sentences[:-1], language.capitalise(sentences[-1][trim:])] for sentences, trim in pairs]
        sequences = sequences.with_columns(
            sentences=pl.Series(trimmed, dtype=pl.List(pl.String)),
            original=pl.Series([sentences[-1] for sentences, _ in pairs], dtype=pl.String),
            removed=pl.Series([sentences[-1][:trim].rstrip() for sentences, trim in pairs], dtype=pl.String),
        )
    named = pl.when(pl.col("speakers").list.drop_nulls().list.len() > 0).then("speakers")
    texts_of_shape = sequences.select(
        "key", "sent_ids", "corpora", "number", *_TEXTS_OF_SHAPE[task.shape], speakers=named
    )
    places = frame.select(pl.col("row").cast(pl.Int64), "corpus", "doc_id", group=hashing.as_text("doc_key"))
    return rows.join(places, on="row", how="left", maintain_order="left").join(
        texts_of_shape, on="key", maintain_order="left"
    )
