"""Which of K words the sentence contains (SentEval, X-Probe, RuSentEval WC).

The label is a lemma (as in RuSentEval; SentEval uses word forms). The K lemmas have the frequency ranks 1,500 to 3,000
among the lemmas of the corpora. Frequencies are those of wordfreq if it has a list for the language that contains these
lemmas, otherwise those of the corpora. A lemma has at least four letters (two in a script without spaces) and occurs as
noun, verb, adjective or adverb. A sentence contains exactly one of the K lemmas, exactly once, and `target` names it. K
is 1,000, or fewer if the corpus has not enough sentences: each lemma needs ten sentences in train and three in each
other split (half of the setting `min_class`, and .15 of it). All lemmas have equally many sentences. A search for the
word solves the task by definition (X-Probe 1.00): the task asks whether a representation keeps content words.
"""

import functools

from discoprobe.builders.sentences.classes import content_words, word_of_sentence
from discoprobe.builders.task import ProbingTask

WORDS = functools.partial(word_of_sentence, ranks=(1_500, 3_000), most=1_000)
ASKS = "Which word is in it?"
TASK = ProbingTask(select=content_words, sample=WORDS, needs=frozenset({"lemma", "upos"}), version=2)
