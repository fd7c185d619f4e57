"""Windows with an intruder, for dc, dc_easy, nsp, cloze and nsp_choice.

Intruders are sentences outside all windows: those left over between windows, and those of windows that are given up for
this purpose (donors). So a sentence occurs in one row of a task and in the other version of that row only, and whether
it occurs elsewhere in the data does not tell the label.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.passages.distractors import Matching, Slots, intruders
from discoprobe.builders.passages.window_rows import spread, windows_of
from discoprobe.builders.passages.windows import Sizes
from discoprobe.builders.task import Context

MANY = 4000
"""Windows of which each has its intruder in one place, chosen by hash; of fewer, each in the place that suits best."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Windows that become rows, the sentences that may intrude into them, and what was dropped."""

    windows: pl.DataFrame
    pool: npt.NDArray[np.int64]
    drops: dict[str, int]


def with_donors(frame: pl.DataFrame, context: Context, size: Sizes, donors: float, reserve: Sizes = 0) -> Cut:
    """Cuts windows and gives up a share of them (by hash) to the pool of intruders.

    ``reserve`` sentences after each window are left for the pool too, so that it finds some in its own document. Sizes
    are one number, or one per passage.
    """
    windows, drops = windows_of(frame, context, size, reserve)
    gives = pl.Series(hashing.unit(windows["window"].to_numpy(), "donor", *context.seed_key) < donors)
    windows_kept = windows.filter(~gives)
    return Cut(windows_kept, spread(frame, covered(windows_kept)), drops | {"donor": int(gives.sum())})


def covered(windows: pl.DataFrame) -> npt.NDArray[np.int64]:
    """All rows that stand in a window."""
    spans = pl.int_ranges("first", pl.col("first") + pl.col("size"))
    return windows.select(row=spans).explode("row")["row"].drop_nulls().to_numpy().astype(np.int64)


def replaced_one(frame: pl.DataFrame, cut: Cut, places: range, context: Context, matching: Matching) -> pl.DataFrame:
    """Replaces one sentence of each window by an intruder.

    Args:
        frame: all sentences, as ``with_passages`` returns them.
        cut: the windows and the pool of intruders.
        places: the positions that may be replaced, all but the first and the last.
        context: seed key.
        matching: how much an intruder must resemble the sentence it replaces.

    Returns:
        The windows that find an intruder, once for each of up to two, with ``position`` and ``intruder`` (row).
    """
    size, windows = places.stop + 1, cut.windows
    first = windows["first"].to_numpy()
    n = len(first)
    if n > MANY:
        keys = windows["window"].to_numpy()
        owner, place = np.arange(n), np.array(places)[hashing.pick(keys, len(places), "place", *context.seed_key)]
    else:
        owner, place = np.repeat(np.arange(n), len(places)), np.tile(np.array(places), n)
    true = first[owner] + place
    rest = np.array([[i for i in range(size) if i != p] for p in places]).reshape(len(places), size - 1)
    slots = Slots(
        window=windows["window"].to_numpy()[owner],
        true=true,
        context=first[owner][:, None] + rest[place - places.start],
        beside=true[:, None] + np.array([-1, 1]),
        two=True,
    )
    found = intruders(frame, slots, cut.pool, *context.seed_key, matching=matching, similarity=context.similarity)
    at = found["slot"].to_numpy()
    served: pl.DataFrame = windows[owner[at]]
    return served.with_columns(position=pl.Series(place[at], dtype=pl.Int64), intruder=found["intruder"])
