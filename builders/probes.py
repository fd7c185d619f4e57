"""Sentences as candidates of probing tasks: which may be shown, and how rows are chosen from what a task selected.

A task selects at most one candidate per sentence, or several of which its ``arrange`` shows one. Candidates whose
sentence may not be shown are dropped with a reason; of sentences that resemble each other one is kept, so that nothing
stands in two splits or twice in one; labels are then balanced inside every split, length stratum and ``cell``.

Every row has ``ipm_share``: the share of the words of its sentence that are commoner than one in a million by the
frequency list, null where no list fits the corpus (``builders/frequency.py``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders import chance, clean
from discoprobe.builders.classes import Classes, choose
from discoprobe.builders.even import even, surface
from discoprobe.builders.sampling import cap, with_rank
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.splits import split_of
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    from discoprobe.builders.settings import Settings
    from discoprobe.builders.tree import Trees

THINNED = 0.9
"""Share of the candidates that another draw chooses from."""

FACTS = ("sent", "corpus", "doc_id", "sent_id", "key", "text_key", "n_words", "mean_words")


def sentences(trees: Trees, settings: Settings) -> pl.DataFrame:
    """The sentences of a shard with ``reason``: why a sentence may not be shown, null if it may."""
    least, most = settings.probing_words
    words = pl.col("n_words")
    documents = trees.shard.documents.select("doc", "corpus", "doc_id")
    return (
        trees.shard.sentences.join(documents, on="doc", maintain_order="left")
        .join(_not_standard(trees), on="sent", how="left", maintain_order="left")
        .select(
            "sent", "corpus", "doc_id", "sent_id", "text", "key", "text_key", words.cast(pl.Int32),
            *surface(pl.col("text")), mean_words=words.cast(pl.Float64),
            reason=pl.coalesce(
                pl.when(words < least).then(pl.lit("too-short")),
                pl.when(words > most).then(pl.lit("too-long")),
                pl.when(~pl.col("aligned")).then(pl.lit("unaligned")),
                clean.fault(pl.col("text")),
                clean.half_quoted(pl.col("text")),
                pl.col("not_standard"),
            ),
        )
    )  # fmt: skip


def _not_standard(trees: Trees) -> pl.DataFrame:
    """Sentences with a typing error, foreign words or a speaker's self-correction, and which of these."""
    feats = pl.col("feats")
    why = pl.coalesce(
        pl.when(feats.str.contains(r"(?:^|\|)Typo=Yes")).then(pl.lit("typo")),
        pl.when(feats.str.contains(r"(?:^|\|)Foreign=Yes")).then(pl.lit("foreign")),
        pl.when(pl.col("rel") == "reparandum").then(pl.lit("reparandum")),
    )
    marked = trees.words.select("sent", not_standard=why).drop_nulls("not_standard")
    return marked.unique("sent", keep="first", maintain_order=True)


def candidates(selected: pl.DataFrame, trees: Trees, shown: pl.DataFrame, *, spaces: bool = True) -> pl.DataFrame:
    """What a task selected in a shard, with the facts about sentence and target that sampling and writing need.

    Args:
        selected: what the task's ``select`` gave.
        trees: the words of the shard.
        shown: what ``sentences`` gave.
        spaces: whether words are separated by white space.
    """
    found = selected.with_columns(
        *[
            pl.lit(None, dtype=kind).alias(name)
            for name, kind in (("target", pl.UInt32), ("cell", pl.String))
            if name not in selected.columns
        ]
    ).with_columns(pl.col("target").cast(pl.UInt32))
    target = trees.words.select(
        pl.col("row").cast(pl.UInt32).alias("target"), target_form="form", target_lemma="lemma",
        target_upos=pl.col("upos").cast(pl.String), target_feats="feats", target_start="start", target_end="end",
        _in_token=pl.col("mwt").is_not_null(), _clitic_before=_clitic("-$").shift(1).over("sent"),
        _clitic_after=_clitic("^-").shift(-1).over("sent"),
    )  # fmt: skip
    joined = found.join(shown, on="sent", maintain_order="left").join(
        target, on="target", how="left", maintain_order="left"
    )
    inside = _inside_word() if spaces else pl.lit(value=False)
    whole = pl.coalesce("reason", pl.when(inside).then(pl.lit("target-inside")))
    kept = joined.with_columns(*_inside_token()).with_columns(reason=whole)
    return kept.drop("text", "_in_token", "_clitic_before", "_clitic_after")


