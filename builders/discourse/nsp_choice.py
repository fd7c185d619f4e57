"""Which of four sentences follows the passage?

Next sentence prediction as a choice (Koto, Lau & Baldwin 2021). A row has two to eight consecutive sentences and four
candidates: the sentence that follows, and three distractors. One comes from later in the same document. One is a
lexically similar sentence of another document: the share of its content words that it has in common with the passage is
up to .3 larger than that of the right candidate, and at most .1 smaller. One has the same genre (if the split has
another document of that genre). `distractor` says which is which. All candidates have about the length of the right
one: the longer of the two has at most 20 % more words and 30 % more characters. Distractors occur in no other row. The
label is the index of the right candidate, and each index is equally frequent.

Rows are chosen so that the right candidate has each rank of the four about equally often in words, characters,
punctuation marks, similarity to the passage, and in how frequent its words are. In large texts, two measures of
similarity together do not find it, either. In the published sets all three distractors come from anywhere, and TF-IDF
cosine with the passage finds the right one at .85-.94.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.config import Shape
from discoprobe.builders.passages.distractors import ANY, CLOSE, Slots, first_come, shortlists
from discoprobe.builders.passages.intruders import Cut, with_donors
from discoprobe.builders.passages.measures import gains, gains_of_two_measures, slack
from discoprobe.builders.passages.similarity import Rows, Similarity, Values
from discoprobe.builders.passages.window_rows import choice_rows, labelled
from discoprobe.builders.passages.windows import random_sizes
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.task import Context, DiscourseTask, Sample

SIZES, CHOICES, DONORS, RESERVE = (2, 8), 4, 0.05, 6
SPREAD = 0.25
"""By how much, at most, the length aimed at differs from that of the right sentence (as a logarithm)."""
KINDS = {
    "later": replace(CLOSE, later=True, overlap=(1.0, 1.0)),
    "nearest": replace(CLOSE, overlap=(0.1, 0.3)),
    "genre": replace(CLOSE, prefer="genre"),
}
"""The three wrong sentences and how each is matched to the right one."""


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Passages with their next sentence and three others."""
    sizes = random_sizes(frame, *SIZES, *context.seed_key, reserve=1 + RESERVE)
    cut = with_donors(frame, context, sizes + 1, DONORS, RESERVE)
    served, drops = _three_wrong(frame, cut, context)
    even, n_served = _one_of_each(frame, served, context), served["window"].n_unique()
    chosen, odd = labelled(even, CHOICES, context)
    rows = choice_rows(chosen, *_in_any_order(chosen))
    drops["unbalanced"] = n_served - even.height + odd
    return Sample(rows, drops, candidates=cut.windows.height + cut.drops["donor"])


def _three_wrong(frame: pl.DataFrame, cut: Cut, context: Context) -> tuple[pl.DataFrame, dict[str, int]]:
    """The windows for which a wrong sentence of each kind is found, with them.

    Every window first gets one of each kind, then another one of each. A window has one row per combination of them.
    """
    windows, drops, used = cut.windows, dict(cut.drops), set[int]()
    turns, taken = [], np.full((windows.height, 0), -1)
    for kind, matching in KINDS.items():
        around, right = _passages(windows)
        keys, before = windows["window"].to_numpy(), right[:, None] - 1
        slots = Slots(keys, right, around, before, taken, aim=_aim(windows, kind, context), two=True)
        how = matching if context.settings.match else replace(ANY, prefer=matching.prefer, later=matching.later)
        pool, key = np.setdiff1d(cut.pool, list(used)), (*context.seed_key, kind)
        found = shortlists(frame, slots, pool, *key, matching=how, similarity=context.similarity)
        first = first_come(slots, found[0], *key, used=used)
        turns += [(kind, slots, turn, key) for turn in found[1:]]
        drops[f"no-{kind}-sentence"] = windows.height - first.height
        at, intruder = first["slot"].to_numpy(), first["intruder"]
        windows, taken = windows[at].with_columns(intruder.alias(kind)), np.column_stack([taken[at], intruder])
    alternatives = {kind: [windows.select("window", kind)] for kind in KINDS}
    staying = windows["window"].to_numpy()
    for kind, slots, turn, key in turns:
        there = {slot: turn[slot] for slot in np.flatnonzero(np.isin(slots.window, staying)).tolist() if slot in turn}
        second = first_come(slots, there, *key, used=used)
        others = pl.Series("window", slots.window[second["slot"].to_numpy()])
        alternatives[kind].append(pl.DataFrame([others, second["intruder"].alias(kind)]))
    windows = windows.drop(KINDS)
    for parts in alternatives.values():
        windows = windows.join(pl.concat(parts), on="window", maintain_order="left_right")
    return windows.filter(_all_unlike(frame, windows)), drops


def _all_unlike(frame: pl.DataFrame, windows: pl.DataFrame) -> pl.Series:
    """Whether no two of the wrong sentences nearly repeat each other."""
    clusters = frame["cluster"].to_numpy()[windows.select(*KINDS).to_numpy()]
    return pl.Series([len(set(row)) == len(KINDS) for row in clusters.tolist()], dtype=pl.Boolean)


def _one_of_each(frame: pl.DataFrame, served: pl.DataFrame, context: Context) -> pl.DataFrame:
    """One wrong sentence of each kind for each window: no measure of length or similarity tells the right one."""
    if not context.settings.match:
        return served
    contexts, right = _passages(served)
    candidates = np.column_stack([right, served.select(*KINDS).to_numpy().astype(np.int64)])
    similarity = context.similarity or Similarity(frame)
    told = gains(frame, similarity, contexts, right[:, None] - 1, candidates)
    if context.in_blocks:  # a treebank has too few rows to choose from
        told = np.hstack([told, gains_of_two_measures(similarity, contexts, candidates)])
    return remove_bias(served, told, *context.seed_key, few=CHOICES, slack=slack(context) * CHOICES / 2)


def _passages(windows: pl.DataFrame) -> tuple[Rows, Rows]:
    """The rows of each passage, shape (windows, 8), -1 where it is shorter; and the row that follows it."""
    first, right = windows["first"].to_numpy(), (windows["first"] + windows["size"] - 1).to_numpy()
    places = first[:, None] + np.arange(SIZES[1])
    return np.where(places < right[:, None], places, -1), right


def _aim(windows: pl.DataFrame, kind: str, context: Context) -> Values:
    """How many times as long as the right sentence of each window the wrong one of a kind should be.

    Each of the four candidates gets a length at random around one that they have in common, the right one too. If the
    others had lengths around that of the right one, it would be of middle length; if all three had the same other
    length, it would be the one that differs.
    """
    keys = windows["window"].to_numpy()
    right, wrong = (hashing.unit(keys, *context.seed_key, "length", name) for name in ("right", kind))
    return np.asarray(np.exp(SPREAD * (wrong - right)))


def _in_any_order(windows: pl.DataFrame) -> tuple[list[list[int]], list[list[str]]]:
    """The three wrong sentences of each window and their kinds, in hash order, so that places do not tell kinds."""
    wrong = windows.select(*KINDS).to_numpy()
    keys = windows["window"].to_numpy()
    hashes = np.stack([hashing.mix(keys, "place", column) for column in range(wrong.shape[1])], axis=1)
    order = np.argsort(hashes, axis=1)
    return np.take_along_axis(wrong, order, axis=1).tolist(), np.array(list(KINDS))[order].tolist()


TASK = DiscourseTask(labels=("0", "1", "2", "3"), shape=Shape.CHOICE, sample=sample, least=SIZES[0] + 1, version=4)
