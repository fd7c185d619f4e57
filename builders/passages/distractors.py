"""Distractors that resemble the sentence they replace.

Neither the length of a sentence nor the words that it shares with its neighbours may tell that it is a distractor
(lexical overlap alone solves DiscoEval's coherence task on Wikipedia at .71). So a distractor comes from the same split
and corpus, has about the length of the true sentence, and is about as similar to the context and as typical of the
corpus. Each distractor is used once. Where a place has two, one of them is chosen later, so that no measure tells the
true sentence (``measures``).

Passages with a distractor: one of their sentences is replaced, or followed by a wrong one.

Distractors are sentences outside all windows: those left over between windows, and those of windows that are not used
as rows (donors). So a sentence occurs in one row of a task and in the other version of that row only, and whether it
occurs elsewhere in the data does not predict the label.
"""

import functools
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.similarity import (
    Comparison,
    Rows,
    Similarity,
    Values,
    gains_of_lengths,
    gains_of_sentences,
    gains_of_similarity,
)
from discoprobe.builders.passages.windows import Sizes, members, replaced_pairs, spread, windows_of
from discoprobe.builders.sampling.balance import cap, remove_bias
from discoprobe.builders.task import Context, DiscourseTask, Sample
from discoprobe.loaders import hashing

BEYOND = 2
"""Least distance, in sentences, of a distractor from later in the document: the next sentence often follows the context
as well (a reader took four of five such distractors for the true one)."""

MOST_CHARACTERS = 1 << 24
"""More characters than a sentence has: ``words * MOST_CHARACTERS + characters`` orders sentences by both."""

_SHORTLIST = 64
"""Candidates that are kept for each slot: enough, so that windows that choose later still find unused ones."""

_LARGE_POOL, _LOOKED_AT = 2000, 500
"""Of a pool larger than the first number, a sample of the second number, chosen by hash, is compared with each block of
slots. So the cost grows with the number of slots, not with its square."""

ONE, TWO = (None,), (True, False)
"""Lists of distractors of a slot: one list, or one for each side, the preferred side first. The sides are: more similar
to the context than the true sentence, or less. A hash chooses the preferred side."""

_JITTER = 0.02
_WRONG_SIDE = 2.0
"""Cost of a distractor that is longer where it should be shorter, or more similar where it should be less, or the other
way round: more than any difference in overlap."""
_OFF_AIM = 2.0
"""Cost of a distractor that has twice as many words, or characters, as it should have."""


_TYPICAL = 3.0
"""Cost of a difference in how typical a sentence is (``Cosines.typical``)."""


class Matching(msgspec.Struct, frozen=True):
    """How much a distractor must resemble the sentence that it replaces.

    Attributes:
        words: by which share of the shorter of the two the longer one may have more words. With a share of the true
            sentence, only the true one could be much longer than the other, so length would identify it.
        chars: the same for characters.
        overlap: by how much the share of content words in common with the context may be below and above the true
            sentence's.
        same: columns in which the two agree. Without ``introduces`` and ``introduced`` a colon that nothing follows,
            or speech that nothing introduces, reveals the distractor (in 3 % of the rows of ``dc`` from novels).
        prefer: a column in which the two agree where there is a choice.
        later: the distractor comes from later in the same document; otherwise from another document.
        beyond: then, by how many sentences at least it is later than the sentence that it replaces.
    """

    words: float = 0.2
    chars: float = 0.3
    overlap: tuple[float, float] = (0.1, 0.1)
    same: tuple[str, ...] = ("corpus", "split", "introduces", "introduced")
    prefer: str | None = None
    later: bool = False
    beyond: int = BEYOND


CLOSE = Matching()
ANY = Matching(words=np.inf, chars=np.inf, overlap=(np.inf, np.inf), same=("corpus", "split"))


