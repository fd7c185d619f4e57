"""Whether two adjacent words have been swapped (SentEval, X-Probe BigramShift).

A row has a sentence of the corpus (`original`), or the same sentence with two adjacent words exchanged, one of which
depends on the other (`shifted`). Both rows share `pair_id`, so length, words and punctuation do not tell the label.
Words keep their own capitals: in X-Probe, a lower-case first token before a capitalised second one reveals 6-10 % of
the shifted sentences.

Words are swapped only if the corpora of the language show that their order is fixed: two words with the same parts of
speech and the same relation have the other order in less than 2 % of at least 50 occurrences. Where order is free, a
swap is often as good as the original. Without this rule, a reader accepted 13 of 30 Russian swaps and 5 of 30 Spanish
ones; with it, 16 of 152 in Russian, Polish, Czech, Finnish, Hungarian and Latin, and none of 22 in ten languages.

These words are not swapped: the first word of the sentence; punctuation and symbols; parts of multiword tokens; words
that touch another word without a space (where the script has spaces); equal words; words whose capital may be due to
their position; and words that the language writes in another way when they meet (French *de* before a vowel, *de le*;
English *a*). Pairs before or after punctuation, or at the end of the sentence, are not swapped either, because an
article before a full stop would tell the label (with such pairs, character n-grams inside words reach .52 to .61,
without them .50). In a script without spaces, words are not separated from their auxiliaries and endings. No pair of
words is swapped in two sentences. In half of the pairs the bigrams of the original are more frequent in the corpora
than those of the swap, in the other half they are less frequent.
"""

import polars as pl

from discoprobe.builders.sentences.swaps import swap_task
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context

ENDINGS = ("AUX", "SCONJ", "PART")
"""Parts of speech of endings that a script without spaces does not set apart: Japanese 食べ|た, 食べ|て."""


def usable(pairs: pl.DataFrame, trees: Trees, _context: Context) -> pl.DataFrame:
    """The pairs without such an ending."""
    ending = pl.any_horizontal(pl.col("left_upos", "right_upos").is_in(ENDINGS))
    return pairs if trees.spaced else pairs.filter(~ending)


TASK = swap_task(usable, fixed=True)
