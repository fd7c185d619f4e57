"""Has a word of the sentence been replaced by one that does not fit (SentEval SOMO, X-Probe OddManOut)?

One verb of the sentence is unchanged (`original`) or replaced by another verb (`replaced`); both rows share `pair_id`,
and `target` is the word in that place. Sentences of the same corpus and split are arranged in rings: each sentence gets
the verb of the next one, and the last one that of the first. So every word is inserted as often as it is removed, and
the word alone does not tell the label. The sentences of a ring share `group`: cross-validation must not part them,
since the frequency of a word would then tell the label. No word form of the test split is a target in train.

A verb replaces another only if the corpora give evidence that it does not fit there. What counts is its frame: whether
it governs an object, a clause, or only a phrase with a case marker. A verb is put beside an object or a clause if the
corpora have it without, and never with one (*she arrived the letter*); without both, if they have it with an object,
and never without (*he defeated in Cambridge*). Passives and participles that may be passive, reflexives, verbs with a
particle and verbs whose object may stand elsewhere (*the book that she read*) are neither replaced nor evidence. Small
corpora give few rows. Nouns are not replaced: in a place in which a noun was never seen, it often fits.

The two verbs differ in lemma and agree in FEATS, gender included (words without FEATS: in the endings of form and
lemma). Both or neither have a capital, and both or neither are sentence-initial. After a function word, both begin with
a vowel or both with a consonant. The bigrams with the words beside them are about as frequent in the rest of the
corpora as the true ones (two occurrences against none).
"""

from discoprobe.builders.edits.versions import planned_edit
from discoprobe.builders.edits.word_replacement import original_and_replaced, replaceable_words
from discoprobe.builders.task import ProbingTask

ASKS = "Is a word replaced?"
TASK = ProbingTask(
    labels=("original", "replaced"), select=replaceable_words, sample=original_and_replaced, edit=planned_edit,
    split_by="target", needs=frozenset({"upos", "lemma", "deps"}), pairs=True, version=9,
)  # fmt: skip
