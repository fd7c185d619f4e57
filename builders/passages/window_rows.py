"""Windows of a corpus as rows of discourse tasks: pairs in both orders, single rows, and rows with choices."""

import functools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.config import Shape
from discoprobe.builders.papers import Paper
from discoprobe.builders.passages.measures import gains_of_orders, slack
from discoprobe.builders.passages.similarity import Similarity
from discoprobe.builders.passages.windows import Sizes, cut
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.task import Context, DiscourseTask, Sample

WAYS = 4
"""Number of orders of a window, of which one is chosen."""


def windows_of(
    frame: pl.DataFrame, context: Context, size: Sizes, reserve: Sizes = 0
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Disjoint windows of distinct sentences, described; and how many were dropped for which reason."""
    return distinct(describe(frame, cut(frame, size, *context.seed_key, reserve=reserve)))


def orderings(  # noqa: PLR0913 (one keyword per choice of a task)
    frame: pl.DataFrame, context: Context, size: Sizes, perturb: Callable[..., npt.NDArray[np.int64]], *,
    moved: int | None = None, select: Callable[[pl.DataFrame], pl.DataFrame] | None = None, ways: int = 1,
) -> Sample:  # fmt: skip
    """Every window as it stands (label 0) and reordered (label 1).

    Args:
        frame: candidates, as ``with_passages`` gives.
        context: seed key and settings.
        size: sentences per window, one number or one per passage.
        perturb: from the windows' keys and their size the source index of each sentence shown.
        moved: source index of the sentence whose new place is ``position``.
        select: which of the windows may be kept.
        ways: orders of each window of which one is chosen, so that lengths and similarity by place do not tell it.
    """
    windows, drops = windows_of(frame, context, size)
    matched = select(windows) if select and context.settings.match else windows
    drops |= {"unbalanced": windows.height - matched.height} if select else {}
    capped = cap(matched, context.settings, *context.seed_key, weight=2)
    perturbed = _perturbed(frame, capped, perturb, context, ways if context.settings.match else 1)
    return Sample(ordered_pairs(perturbed, moved), drops, candidates=windows.height * 2)


def ordered_pairs(windows: pl.DataFrame, moved: int | None = None) -> pl.DataFrame:
    """The rows of windows with an ``order`` (source indices): as they stand, and in that order.

    ``moved`` is as in ``orderings``.
    """
    parts = []
    for (n,), same_size in windows.group_by("size", maintain_order=True):
        keys, first = same_size["window"].to_numpy(), same_size["first"].to_numpy()
        whole = np.tile(np.arange(n), (len(keys), 1))
        order = np.array(same_size["order"].to_list(), dtype=np.int64)
        places = -1 if moved is None else np.argmax(order == moved, axis=1)
        shown = [version(first[:, None] + whole, whole), version(first[:, None] + order, order, places)]
        parts.append(pair_rows(keys, first, same_size["split"], shown))
    return pl.concat(parts) if parts else pl.DataFrame()


def _perturbed(
    frame: pl.DataFrame,
    windows: pl.DataFrame,
    perturb: Callable[..., npt.NDArray[np.int64]],
    context: Context,
    ways: int,
) -> pl.DataFrame:
    """The windows with their ``order``: the source index of each sentence shown."""
    alternatives = [windows.clear().with_columns(order=pl.lit(None, pl.List(pl.Int64)))]
    for way in range(ways):
        for (n,), same_size in windows.group_by("size", maintain_order=True):
            keys = same_size["window"].to_numpy()
            order = perturb(hashing.mix(keys, "way", way) if way else keys, n)
            alternatives.append(same_size.with_columns(order=pl.Series(order.tolist(), dtype=pl.List(pl.Int64))))
    every = pl.concat(alternatives)
    return every if ways == 1 else one_order(frame, every, context)


def one_order(
    frame: pl.DataFrame, orders: pl.DataFrame, context: Context, *more: npt.NDArray[np.float64]
) -> pl.DataFrame:
    """One ``order`` of each window, so that lengths and similarity by place do not tell it from the window itself.

    ``more`` are gains of further rules.
    """
    if orders.is_empty():
        return orders
    told = np.hstack([gains_of_orders(frame, context.similarity or Similarity(frame), orders), *more])
    few = orders["key"].n_unique()
    return remove_bias(orders, told, *context.seed_key, few=few, slack=slack(context))


def ordering_task(size: int, order: Callable[[int, Context], list[int]], *papers: Paper) -> DiscourseTask:
    """A task on passages as they stand (`original`) and in another order (`shuffled`).

    Args:
        size: sentences per passage.
        order: from the key of a passage, the source index of each sentence shown; never ``0, 1, …, size - 1``.
        papers: publications that the docstring of the task does not mention by a known name.
    """
    sample = functools.partial(_original_and_shuffled, size=size, order=order)
    return DiscourseTask(
        labels=("original", "shuffled"),
        shape=Shape.SEQUENCE,
        sample=sample,
        pairs=True,
        papers=papers,
        least=size,
        version=2,
    )


def _original_and_shuffled(
    frame: pl.DataFrame, context: Context, *, size: int, order: Callable[[int, Context], list[int]]
) -> Sample:
    def orders(keys: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.int64]:
        return np.array([order(int(key), context) for key in keys], dtype=np.int64).reshape(-1, size)

    return orderings(frame, context, size, orders, ways=WAYS)


def single_rows(windows: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    """One row per labelled window (``window``, ``first``, ``split``, ``label``)."""
    keys = hashing.mix(windows["window"].to_numpy(), "row")
    return shown.with_columns(
        windows["label"],
        windows["split"],
        key=pl.Series(keys),
        pair=pl.lit(None, pl.UInt64),
        row=windows["first"].cast(pl.Int64),
    )


def choice_rows(
    windows: pl.DataFrame,
    contexts: list[npt.NDArray[np.int64]],
    right: npt.NDArray[np.int64],
    wrong: npt.NDArray[np.int64],
    origins: list[list[str]],
) -> pl.DataFrame:
    """One row per labelled window: its context, and the right sentence at place ``label`` among the wrong ones.

    ``wrong`` and ``origins`` (where each comes from) are (n, choices - 1). ``n_context`` says how many members are the
    context.
    """
    labels = windows["label"].to_numpy()
    shown = [
        [*context, *np.insert(others, label, gold)]
        for context, others, label, gold in zip(contexts, wrong, labels, right, strict=True)
    ]
    sizes = pl.Series([len(context) for context in contexts], dtype=pl.Int64)
    orders = [list(range(len(row))) for row in shown]
    sources = [[*origin[:gold], None, *origin[gold:]] for origin, gold in zip(origins, labels, strict=True)]
    distractors = pl.Series(sources, dtype=pl.List(pl.String))
    return single_rows(windows, version(shown, orders)).with_columns(n_context=sizes, distractor=distractors)


def members(first: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """The rows of each window: (windows, size)."""
    return first[:, None] + np.arange(size)


def describe(frame: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Adds to windows what sampling needs.

    ``split``, ``key``, ``mean_words``, ``same`` (a sentence occurs twice in it) and ``content_key`` (equal for windows
    of the same sentences in any order).
    """
    rows = windows.select("window", row=pl.int_ranges("first", pl.col("first") + pl.col("size"))).explode("row")
    texts = frame.select(pl.col("row").cast(pl.Int64), "split", "n_words", "text_key")
    facts = (
        rows.join(texts, on="row", how="left", maintain_order="left")
        .group_by("window", maintain_order=True)
        .agg(
            split=pl.col("split").first(),
            mean_words=pl.col("n_words").mean(),
            same=pl.col("text_key").n_unique() < pl.len(),
            content_key=pl.col("text_key").sort(),
        )
    )
    return windows.join(facts, on="window", maintain_order="left").with_columns(key=pl.col("window"))


def distinct(windows: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Drops windows in which a sentence occurs twice and windows of the same sentences as another."""
    own = windows.filter(~pl.col("same"))
    single = own.sort("window").unique("content_key", keep="first", maintain_order=True)
    drops = {"sentence-twice": windows.height - own.height, "duplicate": own.height - single.height}
    return single.drop("content_key", "same"), drops


def spread(frame: pl.DataFrame, taken: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The rows of usable sentences that are not ``taken``: the pool for intruders.

    A document's first sentence is not in it: it is a headline or a lead, and what it would stand in for never is one.
    """
    usable = frame.select(pl.col("passage").is_not_null() & (pl.col("index") > 0)).to_series().to_numpy().copy()
    usable[taken] = False
    return np.flatnonzero(usable)


def pair_rows(
    windows: npt.NDArray[np.uint64], first: npt.NDArray[np.int64], split: pl.Series, versions: list[pl.DataFrame]
) -> pl.DataFrame:
    """Rows that come in sets: the i-th row of every version shares the pair of the i-th window.

    ``versions[label]`` has ``members``, ``order`` and ``position`` for each window.
    """
    parts = [
        version.with_columns(
            key=pl.Series(hashing.mix(windows, "row", label), dtype=pl.UInt64),
            pair=pl.Series(windows, dtype=pl.UInt64),
            label=pl.lit(label, pl.Int64),
            split=split,
            row=pl.Series(first, dtype=pl.Int64),
        )
        for label, version in enumerate(versions)
    ]
    return pl.concat(parts)


def version(
    shown: npt.NDArray[np.int64] | list[list[int]], order: npt.NDArray[np.int64] | list[list[int]],
    position: npt.NDArray[np.int64] | int = -1,
) -> pl.DataFrame:  # fmt: skip
    """The sentences shown (rows), their source order inside the window, and the edited position."""
    n = len(shown)
    return pl.DataFrame(
        {
            "members": pl.Series(list(map(list, shown)), dtype=pl.List(pl.Int64)),
            "order": pl.Series(list(map(list, order)), dtype=pl.List(pl.Int32)),
            "position": pl.Series(np.broadcast_to(np.asarray(position), (n,)).astype(np.int32)),
        }
    )
