"""From annotated relations to rows: what the relation tasks share.

``relation_labels`` has the names of relations, ``binary_trees`` makes trees binary, ``relation_candidates`` labels
pairs of units, and ``relation_rows`` chooses rows among them. ``rementions`` finds people who are mentioned again, and
``items`` joins pairs of texts with opposite edits.
"""
