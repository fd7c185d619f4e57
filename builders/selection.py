"""What is chosen in a block: the candidates of its parts, and of these the rows of each task.

``hindrance`` says before whether a corpus can support a task at all. ``select`` asks the tasks for the candidates of
every part; only small columns leave a part: keys, labels, offsets and hashes, no text. ``sample_tasks`` chooses the
rows of each task; its result, a ``Sample``, still refers to sentences by number. ``merge`` puts the candidates of
several blocks together, for decisions that need more than one block.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import TypeVar

import msgspec
import numpy as np
import polars as pl
import scipy  # a part of it is loaded when it is first used, which takes a third of a second
from msgspec import field
from msgspec.structs import replace

from discoprobe.builders import genres
from discoprobe.builders.config import (
    DISCOURSE_ROWS,
    PROBING_CANDIDATES,
    PROBING_ROWS,
    RELATION_CANDIDATES,
    RELATION_ROWS,
    SHAPE_ROWS,
    checked,
)
from discoprobe.builders.drops import COPY, FILTERS, Drops
from discoprobe.builders.passages import windows
from discoprobe.builders.passages.similarity import Similarity
from discoprobe.builders.sampling.splits import Split, corrected_shares, test_first
from discoprobe.builders.sentences import candidates as sentence_candidates
from discoprobe.builders.sentences import confidence, frequency_filter, syncretism
from discoprobe.builders.sentences.frequency_filter import Frequencies
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import MIN_ROWS, SHARES, SPLITS, Settings
from discoprobe.builders.task import AnyTask, Context, DiscourseTask, ProbingTask, RelationTask, Sample, unsupported
from discoprobe.loaders import near_duplicates
from discoprobe.loaders.corpus import Counts, Loadable, Shard
from discoprobe.loaders.hashing import hashed
from discoprobe.loaders.near_duplicates import Shingles
from discoprobe.loaders.process_pool import Progress, one_thread, silent
from discoprobe.loaders.words import running_words

T = TypeVar("T")

_COLUMNS = {ProbingTask: PROBING_ROWS, DiscourseTask: DISCOURSE_ROWS, RelationTask: RELATION_ROWS}
"""What ``sample`` returns for a kind of task."""

ATTEMPTS = 4
"""Times that a probing task is sampled at most, each time with other shares of the splits."""

MANY = 5_000
"""Least number of sentences for which workers sample; fewer are sampled faster than a worker starts."""

SKETCH, VERSION_WORDS = 12, 0.25
"""Words of a sentence, chosen by hash, that are compared with those of another one with the same id; and the share of
them that versions have in common. Learners and those who correct them have most words in common."""

OWNED = ["shard", "doc"]
"""What tells copies of a document, or of a sentence outside documents, from each other."""

LOSSES = 4
"""Reasons for drops that a message names."""

NO_TEXT = {
    genres.REASON: "the documents are speech, verse or examples, which --set genres=all takes",
    "near-copies": "the documents are no prose: many neighbours are near copies of each other, as in lists of examples",
    "unrelated": "the documents are no texts: neighbours in them are no closer to each other than random sentences",
}
"""Reasons that a whole corpus may have, and the message that says so."""


class Candidates(msgspec.Struct, frozen=True):
    """What the tasks can sample from, over a whole block; first of each of its parts.

    Attributes:
        of_task: the candidates of each probing task, with ``shard``, ``cluster`` and ``row``; of each relation task,
            with ``corpus``, ``doc_id``, ``doc_key`` and ``row``. In a part without ``shard``, ``cluster`` and ``row``.
        sentences: the sentences of documents, as ``windows.with_passages`` gives, in a part as ``windows.sentences``
            does; empty without a discourse task.
        similarity: of ``sentences``.
        marks: what each discourse task with ``mark`` says of the sentences.
        forms: the word forms of the block, for the syncretism filter.
        notes: what a card says of the candidates of probing tasks.
        every: all sentences in order: ``shard``, ``sent``, ``doc``, ``owner`` (the key of the first sentence of its
            document in the shard; of a sentence outside documents, its own), and the ``cluster`` of near duplicates.
        copies: candidates that were left out, because their document or relation is there twice, by task; with
            ``corpus`` and ``sent_ids``.
        shingles: what is compared of these sentences with those of other blocks.
        n_words: number of words of these sentences.
        coverage: of a part that of the frequency list.
    """

    of_task: dict[str, pl.DataFrame]
    sentences: pl.DataFrame = field(default_factory=pl.DataFrame)
    similarity: Similarity | None = None
    marks: dict[str, pl.DataFrame] = field(default_factory=dict)
    forms: pl.DataFrame = field(default_factory=pl.DataFrame)
    notes: tuple[str, ...] = ()
    every: pl.DataFrame = field(
        default_factory=pl.DataFrame(
            schema={
                **dict.fromkeys(("shard", "sent", "doc"), pl.UInt32),
                "owner": pl.UInt64,
                "cluster": pl.UInt32,
            }
        ).clone
    )
    copies: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    shingles: Shingles = field(default_factory=lambda: near_duplicates.together([]))
    n_words: int = 0
    coverage: pl.DataFrame = field(default_factory=pl.DataFrame)

    def frame(self, task: AnyTask) -> pl.DataFrame:
        """The candidates of one task."""
        if isinstance(task, (ProbingTask, RelationTask)):
            return self.of_task[task.name]
        if task.name in self.marks:
            return self.sentences.join(self.marks[task.name], on=["shard", "sent"], how="left", maintain_order="left")
        return self.sentences

    def only(self, task: ProbingTask) -> "Candidates":
        """What the sample of one probing task needs, for another process."""
        frames = {task.name: self.of_task[task.name]}
        copies = {task.name: self.copies[task.name]} if task.name in self.copies else {}
        return Candidates(frames, forms=self.forms, notes=self.notes, copies=copies)


def hindrance(task: AnyTask, context: Context) -> str:
    """Why the corpus or its language cannot support a task; empty if they may."""
    if not context.n_sentences and not isinstance(task, RelationTask):
        return "the corpus has no sentences, only trees"
    if context.sources and all(source.name in context.silver for source in context.sources):
        annotation = context.sources[0].annotation or {}
        figures = annotation["silver"].get(task.name)
        if figures and task.name not in context.trust:
            return f"of {figures['n']} of its labels in treebanks the automatic annotation has {figures['wrong']} wrong"
        if "unjudged" in annotation and isinstance(task, ProbingTask):
            return f"nothing shows which labels of the automatic annotation are right: {annotation['unjudged']}"
    return unsupported(task, context.layers, context.language)


def over_parts(
    step: Callable[..., T], parts: Sequence[Loadable], executor: Executor | None, *arguments: object
) -> Iterator[T]:
    """``step(part, *arguments)`` for every part, in order; without an executor, or for a single part, here."""
    columns = [[argument] * len(parts) for argument in arguments]
    return (executor.map if executor and len(parts) > 1 else map)(step, parts, *columns)


def frequencies_of(
    tasks: Sequence[AnyTask], parts: Sequence[Loadable], context: Context, executor: Executor | None
) -> Frequencies | None:
    """The word frequency list that tasks use; None without a probing task, or if there is no list of the language."""
    if not any(isinstance(task, ProbingTask) for task in tasks):
        return None
    return frequency_filter.frequencies(
        context.settings, context.language, lambda: over_parts(frequency_filter.counted, parts, executor)
    )


def select(
    tasks: Sequence[AnyTask], parts: Sequence[Loadable], context: Context, executor: Executor | None = None,
    progress: Progress = silent,
) -> Candidates:  # fmt: skip
    """The candidates of tasks that the corpus supports.

    Args:
        tasks: what is built; either relation tasks only, or none of them.
        parts: of one block; shards in memory, if it is not the only one.
        context: what holds for all tasks and blocks.
        executor: runs the steps over parts; without one they run here.
        progress: called with the number of parts whose candidates are selected.
    """
    settings = context.settings
    if any(isinstance(task, RelationTask) for task in tasks):
        relations = list(over_parts(_relations_of_part, parts, executor, tuple(tasks), context))
        frames, copies = {}, {}
        for task in tasks:
            frame = _stack([of_part[task.name] for of_part in relations])
            frame = _without_genres(frame, task, context).drop("genre")
            # the one that can be used, else the one in the last of the published splits
            worth = pl.col("reason").null_count(), pl.col("native").cast(Split).first()
            single = _without_copies(frame, "key", ["shard", "at"], *worth)
            frames[task.name] = single.with_row_index("row")
            copies[task.name] = frame.join(single, on=["shard", "at"], how="anti").select("corpus", sent_ids="ids")
        return Candidates(frames, copies=copies)
    probing = [task for task in tasks if isinstance(task, ProbingTask)]
    frequencies = context.frequencies if probing else None
    of_parts: list[Candidates] = []
    for of_part in over_parts(candidates_of_part, parts, executor, tuple(tasks), context):
        of_parts.append(of_part)
        progress(f"selecting candidates of {context.language.code}: parts", len(of_parts), len(parts))
    shingles = near_duplicates.together([of_part.shingles for of_part in of_parts])
    every = _stack([of_part.every for of_part in of_parts]).with_columns(near_duplicates.clusters(shingles))
    every = _with_versions(every)
    layers = context.layers
    if probing and not context.small:  # the card of a config says which words each block had
        layers = sum((part.counts() for part in parts if isinstance(part, Shard)), Counts()).present()
    coverage = [of_part.coverage for of_part in of_parts]
    covered, notes = frequency_filter.covered_corpora(coverage, frequencies, settings, layers)
    of_documents = [of_part.sentences for of_part in of_parts if of_part.sentences.width]
    sentences, copies = pl.DataFrame(), dict[str, pl.DataFrame]()
    if of_documents:
        frame = _stack(of_documents).join(every, on=["shard", "sent"], how="left", maintain_order="left")
        single = _without_copies(frame, "owner", OWNED, pl.col("annotated").sum())
        of_discourse = _lost_copies(frame, single)
        copies = {task.name: of_discourse for task in tasks if isinstance(task, DiscourseTask)}
        single = single.with_columns(reason=pl.coalesce("reason", pl.when("later_version").then(pl.lit("version"))))
        sentences = windows.with_passages(
            single.drop("doc", "owner", "annotated", "later_version"),
            settings,
            by_hash=not context.small,
            unsuited=genres.unsuited(context.sources, settings, "passages"),
            examples=genres.may_be_examples(context.sources, settings),
        )
    of_task = {}
    for task in probing:
        frame = _stack([of_part.of_task[task.name] for of_part in of_parts])
        frame = frequency_filter.filtered(frame, covered, settings)
        if task.edit is not None:  # an edit of such a text is no edit of what people write
            unnatural = pl.when(pl.col("corpus").is_in(sorted(context.tokenised))).then(pl.lit("tokenised"))
            frame = frame.with_columns(reason=pl.coalesce("reason", unnatural))
        frame = _without_genres(frame, task, context).drop("genre")
        frame = frame.join(every, on=["shard", "sent"], how="left", maintain_order="left")
        single = _without_copies(frame, "owner", OWNED, pl.col("reason").null_count())
        copies[task.name] = _lost_copies(frame, single)
        of_task[task.name] = single.drop("doc", "owner", "later_version").with_row_index("row")
    return Candidates(
        of_task=of_task,
        sentences=sentences,
        similarity=Similarity(sentences),
        marks={
            task.name: _stack([of_part.marks[task.name] for of_part in of_parts])
            for task in tasks
            if isinstance(task, DiscourseTask) and task.mark
        },
        forms=syncretism.merged([of_part.forms for of_part in of_parts if of_part.forms.width]),
        notes=notes,
        every=every,
        copies=copies,
        shingles=shingles,
        n_words=sum(of_part.n_words for of_part in of_parts),
    )


def candidates_of_part(part: Loadable, tasks: tuple[AnyTask, ...], context: Context) -> Candidates:
    """The candidates of one part, of probing and discourse tasks."""
    shard, language, settings = part.load(), context.language, context.settings
    probing = [task for task in tasks if isinstance(task, ProbingTask)]
    discourse = [task for task in tasks if isinstance(task, DiscourseTask)]
    trees, of_task, coverage = Trees(shard), {}, pl.DataFrame()
    witness = shard.witness
    witnessed = candidates_of_part(witness, tuple(probing), replace(context, trust={})).of_task if witness else {}
    if probing:
        described = frequency_filter.with_ipm(
            sentence_candidates.sentences(trees, settings), trees, context.frequencies
        )
        coverage = frequency_filter.coverage(described)
        for task in probing:
            selected = task.select(trees, context.of_task(task))
            selected = selected.with_columns(pl.col("^label$").cast(pl.String))
            checked(selected, PROBING_CANDIDATES, f"{task.place}: select")
            of_task[task.name] = sentence_candidates.candidates(selected, trees, described)
            if witness is not None:
                texts, of_witness = (of.sentences.select("sent", "text") for of in (shard, witness))
                of_task[task.name] = confidence.without_contradicted(
                    of_task[task.name], texts, witnessed[task.name], of_witness
                )
            if task.name in context.trust:
                of_task[task.name] = confidence.without_unfilled(of_task[task.name], context.trust[task.name])
            if task.name in context.trust and not context.silver.isdisjoint(shard.documents["corpus"]):
                of_task[task.name] = confidence.without_doubtful(of_task[task.name], trees, context.trust[task.name])
    return Candidates(
        of_task=of_task,
        sentences=windows.sentences(shard, settings) if discourse else pl.DataFrame(),
        marks={task.name: task.mark(shard, language) for task in discourse if task.mark},
        forms=syncretism.forms(trees) if any(syncretism.wanted(task, settings) for task in probing) else pl.DataFrame(),
        coverage=coverage,
        every=_with_owners(shard),
        shingles=near_duplicates.shingles(shard.sentences["text"]),
        n_words=int(shard.sentences["n_words"].sum()),
    )


def _relations_of_part(part: Loadable, tasks: tuple[RelationTask, ...], context: Context) -> dict[str, pl.DataFrame]:
    """The candidates of one part by task, with the corpus and the id of their document.

    Relations are few, so that their texts come along.
    """
    shard = part.load()
    documents = shard.documents.select("doc", "corpus", "doc_id", "genre", doc_key="key")
    of_task = {}
    for task in tasks:
        selected = task.select(shard, context.of_task(task))
        checked(selected, RELATION_CANDIDATES, f"{task.place}: select")
        of_task[task.name] = selected.join(documents, on="doc", maintain_order="left").with_row_index("at")
    return of_task


def _without_genres(frame: pl.DataFrame, task: AnyTask, context: Context) -> pl.DataFrame:
    """Candidates of a task on edits, or a suite, with the reason where they are of a genre that it does not take."""
    if not (task.conditions or (task.pairs and isinstance(task, ProbingTask))):
        return frame
    use: genres.Use = "suites" if isinstance(task, DiscourseTask) else "edits"
    unsuited = genres.unsuited(context.sources, context.settings, use)
    frame = frame.with_columns(reason=pl.coalesce("reason", unsuited))
    if "passage" in frame.columns:
        return frame.with_columns(pl.when(pl.col("reason").is_null()).then("passage"))
    return frame


def _with_owners(shard: Shard) -> pl.DataFrame:
    """``sent``, ``doc`` and ``owner`` (as `Candidates.every` has them) of all sentences of a shard in order."""
    named = shard.documents.drop_nulls("doc_id").select("doc")
    first = (
        shard.sentences.join(named, on="doc", how="semi")
        .group_by("doc")
        .agg(owner=pl.col("key").get(pl.col("index").arg_min()))
    )
    corpora = shard.documents.select("doc", "corpus")
    sentences = shard.sentences.select("sent", "doc", "key", "sent_id", sketch=running_words(pl.col("text")))
    sketch = pl.col("sketch").list.eval(hashed(pl.element()))
    sentences = sentences.with_columns(sketch.list.unique().list.sort().list.head(SKETCH))
    sentences = sentences.join(first, on="doc", how="left", maintain_order="left")
    sentences = sentences.join(corpora, on="doc", how="left", maintain_order="left")
    return sentences.select(
        "sent", "doc", pl.coalesce("owner", "key").alias("owner"),
        hashed(pl.concat_str("corpus", "sent_id", separator=" ")).alias("named"), "sketch",
    )  # fmt: skip


def _with_versions(every: pl.DataFrame) -> pl.DataFrame:
    """All sentences, of which the versions of one are in one cluster; ``later_version`` is true of all but the first.

    Versions, such as the text of a learner and its correction, are sentences of a treebank that have the same id and
    many words in common. Ids that number the sentences of each file are the same by chance, and the words are not.
    """
    several = every.with_row_index("at").filter(pl.col("named").is_duplicated())
    first = several.unique("named", keep="first", maintain_order=True).select(
        "named", first="at", into="cluster", words="sketch"
    )
    pairs = several.join(first, on="named", maintain_order="left").filter(pl.col("at") != pl.col("first"))
    both = pl.col("sketch").list.set_intersection("words").list.len()
    pairs = pairs.filter(both >= VERSION_WORDS * pl.max_horizontal(pl.col("sketch", "words").list.len()))
    every = every.with_columns(later_version=pl.int_range(pl.len(), dtype=pl.UInt32).is_in(pairs["at"].implode()))
    if pairs.height:
        edges = np.ones(pairs.height), (pairs["cluster"].to_numpy(), pairs["into"].to_numpy())
        graph = scipy.sparse.coo_array(edges, shape=(every.height, every.height))
        _, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
        smallest = pl.DataFrame({"cluster": every["cluster"], "component": component[every["cluster"].to_numpy()]})
        every = every.with_columns(smallest.select(pl.col("cluster").min().over("component")).to_series())
    return every.drop("named", "sketch")


def _without_copies(frame: pl.DataFrame, same: str, copy: Sequence[str], *worth: pl.Expr) -> pl.DataFrame:
    """The rows without the further copies of what is there several times.

    Args:
        frame: the rows.
        same: the column that all copies have in common.
        copy: the columns that tell one copy from another; the first one in their order is used.
        worth: of the rows of a copy; given, the one with the largest is used, of equal ones the first.
    """
    values = [value.alias(f"_worth{n}") for n, value in enumerate(worth)]
    names, descending = [f"_worth{n}" for n in range(len(worth))], [True] * len(worth) + [False] * len(copy)
    copies = frame.group_by(same, *copy).agg(*values).sort(*names, *copy, descending=descending, nulls_last=True)
    used = copies.unique(same, keep="first", maintain_order=True)
    if used.height == copies.height:
        return frame
    return frame.join(used, on=[same, *copy], how="semi", maintain_order="left")


def _lost_copies(frame: pl.DataFrame, single: pl.DataFrame) -> pl.DataFrame:
    """What a frame has beside ``single``: ``corpus`` and ``sent_ids``."""
    if single.height == frame.height:
        return pl.DataFrame(schema={"corpus": pl.String, "sent_ids": pl.List(pl.String)})
    others = frame.join(single, on=["owner", *OWNED], how="anti", maintain_order="left")
    return others.select("corpus", sent_ids=pl.concat_list("sent_id"))


def _stack(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The frames of all parts in one, with the number of the part as ``shard``."""
    return pl.concat([frame.with_columns(shard=pl.lit(n, pl.UInt32)) for n, frame in enumerate(frames)])


