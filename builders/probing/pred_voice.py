"""Voice of the main predicate (RuSentEval PV voice).

A clause is `Passive` if one of the marks of the language shows it, and if the root has a form that can be passive (in
German a participle, not *zu erreichen*). Such marks are a passive auxiliary (`aux:pass`), a passive subject
(`nsubj:pass`), Voice=Pass of the root, or an auxiliary such as Spanish *ser* with a participle. A clause is `Active` if
the root is a verb that could be passive and if nothing leaves the voice undecided. `target` is the root.

These leave the voice undecided: a reflexive in many languages; a reflexive pronoun or an object beside a mark of the
passive (French *on s'est vues*); an auxiliary that does not form passives (Spanish *habéis visto*); a verb whose
perfect looks like a passive (*on est rentré*); and a passive infinitive below an active root (Portuguese *pode ser
visualizado*). Undecided clauses are left out, and so are clauses with a copula, whose root is a state (*is closed*), an
infinitive, or the verb of a clause that is itself the predicate. In a language without data, the label is the Voice of
the root; if the treebank has no Voice, `aux:pass` and `nsubj:pass` decide. Verbs that are passive in form only (Latin
deponents) are left out where passive subjects show which they are.
"""

from discoprobe.builders.sentences.predicate import predicate_feature

ASKS = "Voice of the predicate"
TASK = predicate_feature("Voice", version=10, needs=("upos", "deps"))
