"""Sentences and words as candidates of probing tasks.

``trees`` computes tree facts as columns; ``candidates`` filters sentences and chooses rows; ``roles``, ``predicate``
and ``clauses`` find words by syntax. Sentences are edited in ``builders.edits``.
"""
