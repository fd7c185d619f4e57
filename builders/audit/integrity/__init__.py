"""Integrity: what must be true of the rows whatever a model makes of them.

``checks`` has their table, ``order`` and ``fidelity`` are the longer ones, ``measure`` is what a check returns.
"""
