"""By which of four earlier mentions can a marked mention be understood?

Bridging (Clark 1975; Poesio & Vieira 1998). The context is a passage with a mention in brackets that is not mentioned
before, but can be understood because something else is (*a house … [1 the door]*), as annotators have marked it, and
the question. The choices are a name or noun for that entity and three for other entities, which annotators have linked
neither to it nor to the marked mention; all are from the passage before the mention. `label` is the index of the right
one; each place is right equally often. Over the rows of a split, it is as near, as frequent and as long as the others,
and as typical of an anchor: the words, the articles and the type that anchors of other documents have tell nothing.
"""

from discoprobe.builders.passages.entity_marks import BRIDGE_CUES, bridging_choice
from discoprobe.builders.passages.mention_rows import choice_of_mentions

ASKS = "Which mention explains it?"
TASK = choice_of_mentions(
    bridging_choice, BRIDGE_CUES, "Because of what can a reader know what {second} refers to?", version=6
)
