"""Tasks whose label the corpus knows, such as who speaks or in which section a sentence is.

Such a label cannot be given to any sentence by hash, so the sentences of one label have counterparts with the other
label that look the same: they are matched on lengths, capitals and punctuation marks.

Two neighbouring sentences of which the second lost the connective with which it began.
"""

import functools
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import polars as pl

from discoprobe.builders import genres
from discoprobe.builders.config import Shape
from discoprobe.builders.passages.windows import divide_passages, members, single_rows, version, windows_of
from discoprobe.builders.sampling.balance import (
    COMMA,
    SMALL,
    SURFACE,
    cap,
    equal_counts_by_length,
    first_of_each,
    frequent_in_splits,
    match_labels,
    most_frequent,
    remove_bias,
    strata,
    surface,
)
from discoprobe.builders.sentences.connectives import one_per_sense
from discoprobe.builders.task import Context, DiscourseTask, Sample
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.languages.language import LanguageData

BOTH: Final = ("1", "2")
"""What the columns of the first and of the second of two neighbours end with."""

TOLERANCE: Final = 0.1
"""Largest difference in length of a sentence and its counterpart: about a tenth of the characters."""

FEW: Final = 4
"""Pairs that ``remove_bias`` keeps in every split."""

MARKS: Final = {
    "end": pl.col("text").str.extract(r"(\P{L})\s*$"),
    "brackets": pl.col("text").str.contains(r"[(\[]"),
    "digits": pl.col("text").str.contains(r"\p{N}"),
    "name": pl.col("text").str.contains(r"^\S+ \P{L}?\p{Lu}"),
}
"""What a sentence and its counterpart have in common."""


def change_task(fact: str, labels: tuple[str, str], *, needs: Iterable[str], **more: Any) -> DiscourseTask:
    """A task on two neighbouring sentences: is a fact about them the same, or does it change?

    Both labels are matched on the surface of both sentences, and are equally frequent for each combination of final
    punctuation marks and commas. A document that does not have both gives no rows.

    Args:
        fact: a column of ``Shard.sentences``, such as ``speaker``; sentences without it are in no row.
        labels: names of the same value and of another one.
        needs: layers of annotation.
        more: further fields of ``DiscourseTask``.
    """
    return DiscourseTask(
        labels=labels, shape=Shape.PAIR, sample=functools.partial(_neighbours, fact=fact), needs=frozenset(needs),
        mark=functools.partial(_mark_fact, fact=fact), **more,
    )  # fmt: skip


def _mark_fact(shard: Shard, _language: LanguageData, *, fact: str) -> pl.DataFrame:
    """The sentences with the fact: ``sent``, the fact, and what they are matched on."""
    text = pl.col("text")
    end = pl.concat_str(
        text.str.extract(r"([?!])\P{L}*$").fill_null("."), pl.when(text.str.contains(COMMA)).then(pl.lit(",")),
        ignore_nulls=True,
    )  # fmt: skip
    return shard.sentences.drop_nulls(fact).select("sent", fact, *surface(text), end=end)


def _neighbours(frame: pl.DataFrame, context: Context, *, fact: str) -> Sample:
    """Pairs of neighbours, in as many of which the fact changes as not."""
    windows = windows_of(divide_passages(frame, pl.col(fact).is_null()), context, 2)
    pairs, drops = _described(windows, frame, fact), context.drops
    shared = drops.keep(pairs, pairs.filter(pl.col("label").n_unique().over("doc_key") > 1), "one-label")
    matched = shared
    if context.settings.match:
        small = SMALL if context.small else {}
        matched = match_labels(shared, "label", *context.seed_key, cell=("ends",), of=BOTH, small=small)
    drops.keep(shared, matched, "unbalanced")
    capped = drops.keep(matched, cap(matched, context.settings, *context.seed_key, by=("label",)), "over-size")
    versions = version(members(capped["first"].to_numpy(), 2))
    rows = single_rows(capped, versions).with_columns(stratum=capped["ends"])
    return Sample(rows, candidates=windows.height)