def merge(blocks: Sequence[Candidates], tasks: Sequence[AnyTask]) -> Candidates:
    """The candidates of tasks in several blocks as those of one; near duplicates between blocks are not looked for."""
    shards = np.cumsum([0, *(block.every["shard"].n_unique() for block in blocks)])
    sentences = np.cumsum([0, *(block.every.height for block in blocks)])
    offsets = [{"shard": shards[n], "cluster": sentences[n], "passage": sentences[n]} for n in range(len(blocks))]

    def together(frames: list[pl.DataFrame]) -> pl.DataFrame:
        moved = [
            frame.with_columns(
                (pl.col(name) + n).cast(frame.schema[name]) for name, n in of_block.items() if name in frame.columns
            )
            for frame, of_block in zip(frames, offsets, strict=True)
            if frame.width
        ]
        return pl.concat(moved).drop("row", strict=False).with_row_index("row") if moved else pl.DataFrame()

    def together_once(frames: list[pl.DataFrame]) -> pl.DataFrame:
        """Of what several blocks have, only that of the first."""
        stacked = together([frame.with_columns(_block=n) if frame.width else frame for n, frame in enumerate(frames)])
        if not stacked.width:
            return stacked
        return _without_copies(stacked, "key", ["_block"]).drop("_block", "row").with_row_index("row")

    return replace(
        blocks[0],
        of_task={
            task.name: together_once([block.of_task[task.name] for block in blocks])
            for task in tasks
            if isinstance(task, ProbingTask)
        },
        sentences=together_once([block.sentences for block in blocks]),
        similarity=None,
        marks={
            task.name: together([block.marks[task.name] for block in blocks]).drop("row")
            for task in tasks
            if isinstance(task, DiscourseTask) and task.mark
        },
        forms=syncretism.merged([block.forms for block in blocks]),
    )


