"""Windows with an intruder: what dc, dc_easy, nsp, cloze and nsp_choice have in common.

Intruders come from sentences that stand in no window: what was left over between windows, and windows given up for it
(donors). So no sentence stands in two rows of a task but in the twin of its own row, and a sentence that occurs
elsewhere in the data tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discoprobe.builders import chance
from discoprobe.builders.discourse_rows import windows_of
from discoprobe.builders.match import Matching, Slots, intruders
from discoprobe.builders.rows import spread

if TYPE_CHECKING:
    import numpy.typing as npt

    from discoprobe.builders.stretches import Sizes
    from discoprobe.builders.task import Context

NEARER = 0.75
"""Share of windows that ask for an intruder more like them than the true sentence; about two thirds find one."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Windows that become rows, the sentences that may intrude into them, and what was dropped."""

    windows: pl.DataFrame
    pool: npt.NDArray[np.int64]
    drops: dict[str, int]


def with_donors(frame: pl.DataFrame, context: Context, size: Sizes, donors: float, reserve: Sizes = 0) -> Cut:
    """Cuts windows and gives up a share of them (by hash) to the pool of intruders.

    ``reserve`` sentences after each window are left for the pool too, so that it finds some in its own document. Sizes
    are one number, or one per stretch.
    """
    windows, drops = windows_of(frame, context, size, reserve)
    gives = pl.Series(chance.unit(windows["window"].to_numpy(), "donor", *context.salt) < donors)
    kept = windows.filter(~gives)
    return Cut(kept, spread(frame, covered(kept)), drops | {"donor": int(gives.sum())})


def covered(windows: pl.DataFrame) -> npt.NDArray[np.int64]:
    """All rows that stand in a window."""
    spans = pl.int_ranges("first", pl.col("first") + pl.col("size"))
    return windows.select(row=spans).explode("row")["row"].drop_nulls().to_numpy().astype(np.int64)


def replaced_one(frame: pl.DataFrame, cut: Cut, places: range, context: Context, matching: Matching) -> pl.DataFrame:
    """The windows with one sentence replaced: adds ``position``, ``intruder`` and ``nearer``; drops the unserved.

    ``places`` are the positions that may be replaced: all but the first and the last. ``nearer`` is 1 where the
    intruder is more like the rest of the window than the sentence it replaces, else -1.
    """
    size = places.stop + 1
    first = cut.windows["first"].to_numpy()
    n = len(first)
    place = np.tile(np.array(places), n)
    owner = np.repeat(np.arange(n), len(places))
    rest = np.array([[i for i in range(size) if i != p] for p in places]).reshape(len(places), size - 1)
    slots = Slots(
        window=cut.windows["window"].to_numpy()[owner],
        true=first[owner] + place,
        context=first[owner][:, None] + np.tile(rest, (n, 1)),
        beside=(first[owner] + place)[:, None] + np.array([-1, 1]),
        nearer=(chance.unit(cut.windows["window"].to_numpy(), "nearer", *context.salt) < NEARER)[owner],
    )
    found = intruders(frame, slots, cut.pool, *context.salt, matching=matching)
    at = found["slot"].to_numpy()
    served: pl.DataFrame = cut.windows[owner[at]]
    return served.with_columns(
        position=pl.Series(place[at], dtype=pl.Int64),
        intruder=found["intruder"],
        nearer=2 * found["nearer"].cast(pl.Int8) - 1,
    )
