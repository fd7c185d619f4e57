"""Mood of the main predicate (in addition to RuSentEval's tense, aspect and voice).

The label is the Mood of the main predicate, read from the word that carries it: the root, or its auxiliary or copula
(Russian *бы* makes the conditional). `target` is that word. Moods that are too rare to be balanced are left out, and so
are predicates that are clauses.
"""

from discoprobe.builders.sentences.predicate import predicate_feature

TASK = predicate_feature("Mood")
