"""What few test rows leave open, train held out in its turn may tell."""

import dataclasses

import polars as pl
import pytest

from discoprobe.builders.audit import Severity, Status, audit
from discoprobe.builders.audit.cross import ENOUGH, crossed, turns
from discoprobe.builders.audit.limits import Kind
from discoprobe.builders.audit.report import Finding, Report, judged
from discoprobe.builders.audit.stats import wilson


def found(right, n, *, limit=0.52, baseline=0.5, **more):
    accuracy, interval = round(right / n, 6), wilson(right, n)
    return Finding(
        "length", Kind.SHORTCUT, Severity.ERROR, judged(accuracy, interval, limit), accuracy, limit, baseline, interval,
        n, independent=n, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("test", "train", "alone", "together"),
    [
        ((48, 80), (183, 300), Status.UNDECIDED, Status.FAILED),
        ((40, 80), (145, 300), Status.UNDECIDED, Status.PASSED),
        ((40, 80), (160, 300), Status.UNDECIDED, Status.UNDECIDED),
        ((44, 80), (174, 300), Status.UNDECIDED, Status.UNDECIDED),
        ((32, 48), (88, 190), Status.FAILED, Status.FAILED),
        ((32, 48), (103, 190), Status.FAILED, Status.FAILED),
        ((20, 48), (160, 190), Status.PASSED, Status.FAILED),
    ],
    ids=[
        "a shortcut",
        "none",
        "still too few",
        "a second look is 99 % sure",
        "beyond on test",
        "beyond on test, or luck",
        "a shortcut that test hid",
    ],
)
def test_both_together_decide_where_they_can(test, train, alone, together):
    one = found(*test)
    both = crossed(one, [found(*train)])
    assert (one.status, both.status) == (alone, together)
    assert (both.measured, both.interval, both.n) == (one.measured, one.interval, one.n)
    n, right = test[1] + train[1], test[0] + train[0]
    assert both.cross.n == n
    assert both.cross.interval == pytest.approx(wilson(right, n), abs=1e-5)
    assert both.cross.accuracy == pytest.approx(right / n, abs=1e-6)
    assert both.lift == pytest.approx(right / n - 0.5, abs=1e-6)


def test_the_message_tells_the_measurement_that_is_beyond():
    assert crossed(found(48, 80), [found(183, 300)]).beyond == (pytest.approx(231 / 380, abs=1e-6), 0.52)
    assert crossed(found(32, 48), [found(103, 190)]).beyond == (pytest.approx(2 / 3, abs=1e-6), 0.52)
    assert crossed(found(40, 80), [found(145, 300)]).beyond is None


def test_baselines_and_limits_are_those_of_the_rows():
    both = crossed(found(40, 80), [found(100, 320, baseline=0.25, limit=0.27)])
    assert both.cross.baseline == pytest.approx((0.5 * 80 + 0.25 * 320) / 400)
    assert both.cross.limit == pytest.approx((0.52 * 80 + 0.27 * 320) / 400)


def test_the_best_of_several_solvers_is_chosen_over_both():
    one = found(60, 80, tried={"a": 0.75, "b": 0.5})
    other = found(170, 300, tried={"a": 0.4, "b": 170 / 300})
    assert crossed(one, [other]).cross.tried == pytest.approx({"a": 180 / 380, "b": 210 / 380}, abs=1e-6)
    assert crossed(one, [other]).cross.accuracy == pytest.approx(210 / 380, abs=1e-6)


def test_a_solver_that_only_some_rows_have_a_text_for_is_left_out():
    """The longest passages are all in one split."""
    one = found(40, 80, tried={"text 1": 0.5, "text 2": 0.4})
    other = found(150, 300, tried={"text 1": 0.5, "text 2": 0.5, "text 3": 0.9})
    assert set(crossed(one, [other]).cross.tried) == {"text 1", "text 2"}
    assert crossed(found(40, 80, tried={"x": 0.5}), [other]).cross is None


def test_what_cannot_be_measured_on_train_leaves_test_as_it_is():
    one = found(48, 80)
    assert crossed(one, [Finding("length", Kind.SHORTCUT, Severity.ERROR, Status.SKIPPED)]) == one


def ids(data, *splits):
    return {one for split in splits for one in data.split(split)["id"]}


def test_every_split_is_held_out_in_its_turn(make):
    data = make.data(500)
    (validation, dear), (train, again) = turns(data)
    assert (dear, again) == (False, True)
    assert (ids(validation, "train"), ids(validation, "test")) == (ids(data, "train"), ids(data, "validation"))
    assert (ids(train, "train"), ids(train, "test")) == (ids(data, "validation", "test"), ids(data, "train"))


def test_of_a_large_train_as_much_is_held_out_as_there_is_to_learn_for(make):
    data = make.data(2000)
    small = dataclasses.replace(data, rows=pl.concat([data.split("train"), data.split("test").head(30)]))
    ((turned, _),) = turns(small)
    assert turned.counts == {"train": 30, "test": 90}


def test_one_split_is_halved_and_a_large_test_tells_by_itself(make):
    data = make.data(500)
    ((turned, _),) = turns(dataclasses.replace(data, rows=data.split("train")))
    assert sum(turned.counts.values()) == 300
    assert not list(turns(make.data(5 * ENOUGH)))


def test_a_shortcut_that_forty_test_rows_do_not_show(make):
    """Of seven rows in ten of one label the text is longer by half."""
    rows = make.rows(400, 2, 1)
    for place, row in enumerate(rows):
        row["texts"] = [make.sentence(14, 20) if (row["label"] == 1) == (place % 10 < 7) else make.sentence(6, 12)]
    data = make.data(400)
    planted = pl.concat([pl.DataFrame(rows).select("texts"), data.rows.drop("texts")], how="horizontal")
    planted = planted.with_columns(label=pl.Series([row["label"] for row in rows]))
    few = planted.filter((pl.col("split") != "test") | (pl.col("place") < 40)).select(data.rows.columns)
    report = audit(dataclasses.replace(data, rows=few))
    finding = report.finding("length")
    assert finding.interval.low <= finding.limit
    assert finding.cross.interval.low > finding.cross.limit
    assert (finding.status, report.failed) == (Status.FAILED, True)
    assert Report.from_json(report.to_json()).to_json() == report.to_json()
    assert report.strongest.n == finding.cross.n
