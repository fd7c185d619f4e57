"""Sentences of documents as candidates of discourse tasks, and the unbroken passages that they form.

One row per sentence of a document. A sentence cannot be used if it is no running text (`loaders.running_text`), is too
short or too long, or if a near duplicate of it is in a document of another split. Such a sentence keeps its place and
ends the passage before it, so that no window crosses a gap.

Windows of a corpus as rows of discourse tasks: pairs in both orders, single rows, and rows with choices.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from discoprobe.builders.config import Shape
from discoprobe.builders.drops import WINDOWS
from discoprobe.builders.passages.similarity import (
    FREQUENT,
    WIDTH,
    Rows,
    Similarity,
    char_grams_in_parts,
    gains_of_orders,
    orders_of,
)
from discoprobe.builders.sampling.balance import assign_labels, cap, remove_bias
from discoprobe.builders.sampling.splits import split_of
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import Context, DiscourseTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.running_text import not_running
from discoprobe.loaders.words import lowered_words, mostly_unspaced, running_words

Sizes = int | npt.NDArray[np.int64]

LONG = 6
"""A sentence of at least this many words (UD's or running words, whichever are more) is not used if a near duplicate is
in a document of another split. Shorter sentences recur naturally."""

COLON = r"[:：﹕]\s*$"
NEAR_COPY = 0.5
"""Least share of the words of two neighbours (Jaccard) that both have, where one is a near copy of the other."""
COPIES = 0.05
"""Share of neighbours that are near copies. In 35 treebanks it is at most .017, and in documents of them surely (at the
lower end of the interval) at most .046; in lists of examples of grammar it is .23 to .30."""
RELATED = 0.01
"""A document is surely no text if at most this share of its neighbours beyond that by chance have a rare word in common
(by the first letters of words of four letters or more); it surely is one if more than this beyond twice that by chance
have one. In 40 treebanks of texts .06 to .6 of the neighbours have one, by chance .01 to .03; in sentences that were
shuffled or collected (Tatoeba) as many as by chance. Neither is sure of 250 pairs that were written for tests: .004."""
DOUBTED = 0.03
"""The same where the treebank says that some of its texts are examples, and not which. There a document that does not
show that it is a text is none: examples of a grammar have names and verbs in common (.06 in UD_Javanese-CSUI)."""
LONG_TEXT = 96
"""Pairs of a document that may be examples from which on its neighbours are compared with random sentences of itself:
those of a text have three times as much in common; what was collected for one purpose has words in common anywhere."""
JUDGED = 24
"""Fewer pairs of neighbours do not show by themselves that a document is a text."""
RANDOM = 4
"""Sentences of the treebank with which each sentence is compared to know what words have in common by chance."""
PREFIX = 5
"""Letters by which words are compared, so that inflected forms are alike."""

FEWEST = 2
"""Documents in every split: distractors come from another document of the split."""

LARGEST = 6
"""Sentences in the largest windows that most tasks use."""

PER_SENTENCE = 0.001
"""Weight of a usable sentence beside that of a window."""


def sentences(shard: Shard, settings: Settings) -> pl.DataFrame:
    """The sentences of a shard that stand in documents, each with ``reason`` (null if it can be shown)."""
    least, most = settings.discourse_words
    words, unspaced = pl.col("n_words"), mostly_unspaced(shard.sentences["text"])
    usable = (
        shard.sentences.drop("n_words")
        .join(shard.sentence_facts(), on="sent", maintain_order="left")
        .join(not_running(shard), on="sent", maintain_order="left")
        .join(shard.documents.select("doc", "corpus", "doc_id", "genre", doc_key="key"), on="doc")
        .filter(pl.col("doc_id").is_not_null())
        .select(
            "sent", "corpus", "doc_id", "genre", "doc_key", "run", "index", "sent_id", "key", "text_key", "text",
            annotated=pl.col("speaker").is_not_null() | pl.col("section").is_not_null(),
            n_words=words.cast(pl.Int32),
            n_chars=pl.col("text").str.len_chars().cast(pl.Int32),
            n_punctuation=pl.col("text").str.count_matches(r"[^\w\s]").cast(pl.Int32),
            long=pl.max_horizontal(words, running_words(pl.col("text")).list.len()) >= LONG,
            words=running_words(pl.col("text")).list.unique(),
            prefixes=_prefixes(pl.col("text"), unspaced=unspaced).list.unique(),
            unspaced=pl.lit(unspaced),
            introduces=pl.col("text").str.contains(COLON),
            reason=pl.coalesce(
                "element",
                pl.when(words < least).then(pl.lit("too-short")),
                pl.when(words > most).then(pl.lit("too-long")),
                "fault",
            ),
        )
    )  # fmt: skip
    hashes = (pl.col(name).list.eval(hashing.hashed(pl.element())) for name in ("words", "prefixes"))
    return usable.with_columns(*hashes, grams=_grams(usable["text"])).drop("text")


def _prefixes(text: pl.Expr, *, unspaced: bool) -> pl.Expr:
    """The beginnings of longer words; without spaces between words, pairs of characters."""
    if unspaced:
        return lowered_words(text, unspaced=True)
    long = text.str.to_lowercase().str.extract_all(rf"\w{{{PREFIX - 1},}}")
    return long.list.eval(pl.element().str.slice(0, PREFIX))


def _grams(texts: pl.Series) -> pl.Series:
    """The hashed character n-grams of each text, as often as they are in it."""
    flat, sizes = [np.empty(0, np.uint16)], [np.empty(0, np.int64)]
    for counts in char_grams_in_parts(texts, WIDTH):
        flat.append(np.repeat(counts.indices.astype(np.uint16), counts.data.astype(np.int64)))
        sizes.append(counts.sum(axis=1).astype(np.int64))
    return lists(np.concatenate(flat), np.concatenate(sizes))


def lists(flat: npt.NDArray[Any], sizes: npt.NDArray[np.int64] | int) -> pl.Series:
    """A column of lists: their values one after the other, and how many each list has (or all of them)."""
    if isinstance(sizes, int):
        sizes = np.full(len(flat) // max(sizes, 1), sizes)
    ends = np.append(0, np.cumsum(sizes))
    return pl.Series(pa.LargeListArray.from_arrays(pa.array(ends), pa.array(flat)))


def with_passages(
    frame: pl.DataFrame, settings: Settings, *, by_hash: bool = False, unsuited: pl.Expr | None = None,
    examples: pl.Expr | None = None,
) -> pl.DataFrame:  # fmt: skip
    """All candidates of a corpus, one row per sentence, with the passage to which it belongs.

    Args:
        frame: what ``sentences`` returned for all shards, with ``shard`` and ``cluster`` (of similar sentences).
        settings: the seed decides the split of a document.
        by_hash: whether its split depends on nothing but the seed and its key.
        unsuited: why no sentence of a document is used, as `genres.unsuited` gives; None if all may be.
        examples: whether a document may be a list of examples, as `genres.may_be_examples` gives; None if none may.

    Returns:
        The columns of ``frame`` and ``row`` (its own number), ``split``, ``passage`` (null where ``reason`` is not),
        ``introduced`` (whether the sentence before ends with a colon) and ``content`` (the hashed content words) beside
        ``words`` (hashed, each once) and ``grams`` (hashed character n-grams), sorted by document and place in it.
    """
    # a document that is divided among several files of a corpus is one document
    frame = frame.with_columns(doc_key=pl.col("doc_key").min().over("corpus", "doc_id"))
    frame = frame.sort("doc_key", pl.col("index").min().over("doc_key", "shard"), "shard", "index", "sent")
    other = pl.lit(None, pl.String) if unsuited is None else unsuited
    frame = frame.with_columns(reason=pl.coalesce(other, "reason"))
    no_text = _no_text(frame, settings.seed, pl.lit(value=False) if examples is None else examples)
    frame = frame.with_columns(reason=pl.coalesce(other, no_text, "reason")).drop("prefixes", "unspaced")
    splits = _splits_of_documents(frame, settings, by_hash=by_hash)
    frame = frame.join(splits, on="doc_key", how="left", maintain_order="left")
    frame = frame.with_columns(reason=pl.coalesce("reason", _in_two_splits()))
    frame = frame.with_columns(
        reason=pl.coalesce("reason", _introduction()),
        introduced=_continues() & pl.col("introduces").shift(1, fill_value=False),
    )
    return _rare(_passage_ids(frame), "words", "content").with_row_index("row")


def _no_text(frame: pl.DataFrame, seed: int, examples: pl.Expr) -> pl.Series:
    """The reason for which the sentences of a document are no text; null if they are one.

    Either many neighbours are near copies, or neighbours have no more in common than random sentences of the treebank.
    Both are measured on the pairs of neighbours in passages, and the end of the 95 % interval decides. A document is
    judged by itself. One that is too small to show anything is judged with all such documents of its name but for
    numbers, which are of one source; if these are, with all such documents of its treebank. One that may be a list of
    examples is no text unless it surely is one; if it is long, its neighbours have more in common than its sentences.

    Without spaces between words, near copies share pairs of characters: any two sentences share most letters of Thai.
    """
    prefixes, words = pl.col("rare").fill_null([]), pl.when("unspaced").then("prefixes").otherwise("words")
    described = _rare(_passage_ids(frame), "prefixes", "rare")
    follows = (pl.col("passage") == pl.col("passage").shift(1)).fill_null(value=False)
    of_corpus, of_document = (_random_others(described, column, seed) for column in ("corpus", "doc_key"))
    both, either = words.list.set_intersection(words.shift(1)), words.list.set_union(words.shift(1))
    chance, inside = (
        pl.mean_horizontal(prefixes.list.set_intersection(prefixes.gather(rows)).list.len() > 0 for rows in others)
        for others in (of_corpus, of_document)
    )
    pairs = described.select(
        "corpus", "doc_key",
        kind=pl.format("{} {}", "corpus", pl.col("doc_id").str.replace_all(r"\d+", "#")),
        copy=both.list.len() >= NEAR_COPY * either.list.len().clip(1),
        related=prefixes.list.set_intersection(prefixes.shift(1)).list.len() > 0,
        chance=chance, inside=inside, doubted=examples,
    ).filter(described.select(follows).to_series())  # fmt: skip
    long = pl.col("doubted") & (pl.len().over("doc_key") >= LONG_TEXT)
    pairs = pairs.with_columns(
        long=long,
        by_chance=pl.col("chance").mean().over("corpus") + RELATED,
        expected=pl.when(long).then(3 * pl.col("inside").mean().over("doc_key") + RELATED)
        .otherwise(2 * pl.col("chance").mean().over("corpus") + pl.when("doubted").then(DOUBTED).otherwise(RELATED)),
    )  # fmt: skip
    documents = pairs.unique("doc_key", maintain_order=True).select("doc_key", "kind", "corpus", "doubted")
    judged = pl.len() >= JUDGED
    least, _ = _interval(pl.col("copy").mean(), pl.len())
    copies = _judged(documents, pairs, _verdict(least > COPIES, judged & (pl.col("copy").mean() <= COPIES)))
    least, most = _interval(pl.col("related").mean(), pl.len())
    expected = pl.col("expected").mean()
    unsure = pl.col("long").all() & (least <= expected)
    none = judged & (most < pl.col("by_chance").mean()) | unsure
    unrelated = _judged(documents, pairs, _verdict(none, judged & (least > expected)))
    refused = documents.select(
        "doc_key",
        refused=pl.when(copies.fill_null(value=False)).then(pl.lit("near-copies"))
        .when(unrelated.fill_null(documents["doubted"])).then(pl.lit("unrelated")),
    )  # fmt: skip
    return frame.select("doc_key").join(refused, on="doc_key", how="left", maintain_order="left")["refused"]


def _judged(documents: pl.DataFrame, pairs: pl.DataFrame, verdict: pl.Expr) -> pl.Series:
    """A verdict on each document: on its own pairs, those of its kind or those of its treebank, the first there is.

    Only pairs of documents that have no verdict yet are put together.
    """
    documents = documents.with_columns(verdict=pl.lit(None, pl.Boolean))
    for level in ("doc_key", "kind", "corpus"):
        undecided = documents.filter(pl.col("verdict").is_null())
        verdicts = pairs.join(undecided, on="doc_key", how="semi").group_by(level).agg(of_level=verdict)
        documents = documents.join(verdicts, on=level, how="left", maintain_order="left")
        documents = documents.with_columns(verdict=pl.coalesce("verdict", "of_level")).drop("of_level")
    return documents["verdict"]


def _verdict(refused: pl.Expr, shown: pl.Expr) -> pl.Expr:
    """True where something is surely no text, false where it surely is one, null where neither is known."""
    return pl.when(refused).then(pl.lit(value=True)).when(shown).then(pl.lit(value=False))


def _interval(share: pl.Expr, n: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Wilson's interval of 95 % of a share."""
    z = 1.96
    middle, half = share + z**2 / (2 * n), z * (share * (1 - share) / n + z**2 / (4 * n**2)).sqrt()
    return (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)


def _random_others(frame: pl.DataFrame, column: str, seed: int) -> list[npt.NDArray[np.int64]]:
    """For each sentence some others with the same value in a column, as rows; itself if there are none."""
    value = frame[column].rank("dense").to_numpy().astype(np.int64)
    order = np.argsort(value, kind="stable")
    _, start, size = np.unique(value[order], return_index=True, return_counts=True)
    which, keys, place = value - 1, frame["key"].to_numpy(), np.empty_like(order)
    place[order] = np.arange(len(order)) - start[which[order]]
    others = np.maximum(size[which] - 1, 1)
    steps = (1 + hashing.pick(keys, others, seed, "random neighbour", n) for n in range(RANDOM))
    return [order[start[which] + (place + step) % size[which]] for step in steps]


def _splits_of_documents(frame: pl.DataFrame, settings: Settings, *, by_hash: bool) -> pl.DataFrame:
    """``doc_key`` and ``split`` of every document. Its weight is the number of windows of ``LARGEST`` sentences in it.

    Among documents without such a window the number of usable sentences decides.
    """
    if by_hash:
        keys = frame.select(pl.col("doc_key").unique().sort())
        return keys.with_columns(split_of(keys["doc_key"], settings.seed, shares=settings.shares))
    passages = _passage_ids(frame).drop_nulls("passage").group_by("doc_key", "passage").agg(length=pl.len())
    of_passage = pl.col("length") // LARGEST + pl.col("length") * PER_SENTENCE
    weights = passages.group_by("doc_key").agg(weight=of_passage.sum())
    documents = frame.select(pl.col("doc_key").unique().sort()).join(weights, on="doc_key", how="left")
    documents = documents.sort("doc_key").with_columns(pl.col("weight").fill_null(0.0))
    split = split_of(documents["doc_key"], settings.seed, documents["weight"], fewest=FEWEST)
    return documents.select("doc_key", split)


def _in_two_splits() -> pl.Expr:
    several = pl.col("split").n_unique().over("cluster") > 1
    return pl.when(several & pl.col("long")).then(pl.lit("in-two-splits"))


def _introduction() -> pl.Expr:
    """Sentences that end with a colon where the next one, which they introduce, cannot be used or is not there."""
    followed = (_continues() & pl.col("reason").is_null()).shift(-1, fill_value=False)
    return pl.when(pl.col("introduces") & ~followed).then(pl.lit("introduction"))


def _continues() -> pl.Expr:
    """Whether a sentence follows the one in the row before, with no gap in the source between them."""
    same = [pl.col(name) == pl.col(name).shift(1) for name in ("doc_key", "shard", "run")]
    return pl.all_horizontal(*same, pl.col("index") == pl.col("index").shift(1) + 1).fill_null(value=False)


def _passage_ids(frame: pl.DataFrame) -> pl.DataFrame:
    usable = pl.col("reason").is_null()
    begins = ~(usable & usable.shift(1, fill_value=False) & _continues())
    return frame.with_columns(passage=pl.when(usable).then(begins.cum_sum()))


def _rare(frame: pl.DataFrame, words: str, name: str) -> pl.DataFrame:
    """The sentences with a column of those of their (hashed) words that are not in many sentences."""
    at = pl.int_range(pl.len(), dtype=pl.UInt32)
    every = frame.select(at.alias("at"), pl.col(words).alias("word")).explode("word").drop_nulls()
    frequent = pl.col("len") > max(2.0, FREQUENT * frame.height)
    common = every.group_by("word").len().filter(frequent).select("word")
    rare = every.join(common, on="word", how="anti").group_by("at").agg(pl.col("word").alias(name))
    return frame.with_columns(at=at).join(rare, on="at", how="left", maintain_order="left").drop("at")


def ends(frame: pl.DataFrame) -> Counter[str]:
    """How many sentences cannot be shown and end a passage, by reason."""
    return Counter(frame["reason"].drop_nulls().to_list())


def ends_note(counts: Counter[str]) -> tuple[str, ...]:
    """A note on the sentences that end a passage, for the card; none where there is none."""
    reasons = ", ".join(
        f"{reason} {n}" for reason, n in sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    )
    return (f"Sentences that are in no passage, and at which a passage ends, by reason: {reasons}",) if reasons else ()


def without_introductions(frame: pl.DataFrame) -> pl.DataFrame:
    """The same sentences in passages in which none ends with a colon, for tasks on order.

    In another order a sentence with a colon would not stand before what it introduces, and this would reveal the
    order: in passages of three to seven sentences from novels with an accuracy of .54.
    """
    return divide_passages(frame, pl.col("introduces"))


def divide_passages(frame: pl.DataFrame, at: pl.Expr) -> pl.DataFrame:
    """The same sentences in passages that end before every sentence for which ``at`` is true, and go on after it."""
    divided = pl.struct("passage", at.alias("at")).rle_id()
    return frame.with_columns(passage=pl.when(pl.col("passage").is_not_null() & ~at).then(divided))


def passage_keys(frame: pl.DataFrame) -> pl.DataFrame:
    """The passages: ``passage``, ``first`` (row), ``length``, ``key`` (of its first sentence), in order."""
    return (
        frame.filter(pl.col("passage").is_not_null())
        .group_by("passage", maintain_order=True)
        .agg(first=pl.col("row").first(), length=pl.len(), key=pl.col("key").first())
    )


def random_sizes(frame: pl.DataFrame, least: int, most: int, *seed_key: str | int, reserve: int = 0) -> Sizes:
    """The number of sentences per window of each passage, by hash; ``reserve`` stay unused if there are enough."""
    passages = passage_keys(frame)
    longest = np.clip(passages["length"].to_numpy().astype(np.int64) - reserve, least, most)
    return least + hashing.pick(passages["key"].to_numpy(), longest - least + 1, *seed_key, "size")


def cut(frame: pl.DataFrame, size: Sizes, *seed_key: str | int, reserve: Sizes = 0) -> pl.DataFrame:
    """Disjoint windows of neighbouring sentences.

    The spare sentences of a passage (its length modulo ``size``) are distributed between the windows by hash, so that
    windows lose neither the beginnings nor the ends of documents.

    Args:
        frame: a table with ``row``, ``passage`` and ``key``, as ``with_passages`` gives; the rows of a passage follow
            each other.
        size: sentences per window: one number, or one per passage.
        seed_key: what the hashes start with.
        reserve: sentences after each window that are in no window; fewer where the passage has no more.

    Returns:
        One row per window: ``window`` (its key), ``first`` (row of its first sentence), ``size``.
    """
    passages = passage_keys(frame)
    lengths = passages["length"].to_numpy().astype(np.int64)
    sizes = np.broadcast_to(np.asarray(size, dtype=np.int64), lengths.shape)
    pitch = sizes + np.clip(reserve, 0, np.maximum(lengths - sizes, 0))
    number = lengths // pitch
    owner = np.repeat(np.arange(len(lengths)), number)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(number) - number, number)
    gaps = _gaps_before(passages["key"].to_numpy(), lengths - number * pitch, number, seed_key)
    first = passages["first"].to_numpy().astype(np.int64)[owner] + place * pitch[owner] + gaps
    keys = hashing.mix(frame["key"].to_numpy()[first], "window", *seed_key)
    return pl.DataFrame({"window": keys, "first": first, "size": sizes[owner]})


