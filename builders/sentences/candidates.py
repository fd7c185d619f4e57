"""Sentences as candidates of probing tasks: which of them can be used, and how rows are sampled from them.

A task selects at most one candidate per sentence, or several of which its ``sample`` uses one. Candidates whose
sentence cannot be used are dropped with a reason. Of near duplicates one is used, so that no text is in two splits or
twice in one. Labels are then balanced inside every split, length stratum and ``cell``.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl
from msgspec.structs import replace

from discoprobe.builders.sampling.balance import (
    SMALL,
    cap,
    choose_labels,
    first_of_each,
    match_labels,
    surface,
    with_companions,
)
from discoprobe.builders.sampling.splits import split_of, with_splits_of_sets
from discoprobe.builders.sentences.trees import Trees, has, labels_of
from discoprobe.builders.settings import SHARES, SPLITS, Settings
from discoprobe.builders.task import Context, ProbingTask, Sample
from discoprobe.loaders import clean_text, hashing

FINAL_MARK = r"\p{P}\s*$|[^\p{Latin}\p{Cyrillic}\p{Greek}\p{N}]\s*$"
"""How a text ends that has a final mark, or is in a script that may have none."""

COMPANIONS_KEEP = 0.5
"""Share of the rows that balancing within a further feature of the target must keep."""

MARKED, PROFILED = 0.5, 20
"""If at least this share of the sentences of a treebank has a final mark, one without it may be a fragment. At least
``PROFILED`` sentences are needed to measure the share."""


def feature_task(
    feature: str, select: Callable[..., pl.DataFrame], *, needs: Iterable[str] = ("upos", "feats", "deps"),
    companions: tuple[str, ...] = (), keep: float = COMPANIONS_KEEP, **more: Any,
) -> ProbingTask:  # fmt: skip
    """A task on a feature of one word of the sentence, the target: its labels are the values that the corpus supports.

    Its definition ends with what is the same for all such tasks, so that no docstring needs to say it.

    Args:
        feature: a feature of Universal Dependencies, such as ``Number``.
        select: from the trees of a shard and the context its candidates; it is called with the ``feature`` too.
        needs: layers of annotation.
        companions: other features of the target, as in ``balanced_values``.
        keep: as in ``balanced_values``.
        more: further fields of ``ProbingTask``.
    """
    definition = (
        "{docstring}\n\n"
        f"Forms that are ambiguous in part of speech or in {feature} are left out, as far as the dictionary, the rules "
        "of the language and the corpus show it. No target form of the test split is a target in train: a model could "
        "remember it."
    )
    if companions:
        unless = f", if this keeps at least {100 * keep:.0f} % of the rows" if keep else ""
        definition += f" Labels are balanced within the same {' and '.join(companions)} of the target{unless}."
    return ProbingTask(
        labels=labels_of(feature), decides=True, feature=feature, split_by="target", needs=frozenset(needs),
        select=functools.partial(select, feature=feature),
        sample=functools.partial(balanced_values, companions=companions, keep=keep),
        definition=definition, **more,
    )  # fmt: skip


def sentences(trees: Trees, settings: Settings) -> pl.DataFrame:
    """The sentences of a shard with ``reason``: why a sentence may not be shown, null if it may."""
    least, most = settings.probing_words
    words = pl.col("n_words")
    documents = trees.shard.documents.select("doc", "corpus", "doc_id", "genre")
    marked = pl.col("text").str.contains(FINAL_MARK)
    profiled = (marked.mean() >= MARKED) & (pl.len() >= PROFILED)
    # No clause: the root is no verb and has neither copula nor subject.
    clausal = trees.dependents.filter(pl.col("rel").is_in(["cop", "nsubj", "csubj", "aux"])).select("sent")
    nominal = trees.roots.filter(~pl.col("upos").cast(pl.String).is_in(["VERB", "AUX"]).fill_null(value=True))
    nominal = nominal.join(clausal, on="sent", how="anti").select("sent", nominal=pl.lit(value=True))
    # Punctuation is of no language, whatever a treebank marks (Armenian).
    flaw = pl.coalesce(
        pl.when(has("Typo", "Yes")).then(pl.lit("typo")),
        pl.when(has("Foreign", "Yes"), pl.col("upos") != "PUNCT").then(pl.lit("foreign")),
        pl.when(pl.col("rel") == "reparandum").then(pl.lit("reparandum")),
    )
    flaws = trees.words.select("sent", not_standard=flaw).drop_nulls("not_standard")
    flaws = flaws.unique("sent", keep="first", maintain_order=True)
    return (
        trees.shard.sentences.drop("n_words")
        .join(trees.shard.sentence_facts(), on="sent", maintain_order="left")
        .join(documents, on="doc", maintain_order="left")
        .join(flaws, on="sent", how="left", maintain_order="left")
        .join(nominal, on="sent", how="left", maintain_order="left")
        .select(
            "sent", "corpus", "doc_id", "genre", "sent_id", "text", "key", "text_key", words.cast(pl.Int32),
            *surface(pl.col("text")), mean_words=words.cast(pl.Float64),
            reason=pl.coalesce(
                "element",
                pl.when(words < least).then(pl.lit("too-short")),
                pl.when(words > most).then(pl.lit("too-long")),
                pl.when(~pl.col("aligned")).then(pl.lit("unaligned")),
                clean_text.fault(pl.col("text")),
                pl.when("listed").then(pl.lit("names-and-numbers")),
                pl.when("truncated").then(pl.lit("fragment")),
                clean_text.half_quoted(pl.col("text")),
                pl.when("nominal", ~marked).then(pl.lit("heading")),
                pl.when(profiled, ~marked, pl.col("text").str.contains(r"^\s*\p{Ll}")).then(pl.lit("fragment")),
                pl.col("not_standard"),
            ),
        )
    )  # fmt: skip


def candidates(selected: pl.DataFrame, trees: Trees, judged: pl.DataFrame) -> pl.DataFrame:
    """What a task selected in a shard, with the facts about sentence and target that sampling and writing need.

    A target cannot be used if it touches a letter or digit, or a hyphen with one behind it. One that is a part of a
    multiword token is shown by the part of the text that it alone has: *'s* is the end of *it's*; the *el* of *al* is
    fused with the other part and cannot be shown.

    Args:
        selected: what the task's ``select`` gave.
        trees: the words of the shard.
        judged: what ``sentences`` gave.
    """
    columns = selected.with_columns(
        *[
            pl.lit(None, dtype=kind).alias(name)
            for name, kind in (("target", pl.UInt32), ("cell", pl.String), ("hindrance", pl.String))
            if name not in selected.columns
        ]
    ).with_columns(pl.col("target").cast(pl.UInt32))
    joined = columns.join(judged, on="sent", maintain_order="left").join(
        trees.targets, on="target", how="left", maintain_order="left"
    )
    reasons, places = [pl.col("reason")], {}
    if columns["target"].null_count() < columns.height:
        form, start, in_token = pl.col("target_form"), pl.col("target_start"), pl.when("_in_token")
        around = pl.col("text").str.slice(start, pl.col("target_end") - start).str.split(by=form)
        several = around.list.len() != 2  # noqa: PLR2004 (what stands before and after)
        reasons.append(in_token.then(pl.when(several).then(pl.lit("target-fused"))))
        begins = start + around.list.first().str.len_chars()
        places["target_start"] = in_token.then(begins).otherwise(start)
        places["target_end"] = in_token.then(begins + form.str.len_chars()).otherwise("target_end")
        if trees.spaced:
            letter, hyphen = r"[\p{L}\p{N}]", "[-\u2010\u2011]"
            before, after = pl.col("text").str.slice(0, start), pl.col("text").str.slice(pl.col("target_end"))
            touched = before.str.contains(f"{letter}$") | after.str.contains(f"^{letter}")
            tied_before = before.str.contains(f"{letter}{hyphen}$") & ~pl.col("_clitic_before").fill_null(value=False)
            tied_after = after.str.contains(f"^{hyphen}{letter}") & ~pl.col("_clitic_after").fill_null(value=False)
            inside = (touched | tied_before | tied_after) & ~pl.col("_in_token")
            reasons.append(pl.when(inside).then(pl.lit("target-inside")))
    placed = joined.with_columns(reason=pl.coalesce(*reasons, "hindrance"), **places)
    return placed.drop("text", "hindrance", "_in_token", "_clitic_before", "_clitic_after")


def balanced(frame: pl.DataFrame, context: Context) -> Sample:
    """One row per candidate: one of each cluster, all labels balanced in every split, length stratum and cell.

    Args:
        frame: candidates with ``split``, ``label`` (name), ``cluster``, ``reason``, ``cell`` and the surface columns.
        context: seed key, settings and labels of the task.
    """
    return _balanced(usable_of(frame, context), context.labels, frame.height, context)


def balanced_values(
    frame: pl.DataFrame, context: Context, *, companions: tuple[str, ...] = (), keep: float = COMPANIONS_KEEP
) -> Sample:
    """As ``balanced``, over those labels of the task that are frequent enough in the corpus.

    Args:
        frame: as in ``balanced``.
        context: settings and labels of the task.
        companions: other features of the target, within whose values labels are balanced (with ``settings.match``).
        keep: share of the rows that balancing within a companion must keep; with 0 all companions are required.
    """
    usable = usable_of(frame, context)
    within = companions if context.settings.match else ()
    least = context.settings.min_class
    usable = with_companions(usable, within, keep, 2 * least if keep else 0)
    required = within if not keep else ()
    labels, left_out, reason = (context.decided, {}, "") if context.decided else choose_labels(usable, least, required)
    usable = context.drops.without_labels(usable, left_out)
    if reason:
        return Sample(usable.clear(), candidates=frame.height, reason=reason)
    used = tuple(name for name in context.labels if name in labels)
    return _balanced(usable, used, frame.height, context)


def _balanced(usable: pl.DataFrame, used: tuple[str, ...], n_candidates: int, context: Context) -> Sample:
    numbered = with_label_indices(usable.filter(pl.col("label").is_in(used)), context.labels)
    rows = context.drops.keep(numbered, balance_labels(numbered, context), "unbalanced")
    return if_enough(Sample(unedited(rows), used, n_candidates), used, context)


def if_enough(sample: Sample, used: tuple[str, ...], context: Context) -> Sample:
    """The sample, or the reason why it is too small: a label has fewer than ``settings.min_class`` rows.

    Args:
        sample: the rows.
        used: the labels that they must have.
        context: the settings, and the labels of the task that ``label`` indexes; without these it indexes ``used``.
    """
    counts = dict(sample.rows.group_by("label").len().iter_rows()) if sample.rows.height else {}
    names = context.labels or used
    sizes = {name: counts.get(names.index(name), 0) for name in used}
    rarest, least = min(used, key=lambda name: sizes[name]), context.settings.min_class
    if sizes[rarest] >= least:
        return sample
    if not sizes[rarest] and not any(context.drops.counts.values()):
        return replace(sample, rows=sample.rows.clear(), reason=f"no candidate is {rarest}")
    reason = f"{sizes[rarest]} rows of {rarest} are left after filters and matching; {least} are needed"
    return replace(sample, rows=sample.rows.clear(), reason=reason)


def usable_of(frame: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Candidates that can be used, one per cluster of near duplicates."""
    clean = context.drops.usable(frame)
    distinct = first_of_each(clean, ["cluster"], "one of a cluster", *context.seed_key)
    distinct = distinct.unique("text_key", keep="first", maintain_order=True)
    if "bag" in distinct.columns:  # sentences of the same words: a swap could turn one into another
        distinct = first_of_each(distinct, ["bag"], "one of a bag", *context.seed_key)
    return context.drops.keep(clean, distinct, "near-duplicate")


