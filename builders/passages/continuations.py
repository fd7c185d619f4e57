"""The rows of nsp and cloze before labels: a context, the sentence that follows it, and a wrong sentence.

Choices of the sentence that follows a passage, beside wrong ones of several kinds.

Each window gets one distractor of each kind, and a second one of each to choose from, so that the right sentence
has each rank of length, similarity and frequency of words about equally often.
"""

import functools
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.distractors import (
    ANY,
    CLOSE,
    Matching,
    Slots,
    distractors,
    first_come,
    shortlists,
    with_donors,
)
from discoprobe.builders.passages.similarity import (
    Comparison,
    Rows,
    Values,
    gains,
    gains_of_measures_together,
    gains_of_sentences,
)
from discoprobe.builders.passages.windows import choice_rows, labelled, members, passage_keys, random_sizes
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.task import Context, DiscourseTask, Sample
from discoprobe.loaders import hashing

CONTEXT = 4
OTHER, SAME = "other_document", "same_document"
"""Where a wrong sentence comes from."""
AWAY = 10
"""By how many sentences at least a wrong one of the same document is later than the right one."""
Kinds = Mapping[str, Matching]
FROM_OTHERS: Final[Kinds] = {OTHER: CLOSE}
FROM_BOTH: Final[Kinds] = {SAME: replace(CLOSE, later=True, beyond=AWAY), **FROM_OTHERS}
"""How wrong sentences are matched, by where they come from, the scarcer ones first."""
DONORS_CONTINUATIONS = 0.05
"""Share of the windows whose sentences go to the pool of wrong sentences, beside those that are in no window. With .15
a tenth of the rows is lost; with none, a corpus of documents of five sentences has no wrong sentences."""

RESERVE_CONTINUATIONS = 3
"""Sentences kept free after a window, from which other passages have their wrong sentences."""

FEW = 2
"""Rows of a split that `remove_bias` always keeps."""

ROOMY = 0.6
"""Share of unbroken passages whose windows keep a reserve."""


def continuations(frame: pl.DataFrame, context: Context, kinds: Kinds = FROM_OTHERS) -> tuple[pl.DataFrame, int]:
    """Contexts of four sentences, the next sentence, and a wrong one.

    The wrong sentence is matched to the right one in length and in the words it shares with the context; it stands in
    no other row. Up to two are found for each context, of which one is chosen, so that no measure of length or
    similarity finds the right sentence more often than chance; in large texts, several of them together and the
    similarity to single sentences do not find it, either.

    Args:
        frame: all sentences, as ``with_passages`` gives them.
        context: seed, settings and measures of similarity.
        kinds: where wrong sentences come from, ``OTHER`` alone or first ``SAME``. A hash gives each of them an equal
            share of the contexts; those that find no sentence of their own document get one of another.

    Returns:
        One row per context: a window with the next sentence and, for its ``position``, a wrong one, ``distractor_row``;
        ``distractor`` says where that comes from. And the number of candidates.
    """
    roomy = hashing.unit(passage_keys(frame)["key"].to_numpy(), "roomy", *context.seed_key) < ROOMY
    windows, pool = with_donors(
        frame, context, CONTEXT + 1, DONORS_CONTINUATIONS, np.where(roomy, RESERVE_CONTINUATIONS, 0)
    )
    turns = hashing.pick(windows["window"].to_numpy(), len(kinds), "kind", *context.seed_key)
    asking, parts = windows, list[pl.DataFrame]()
    for turn, (kind, matching) in enumerate(kinds.items()):
        how = matching if context.settings.match else replace(ANY, later=matching.later, beyond=matching.beyond)
        ask = windows.filter(turns <= turn).join(asking, on="window", how="semi", maintain_order="left")
        served = _with_wrong(frame, ask, pool, how, context).with_columns(
            distractor=pl.lit(kind), position=pl.lit(CONTEXT, pl.Int64)
        )
        asking = asking.join(served, on="window", how="anti", maintain_order="left")
        pool = np.setdiff1d(pool, served["distractor_row"])
        even = _even(frame, served, context) if context.settings.match and served.height else served
        context.drops.keep(served, even, "unbalanced", n=served["window"].n_unique() - even.height)
        parts.append(even)
    context.drops.lose("no-matching-distractor", asking)
    return pl.concat(parts), windows.height + context.drops.counts["donor"]


def _even(frame: pl.DataFrame, served: pl.DataFrame, context: Context) -> pl.DataFrame:
    """One wrong sentence for each window, so that no measure of length or similarity finds the right one."""
    first = served["first"].to_numpy()
    candidates = np.column_stack([first + CONTEXT, served["distractor_row"].to_numpy()])
    passages = members(first, CONTEXT)
    rule_gains = _rule_gains(frame, passages, passages[:, -1:], candidates, context, single=True)
    return remove_bias(served, rule_gains, "mixed", *context.seed_key, few=FEW, slack=context.slack)