def _gaps_before(
    keys: np.ndarray, spare: np.ndarray, number: np.ndarray, seed_key: tuple[str | int, ...]
) -> np.ndarray:
    """For each window, how many spare sentences of its passage stand before it."""
    owner = np.repeat(np.arange(len(keys)), spare)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(spare) - spare, spare)
    spare_keys = hashing.combine(keys[owner], nth.astype(np.uint64))
    slot = hashing.pick(spare_keys, number[owner] + 1, "gap", *seed_key)
    starts = np.cumsum(number + 1) - (number + 1)
    per_slot = np.bincount(starts[owner] + slot, minlength=int((number + 1).sum()))
    before = np.cumsum(per_slot) - np.repeat(np.cumsum(spare) - spare, number + 1)
    last_slots = np.cumsum(number + 1) - 1
    return np.asarray(np.delete(before, last_slots), dtype=np.int64)


Order = Callable[[hashing.Keys, int, Context], Rows]
Keep = Callable[[pl.DataFrame, pl.DataFrame, Context], pl.DataFrame]

WAYS = 4
"""Number of orders of a window, of which one is chosen."""


def windows_of(frame: pl.DataFrame, context: Context, size: Sizes, reserve: Sizes = 0) -> pl.DataFrame:
    """Disjoint windows of distinct sentences, as ``distinct`` gives."""
    return distinct(frame, cut(frame, size, *context.seed_key, reserve=reserve), context)


