"""What `scripts/benchmark.py release` says of two records, and that the smallest part of the record is as on file."""

import copy
import json
import os
import subprocess
import sys

import pytest
from copied_corpora import load_script
from shared import ROOT, SHARED

benchmark = load_script("benchmark")
BSO = {
    "rows": {"train": 76676, "validation": 10000, "test": 10000},
    "digest": "52a1f0c86b7d4e39",
    "drops": {"donor": 812},
    "strongest": {"check": "similarity", "accuracy": 0.693, "interval": [0.68, 0.706]},
    "failed": [],
    "open": {},
}
BEFORE = {
    "bso_de": BSO,
    "dc_de": BSO | {
        "rows": {"train": 24328, "validation": 6420, "test": 10000},
        "strongest": {"check": "pairwise", "accuracy": 0.598, "interval": [0.586, 0.61]},
        "open": {"pairwise": [0.598, 0.586, 0.61, 0.6]},
    },
}  # fmt: skip


def changed(config, **values):
    """The records with other values of a config."""
    after = copy.deepcopy(BEFORE)
    after[config] |= values
    return after


def lines_of(after, reasons=None):
    return benchmark.differences(BEFORE, after, reasons or {})


def test_equal_records_do_not_differ():
    assert lines_of(copy.deepcopy(BEFORE)) == []


def test_other_numbers_of_rows_and_drops_are_a_line_each():
    rows = {"train": 9188, "validation": 10000, "test": 10000}
    after = changed("bso_de", rows=rows, digest="0b", drops={"donor": 812, "unbalanced": 59421})
    assert lines_of(after) == ["bso_de train 76,676 → 9,188", "bso_de unbalanced none → 59,421"]


def test_other_rows_of_the_same_number():
    assert lines_of(changed("dc_de", digest="0b")) == ["dc_de other rows: digest 52a1f0c86b7d4e39 → 0b"]


def test_a_config_that_is_lost_or_new():
    after = copy.deepcopy(BEFORE)
    del after["dc_de"]
    assert lines_of(after, {"dc_de": "the audit failed: pairwise 0.638"}) == [
        "dc_de 24,328/6,420/10,000 → not built: the audit failed: pairwise 0.638"
    ]
    assert benchmark.differences(after, BEFORE, {}) == ["dc_de not in the record → 24,328/6,420/10,000"]


def test_another_accuracy_of_the_strongest_baseline():
    pairwise = {"check": "pairwise", "accuracy": 0.638, "interval": [0.612, 0.663]}
    after = changed("dc_de", digest="0b", strongest=pairwise, failed=["pairwise"], open={})
    assert lines_of(after) == [
        "dc_de other rows: digest 52a1f0c86b7d4e39 → 0b",
        "dc_de pairwise 0.598 → 0.638",
        "dc_de fails no check → fails pairwise",
        "dc_de pairwise was open: 0.598 (0.586–0.61), threshold 0.6",
    ]
    after = changed("dc_de", strongest={"check": "overlap", "accuracy": 0.55, "interval": [0.54, 0.56]})
    assert lines_of(after) == ["dc_de pairwise 0.598 → overlap 0.550"]
    after = changed("bso_de", open={"length": [0.515, 0.505, 0.53, 0.52]})
    assert lines_of(after) == ["bso_de length is open: 0.515 (0.505–0.53), threshold 0.52"]


def test_machines_may_differ_a_little_in_an_accuracy_on_the_same_rows():
    near = {"check": "overlap", "accuracy": 0.601, "interval": [0.587, 0.614]}
    assert lines_of(changed("dc_de", strongest=near)) == []
    assert lines_of(changed("bso_de", open={"length": [0.51, 0.5, 0.523, 0.52]})) == []
    assert "dc_de pairwise 0.598 → overlap 0.601" in lines_of(changed("dc_de", strongest=near, digest="0b"))


def test_costs_are_ratios_to_the_record():
    before = {"seconds": 200, "processor": 400, "parent": 50, "peak": 3000}
    text = benchmark.cost_text(before, before | {"seconds": 300})
    assert text == "300 s (× 1.50), 400 processor s (× 1.00), 50 of the parent (× 1.00), 3,000 MB (× 1.00)"
    assert benchmark.cost_text({}, before) == "200 s, 400 processor s, 50 of the parent, 3,000 MB"


def test_a_record_has_a_line_for_each_config():
    part = {"command": "build run", "software": {}, "cost": {"seconds": 3}, "configs": BEFORE}
    text = benchmark.record_text({"wiki_de": part, "novels_es": part})
    assert json.loads(text) == {"wiki_de": part, "novels_es": part}
    assert sum(line.startswith(('   "dc_', '   "bso_')) for line in text.splitlines()) == 4


def test_the_record_on_file_is_written_by_the_script():
    record = json.loads(benchmark.RECORD.read_text(encoding="utf-8"))
    assert benchmark.RECORD.read_text(encoding="utf-8") == benchmark.record_text(record)
    assert "wiki_de_2k" in record
    assert record.keys() <= benchmark.PARTS.keys()
    for name, part in record.items():
        corpus, options = benchmark.PARTS[name]
        assert part["command"].startswith(f"build run --corpus {corpus} {options} "), "built with other options"
        assert all(config.keys() == BSO.keys() for config in part["configs"].values())


@pytest.mark.slow
@pytest.mark.skipif(
    not (SHARED / "corpora" / "hub" / "wiki_de").is_dir(),
    reason="no ../shared with text of the Hub beside the repository",
)
@pytest.mark.minutes
def test_the_smallest_part_is_as_on_file(tmp_path):
    """About five minutes on two cores. After an intended change of rows: ``benchmark.py release --write``."""
    script = [sys.executable, str(ROOT / "scripts" / "benchmark.py"), "release", "--part", "wiki_de_2k"]
    done = subprocess.run(
        [*script, "--shared", str(SHARED), "--work", str(tmp_path)], check=False, capture_output=True, text=True,
        env={**os.environ, "TERM": "dumb"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
