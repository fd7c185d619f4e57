"""The audit: what is wrong with a labelled dataset, and what baselines reach that do not know the language.

Rows come from a config (``own_configs``) or from anybody's files (``inputs``); ``frame`` says what they look like.
``run`` measures them: ``integrity`` checks rows, ``solvers`` look for shortcuts, ``thresholds`` lists all checks, and
the findings make a ``report``. ``designs`` tests a task over all its configs. ``as_config`` and ``as_suite`` make
configs of the data of others.
"""