def reordered(first: Rows, order: Rows, position: Rows | int = -1) -> pl.DataFrame:
    """The windows that begin in the rows ``first``, their sentences in an order (source indices)."""
    return version(first[:, None] + order, order, position)


def ordered_pairs(windows: pl.DataFrame, moved: int | None = None) -> pl.DataFrame:
    """The rows of windows with an ``order`` (source indices): as they stand, and in that order.

    ``moved`` is the source index of the sentence whose new place is ``position``.
    """
    parts = [pl.DataFrame()]
    for same_size in windows.partition_by("size", maintain_order=True):
        first, order = same_size["first"].to_numpy(), orders_of(same_size)
        places = -1 if moved is None else np.argmax(order == moved, axis=1)
        parts.append(pair_rows(same_size, [reordered(first, np.sort(order, axis=1)), reordered(first, order, places)]))
    return pl.concat(parts[1:] or parts)


def replaced_pairs(windows: pl.DataFrame, size: int) -> pl.DataFrame:
    """The rows of windows as they stand, and with ``distractor_row`` in place of the sentence at ``position``.

    ``order`` has -1 for the distractor, and ``distractor`` says where it comes from, if the windows have this column.
    """
    position, distractor = windows["position"].to_numpy(), windows["distractor_row"].to_numpy()
    original, places = members(windows["first"].to_numpy(), size), np.arange(size)
    here = places == position[:, None]
    broken = version(np.where(here, distractor[:, None], original), np.where(here, -1, places), position)
    origins = [windows["distractor"]] if "distractor" in windows.columns else []
    return pair_rows(windows, [version(original), broken.with_columns(*origins)])


