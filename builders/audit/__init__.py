"""The audit: the faults of a labelled dataset, and the accuracy of baselines that do not know the language.

Rows come from a config (``own_configs``) or from other files (``inputs``); ``frame`` defines their columns. ``run``
makes a ``report`` with one finding per check of ``thresholds``: ``integrity`` checks rows, ``solvers`` look for
shortcuts. ``designs`` tests a task over all its configs. ``as_config`` and ``as_suite`` make configs from external
datasets.
"""
