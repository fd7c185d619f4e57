"""Is a passage more probable than the same sentences in another order?

Sentence order of CoherenceGym (Beyer et al. 2021), on running text. The good text is five consecutive sentences as they
stand, the bad one the same in another order. In the bad text a sentence that refers to the one before stands in front
of it, and if possible in front of all that precede it in the corpus. Such a sentence begins with a connective that
needs a sentence before it (*however*, *therefore*, not *also*), or with a pronoun of the third person or a
demonstrative among its first words, unless a noun before it in the sentence is what it can refer to. Passages without
such a sentence are left out. No sentence follows the same sentence in both texts, and at least half of all pairs of
sentences are in reverse order. Neither text begins with such a sentence, and the order is one of six, chosen so that
lengths, the similarity of neighbours and the places of such sentences do not tell it. Every sentence is a region; the
whole texts are compared.
"""

from discoprobe.builders.passages.links import SIZE, order_suite

TASK = order_suite(moved=SIZE)
