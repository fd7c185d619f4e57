"""Is a passage more probable than the same sentences in another order?

Sentence order of CoherenceGym (Beyer et al. 2021), on running text. The good text is five consecutive sentences as
they stand, the bad one the same in another order. A sentence comes before the one that it refers to, if possible
before all that precede it in the corpus: it begins with a connective that needs a sentence before it (*however*,
*therefore*, not *also*), or with a pronoun of the third person or a demonstrative among its first words, unless a noun
before it in the sentence is what it can refer to. Passages without such a sentence are left out. No sentence follows
the same one in both texts, and half of all pairs of sentences are turned round. Neither text begins with such a
sentence, and the order is one of six, chosen so that lengths, the similarity of neighbours and the places of such
sentences do not tell it. Every sentence is a region; the whole texts are compared.
"""

from discoprobe.builders.passages.links import SIZE, order_suite

TASK = order_suite(moved=SIZE)
