"""Gender of the direct object of the main clause (RuSentEval ObjGender).

The main predicate has exactly one `obj`, a common noun with one value of Gender; the label is that value and `target`
names the noun. Coordinated and counted nouns and obliques that a treebank calls objects, by their case or adposition,
are left out, as for `obj_number`.
"""

from discoprobe.builders.sentences.clauses import noun_feature

ASKS = "Gender of the object"
TASK = noun_feature("obj", "Gender", companions=("Number", "Case"))
