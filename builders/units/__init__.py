"""From annotated relations to rows: what the relation tasks share.

``relation_labels`` has the names of relations, ``binary_trees`` makes trees binary, ``relation_rows`` chooses rows of
two units each.
"""
