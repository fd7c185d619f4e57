"""Which connective joined two units before it was removed?

The explicit relations of corpora in the style of the Penn Discourse Treebank (from DISRPT, Braud et al. 2024), as
DisSent (Nie et al. 2019) without a parser: annotators marked the connective, so that no other use of the word is among
the rows. The unit that begins with it is shown without it and the comma after it, with a capital where it had one;
`removed` is what was taken away, and the label is the connective in small letters. `orig_label` is the sense. Left out
are relations whose connective stands inside a unit or outside both. Classes keep their shares: read macro-F1.
"""

from discoprobe.builders.units.relation_candidates import CONNECTIVE_REASONS, DISRPT, without_connective
from discoprobe.builders.units.relation_rows import relation_task

TASK = relation_task(without_connective, papers=(DISRPT,), reasons=CONNECTIVE_REASONS)
