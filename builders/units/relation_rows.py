"""Rows of relation tasks: candidates from the relations of a shard, and the sample of a corpus.

A relation task is a function from a shard to labelled pairs of units (``relation_task``). All else is the same for the
whole family: which units are too long or not clean, what happens to units that occur twice, the splits and the classes.
"""

import functools
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import polars as pl

from discoprobe.builders import clean_text, hashing
from discoprobe.builders.drop_reasons import without_reason
from discoprobe.builders.sampling.balance import equal_counts_by_length
from discoprobe.builders.sampling.label_sets import LabelSet, by_frequency, frequent_in_splits, most_frequent
from discoprobe.builders.sampling.splits import Split, split_of
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import Context, RelationTask, Sample
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.near_duplicates import near_clusters
from discoprobe.loaders.running_words import is_unspaced, running_words

LONGEST: Final = 128
"""Most words of a unit: two units fit into the 512 tokens of most encoders."""

CHARACTERS_PER_WORD: Final = 2
"""In scripts without spaces, as the audit counts."""

REPEATING: Final = 6
"""Units of fewer words recur naturally; longer ones that are in two splits are a leak."""

BALANCED_KEEP: Final = 0.5
"""Smallest share of the rows of the largest balanced sample that a larger number of classes must keep."""

REASONS: Final = {
    "unit-too-long": f"a unit has more than {LONGEST} words",
    "no-words": "a unit has no letter or digit",
    "equal-units": "both units are the same words (a repetition)",
    "several-labels": "the same two units occur with different labels",
    "same-unit": "no relation: the parts of one unit that another interrupts",
    "unknown-relation": "a relation of its corpus that is in none of the classes",
    "not-adjacent": "a span of a tree does not follow the other in the text",
    "rare-class": "a class with too few relations, or that some split lacks",
}

NOTE: Final = (
    f"A unit has at most {LONGEST} words; where a corpus has all three splits, they are kept, but for rows of train "
    "and validation with a unit that a later split has too"
)

EXEMPT: Final = {
    **dict.fromkeys(
        ("length", "single", "punctuation"),
        "what marks a relation (connectives, verb forms, punctuation, length) is part of the units, and texts cannot be"
        " matched on it; read a model's score beside this baseline",
    ),
    "fidelity": "units are compared with the words of their document when the corpus is read; they may span sentences",
}


def relation_task(  # noqa: PLR0913 (one keyword per choice of a task)
    select: Callable[[Shard, Context], pl.DataFrame], labels: tuple[str, ...] = (), *, layer: str = "relations",
    natural: bool = True, reasons: Mapping[str, str] | None = None, version: int = 1,
) -> RelationTask:  # fmt: skip
    """A task over pairs of units.

    Args:
        select: from a shard its candidates, as ``candidates`` gives; a function of a module.
        labels: label names in the order of their indices; none where the corpus decides.
        layer: ``relations`` (tables of DISRPT) or ``rst_trees``.
        natural: whether labels keep the shares that they have in the corpus; else they are equally frequent.
        reasons: the task's own reasons for drops → what they mean.
        version: raised when the rows of the task change.
    """
    return RelationTask(
        select=select, sample=functools.partial(_sample, natural=natural), labels=labels, decides=True, note=NOTE,
        needs=frozenset({layer}), natural=natural, reasons={**REASONS, **(reasons or {})}, exempt=EXEMPT,
        version=version,
    )  # fmt: skip


def candidates(relations: pl.DataFrame) -> pl.DataFrame:
    """Relations as candidates: those with a reason keep it, others get one if a unit is too long or not clean.

    Args:
        relations: the columns of ``RELATION_CANDIDATES``; ``reason`` and ``removed`` may be missing.
    """
    units = ("sentence1", "sentence2")
    given = [name for name in ("reason", "removed") if name not in relations.columns]
    frame = relations.with_columns(pl.lit(None, pl.String).alias(name) for name in given)
    faults = [clean_text.fault(pl.col(unit), whole=False) for unit in units]
    long = pl.any_horizontal(_words(pl.col(unit)) > LONGEST for unit in units)
    same = pl.col("sentence1").str.to_lowercase() == pl.col("sentence2").str.to_lowercase()
    empty = pl.any_horizontal(_words(pl.col(unit)) == 0 for unit in units)
    return frame.with_columns(
        reason=pl.coalesce(
            "reason",
            pl.when(pl.col("label").is_null()).then(pl.format("unknown-relation {}", "orig_label")),
            pl.when(long).then(pl.lit("unit-too-long")),
            pl.when(empty).then(pl.lit("no-words")),
            pl.when(same).then(pl.lit("equal-units")),
            *faults,
        )
    )


def _words(text: pl.Expr) -> pl.Expr:
    count = running_words(text).list.len()
    return pl.when(is_unspaced(text)).then(count / CHARACTERS_PER_WORD).otherwise(count)


