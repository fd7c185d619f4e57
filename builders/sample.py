"""Second step of a block: the rows of each task, chosen from the candidates, or why they make no config.

``sample_tasks`` samples all tasks, ``sample`` one. Their result, a ``TaskSample``, still refers to sentences by number.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import polars as pl

from discoprobe.builders.config import DISCOURSE_ROWS, PROBING_ROWS, RELATION_ROWS, SHAPE_ROWS, checked
from discoprobe.builders.sampling.splits import corrected_shares
from discoprobe.builders.selection import BlockPlan, Candidates
from discoprobe.builders.sentences import syncretism
from discoprobe.builders.sentences.candidates import with_splits
from discoprobe.builders.settings import MIN_ROWS, SHARES, SPLITS, Settings
from discoprobe.builders.task import AnyTask, Context, DiscourseTask, ProbingTask, RelationTask, Sample

_COLUMNS = {ProbingTask: PROBING_ROWS, DiscourseTask: DISCOURSE_ROWS, RelationTask: RELATION_ROWS}
"""What ``sample`` returns for a kind of task."""

ATTEMPTS = 4
"""Times that a probing task is sampled at most, each time with other shares of the splits."""

MANY = 5_000
"""Least number of sentences for which workers sample; fewer are sampled faster than a worker starts."""

LOSSES = 4
"""Reasons for drops that a message names."""


@dataclass(frozen=True, slots=True)
class TaskSample:
    """The sample of a task, and the candidates to which its rows refer by number.

    Attributes:
        task: whose sample it is.
        chosen: rows and drops.
        frame: the candidates.
        notes: what the card says of the candidates.
    """

    task: AnyTask
    chosen: Sample
    frame: pl.DataFrame
    notes: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The names that ``label`` indexes: the task's, or else those that the corpus decides on."""
        return self.task.labels or self.chosen.labels

    @property
    def used(self) -> tuple[str, ...]:
        """The labels that rows have: all, or a part of the task's."""
        return self.chosen.labels or self.task.labels

    @property
    def sentences(self) -> pl.DataFrame:
        """Every sentence that a row shows: ``shard``, ``sent``; none of relations, whose rows have their texts."""
        rows = self.chosen.rows
        if rows.is_empty() or isinstance(self.task, RelationTask):
            return pl.DataFrame(schema={"shard": pl.UInt32, "sent": pl.UInt32})
        numbers = rows["members"].explode() if "members" in rows.columns else rows["row"]
        return self.frame.select("shard", "sent")[numbers.unique().drop_nulls().to_list()]

    @property
    def problem(self) -> str:
        """Why the rows make no config: there are none, there is one class, or a split lacks one; empty if they do."""
        rows = self.chosen.rows
        if not self.chosen.reason and not rows.is_empty():
            missing = problem_of(rows, self.labels, self.used, self.task.splits)
            if missing and isinstance(self.task, DiscourseTask):
                n_documents = self.frame.drop_nulls("passage")["doc_key"].n_unique()
                if n_documents < len(SPLITS):
                    return (
                        f"passages are in {n_documents} of the documents; each of the three splits needs one of its own"
                    )
            return missing
        reason = self.chosen.reason or self._too_short or "no candidates are left"
        return reason + losses(self.chosen.drops)

    @property
    def _too_short(self) -> str:
        """The message that no document, or no passage, has enough sentences for the task; empty if one has."""
        if not isinstance(self.task, DiscourseTask):
            return ""
        least, reasons = self.task.least, self.frame["reason"].drop_nulls()
        if self.frame.height == (reasons == "not-prose").sum():
            return "all documents are speech or verse, which discourse tasks leave out; --set genres=all takes them"
        longest = self.frame.group_by("doc_key").len()["len"].max()
        if isinstance(longest, int) and longest < least:
            return f"documents have at most {longest} sentences; {least} are needed"
        passages = self.frame.drop_nulls("passage").group_by("passage").len()["len"]
        unbroken = passages.max() if len(passages) else 0
        if isinstance(unbroken, int) and unbroken < least:
            ends = losses(dict(Counter(reasons.to_list())), "sentences that end a passage")
            return f"passages of sentences that can be shown have at most {unbroken}; {least} are needed{ends}"
        return ""


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
    tasks: Sequence[AnyTask], candidates: Candidates, plan: BlockPlan, executor: Executor | None
) -> list[TaskSample]:
    """The sample of each task in a block; the executor makes those of probing tasks, while the others are made here.

    Without an executor, and for a small block, everything is done here.
    """
    settings = plan.settings if plan.only_block else plan.settings.within_block()
    if executor is None or candidates.every.height < MANY:
        return [sample(task, candidates, plan, settings) for task in tasks]
    begun = {
        task.name: executor.submit(sample, task, candidates.only(task), plan, settings)
        for task in tasks
        if isinstance(task, ProbingTask)
    }
    here = {task.name: sample(task, candidates, plan, settings) for task in tasks if task.name not in begun}
    return [begun[task.name].result() if task.name in begun else here[task.name] for task in tasks]


