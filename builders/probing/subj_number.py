"""Number of the subject of the main clause (SentEval, X-Probe, RuSentEval SubjNumber).

The main predicate has exactly one `nsubj`, a common noun with one value of Number; the label is that value and `target`
names the noun. Nouns that are coordinated (*the cat and the dog*) or counted by a numeral (Russian *два стола*, Turkish
*üç adam*) are left out: the number of such a phrase is not that of its noun; and so are those with an adposition or in
a case that no subject has (a Russian genitive), with which the verb does not agree. Forms that are ambiguous in part of
speech or in Number are left out, as far as dictionary, rules of the language and corpus show it, and no target form of
the test split is a target in train: SentEval and X-Probe repeat their nouns, so that a model may remember them. Labels
are balanced inside strata of length, which gives X-Probe's away, and within the same Gender and Case of the noun (where
a treebank marks these for both numbers), because more plurals than singulars may be of one gender.
"""

from discoprobe.builders.sentences.roles import noun_feature

TASK = noun_feature("nsubj", "Number", companions=("Gender", "Case"))
