"""Is the entity of a marked mention one of those that the whole text is about?

Salience as GUM-SAGE grades it, by up to five summaries of a document, most of them by language models. A passage is
shown twice, each time with the first mention of another entity marked. `salient`: at least half of the summaries name
the entity. `not_salient`: none does. Both entities are mentioned equally often in the passage, and are of the same
type, kind (name or noun) and number; over the rows of a split, they have the same position, role, length and
definiteness (`cues`). In corpora without summaries, which `basis` says, a text is about an entity that it mentions six
times or more, over at least half of its length, and not about one that it mentions three times or fewer. `grade` is the
share of the summaries, or the mentions times their spread. `question` asks the same without marks.
"""

from discoprobe.builders.passages.entity_marks import SALIENCE_CUES, salience
from discoprobe.builders.passages.mention_rows import mention_task

ASKS = "Is the text about it?"
TASK = mention_task(
    salience,
    ("salient", "not_salient"),
    SALIENCE_CUES,
    "The passage is a part of a longer text. Is {first} one of those that the whole text is about?",
    needs=["upos"], version=6,
)  # fmt: skip