def _sample(frame: pl.DataFrame, context: Context, *, natural: bool) -> Sample:
    """The rows of a relation task, documents being assigned to splits."""
    natural |= not context.settings.match
    clean, not_usable = without_reason(frame)
    single, repeated = _each_once(clean)
    split, leaking = _without_leaks(_with_splits(single, context))
    classes = (_classes if natural else _balanced_classes)(split, context)
    drops = Counter(not_usable) + Counter({**repeated, "in-two-splits": leaking, **classes.left_out})
    kept = split.filter(pl.col("label").is_in(classes.names))
    if not natural:
        first, second = (_words(pl.col(f"sentence{n}")) for n in (1, 2))
        kept = kept.with_columns(mean_words=(first + second) / 2)
        kept = equal_counts_by_length(kept, "label", *context.seed_key) if kept.height else kept
        drops["unbalanced"] = split.height - sum(classes.left_out.values()) - kept.height
    capped = cap(kept, context.settings, *context.seed_key, by=() if natural else ("label",)) if kept.height else kept
    drops["over-size"] = kept.height - capped.height
    names = context.labels or classes.names
    indices = {name: index for index, name in enumerate(names)}
    rows = capped.with_columns(
        label=pl.col("label").replace_strict(indices, return_dtype=pl.Int64, default=None),
        pair=pl.lit(None, pl.UInt64),
        row=pl.col("row").cast(pl.Int64),
    )
    used = tuple(name for name in names if name in classes.names)
    return Sample(rows, drops, labels=used, candidates=frame.height, reason=classes.reason)


def _each_once(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Each two units once; none of those that occur with several labels. And the drops by reason."""
    same = ["_unit1", "_unit2"]
    keyed = frame.with_columns(pl.col(f"sentence{n}").str.to_lowercase().alias(f"_unit{n}") for n in (1, 2))
    agreed = keyed.filter(pl.col("label").n_unique().over(same) == 1)
    single = agreed.sort("key").unique(same, keep="first", maintain_order=True)
    drops = {"several-labels": keyed.height - agreed.height, "duplicate": agreed.height - single.height}
    return single.drop(same), drops


def _with_splits(frame: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Adds ``group`` (the document; two corpora can have the same) and ``split``.

    Where a corpus has all three splits, they are those of its publishers.
    """
    complete = frame.filter(pl.col("native").drop_nulls().n_unique().over("corpus") == len(SPLITS))["corpus"].unique()
    groups = frame.group_by(group="doc_id", maintain_order=True).agg(
        weight=pl.len(), native=pl.col("native").filter(pl.col("corpus").is_in(complete.implode())).drop_nulls().first()
    )
    own = groups.filter(pl.col("native").is_null())
    keys = [hashing.digest("document", name) for name in own["group"]]
    places = pl.concat(
        [
            own.select("group", split_of(keys, context.settings.seed, own["weight"])),
            groups.drop_nulls("native").select("group", split=pl.col("native").cast(Split)),
        ]
    )
    return frame.with_columns(group="doc_id").join(places, on="group", how="left", maintain_order="left")


def _without_leaks(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The rows without those one of whose units is (nearly) in a later split too; and how many these are.

    Test keeps what it has, and train loses what is in test: so published test sets stay as they are.
    """
    units = pl.concat([frame["sentence1"], frame["sentence2"]]).alias("text").to_frame()
    clusters = units.with_columns(
        cluster=near_clusters(units["text"]), long=_words(pl.col("text")) >= REPEATING,
        split=pl.concat([frame["split"], frame["split"]]).to_physical(),
        place=pl.concat([pl.int_range(frame.height, eager=True)] * 2),
    )  # fmt: skip
    later = clusters.filter("long", pl.col("split").max().over("cluster") > pl.col("split"))
    kept = frame.with_row_index("_place").filter(~pl.col("_place").is_in(later["place"].unique().implode()))
    return kept.drop("_place"), frame.height - kept.height


def _classes(frame: pl.DataFrame, context: Context) -> LabelSet:
    """The labels that are classes: frequent enough, and in every split."""
    enough = frequent_in_splits(frame, "label", context.settings.min_class)
    return _label_set(frame, enough, context)


def _balanced_classes(frame: pl.DataFrame, context: Context) -> LabelSet:
    """The labels that are classes where all are equally frequent: the n most frequent ones.

    The rarest class decides how many rows the others have; n is the largest number that keeps ``BALANCED_KEEP`` of the
    rows that the best n would keep.
    """
    counts = frame.group_by("label", "split").len().pivot(on="split", index="label", values="len").fill_null(0)
    splits = [name for name in SPLITS if name in counts.columns]
    if len(splits) < len(SPLITS):
        return _label_set(frame, [], context)
    ordered = counts.with_columns(_least=pl.min_horizontal(splits)).sort(["_least", "label"], descending=[True, False])
    of_all = ordered.select(pl.col(splits).cum_min()).sum_horizontal()
    rows = of_all * pl.int_range(1, len(of_all) + 1, eager=True)
    possible = (of_all >= context.settings.min_class) & (ordered["_least"] > 0)
    best = max(rows.filter(possible).to_list(), default=0)
    numbers = (possible & (rows >= BALANCED_KEEP * best)).arg_true().to_list()
    return _label_set(frame, sorted(ordered["label"].head(numbers[-1] + 1 if numbers else 0)), context)


def _label_set(frame: pl.DataFrame, names: list[str], context: Context) -> LabelSet:
    """The classes of these names, with what the others lose; why there are none where there are fewer than two."""
    rare = by_frequency(frame, "label").filter(~pl.col("label").is_in(names))
    left_out = Counter[str]()
    for label, n in rare.iter_rows():
        left_out[f"rare-class {label}" if context.labels else "rare-class"] += n
    if len(names) > 1:
        return LabelSet(tuple(names), left_out)
    found = most_frequent(frame, "label")
    least = context.settings.min_class
    reason = f"fewer than two classes have {least} relations, with some in every split (most frequent: {found})"
    return LabelSet((), left_out, reason if found else "no candidates are left")
