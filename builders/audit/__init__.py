"""The audit: the faults of a labelled dataset, and the accuracy of baselines that do not know the language.

Rows come from a config (``own_configs``) or from other files (``inputs``); ``frame`` defines their columns. ``run``
makes a ``report`` with one finding per check of the table in ``thresholds``: ``integrity`` checks rows, ``solvers``
look for shortcuts, ``intervals`` says how sure that is. ``report`` also adds up the configs of a task.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "frame": ["AuditInput", "SCHEMA", "UnreadableDataError", "conform", "with_edited", "with_used_labels"],
    "integrity": ["INTEGRITY", "fidelity"],
    "intervals": [
        "Interval", "MIRRORED", "exact", "independent_rows", "longest_run_threshold", "parity_threshold",
        "smallest_gain"],
    "own_configs": ["from_config"],
    "report": [
        "CUE", "Figure", "Finding", "Grade", "Groups", "NOT_AUDITED", "Report", "Status", "VERDICTS", "VERSION",
        "Verdict", "grade_of", "tallies"],
    "run": ["audit", "rows_of"],
    "task_types": ["TASK_TYPES", "with_task_type"],
    "thresholds": ["BY_ID", "CHECKS", "FLOOR", "PAIRED", "RULED_OUT", "Kind", "Severity"],
})  # fmt: skip
