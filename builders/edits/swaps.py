"""Exchanging two adjacent words of a sentence.

Each word keeps its own letters, so names, acronyms and German nouns keep their capitals.
"""

import functools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.edits.adjacent_words import adjacent_words, orders, sentence_bigrams
from discoprobe.builders.edits.fixed_order import fixed_orders
from discoprobe.builders.edits.versions import original_and_edited, word_bags
from discoprobe.builders.edits.word_pairs import HashCounts
from discoprobe.builders.sampling.balance import remove_bias
from discoprobe.builders.sampling.stratify import first_of_each, with_rank
from discoprobe.builders.sentences.candidates import usable_of
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Edit, ProbingTask, Sample, always_available
from discoprobe.loaders.languages.language import LanguageData

REASONS = {
    "same-words-swapped": "another candidate swaps the same words",
    "same-neighbours": "the swap puts two words side by side as other swaps do (`la de`)",
    "bigrams-tell": "the bigrams of the original are more frequent than those of the swap; no other pair offsets it",
    "free-order": "no two neighbours of the sentence have a fixed order",
}
"""Why pairs of words are not swapped."""

SHOWN_BY_WORDS = "where order is fixed, the words beside a function word show it: this is what the task asks about"
"""Why checks of the audit that go by single words do not apply."""

BIGRAMS = 3
"""Bigrams in which the two words stand."""

ALIKE, FEW_ALIKE = 0.005, 2
"""At most this share of the swaps of a block makes the same two words adjacent (or as many swaps as originals have this
bigram, if that is more); and a number of such swaps that is always allowed."""

ROUNDS = 2
"""Rounds of filtering: balancing by frequency keeps more swaps with frequent bigrams, which then recur too often."""

FEW = 4
"""Pairs that ``remove_bias`` keeps in every split."""


def one_of_each(pairs: pl.DataFrame, context: Context) -> pl.DataFrame:
    """One of the pairs of each sentence (``shard``, ``sent``, ``key``), chosen by hash."""
    place = hashing.combine(pairs["key"].to_numpy(), pairs["index"].cast(pl.UInt64).to_numpy())
    hashed = pairs.with_columns(_hash=pl.Series(hashing.mix(place, *context.seed_key, "pair"), dtype=pl.UInt64))
    ordered = hashed.sort("shard", "sent", "_hash", "index").drop("_hash")
    return ordered.unique(["shard", "sent"], keep="first", maintain_order=True)


def without_frequent_pairs(frame: pl.DataFrame, counts: HashCounts, context: Context) -> Sample:
    """Originals and swaps; no two words are swapped twice, and frequencies of bigrams do not predict the label.

    A model would memorise a pair of frequent words that is swapped again and again (Chinese *一個*), and two words that
    swaps make adjacent again and again (Spanish *la de*: 21 of 474).

    Args:
        frame: candidates, one of each sentence.
        counts: of the bigrams of the corpora.
        context: seed key and settings.
    """
    usable, drops = usable_of(frame, context)
    rows, lost = usable, Counter[str]()
    if context.settings.match:
        rows = first_of_each(usable, ["swapped"], "one of a pair", *context.seed_key)
        lost["same-words-swapped"] = usable.height - rows.height
        for _ in range(ROUNDS):
            varied = _varied(rows, counts, context)
            balanced = remove_bias(varied, _likelier(varied, counts)[:, None], *context.seed_key, few=FEW)
            lost["same-neighbours"] += rows.height - varied.height
            lost["bigrams-tell"] += varied.height - balanced.height
            rows = balanced
    return original_and_edited(rows, context, drops | lost)