def _clitic(hyphen: str) -> pl.Expr:
    """Whether a word is a grammatical one that a hyphen of its own ties to its neighbour (French *-il*)."""
    light = pl.col("upos").cast(pl.String).is_in(["PRON", "AUX", "DET", "PART", "ADV"])
    return light & pl.col("form").str.contains(hyphen)


def _inside_word() -> pl.Expr:
    """Whether a target, no part of a multiword token, touches a letter or digit, or a hyphen with one behind it."""
    before = pl.col("text").str.slice(0, pl.col("target_start"))
    after = pl.col("text").str.slice(pl.col("target_end"))
    letter, hyphen = r"[\p{L}\p{N}]", "[-\u2010\u2011]"
    touched = before.str.contains(f"{letter}$") | after.str.contains(f"^{letter}")
    tied_before = before.str.contains(f"{letter}{hyphen}$") & ~pl.col("_clitic_before").fill_null(value=False)
    tied_after = after.str.contains(f"^{hyphen}{letter}") & ~pl.col("_clitic_after").fill_null(value=False)
    return (touched | tied_before | tied_after) & ~pl.col("_in_token")


def _inside_token() -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Start, end and reason of targets that are parts of a multiword token.

    *'s* is the end of *it's*; the *el* of *al* is fused with the other part and cannot be shown.
    """
    form, start = pl.col("target_form"), pl.col("target_start")
    around = pl.col("text").str.slice(start, pl.col("target_end") - start).str.split(by=form)
    found_once = around.list.len() == 2  # noqa: PLR2004 (what stands before and after)
    begins = start + around.list.first().str.len_chars()
    inside = pl.when("_in_token")
    return (
        inside.then(begins).otherwise(start).alias("target_start"),
        inside.then(begins + form.str.len_chars()).otherwise("target_end").alias("target_end"),
        pl.coalesce("reason", inside.then(pl.when(~found_once).then(pl.lit("target-fused")))).alias("reason"),
    )


def balanced(frame: pl.DataFrame, context: Context) -> Arranged:
    """One row per candidate kept: one of each cluster, labels balanced in every split, length stratum and cell.

    Args:
        frame: candidates with ``split``, ``label`` (name), ``cluster``, ``reason``, ``cell``, …
        context: salt, settings, and the task.
    """
    usable, drops = usable_of(frame, context)
    classes = Classes(context.labels) if context.labels else choose(usable, context.settings.min_class)
    drops |= classes.left_out
    if classes.reason:
        return Arranged(usable.clear(), drops, candidates=frame.height, reason=classes.reason)
    numbered = with_numbers(usable, classes.names)
    kept = balance_labels(numbered, context)
    drops["unbalanced"] = numbered.height - kept.height
    made = Arranged(finished(kept), drops, labels=classes.names, candidates=frame.height)
    return if_enough(made, classes.names, context)


def twins(frame: pl.DataFrame, context: Context) -> Arranged:
    """Two rows per candidate kept: the original (label 0) and its edited form (label 1), sharing the pair."""
    usable, drops = usable_of(frame, context)
    kept = cap(usable, context.settings, *context.salt, weight=2)
    parts = [
        finished(kept.with_columns(label=pl.lit(label, pl.Int64))).with_columns(
            edited=pl.lit(bool(label)),
            pair=kept["key"],
            key=pl.Series(chance.mix(kept["key"].to_numpy(), "row", label), dtype=pl.UInt64),
        )
        for label in (0, 1)
    ]
    drops |= {"over-size": usable.height - kept.height}
    made = Arranged(pl.concat(parts), drops, candidates=frame.height * 2)
    return if_enough(made, context.labels, context)


def if_enough(arranged: Arranged, names: tuple[str, ...], context: Context) -> Arranged:
    """What was arranged, or why it is too little: a class has fewer rows than ``min_class`` of the settings."""
    counts = dict(arranged.rows.group_by("label").len().iter_rows()) if arranged.rows.height else {}
    rarest = min(range(len(names)), key=lambda number: counts.get(number, 0))
    least, n = context.settings.min_class, counts.get(rarest, 0)
    if n >= least:
        return arranged
    reason = f"{n} rows of {names[rarest]} are left after matching; {least} are needed"
    return replace(arranged, rows=arranged.rows.clear(), reason=reason)


def usable_of(frame: pl.DataFrame, context: Context) -> tuple[pl.DataFrame, dict[str, int]]:
    """Candidates that may be shown, one per cluster of like sentences; and how many were dropped for which reason."""
    counts = frame.filter(pl.col("reason").is_not_null()).group_by("reason").len().sort("reason")
    drops = dict(counts.iter_rows())
    clean_ones = frame.filter(pl.col("reason").is_null())
    single = (
        with_rank(clean_ones, ["cluster"], "one of a cluster", *context.salt).filter(pl.col("rank") == 1).drop("rank")
    )
    single = single.unique("text_key", keep="first", maintain_order=True)
    if "bag" in single.columns:  # sentences of the same words: a swap could make one of the other
        single = with_rank(single, ["bag"], "one of a bag", *context.salt).filter(pl.col("rank") == 1).drop("rank")
    drops["near-duplicate"] = clean_ones.height - single.height
    return single, drops


def with_numbers(frame: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The rows whose label is among ``names``, its number in place of its name."""
    numbers = {name: number for number, name in enumerate(names)}
    return frame.filter(pl.col("label").is_in(names)).with_columns(
        pl.col("label").replace_strict(numbers, return_dtype=pl.Int64, default=None)
    )