def sample(task: AnyTask, candidates: Candidates, plan: BlockPlan, settings: Settings) -> TaskSample:
    """The rows of a task.

    Args:
        task: what is built.
        candidates: what ``select`` returned.
        plan: what holds for all blocks.
        settings: the plan's, with the sizes and least numbers that hold for these candidates.
    """
    settings = task.sized(settings)
    in_blocks = not plan.only_block
    context = Context(
        task.name, plan.language, settings, task.labels, plan.frequencies, plan.labels.get(task.name, ()),
        candidates.similarity, free=task.split_by == "cluster" and not in_blocks, in_blocks=in_blocks, trace=plan.trace,
    )  # fmt: skip
    frame = candidates.frame(task)
    notes: tuple[str, ...] = (task.note,) if isinstance(task, RelationTask) else ()
    if isinstance(task, ProbingTask):
        notes = candidates.notes
        frame = syncretism.with_reasons(frame, task, candidates.forms, plan.language, settings)
    if frame.is_empty():
        reason = "no sentence is what the task asks for"
        if isinstance(task, ProbingTask) and task.feature:
            reason = f"no word that the task asks for has {task.feature}"
        return TaskSample(task, Sample(pl.DataFrame(), reason=reason), frame, notes)
    if isinstance(task, ProbingTask):
        frame, chosen = _split_and_sample(task, frame, context)
    else:
        chosen = task.sample(_in_test(frame) if task.conditions else frame, context)
    if not chosen.rows.is_empty():
        of_shape = SHAPE_ROWS.get(task.shape, {}) if isinstance(task, DiscourseTask) else {}
        checked(chosen.rows, _COLUMNS[type(task)] | of_shape, f"{task.name}: sample")
    return TaskSample(task, chosen, frame, notes)


def _split_and_sample(task: ProbingTask, frame: pl.DataFrame, context: Context) -> tuple[pl.DataFrame, Sample]:
    """The candidates with their splits, and the sample: of several attempts the one that is nearest to ``MIN_ROWS``.

    There is a further attempt only where splits are too small and other shares could change that.
    """
    shares: tuple[float, ...] | None = SHARES
    attempts: list[tuple[tuple[float, int], pl.DataFrame, Sample]] = []
    while shares and len(attempts) < ATTEMPTS:
        split = with_splits(frame, task, context.settings.seed, shares, by_hash=context.in_blocks)
        split = _in_test(split) if task.conditions else split
        chosen = task.sample(split, context)
        sizes = [int((chosen.rows["split"] == name).sum()) if chosen.rows.height else 0 for name in SPLITS]
        fullness = min(1.0, *(size / least for size, least in zip(sizes, MIN_ROWS, strict=True)))
        attempts.append(((fullness, sum(sizes)), split, chosen))
        shares = None if context.in_blocks or task.conditions else corrected_shares(shares, sizes)
    _, split, chosen = max(attempts, key=lambda attempt: attempt[0])
    return split, chosen


def _in_test(frame: pl.DataFrame) -> pl.DataFrame:
    """Candidates of a suite: all that have a split are in test; those of relation tasks have none yet."""
    if "split" not in frame.columns:
        return frame
    return frame.with_columns(split=pl.when(pl.col("split").is_not_null()).then(pl.lit("test", frame.schema["split"])))
