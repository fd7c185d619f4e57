"""Which of two persons who were mentioned before does the last sentence name?

The right or the wrong antecedent: entity tracking (DiscoTrack) in running text. The good text is that of the corpus.
Its last sentence has the name of a person as its subject, or after another word (*with Anna*), and no other mention of
a rival: another person with the same pronouns, whom the four or more sentences before it also name. The bad text has
the name of the rival there. Both persons have one name in the document that nobody else has. `near`: of the two, the
right one was mentioned last; `far`: the rival was. An item (`group`) is one row of each condition, with the same two
names if the corpus allows it: then the right name of one row is the wrong one of the other. In both rows the one who
was mentioned last has the longer name, or in neither, and is named more often, or in neither. So a preference for the
nearer or the more frequent person, or for a longer name, is right in half of the rows. What follows the name says who
is meant, so the whole texts are compared. No text of a document shows the last sentence of another row. In corpora
without trees, short noun phrases (*the old man*) that the document uses as subjects count as names, where they are
subjects.
"""

import functools

from discoprobe.builders.passages.rementions import DISTANCES, REASONS, antecedents, items, lacks
from discoprobe.builders.task import RelationTask

TASK = RelationTask(
    labels=("good", "bad"), select=antecedents, lacks=lacks, pairs=True, conditions=DISTANCES,
    sample=functools.partial(items, conditions=DISTANCES, alike=("cell",), rather="name"), reasons=REASONS,
    needs=frozenset({"coreference", "documents"}),
)  # fmt: skip