def _alternatives(windows: pl.DataFrame, order: Order, context: Context, ways: int) -> pl.DataFrame:
    """Each window once for each of several orders: ``order`` has the source index of each sentence shown."""
    parts, sizes = [], windows["size"].to_numpy()
    starts, places = np.cumsum(sizes) - sizes, np.empty(sizes.sum(), np.int64)
    for way in range(ways):
        keys = hashing.mix(windows["window"].to_numpy(), "way", way) if way else windows["window"].to_numpy()
        for size in np.unique(sizes).tolist():
            here = sizes == size
            places[starts[here, None] + np.arange(size)] = order(keys[here], size, context)
        parts.append(windows.with_columns(order=lists(places.copy(), sizes)))
    return pl.concat(parts)


def one_order(
    frame: pl.DataFrame, orders: pl.DataFrame, context: Context, *more: npt.NDArray[np.float64]
) -> pl.DataFrame:
    """One ``order`` of each window, chosen so that lengths and similarities by place do not find the original order.

    ``more`` are gains of further rules.
    """
    if orders.is_empty():
        return orders
    rule_gains = np.hstack([gains_of_orders(frame, context.similarity or Similarity(frame), orders), *more])
    few = orders["key"].n_unique()
    return remove_bias(orders, rule_gains, *context.seed_key, few=few, slack=context.slack)


