"""Which connective joined two units before it was removed?

The explicit relations of corpora in the style of the Penn Discourse Treebank (from DISRPT, Braud et al. 2024), as in
DisSent (Nie et al. 2019), but without a parser: annotators marked the connectives, so no other use of such a word is
among the rows. The unit that begins with the connective is shown without it and without the comma after it; if the
connective had a capital, the next word gets it. `removed` is the deleted text, and the label is the connective in lower
case. `orig_label` is the sense. Relations whose connective is inside a unit, or outside both units, are left out.
"""

from discoprobe.builders.passages.relation_units import CONNECTIVE_REASONS, relation_task, without_connective

ASKS = "Which connective is missing?"
TASK = relation_task(without_connective, reasons=CONNECTIVE_REASONS, version=6)
