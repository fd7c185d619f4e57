"""Reports: what fails, what is exempt, what is stale, and JSON there and back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
from audit_parts import report_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm
from typer.testing import CliRunner

from discoprobe.builders import Shape
from discoprobe.builders.audit import (
    BY_ID,
    MIRRORED,
    PAIRED,
    RULED_OUT,
    SCHEMA,
    VERSION,
    AuditInput,
    Figure,
    Grade,
    Severity,
    Status,
    UnreadableDataError,
    audit,
    exact,
    independent_rows,
    longest_run_threshold,
    parity_threshold,
    smallest_gain,
)
from discoprobe.builders.audit.solvers import Score
from discoprobe.cli import app


def test_pairs_that_go_right_and_wrong_together_are_one_observation():
    correct, pairs, rows = np.array([1.0, 0, 1, 1, 0, 0, 1, 1]), np.arange(8) // 2, np.arange(8)
    assert 3 <= independent_rows(np.repeat(correct[::2], 2), [pairs]) <= 4
    assert independent_rows(np.tile([1.0, 0.0], 4), [pairs]) == 8
    assert 4 < independent_rows(correct, [pairs]) <= 8
    assert independent_rows(np.ones(8), [pairs]) == 4
    assert independent_rows(correct, [rows]) == 7  # as the variance of a sample of eight
    assert independent_rows(np.repeat(correct, 50), [np.arange(400), np.repeat(rows, 50)]) < 9


def test_labels_that_agree_inside_a_document_are_guessed_right_together():
    """Twenty documents of five rows; in each, four of the predictions are the same, and happen to be right."""
    document = np.repeat(np.arange(20), 5)
    of_document, of_row = document % 2, np.arange(100) % 2
    predicted = np.where(np.arange(100) % 5, of_document, 1 - of_document)
    for truth, effect in ((of_document, 1 + 4 * 0.2), (of_row, 1)):
        right = (predicted == truth).astype(float)
        rows = independent_rows(right, [np.arange(100), document], truth, predicted)
        assert rows == pytest.approx(100 / effect, rel=0.1)


@pytest.mark.parametrize(("cross_validated", "holds"), [(True, True), (False, False)])
def test_rows_that_are_learned_from_and_measured_count_for_less(cross_validated, holds):
    """Least squares on features that say nothing: of a thousand intervals, one in forty may be above guessing."""
    source, n, above = np.random.default_rng(1), 100, 0
    fold = np.repeat([0, 1, 2], [60, 20, 20])
    for _ in range(1000):
        features, label = source.normal(size=(n, 3)), np.tile([-1, 1], n // 2)
        right = np.empty(n)
        for held_out in range(3):
            learned, asked = fold != held_out, fold == held_out
            weights = np.linalg.lstsq(features[learned], label[learned])[0]
            right[asked] = (features[asked] @ weights > 0) == (label[asked] > 0)
        rows = independent_rows(right, [np.arange(n)], cross_validated=cross_validated)
        above += exact(right.mean() * rows, rows)[0] > 0.5
    assert (above <= binom.isf(0.05, 1000, 0.025)) == holds, above


def test_the_interval_of_both_orders_is_that_of_pairs():
    correct = np.repeat(np.array([1.0] * 230 + [0.0] * 130), 2)
    both = Score(correct, correct, tuple(map(str, range(720))), (np.arange(720) // 2,))
    assert both.interval == pytest.approx(exact(230, 360), abs=1e-3)


@given(n=st.integers(1, 5000), share=st.floats(0, 1), tries=st.integers(1, 9))
def test_the_exact_interval_holds_the_share_and_widens_with_tries(n, share, tries):
    successes = round(n * share)
    low, high = exact(successes, n, tries)
    assert 0 <= low <= successes / n + 1e-6
    assert successes / n - 1e-6 <= high <= 1
    assert high - low >= (exact(successes, n)[1] - exact(successes, n)[0]) - 1e-6


def test_the_exact_interval_as_published():
    """Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20."""
    assert exact(81, 263) == pytest.approx((0.2527, 0.3676), abs=1e-4)
    assert exact(15, 148) == pytest.approx((0.0578, 0.1617), abs=1e-4)
    assert exact(0, 20) == pytest.approx((0.0, 0.1684), abs=1e-4)
    assert exact(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("n", [4, 8, 12, 18, 24, 50])
@pytest.mark.parametrize("threshold", [0.25, 0.3, 0.55, 0.6])
def test_at_most_one_sample_in_forty_is_above_the_threshold_by_chance(n, threshold):
    """Of samples of any size, also where Wilson's interval fails one in twenty."""
    above = [exact(right, n)[0] > threshold for right in range(n + 1)]
    assert binom.pmf(np.arange(n + 1), n, threshold)[above].sum() <= 0.025