def _described(windows: pl.DataFrame, frame: pl.DataFrame, fact: str) -> pl.DataFrame:
    """Windows of two with ``label``, ``doc_key``, ``ends`` and the surface of both sentences."""
    facts = frame.select(fact, "end", *SURFACE)
    both = [facts[windows["first"] + place].select(pl.all().name.suffix(name)) for place, name in enumerate(BOTH)]
    label = (pl.col(f"{fact}1") != pl.col(f"{fact}2")).cast(pl.Int64)
    documents = frame[windows["first"]].select("doc_key")
    every = pl.concat([windows, documents, *both], how="horizontal")
    return every.with_columns(label=label, ends=pl.concat_str("end1", "end2"))


def counterpart_task(labels: tuple[str, str], inside: pl.Expr, *, needs: Iterable[str], **more: Any) -> DiscourseTask:
    """A task on a sentence: is it in a part of its document, or not?

    Every sentence of the part has a counterpart in the rest of the document: its length differs by ``TOLERANCE`` at
    most, and it has the same ``MARKS``. In half of these pairs the one has more words, in the other half the other one;
    the same holds for all of ``SURFACE``.

    Args:
        labels: names of the part and of the rest.
        inside: of the columns of ``Shard.sentences``, whether a sentence is in the part; null for one that is not used.
        needs: layers of annotation.
        more: further fields of ``DiscourseTask``.
    """
    return DiscourseTask(
        labels=labels, shape=Shape.SENTENCE, sample=_counterparts, needs=frozenset(needs), decides=True,
        mark=functools.partial(_mark_inside, inside=inside), **more,
    )  # fmt: skip


def _mark_inside(shard: Shard, _language: LanguageData, *, inside: pl.Expr) -> pl.DataFrame:
    """The sentences that can be used: ``sent``, ``inside``, and what they are matched on."""
    used, length = shard.sentences.filter(inside.is_not_null()), pl.col("text").str.len_chars().log()
    return used.select("sent", *surface(pl.col("text")), inside=inside, length=length, **MARKS)


def _counterparts(frame: pl.DataFrame, context: Context) -> Sample:
    """Sentences inside the part, each with one outside it."""
    drops = context.drops
    candidates = frame.filter(pl.col("reason").is_null(), pl.col("inside").is_not_null())
    drops.consider(candidates)
    single = drops.keep(candidates, first_of_each(candidates, ["cluster"], *context.seed_key), "near-duplicate")
    pairs = _pairs_corpus_labels(single, context)
    more = pairs.select(SURFACE).to_numpy().astype(np.float64)
    matched = remove_bias(pairs, more, *context.seed_key, few=FEW) if context.settings.match else pairs
    drops.keep(single, _both(matched), "unbalanced")
    capped = cap(matched, context.settings, *context.seed_key, weight=2)
    drops.keep(_both(matched), _both(capped), "over-size")
    rows = pl.concat([_rows_of_label(capped, label, name) for label, name in enumerate(("", "_outside"))])
    return Sample(rows, candidates=candidates.height)


def _both(pairs: pl.DataFrame) -> pl.DataFrame:
    """Both sentences of pairs, one per row: ``shard`` and ``sent``."""
    sides = ({"shard": f"shard{side}", "sent": f"sent{side}"} for side in ("", "_outside"))
    return pl.concat([pairs.select(**side) for side in sides])


