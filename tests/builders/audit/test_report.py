"""Reports: what fails, what is exempt, what is stale, and JSON there and back."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.builders.audit import BY_ID, AuditInput, Report, Severity, Status, UnreadableDataError, audit
from discoprobe.builders.audit.frame import SCHEMA
from discoprobe.builders.audit.problem import Score
from discoprobe.builders.audit.run import judge
from discoprobe.builders.audit.stats import independent, longest_run_limit, parity_limit, wilson
from discoprobe.builders.config import Shape


def _score(right, n, tries=1):
    correct = np.array([1.0] * right + [0.0] * (n - right))
    return Score(correct, correct, tuple(map(str, range(n))), np.arange(n), tries=tries)


def test_pairs_that_go_right_and_wrong_together_are_one_observation():
    correct, groups = np.array([1.0, 0, 1, 1, 0, 0, 1, 1]), np.arange(8) // 2
    assert independent(np.repeat(correct[::2], 2), groups) == 4
    assert independent(np.tile([1.0, 0.0], 4), groups) == 8
    assert 4 < independent(correct, groups) <= 8
    assert independent(np.ones(8), groups) == 4
    assert independent(correct, np.arange(8)) == 8


def test_the_interval_of_both_orders_is_that_of_pairs():
    correct = np.repeat(np.array([1.0] * 23 + [0.0] * 13), 2)
    both = Score(correct, correct, tuple(map(str, range(72))), np.arange(72) // 2)
    assert both.interval == _score(23, 36).interval
    assert judge(both, 0.52) is Status.UNDECIDED


@given(n=st.integers(1, 5000), share=st.floats(0, 1), tries=st.integers(1, 9))
def test_wilson_holds_the_share_and_widens_with_tries(n, share, tries):
    successes = round(n * share)
    low, high = wilson(successes, n, tries)
    assert 0 <= low <= successes / n + 1e-6
    assert successes / n - 1e-6 <= high <= 1
    assert high - low >= (wilson(successes, n).high - wilson(successes, n).low) - 1e-6


def test_wilson_as_published():
    """Newcombe 1998, table I: 81 of 263."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("right", "n", "status"),
    [
        (560, 1000, Status.FAILED),  # interval .529-.590
        (530, 1000, Status.UNDECIDED),  # .499-.561: above the limit, but not for sure
        (500, 1000, Status.PASSED),  # .469-.531
        (50, 100, Status.UNDECIDED),  # .404-.596: a shortcut of .59 is not excluded
        (58, 60, Status.FAILED),
    ],
)
def test_judged_by_the_interval(right, n, status):
    assert judge(_score(right, n), 0.52) is status


def test_the_best_of_several_solvers_needs_more_to_fail():
    assert judge(_score(556, 1000), 0.52) is Status.FAILED
    assert judge(_score(556, 1000, tries=6), 0.52) is Status.UNDECIDED


def test_without_a_limit_it_is_noted():
    assert judge(_score(990, 1000), None) is Status.NOTED


def test_limits_of_chance():
    assert parity_limit(0.5, 900, 2) == pytest.approx(0.55)
    assert parity_limit(0.5, 900, 2, n_splits=3) == pytest.approx(0.5554, abs=1e-4)
    assert parity_limit(0.2, 900, 5) > 0.2 + 3 * (0.2 * 0.8 / 900) ** 0.5
    assert 15 <= longest_run_limit([500, 500]) <= 20
    assert longest_run_limit([100] * 20) < longest_run_limit([1000, 1000])
    assert longest_run_limit([1999, 1]) > 100


@pytest.fixture
def long_and_short(make, build):
    rows = make.rows(1000, 2, 1)
    for row in rows:
        row["texts"] = [make.sentence(6, 12) if row["label"] else make.sentence(10, 16)]
    return build(rows)


def test_the_strongest_shortcut(long_and_short):
    report = audit(long_and_short)
    assert report.failed
    assert [finding.check for finding in report.errors] == ["length"]
    assert report.strongest.lift == pytest.approx(report.strongest.accuracy - 0.5)
    assert report.strongest.lift == max(f.lift for f in report.findings if f.lift is not None)


def test_an_exempt_check_does_not_fail(long_and_short):
    report = audit(dataclasses.replace(long_and_short, exempt={"length": "the length is the label"}))
    finding = report.finding("length")
    assert (finding.status, finding.reason) == (Status.EXEMPT, "the length is the label")
    assert not report.failed
    assert report.stale == ()


def test_an_exemption_that_is_not_needed_is_stale(make):
    report = audit(
        dataclasses.replace(make.data(2000), exempt={"chars": "no limit", "length": "none", "fidelity": "–"})
    )
    assert report.finding("length").status is Status.PASSED
    assert report.stale == ("length", "chars")
    assert report.finding("chars").status is Status.NOTED


def test_an_exempt_integrity_check(make, build):
    rows = make.rows(100, 2, 1)
    rows[3] = rows[7]
    report = audit(build(rows, exempt={"dup-within": "the source repeats itself", "balance": "of that", "order": "–"}))
    assert report.finding("dup-within").status is Status.EXEMPT
    assert "dup-within" not in report.stale


def test_json_there_and_back(long_and_short):
    report = audit(long_and_short)
    text = report.to_json()
    again = Report.from_json(text)
    assert again.to_json() == text
    assert (again.errors, again.strongest, again.counts) == (report.errors, report.strongest, report.counts)
    data = json.loads(text)
    assert (data["version"], data["failed"], data["strongest"]["check"]) == (1, True, report.strongest.check)
    assert [finding["check"] for finding in data["findings"]] == list(BY_ID)
    assert report.to_dict() == data


def test_a_report_says_on_what_it_was_measured(make):
    report = audit(make.data(200))
    assert (report.trained_on, report.measured_on, report.counts) == (
        "train",
        "test",
        {"train": 120, "validation": 40, "test": 40},
    )
    assert report.labels == ("label0", "label1")
    assert {f.severity for f in report.findings if f.check in {"chars", "token"}} == {Severity.NOTE}


def test_nothing_to_audit():
    empty = AuditInput("empty", Shape.SENTENCE, ("a", "b"), SCHEMA.to_frame())
    with pytest.raises(UnreadableDataError, match="empty: no rows to audit"):
        audit(empty)
