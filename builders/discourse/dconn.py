"""Which connective opened the second sentence?

Discourse connective prediction (DisSent, Nie et al. 2019; Koto et al. 2021). A row has two adjacent sentences. The
second one is shown without the connective with which it began (and the comma after it), and begins with a capital. The
label is the connective; `removed` is the deleted text, and `original` is the second sentence before the edit.

The connectives of a language are a fixed list of words that relate their sentence to the one before; subordinators such
as *although* are not in it. A connective must be tagged CCONJ, SCONJ or ADV (multiword connectives: as the list says)
and, if the corpus has trees, belong to the whole sentence and not to one of its phrases (German *auch er*). Every
connective has a sense (addition, contrast, result, ...). The most frequent one of each sense is a class, because
nothing in two sentences tells *but* from *however*. Classes have at least 20 candidates and are equally frequent in
every split. Questions, sentences that have hardly any other words, talk, and connectives that occur again within five
words (*и … и*) are left out. In languages in which the verb follows an initial adverb (German, Dutch), the shown
sentence begins with the verb if an adverb was removed; this tells adverbs from conjunctions.
"""

from discoprobe.builders.config import Shape
from discoprobe.builders.passages.corpus_labels import without_connective
from discoprobe.builders.sentences.connectives import sentence_connectives, unlisted
from discoprobe.builders.task import DiscourseTask

ASKS = "Which connective is missing?"
TASK = DiscourseTask(
    shape=Shape.PAIR, sample=without_connective, mark=sentence_connectives, lacks=unlisted,
    needs=frozenset({"documents", "upos"}), version=4,
)  # fmt: skip
