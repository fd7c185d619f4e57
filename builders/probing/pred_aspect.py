"""Aspect of the main predicate (RuSentEval PA aspect).

The label is the Aspect of the main predicate, read from the word that carries it; in the Slavic languages that is the
root. `target` is that word. Verbs to which the treebank gives both aspects, or none, are left out. So are sentences
whose main predicate is itself a clause (*the best was that they agree*). In some languages tense predicts aspect:
Slavic perfective verbs have no present tense, so tense predicts the aspect of .8 of the predicates; in Arabic every
perfective verb is past. Therefore aspects are balanced within Tense and Mood (in Russian and Polish this leaves past
tenses). The task is not built if there is no tense that several aspects have.
"""

from discoprobe.builders.sentences.predicate import predicate_feature

ASKS = "Aspect of the predicate"
TASK = predicate_feature("Aspect", companions=("Tense", "Mood"), keep=0)