def any_other_order(keys: hashing.Keys, size: int, context: Context) -> Rows:
    """The source index of each sentence in an order that is chosen by hash out of all but the original one."""
    return hashing.permutations(keys, size, *context.seed_key)


def ordering_task(  # noqa: PLR0913 (one keyword per choice of a task)
    size: int | tuple[int, int], order: Order = any_other_order, *,
    labels: tuple[str, str] = ("original", "shuffled"), shape: Shape = Shape.SEQUENCE, ways: int = WAYS,
    moved: int | None = None, keep: Keep | None = None, version: int = 5,
) -> DiscourseTask:  # fmt: skip
    """A task on passages as they stand and in another order; no sentence ends with a colon.

    Args:
        size: sentences per passage; or the least and the most, between which a hash chooses for each unbroken passage.
        order: from the keys of passages and their number of sentences, the source index of each sentence shown, shape
            (passages, sentences); never ``0, 1, …, size - 1``.
        labels: names of the passage as it stands and of the other version.
        shape: what a row holds.
        ways: number of orders of each passage; one is chosen so that lengths and similarities do not find the original.
        moved: source index of the sentence whose new place is the column ``position``.
        keep: which of the passages may be kept, where labels are matched.
        version: raised when the rows of the task change.
    """
    sample = functools.partial(_in_two_orders, size=size, order=order, ways=ways, moved=moved, keep=keep)
    return DiscourseTask(
        labels=labels, shape=shape, sample=sample, pairs=True, least=np.min(size).item(), version=version
    )