@given(n=st.integers(20, 5000), baseline=st.sampled_from([0.2, 0.25, 0.5]), tries=st.integers(1, 9))
def test_the_smallest_gain_is_where_the_interval_leaves_the_baseline(n, baseline, tries):
    gain = smallest_gain(baseline, n, tries)
    assert exact((baseline + gain) * n, n, tries)[0] == pytest.approx(baseline, abs=1e-4)
    assert exact((baseline + 0.9 * gain) * n, n, tries)[0] < baseline


def test_what_a_random_order_allows():
    """Within one in a million, which four to five standard deviations are."""
    assert parity_threshold(0.5, 900, 2) == pytest.approx(0.5 + 4.75 / 60, abs=1e-3)
    assert parity_threshold(0.2, 900, 5) > 0.2 + 4.75 * (0.2 * 0.8 / 900) ** 0.5
    assert 25 <= longest_run_threshold([500, 500]) <= 32
    assert longest_run_threshold([100] * 20) < longest_run_threshold([1000, 1000])
    assert longest_run_threshold([1999, 1]) > 100


@pytest.fixture
def long_and_short(make, build):
    rows = make.rows(1000, 2, 1)
    for row in rows:
        row["texts"] = [make.sentence(6, 12) if row["label"] else make.sentence(10, 16)]
    return build(rows)


def test_the_strongest_shortcut(long_and_short):
    report = audit(long_and_short)
    assert report.failed
    assert "length" in {finding.check for finding in report.errors}
    assert report.strongest.gain == pytest.approx(report.strongest.measured - 0.5)
    assert report.strongest.gain == max(f.gain for f in report.findings if f.gain is not None)


def test_the_strongest_shortcut_reads_texts(make, build):
    """No model sees the number of a row; what it tells is named apart."""
    rows = make.rows(400, 2, 1)
    report = audit(build([{**row, "label": at % 2} for at, row in enumerate(rows)]))
    assert report.strongest_beside_text.check == "row-order"
    assert report.strongest_beside_text.gain > report.strongest.gain + 0.3
    assert report.strongest.check not in {"row-order", "metadata", "position"}
    assert report.to_dict()["strongest_beside_text"]["check"] == "row-order"
    assert {finding.check: finding.grade for finding in report.errors} == dict.fromkeys(
        ("order", "row-order"), Grade.MINOR
    )


def test_an_exempt_check_does_not_fail(long_and_short):
    report = audit(msgspec.structs.replace(long_and_short, exempt={"length": "the length is the label"}))
    finding = report.finding("length")
    assert (finding.status, finding.reason) == (Status.EXEMPT, "the length is the label")
    assert not report.failed
    assert report.stale == ()


def test_an_exemption_that_is_not_needed_is_stale(make):
    report = audit(
        msgspec.structs.replace(make.data(2000), exempt={"chars": "no threshold", "length": "none", "fidelity": "–"})
    )
    assert report.finding("length").status in {Status.BELOW, Status.EXEMPT}  # EXEMPT: it was open
    assert report.stale == ("length", "chars")
    assert report.finding("chars").status is Status.NOTED


def test_an_exempt_integrity_check(make, build):
    rows = make.rows(100, 2, 1)
    rows[3] = rows[7]
    report = audit(build(rows, exempt={"dup-within": "the source repeats itself", "balance": "of that", "order": "–"}))
    assert report.finding("dup-within").status is Status.EXEMPT
    assert "dup-within" not in report.stale


def test_the_resolution_is_the_smallest_gain_that_the_rows_could_have_shown(make):
    few, many = audit(make.data(200)), audit(make.data(5000))
    assert not few.failed
    assert 0.05 < few.resolution < 0.12
    assert 0.02 < many.resolution < 0.05


def test_one_solver_with_few_independent_rows_does_not_set_the_resolution(make):
    """Capitals of two corpora: guesses follow the corpus, so that 126 rows are worth twelve."""
    report = audit(make.data(200))
    strongest = max((f for f in report.findings if f.decides and f.check not in PAIRED), key=lambda f: f.gain)
    other = next(f for f in report.findings if f.decides and f.check not in PAIRED and f != strongest)

    def with_resolution(check, resolution):
        findings = [
            msgspec.structs.replace(f, resolution=resolution) if f.check == check else f for f in report.findings
        ]
        return msgspec.structs.replace(report, findings=tuple(findings)).resolution

    assert with_resolution(other.check, 0.4) < 0.12
    assert with_resolution(strongest.check, 0.4) == 0.4
    assert with_resolution("pairwise", 0.4) == report.resolution


def test_gains_are_counted_from_the_majority_that_is_printed(make, build):
    """The first class is the most frequent one in train, and not in test, on which solvers are measured."""
    rows = [
        row
        for number, row in enumerate(make.rows(8000, 2, 1))
        if row["label"] == (row["split"] == "test") or number % 3
    ]
    report = audit(build(rows))
    gains = {f.check: (f.measured, f.gain) for f in report.findings if f.gain is not None and f.check not in PAIRED}
    assert all(measured - gain == pytest.approx(report.majority, abs=1e-5) for measured, gain in gains.values())


