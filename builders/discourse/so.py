"""Are the sentences of a passage in their original order?

Sentence ordering (Koto et al. 2021; discourse suite over UD, Godunova & Voloshina). Three to seven consecutive
sentences in their order (`original`) or in another order (`shuffled`). This is one of four random orders, chosen so
that the label can be predicted neither from the lengths of the first and last sentences nor from the similarity of
neighbours. No sentence ends with a colon. Both versions share `pair_id`; `order` gives the source index of each
sentence shown, from which you can compute Kendall's tau. A hash chooses the number of sentences for each span of
consecutive usable sentences in the source; all rows from this span have this number.
"""

from discoprobe.builders.passages.windows import ordering_task

ASKS = "Are sentences in order?"
TASK = ordering_task((3, 7))