def sentences_of(task: AnyTask, sample: Sample) -> pl.DataFrame:
    """Every sentence that a row shows: ``shard``, ``sent``; none of relations, whose rows have their texts."""
    rows = sample.rows
    if rows.is_empty() or isinstance(task, RelationTask):
        return pl.DataFrame(schema={"shard": pl.UInt32, "sent": pl.UInt32})
    numbers = rows["members"].explode() if "members" in rows.columns else rows["row"]
    return sample.frame.select("shard", "sent")[numbers.unique().drop_nulls().to_list()]


def problem_of_sample(task: AnyTask, sample: Sample) -> str:
    """Why the rows make no config: there are none, there is one class, or a split lacks one; empty if they do."""
    if not sample.reason and not sample.rows.is_empty():
        labels, used = task.labels or sample.labels, sample.labels or task.labels
        missing = problem_of(sample.rows, labels, used, task.splits)
        if missing and isinstance(task, DiscourseTask):
            n_documents = sample.frame.drop_nulls("passage")["doc_key"].n_unique()
            if n_documents < len(SPLITS):
                words = f"passages are in {n_documents} of the documents; each of the three splits needs one of its own"
                return "; ".join([words, *no_text_notes(sample.frame)])
        return missing
    too_short = _too_short(sample.frame, task.least) if isinstance(task, DiscourseTask) else ""
    return (sample.reason or too_short or "no candidates are left") + losses(sample.drops.counts)