def _pairs_corpus_labels(sentences: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Each sentence inside with one outside that is near in length; none of these is in two pairs.

    Where the same sentence outside is the nearest to several, a hash decides which of them gets it. The others get the
    nearest of what is left, and so on.

    Returns:
        ``key``, ``split``, ``ring`` (equal in both rows of a pair), ``row`` and ``n_words`` of both, and of each of
        ``SURFACE`` which of them has more, as a sign.
    """
    columns = ["doc_key", "split", "shard", "sent", "row", "key", "n_words", "length", *SURFACE, *MARKS]
    part, rest = (
        sentences.filter(pl.col("inside") == inside).select(columns).sort("length", "key") for inside in (True, False)
    )
    pairs: list[pl.DataFrame] = []
    while not pairs or pairs[-1].height:
        nearest = part.join_asof(
            rest, on="length", by=["doc_key", *MARKS], strategy="nearest", tolerance=TOLERANCE, suffix="_outside",
            check_sortedness=False,
        ).drop_nulls("row_outside")  # fmt: skip
        pairs.append(first_of_each(nearest, ["row_outside"], *context.seed_key))
        part = part.filter(~pl.col("row").is_in(pairs[-1]["row"].implode()))
        rest = rest.filter(~pl.col("row").is_in(pairs[-1]["row_outside"].implode()))
    more = {name: (pl.col(name) - pl.col(f"{name}_outside")).sign() for name in SURFACE}
    return pl.concat(pairs).with_columns(ring="key", **more)


def _rows_of_label(pairs: pl.DataFrame, label: int, suffix: str) -> pl.DataFrame:
    """The rows of one label."""
    windows = pairs.select("split", window="key", first=f"row{suffix}", label=pl.lit(label))
    sentences = version(members(windows["first"].to_numpy(), 1))
    return single_rows(windows, sentences, label).with_columns(
        pairs["ring"], stratum=pairs["ring"], n_words=pairs[f"n_words{suffix}"]
    )


STRATA = 3
"""Strata of length inside which connectives are equally frequent over the blocks of a large corpus."""


def without_connective(frame: pl.DataFrame, context: Context) -> Sample:
    """Pairs of neighbours of which the second lost its connective, equally many per connective.

    Args:
        frame: sentences, with what ``sentence_connectives`` marks.
        context: settings and language; ``decided`` are the connectives that are classes.
    """
    drops, every = context.drops, _pairs_connective_pairs(frame)
    drops.consider(every)
    unsuited = genres.unsuited(context.sources, context.settings, "connectives")
    pairs = drops.keep(every, every.filter(unsuited.is_null()), genres.REASON)
    enough = context.decided or frequent_in_splits(pairs, "connective", context.settings.min_class)
    frequent = drops.keep(pairs, pairs.filter(pl.col("connective").is_in(enough)), "rare-connective")
    named = frequent if context.decided else one_per_sense(frequent, context.language)
    drops.keep(frequent, named, "same-sense")
    names = context.decided or tuple(sorted(named["connective"].unique()))
    balanced = named if len(names) > 1 else named.clear()
    if balanced.height and not context.decided:
        balanced = equal_counts_by_length(named, "connective", *context.seed_key)
    drops.keep(named, balanced, "unbalanced")
    staged = balanced.with_columns(stratum=strata(pl.col("mean_words"), STRATA))
    chosen = drops.keep(staged, cap(staged, context.settings, *context.seed_key, by=("connective",)), "over-size")
    windows = chosen.select(
        "split", "first", window="key",
        label=pl.col("connective").replace_strict(names, range(len(names)), return_dtype=pl.Int64),
    )  # fmt: skip
    versions = version(members(windows["first"].to_numpy(), 2), position=1)
    rows = single_rows(windows, versions, *context.seed_key).with_columns(chosen["trim", "stratum"])
    return Sample(rows, labels=names, candidates=every.height, reason=_problem(pairs, names, context))


def _problem(pairs: pl.DataFrame, names: tuple[str, ...], context: Context) -> str:
    """Why there are fewer than two classes, with the connectives that were found; empty where there are two."""
    if len(names) > 1:
        return ""
    frequent = most_frequent(pairs, "connective")
    return (
        f"no two connectives of different sense open {context.settings.min_class} sentences each, some in every split "
        f"({f'most frequent: {frequent}' if frequent else 'none was found'})"
    )


def _pairs_connective_pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """Sentences with a connective whose neighbour before them is usable; no sentence stands in two pairs."""
    before = pl.col("passage") == pl.col("passage").shift(1)
    pairs = frame.with_columns(_ok=pl.col("connective").is_not_null() & before.fill_null(value=False))
    pairs = pairs.with_columns(_chain=(~pl.col("_ok")).cum_sum()).filter("_ok")
    nth = pl.int_range(pl.len()).over("_chain")
    single = pairs.filter(nth % 2 == 0).with_columns(
        mean_words=pl.col("n_words").cast(pl.Float64), first=pl.col("row").cast(pl.Int64) - 1, size=pl.lit(2)
    )
    return single.unique("text_key", keep="first", maintain_order=True)
