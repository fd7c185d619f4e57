"""Whether two adjacent words have been swapped (SentEval, X-Probe BigramShift).

The sentence as it stands (`original`), or with two adjacent words exchanged, one of which depends on the other
(`shifted`); both share `pair_id`, so that length, words and punctuation say nothing. Never swapped are the first word
of the sentence, punctuation and symbols, parts of multiword tokens, words that touch another without a space (where the
script has spaces), equal words, words whose capital may be due to their position, words that the language writes
otherwise when they meet (French *de* before a vowel, *de le*; English *a*), and pairs before or after punctuation or at
the end: an article before a full stop gives the label away (with such pairs character n-grams inside words reach .52 to
.61, without them .50). No pair of words is swapped in two sentences. Words keep their own capitals: in X-Probe a
lower-case first token before a capitalised second gives away 6-10 % of the shifted sentences. Where the order of words
is free, many swaps are as good as the original (a reader found nine of sixteen Russian and seven of sixteen Czech ones
so, at most one of ten in English, Spanish, German or Turkish): `ngram_shift` swaps only where the order is fixed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.builders.config import Shape
from discoprobe.builders.swaps import adjacent_words, distinct_twins, one_of_each, swap
from discoprobe.builders.task import Context, Task

if TYPE_CHECKING:
    import polars as pl

    from discoprobe.builders.tree import Trees


def select(trees: Trees, context: Context) -> pl.DataFrame:
    """One pair of adjacent words per sentence, chosen by hash."""
    return one_of_each(adjacent_words(trees, context).filter("inside"), trees, context)


TASK = Task(
    labels=("original", "shifted"), shape=Shape.SENTENCE, arrange=distinct_twins, select=select, edit=swap,
    split_by="cluster", needs=frozenset({"upos", "deps"}), perturbation=True, pairs=True,
)  # fmt: skip