class Slots(msgspec.Struct, frozen=True):
    """Places where a distractor may stand; several slots of one window are alternatives.

    Attributes:
        window: key of the window (n).
        true: row of the sentence that is replaced (n).
        context: rows of the sentences around it (n, k), -1 where there are fewer.
        beside: rows of the sentences next to it (n, m), likewise.
        taken: rows of distractors that the window has already (n, m).
        apart: by which shares a distractor may have more or fewer words, and characters, than one of ``taken``.
        longer: whether the distractor should rather be the longer of the two, or the shorter (n).
        aim: preferred length of the distractor, as a multiple of the true sentence's (n).
        two: whether each window gets two distractors, if possible one that is more similar to the context than the true
            sentence and one that is less; without effect if similarity does not matter (``ANY``).
        rounds: how often each window gets one or two.
        sharing: number of slots that are compared with the same sample of a large pool. As each distractor is used
            once, fewer slots have more to choose from.
    """

    window: npt.NDArray[np.uint64]
    true: Rows
    context: Rows
    beside: Rows
    taken: Rows | None = None
    apart: tuple[float, float] = (np.inf, np.inf)
    longer: npt.NDArray[np.bool_] | None = None
    aim: Values | None = None
    two: bool = False
    rounds: int = 1
    sharing: int = 256

    def present(self, slots: Rows) -> Rows:
        """Rows of all sentences in the window of each of ``slots``; a distractor may resemble none of them."""
        parts = [self.true[slots, None], self.context[slots]] + ([] if self.taken is None else [self.taken[slots]])
        return np.concatenate(parts, axis=1)

    def surroundings(self, slots: Rows) -> Rows:
        """The rows of ``context`` of each of ``slots``, then those of ``beside``, -1 where there are fewer."""
        contexts, beside = self.context[slots], self.beside[slots]
        both = np.full((2 * len(slots), max(contexts.shape[1], beside.shape[1])), -1)
        both[: len(slots), : contexts.shape[1]], both[len(slots) :, : beside.shape[1]] = contexts, beside
        return both


Shortlist = tuple[list[int], int]
"""The best distractors of a slot: rows, best first, and how many of them, the first ones, are on the preferred side."""


def distractors(
    frame: pl.DataFrame, slots: Slots, pool: Rows, *seed_key: str | int, matching: Matching = CLOSE,
    similarity: Similarity | None = None,
) -> pl.DataFrame:  # fmt: skip
    """One distractor for each window that finds one, or several to choose from.

    Args:
        frame: all sentences, as ``with_passages`` gives them.
        slots: where a distractor may stand.
        pool: rows that may be distractors; each is used at most once.
        seed_key: what the hashes start with.
        matching: how alike they must be.
        similarity: of the sentences of ``frame``, if it is at hand.

    Returns:
        ``slot`` (index into ``slots``) and ``distractor_row``: one row of each window, or with ``two`` and ``rounds``
        several.
    """
    turns, used = shortlists(frame, slots, pool, *seed_key, matching=matching, similarity=similarity), set[int]()
    return pl.concat(first_come(slots, turn, *seed_key, used=used) for turn in turns * slots.rounds)


def shortlists(
    frame: pl.DataFrame, slots: Slots, pool: Rows, *seed_key: str | int, matching: Matching = CLOSE,
    similarity: Similarity | None = None,
) -> list[dict[int, Shortlist]]:  # fmt: skip
    """The best distractors of each slot that has any, by slot; with ``two``, also those of the other side.

    The arguments are those of ``distractors``.
    """
    turns = TWO if slots.two and matching.overlap != ANY.overlap else ONE
    search = _Search(frame, slots, matching, seed_key, similarity or Similarity(frame), turns)
    # numbered by the keys of its sentences, so that the name of the corpus decides on no order
    of_corpus = frame.with_columns(corpus=pl.col("key").min().over("corpus"))
    sides = of_corpus.select(pl.struct(matching.same).rank("dense")).to_series().to_numpy()
    lists: dict[int, list[Shortlist]] = {}
    for side in np.unique(sides[slots.true]):
        mine = pool[sides[pool] == side]
        if len(mine):
            lists |= dict(search.shortlists(np.flatnonzero(sides[slots.true] == side), mine))
    return [{slot: some[turn] for slot, some in lists.items()} for turn in range(len(turns))]