def _too_short(frame: pl.DataFrame, least: int) -> str:
    """The message that no document, or no passage, has enough sentences for the task; empty if one has."""
    reasons = frame["reason"].drop_nulls()
    refused = {reason: int((reasons == reason).sum()) for reason in NO_TEXT}
    if frame.height == sum(refused.values()):
        return "; ".join(f"{NO_TEXT[reason]} ({n:,} sentences)" for reason, n in refused.items() if n)
    longest = frame.group_by("doc_key").len()["len"].max()
    if isinstance(longest, int) and longest < least:
        return f"documents have at most {longest} sentences; {least} are needed"
    passages = frame.drop_nulls("passage").group_by("passage").len()["len"]
    unbroken = passages.max() if len(passages) else 0
    if isinstance(unbroken, int) and unbroken < least:
        ends = losses(dict(Counter(reasons.to_list())), "sentences that end a passage")
        return f"passages of sentences that can be shown have at most {unbroken}; {least} are needed{ends}"
    return ""


def no_text_notes(frame: pl.DataFrame) -> tuple[str, ...]:
    """A note on the documents that are no text, for the card: which, why, and how many sentences; or none."""
    refused = frame.filter(pl.col("reason").is_in(list(NO_TEXT)))
    if refused.is_empty():
        return ()
    sizes = refused.group_by("corpus", "doc_id", "reason").agg(n=pl.len())
    sizes = sizes.sort("n", "corpus", "doc_id", descending=[True, False, False])
    named = ", ".join(f"{doc} of {corpus} ({reason}, {n:,})" for corpus, doc, reason, n in sizes.head(LOSSES).rows())
    further = sizes[LOSSES:]
    more = f", and {further.height:,} more ({further['n'].sum():,})" if further.height else ""
    return (f"Documents that are not used because they are no text, or of a genre that is not used: {named}{more}",)


