"""Do two marked mentions in a passage refer to the same entity?

Entity tracking (DiscoTrack) as a choice between two antecedents, in running text. A passage is shown twice, with the
same second mention. `same`: the first is a mention of the same entity. `other`: it is a mention of another entity that
could be meant, of the same kind (pronoun, name or noun), number, gender and type; the same pronouns refer to both
entities in the document, and both share a word with the second mention, or neither does. Over the rows of a split, both
labels have the same distance, string, role, length and frequency (`cues`): the nearer mention is as often wrong as
right, and so is the one with the same words. Mentions of the first and second person, appositions, predicates and
reflexives are left out. A passage is shown for several entities, each with another second mention. `question` asks the
same without marks.
"""

from discoprobe.builders.passages.entity_marks import SAME_CUES, same_entity
from discoprobe.builders.passages.mention_rows import mention_task

ASKS = "Same entity?"
TASK = mention_task(
    same_entity, ("same", "other"), SAME_CUES, "Does {second} refer to the same person or thing as {first}?", version=6
)
