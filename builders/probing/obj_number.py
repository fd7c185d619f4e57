"""Number of the direct object of the main clause (SentEval, X-Probe, RuSentEval ObjNumber).

The main predicate has exactly one `obj`, a common noun with one value of Number. The label is that value, and `target`
names the noun. Coordinated and counted nouns are left out, as for `subj_number`. Obliques that a treebank annotates as
objects are left out, too: nouns in a case that no direct object has (a Turkish dative), and nouns with an adposition,
unless it marks objects only (Romanian *pe*, Persian *را*; Spanish *a* marks objects and obliques, so nouns with it are
left out).
"""

from discoprobe.builders.sentences.clauses import noun_feature

ASKS = "Number of the object"
TASK = noun_feature("obj", "Number", companions=("Gender", "Case"))