def losses(drops: Mapping[str, int], name: str = "lost") -> str:
    """The largest numbers of drops by reason, for the end of a message; empty where nothing was dropped."""
    largest = sorted(((n, reason) for reason, n in drops.items() if n), reverse=True)[:LOSSES]
    return f"; {name}: " + ", ".join(f"{reason} {n}" for n, reason in largest) if largest else ""


def problem_of(
    rows: pl.DataFrame, labels: tuple[str, ...], used: tuple[str, ...], splits: tuple[str, ...] = SPLITS
) -> str:
    """Why rows with ``label`` and ``split`` make no config; empty if they do.

    Args:
        rows: at least one.
        labels: the names that ``label`` indexes.
        used: the names that every split must have.
        splits: those that the config has.
    """
    if len(used) < 2:  # noqa: PLR2004 (a classification has two classes)
        return f"one class only: {used[0]}"
    for split in splits:
        present = [labels[index] for index in rows.filter(pl.col("split") == split)["label"].unique()]
        if missing := [name for name in used if name not in present]:
            sizes = ", ".join(f"{name} {(rows['split'] == name).sum()}" for name in splits)
            return f"{split} has no row of {', '.join(missing)} (rows: {sizes}); more text would give it some"
    return ""


def sample_tasks(
    tasks: Sequence[AnyTask], candidates: Candidates, context: Context, executor: Executor | None,
    progress: Progress = silent,
) -> list[Sample]:  # fmt: skip
    """The sample of each task in a block; the executor makes those of probing tasks, while the others are made here.

    Without an executor, and for a small block, everything is done here.
    """
    settings = context.settings if context.small else context.settings.within_block()
    choosing = f"choosing rows of {context.language.code}: tasks"
    if executor is None or candidates.every.height < MANY:
        made = list[Sample]()
        for task in tasks:
            progress(choosing, len(made), len(tasks))
            made.append(sample(task, candidates, context, settings))
        progress(choosing, len(tasks), len(tasks))
        return made
    begun = {
        task.name: executor.submit(sample, task, candidates.only(task), context, settings)
        for task in tasks
        if isinstance(task, ProbingTask)
    }
    here: dict[str, Sample] = {}
    for task in tasks:
        if task.name not in begun:
            progress(choosing, len(here) + sum(future.done() for future in begun.values()), len(tasks))
            here[task.name] = sample(task, candidates, context, settings)
    samples = [begun[task.name].result() if task.name in begun else here[task.name] for task in tasks]
    progress(choosing, len(tasks), len(tasks))
    return samples


