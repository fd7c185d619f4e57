"""Which relation holds between two units, with all relations equally frequent? `dr`, balanced.

The rows of `dr` (DISRPT, Braud et al. 2024), of which every class has equally many in every split and stratum of
length. The rarest class decides how many rows the others have, so the rarest ones are left out: as many classes stay as
keep half of the rows that the best choice of classes would keep. Use it where accuracy is the measure; `dr` has more
rows and more classes.
"""

from discoprobe.builders.units.relation_candidates import DISRPT, published
from discoprobe.builders.units.relation_labels import LABELS
from discoprobe.builders.units.relation_rows import relation_task

TASK = relation_task(published, LABELS, natural=False, papers=(DISRPT,))
