"""Are the sentences of a passage in their original order?

Sentence ordering (Koto et al. 2021; discourse suite over UD, Godunova & Voloshina). Three to seven consecutive
sentences as they stand (`original`) or in another order (`shuffled`): one of four random ones, chosen so that the label
can be told neither from the lengths of the first and last sentences nor from the similarity of neighbours. Both
versions share `pair_id`; `order` gives the source index of each sentence shown, from which Kendall's tau is computed.
All passages from one unbroken passage have the same number of sentences, chosen by hash.
"""

from discoprobe.builders.passages.window_rows import ordering_task

TASK = ordering_task((3, 7))
