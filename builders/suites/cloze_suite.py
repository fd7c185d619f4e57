"""Is the sentence that ends a passage more probable than another one?

Story Cloze in the form of CoherenceGym (Beyer et al. 2021), on running text: rows as in `cloze`, but with other texts.
The good text is four consecutive sentences and the next one. In the bad text the next one is replaced by a sentence
that has about the same length, shares about as many words with the passage, and is used once. `label` says where it
comes from: another document (`other_document`), or ten sentences or more later in the same one (`same_document`), which
has the same topic, persons and style, so that a reader accepts more of them. Every sentence is a region, and the fifth
is compared.
"""

import functools

import msgspec

from discoprobe.builders.discourse import cloze
from discoprobe.builders.passages.continuations import CONTEXT, FROM_BOTH, OTHER, SAME

ASKS = "Which ending is right?"
TASK = msgspec.structs.replace(
    cloze.TASK,
    sample=functools.partial(cloze.sample, kinds=FROM_BOTH),
    conditions=(OTHER, SAME),
    region=CONTEXT + 1,
    version=cloze.TASK.version + 3,
)
