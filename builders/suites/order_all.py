"""Is a passage more probable than the same sentences in another order?

Sentence order of CoherenceGym (Beyer et al. 2021), on running text. The good text is five consecutive sentences in
their order; the bad text is the same sentences in another order. The reordering uses sentences that refer to the
sentence before: they begin with a connective that needs a sentence before it (*however*, *therefore*, not *also*), or
have a demonstrative or a pronoun of the third person among their first words, unless it can refer to a noun before it
in the same sentence. Passages without such a sentence, or with one that ends with a colon, are left out. In the bad
text, a sentence of this kind comes before the sentence to which it refers and, if possible, before all sentences that
precede it in the corpus.

In the bad text no sentence follows the same sentence as in the good text, and at least half of all pairs of sentences
are in reverse order. Neither text begins with a sentence that refers back. The order is one of six, chosen so that
simple rules do not find the good text: rules about lengths, about the similarity of neighbours, and about the places of
sentences that refer back. Every sentence is a region; the whole texts are compared.
"""

from discoprobe.builders.passages.links import SIZE, order_suite

ASKS = "Is the passage in order?"
TASK = order_suite(moved=SIZE)