def _in_two_orders(  # noqa: PLR0913 (one keyword per choice of a task)
    frame: pl.DataFrame, context: Context, *, size: int | tuple[int, int], order: Order, ways: int, moved: int | None,
    keep: Keep | None,
) -> Sample:  # fmt: skip
    """Every window as it stands (label 0) and reordered (label 1)."""
    match, passages = context.settings.match, without_introductions(frame)
    sizes = size if isinstance(size, int) else random_sizes(passages, *size, *context.seed_key)
    windows = windows_of(passages, context, sizes)
    balanced = keep(frame, windows, context) if keep and match else windows
    context.drops.keep(windows, balanced, "unbalanced")
    orders = _alternatives(balanced, order, context, ways if match else 1)
    chosen = one_order(frame, orders, context) if match and ways > 1 else orders
    capped = cap(chosen, context.settings, *context.seed_key, weight=2)  # last, so that orders do not depend on sizes
    return Sample(ordered_pairs(capped, moved), candidates=windows.height * 2)


def labelled(
    windows: pl.DataFrame, n_labels: int, context: Context, reason: str, by: Sequence[str] = ()
) -> pl.DataFrame:
    """The windows with a ``label``, all equally frequent, within the set sizes; those that get none are dropped.

    The values of ``by`` have equal shares of the sizes.
    """
    with_label = context.drops.keep(windows, assign_labels(windows, n_labels, *context.seed_key), reason)
    return cap(with_label, context.settings, *context.seed_key, by=["label", *by])


