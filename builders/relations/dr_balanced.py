"""Which relation holds between two units, with all relations equally frequent? `dr`, balanced.

A part of the rows of `dr` (DISRPT, Braud et al. 2024), in which all classes have equally many rows in every split and
stratum of length. The rarest class decides how many rows the others have, so rare classes are left out. Classes are
chosen in this way: the largest possible number of rows is computed over all sets of classes; of the sets that keep at
least half of it, the one with the most classes is used. Use this task if your measure is accuracy; `dr` has more rows
and more classes. As there, `marked` shows the units in their sentences.
"""

from discoprobe.builders.passages.relation_units import LABELS, published, relation_task

TASK = relation_task(published, LABELS, natural=False, version=7)
