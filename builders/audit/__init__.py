"""The audit: the faults of a labelled dataset, and the accuracy of baselines that do not know the language.

Rows come from a config (``own_configs``) or from other files (``inputs``); ``frame`` defines their columns. ``run``
makes a ``report`` with one finding per check of ``thresholds``: ``integrity`` checks rows, ``solvers`` look for
shortcuts. ``designs`` tests a task over all its configs. ``as_config`` and ``as_suite`` make configs from external
datasets.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "external": ["suite_of"],
    "frame": ["AuditInput", "SCHEMA", "UnreadableDataError", "conform", "with_used_labels"],
    "integrity": ["INTEGRITY", "Subject", "fidelity"],
    "intervals": ["exact", "independent_rows", "longest_run_threshold", "parity_threshold", "smallest_gain"],
    "own_configs": ["from_config"],
    "report": ["Finding", "Report", "Status", "VERSION", "tallies"],
    "run": ["audit"],
    "thresholds": ["BY_ID", "CHECKS", "Kind", "Severity"],
})  # fmt: skip
