"""The audit: what is wrong with a labelled dataset, and what baselines reach that do not know the language.

Data come from a config or from ``inputs``. ``integrity`` checks rows, solvers measure shortcuts, and both give findings
to a report.
"""

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError, from_config
from discoprobe.builders.audit.report import Baseline, Finding, Heuristics, Report, Rule, Status, Strongest
from discoprobe.builders.audit.run import audit
from discoprobe.builders.audit.thresholds import BY_ID, CHECKS, Check, Kind, Severity

__all__ = [
    "BY_ID",
    "CHECKS",
    "AuditInput",
    "Baseline",
    "Check",
    "Finding",
    "Heuristics",
    "Kind",
    "Report",
    "Rule",
    "Severity",
    "Status",
    "Strongest",
    "UnreadableDataError",
    "audit",
    "from_config",
]
