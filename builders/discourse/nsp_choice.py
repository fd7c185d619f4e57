"""Which of four sentences follows the passage?

Next sentence prediction as a choice (Koto, Lau & Baldwin 2021). A row has two to eight consecutive sentences and four
candidates: the sentence that follows, and three distractors. One comes from later in the same document. One is a
lexically similar sentence of another document: the share of its content words that it has in common with the passage is
up to .3 larger than that of the right candidate, and at most .1 smaller. One has the same genre (if the split has
another document of that genre). `distractor` says which is which. All candidates are about equally long (the longest
has at most 20 % more words and 30 % more characters than the shortest), and all follow a colon, or end with one, if the
right one does. Distractors occur in no other row. The label is the index of the right candidate, and each index is
equally frequent.

Rows are chosen so that the right candidate has each rank of the four about equally often in words, characters,
punctuation marks, similarity to the passage, and in how frequent its words are. In large texts, several of these
measures together do not find it, either. In the published sets all three distractors come from anywhere, and TF-IDF
cosine with the passage finds the right one at .85-.94.
"""

from msgspec.structs import replace

from discoprobe.builders.passages.continuations import choice_task
from discoprobe.builders.passages.distractors import CLOSE

KINDS = {
    "later": replace(CLOSE, later=True, overlap=(1.0, 1.0)),
    "nearest": replace(CLOSE, overlap=(0.1, 0.3)),
    "genre": replace(CLOSE, prefer="genre"),
}

ASKS = "Which sentence follows?"
TASK = choice_task((2, 8), KINDS, version=7)
