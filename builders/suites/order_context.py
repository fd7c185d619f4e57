"""Is a sentence more probable after its context than after the same context in another order?

Sentence order with fixed last sentence, of CoherenceGym (Beyer et al. 2021), on running text. Five consecutive
sentences; in the bad text the first four are in another order, chosen as in `order_all`. Every sentence is a region,
and the fifth, which is the same in both texts, is compared.
"""

from discoprobe.builders.passages.links import SIZE, order_suite

ASKS = "Is its context in order?"
TASK = order_suite(moved=SIZE - 1, region=SIZE)
