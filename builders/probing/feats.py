"""A feature of the one word in a syntactic role: one of the tasks that `--task feats` generates.

There is a task for every role and every inflectional or lexical feature of Universal Dependencies that a treebank
supports; the others are listed with the reason why not. In a clause-level role (`nsubj`, `obj`, `iobj`, `obl`,
`advmod`, `aux`, `cop`, `xcomp`, `ccomp`, `advcl`) exactly one word depends on the main predicate with this relation; in
a phrase-level role (`nmod`, `amod`, `det`, `nummod`, `acl`, `appos`, `conj`, `case`) exactly one word of the sentence
has the relation. The label is the word's value of the feature, and `target` names the word. Labels are balanced inside
each part of speech.
"""

from discoprobe.builders.sentences.clauses import CLAUSE_ROLES, PHRASE_ROLES, role_feature
from discoprobe.builders.sentences.trees import VALUES

TASKS = tuple(role_feature(role, feature) for role in ("root", *CLAUSE_ROLES, *PHRASE_ROLES) for feature in VALUES)
