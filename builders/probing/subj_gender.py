"""Gender of the subject of the main clause (RuSentEval SubjGender).

The main predicate has exactly one `nsubj`, a common noun with one value of Gender; the label is that value and `target`
names the noun. The values are the treebank's (Com and Neut in Swedish); one that is too rare to be balanced is left
out, where RuSentEval always leaves out the neuter. Nouns that are coordinated or counted, that have an adposition or
that are in a case that no subject has are left out, as for `subj_number`: the verb does not agree with them.
"""

from discoprobe.builders.sentences.clauses import noun_feature

ASKS = "Gender of the subject"
TASK = noun_feature("nsubj", "Gender", companions=("Number", "Case"))
