"""Person of the main predicate (in addition to RuSentEval's tense, aspect and voice).

The label is the Person of the main predicate, read from the word that carries it: the root, or its finite auxiliary or
copula. `target` is that word. Only forms that show the person by themselves count (English *am*, *reads*, not
*tested*). Turkish verbs whose ending is a copula of another person, predicates that are clauses, and imperatives are
left out. Tense still tells person: by .05 above chance on average of 17 languages, by .2 in French and Finnish, where
the first person is more often in the past.
"""

from discoprobe.builders.sentences.predicate import predicate_feature

TASK = predicate_feature("Person", companions=("Number",))
