"""One module per test suite: pairs of a good and a bad text, which only evaluate.

A suite is a task with ``conditions``: its configs have one split, ``test``, and one row per pair.
"""
