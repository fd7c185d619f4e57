"""The manifest's entries for configs, audits and sources."""

import json
from typing import Any, Final

from discoprobe import builders, cards
from discoprobe.builders.audit.report import Report
from discoprobe.builders.config import Config
from discoprobe.builders.settings import Settings
from discoprobe.cards.metadata.manifest import AuditEntry, ConfigEntry, ListedFile, SourceEntry, listed_file
from discoprobe.loaders import corpus
from discoprobe.loaders.corpus import Source

_LONGEST: Final = 160
"""Characters of a text in the example of a config."""


def audit_entry(report: Report) -> AuditEntry:
    """The summary of a report."""
    from discoprobe.builders.audit.designs import tallies  # noqa: PLC0415 (scipy: a second, for those who only read)

    best = report.strongest
    return {
        "failed": [finding.check for finding in report.errors],
        "resolution": report.resolution,
        "majority": next((one.accuracy for one in report.baselines if one.name == "majority"), 0.0),
        "strongest": best.check if best else None,
        "accuracy": best.accuracy if best else None,
        "gain": best.gain if best else None,
        "exempt": [finding.check for finding in report.findings if finding.status == "exempt"],
        "evidence": tallies(report),
    }


def config_entry(
    config: Config, content: dict[str, str], files: dict[str, ListedFile], report: Report | None = None
) -> ConfigEntry:
    """A config's entry; ``content`` has a hash of the rows per split, ``files`` what its folder holds."""
    entry: ConfigEntry = {
        "task": config.task,
        "lang": config.lang,
        "summary": config.definition.partition("\n")[0],
        "shape": str(config.shape),
        "labels": list(config.labels),
        "counts": config.counts(),
        "candidates": config.candidates,
        "drops": dict(config.drops),
        "notes": list(config.notes),
        "sources": [source.name for source in config.sources],
        "settings": json.loads(json.dumps(config.settings.to_dict())),
        "content": content,
        "files": files,
        "audit": audit_entry(report) if report else None,
        "versions": stage_versions(config.version),
    }
    if config.tiny:
        entry["tiny"] = True
    if set(config.read) - set(entry["sources"]):
        entry["read"] = list(config.read)
    if config.splits["test"].num_rows:
        entry["example"] = _cut(config.splits["test"].slice(0, 1).to_pylist()[0])
    if config.excluded:
        entry["excluded"] = dict(config.excluded)
    if lists := lists_of(config.settings):
        entry["lists"] = lists
    return entry


def _cut(value: Any) -> Any:
    """A value of a row with texts of at most ``_LONGEST`` characters."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
    if isinstance(value, list):
        return [_cut(one) for one in value]
    return {name: _cut(one) for name, one in value.items()} if isinstance(value, dict) else value


def lists_of(settings: Settings) -> dict[str, ListedFile]:
    """Size and hash of the user's files that settings name, by setting; only of those that are there."""
    return {name: listed_file(path) for name, path in settings.files().items() if path.is_file()}


def source_entry(source: Source) -> SourceEntry:
    """A corpus's entry."""
    entry: SourceEntry = {
        "lang": source.lang,
        "licence": source.licence,
        "repo": source.repo,
        "commit": source.commit,
        "citation": source.citation,
        "files": {file.path: {"sha256": file.sha256, "bytes": file.bytes} for file in source.files},
    }
    if source.annotation is not None:
        entry["annotation"] = dict(source.annotation)
    return entry


def stage_versions(task_version: int) -> dict[str, int]:
    """The version of each step that makes a config, by the name of the step; each is defined in the step's package.

    They are raised by hand: a change of the code that changes no output leaves the published configs as they are.
    ``tests/golden/test_stage_versions.py`` fails where an output changes and its version does not.
    """
    from discoprobe.builders.audit import report  # noqa: PLC0415 (scipy: a second, for those who only read)

    return {
        "reader": corpus.VERSION,
        "build": builders.VERSION,
        "task": task_version,
        "audit": report.VERSION,
        "card": cards.VERSION,
    }