def sample(task: AnyTask, candidates: Candidates, context: Context, settings: Settings) -> Sample:
    """The rows of a task.

    Args:
        task: what is built.
        candidates: what ``select`` returned.
        context: what holds for all tasks and blocks.
        settings: those of the context, with the sizes and least numbers that hold for these candidates.
    """
    shares, wanted_sizes = context.shares.get(task.name, context.settings.shares), context.settings.sizes
    settings = task.sized(settings)
    context = replace(context.of_task(task, settings), similarity=candidates.similarity)
    frame = candidates.frame(task)
    notes: tuple[str, ...] = tuple(filter(None, [task.note])) if isinstance(task, RelationTask) else ()
    if isinstance(task, DiscourseTask):
        notes = no_text_notes(frame)
    if isinstance(task, ProbingTask):
        notes = candidates.notes
        frame = syncretism.with_reasons(frame, task, candidates.forms, context.language, settings)
    if frame.is_empty():
        reason = "no sentence is what the task asks for"
        if isinstance(task, ProbingTask) and task.feature:
            reason = f"no word that the task asks for has {task.feature}"
        return Sample(pl.DataFrame(), reason=reason, frame=frame, notes=notes)
    with one_thread():
        if isinstance(task, ProbingTask):
            if context.small or (context.gold_blocks and task.split_by == "target"):
                # words of one split are never in another, so that their splits have the same shares in all blocks
                shares = SHARES
            first = context.gold_blocks and task.split_by != "target" and context.silver.isdisjoint(frame["corpus"])
            if first:  # what people annotated goes to test and validation; what is left over is seen at the first try
                wanted = [size / context.gold_blocks for size in wanted_sizes]
                _, tried, _ = _split_and_sample(task, frame, context, test_first(0, wanted))
                shares = test_first(tried.rows.height, wanted)
            frame, chosen, context = _split_and_sample(task, frame, context, shares)
        else:
            frame = _without_genres(frame, task, context) if isinstance(task, DiscourseTask) else frame
            chosen = task.sample(_in_test(frame) if task.conditions else frame, context)
    if (copies := candidates.copies.get(task.name, pl.DataFrame())).height:
        context.drops.lose(COPY, copies, step=FILTERS)
        chosen = replace(chosen, candidates=chosen.candidates + copies.height)
    if not chosen.rows.is_empty():
        of_shape = SHAPE_ROWS.get(task.shape, {}) if isinstance(task, DiscourseTask) else {}
        checked(chosen.rows, _COLUMNS[type(task)] | of_shape, f"{task.place}: sample")
    ends = windows.ends(frame) if isinstance(task, DiscourseTask) else Counter[str]()
    return replace(chosen, frame=frame, notes=notes, drops=context.drops, ends=ends)


