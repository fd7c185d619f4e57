"""Has a word of the sentence been replaced by one that does not fit (SentEval SOMO, X-Probe OddManOut)?

One noun or verb of the sentence is unchanged (`original`) or replaced by another word (`replaced`); both rows share
`pair_id`, and `target` is the word in that place. Sentences of the same corpus and split are arranged in rings: each
sentence gets the word of the next one, and the last one that of the first. So every word is inserted as often as it is
removed, and the word alone does not tell the label. The sentences of a ring share `group`: cross-validation must not
part them, since the frequency of a word would then tell the label. No word form of the test split is a target in train.

A word replaces another only if the corpora show that it does not fit there: it is so frequent that it should have been
seen in that role, and never was. The role of a verb is what it governs: an object, a clause, or only a phrase with a
case marker (so *she arrived the letter* is wrong). The role of a noun is its relation and case marker (subject, object,
*in …*). So most targets are verbs, and small corpora give few rows. Very frequent nouns (*way*) are left out, and so
are conjuncts, parts of compounds and appositions, since nearly any word fits in their place.

The two words differ in lemma and agree in part of speech and FEATS, gender included (words without FEATS: in the
endings of form and lemma). Both or neither have a capital, and both or neither are sentence-initial. After a function
word, both begin with a vowel or both with a consonant. They have the same kinds of dependents among determiner,
numeral, case marker and particle. Their frequencies differ by at most a factor of 4.5, and the bigrams with the words
beside them are about as frequent in the rest of the corpora as the true ones (two occurrences against none).
"""

from discoprobe.builders.edits.versions import planned_edit
from discoprobe.builders.edits.word_replacement import original_and_replaced, replaceable_words
from discoprobe.builders.task import ProbingTask

TASK = ProbingTask(
    labels=("original", "replaced"), select=replaceable_words, sample=original_and_replaced, edit=planned_edit,
    split_by="target", needs=frozenset({"upos", "lemma", "deps"}), pairs=True, version=8,
)  # fmt: skip
