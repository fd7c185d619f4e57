"""Is the entity of a marked mention new in the text, mentioned before, or accessible by another one?

Information status (Prince 1981; Nissim 2006). A passage is shown once for each label, with another mention marked.
`new`: the document has not mentioned the entity before. `given`: the passage has, in other words or in these.
`accessible`: it has not, but the entity can be understood because of one that it has mentioned (*a house … the door*;
bridging); only where the corpus annotates it. The mentions are names or nouns with the same article (or determiner) and
number, and the heads of all were used in the passage before, or of none. Over the rows of a split, they have the same
position, length, role and words used before (`cues`). `question` asks the same without marks.
"""

from discoprobe.builders.passages.entity_marks import NEW_CUES, given_new
from discoprobe.builders.passages.mention_rows import mention_task

ASKS = "New, given or accessible?"
TASK = mention_task(
    given_new,
    ("new", "given", "accessible"),
    NEW_CUES,
    "Is the person or thing that {first} refers to new in the text, mentioned before, or known from something else?",
    ("New", "Mentioned before", "Known from something else"),
    needs=["upos"],
    version=7,
)
