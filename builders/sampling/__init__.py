"""Which rows are used: splits, strata, matching and balancing.

``splits`` assigns groups to splits, ``stratify`` ranks rows inside strata, ``match`` selects rows of different labels
with the same surface features, ``balance`` removes rows until simple rules are at chance.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "balance": ["LENGTH_EDGES", "SURFACE", "assign_labels", "bin_of", "cap", "classes",
        "differences", "edges", "equal_counts", "equal_counts_by_length", "match_labels", "names", "ranks",
        "remove_bias", "strata", "surface", "waves", "with_rank"],
    "label_sets": ["CLASSES_KEEP", "choose_labels", "frequent_in_splits", "with_companions"],
    "splits": ["ENOUGH", "Split", "split_of", "with_splits_of_sets"],
})  # fmt: skip
