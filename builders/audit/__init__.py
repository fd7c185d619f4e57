"""The audit: what is wrong with a labelled dataset, and what baselines reach that do not know the language.

Data come from a config or from ``inputs``. ``integrity`` checks rows, solvers measure shortcuts, and both give findings
to a report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError, from_config
from discoprobe.builders.audit.report import Baseline, Finding, Heuristics, Report, Rule, Status, Strongest
from discoprobe.builders.audit.thresholds import BY_ID, CHECKS, Check, Kind, Severity

if TYPE_CHECKING:
    from discoprobe.builders.audit.run import audit as audit

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


def __getattr__(name: str) -> object:
    """Imports the solvers, and scikit-learn with them, when something is audited."""
    if name == "audit":
        from discoprobe.builders.audit.run import audit  # noqa: PLC0415

        return audit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
