"""Whether two adjacent words have been swapped (SentEval, X-Probe BigramShift).

The sentence as it stands (`original`), or with two adjacent words exchanged, one of which depends on the other
(`shifted`); both share `pair_id`, so that length, words and punctuation say nothing. Never swapped are the first word
of the sentence, punctuation and symbols, parts of multiword tokens, words that touch another without a space (where the
script has spaces), equal words, words whose capital may be due to their position, words that the language writes
otherwise when they meet (French *de* before a vowel, *de le*; English *a*), and pairs before or after punctuation or at
the end: an article before a full stop gives the label away (with such pairs character n-grams inside words reach .52 to
.61, without them .50). No pair of words is swapped in two sentences, and the bigrams of the original are more frequent
in the corpora than those of the swap in as many pairs as not. Words keep their own capitals: in X-Probe a lower-case
first token before a capitalised second gives away 6-10 % of the shifted sentences. Swapped are only neighbours whose
order the language fixes, as its own corpora show: the same parts of speech in the same relation stand in the other
order in less than 2 % of at least 50 occurrences. Where order is free, a swap is often as good as the original (without
this rule a reader found 13 of 30 Russian swaps so, and 5 of 30 Spanish ones; with it 16 of 152 in Russian, Polish,
Czech, Finnish, Hungarian and Latin and none of 22 in ten languages). In a script without spaces words are not parted
from their auxiliaries and endings.
"""

from dataclasses import replace

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.sentences.swaps import (
    REASONS,
    SHOWN_BY_WORDS,
    adjacent_words,
    fixed_orders,
    orders,
    sentence_bigrams,
    swap,
    without_frequent_pairs,
    word_bags,
)
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.sentences.word_pairs import HashCounts
from discoprobe.builders.task import Context, ProbingTask, Sample

LABELS = ("original", "shifted")
ENDINGS = ("AUX", "SCONJ", "PART")
"""Parts of speech of endings that a script without spaces does not set apart: Japanese 食べ|た, 食べ|て."""


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """The pairs that have words, no punctuation, before and after them; several per sentence.

    The first of each sentence also has ``orders`` and ``bigrams``, those of all words of the sentence.
    """
    pairs = adjacent_words(trees, context).filter("inside")
    if not trees.spaced:
        pairs = pairs.filter(~pl.col("left_upos").is_in(ENDINGS), ~pl.col("right_upos").is_in(ENDINGS))
    of_sentences = [trees.once(orders), trees.once(sentence_bigrams), trees.once(word_bags)]
    for facts in of_sentences:
        pairs = pairs.join(facts, on="sent", how="left", maintain_order="left")
    first = pl.col("sent").is_first_distinct()
    return pairs.select(
        "sent", "index", "order", "swapped", "original_bigrams", "shifted_bigrams", "plan", "bag",
        label=pl.lit(LABELS[0]), orders=pl.when(first).then("orders"), bigrams=pl.when(first).then("bigrams"),
    )  # fmt: skip


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """Originals and swaps: of each sentence one of the pairs whose order is fixed, chosen by hash."""
    fixed = frame.filter(pl.col("order").is_in(fixed_orders(frame["orders"].explode()).implode()))
    place = hashing.combine(fixed["key"].to_numpy(), fixed["index"].cast(pl.UInt64).to_numpy())
    hashed = fixed.with_columns(_hash=pl.Series(hashing.mix(place, *context.seed_key, "pair"), dtype=pl.UInt64))
    chosen = hashed.sort("shard", "sent", "_hash", "index").unique(["shard", "sent"], keep="first", maintain_order=True)
    sentences = frame.select("shard", "sent").n_unique()
    made = without_frequent_pairs(chosen, HashCounts(frame["bigrams"]), context)
    drops = dict(made.drops) | {"free-order": sentences - chosen.height}
    return replace(made, drops=drops, candidates=sentences * 2)


TASK = ProbingTask(
    labels=LABELS,
    select=select,
    sample=sample,
    edit=swap,
    pairs=True,
    needs=frozenset({"upos", "deps"}),
    reasons={**REASONS, "free-order": "no two neighbours of the sentence have a fixed order"},
    exempt={"pairwise": SHOWN_BY_WORDS},
    version=3,
)
