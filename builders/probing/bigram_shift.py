"""Whether two adjacent words have been swapped (SentEval, X-Probe BigramShift).

A row has a sentence of the corpus (`original`), or the same sentence with two adjacent words exchanged, one of which
depends on the other (`shifted`). Both rows share `pair_id`, so length, words and punctuation do not tell the label.
Words keep their own capitals. They are swapped only if the corpora of the language show that their order is fixed: two
words with the same parts of speech and the same relation have the other order in less than 2 % of at least 50
occurrences. Where order is free, a swap is often as good as the original: without this rule a reader accepted 13 of 30
Russian swaps, with it 16 of 152 in Russian, Polish, Czech, Finnish, Hungarian and Latin, and none of 22 in ten others.

These words are not swapped: the first word of the sentence; pairs beside punctuation or at the end of the sentence,
because an article before a full stop would tell the label; symbols; parts of multiword tokens; words that touch another
word without a space (where the script has spaces); equal words; words whose capital may be due to their position; and
words that the language writes in another way when they meet (French *de* before a vowel, *de le*; English *a*). In a
script without spaces, words are not separated from their auxiliaries and endings. No pair of words is swapped in two
sentences, and few swaps bring together two words that are rarely adjacent in the corpora. In half of the pairs the
bigrams of the original are more frequent in the corpora than those of the swap, in the other half less frequent.
"""

from discoprobe.builders.edits.swaps import swap_task, without_endings

TASK = swap_task(without_endings, fixed=True)