def single_rows(windows: pl.DataFrame, shown: pl.DataFrame, *seed_key: str | int) -> pl.DataFrame:
    """One row per labelled window (``window``, ``first``, ``split``, ``label``); its key is a hash of the window's."""
    return shown.with_columns(
        windows["label"].cast(pl.Int64), windows["split"], row=windows["first"].cast(pl.Int64),
        pair=pl.lit(None, pl.UInt64), key=pl.Series(hashing.mix(windows["window"].to_numpy(), "row", *seed_key)),
    )  # fmt: skip


def pair_rows(windows: pl.DataFrame, versions: list[pl.DataFrame]) -> pl.DataFrame:
    """Rows in pairs: one of each window and version, with the window as ``pair`` and the version's number as label."""
    rows = [
        single_rows(windows.with_columns(label=pl.lit(label)), sentences, label).with_columns(pair=windows["window"])
        for label, sentences in enumerate(versions)
    ]
    return pl.concat(rows, how="diagonal")


def choice_rows(
    windows: pl.DataFrame, wrong: Iterable[Sequence[int]], origins: Iterable[Sequence[str]]
) -> pl.DataFrame:
    """One row per labelled window: its last sentence is the right choice, at place ``label`` among the wrong ones.

    ``n_context`` says how many members are the context: all other sentences of the window.

    Args:
        windows: ``window``, ``first``, ``size``, ``split`` and ``label``.
        wrong: the rows of the wrong choices of each window.
        origins: where each of these comes from.
    """
    sequences, sources = [], []
    every = zip(*windows.select("first", "size", "label"), wrong, origins, strict=True)
    for first, size, label, others, kinds in every:
        *before, right = range(first, first + size)
        sequences.append([*before, *others[:label], right, *others[label:]])
        sources.append([*kinds[:label], None, *kinds[label:]])
    return single_rows(windows, version(sequences)).with_columns(
        n_context=windows["size"].cast(pl.Int64) - 1, distractor=pl.Series(sources, dtype=pl.List(pl.String))
    )


