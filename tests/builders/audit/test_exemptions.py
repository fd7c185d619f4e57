"""An exemption of a task is needed by some config of it: one that would fail without it, on real data."""

import dataclasses

import pytest
from shared import REAL_LANGUAGES, SAMPLE_LANGUAGES, WHY

from discoprobe.builders.audit import Status, audit
from discoprobe.builders.build import build_all
from discoprobe.builders.config import Config
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import all_tasks

CORPORA = [("sample", lang) for lang in SAMPLE_LANGUAGES] + [("shared", lang) for lang in REAL_LANGUAGES]
EXEMPT = [task for task in all_tasks().values() if task.exempt]


def fails_without(finding):
    """Whether a config would fail a check without its exemption."""
    return finding.status is Status.EXEMPT


def not_needed(tasks, corpus_of, corpora=CORPORA):
    """The exemptions of tasks that no config needs; corpora are built from one by one for as long as there are any."""
    left = {(task.name, check) for task in tasks for check in task.exempt}
    for where, lang in corpora:
        wanted = [task for task in tasks if any(name == task.name for name, _ in left)]
        for config in build_all(wanted, corpus_of(where, lang), Settings()) if wanted else ():
            if isinstance(config, Config):
                report = audit(config)
                left -= {(config.task, check) for check in config.exempt if fails_without(report.finding(check))}
    return left


@pytest.mark.slow
def test_every_exemption_is_needed(corpus_of):
    left = not_needed(EXEMPT, corpus_of)
    if left and not REAL_LANGUAGES:
        pytest.skip(f"the sample is too small to show that {sorted(left)} are needed, and {WHY}")
    assert left == set(), "no config fails without these exemptions: take them away"


def test_an_exemption_that_no_config_needs_is_found(corpus_of):
    """The same search on a task none of whose sentences stands in two splits: what cannot happen by chance either."""
    task = dataclasses.replace(all_tasks()["bso"], exempt={"seen": "none", "dup-within": "none"})
    assert not_needed([task], corpus_of, CORPORA[:2]) == {("bso", "seen"), ("bso", "dup-within")}
