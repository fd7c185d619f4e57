"""Two neighbouring sentences of which the second lost the connective with which it began."""

import polars as pl

from discoprobe.builders.passages.window_rows import members, single_rows, version
from discoprobe.builders.sampling.balance import equal_counts_by_length
from discoprobe.builders.sampling.label_sets import frequent_in_splits, most_frequent
from discoprobe.builders.sampling.stratify import cap, strata
from discoprobe.builders.sentences.connectives import one_per_sense
from discoprobe.builders.task import Context, Sample

STRATA = 3
"""Strata of length inside which connectives are equally frequent over the blocks of a large corpus."""

TALK = ("conversation", "podcast", "vlog", "court", "spoken")
"""Genres of documents (GUM) in which connectives are fillers (*so, I was, like, …*)."""


def without_connective(frame: pl.DataFrame, context: Context) -> Sample:
    """Pairs of neighbours of which the second lost its connective, equally many per connective.

    Args:
        frame: sentences, with what ``sentence_connectives`` marks.
        context: settings and language; ``decided`` are the connectives that are classes.
    """
    every = _pairs(frame)
    talk = pl.col("genre").is_in(TALK).fill_null(value=False)
    pairs = every if context.settings.genres == "all" else every.filter(~talk)
    enough = context.decided or frequent_in_splits(pairs, "connective", context.settings.min_class)
    frequent = pairs.filter(pl.col("connective").is_in(enough))
    named = frequent if context.decided else one_per_sense(frequent, context.language)
    names = context.decided or tuple(sorted(named["connective"].unique()))
    capped = cap(named, context.settings, *context.seed_key)
    chosen = capped if len(names) > 1 else capped.clear()
    if chosen.height and not context.decided:
        chosen = equal_counts_by_length(capped, "connective", *context.seed_key)
    windows = chosen.select(
        "split", window="key", first=pl.col("row").cast(pl.Int64) - 1,
        label=pl.col("connective").replace_strict(names, range(len(names)), return_dtype=pl.Int64),
    )  # fmt: skip
    shown = version(members(windows["first"].to_numpy(), 2), position=1)
    rows = single_rows(windows, shown, *context.seed_key).with_columns(
        chosen["trim"], stratum=chosen.select(strata(pl.col("mean_words"), STRATA)).to_series()
    )
    drops = {
        "talk": every.height - pairs.height,
        "rare-connective": pairs.height - frequent.height,
        "same-sense": frequent.height - named.height,
        "unbalanced": named.height - chosen.height,
    }
    return Sample(rows, drops, labels=names, candidates=every.height, reason=_problem(pairs, names, context))


def _problem(pairs: pl.DataFrame, names: tuple[str, ...], context: Context) -> str:
    """Why there are fewer than two classes, with the connectives that were found; empty where there are two."""
    if len(names) > 1:
        return ""
    frequent = most_frequent(pairs, "connective")
    return (
        f"no two connectives of different sense open {context.settings.min_class} sentences each, some in every split "
        f"({f'most frequent: {frequent}' if frequent else 'none was found'})"
    )


def _pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """Sentences with a connective whose neighbour before them is usable; no sentence stands in two pairs."""
    before = pl.col("passage") == pl.col("passage").shift(1)
    pairs = frame.with_columns(_ok=pl.col("connective").is_not_null() & before.fill_null(value=False))
    pairs = pairs.with_columns(_chain=(~pl.col("_ok")).cum_sum()).filter("_ok")
    nth = pl.int_range(pl.len()).over("_chain")
    single = pairs.filter(nth % 2 == 0).with_columns(mean_words=pl.col("n_words").cast(pl.Float64))
    return single.unique("text_key", keep="first", maintain_order=True)