def _with_wrong(
    frame: pl.DataFrame, windows: pl.DataFrame, pool: npt.NDArray[np.int64], matching: Matching, context: Context
) -> pl.DataFrame:
    """The windows that find a wrong sentence, once for each of up to two: ``distractor_row``."""
    keys, first = windows["window"].to_numpy(), windows["first"].to_numpy()
    passages = members(first, CONTEXT)
    longer = hashing.pick(keys, 2, *context.seed_key, "longer") == 1
    slots = Slots(keys, first + CONTEXT, passages, passages[:, -1:], longer=longer, two=True)
    distractor_rows = distractors(
        frame, slots, pool, *context.seed_key, matching=matching, similarity=context.similarity
    )  # fmt: skip
    served: pl.DataFrame = windows[distractor_rows["slot"].to_numpy()]
    return served.with_columns(distractor_rows["distractor_row"])


DONORS_CHOICES = 0.05
"""Share of the windows whose sentences go to the pool of distractors."""

RESERVE_CHOICES = 6
"""Sentences kept free after a window, if there are more, so that some of them may be as long as the right one."""

SPREAD = 0.18
"""By how much, at most, the length aimed at differs from that of the right sentence (as a logarithm): 20 %, as much as
`Matching.words` allows."""


def choice_task(sizes: tuple[int, int], kinds: Kinds, **more: Any) -> DiscourseTask:
    """A task on a passage and the sentence that follows, which is to be found among one distractor of each kind.

    Args:
        sizes: least and most sentences of a passage; a hash chooses for each unbroken passage.
        kinds: how the distractors of each kind are matched to the right one, by the name that ``distractor`` shows.
        more: further fields of ``DiscourseTask``.
    """
    labels = tuple(str(place) for place in range(1 + len(kinds)))
    sample = functools.partial(_sample_choices, sizes=sizes, kinds=kinds)
    reasons = {
        _reason(kind): f"no sentence of the kind `{kind}` is similar enough to the correct one" for kind in kinds
    }
    return DiscourseTask(
        labels=labels, shape=Shape.CHOICE, sample=sample, least=sizes[0] + 1, **{"reasons": reasons, **more}
    )


def _reason(kind: str) -> str:
    """Why a passage is dropped for which no distractor of a kind is found."""
    return f"no-{kind}-sentence"


def _sample_choices(frame: pl.DataFrame, context: Context, *, sizes: tuple[int, int], kinds: Kinds) -> Sample:
    """Passages with their next sentence and a wrong one of each kind."""
    n_context = random_sizes(frame, *sizes, *context.seed_key, reserve=1 + RESERVE_CHOICES)
    windows, pool = with_donors(frame, context, n_context + 1, DONORS_CHOICES, RESERVE_CHOICES)
    served = _wrong_of_each(frame, windows, pool, kinds, context)
    even, n_served = _one_of_each(frame, served, kinds, context), served["window"].n_unique()
    context.drops.keep(served, even, "unbalanced", n=n_served - even.height)
    chosen = labelled(even, 1 + len(kinds), context, "unbalanced")
    rows = choice_rows(chosen, *_in_any_order(chosen, kinds))
    return Sample(rows, candidates=windows.height + context.drops.counts["donor"])


