"""The versions of the steps that make a config: each stands in the room of its step and is raised by hand.

A change of the code that changes no output leaves the versions, and so the published configs, as they are.
``tests/golden/test_stage_versions.py`` fails where an output changes and its version does not.
"""

from __future__ import annotations

from discoprobe import builders, cards
from discoprobe.loaders import corpus


def stage_versions(task_version: int) -> dict[str, int]:
    """The version of each step, by its name, with the version of the config's task."""
    from discoprobe.builders.audit import report  # noqa: PLC0415 (scipy: a second, for those who only read)

    return {
        "reader": corpus.VERSION,
        "build": builders.VERSION,
        "task": task_version,
        "audit": report.VERSION,
        "card": cards.VERSION,
    }