class _Search:
    """Finds for slots the sentences that resemble most what stands there."""

    def __init__(  # noqa: PLR0913, PLR0917 (everything that a search depends on)
        self, frame: pl.DataFrame, slots: Slots, matching: Matching, seed_key: tuple[str | int, ...],
        similarity: Similarity, turns: Sequence[bool | None],
    ) -> None:  # fmt: skip
        self.slots, self.matching, self.seed_key, self.turns = slots, matching, seed_key, turns
        self.key, self.document = frame["key"].to_numpy(), frame["doc_key"].to_numpy()
        self.cluster = frame["cluster"].to_numpy().astype(np.int64)
        self.words, self.chars = (frame[name].to_numpy().astype(np.int64) for name in ("n_words", "n_chars"))
        self.kind = frame[matching.prefer].rank("dense").fill_null(0).to_numpy() if matching.prefer else None
        self.similarity = similarity

    def shortlists(self, slots: Rows, pool: Rows) -> Iterator[tuple[int, list[Shortlist]]]:
        """Each of ``slots`` with its best distractors, one list for each of ``turns``.

        Slots are searched in blocks: among sentences about as long as those of the block or, if the distractor comes
        from the same document, among those of its documents.
        """
        true = self.slots.true[slots]
        ordered = slots[np.argsort(self.document[true] if self.matching.later else self.chars[true], kind="stable")]
        for at in range(0, len(ordered), self.slots.sharing):
            block = ordered[at : at + self.slots.sharing]
            near = pool[self._similar_length(self.slots.true[block], pool)]
            if self.matching.later:
                near = near[np.isin(self.document[near], self.document[self.slots.true[block]])]
            else:
                near = self._some(block, near)
            if len(near):
                lists = [_best(scores, near) for scores in self._scores(block, near)]
                yield from zip(block.tolist(), map(list, zip(*lists, strict=True)), strict=True)

    def _similar_length(self, true: Rows, pool: Rows) -> npt.NDArray[np.bool_]:
        """Which of the pool are not much shorter than the shortest and not much longer than the longest of ``true``."""
        sizes, most = self.chars[true], self.matching.chars
        longest = np.inf if np.isinf(most) else (1 + most) * sizes.max()
        shortest = sizes.min() / (1 + most)
        return np.asarray((self.chars[pool] >= shortest) & (self.chars[pool] <= longest))

    def _some(self, block: Rows, pool: Rows) -> Rows:
        """The part of the pool that is compared with a block of slots."""
        if len(pool) <= _LARGE_POOL:
            return pool
        pair_keys = hashing.combine(np.full(len(pool), self.key[self.slots.true[block[0]]]), self.key[pool])
        order = hashing.ranking(pair_keys, "looked at", *self.seed_key)
        return np.sort(pool[order[:_LOOKED_AT]])

    def _scores(self, block: Rows, pool: Rows) -> list[Values]:
        """The cost of each of the pool in each slot, for each of ``turns``; infinite where it is not allowed."""
        true = self.slots.true[block]
        allowed = self._allowed(block, pool) & self._unlike(self.slots.present(block), pool)
        pair_keys = hashing.combine(self.key[true][:, None], self.key[pool][None, :])
        scores = _JITTER * hashing.unit(pair_keys, "intruder", *self.seed_key)
        if self.slots.longer is not None:
            scores += _WRONG_SIDE * self._wrong_side(true, pool, self.slots.longer[block])
        if self.slots.aim is not None:
            for sizes in (self.words, self.chars):
                aimed_at = self.slots.aim[block] * sizes[true]
                scores += _OFF_AIM * np.abs(sizes[pool] / np.maximum(aimed_at, 1)[:, None] - 1)
        if self.kind is not None:
            scores += self.kind[true][:, None] != self.kind[pool]
        above = np.zeros(scores.shape, dtype=bool)
        if self.matching.overlap != ANY.overlap:
            least, most = self.matching.overlap
            gaps = self.similarity.shares.of(self.slots.context[block], true, pool)
            allowed &= (gaps >= -least) & (gaps <= most)
            scores += _cost(gaps)
            cosines, contexts = np.zeros(scores.shape), self.slots.surroundings(block)
            for measure in (self.similarity.cosines, self.similarity.words):
                with_context, with_beside = np.split(measure.of(contexts, np.tile(true, 2), pool), 2)
                cosines += with_context
                scores += _cost(with_context) + _cost(with_beside)
            above = cosines > 0
            typical = self.similarity.cosines.typical
            scores += _TYPICAL * np.abs(typical[pool] - typical[true][:, None])
        scores = np.where(allowed, scores, np.inf)
        nearer = hashing.pick(self.slots.window[block], 2, "nearer", *self.seed_key)[:, None] == 1
        return [scores if turn is None else scores + _WRONG_SIDE * (above != (nearer == turn)) for turn in self.turns]

    def _size(self, rows: Rows) -> npt.NDArray[np.int64]:
        """A number that orders sentences by words, then by characters."""
        return np.asarray(self.words[rows] * MOST_CHARACTERS + self.chars[rows])

    def _allowed(self, block: Rows, pool: Rows) -> npt.NDArray[np.bool_]:
        """Which of the pool may stand in which slot: by document, and by the lengths of all other candidates.

        If only the true sentence had to be about as long as each of the others, one that is much longer or much shorter
        than the rest would never be the true one.
        """
        true = self.slots.true[block]
        same_document = self.document[true][:, None] == self.document[pool]
        later = same_document & (pool >= true[:, None] + self.matching.beyond)
        allowed = later if self.matching.later else ~same_document
        taken = [] if self.slots.taken is None else list(self.slots.taken[block].T)
        tolerances = (self.words, self.matching.words), (self.chars, self.matching.chars)
        for (sizes, of_true), of_taken in zip(tolerances, self.slots.apart, strict=True):
            for candidates, most in ((true, of_true), *((rows, of_taken) for rows in taken)):
                n_candidate = sizes[candidates][:, None]
                allowed &= (sizes[pool] <= (1 + most) * n_candidate) & (n_candidate <= (1 + most) * sizes[pool])
        return np.asarray(allowed)

    def _unlike(self, present: Rows, pool: Rows) -> npt.NDArray[np.bool_]:
        """Which of the pool resemble no sentence of the window."""
        clusters = np.where(present >= 0, self.cluster[present], -1)
        return np.asarray(np.logical_and.reduce([column[:, None] != self.cluster[pool] for column in clusters.T]))

    def _wrong_side(self, true: Rows, pool: Rows, longer: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Which of the pool are shorter than the true sentence though they should be longer, or the other way round."""
        difference = self._size(pool) - self._size(true)[:, None]
        return np.asarray(np.where(longer[:, None], difference < 0, difference > 0))


def _cost(gaps: Values) -> Values:
    """The cost of a difference: less overlap counts twice, because most sentences of other documents have less."""
    return np.where(gaps < 0, -2 * gaps, gaps)


def _best(scores: Values, pool: Rows) -> list[Shortlist]:
    """For each slot of a block the best of the pool."""
    top = min(_SHORTLIST, len(pool))
    best = np.argpartition(scores, top - 1, axis=1)[:, :top]
    ordered = np.argsort(np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    best = np.take_along_axis(best, ordered, axis=1)
    lowest = np.take_along_axis(scores, best, axis=1)
    fit, right = np.isfinite(lowest).sum(axis=1), (lowest < _WRONG_SIDE).sum(axis=1)
    return [
        (rows[:n_fit].tolist(), n_right)
        for rows, n_fit, n_right in zip(pool[best], fit.tolist(), right.tolist(), strict=True)
    ]


def first_come(slots: Slots, found: dict[int, Shortlist], *seed_key: str | int, used: set[int]) -> pl.DataFrame:
    """Each window takes the best unused distractor: one on the preferred side for any of its slots, else any.

    Args:
        slots: where a distractor may stand.
        found: the best distractors by slot.
        seed_key: what the hashes start with.
        used: rows that no window may take; those that are taken are added.

    Returns:
        ``slot`` (index into ``slots``) and ``distractor_row``, one row of each window that finds one.
    """
    chosen: list[tuple[int, int]] = []
    for _, alternatives in groupby(_turns(slots, seed_key), key=lambda slot: slots.window[slot]):
        lists = [(slot, found[slot]) for slot in alternatives if slot in found]
        wishes = [(slot, rows[:n_right]) for slot, (rows, n_right) in lists]
        wishes += [(slot, rows[n_right:]) for slot, (rows, n_right) in lists]
        taken = next(((slot, row) for slot, rows in wishes for row in rows if row not in used), None)
        if taken is not None:
            used.add(taken[1])
            chosen.append(taken)
    return pl.DataFrame(chosen, schema={"slot": pl.Int64, "distractor_row": pl.Int64}, orient="row").sort("slot")


def _turns(slots: Slots, seed_key: tuple[str | int, ...]) -> Iterator[int]:
    """Slots in hash order of their windows, the slots of a window in an order of its own."""
    place = hashing.combine(slots.window, slots.true.astype(np.uint64) - slots.context[:, 0].astype(np.uint64))
    order = np.lexsort(
        (hashing.mix(place, "slot", *seed_key), slots.window, hashing.mix(slots.window, "turn", *seed_key))
    )
    return iter(order.tolist())


DONORS = 0.15
"""Share of the windows whose sentences may be distractors, where each window gets one."""

DONORS_OF_MANY = 0.22
"""The same where a window has several distractors to choose from (``_has_many``). Fewer windows are left, but more of
them can be balanced."""

PLACES_OF_MANY, ROUNDS_OF_MANY, SHARING_OF_MANY = 2, 2, 64
"""Then a distractor is tried in so many places of a window; each window gets two of them so often; and so many places
are compared with the same part of the pool (``Slots``)."""

FEW = 4
"""Pairs that ``remove_bias`` keeps in every split."""

MANY = 4000
"""If there are more windows, a distractor is tried in one place of each, chosen by hash; otherwise in all places."""


def with_donors(
    frame: pl.DataFrame, context: Context, size: Sizes, donors: float, reserve: Sizes = 0
) -> tuple[pl.DataFrame, Rows]:
    """Windows that become rows, and the pool of sentences that may be distractors.

    The sentences of some windows (a share, chosen by hash) are in the pool, and those between windows.

    ``reserve`` sentences after each window are left for the pool too, so that it finds some in its own document. Sizes
    are one number, or one per passage.
    """
    windows = windows_of(frame, context, size, reserve)
    gives = pl.Series(hashing.unit(windows["window"].to_numpy(), "donor", *context.seed_key) < donors)
    windows_kept = windows.filter(~gives)
    context.drops.keep(windows, windows_kept, "donor")
    return windows_kept, spread(frame, covered(windows_kept))


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
    windows, pool = with_donors(frame, context, size, DONORS_OF_MANY if _has_many(context, how) else DONORS)
    served = replaced_one(frame, windows, pool, range(1, size - 1), context, how)
    even = served if how == ANY else _as_similar(frame, served, size, context)
    rows = replaced_pairs(cap(even, context.settings, *context.seed_key, weight=2), size)
    n_served = served["window"].n_unique()
    context.drops.keep(windows, served, "no-matching-intruder", n=windows.height - n_served)
    context.drops.keep(served, even, "unbalanced", n=n_served - even.height)
    return Sample(rows, candidates=(windows.height + context.drops.counts["donor"]) * 2)


def _as_similar(frame: pl.DataFrame, served: pl.DataFrame, size: int, context: Context) -> pl.DataFrame:
    """One distractor for each window, so that in half of the windows it is more similar than the sentence it replaces.

    In large corpora (not ``context.small``) the sizes of the differences are balanced, too, and so are lengths and the
    similarity to each sentence of the passage. In a treebank too few pairs would be left.
    """
    true, rest, beside = surroundings(served, size)
    candidates = np.column_stack([true, served["distractor_row"].to_numpy()])
    compared = Comparison(frame, context.similarity, rest, beside, candidates)
    if not context.small:
        rule_gains = np.hstack([gains_of_lengths(compared), gains_of_sentences(compared)])
    else:
        rule_gains = gains_of_similarity(compared, sizes=False)
    return remove_bias(served, rule_gains, *context.seed_key, few=FEW, slack=context.slack, deviations=1.5)


def _has_many(context: Context, matching: Matching) -> bool:
    """Whether windows get several distractors, one of which is chosen so that no measure reveals it.

    Large texts have enough windows for it. With two distractors for each window and 15 % of donors, balance cost three
    fifths of the windows of German Wikipedia, and a tree ensemble still found the whole passage in .638 of the pairs.
    """
    return not context.small and matching != ANY


def replaced_one(  # noqa: PLR0913, PLR0917 (what a search depends on)
    frame: pl.DataFrame, windows: pl.DataFrame, pool: Rows, places: range, context: Context, matching: Matching
) -> pl.DataFrame:
    """Replaces one sentence of each window by a distractor.

    Args:
        frame: all sentences, as ``with_passages`` returns them.
        windows: of which one sentence each is replaced.
        pool: the rows that may be distractors.
        places: the positions that may be replaced, all but the first and the last.
        context: seed key.
        matching: how much a distractor must resemble the sentence it replaces.

    Returns:
        The windows that find a distractor, once for each that they may have, with ``position`` and ``distractor_row``.
    """
    many, keys = _has_many(context, matching), windows["window"].to_numpy()
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
    distractor_rows = distractors(
        frame, slots, pool, *context.seed_key, matching=matching, similarity=context.similarity
    )
    served: pl.DataFrame = asked[distractor_rows["slot"].to_numpy()]
    return served.with_columns(distractor_rows["distractor_row"])


def surroundings(windows: pl.DataFrame, size: int) -> tuple[Rows, Rows, Rows]:
    """The row of the sentence at ``position`` of each window, the rows of the others, and of the two beside it."""
    first, position = windows["first"].to_numpy(), windows["position"].to_numpy()
    rest = members(first, size)[np.arange(size) != position[:, None]].reshape(-1, size - 1)
    return first + position, rest, (first + position)[:, None] + np.array([-1, 1])
