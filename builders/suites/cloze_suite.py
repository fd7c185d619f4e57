"""Is the sentence that ends a passage more probable than another one?

Story Cloze in the form of CoherenceGym (Beyer et al. 2021), on running text: rows as in `cloze`, but with other texts.
The good text is four consecutive sentences and the next one. In the bad text the next one is replaced by a sentence of
another document, which has about the same length, shares about as many words with the passage, and is used once. Every
sentence is a region, and the fifth is compared.
"""

import dataclasses

from discoprobe.builders.discourse import cloze
from discoprobe.builders.passages.continuations import CONTEXT, OTHER

TASK = dataclasses.replace(
    cloze.TASK,
    conditions=(OTHER,),
    region=CONTEXT + 1,
    version=cloze.TASK.version + 1,
)
