"""Windows of a corpus as rows of discourse tasks: pairs in both orders, single rows, and rows with choices."""

import functools
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.config import Shape
from discoprobe.builders.passages.measures import gains_of_orders, slack
from discoprobe.builders.passages.similarity import Rows, Similarity
from discoprobe.builders.passages.windows import Sizes, cut, random_sizes, without_introductions
from discoprobe.builders.sampling.balance import assign_labels, remove_bias
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.task import Context, DiscourseTask, Sample

Order = Callable[[int, int, Context], list[int]]
Keep = Callable[[pl.DataFrame, pl.DataFrame, Context], pl.DataFrame]

WAYS = 4
"""Number of orders of a window, of which one is chosen."""


def windows_of(
    frame: pl.DataFrame, context: Context, size: Sizes, reserve: Sizes = 0
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Disjoint windows of distinct sentences, as ``distinct`` gives; and how many were dropped for which reason."""
    return distinct(frame, cut(frame, size, *context.seed_key, reserve=reserve))


def reordered(first: Rows, order: Rows, position: Rows | int = -1) -> pl.DataFrame:
    """The windows that begin in the rows ``first``, their sentences in an order (source indices)."""
    return version(first[:, None] + order, order, position)


def ordered_pairs(windows: pl.DataFrame, moved: int | None = None) -> pl.DataFrame:
    """The rows of windows with an ``order`` (source indices): as they stand, and in that order.

    ``moved`` is the source index of the sentence whose new place is ``position``.
    """
    parts = [pl.DataFrame()]
    for same_size in windows.partition_by("size", maintain_order=True):
        first, order = same_size["first"].to_numpy(), np.array(same_size["order"].to_list(), dtype=np.int64)
        places = -1 if moved is None else np.argmax(order == moved, axis=1)
        parts.append(pair_rows(same_size, [reordered(first, np.sort(order, axis=1)), reordered(first, order, places)]))
    return pl.concat(parts[1:] or parts)


def replaced_pairs(windows: pl.DataFrame, size: int) -> pl.DataFrame:
    """The rows of windows as they stand, and with ``distractor_row`` in place of the sentence at ``position``.

    ``order`` has -1 for the distractor, and ``distractor`` says where it comes from, if the windows have this column.
    """
    position, distractor = windows["position"].to_numpy(), windows["distractor_row"].to_numpy()
    whole, places = members(windows["first"].to_numpy(), size), np.arange(size)
    here = places == position[:, None]
    broken = version(np.where(here, distractor[:, None], whole), np.where(here, -1, places), position)
    origins = [windows["distractor"]] if "distractor" in windows.columns else []
    return pair_rows(windows, [version(whole), broken.with_columns(*origins)])


def _alternatives(windows: pl.DataFrame, order: Order, context: Context, ways: int) -> pl.DataFrame:
    """Each window once for each of several orders: ``order`` has the source index of each sentence shown."""
    parts = []
    for way in range(ways):
        keys = hashing.mix(windows["window"].to_numpy(), "way", way) if way else windows["window"].to_numpy()
        orders = [order(key, size, context) for key, size in zip(keys.tolist(), windows["size"], strict=True)]
        parts.append(windows.with_columns(order=pl.Series(orders, dtype=pl.List(pl.Int64))))
    return pl.concat(parts)


def one_order(
    frame: pl.DataFrame, orders: pl.DataFrame, context: Context, *more: npt.NDArray[np.float64]
) -> pl.DataFrame:
    """One ``order`` of each window, chosen so that lengths and similarities by place do not find the original order.

    ``more`` are gains of further rules.
    """
    if orders.is_empty():
        return orders
    rule_gains = np.hstack([gains_of_orders(frame, context.similarity or Similarity(frame), orders), *more])
    few = orders["key"].n_unique()
    return remove_bias(orders, rule_gains, *context.seed_key, few=few, slack=slack(context))


def any_other_order(key: int, size: int, context: Context) -> list[int]:
    """The source index of each sentence in an order that is chosen by hash out of all but the original one."""
    return [*map(int, hashing.permutation(key, size, *context.seed_key))]


def ordering_task(  # noqa: PLR0913 (one keyword per choice of a task)
    size: int | tuple[int, int], order: Order = any_other_order, *,
    labels: tuple[str, str] = ("original", "shuffled"), shape: Shape = Shape.SEQUENCE, ways: int = WAYS,
    moved: int | None = None, keep: Keep | None = None, version: int = 3,
) -> DiscourseTask:  # fmt: skip
    """A task on passages as they stand and in another order; no sentence ends with a colon.

    Args:
        size: sentences per passage; or the least and the most, between which a hash chooses for each unbroken passage.
        order: from the key of a passage and its number of sentences, the source index of each sentence shown; never
            ``0, 1, …, size - 1``.
        labels: names of the passage as it stands and of the other version.
        shape: what a row holds.
        ways: number of orders of each passage; one is chosen so that lengths and similarities do not find the original.
        moved: source index of the sentence whose new place is the column ``position``.
        keep: which of the passages may be kept, where labels are matched.
        version: raised when the rows of the task change.
    """
    sample = functools.partial(_in_two_orders, size=size, order=order, ways=ways, moved=moved, keep=keep)
    return DiscourseTask(
        labels=labels, shape=shape, sample=sample, pairs=True, least=np.min(size).item(), version=version
    )


def _in_two_orders(  # noqa: PLR0913 (one keyword per choice of a task)
    frame: pl.DataFrame, context: Context, *, size: int | tuple[int, int], order: Order, ways: int, moved: int | None,
    keep: Keep | None,
) -> Sample:  # fmt: skip
    """Every window as it stands (label 0) and reordered (label 1)."""
    match, passages = context.settings.match, without_introductions(frame)
    sizes = size if isinstance(size, int) else random_sizes(passages, *size, *context.seed_key)
    windows, drops = windows_of(passages, context, sizes)
    kept = keep(frame, windows, context) if keep and match else windows
    drops |= {"unbalanced": windows.height - kept.height}
    capped = cap(kept, context.settings, *context.seed_key, weight=2)
    orders = _alternatives(capped, order, context, ways if match else 1)
    chosen = one_order(frame, orders, context) if match and ways > 1 else orders
    return Sample(ordered_pairs(chosen, moved), drops, candidates=windows.height * 2)


def labelled(windows: pl.DataFrame, n_labels: int, context: Context) -> tuple[pl.DataFrame, int]:
    """The windows with a ``label``, all equally frequent, within the set sizes; and how many got none."""
    with_label = assign_labels(windows, n_labels, *context.seed_key)
    capped = cap(with_label, context.settings, *context.seed_key, by=["label"])
    return capped, windows.height - with_label.height


def single_rows(windows: pl.DataFrame, shown: pl.DataFrame, *seed_key: str | int) -> pl.DataFrame:
    """One row per labelled window (``window``, ``first``, ``split``, ``label``); its key is a hash of the window's."""
    return shown.with_columns(
        windows["label"].cast(pl.Int64), windows["split"], row=windows["first"].cast(pl.Int64),
        pair=pl.lit(None, pl.UInt64), key=pl.Series(hashing.mix(windows["window"].to_numpy(), "row", *seed_key)),
    )  # fmt: skip


def pair_rows(windows: pl.DataFrame, versions: list[pl.DataFrame]) -> pl.DataFrame:
    """Rows in pairs: one of each window and version, with the window as ``pair`` and the version's number as label."""
    rows = [
        single_rows(windows.with_columns(label=pl.lit(label)), shown, label).with_columns(pair=windows["window"])
        for label, shown in enumerate(versions)
    ]
    return pl.concat(rows, how="diagonal")


def choice_rows(
    windows: pl.DataFrame, wrong: Iterable[Sequence[int]], origins: Iterable[Sequence[str]]
) -> pl.DataFrame:
    """One row per labelled window: its last sentence is the right choice, at place ``label`` among the wrong ones.

    ``n_context`` says how many members are the context: all other sentences of the window.

    Args:
        windows: ``window``, ``first``, ``size``, ``split`` and ``label``.
        wrong: the rows of the wrong choices of each window.
        origins: where each of these comes from.
    """
    shown, sources = [], []
    every = zip(*windows.select("first", "size", "label"), wrong, origins, strict=True)
    for first, size, label, others, kinds in every:
        *before, right = range(first, first + size)
        shown.append([*before, *others[:label], right, *others[label:]])
        sources.append([*kinds[:label], None, *kinds[label:]])
    return single_rows(windows, version(shown)).with_columns(
        n_context=windows["size"].cast(pl.Int64) - 1, distractor=pl.Series(sources, dtype=pl.List(pl.String))
    )


def members(first: Rows, size: int) -> Rows:
    """The rows of each window: (windows, size)."""
    return first[:, None] + np.arange(size)


def distinct(frame: pl.DataFrame, windows: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Windows with ``split``, ``key`` and ``mean_words``; and how many are dropped for which reason.

    A window is dropped if a sentence occurs in it twice, or if another window has the same sentences.
    """
    rows = windows.select("window", row=pl.int_ranges("first", pl.col("first") + pl.col("size"))).explode("row")
    texts = frame.select(pl.col("row").cast(pl.Int64), "split", "n_words", "text_key")
    facts = (
        rows.join(texts, on="row", how="left", maintain_order="left")
        .group_by("window", maintain_order=True)
        .agg(
            pl.col("split").first(), mean_words=pl.col("n_words").mean(),
            _same=pl.col("text_key").n_unique() < pl.len(), _sentences=pl.col("text_key").sort(),
        )
    )  # fmt: skip
    described = windows.join(facts, on="window", maintain_order="left").with_columns(key="window")
    own = described.filter(~pl.col("_same"))
    single = own.sort("window").unique("_sentences", keep="first", maintain_order=True)
    drops = {"sentence-twice": windows.height - own.height, "duplicate": own.height - single.height}
    return single.drop("_same", "_sentences"), drops


def spread(frame: pl.DataFrame, taken: Rows) -> Rows:
    """The rows of usable sentences that are not ``taken``: the pool for distractors.

    The first sentence of a document is not in the pool: it is often a headline or a lead, and the sentence that it
    would replace never is one.
    """
    usable = frame.select(pl.col("passage").is_not_null() & (pl.col("index") > 0)).to_series().to_numpy().copy()
    usable[taken] = False
    return np.flatnonzero(usable)


def version(
    shown: Rows | list[list[int]], order: Rows | list[list[int]] | None = None, position: Rows | int = -1
) -> pl.DataFrame:
    """The sentences shown (rows), their source order inside the window (None: as shown), and the edited position."""
    as_shown = [range(len(row)) for row in shown]
    return pl.DataFrame(
        {
            "members": pl.Series(list(map(list, shown)), dtype=pl.List(pl.Int64)),
            "order": pl.Series(list(map(list, as_shown if order is None else order)), dtype=pl.List(pl.Int32)),
            "position": pl.Series(np.broadcast_to(position, len(shown)), dtype=pl.Int32),
        }
    )
