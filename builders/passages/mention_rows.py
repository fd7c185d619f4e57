"""Rows that ask about marked mentions of a passage.

A row shows a passage with one or two mentions in brackets. The passage is shown once for each label, each time with
another mention marked (``Marks``); these are equal in everything that a task says, so that nothing but the entities
tells the label. What simple rules could still count of them, the cues, is balanced over the rows of a split, and stands
in the rows, so that the audit can measure it.
"""

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final

import msgspec
import numpy as np
import polars as pl

from discoprobe.builders.config import RELATION_CANDIDATES, Shape
from discoprobe.builders.passages.coreference import TextMention
from discoprobe.builders.passages.entities import Passage, passages
from discoprobe.builders.passages.relation_units import mark_units, with_splits
from discoprobe.builders.sampling.balance import (
    FINE,
    assign_labels,
    cap,
    differences,
    ranks,
    remove_bias,
    steps,
    with_rank,
)
from discoprobe.builders.settings import MIN_ROWS, SPLITS
from discoprobe.builders.task import Context, RelationTask, Sample
from discoprobe.loaders import clean_text, hashing
from discoprobe.loaders.corpus import SPANS, Shard
from discoprobe.loaders.languages.language import LanguageSection
from discoprobe.loaders.near_duplicates import near_clusters
from discoprobe.loaders.words import n_words

EACH: Final = 60
"""Most sets of marks among which the balance chooses one."""

EACH_CHOICE: Final = 240
"""The same of sets of four: there are more rules that could tell the right one."""

DEVIATIONS: Final = (0.3, 0.5)
"""Standard errors by which the accuracy of a rule on a cue may be better than chance in a split, and the same in a
split that would else have fewer rows than ``MIN_ROWS``: what half of a standard error helps, the audit cannot see."""

REASONS: Final = {
    "no-counterpart": "no two mentions of its passage are alike but for the label",
    "other-labels": "a set of mentions with a label less or more than the rows of this language have",
    "biased": "left out, because a simple rule would find the label in it",
}


class Questions(LanguageSection, frozen=True):
    """The section ``[questions]``: how rows ask in words, for models that see no marks.

    Attributes:
        asks: name of a task → its question, with ``{first}`` and ``{second}`` for the mentions; else English.
        answers: name of a task → the answer for each label.
        within: a ``{mention}`` and the words ``{around}`` it that make it unique.
    """

    section: ClassVar[str] = "questions"
    asks: dict[str, str] = msgspec.field(default_factory=dict)
    answers: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    within: str = "{mention} in {around}"


class Marks(msgspec.Struct, frozen=True):
    """A set of rows: of each label the mention that is marked, and a second one that is marked in all of them.

    ``cues`` has of each label what simple rules could count; ``facts`` what the label comes from, and a grade;
    ``traits`` by what a mention could be known without the passage.
    """

    mentions: tuple[TextMention, ...]
    second: TextMention | None
    cues: tuple[tuple[float, ...], ...]
    facts: tuple[tuple[str, float | None], ...] = ()
    traits: tuple[tuple[str, ...], ...] = ()


Marking = Callable[[Passage], Iterator[Marks]]


def choice_of_mentions(marks: Marking, cues: tuple[str, ...], question: str, *, version: int = 1) -> RelationTask:
    """A task on which mention belongs to a marked one: the first of ``Marks.mentions``, among the others.

    The context of a row is the passage with the second mention in brackets, and the question.

    Args:
        marks: as for `mention_task`; four mentions, of which the first is the right choice, and a second one.
        cues: names of ``Marks.cues``.
        question: what the rows ask in English, with ``{second}`` for the marked mention.
        version: raised when the rows of the task change.
    """
    select = functools.partial(_candidates, marks=marks, cues=cues, question=question, most=EACH_CHOICE)
    return RelationTask(
        shape=Shape.CHOICE, select=select, sample=_sample_choices, labels=("0", "1", "2", "3"),
        needs=frozenset({"coreference", "documents", "bridging"}), reasons=REASONS, version=version,
    )  # fmt: skip


