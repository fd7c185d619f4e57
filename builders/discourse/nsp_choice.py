"""Which of four sentences follows the passage?

Next sentence prediction as a choice (Koto, Lau & Baldwin 2021). Two to eight consecutive sentences and four candidates:
the one that follows, one from later in the same document, the one of another document that is lexically nearest (it
shares at least as many content words with the passage as the right one does), and one of the same genre (where the
split has another document of it). All are as long as the right one (within 20 % in words, 30 % in characters), drawn
around a length beside its own, so that it is not the one in the middle; they stand in no other row. The label is the
index of the right one, each index equally often. In the published sets all three come from anywhere, and TF-IDF cosine
with the passage finds the right one at .85-.94.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discoprobe.builders import chance
from discoprobe.builders.config import Shape
from discoprobe.builders.discourse_rows import choice_rows
from discoprobe.builders.intrusion import Cut, with_donors
from discoprobe.builders.level import levelled
from discoprobe.builders.match import ANY, CLOSE, Slots, intruders
from discoprobe.builders.overlap import Cosines, Shares
from discoprobe.builders.sampling import assign_labels, cap
from discoprobe.builders.stretches import stretch_keys
from discoprobe.builders.task import Arranged, Context, Task

if TYPE_CHECKING:
    import numpy.typing as npt

    from discoprobe.builders.overlap import Gaps, Rows

SIZES, CHOICES, DONORS, RESERVE = (2, 8), 4, 0.05, 6
SPREAD = 0.25
"""By how much, at most, the length aimed at differs from that of the right sentence; most often by less than half."""
KINDS = {
    "later": replace(CLOSE, later=True, overlap=(1.0, 1.0)),
    "nearest": replace(CLOSE, overlap=(0.0, 0.3)),
    "genre": replace(CLOSE, prefer="genre"),
}
"""The three wrong sentences and how each is matched to the right one."""

SIGNS = ("likest", "sharing", "longest", "shortest")
"""Measures in which the right sentence is first of the four as often as by chance."""


def arrange(frame: pl.DataFrame, context: Context) -> Arranged:
    """Passages with their next sentence and three others."""
    least, most = SIZES
    runs = stretch_keys(frame)
    longest = np.clip(runs["length"].to_numpy().astype(np.int64) - 1 - RESERVE, least, most)
    sizes = least + chance.pick(runs["key"].to_numpy(), longest - least + 1, *context.salt, "size")
    cut = with_donors(frame, context, sizes + 1, DONORS, RESERVE)
    served, drops = _three_wrong(frame, cut, context)
    even = levelled(_signed(frame, served), SIGNS, *context.salt, few=CHOICES) if context.settings.match else served
    capped = cap(even, context.settings, *context.salt)
    kept = assign_labels(capped, CHOICES, *context.salt)
    first, right = kept["first"].to_numpy(), (kept["first"] + kept["size"] - 1).to_numpy()
    contexts = [np.arange(begin, end) for begin, end in zip(first, right, strict=True)]
    rows = choice_rows(kept, contexts, right, _in_any_order(kept))
    drops["unbalanced"] = served.height - even.height + capped.height - kept.height
    return Arranged(rows, drops, candidates=cut.windows.height + cut.drops["donor"])


def _three_wrong(frame: pl.DataFrame, cut: Cut, context: Context) -> tuple[pl.DataFrame, dict[str, int]]:
    """The windows for which a wrong sentence of each kind is found, with them."""
    windows, pool, drops = cut.windows, cut.pool, dict(cut.drops)
    for kind, matching in KINDS.items():
        around, right = _passages(windows)
        before = [name for name in KINDS if name in windows.columns]
        taken = windows.select(before).to_numpy().astype(np.int64).reshape(len(right), len(before))
        slots = Slots(
            windows["window"].to_numpy(), right, around, right[:, None] - 1, taken,
            aim=_length_aimed_at(frame, windows, right, context),
        )  # fmt: skip
        how = matching if context.settings.match else replace(ANY, prefer=matching.prefer, later=matching.later)
        found = intruders(frame, slots, pool, *context.salt, kind, matching=how)
        drops[f"no-{kind}-sentence"] = windows.height - found.height
        windows = windows[found["slot"].to_numpy()].with_columns(found["intruder"].alias(kind))
        pool = np.setdiff1d(pool, found["intruder"].to_numpy())
    return windows, drops


def _passages(windows: pl.DataFrame) -> tuple[Rows, Rows]:
    """The rows of each passage, shape (windows, 8), -1 where it is shorter; and the row that follows it."""
    first, right = windows["first"].to_numpy(), (windows["first"] + windows["size"] - 1).to_numpy()
    places = first[:, None] + np.arange(SIZES[1])
    return np.where(places < right[:, None], places, -1), right


def _length_aimed_at(
    frame: pl.DataFrame, windows: pl.DataFrame, right: npt.NDArray[np.int64], context: Context
) -> Gaps:
    """How many characters the wrong sentences of each window should have.

    Sentences drawn around the length of the right one would leave it in the middle, and tell it. So they are drawn
    around another, which is as far from it as they will be, since few are to be had.
    """
    keys = windows["window"].to_numpy()
    off = sum(chance.unit(keys, *context.salt, "aim", lot) for lot in (0, 1)) - 1
    return np.asarray(frame["n_chars"].to_numpy()[right] * (1 + SPREAD * off))


def _signed(frame: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Adds ``SIGNS``: 3 where the right sentence of the four is first by a measure, -1 where another is.

    The measures are likeness to the passage (character n-grams), words in common with it, and length either way.
    """
    contexts, right = _passages(windows)
    cosines, shares = Cosines(frame), Shares(frame)
    candidates = [right, *windows.select(*KINDS).to_numpy().astype(np.int64).T]
    chars = frame["n_chars"].to_numpy().astype(np.float64)
    measures = {
        "likest": [cosines.own(contexts, rows) for rows in candidates],
        "sharing": [shares.own(contexts, rows) for rows in candidates],
        "longest": [chars[rows] for rows in candidates],
        "shortest": [-chars[rows] for rows in candidates],
    }
    return windows.with_columns(**{name: _leads(np.column_stack(values)) for name, values in measures.items()})


def _leads(values: Gaps) -> pl.Series:
    """Of the first column: its share of the first place, less a quarter, times four."""
    first = values == values.max(axis=1, keepdims=True)
    return pl.Series(CHOICES * first[:, 0] / first.sum(axis=1) - 1)


def _in_any_order(windows: pl.DataFrame) -> npt.NDArray[np.int64]:
    """The three wrong sentences of each window in hash order, so that their places do not tell their kinds."""
    wrong = windows.select(*KINDS).to_numpy()
    keys = windows["window"].to_numpy()
    hashes = np.stack([chance.mix(keys, "place", column) for column in range(wrong.shape[1])], axis=1)
    return np.asarray(np.take_along_axis(wrong, np.argsort(hashes, axis=1), axis=1))


TASK = Task(labels=("0", "1", "2", "3"), shape=Shape.CHOICE, arrange=arrange)
