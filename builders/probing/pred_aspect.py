"""Aspect of the main predicate (RuSentEval PA aspect).

The label is the Aspect of the word of the main predicate that bears it, which is the root in the Slavic languages;
`target` names that word. Verbs that the treebank gives both aspects, or none, are left out, as are verbs of a clause
that is itself the predicate and forms that are ambiguous in part of speech or in Aspect, as far as dictionary, rules of
the language and corpus show it; no target form of the test split is a target in train.
"""

from discoprobe.builders.sentences.predicate import predicate_feature

TASK = predicate_feature("Aspect")