def mention_task(  # noqa: PLR0913 (one keyword per choice of a task)
    marks: Marking, labels: tuple[str, ...], cues: tuple[str, ...], question: str,
    answers: tuple[str, ...] = ("Yes", "No"), *, needs: Iterable[str] = (), version: int = 1,
) -> RelationTask:  # fmt: skip
    """A task on marked mentions of passages; a passage is in as many rows as there are labels, which share ``pair_id``.

    Args:
        marks: from a passage the sets of mentions that can be marked; a function of a module.
        labels: their names, in the order of ``Marks.mentions``.
        cues: names of ``Marks.cues``.
        question: what the rows ask in English, with ``{first}`` and ``{second}`` for the mentions.
        answers: for each label, in English; `Questions` has both in other languages.
        needs: layers beside coreference.
        version: raised when the rows of the task change.
    """
    return RelationTask(
        shape=Shape.MENTIONS,
        select=functools.partial(_candidates, marks=marks, cues=cues, question=question, answers=answers),
        sample=_sample_marks, labels=labels, decides=len(labels) > 2, pairs=True,  # noqa: PLR2004 (the first two are always there)
        needs=frozenset({"coreference", "documents", *needs}),
        reasons=REASONS, version=version,
    )  # fmt: skip


SPAN: Final = pl.Struct({"start": pl.Int32, "end": pl.Int32})

CANDIDATES: Final[dict[str, Any]] = {
    **RELATION_CANDIDATES, "window": pl.UInt64, "unit": pl.UInt64, "passage": pl.String, "texts": pl.List(pl.String),
    "questions": pl.List(pl.String), "answers": pl.List(pl.String), "first": SPANS, "second": SPAN,
    "cues": pl.List(pl.List(pl.Float64)), "names": pl.List(pl.String),
    "traits": pl.List(pl.List(pl.String)),
    "bases": pl.List(pl.String), "grades": pl.List(pl.Float64),
}  # fmt: skip
"""Columns of the candidates: a set of rows each; lists have an item per label."""


def _candidates(  # noqa: PLR0913 (one keyword per choice of a task)
    shard: Shard,
    context: Context,
    *,
    marks: Marking,
    cues: tuple[str, ...],
    question: str,
    answers: tuple[str, ...] = (),
    most: int = EACH,
) -> pl.DataFrame:
    """The sets of marks of the passages of a shard, ``most`` of each; a passage without any has a reason.

    A passage can be used once for each entity of a second mention.
    """
    in_words = context.language.section(Questions)
    question, answers = in_words.asks.get(context.task, question), in_words.answers.get(context.task, answers)
    rows: list[dict[str, Any]] = []
    for passage in passages(shard, context.language):
        by_unit: defaultdict[int, list[Marks]] = defaultdict(list)
        for marked in sorted(marks(passage), key=lambda marked: hashing.digest(passage.key, *_places(marked))):
            unit = hashing.digest(passage.key, marked.second.entity) if marked.second else passage.key
            by_unit[unit].append(marked)
        sets = [(unit, marked) for unit, of_unit in by_unit.items() for marked in of_unit[:most]]
        common = {
            "doc": passage.doc, "ids": passage.ids, "window": passage.key, "passage": passage.text, "names": cues,
            "answers": answers,
        }  # fmt: skip
        if not sets:
            rows.append({**common, "reason": "no-counterpart", "key": passage.key})
        for unit, marked in sets:
            spans = [_span(mention) for mention in marked.mentions]
            second = _span(marked.second) if marked.second else None
            rows.append({
                **common, "first": spans, "second": second, "traits": marked.traits,
                "cues": [list(map(float, values)) for values in marked.cues],
                "bases": [basis for basis, _ in marked.facts] or None,
                "grades": [grade for _, grade in marked.facts] or None,
                "unit": unit, "key": hashing.digest(passage.key, *_places(marked)),
                "texts": [mark_units(passage.text, [span], *([[second]] if second else [])) for span in spans],
                "questions": [
                    question.format(
                        first=quoted(passage.text, mention, in_words.within),
                        second=quoted(passage.text, marked.second, in_words.within) if marked.second else "",
                    )
                    for mention in marked.mentions
                ],
            })  # fmt: skip
    frame = pl.DataFrame([dict.fromkeys(CANDIDATES) | row for row in rows], CANDIDATES, orient="row")
    unclean = clean_text.fault(pl.col("passage"), some=True)  # its sentences are clean alone
    brackets = pl.when(pl.col("passage").str.contains(r"[\[\]]")).then(pl.lit("transcription"))
    return frame.with_columns(reason=pl.coalesce("reason", unclean, brackets)).unique("key", maintain_order=True)


def _places(marks: Marks) -> list[int]:
    return [mention.start for mention in (*marks.mentions, *([marks.second] if marks.second else []))]


def _span(mention: TextMention) -> dict[str, int]:
    return {"start": mention.start, "end": mention.end}


