"""Voice of the main predicate (RuSentEval PV voice).

A clause is `Passive` where one of the language's marks says so: a passive auxiliary (`aux:pass`), a passive subject
(`nsubj:pass`), Voice=Pass of the root, or an auxiliary such as Spanish *ser* with a participle, and the root has a form
that can be passive (in German a participle, not *zu erreichen*). It is `Active` where the root is a verb that could be
passive and nothing leaves the voice undecided, as a reflexive does in many languages, or a passive infinitive below the
root. A reflexive pronoun or an object beside a mark of the passive (French *on s'est vues*), an auxiliary that makes no
passive (Spanish *habéis visto*), a verb whose perfect looks like a passive (*on est rentré*) and a passive infinitive
below an active root (Portuguese *pode ser visualizado*) leave the voice undecided. Other clauses are left out, as are
those with a copula, whose root is a state (*is closed*), an infinitive or the verb of a clause that is itself the
predicate. In a language without data the label is Voice of the root, or, where the treebank has no Voice, told by
`aux:pass` and `nsubj:pass` (an auxiliary that makes passives in other sentences leaves it undecided); verbs that are
passive in form alone (Latin deponents) are left out where passive subjects show them. `target` is the root. Forms that
are ambiguous in part of speech or in Voice are left out, as far as dictionary, rules of the language and corpus show
it, and no target form of the test split is a target in train.
"""

from discoprobe.builders.sentences.predicate import predicate_feature

TASK = predicate_feature("Voice", needs=("upos", "deps"))