def _varied(rows: pl.DataFrame, counts: HashCounts, context: Context) -> pl.DataFrame:
    """The swaps without those, in hash order, that make the same two words adjacent too often (``ALIKE``).

    How often the originals have these bigrams is estimated from the counts of the corpora.
    """
    made = rows.select("key", made="shifted_bigrams").explode("made")
    usual = pl.Series("usual", counts.of(made["made"].to_numpy()) * rows.height / max(1, counts.sentences))
    few = max(FEW_ALIKE, int(ALIKE * rows.height))
    ranked = with_rank(made.with_columns(usual), ["made"], "neighbours", *context.seed_key)
    often = ranked.filter(pl.col("rank") > pl.max_horizontal("usual", pl.lit(few)))
    return rows.join(often, on="key", how="anti", maintain_order="left")


def _likelier(rows: pl.DataFrame, counts: HashCounts) -> npt.NDArray[np.float64]:
    """The sign of how much more frequent, elsewhere in the corpora, the bigrams of the original are: 1, 0 or -1."""

    def logs(column: str, own: int) -> npt.NDArray[np.float64]:
        hashes = rows[column].explode().to_numpy()
        return np.asarray(np.log1p(np.maximum(counts.of(hashes) - own, 0)).reshape(-1, BIGRAMS).sum(axis=1))

    if rows.is_empty():
        return np.empty(0)
    return np.sign(logs("original_bigrams", 1) - logs("shifted_bigrams", 0))


def swap_task(
    usable: Callable[[pl.DataFrame, Trees, Context], pl.DataFrame],
    lacks: Callable[[LanguageData], str] = always_available,
    *,
    fixed: bool = False,
    version: int = 3,
) -> ProbingTask:
    """A task that asks whether two adjacent words inside a sentence were swapped.

    Args:
        usable: which of the pairs that ``adjacent_words`` returns may be swapped.
        lacks: why the task is not available in a language; an empty string where it is.
        fixed: whether only pairs are swapped whose order the corpora show to be fixed.
        version: raised when the rows of the task change.
    """
    return ProbingTask(
        labels=("original", "shifted"),
        select=functools.partial(_select, usable=usable),
        sample=functools.partial(_sample, fixed=fixed),
        edit=swap,
        pairs=True,
        lacks=lacks,
        needs=frozenset({"upos", "deps"}),
        reasons=REASONS,
        exempt={"pairwise": SHOWN_BY_WORDS},
        version=version,
    )


def _select(
    trees: Trees, context: Context, *, usable: Callable[[pl.DataFrame, Trees, Context], pl.DataFrame]
) -> pl.DataFrame:
    """The usable pairs, several per sentence; the first of each sentence has its ``orders`` and ``bigrams``."""
    pairs = usable(adjacent_words(trees, context).filter("inside"), trees, context)
    for of_sentences in (orders, sentence_bigrams, word_bags):
        pairs = pairs.join(trees.once(of_sentences), on="sent", how="left", maintain_order="left")
    first = pl.col("sent").is_first_distinct()
    return pairs.select(
        "sent", "index", "order", "swapped", "original_bigrams", "shifted_bigrams", "plan", "bag",
        pl.when(first).then(pl.col("orders", "bigrams")), label=pl.lit(context.labels[0]),
    )  # fmt: skip


def _sample(frame: pl.DataFrame, context: Context, *, fixed: bool) -> Sample:
    """Originals and swaps, one pair of words per sentence; with ``fixed`` only pairs of a fixed order."""
    some = frame.filter(pl.col("order").is_in(fixed_orders(frame["orders"].explode()).implode())) if fixed else frame
    chosen, sentences = one_of_each(some, context), frame.select("shard", "sent").n_unique()
    made = without_frequent_pairs(chosen, HashCounts(frame["bigrams"]), context)
    drops = {**made.drops, "free-order": sentences - chosen.height}
    return replace(made, drops=drops, candidates=sentences * 2)


def swap(text: str, plan: Mapping[str, Any]) -> Edit:
    """The two words exchanged; what stands between them stays, and so do their letters."""
    first, second = text[plan["a_start"] : plan["a_end"]], text[plan["b_start"] : plan["b_end"]]
    between = text[plan["a_end"] : plan["b_start"]]
    return Edit(plan["a_start"], plan["b_end"], second + between + first)
