"""Whether two words have been swapped inside a phrase (RuSentEval NShift).

A row has a sentence of the corpus (`original`), or the same sentence with two adjacent words exchanged (`shifted`);
both rows share `pair_id`. Like `bigram_shift`, but only inside a phrase: one of the two words depends on the other, or
both depend on the same word (*in the house*: *the in house*, *in house the*). RuSentEval chose patterns of parts of
speech with TF-IDF n-grams and did not publish them. Here the corpora decide, in every language by the same rule: one of
the two is a function word, which after the swap stands where it, and all of its class, hardly ever stands. As in
`bigram_shift`, no pair stands beside punctuation or at the end of the sentence, words that change when they meet stay
in place, and the card says how often a trigram model of other text finds the swap: a model has to do better.
"""

import polars as pl

from discoprobe.builders.edits.swaps import swap_task

ASKS = "Is a phrase reordered?"
TASK = swap_task(pl.col("phrase"))
