"""Windows with a distractor (``intruder``), for dc, dc_easy, nsp, cloze and nsp_choice.

Intruders are sentences outside all windows: those left over between windows, and those of windows that are not used as
rows (donors). So a sentence occurs in one row of a task and in the other version of that row only, and whether it
occurs elsewhere in the data does not tell the label.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.passages.distractors import Matching, Slots, intruders
from discoprobe.builders.passages.similarity import Rows
from discoprobe.builders.passages.window_rows import members, spread, windows_of
from discoprobe.builders.passages.windows import Sizes
from discoprobe.builders.task import Context

MANY = 4000
"""Windows of which each has its intruder in one place, chosen by hash; of fewer, each in the place that suits best."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Windows that become rows, the sentences that may intrude into them, and what was dropped."""

    windows: pl.DataFrame
    pool: Rows
    drops: dict[str, int]


def with_donors(frame: pl.DataFrame, context: Context, size: Sizes, donors: float, reserve: Sizes = 0) -> Cut:
    """Cuts windows and moves the sentences of some windows (a share, chosen by hash) to the pool of intruders.

    ``reserve`` sentences after each window are left for the pool too, so that it finds some in its own document. Sizes
    are one number, or one per passage.
    """
    windows, drops = windows_of(frame, context, size, reserve)
    gives = pl.Series(hashing.unit(windows["window"].to_numpy(), "donor", *context.seed_key) < donors)
    windows_kept = windows.filter(~gives)
    return Cut(windows_kept, spread(frame, covered(windows_kept)), drops | {"donor": int(gives.sum())})


def covered(windows: pl.DataFrame) -> Rows:
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
    windows = cut.windows
    if windows.height > MANY:
        nth = hashing.pick(windows["window"].to_numpy(), len(places), "place", *context.seed_key)
        asked = windows.with_columns(position=pl.Series(nth + places.start))
    else:
        asked = windows.join(pl.DataFrame({"position": places}), how="cross")
    true, rest, beside = surroundings(asked, places.stop + 1)
    slots = Slots(asked["window"].to_numpy(), true, rest, beside, two=True)
    found = intruders(frame, slots, cut.pool, *context.seed_key, matching=matching, similarity=context.similarity)
    served: pl.DataFrame = asked[found["slot"].to_numpy()]
    return served.with_columns(found["intruder"])


def surroundings(windows: pl.DataFrame, size: int) -> tuple[Rows, Rows, Rows]:
    """The row of the sentence at ``position`` of each window, the rows of the others, and of the two beside it."""
    first, position = windows["first"].to_numpy(), windows["position"].to_numpy()
    rest = members(first, size)[np.arange(size) != position[:, None]].reshape(-1, size - 1)
    return first + position, rest, (first + position)[:, None] + np.array([-1, 1])
