"""Passages with a distractor: one of their sentences is replaced, or followed by a wrong one.

Distractors are sentences outside all windows: those left over between windows, and those of windows that are not used
as rows (donors). So a sentence occurs in one row of a task and in the other version of that row only, and whether it
occurs elsewhere in the data does not predict the label.
"""

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.config import Shape
from discoprobe.builders.passages.distractors import ANY, CLOSE, Matching, Slots, distractors
from discoprobe.builders.passages.measures import gains, gains_of_each_sentence, gains_of_similarity, slack
from discoprobe.builders.passages.similarity import Rows, Similarity
from discoprobe.builders.passages.window_rows import members, replaced_pairs, spread, windows_of
from discoprobe.builders.passages.windows import Sizes
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.task import Context, DiscourseTask, Sample

DONORS = 0.15
"""Share of the windows whose sentences may be distractors, where each window gets one."""

DONORS_OF_MANY = 0.3
"""The same where a window has several distractors to choose from (``_has_many``). Fewer windows are left, but more of
them can be balanced."""

PLACES_OF_MANY, ROUNDS_OF_MANY, SHARING_OF_MANY = 2, 2, 64
"""Then a distractor is tried in so many places of a window; each window gets two of them so often; and so many places
are compared with the same part of the pool (``Slots``)."""

FEW = 4
"""Pairs that ``remove_bias`` keeps in every split."""

MANY = 4000
"""If there are more windows, a distractor is tried in one place of each, chosen by hash; otherwise in all places."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Windows that become rows, the pool of sentences that may be distractors, and what was dropped."""

    windows: pl.DataFrame
    pool: Rows
    drops: dict[str, int]


def with_donors(frame: pl.DataFrame, context: Context, size: Sizes, donors: float, reserve: Sizes = 0) -> Cut:
    """Cuts windows and moves the sentences of some windows (a share, chosen by hash) to the pool of distractors.

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


def distractor_task(size: int, labels: tuple[str, str], matching: Matching = CLOSE, **more: Any) -> DiscourseTask:
    """A task on passages as they are, and with a sentence of another document in place of one of their inner sentences.

    Args:
        size: sentences per passage.
        labels: names of the passage as it is and of the other version.
        matching: how much the distractor must resemble the sentence that it replaces. If at all, it is the more similar
            one to the passage in half of the pairs.
        more: further fields of ``DiscourseTask``.
    """
    sample = functools.partial(_whole_and_broken, size=size, matching=matching)
    return DiscourseTask(labels=labels, shape=Shape.SEQUENCE, sample=sample, pairs=True, least=size, **more)


def _whole_and_broken(frame: pl.DataFrame, context: Context, *, size: int, matching: Matching) -> Sample:
    """Passages as they are (label 0), and with a distractor (label 1)."""
    how = matching if context.settings.match else ANY
    cut = with_donors(frame, context, size, DONORS_OF_MANY if _has_many(context, how) else DONORS)
    served = replaced_one(frame, cut, range(1, size - 1), context, how)
    even = served if how == ANY else _as_similar(frame, served, size, context)
    rows = replaced_pairs(cap(even, context.settings, *context.seed_key, weight=2), size)
    n_served = served["window"].n_unique()
    lost = {"no-matching-intruder": cut.windows.height - n_served, "unbalanced": n_served - even.height}
    return Sample(rows, cut.drops | lost, candidates=(cut.windows.height + cut.drops["donor"]) * 2)


def _as_similar(frame: pl.DataFrame, served: pl.DataFrame, size: int, context: Context) -> pl.DataFrame:
    """One distractor for each window, so that in half of the windows it is more similar than the sentence it replaces.

    In large corpora (``context.in_blocks``) the sizes of the differences are balanced, too, and so are lengths and the
    similarity to each sentence of the passage. In a treebank too few pairs would be left.
    """
    true, rest, beside = surroundings(served, size)
    candidates = np.column_stack([true, served["distractor_row"].to_numpy()])
    similarity = context.similarity or Similarity(frame)
    if context.in_blocks:
        of_passage = gains(frame, similarity, rest, beside, candidates)
        of_sentences = gains_of_each_sentence(similarity, rest, beside, candidates)
        rule_gains = np.hstack([of_passage, of_sentences])
    else:
        rule_gains = gains_of_similarity(similarity, rest, beside, candidates, sizes=False)
    return remove_bias(served, rule_gains, *context.seed_key, few=FEW, slack=slack(context), deviations=1.5)


def _has_many(context: Context, matching: Matching) -> bool:
    """Whether windows get several distractors, one of which is chosen so that no measure reveals it.

    Large texts have enough windows for it. With two distractors for each window and 15 % of donors, balance cost three
    fifths of the windows of German Wikipedia, and a tree ensemble still found the whole passage in .638 of the pairs.
    """
    return context.in_blocks and matching != ANY


def replaced_one(frame: pl.DataFrame, cut: Cut, places: range, context: Context, matching: Matching) -> pl.DataFrame:
    """Replaces one sentence of each window by a distractor.

    Args:
        frame: all sentences, as ``with_passages`` returns them.
        cut: the windows and the pool of distractors.
        places: the positions that may be replaced, all but the first and the last.
        context: seed key.
        matching: how much a distractor must resemble the sentence it replaces.

    Returns:
        The windows that find a distractor, once for each that they may have, with ``position`` and ``distractor_row``.
    """
    windows, many = cut.windows, _has_many(context, matching)
    keys = windows["window"].to_numpy()
    if many:
        hashes = np.stack([hashing.mix(keys, "place", place, *context.seed_key) for place in places], axis=1)
        tried = places.start + np.argsort(hashes, axis=1)[:, :PLACES_OF_MANY]
        asked = windows.with_columns(position=tried).explode("position")
    elif windows.height > MANY:
        nth = hashing.pick(keys, len(places), "place", *context.seed_key)
        asked = windows.with_columns(position=pl.Series(nth + places.start))
    else:
        asked = windows.join(pl.DataFrame({"position": places}), how="cross")
    true, rest, beside = surroundings(asked, places.stop + 1)
    slots = Slots(asked["window"].to_numpy(), true, rest, beside, two=True)
    if many:
        slots = replace(slots, rounds=ROUNDS_OF_MANY, sharing=SHARING_OF_MANY)
    found = distractors(frame, slots, cut.pool, *context.seed_key, matching=matching, similarity=context.similarity)
    served: pl.DataFrame = asked[found["slot"].to_numpy()]
    return served.with_columns(found["distractor_row"])


def surroundings(windows: pl.DataFrame, size: int) -> tuple[Rows, Rows, Rows]:
    """The row of the sentence at ``position`` of each window, the rows of the others, and of the two beside it."""
    first, position = windows["first"].to_numpy(), windows["position"].to_numpy()
    rest = members(first, size)[np.arange(size) != position[:, None]].reshape(-1, size - 1)
    return first + position, rest, (first + position)[:, None] + np.array([-1, 1])
