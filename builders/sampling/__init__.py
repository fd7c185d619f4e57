"""Which rows are used: splits, strata, matching and balancing.

``splits`` assigns groups to splits, ``stratify`` ranks rows inside strata, ``match`` selects rows of different labels
with the same surface features, ``balance`` removes rows until simple rules are at chance.
"""