def quoted(passage: str, mention: TextMention, within: str) -> str:
    """A mention for readers who see no marks: in quotes, with as many words around it as make it unique.

    ``“she” in “when she smiled”`` (``within``); only ``“Anna”`` if the passage has it once.
    """
    start, end = mention.start, mention.end
    while passage.count(passage[start:end]) > 1 and (start or end < len(passage)):
        before = passage.rfind(" ", 0, max(start - 1, 0))
        start = before + 1 if start else 0
        after = passage.find(" ", end + 1)
        end = len(passage) if after < 0 else after
    around = passage[start:end]
    if around == mention.text:
        return f"“{mention.text}”"
    return within.format(mention=f"“{mention.text}”", around=f"“{around}”")


def _sample_marks(frame: pl.DataFrame, context: Context) -> Sample:
    """The rows of sets of marks, one for each label."""
    sets = _balanced_sets(frame, context, len(context.labels))
    if sets.is_empty():
        return Sample(sets, candidates=frame.height, reason="no candidates are left")
    n_labels = sets["first"].list.len()[0]
    rows = pl.concat([_rows_of_label(sets, label) for label in range(n_labels)])
    return Sample(rows, labels=context.labels[:n_labels], candidates=frame.height)


def _sample_choices(frame: pl.DataFrame, context: Context) -> Sample:
    """The rows of sets of marks, one of each; the right choice is equally often in each place, in every split."""
    sets = _balanced_sets(frame, context, 1)
    if sets.is_empty():
        return Sample(sets, candidates=frame.height, reason="no candidates are left")
    by_length = sets.select("key", "split", mean_words=n_words(pl.col("passage")).cast(pl.Float64))
    placed = assign_labels(by_length, len(context.labels), *context.seed_key)
    labelled = sets.drop("label").join(placed.select("key", "label"), on="key", maintain_order="left")
    sets = context.drops.keep(sets, labelled, "unbalanced")
    choices, contexts = [], []
    columns = sets.select("label", "passage", "first", "second", "questions").iter_rows()
    for label, passage, (right, *wrong), second, questions in columns:
        texts = [passage[span["start"] : span["end"]] for span in (*wrong[:label], right, *wrong[label:])]
        choices.append(texts)
        contexts.append([f"{mark_units(passage, [second])} {questions[0]}"])
    rows = sets.with_columns(
        context=pl.Series(contexts, dtype=pl.List(pl.String)), choices=pl.Series(choices, dtype=pl.List(pl.String)),
        pair=pl.lit(None, pl.UInt64), distractor=pl.lit(None, pl.List(pl.String)),
        row=pl.col("row").cast(pl.Int64),
    )  # fmt: skip
    return Sample(rows, labels=context.labels, candidates=frame.height)


def _balanced_sets(frame: pl.DataFrame, context: Context, rows_per_set: int) -> pl.DataFrame:
    """At most one set of marks per unit, so that no cue tells the label in any split.

    Args:
        frame: the candidates.
        context: seed key and settings.
        rows_per_set: 1 for choices; else the number of labels, of which sets may have a part.
    """
    drops = context.drops
    usable = drops.usable(frame)
    if usable.is_empty():
        return usable
    # a passage that two corpora annotate is used as one of them has it
    copy = pl.struct("shard", "doc")
    usable = drops.keep(usable, usable.filter(copy == copy.first().over("window")), "duplicate")
    windows = usable.unique("window", maintain_order=True)
    clustered = windows.with_columns(cluster=near_clusters(windows["passage"]))
    single = usable.join(clustered.unique("cluster", keep="first", maintain_order=True), on="window", how="semi")
    drops.keep(usable, single, "duplicate")
    of_units = with_splits(single.unique("unit", maintain_order=True), context).select("unit", "group", "split")
    split = single.join(of_units, on="unit", how="left", maintain_order="left")
    if rows_per_set > 1:
        rows_per_set = _n_labels(split, rows_per_set)
        split = drops.keep(split, split.filter(pl.col("first").list.len() == rows_per_set), "other-labels")
    first = with_rank(split, ["unit"], "alternative", *context.seed_key).sort("unit", "rank").drop("rank")
    chosen = first.unique("unit", keep="first", maintain_order=True)
    if context.settings.match:
        gains = gains_of_cues(np.array(first["cues"].to_list(), dtype=np.float64))
        if rows_per_set == 1:
            typical = typicality(first)
            gains = np.hstack([gains, differences(typical), ranks(typical)])
        alternatives = first.with_columns(key="unit", _key="key")
        tight, wide = (
            remove_bias(alternatives, gains, *context.seed_key, slack=np.inf, deviations=most)
            .with_columns(key="_key")
            .drop("_key")
            for most in DEVIATIONS
        )
        least = (
            pl.col("split")
            .cast(pl.String)
            .replace_strict(dict(zip(SPLITS, MIN_ROWS, strict=True)), return_dtype=pl.Int64)
        )
        large = tight.filter(rows_per_set * pl.len().over("split") >= least)
        chosen = pl.concat([large, wide.join(large, on="split", how="anti", maintain_order="left")])
    drops.keep(split, chosen, "biased")
    return drops.keep(chosen, cap(chosen, context.settings, *context.seed_key, weight=rows_per_set), "over-size")


