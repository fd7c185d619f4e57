"""What discourse tasks have in common: windows of a corpus, both orders of a window, rows without a twin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discoprobe.builders import chance
from discoprobe.builders.rows import describe, distinct, pair_rows, version
from discoprobe.builders.sampling import cap
from discoprobe.builders.stretches import Sizes, cut
from discoprobe.builders.task import Arranged, Context

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt


def windows_of(
    frame: pl.DataFrame, context: Context, size: Sizes, reserve: Sizes = 0
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Disjoint windows of distinct sentences, described; and how many were dropped for which reason."""
    return distinct(describe(frame, cut(frame, size, *context.salt, reserve=reserve)))


def orderings(  # noqa: PLR0913 (one keyword per choice of a task)
    frame: pl.DataFrame, context: Context, size: Sizes, perturb: Callable[..., npt.NDArray[np.int64]], *,
    moved: int | None = None, select: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Arranged:  # fmt: skip
    """Every window as it stands (label 0) and reordered (label 1).

    Args:
        frame: candidates, as ``stretches`` gives.
        context: salt and settings.
        size: sentences per window, one number or one per stretch.
        perturb: from the windows' keys (and their size, where it varies) the source index of each sentence shown.
        moved: source index of the sentence whose new place is ``position``.
        select: which of the windows may be kept.
    """
    windows, drops = windows_of(frame, context, size)
    matched = select(windows) if select and context.settings.match else windows
    drops |= {"unbalanced": windows.height - matched.height} if select else {}
    kept = cap(matched, context.settings, *context.salt, weight=2)
    parts = []
    for (n,), same_size in kept.group_by("size", maintain_order=True):
        keys, first = same_size["window"].to_numpy(), same_size["first"].to_numpy()
        whole = np.tile(np.arange(n), (len(keys), 1))
        order = perturb(keys) if isinstance(size, int) else perturb(keys, n)
        places = -1 if moved is None else np.argmax(order == moved, axis=1)
        shown = [version(first[:, None] + whole, whole), version(first[:, None] + order, order, places)]
        parts.append(pair_rows(keys, first, same_size["split"], shown))
    rows = pl.concat(parts) if parts else pl.DataFrame()
    return Arranged(rows, drops, candidates=windows.height * 2)


def single_rows(windows: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    """One row per labelled window (``window``, ``first``, ``split``, ``label``)."""
    keys = chance.mix(windows["window"].to_numpy(), "row")
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
) -> pl.DataFrame:
    """One row per labelled window: its context, and the right sentence at place ``label`` among the wrong ones.

    ``wrong`` is (n, choices - 1). ``n_context`` says how many members are the context.
    """
    labels = windows["label"].to_numpy()
    shown = [
        [*context, *np.insert(others, label, gold)]
        for context, others, label, gold in zip(contexts, wrong, labels, right, strict=True)
    ]
    sizes = pl.Series([len(context) for context in contexts], dtype=pl.Int64)
    orders = [list(range(len(row))) for row in shown]
    return single_rows(windows, version(shown, orders)).with_columns(n_context=sizes)
