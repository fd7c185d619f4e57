"""An exemption of a task is needed by some config of it: one that would fail without it, on real data."""

import msgspec
import pytest
from audit_parts import finding_of
from shared import REAL_LANGUAGES, SAMPLE_LANGUAGES, SHARED, WHY, needs_shared

from discoprobe.builders import Config, Settings, all_tasks, build_all, tasks_named
from discoprobe.builders.audit import Status
from discoprobe.loaders.conllu import read_corpora

JAPANESE = ["ja"] if REAL_LANGUAGES else []
"""Its words are not separated, so that pairs of characters show a swap of words."""
CORPORA = [("sample", lang) for lang in SAMPLE_LANGUAGES] + [("shared", lang) for lang in REAL_LANGUAGES + JAPANESE]
RELATIONS = [SHARED / "corpora" / name for name in ("disrpt", "rst")]
NOT_MEASURED = {"fidelity"}
"""Checks that need the source texts, which are not at hand here."""


def fails_without(finding):
    """Whether a config would fail a check without its exemption."""
    return finding.status is Status.EXEMPT


def not_needed(tasks, results_of, corpora=CORPORA):
    """The exemptions of tasks that no config needs; corpora are looked at one by one for as long as there are any.

    ``results_of(where, lang)`` gives the config of every task, or why there is none.
    """
    left = {(task.name, check) for task in tasks for check in task.exempt.keys() - NOT_MEASURED}
    for where, lang in corpora:
        results = results_of(where, lang) if left else ()
        for config in (result for result in results if isinstance(result, Config)):
            checks = [check for check in config.exempt if (config.task, check) in left]
            left -= {(config.task, check) for check in checks if fails_without(finding_of(config, check))}
    return left


@pytest.mark.slow
def test_every_exemption_is_needed(built):
    of_sentences = [task for task in all_tasks().values() if task.exempt and task.family != "relations"]
    left = not_needed(of_sentences, lambda where, lang: built(where, lang).values())
    if left and not REAL_LANGUAGES:
        pytest.skip(f"the sample is too small to show that {sorted(left)} are needed, and {WHY}")
    assert left == set(), "no config fails without these exemptions: take them away"


@pytest.mark.slow
@needs_shared
def test_every_exemption_of_relation_tasks_is_needed():
    """By one of the tasks: they share their units and exemptions, and corpora at hand are small for most of them."""
    tasks = tasks_named(["relations"])
    corpora = read_corpora(RELATIONS, on_error="skip")
    left = not_needed(
        tasks, lambda _, lang: build_all(tasks, corpora[lang], Settings()), [("relations", lang) for lang in corpora]
    )
    shared = {check for task in tasks for check in task.exempt} - NOT_MEASURED
    assert [check for check in shared if {(task.name, check) for task in tasks} <= left] == []


def test_an_exemption_that_no_config_needs_is_found(corpus_of):
    """The same search on a task none of whose sentences stands in two splits: what cannot happen by chance either."""
    task = msgspec.structs.replace(all_tasks()["bso"], exempt={"seen": "none", "dup-within": "none"})

    def results_of(where, lang):
        return build_all([task], corpus_of(where, lang), Settings())

    assert not_needed([task], results_of, CORPORA[:2]) == {("bso", "seen"), ("bso", "dup-within")}