def test_json_has_every_check_and_a_summary(long_and_short):
    report = audit(long_and_short)
    data = json.loads(report.to_json())
    assert (data["version"], data["failed"], data["strongest"]["check"]) == (VERSION, True, report.strongest.check)
    assert [finding["check"] for finding in data["findings"]] == list(BY_ID)
    assert report.to_dict() == data


def test_a_report_says_on_what_it_was_measured(make):
    report = audit(make.data(200))
    assert (report.trained_on, report.measured_on) == ("the other splits", "train, validation and test")
    assert report.counts == {"train": 120, "validation": 40, "test": 40}
    assert audit(make.data(5000)).measured_on == "test"
    assert report.labels == ("label0", "label1")
    assert {f.severity for f in report.findings if f.check in {"chars", "token"}} == {Severity.NOTE}


def test_nothing_to_audit():
    empty = AuditInput("empty", Shape.SENTENCE, ("a", "b"), SCHEMA.to_frame())
    with pytest.raises(UnreadableDataError, match="empty: no rows to audit"):
        audit(empty)


def documented_keys():
    """Key of a report → the keys that docs/audit.md names inside it."""
    docs = (Path(__file__).parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")
    table = docs.partition("A report has")[2].partition("`status` is")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| `")]
    return {key: set(re.findall(r"`(\w+)`", told)) for keys, told in rows for key in re.findall(r"`(\w+)`", keys)}


def test_the_command_s_json_has_the_documented_keys(make, tmp_path):
    rows = [{"text": row["texts"][0], "label": row["label"], "split": row["split"]} for row in make.rows(120, 2, 1)]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = CliRunner().invoke(app, ["audit", str(tmp_path), "--json"])
    printed = json.loads(done.stdout)
    (report,), documented = printed["data"], documented_keys()
    assert (set(printed), set(report)) == ({"data", "skipped"}, set(documented))
    for key in ("read", "baselines", "findings", "heuristics"):
        first = report[key][0] if isinstance(report[key], list) else report[key]
        assert set(first) == documented[key], key
    assert {finding["status"] for finding in report["findings"]} <= set(Status)
    assert report["read"]["files"] == {split: ["set.jsonl"] for split in ("train", "validation", "test")}


@pytest.mark.parametrize(
    ("value", "interval", "baseline", "threshold", "outcome"),
    [
        (0.55, (0.53, 0.57), 0.5, 0.52, Status.ABOVE),
        (0.52, (0.49, 0.58), 0.5, 0.52, Status.BELOW),
        (0.53, (0.49, 0.57), 0.5, 0.52, Status.OPEN),
        (0.52, (0.49, 0.61), 0.5, 0.52, Status.OPEN),
        (0.57, (0.55, 0.59), 0.5, 0.6, Status.BELOW),
        (0.6, (0.59, 0.61), 0.5, 0.6, Status.OPEN),
        (0.36, (0.33, 0.43), 1 / 3, 0.36, Status.BELOW),
        (0.36, (0.33, 0.44), 1 / 3, 0.36, Status.OPEN),
        (0.9, (0.89, 0.92), 0.9, 0.904, Status.BELOW),
        (0.9, (0.89, 0.93), 0.9, 0.904, Status.OPEN),
        (0.6, (0.3, 0.9), 0.5, None, Status.NOTED),
    ],
)
def test_a_gain_of_a_tenth_is_ruled_out_before_a_solver_is_below(value, interval, baseline, threshold, outcome):
    """2,000 rows cannot meet thresholds of .02 and .05. In skewed data it is the same share of what is possible."""
    assert Figure("accuracy", value, baseline, threshold, interval).outcome is outcome


def test_two_thousand_rows_rule_out_what_a_check_allows():
    """The derivation beside ``RULED_OUT``: no solver of fifteen that found nothing is open in four of five sets."""
    error = 0.5 / (2000 / MIRRORED) ** 0.5
    for tries, of_nothing in ((1, 15), (10, 150)):
        half, luckiest = (norm.isf(tail) for tail in (0.025 / tries, 1 - 0.8 ** (1 / of_nothing)))
        assert (half + luckiest) * error < RULED_OUT
        assert (half + luckiest) * error > 0.05


def test_documents_of_test_are_counted_by_their_sizes(make, build):
    """188 of 324 rows are of one of five documents, so that these are worth 2.55; train has more."""
    sizes = {"train": [8] * 60, "test": [188, 60, 40, 20, 16]}
    rows = [
        {"split": split, "label": at % 2, "texts": [make.sentence()], "group": f"{split} {number}"}
        for split, of_split in sizes.items()
        for number, size in enumerate(of_split)
        for at in range(size)
    ]
    groups = report_of(build(rows, split_by="document")).groups
    assert (groups.of, groups.n, groups.rows, groups.largest) == ("documents", 5, 324, 188)
    assert groups.independent == pytest.approx(324**2 / sum(size**2 for size in sizes["test"]), abs=1e-6)
    assert groups.are_few(0.5)
    assert not groups.are_few(0.2)  # so few can show that a model is better than one in five
    assert report_of(make.data(100)).groups is None
