"""The rows of nsp and cloze before labels: a context, the sentence that follows it, and a wrong sentence."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.passages.distractor_windows import with_donors
from discoprobe.builders.passages.distractors import ANY, CLOSE, Matching, Slots, distractors
from discoprobe.builders.passages.measures import gains, slack
from discoprobe.builders.passages.similarity import Similarity
from discoprobe.builders.passages.window_rows import members
from discoprobe.builders.passages.windows import passage_keys
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.sampling.stratify import with_rank
from discoprobe.builders.task import Context

CONTEXT = 4
ORIGINS = OTHER, LATER = ("other_document", "later")
"""Where a wrong sentence comes from."""
DONORS = 0.05
"""Share of the windows whose sentences go to the pool of wrong sentences, beside those that are in no window. With .15
a tenth of the rows is lost; with none, a corpus of documents of five sentences has no wrong sentences."""

RESERVE = 3
"""Sentences kept free after a window, so that one of them may be as long as the right one."""

WIDE = (0.25, 0.35)
"""`Matching.overlap` of a later sentence of the same document: wider, because there are few such sentences."""

FEW, MOST = 2, 6
"""Rows of a split that `remove_bias` always keeps; and rows of one kind that stay if there are few of the other."""

ROOMY = 0.6
"""Share of unbroken passages whose windows keep a reserve; the others get wrong sentences from other documents."""


@dataclass(frozen=True, slots=True)
class Continuations:
    """One row per context: a window with the next sentence and, for its ``position``, a wrong one, ``distractor_row``.

    ``distractor`` says where the wrong sentence comes from.
    """

    rows: pl.DataFrame
    drops: dict[str, int]
    candidates: int


def continuations(frame: pl.DataFrame, context: Context, *, later: bool = True) -> Continuations:
    """Contexts of four sentences, the next sentence, and a wrong one: about half of them later in the same document.

    The wrong sentence is matched to the right one in length and in the words it shares with the context; it stands in
    no other row. Up to two are found for each context, of which one is chosen. Without ``later`` all are
    of another document.
    """
    matching, wide = (CLOSE, WIDE) if context.settings.match else (ANY, ANY.overlap)
    roomy = hashing.unit(passage_keys(frame)["key"].to_numpy(), "roomy", *context.seed_key) < ROOMY
    cut = with_donors(frame, context, CONTEXT + 1, DONORS, np.where(roomy, RESERVE, 0))
    inside = _with_wrong(frame, cut.windows, cut.pool, replace(matching, later=True, overlap=wide), context)
    inside = _in_half(inside, cut.windows, context).filter(later)
    left = cut.pool[~np.isin(cut.pool, inside["distractor_row"].to_numpy())]
    asking = cut.windows.join(inside, on="window", how="anti", maintain_order="left")
    outside = _with_wrong(frame, asking, left, matching, context)
    both = pl.concat([inside.with_columns(distractor=pl.lit(LATER)), outside.with_columns(distractor=pl.lit(OTHER))])
    both = both.with_columns(position=pl.lit(CONTEXT, pl.Int64))
    rows, served = _mixed(frame, both, context, later=later), both["window"].n_unique()
    lost = {"no-matching-distractor": cut.windows.height - served, "unbalanced": served - rows.height}
    return Continuations(rows, cut.drops | lost, cut.windows.height + cut.drops["donor"])


def _in_half(inside: pl.DataFrame, windows: pl.DataFrame, context: Context) -> pl.DataFrame:
    """The windows for which there is a wrong sentence: at most half of the windows of a split, chosen by hash."""
    ranked = with_rank(inside.unique("window"), ["split"], "half", *context.seed_key)
    halves = ranked.join(windows.group_by("split").agg(windows=pl.len()), on="split")
    first = halves.filter(pl.col("rank") * 2 <= pl.col("windows"))
    return inside.join(first, on="window", how="semi", maintain_order="left")


def _mixed(frame: pl.DataFrame, both: pl.DataFrame, context: Context, *, later: bool) -> pl.DataFrame:
    """One wrong sentence for each window, at most twice as many of one kind as of the other.

    No measure of length or similarity finds the right sentence more often than chance.
    """
    if not context.settings.match or both.is_empty():
        return both
    first = both["first"].to_numpy()
    candidates = np.column_stack([first + CONTEXT, both["distractor_row"].to_numpy()])
    passages = members(first, CONTEXT)
    rule_gains = gains(frame, context.similarity or Similarity(frame), passages, passages[:, -1:], candidates)
    even = remove_bias(both, rule_gains, "mixed", *context.seed_key, few=FEW, slack=slack(context))
    if not later:
        return even
    ranked = with_rank(even, ["split", "distractor"], "mixed", *context.seed_key)
    scarcer = pl.min_horizontal((pl.col("distractor") == origin).sum().over("split") for origin in ORIGINS)
    return ranked.filter(pl.col("rank") <= pl.max_horizontal(2 * scarcer, pl.lit(MOST))).drop("rank")


def _with_wrong(
    frame: pl.DataFrame, windows: pl.DataFrame, pool: npt.NDArray[np.int64], matching: Matching, context: Context
) -> pl.DataFrame:
    """The windows that find a wrong sentence, once for each of up to two: ``distractor_row``."""
    keys, first = windows["window"].to_numpy(), windows["first"].to_numpy()
    passages = members(first, CONTEXT)
    longer = hashing.pick(keys, 2, *context.seed_key, "longer") == 1
    slots = Slots(keys, first + CONTEXT, passages, passages[:, -1:], longer=longer, two=True)
    found = distractors(
        frame, slots, pool, *context.seed_key, matching=matching, similarity=context.similarity
    )  # fmt: skip
    served: pl.DataFrame = windows[found["slot"].to_numpy()]
    return served.with_columns(found["distractor_row"])