def with_label_indices(frame: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The rows whose label is among ``names``, with the index of the label in place of its name."""
    indices = {name: index for index, name in enumerate(names)}
    return frame.filter(pl.col("label").is_in(names)).with_columns(
        pl.col("label").replace_strict(indices, return_dtype=pl.Int64, default=None)
    )


def balance_labels(frame: pl.DataFrame, context: Context, *, strict: bool = False) -> pl.DataFrame:
    """Equal counts of ``label`` in every split and cell, matched on surface features, within the set sizes.

    Where rows are free to be in any split, those of the whole corpus are matched and then divided into splits. Without
    ``settings.match`` only the sizes hold.

    Args:
        frame: ``key``, ``split``, ``label`` (index), ``cell`` and the surface columns.
        context: seed key and settings.
        strict: use only rows with a match of every label; otherwise others too, up to ``min_class`` of each label.
    """
    if not context.settings.match:
        return cap(frame, context.settings, *context.seed_key)
    least = 0 if strict else context.settings.min_class
    pool = frame.with_columns(split=pl.lit(SPLITS[0])) if context.free else frame
    small = SMALL if context.small else {}
    matched = match_labels(pool, "label", *context.seed_key, cell=("cell",), least=least, small=small)
    if context.free:
        matched = with_splits_of_sets(matched, "label", *context.seed_key, cell=("cell",))
    return cap(matched, context.settings, *context.seed_key, by=["label"])


def unedited(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of texts as they are, without pairs, with the columns of ``PROBING_ROWS``."""
    return frame.with_columns(edited=pl.lit(value=False), pair=pl.lit(None, pl.UInt64))


def with_splits(
    frame: pl.DataFrame, task: ProbingTask, seed: int, shares: tuple[float, ...] = SHARES, *, by_hash: bool = False
) -> pl.DataFrame:
    """Adds ``group`` and ``split``: by the form of the target, or by the cluster of near duplicates.

    Groups are assigned label by label, so that every split gets its share of the usable candidates of each; or each by
    the hash of its key alone.

    Args:
        frame: candidates with ``label`` (name), ``cluster`` and ``reason``.
        task: names what is in one split only.
        seed: seed of the build.
        shares: of the candidates, for each split.
        by_hash: whether a group's split depends on nothing but its key.
    """
    if task.split_by == "target":
        frame = frame.with_columns(group=pl.col("target_form").str.to_lowercase())
        keys = {form: hashing.digest("target", form) for form in frame["group"].unique()}
        frame = frame.with_columns(
            _group_key=pl.col("group").replace_strict(keys, return_dtype=pl.UInt64, default=None)
        )
    else:
        frame = frame.with_columns(_group_key=pl.col("key").min().over("cluster"))
        frame = frame.with_columns(group=hashing.as_text("_group_key"))
    if by_hash:
        groups = frame.select(pl.col("_group_key").unique().sort())
        splits = groups.with_columns(split_of(groups["_group_key"], seed, shares=shares))
    else:  # the weight of a group is the number of clusters that it can use
        usable = pl.col("reason").is_null()
        groups = frame.group_by("_group_key").agg(
            weight=pl.col("cluster").filter(usable).n_unique(),
            label=pl.col("label").filter(usable).sort().mode().sort().first(),
        )
        splits = pl.concat(
            of_label.select("_group_key", split_of(of_label["_group_key"], seed, of_label["weight"], shares))
            for of_label in groups.sort("label", "_group_key").partition_by("label", maintain_order=True)
        )
    return frame.join(splits, on="_group_key", how="left", maintain_order="left").drop("_group_key")
