"""What each step makes of the sample, and the version it had then: an output that changes raises its version.

A failing test names the version to raise. Then ``pytest tests/golden/test_stage_versions.py --write-versions`` stores
the new output. It stores no other output under the same version.
"""

import hashlib
import json
import re
from pathlib import Path

import msgspec
import pytest
from card_cases import config, hostile_config
from shared import SAMPLE_LANGUAGES, sample_file

from discoprobe import builders, cards
from discoprobe.builders import Config, Shape, all_tasks
from discoprobe.builders.audit import audit, report
from discoprobe.cards.text import config_card
from discoprobe.loaders import corpus

GOLDEN = Path(__file__).with_name("stage_versions.json")
TASKS = sorted(all_tasks())
WHERE = {
    "reader": "loaders/corpus.py",
    "audit": "builders/audit/report.py",
    "card": "cards/__init__.py",
}


def digest(*parts):
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


@pytest.fixture
def compare(request):
    """Compare the version and the digest of a step with the stored ones, or store them."""

    def compare_step(step, version, found, where):
        golden = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
        now, before = {"version": version, "digest": found}, golden.get(step, {})
        if before.get("version") == version:
            assert before["digest"] == found, f"the output of {step} changed: raise its version in {where}"
        if request.config.getoption("--write-versions"):
            GOLDEN.write_text(json.dumps(golden | {step: now}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        else:
            assert before == now, f"{step} has a new version: run this test with --write-versions"

    return compare_step


def test_reader(compare, corpus_of):
    tables = [
        [column.to_list() for column in table.get_columns()]
        for lang in SAMPLE_LANGUAGES
        for shard in corpus_of("sample", lang).shards()
        for table in (shard.documents, shard.sentences, shard.tokens)
    ]
    compare("reader", corpus.VERSION, digest(tables), WHERE["reader"])


@pytest.mark.parametrize("task", TASKS)
def test_rows_of_a_task(compare, built, task):
    configs = [built("sample", lang)[task] for lang in SAMPLE_LANGUAGES]
    assert [config.task for config in configs] == [task] * len(SAMPLE_LANGUAGES)
    rows = [
        {split: table.to_pylist() for split, table in config.splits.items()} if isinstance(config, Config) else None
        for config in configs
    ]
    version = [builders.VERSION, all_tasks()[task].version]
    compare(task, version, digest(rows), f"its module, or in builders/__init__.py if tasks share the change ({task})")


@pytest.fixture(scope="module")
def made_by_hand():
    """A config that no task makes: sentences of the sample in three splits, labelled by their length."""
    texts = re.findall(r"^# text = (.*)$", sample_file("en").read_text(encoding="utf-8"), re.MULTILINE)
    rows = [{"text": line, "label": int(len(line) > 60), "group": f"g{n}"} for n, line in enumerate(texts)]
    parts = [config(Shape.SENTENCE, ("short", "long"), rows[start::3], "length_en") for start in range(3)]
    splits = {name: part.splits[name] for name, part in zip(("train", "validation", "test"), parts, strict=True)}
    return msgspec.structs.replace(parts[0], splits=splits)


def test_audit(compare, made_by_hand):
    compare("audit", report.VERSION, digest(rounded(audit(made_by_hand).to_dict())), WHERE["audit"])


def test_card(compare, made_by_hand):
    """The text of a card, without the audit: its figures have their own version."""
    made = [config_card(each) for each in (made_by_hand, hostile_config())]
    compare("card", cards.VERSION, digest(made), WHERE["card"])


def rounded(value):
    """Values of JSON with numbers of two decimals, which machines agree on."""
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return round(value, 2) if isinstance(value, float) else value
