"""Whether two words have been swapped inside a phrase whose order is fixed (RuSentEval NShift).

A row has a sentence of the corpus (`original`), or the same sentence with two adjacent words exchanged, one of which
depends on the other (`shifted`); both rows share `pair_id`. Like `bigram_shift`, but only pairs whose order is fixed by
the grammar are swapped: adposition and noun, auxiliary and verb, determiner, numeral or particle and head. The data of
the language list these patterns (`ngram_shift.patterns`, some of them for certain lemmas only). Other swaps may be
grammatical where word order is free. RuSentEval chose its patterns with TF-IDF n-grams and did not publish them. As in
`bigram_shift`, no pair stands beside punctuation or at the end of the sentence, words that change when they meet stay
in place, and in half of the pairs the bigrams of the original are more frequent than those of the swap. The words
beside function words still reveal some of the swaps, so compare a model with the audit's `words` on pairs.
"""

from discoprobe.builders.edits.swaps import in_patterns, no_patterns, swap_task

TASK = swap_task(in_patterns, no_patterns)
