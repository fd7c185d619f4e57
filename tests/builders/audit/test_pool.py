"""Configs of a task together: rows are added up, and what each is too small for may be told."""

import dataclasses

import pytest

from discoprobe.auditing import pooled_rows
from discoprobe.builders.audit import Status, audit
from discoprobe.builders.audit.pool import pooled, tallies
from discoprobe.builders.audit.shortcuts import N_GRAMS
from discoprobe.builders.audit.stats import wilson


def tally(right, n, *, baseline=0.5, limit=0.52):
    return {
        "length": {"n": n, "independent": n, "baseline": baseline * n, "limit": limit * n, "correct": {"length": right}}
    }


def test_rows_are_added_up():
    (one,) = pooled([tally(30, 40), tally(60, 100), tally(5, 10, baseline=0.25, limit=0.27)])
    assert (one.check, one.configs, one.n) == ("length", 3, 150)
    assert one.accuracy == pytest.approx(95 / 150, abs=1e-6)
    assert one.baseline == pytest.approx((20 + 50 + 2.5) / 150, abs=1e-6)
    assert one.limit == pytest.approx((0.52 * 140 + 2.7) / 150, abs=1e-6)
    assert one.lift == pytest.approx(one.accuracy - one.baseline)
    assert one.interval == wilson(95, 150)


@pytest.mark.parametrize(
    ("right", "status"), [(50, Status.PASSED), (53, Status.UNDECIDED), (60, Status.FAILED)], ids=str
)
def test_twenty_small_splits_tell_what_one_does_not(right, status):
    (alone,) = pooled([tally(right, 100)])
    (together,) = pooled([tally(right, 100)] * 20)
    assert (alone.status, together.status) == (Status.UNDECIDED, status)


def test_the_best_solver_is_chosen_over_all_configs():
    """Each config has another best solver by chance; over all of them both know nothing."""

    def two(first, second):
        return {
            "overlap": {"n": 10, "independent": 10, "baseline": 5.0, "limit": 5.5, "correct": {"a": first, "b": second}}
        }

    (one,) = pooled([two(8, 2), two(2, 8)] * 40)
    assert one.accuracy == pytest.approx(0.5)
    assert one.status is Status.PASSED
    assert one.interval == wilson(400, 800, 2)


def test_configs_with_other_solvers_are_not_added_up():
    other = {"length": {"n": 10, "independent": 10, "baseline": 5.0, "limit": 5.2, "correct": {"x": 5.0}}}
    assert pooled([tally(5, 10), other]) == []
    assert pooled([]) == []


@pytest.mark.slow
def test_a_shortcut_of_many_small_data_sets(maker, build):
    """Labels that follow the length a little: no data set of sixty test rows shows it, twenty of them do."""

    def data(seed, gap):
        made = maker(seed)
        rows = made.rows(300, 2, 1)
        for row in rows:
            row["texts"] = [made.sentence(8 + gap * row["label"], 18 + gap * row["label"])]
        return tallies(audit(build(rows)))

    for gap, status in ((2, Status.FAILED), (0, Status.PASSED)):
        found = {one.check: one for one in pooled([data(seed, gap) for seed in range(20)])}
        assert found["length"].status is status, found["length"]
        assert {one.status for check, one in found.items() if check != "length"} <= {Status.PASSED, Status.UNDECIDED}


def test_configs_of_a_release_are_shown_by_task(make):
    """Only tasks of ours with several configs have rows."""
    report = audit(make.data(200))
    named = [dataclasses.replace(report, name=name) for name in ("dc_de", "dc_es", "bso_de", "my_benchmark", "my_data")]
    rows = pooled_rows(named)
    assert {row["task"] for row in rows} == {"dc"}
    (length,) = [row for row in rows if row["check"] == "length"]
    assert (length["configs"], length["rows"]) == (2, 400)


def test_what_a_report_adds(make):
    report = audit(make.data(400, texts=2))
    found = tallies(report)
    assert "seen" not in found, "no sample: nothing occurs in train"
    assert set(found["single"]["correct"]) == {"text 1", "text 2"}
    for check, one in found.items():
        finding = report.finding(check)
        assert one["n"] == finding.cross.n == (320 if check in N_GRAMS else 400)
        assert max(one["correct"].values()) == pytest.approx(finding.cross.accuracy * finding.cross.n, abs=0.01)
