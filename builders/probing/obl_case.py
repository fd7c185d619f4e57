"""Case of the oblique noun of the main clause (after the case task of LINSPECTOR, which probes single words).

The main predicate has exactly one `obl`, a common noun with one value of Case and without an adposition, which would
tell the case; the label is that value and `target` names the noun. Coordinated and counted nouns are left out: the
numeral or the other noun can decide on the case.
"""

from discoprobe.builders.sentences.clauses import noun_feature

TASK = noun_feature("obl", "Case")
