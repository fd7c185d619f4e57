"""Are two adjacent sentences of a play or dialogue spoken by the same person?

Speaker change detection in text (Meng, Mou & Jin 2017), in plays and dialogues. Two consecutive sentences with nothing
between them, not even a stage direction: both of one turn (`same`), or the last of a turn and the first of the next
turn, by another person (`other`). Simple cues could tell the label: somebody else answers a question, and a turn often
ends with a short sentence. So both labels are equally frequent for each combination of final punctuation marks and
commas, and have the same means of words, characters, capitals and punctuation marks, in the first sentence and in the
second. A document (a scene) that does not have both labels gives no rows, and no sentence is in two rows.
"""

from discoprobe.builders.passages.corpus_labels import change_task

ASKS = "Same speaker?"
TASK = change_task("speaker", ("same", "other"), needs=["documents", "speakers"])