def members(first: Rows, size: int) -> Rows:
    """The rows of each window: (windows, size)."""
    return first[:, None] + np.arange(size)


def distinct(frame: pl.DataFrame, windows: pl.DataFrame, context: Context) -> pl.DataFrame:
    """Windows with ``split``, ``key`` and ``mean_words``.

    A window is dropped if a sentence occurs in it twice, or if another window has the same sentences.
    """
    drops = context.drops
    drops.consider(windows)
    rows = windows.select("window", row=pl.int_ranges("first", pl.col("first") + pl.col("size"))).explode("row")
    texts = frame.select(pl.col("row").cast(pl.Int64), "split", "n_words", "text_key")
    facts = (
        rows.join(texts, on="row", how="left", maintain_order="left")
        .group_by("window", maintain_order=True)
        .agg(
            pl.col("split").first(), mean_words=pl.col("n_words").mean(),
            _same=pl.col("text_key").n_unique() < pl.len(), _sentences=pl.col("text_key").sort(),
        )
    )  # fmt: skip
    described = windows.join(facts, on="window", maintain_order="left").with_columns(key="window")
    without_repetition = drops.keep(described, described.filter(~pl.col("_same")), "sentence-twice", step=WINDOWS)
    single = without_repetition.sort("window").unique("_sentences", keep="first", maintain_order=True)
    return drops.keep(without_repetition, single, "duplicate", step=WINDOWS).drop("_same", "_sentences")


def spread(frame: pl.DataFrame, taken: Rows) -> Rows:
    """The rows of usable sentences that are not ``taken``: the pool for distractors.

    The first sentence of a document is not in the pool: it is often a headline or a lead, and the sentence that it
    would replace never is one.
    """
    usable = frame.select(pl.col("passage").is_not_null() & (pl.col("index") > 0)).to_series().to_numpy().copy()
    usable[taken] = False
    return np.flatnonzero(usable)


def version(shown: Rows | list[list[int]], order: Rows | None = None, position: Rows | int = -1) -> pl.DataFrame:
    """The sentences shown (rows), their source order inside the window (None: as shown), and the edited position."""
    if isinstance(shown, np.ndarray):
        of_rows = lists(shown.ravel(), shown.shape[1])
    else:
        of_rows = pl.Series(shown, dtype=pl.List(pl.Int64))
    sizes = of_rows.list.len().to_numpy().astype(np.int64)
    ends = np.cumsum(sizes)
    places = np.arange(sizes.sum()) - np.repeat(ends - sizes, sizes) if order is None else order.ravel()
    return pl.DataFrame(
        {
            "members": of_rows.cast(pl.List(pl.Int64)),
            "order": lists(places, sizes).cast(pl.List(pl.Int32)),
            "position": pl.Series(np.broadcast_to(position, len(shown)), dtype=pl.Int32),
        }
    )
