"""Rows per split and label of the sample corpus, as committed: a change of any of them is seen and explained.

``counts.json`` holds config → split → label → rows, and ``unavailable`` for a config that is not there. Every config in
the file is compared, and every discourse task has to be in it. To renew it after an intended change (after the first
release, CHANGELOG names it under "Data")::

    RENEW_GOLDEN=1 pytest -n 0 tests/golden/test_counts.py

"""

import json
import os
from pathlib import Path

import pytest
from shared import SAMPLE_LANGUAGES

from discoprobe.builders import Config, all_tasks, tasks_named

GOLDEN = Path(__file__).with_name("counts.json")
UNAVAILABLE = "unavailable"


def found_counts(built, families):
    """The counts of every config of the sample in these families."""
    tasks = {task.name for task in tasks_named(families)}
    results = [result for lang in SAMPLE_LANGUAGES for task, result in built("sample", lang).items() if task in tasks]
    return {
        result.name: result.counts() if isinstance(result, Config) else UNAVAILABLE
        for result in sorted(results, key=lambda result: result.name)
    }


@pytest.fixture(scope="module")
def golden(built):
    if os.environ.get("RENEW_GOLDEN"):
        text = json.dumps(found_counts(built, ["discourse"]), indent=1, ensure_ascii=False)
        GOLDEN.write_text(text + "\n", encoding="utf-8")
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_counts_are_as_committed(built, golden):
    found = found_counts(built, ["all"])
    different = {name: found.get(name) for name, counts in golden.items() if found.get(name) != counts}
    assert different == {}, "if this was intended: RENEW_GOLDEN=1 pytest -n 0 tests/golden/test_counts.py"


def test_every_discourse_task_is_in_the_file(golden):
    discourse = [task.name for task in all_tasks().values() if task.family == "discourse"]
    assert {f"{task}_{lang}" for task in discourse for lang in SAMPLE_LANGUAGES} <= set(golden)
