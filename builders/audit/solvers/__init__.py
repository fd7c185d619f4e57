"""Solvers that know no language, and how they are scored.

``problem`` divides rows into folds and scores answers, ``features`` is what solvers see, ``solver_table`` lists them,
``rules`` are single rules and lists of them.
"""
