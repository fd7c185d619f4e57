"""Which relation holds between two units of text, one of 17?

Discourse relation classification as in DISRPT (Braud et al. 2024 and the shared task of 2025). A row has two units in
the order of the text, with the relation that annotators gave them, from corpora of RST, eRST, SDRT, PDTB and
dependencies. A unit may be a single word (*reported*), so show a model or a reader `marked`: the sentences that the
units stand in, with both units in brackets. `passage`, `unit1` and `unit2` have the same as plain text and offsets;
`sentence1` and `sentence2` are the units alone, for comparison with published results. `label` is one of DISRPT's 17
classes. `orig_label` is the relation of the corpus, or several (`a;b`), of which the first one decides the class.
`direction` says which unit depends on which, and `rel_type` whether a connective marks the relation. In the units
alone, an ellipsis shows where one is interrupted. If other sentences lie between those of the units, the relation is
left out: annotators relate longer spans then, of which the units are the heads. Two units that occur with different
labels (an explicit and an implicit relation of PDTB) are left out. If the corpus has all three splits, they are used;
otherwise documents are assigned to splits. Relations whose words cannot be found in the text are left out. Frameworks
differ in what they call a unit; `corpus` names the corpus. Relations are read from tables of DISRPT, or from the words
of a treebank (`Discourse` and `PDTB` in MISC, as in GUM).
"""

from discoprobe.builders.passages.relation_units import LABELS, published, relation_task

ASKS = "Which discourse relation?"
TASK = relation_task(published, LABELS, version=8)
