"""Is a sentence more probable after its context than after the same context in another order?

Sentence order with fixed last sentence, of CoherenceGym (Beyer et al. 2021), on running text: passages as in
`order_last`. Five consecutive sentences; in the bad text the first four are in another order, chosen as in `so`, which
takes sentences away from what they refer to, as in `order_all`. Every sentence is a region, and the fifth, which is the
same in both texts, is compared.
"""

from discoprobe.builders.discourse import order_last
from discoprobe.builders.passages.window_rows import order_suite

TASK = order_suite(order_last.TASK, region=order_last.LAST + 1)
