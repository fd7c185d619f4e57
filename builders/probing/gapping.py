"""Whether a verb is left out in a coordinate clause (RuSentEval Gapping, AGRR-2019).

`gapped`: the predicate of a coordinated clause is elided (*Ann drinks tea and Bob coffee*). In the treebank one of the
remaining phrases is promoted to the place of the predicate, and another one is attached to it as `orphan`. Neither is
an adverb, particle, conjunction or verb, the first is no adposition, and it is no comparison (*more than Bob*). `none`:
a coordination of clauses, each with its own subject, in a sentence without an `orphan`. The first clause has a verb. In
RuSentEval's set the rule "contains a dash" reaches .85. Here labels are equally frequent and matched on length, on the
number of commas and dashes, and on the lemma of the coordinating conjunction.
"""

from discoprobe.builders.sentences.candidates import balanced
from discoprobe.builders.sentences.clauses import GappingRules, gapped_or_whole
from discoprobe.builders.task import ProbingTask

ASKS = "Is a verb left out?"
TASK = ProbingTask(
    labels=("none", "gapped"), select=gapped_or_whole, sample=balanced, lacks=GappingRules.lacking,
    needs=frozenset({"upos", "deps"}), version=4,
)  # fmt: skip
