"""Gender of the direct object of the main clause (RuSentEval ObjGender).

The main predicate has exactly one `obj`, a common noun with one value of Gender; the label is that value and `target`
names the noun. Coordinated and counted nouns and obliques that a treebank calls objects, by their case or adposition,
are left out, as for `obj_number`. Forms that are ambiguous in part of speech or in Gender are left out, as far as
dictionary, rules of the language and corpus show it, and no target form of the test split is a target in train. Labels
are balanced within the same Number and Case of the noun, where the treebank marks these for all of them.
"""

from discoprobe.builders.sentences.roles import noun_feature

TASK = noun_feature("obj", "Gender", companions=("Number", "Case"))
