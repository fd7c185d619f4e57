"""Sentences and words as candidates of probing tasks.

``trees`` computes tree facts as columns; ``roles``, ``predicate``, ``clauses`` and ``missing_subjects`` find words by
syntax. ``candidates`` filters sentences and chooses rows, ``decided_classes`` chooses classes too. Sentences are edited
in ``builders.edits``.
"""
