"""Number of the subject of the main clause (SentEval, X-Probe, RuSentEval SubjNumber).

The main predicate has exactly one `nsubj`, a common noun with one value of Number; the label is that value and `target`
names the noun. Nouns that are coordinated (*the cat and the dog*) or counted by a numeral (Russian *два стола*, Turkish
*üç adam*) are left out: the number of such a phrase is not that of its noun. So are nouns with an adposition or in a
case that no subject has (a Russian genitive), with which the verb does not agree. Labels are also balanced inside
strata of length, which predict the label in X-Probe.
"""

from discoprobe.builders.sentences.clauses import noun_feature

ASKS = "Number of the subject"
TASK = noun_feature("nsubj", "Number", companions=("Gender", "Case"))