def balance_labels(frame: pl.DataFrame, context: Context, *, strict: bool = False) -> pl.DataFrame:
    """Equal counts of ``label`` in every split and cell, of like lengths, within the set sizes; else all rows.

    With ``strict``, only rows that have a like one of every label; otherwise others too, for ``min_class`` of each.
    """
    if not context.settings.match:
        return cap(frame, context.settings, *context.salt)
    least = context.settings.min_class
    kept = even(_thinned(frame, context), "label", *context.salt, cell=("cell",), least=least, strict=strict)
    return cap_labels(kept, context)


def _thinned(frame: pl.DataFrame, context: Context) -> pl.DataFrame:
    """All rows; nine tenths for another draw: the best choice of the same ones would be the same."""
    if not context.settings.draw:
        return frame
    return frame.filter(pl.Series(chance.unit(frame["key"].to_numpy(), "thinned", *context.salt) < THINNED))


def cap_labels(frame: pl.DataFrame, context: Context) -> pl.DataFrame:
    """At most the set number of rows per split, equally many of each label, chosen by hash."""
    ranked = with_rank(frame, ["split", "label"], "cap", *context.salt)
    n_labels = max(frame["label"].n_unique(), 1)
    most = {split: context.settings.size(split) // n_labels for split in SPLITS}
    limit = pl.col("split").cast(pl.String).replace_strict(most, return_dtype=pl.Int64)
    return ranked.filter(pl.col("rank") <= limit).drop("rank")


def finished(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows as the writer takes them."""
    return frame.with_columns(edited=pl.lit(value=False), pair=pl.lit(None, pl.UInt64))


def with_splits(frame: pl.DataFrame, task: Task, seed: int) -> pl.DataFrame:
    """Adds ``group`` and ``split``: by the form of the target, or by the cluster of like sentences."""
    if task.split_by == "target":
        group = frame["target_form"].str.to_lowercase()
        keys = [chance.digest("target", form) for form in group]
    else:
        lead = frame.with_columns(_lead=pl.col("key").min().over("cluster"))["_lead"]
        group, keys = lead.map_elements(lambda key: f"{key:016x}", return_dtype=pl.String), lead.to_list()
    return frame.with_columns(split_of(keys, seed), group=group)
