"""Which rows are used: splits, strata, matching and balancing.

``splits`` assigns groups to splits. ``balance`` chooses labels, ranks rows inside strata, selects rows of different
labels with the same surface features, and removes rows until simple rules are at chance.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "balance": ["CLASSES_KEEP", "LENGTH_EDGES", "REPEATED", "SURFACE", "assign_labels", "bin_of", "cap",
        "choose_labels", "classes", "differences", "edges", "equal_counts", "equal_counts_by_length",
        "frequent_in_splits", "match_labels", "names", "ranks", "remove_bias", "steps", "strata", "surface", "waves",
        "with_companions", "with_rank"],
    "splits": ["ENOUGH", "Split", "corrected_shares", "split_of", "with_splits_of_sets"],
})  # fmt: skip