def _wrong_of_each(
    frame: pl.DataFrame, windows: pl.DataFrame, pool: Rows, kinds: Kinds, context: Context
) -> pl.DataFrame:
    """The windows for which a distractor of each kind is found, with them.

    Every window first gets one of each kind, then another one of each. A window has one row per combination of them.
    """
    used = set[int]()
    apart = max(how.words for how in kinds.values()), max(how.chars for how in kinds.values())
    apart = apart if context.settings.match else (np.inf, np.inf)
    turns, taken = [], np.full((windows.height, 0), -1)
    for kind, matching in kinds.items():
        around, right = _passages(windows)
        keys, before = windows["window"].to_numpy(), right[:, None] - 1
        slots = Slots(keys, right, around, before, taken, apart, aim=_aim(windows, kind, context), two=True)
        how = matching if context.settings.match else replace(ANY, prefer=matching.prefer, later=matching.later)
        unused, key = np.setdiff1d(pool, list(used)), (*context.seed_key, kind)
        of_turns = shortlists(frame, slots, unused, *key, matching=how, similarity=context.similarity)
        first = first_come(slots, of_turns[0], *key, used=used)
        turns += [(kind, slots, turn, key) for turn in of_turns[1:]]
        at, distractor = first["slot"].to_numpy(), first["distractor_row"]
        context.drops.keep(windows, windows[at], _reason(kind))
        windows, taken = windows[at].with_columns(distractor.alias(kind)), np.column_stack([taken[at], distractor])
    alternatives = {kind: [windows.select("window", kind)] for kind in kinds}
    staying = windows["window"].to_numpy()
    for kind, slots, turn, key in turns:
        of_staying = {
            slot: turn[slot] for slot in np.flatnonzero(np.isin(slots.window, staying)).tolist() if slot in turn
        }
        second = first_come(slots, of_staying, *key, used=used)
        others = pl.Series("window", slots.window[second["slot"].to_numpy()])
        alternatives[kind].append(pl.DataFrame([others, second["distractor_row"].alias(kind)]))
    windows = windows.drop(kinds)
    for parts in alternatives.values():
        windows = windows.join(pl.concat(parts), on="window", maintain_order="left_right")
    clusters = frame["cluster"].to_numpy()[windows.select(*kinds).to_numpy()]
    unlike = np.array([len(set(row)) == len(kinds) for row in clusters.tolist()], dtype=bool)
    # The longest candidate is about as long as the shortest. Otherwise the right one would often be of medium length.
    candidates = np.column_stack([_passages(windows)[1], windows.select(*kinds).to_numpy()])
    sizes = [frame[column].to_numpy()[candidates] for column in ("n_words", "n_chars")]
    close = [size.max(axis=1) <= (1 + most) * size.min(axis=1) for size, most in zip(sizes, apart, strict=True)]
    return windows.filter(unlike & close[0] & close[1])


def _one_of_each(frame: pl.DataFrame, served: pl.DataFrame, kinds: Kinds, context: Context) -> pl.DataFrame:
    """One distractor of each kind for each window, so that no measure of length or similarity finds the right one."""
    if not context.settings.match:
        return served
    contexts, right = _passages(served)
    candidates = np.column_stack([right, served.select(*kinds).to_numpy().astype(np.int64)])
    rule_gains = _rule_gains(frame, contexts, right[:, None] - 1, candidates, context)
    n_choices = candidates.shape[1]
    return remove_bias(served, rule_gains, *context.seed_key, few=n_choices, slack=context.slack * n_choices / 2)


def _rule_gains(  # noqa: PLR0913 (what is compared, and what is measured)
    frame: pl.DataFrame, contexts: Rows, before: Rows, candidates: Rows, context: Context, *, single: bool = False
) -> Values:
    """The gains of rules on length and similarity; in large texts, also of rules on several measures together.

    With ``single``, these include the similarity to single sentences of the context.
    """
    compared = Comparison(frame, context.similarity, contexts, before, candidates)
    rule_gains = [gains(compared)]
    if not context.small:  # a treebank has too few rows to choose from
        rule_gains.append(gains_of_measures_together(compared))
        rule_gains += [gains_of_sentences(compared)] if single else []
    return np.hstack(rule_gains)


def _passages(windows: pl.DataFrame) -> tuple[Rows, Rows]:
    """The rows of each passage, shape (windows, longest), -1 where it is shorter; and the row that follows it."""
    first, right = windows["first"].to_numpy(), (windows["first"] + windows["size"] - 1).to_numpy()
    places = first[:, None] + np.arange((right - first).max(initial=1))
    return np.where(places < right[:, None], places, -1), right


def _aim(windows: pl.DataFrame, kind: str, context: Context) -> Values:
    """The preferred length of the distractor of a kind in each window, as a multiple of the right sentence's length.

    The lengths of all candidates, the right one included, vary around a length that they have in common. If distractors
    varied around the length of the right sentence, it would often be of medium length; if all distractors had the same
    other length, it would be the only one that differs.
    """
    keys = windows["window"].to_numpy()
    right, wrong = (hashing.unit(keys, *context.seed_key, "length", name) for name in ("right", kind))
    return np.asarray(np.exp(SPREAD * (wrong - right)))


def _in_any_order(windows: pl.DataFrame, kinds: Kinds) -> tuple[list[list[int]], list[list[str]]]:
    """The distractors of each window and their kinds, in hash order, so that places do not tell kinds."""
    wrong = windows.select(*kinds).to_numpy()
    keys = windows["window"].to_numpy()
    hashes = np.stack([hashing.mix(keys, "place", column) for column in range(wrong.shape[1])], axis=1)
    order = np.argsort(hashes, axis=1)
    return np.take_along_axis(wrong, order, axis=1).tolist(), np.array(list(kinds))[order].tolist()