def _n_labels(sets: pl.DataFrame, most: int) -> int:
    """The largest number of labels of which the sets of marks have enough in every split, if possible.

    The first two labels are always used, even if there are too few.
    """
    for n in range(most, 2, -1):
        units = sets.filter(pl.col("first").list.len() == n).group_by("split").agg(pl.col("unit").n_unique())
        counts = dict(units.iter_rows())
        if all(n * counts.get(split, 0) >= least for split, least in zip(SPLITS, MIN_ROWS, strict=True)):
            return n
    return 2


def typicality(sets: pl.DataFrame) -> np.ndarray:
    """How much more often right choices of other documents have the traits of a mention than wrong ones.

    The mean of the logarithms of both shares' ratio over the traits, shape (sets, mentions).

    Args:
        sets: sets of marks with ``traits``; of each ``unit``, a mention counts once.
    """
    n_mentions = len(sets["first"][0])
    long = sets.select("unit", "group", "first", "traits").with_row_index("set").explode("first", "traits")
    long = long.with_columns(mention=pl.int_range(pl.len()) % n_mentions, start=pl.col("first").struct.field("start"))
    long = long.drop("first").explode("traits").with_columns(right=pl.col("mention") == 0)
    seen = long.unique(["unit", "start", "right", "traits"])
    counts = [pl.col("right").sum().alias("right"), (~pl.col("right")).sum().alias("wrong")]
    per_group = seen.group_by("traits", "group").agg(*counts)
    totals = per_group.group_by("traits").agg(pl.sum("right", "wrong"))
    others = per_group.join(totals, on="traits", suffix="_all")
    right, wrong = (pl.col(f"{name}_all") - pl.col(name) for name in ("right", "wrong"))
    n_right = int(seen["right"].sum())
    ratio = ((1 + right) / (1 + wrong * (n_right / max(1, seen.height - n_right)))).log()
    scored = long.join(others.with_columns(ratio=ratio), on=["traits", "group"], how="left")
    means = scored.group_by("set", "mention").agg(pl.col("ratio").mean()).sort("set", "mention")
    return np.asarray(np.rint(means["ratio"].to_numpy().reshape(-1, n_mentions) * FINE) / FINE)


def gains_of_cues(cues: np.ndarray) -> np.ndarray:
    """The gains of rules on cues, as `remove_bias` takes them.

    Of more than two mentions, only how far the right one is from the others counts: there are too few passages for
    rules on every rank.

    Args:
        cues: shape (sets, mentions, cues).
    """
    rules = (ranks, differences, steps) if cues.shape[1] == 2 else (differences,)  # noqa: PLR2004
    return np.hstack([rule(cues[:, :, cue]) for cue in range(cues.shape[2]) for rule in rules])


def _rows_of_label(sets: pl.DataFrame, label: int) -> pl.DataFrame:
    """The rows of one label."""
    passage = sets["passage"].to_list()

    def mention(spans: list[dict[str, int] | None]) -> pl.Series:
        values = [
            span and {**span, "form": text[span["start"] : span["end"]]}
            for text, span in zip(passage, spans, strict=True)
        ]
        return pl.Series(values, dtype=pl.Struct({"start": pl.Int32, "end": pl.Int32, "form": pl.String}))

    cues = [
        [{"name": name, "value": value} for name, value in zip(names, values[label], strict=True)]
        for names, values in sets.select("names", "cues").iter_rows()
    ]
    return sets.with_columns(
        mention1=mention([spans[label] for spans in sets["first"].to_list()]),
        mention2=mention(sets["second"].to_list()),
        text=pl.col("texts").list.get(label), basis=pl.col("bases").list.get(label),
        grade=pl.col("grades").list.get(label),
        question=pl.col("questions").list.get(label),
        cues=pl.Series(cues, dtype=pl.List(pl.Struct({"name": pl.String, "value": pl.Float64}))),
        label=pl.lit(label, pl.Int64), pair="unit", row=pl.col("row").cast(pl.Int64),
        key=pl.Series(hashing.mix(sets["key"].to_numpy(), label)),
    ).drop("first", "second", "names")  # fmt: skip
