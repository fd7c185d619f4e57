"""Which relation joins the two parts of a node in an RST tree?

The RST task of DiscoEval (Chen et al. 2019). Trees of Rhetorical Structure Theory are made binary (several nuclei
branch to the right). Every node gives a row: its two spans, from two clauses to two paragraphs, and the class of their
relation, one of DISRPT's 17. `orig_label` is the relation of the corpus. `direction` says which span is the nucleus:
the first (`NS`), the second (`SN`), or both (`NN`). A span has at most 128 words, and documents are assigned to splits
(in the published task spans have up to 304 clauses, and clauses of one document are in two splits). `same-unit`, which
joins the parts of an interrupted clause, does not count as a relation. If there is a CoNLL-U or `.txt` file with the
name of the tree, spans are parts of its text; otherwise the blanks between the words of the tree are set by rule
(`spacing`).
"""

from discoprobe.builders.passages.relation_units import LABELS, by_class, relation_task

ASKS = "Which relation in the tree?"
TASK = relation_task(by_class, LABELS, layer="rst_trees", version=5)
