"""Solvers that an expert would try first: each finds its planted shortcut where older ones are weaker."""

from __future__ import annotations

import polars as pl
import pytest

from discoprobe.builders.audit import Status, audit
from discoprobe.builders.config import Shape

_N = 900


def test_words_beside_a_conjunction(make, build):
    """CoordInv: who reads the words beside the conjunction sees which clause was moved."""
    rows = make.rows(_N, 2, 1)
    for row in rows:
        first, second = ("ruby", "opal") if row["label"] else ("opal", "ruby")
        words = [*make.sentence(6, 9).split(" "), first, "and", second, *make.sentence(6, 9).lower().split(" ")]
        row["texts"] = [" ".join(words)]
    report = audit(build(rows, perturbation=True))
    assert {report.finding(check).status for check in ("edges", "words")} == {Status.FAILED}
    assert report.finding("edges").measured > 0.95
    assert report.finding("token").status is Status.PASSED


def test_the_number_of_tokens_in_bins(make, build):
    """SentLen: bins of length, which no single line divides."""
    rows = make.rows(_N, 2, 1)
    for row in rows:
        n = make.source.choice([9, 10, 11] if row["label"] else [5, 6, 7, 13, 14, 15])
        row["texts"] = [make.sentence(n, n).replace(",", "")]
    finding = audit(build(rows)).finding("length")
    assert (finding.status, finding.detail) == (Status.FAILED, "decision tree")
    assert finding.measured > 0.95
    assert finding.tried["logistic regression"] < finding.measured


def test_a_text_unlike_the_others(make, build):
    """DC: the intruder in the middle is of another topic, told by pieces of words."""
    rows = make.rows(_N, 2, 5)
    for at, row in enumerate(rows):
        row["texts"] = [f"{text[:-1]} topic{at}{make.source.choice('abcdefgh')}." for text in row["texts"]]
        if row["label"]:
            row["texts"][2] = make.sentence(7, 21)
    finding = audit(build(rows, shape=Shape.SEQUENCE)).finding("similarity")
    assert (finding.status, finding.measured > 0.8) == (Status.FAILED, True)


def test_the_label_s_word_in_the_text(make, build):
    rows = make.rows(_N, 3, 1)
    for row in rows:
        row["texts"] = [f"{row['texts'][0][:-1]} Label{row['label']}."]
    finding = audit(build(rows, k=3)).finding("label-word")
    assert (finding.status, finding.measured) == (Status.NOTED, 1.0)


@pytest.mark.parametrize("planted", [True, False], ids=["planted", "clean"])
def test_pairs_show_what_single_rows_hide(make, build, planted):
    """A word is lost in the edited member: rows differ in length by far more than their pairs do."""
    rows = []
    for split, n in (("train", 300), ("validation", 100), ("test", 100)):
        for at in range(n):
            text = make.sentence(5, 30)
            words = text.split(" ")
            other = " ".join(words[:2] + words[3:]) if planted and at % 10 < 8 else text[::-1]
            rows += [
                {"split": split, "pair_id": f"{split}{at}", "label": 0, "texts": [text]},
                {"split": split, "pair_id": f"{split}{at}", "label": 1, "texts": [other]},
            ]
    if not planted:
        for first, second in zip(rows[::2], rows[1::2], strict=True):
            second["texts"] = [make.sentence(5, 30)]
            first["texts"] = [make.sentence(5, 30)]
    report = audit(build(rows, pairs=True))
    finding = report.finding("pairwise")
    assert finding.status is (Status.FAILED if planted else Status.PASSED)
    assert (finding.n, finding.baseline, finding.threshold) == (500, 0.5, 0.6)
    assert report.finding("length").gain < 0.1


def test_one_class_in_test_is_said(make, build):
    rows = [row | {"label": 0} if row["split"] == "test" else row for row in make.rows(6000, 2, 1)]
    report = audit(build(rows))
    assert report.notes == ("no shortcut was measured: test holds one class only (label0)",)
    assert {finding.status for finding in report.findings if finding.kind == "shortcut"} == {Status.SKIPPED}


def test_no_cluster_is_in_two_parts(make, build):
    """Data of one split are cross-validated in parts that keep groups and pairs together."""
    from discoprobe.builders.audit.solvers.problem import problem_of  # noqa: PLC0415

    rows = [row | {"split": "test", "group": f"g{at // 4}"} for at, row in enumerate(make.rows(300, 2, 1))]
    problem, _ = problem_of(build(rows))
    assert len(problem.folds) == 5
    groups = problem.units.clusterings[1]
    for fold in problem.folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])
    assert sorted(problem.measured) == list(range(300))


def test_a_solver_names_the_rows_that_it_is_surest_of(make, build):
    """Twenty, the surest first, and none that it got wrong; a row with five of the words is surer than one with one."""
    rows = make.rows(_N, 2, 1)
    for at, row in enumerate(rows):
        words = [f"word{row['label']}"] * (1 + (at // 2 % 40 == 0) * 6)
        row["texts"] = [" ".join([*words, *make.sentence(6, 9).split(" ")])]
    data = build(rows)
    named = audit(data).finding("words").rows
    assert len(set(named)) == 20
    sure = set(data.rows.filter(pl.col("texts").list.first().str.count_matches(r"word\d") == 7)["id"])
    assert sure >= set(named[: min(20, len(sure))])
