"""Aspect of the main predicate (RuSentEval PA aspect).

The label is the Aspect of the word of the main predicate that bears it, which is the root in the Slavic languages;
`target` names that word. Verbs that the treebank gives both aspects, or none, are left out, as are verbs of a clause
that is itself the predicate and forms that are ambiguous in part of speech or in Aspect, as far as dictionary, rules of
the language and corpus show it; no target form of the test split is a target in train.

Tense tells aspect where perfective verbs have no present (Slavic: .8 of the predicates), and is the same thing where
every perfective is past (Arabic). So aspects are balanced within the same Tense and Mood of the verb, in Russian and
Polish among pasts, and the task is not built where aspects have no tense in common.
"""

from discoprobe.builders.sentences.predicate import predicate_feature

TASK = predicate_feature("Aspect", companions=("Tense", "Mood"), keep=0)
