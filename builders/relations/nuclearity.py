"""Which of two spans of an RST tree is the nucleus: the first, the second, or both?

The spans of `dr_tree` (DiscoEval, Chen et al. 2019, has nuclearity in its labels). `nucleus_first`: the second span is
a satellite, which could be left out. `nucleus_second`: the first span is the satellite. `both`: neither span depends on
the other. The labels are equally frequent in every split and stratum of length. `orig_label` is the relation of the
corpus.
"""

from discoprobe.builders.passages.relation_units import NUCLEARITY, by_nuclearity, relation_task

TASK = relation_task(by_nuclearity, tuple(NUCLEARITY.values()), layer="rst_trees", natural=False, version=6)
