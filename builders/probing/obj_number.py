"""Number of the direct object of the main clause (SentEval, X-Probe, RuSentEval ObjNumber).

The main predicate has exactly one `obj`, a common noun with one value of Number; the label is that value and `target`
names the noun. Coordinated and counted nouns are left out, as for `subj_number`, and so are obliques that a treebank
calls objects: nouns in a case that no direct object has (a Turkish dative) or with an adposition other than a mark of
objects (Romanian *pe*, Persian *را*); Spanish *a* marks both and is none. Forms that are ambiguous in part of speech or
in Number are left out, as far as dictionary, rules of the language and corpus show it; no target form of the test split
is a target in train. Labels are balanced within the same Gender and Case of the noun, where the treebank marks these
for all of them.
"""

from discoprobe.builders.sentences.roles import noun_feature

TASK = noun_feature("obj", "Number", companions=("Gender", "Case"))
