"""Is a person who was mentioned before mentioned again by a pronoun, or by the name?

Entity re-mention of CoherenceGym (Beyer et al. 2021), in both directions. A row is about a subject that was mentioned
in the sentences before. The good text is that of the corpus; the bad text has the other kind of mention. Region 2 is
the pronoun or the name. `continue`: the corpus has a pronoun for the subject of the sentence before (*Anna met Mary.
She smiled.*), and repeating the name is bad (*Anna met Mary. Anna smiled.*; repeated-name penalty, Gordon, Grosz &
Gilliom 1993). `switch`: the sentence before has another subject, to which the pronoun could refer, so the corpus has
the name (*Mary met Anna. Anna smiled.*), and a reader would take the pronoun for the other person (*Mary met Anna. She
smiled.*). An item (`group`) is one row of each condition. A model should prefer the pronoun more in `continue` than in
`switch`: then the sum of the two differences (bad minus good) is above zero. In a single row, both texts can be
acceptable. The shown text begins with the last sentence that names the person. The two rows of an item have the same
pronoun, names with equally many words (the same name if the corpus allows it), and none, one, or several sentences
between name and mention; in both rows the subject before is in the same sentence, or in neither. The last name before
the mention is that of the person in both rows, or in neither. So a preference for names, pronouns or length, or a count
of names, is right in half of the items. In corpora without trees, the subject before is the last one in its sentence or
the first person in up to three sentences before, and short noun phrases (*the old man*) that the document uses as
subjects count as names.
"""

import functools

from discoprobe.builders.passages.rementions import CONDITIONS, REASONS, items, lacks, rementions
from discoprobe.builders.task import RelationTask

ASKS = "Pronoun or name?"
TASK = RelationTask(
    labels=("good", "bad"), select=rementions, lacks=lacks, pairs=True, conditions=CONDITIONS, region=2, version=7,
    sample=functools.partial(items, conditions=CONDITIONS, alike=("cell",), rather="name"), reasons=REASONS,
    needs=frozenset({"coreference", "documents"}),
)  # fmt: skip
