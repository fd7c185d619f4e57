"""Which rows are used: splits, strata, matching and balancing.

``splits`` assigns groups to splits, ``stratify`` ranks rows inside strata, ``match`` pairs rows of different labels
that are alike on the surface, ``balance`` removes rows until simple rules are at chance.
"""
