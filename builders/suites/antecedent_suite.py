"""Which of two persons who were mentioned before does the last sentence mention?

The right or the wrong antecedent: entity tracking (DiscoTrack) in running text. The good text is that of the corpus.
Its last sentence mentions a person, and no rival. By name: as its subject, or after another word (*with Anna*); a rival
is another person with the same pronouns whom the sentences before, four or more, also name, and the bad text has the
name of the rival. Both have one name in the document that nobody else has. By pronoun: as its subject; a rival is a
person with another pronoun whom the sentences before also name, and the bad text has the pronoun of the rival (*He*
for *She*). Nothing else in the sentence shows the gender: no other pronoun, and no word that agrees (French *arrivée*).
`near`: of the two, the right one was mentioned last; `far`: the rival was. An item (`group`) is one row of each
condition, both by name, with the same two names if the corpus allows it, or both by pronoun; the one who was mentioned
last has the same pronoun in both rows: it is right in one row and wrong in the other. In both rows the one who was
mentioned last has the longer name, or in neither, and is mentioned more often, or in neither. So a preference for the
nearer or the more frequent person, for a pronoun, or for a longer name, is right in half of the rows. What follows the
name says who is meant, so the whole texts are compared. A text begins as late as it can, six sentences before the last
one or where a person is named. No text of a document shows the last sentence of another row. In corpora without trees,
short noun phrases (*the old man*) that the document uses as subjects count as names, where they are subjects.
"""

import functools

from discoprobe.builders.passages.rementions import DISTANCES, REASONS, antecedents, items, lacks
from discoprobe.builders.task import RelationTask

ASKS = "Which person is meant?"
TASK = RelationTask(
    labels=("good", "bad"), select=antecedents, lacks=lacks, pairs=True, conditions=DISTANCES,
    sample=functools.partial(items, conditions=DISTANCES, alike=("cell",), rather="name"), reasons=REASONS,
    needs=frozenset({"coreference", "documents"}), version=3,
)  # fmt: skip
