"""Whether two adjacent words have been swapped (SentEval, X-Probe BigramShift).

A row has a sentence of the corpus (`original`), or the same sentence with two adjacent words exchanged (`shifted`).
Both rows share `pair_id`, so length, words and punctuation do not tell the label. Words keep their own capitals. One of
the two is a function word: an adposition, a conjunction, an article or a particle. They are swapped only if the corpora
show that no order of the language allows the result. The function word then stands beside a kind of word (a part of
speech; for an adposition, with its case) beside which it, and all of its class, hardly ever stands: so seldom that the
upper end of the 95 % interval is below 15 % (10 % for the class) of what chance would give. An order that is only rare
proves nothing: adjective and noun, determiner and noun, or auxiliary and verb change places in many languages. If a
corpus is too small to show it, or the language has few such words, the task is not offered.

These words are not swapped: the first word of the sentence; pairs beside punctuation or at the end of the sentence,
because an article before a full stop would tell the label; symbols; parts of multiword tokens; words that touch another
word without a space (where the script has spaces); equal words; words whose capital may be due to their position; and
words that the language writes in another way when they meet (French *de* before a vowel, *de le*; English *a*).

The same two words are swapped in two sentences at most, and few swaps bring the same two words together. What n-grams
show of the swap was not removed: whether an order of words is improbable is what the task asks. So the card has a
floor, which is how often a trigram model of other text of the corpora finds the swap. A model has to do better.
"""

from discoprobe.builders.edits.swaps import swap_task

ASKS = "Are two words swapped?"
TASK = swap_task()
