"""The audit: what is wrong with a labelled data set, and what can be scored on it without knowing the language."""

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError, from_config
from discoprobe.builders.audit.limits import BY_ID, CHECKS, Check, Kind, Severity
from discoprobe.builders.audit.report import Baseline, Finding, Heuristics, Report, Rule, Status, Strongest
from discoprobe.builders.audit.run import audit

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