def _split_and_sample(
    task: ProbingTask, frame: pl.DataFrame, context: Context, shares: tuple[float, ...] | None
) -> tuple[pl.DataFrame, Sample, Context]:
    """The candidates with their splits, the sample, and its context with the drops.

    Of several attempts it is the one that is nearest to ``MIN_ROWS``. There is a further attempt only where splits are
    too small and other ``shares`` could change that.
    """
    attempts: list[tuple[tuple[float, int], pl.DataFrame, Sample, Context]] = []
    while shares and len(attempts) < ATTEMPTS:
        split = sentence_candidates.with_splits(frame, task, context.settings.seed, shares, by_hash=not context.small)
        split = _in_test(split) if task.conditions else split
        attempt = replace(context, drops=Drops(context.drops.remember))
        chosen = task.sample(split, attempt)
        sizes = [int((chosen.rows["split"] == name).sum()) if chosen.rows.height else 0 for name in SPLITS]
        fullness = min(1.0, *(size / least for size, least in zip(sizes, MIN_ROWS, strict=True)))
        attempts.append(((fullness, sum(sizes)), split, chosen, attempt))
        shares = None if not context.small or task.conditions else corrected_shares(shares, sizes)
    return max(attempts, key=lambda attempt: attempt[0])[1:]


def _in_test(frame: pl.DataFrame) -> pl.DataFrame:
    """Candidates of a suite: all that have a split are in test; those of relation tasks have none yet."""
    if "split" not in frame.columns:
        return frame
    return frame.with_columns(split=pl.when(pl.col("split").is_not_null()).then(pl.lit("test", frame.schema["split"])))
