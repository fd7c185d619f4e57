"""The verdict on the configs of a release."""

from __future__ import annotations

import importlib.resources
import json
import re
from types import SimpleNamespace

import msgspec
import pytest
from releases import config, report

from discoprobe.builders.audit import (
    CUE,
    NOT_AUDITED,
    VERDICTS,
    Figure,
    Finding,
    Groups,
    Kind,
    Severity,
    Status,
    Verdict,
    exact,
    smallest_gain,
    tallies,
)
from discoprobe.builders.audit.thresholds import BY_ID, KNOWN_AS
from discoprobe.cards.metadata import audit_entry, manifest
from discoprobe.cards.metadata.manifest import Audited
from discoprobe.cards.release import open_release
from discoprobe.cards.review import read_card
from discoprobe.cards.text import ABOVE, BELOW, OPEN, UNMEASURED, card, markdown
from discoprobe.cards.text.verdicts import (
    TASK,
    best_advised,
    closest_designs,
    kind_of,
    line_of,
    meanings,
    recorded_designs,
    verdict_of,
    verdicts,
    word_of,
)

LANGUAGES = [f"q{letter}" for letter in "abcdefghijklmnopqrst"]


def _finding(accuracy, n=60, check="length", threshold=0.52, tried=None):
    interval = exact(n * accuracy, n)
    status = Figure("accuracy", accuracy, 0.5, threshold, interval).outcome
    return Finding(
        check, Kind.SHORTCUT, Severity.ERROR, status, accuracy, threshold, 0.5, interval, n, independent=float(n),
        tried=tried or {}, resolution=smallest_gain(0.5, n), cost=2 * (accuracy - 0.5),
    )  # fmt: skip


def _report(made, accuracy, n=60, **more):
    return msgspec.structs.replace(report(made), findings=(_finding(accuracy, n, **more),))


def _audits(*accuracies, **more):
    names = [f"so_{LANGUAGES[at]}" for at in range(len(accuracies))]
    return {
        name: audit_entry(_report(config("so", name[3:]), accuracy, **more))
        for name, accuracy in zip(names, accuracies, strict=True)
    }


def _verdicts(audits, task="so"):
    found = verdicts({name: Audited(task=task, audit=audit) for name, audit in audits.items()})
    assert list(found) == list(audits)
    assert {verdict.word for verdict in found.values()} <= set(VERDICTS)
    return found


def test_a_small_config_is_open_with_the_smallest_gain_that_it_could_have_shown():
    (verdict,) = _verdicts(_audits(0.5)).values()
    assert (verdict.word, verdict.resolution) == (OPEN, pytest.approx(0.1343, abs=1e-4))
    assert verdict.text == (
        "Open, which is no failure: too few rows to decide 1 of the 1 solvers that have a threshold; closest to fail: "
        "length accuracy 0.500 [0.368, 0.632] (threshold 0.520). About 110 rows would decide. With so few rows, a "
        "gain of less than 0.13 over the majority baseline could be chance."
    )


def test_a_large_config_is_below():
    (verdict,) = _verdicts(_audits(0.5, n=10_000)).values()
    assert (verdict.word, verdict.advice) == (BELOW, "yes")
    assert verdict.text.startswith("Below: 1 solver is below its threshold. No solver is better than the majority")


@pytest.mark.parametrize(
    ("accuracy", "n", "word", "grade"),
    [
        (0.5, 10_000, BELOW, ""),
        (0.525, 10_000, OPEN, ""),
        (0.525, 100, OPEN, ""),
        (0.54, 10_000, ABOVE, "serious"),
        (0.99, 10_000, ABOVE, "fatal"),
    ],
)
def test_the_three_outcomes_of_a_figure(accuracy, n, word, grade):
    (verdict,) = _verdicts(_audits(accuracy, n=n)).values()
    assert (verdict.word, verdict.grade) == (word, grade)


def _verdict_with(**more):
    made = report(config())
    return verdict_of(
        msgspec.structs.replace(made, findings=(_finding(0.5, 10_000), _finding(0.7, 400, "edges", None)), **more)
    )


def test_a_solver_that_does_not_count_is_named_with_the_reason():
    own, external = _verdict_with(), _verdict_with(external=True)
    assert (own.word, external.word) == (BELOW, BELOW)
    assert "edges alone reach 0.700 (majority baseline 0.500). That is no fault in a task about words" in own.text
    assert "--edited" not in own.text
    assert "with --edited it would be" in external.text
    assert own.remark.startswith("edges has no threshold here")


def test_an_exemption_is_named_and_marked():
    exempt = msgspec.structs.replace(_finding(0.95, 400), status=Status.EXEMPT, reason="length is the label")
    verdict = verdict_of(msgspec.structs.replace(report(config()), findings=(exempt, _finding(0.5, 10_000, "overlap"))))
    assert (verdict.word, kind_of(verdict.advice), verdict.exempt) == (BELOW, TASK, ("length",))
    assert "length 0.950 (majority baseline 0.500); the task is exempt: length is the label." in verdict.text
    assert verdict.remark.startswith("exempt from length")


def test_what_was_not_measured_is_never_below():
    nothing = Finding(
        "length", Kind.SHORTCUT, Severity.ERROR, Status.UNMEASURED, detail="test holds one class only (a)"
    )
    verdict = verdict_of(msgspec.structs.replace(report(config()), findings=(nothing,)))
    assert (verdict.word, verdict.advice) == (UNMEASURED, UNMEASURED)
    assert verdict.text == "Not measured: test holds one class only (a)."
    assert verdict_of(msgspec.structs.replace(report(config()), findings=())).word == UNMEASURED


def test_the_figure_that_fails_is_the_one_that_is_named():
    """Accuracy is below and macro-F1 above: naming the accuracy would contradict the word."""
    macro = Figure("macro-F1", 0.41, 0.228, 0.278, (0.33, 0.49))
    finding = msgspec.structs.replace(_finding(0.245, 500, "case", 0.278), status=Status.ABOVE, macro_f1=macro)
    verdict = verdict_of(msgspec.structs.replace(report(config()), findings=(finding,)))
    assert "case macro-F1 0.410 [0.330, 0.490] (threshold 0.278)" in verdict.text
    assert "0.245" not in verdict.text


@pytest.mark.parametrize(
    ("rows", "of", "grade"), [(2, 2623, "minor"), (60, 2623, "serious"), (2000, 2623, "fatal"), (1, 2, "serious")]
)
def test_faulty_rows_are_graded_by_their_share(rows, of, grade):
    finding = Finding("dup-within", Kind.INTEGRITY, Severity.ERROR, Status.ABOVE, rows, 0, n=of, cost=rows / of)
    verdict = verdict_of(msgspec.structs.replace(report(config()), findings=(finding,)))
    assert (verdict.word, verdict.grade) == (ABOVE, grade)
    assert verdict.text == (
        f"{grade.capitalize()}: {rows:,} row{'s' * (rows > 1)} (of {of:,}) whose input occurs more than once in their "
        "split (dup-within). Without these rows this fault would be gone."
    )
    assert verdict.is_minor is (grade == "minor")


def _leak(check, cost, dropped=0.0):
    return Finding(
        check, Kind.INTEGRITY, Severity.ERROR, Status.ABOVE, round(1000 * cost), 0, n=1000, cost=cost, dropped=dropped
    )


@pytest.mark.parametrize(
    ("findings", "remedy"),
    [
        ([_leak("dup-across", 0.01)], "These rows can be taken out with `build import … --drop-leaks`."),
        ([_leak("dup-within", 0.5)], "These rows can be taken out with `build import … --drop-leaks`."),
        ([_leak("near-dup", 0.5, 0.02)], "These rows can be taken out with `build import … --drop-leaks`."),
        ([_leak("near-dup", 0.01, 0.5)], "`build import … --regroup` divides all rows again"),
        ([_leak("label-conflict", 0.01)], "Without these rows this fault would be gone."),
        ([_leak("dup-across", 0.01), _finding(0.9, 400)], "The rows of dup-across can be taken out with `build"),
        ([_leak("unperturbed", 0.01), _finding(0.9, 400)], "Without the rows of unperturbed this fault"),
        ([_leak("split-equal", 1.0)], ""),
    ],
)
def test_how_faulty_rows_can_be_taken_out(findings, remedy):
    made = msgspec.structs.replace(report(config()), findings=tuple(findings), external=remedy != "")
    text = verdict_of(made).text
    assert remedy in text if remedy else "rows" not in text


def test_a_minor_fault_beside_a_serious_one_is_not_minor():
    made = msgspec.structs.replace(report(config()), findings=(_leak("dup-within", 0.01), _finding(0.9, 400)))
    assert not verdict_of(made).is_minor


def test_what_a_solver_reads_is_said_with_its_cue():
    cue = "blank at the end (U+0020 SPACE) → edited: covers 0.400, right 0.950"
    above = msgspec.structs.replace(_finding(0.9, 400, "surface", 0.55), detail=cue)
    text = verdict_of(msgspec.structs.replace(report(config()), findings=(above,))).text
    assert "What surface is: logistic regression on white space" in text
    assert f"here {cue}." in text


@pytest.mark.parametrize(("accuracy", "is_said"), [(0.5, False), (0.9, True)])
def test_what_no_model_reads_is_a_clause_of_its_own(accuracy, is_said):
    column = msgspec.structs.replace(_finding(accuracy, 400, "metadata", None), detail="votes", severity=Severity.NOTE)
    made = msgspec.structs.replace(report(config()), findings=(_finding(0.52, 10_000), column), external=True)
    verdict = verdict_of(made)
    said = f"Beside the texts, where no model looks: metadata (column votes) {accuracy:.3f} (majority baseline 0.500)."
    assert (said in verdict.text) is is_said
    assert audit_entry(made).strongest == "length"
    assert "metadata" not in verdict.remark


def test_no_solver_better_than_the_baseline_is_said_so():
    made = msgspec.structs.replace(
        report(config()), findings=(_finding(0.5, 10_000), _finding(0.48, 400, "edges", None))
    )
    assert "No solver is better than the majority baseline (0.500)." in verdict_of(made).text


def test_other_languages_pass_nothing_and_change_no_resolution():
    alone, together = _verdicts(_audits(0.5)), _verdicts(_audits(*[0.5] * 20))
    assert set(together.values()) == set(alone.values())


def test_a_design_with_a_shortcut_fails_in_every_language_though_no_config_shows_it():
    found = _verdicts(_audits(*[0.62] * 20))
    assert {(one.word, one.checks, one.of_design) for one in found.values()} == {(ABOVE, ("length",), True)}


def test_a_design_needs_several_configs_and_one_task():
    audits = _audits(*[0.62] * 20)
    apart = {name: Audited(task=name, audit=audit) for name, audit in audits.items()}
    assert {one.word for one in verdicts(apart).values()} == {OPEN}
    assert {one.word for one in _verdicts(audits, task="").values()} == {OPEN}


def test_one_bad_config_is_no_design():
    found = list(_verdicts(_audits(0.95, *[0.52] * 9)).values())
    assert (found[0].word, {one.word for one in found[1:]}) == (ABOVE, {OPEN})


def test_a_task_is_not_judged_by_what_it_is_exempt_from():
    audits = _audits(*[0.62] * 20)
    next(iter(audits.values())).exempt = ["length"]
    assert {one.word for one in _verdicts(audits).values()} == {OPEN}


def test_the_card_of_a_config_quotes_the_record_of_its_task_and_no_other_config(monkeypatch):
    """What is recorded of the treebanks stays the same, whatever else is in a release."""
    audits = {name: Audited(task="so", audit=audit) for name, audit in _audits(*[0.55] * 20).items()}
    designs = closest_designs(audits)
    assert (designs["so"].configs, designs["so"].n, designs["so"].measured) == (20, 1200, 0.55)
    text = json.dumps({task: msgspec.to_builtins(design) for task, design in designs.items()})
    monkeypatch.setattr(importlib.resources, "files", lambda _: SimpleNamespace(
        joinpath=lambda _: SimpleNamespace(read_bytes=text.encode)))  # fmt: skip
    assert recorded_designs.__wrapped__() == designs
    monkeypatch.undo()
    monkeypatch.setattr(card, "recorded_designs", lambda: designs)
    made = config("so", "es")
    quoted = " ".join(card.config_card(made, report(made)).split())
    assert "In 20 configs of `so` from the treebanks" in quoted
    assert re.search(
        r"\(1,200 rows\), the check closest to fail is length: 0\.550 \S+, threshold 0\.520, which is", quoted
    )
    other = config("dc", "es")
    assert "In 20 configs" not in card.config_card(other, report(other))


def test_each_solver_is_added_up_before_the_best_is_chosen():
    """Of two solvers each config has another best one by chance."""
    lucky = [{"a": 0.62, "b": 0.4}, {"a": 0.4, "b": 0.62}] * 10
    audits = {}
    for lang, tried in zip(LANGUAGES, lucky, strict=True):
        audits[f"so_{lang}"] = audit_entry(_report(config("so", lang), 0.62, tried=tried))
    assert {one.word for one in _verdicts(audits).values()} == {OPEN}


def test_what_failed_by_itself_stays_so_and_what_was_not_audited_too():
    audits = _audits(0.5, 0.95) | {"so_none": None}
    found = _verdicts(audits)
    assert [(one.word, one.checks) for one in found.values()] == [
        (OPEN, ()),
        (ABOVE, ("length",)),
        (NOT_AUDITED, ()),
    ]
    assert found["so_qb"].faults == "fatal: length accuracy 0.950 [0.861, 0.990] (threshold 0.520)"


def test_pairs_do_not_count_for_the_resolution():
    made = report(config())
    few = msgspec.structs.replace(
        made, findings=(_finding(0.5, 400), _finding(0.5, 20, check="pairwise", threshold=0.6))
    )
    assert few.resolution == smallest_gain(0.5, 400)
    assert set(tallies(few)) == {"length", "pairwise"}


def _release(folder, accuracies, *, task="bso", leave_out=True):
    with open_release(folder) as release:
        for lang, accuracy in accuracies.items():
            made = config(task, lang)
            release.add(made, _report(made, accuracy), "inputs")
        left_out = release.leave_out_failed() if leave_out else []
        release.finish()
    return left_out, manifest.read(folder)


def test_a_design_that_fails_is_left_out_of_a_release_in_every_language(tmp_path):
    _release(tmp_path / "out", {"xx": 0.5}, task="dc")  # a release of nothing else would not be written
    left_out, found = _release(tmp_path / "out", dict.fromkeys(LANGUAGES, 0.62))
    assert [one.name for one in left_out] == [f"bso_{lang}" for lang in LANGUAGES]
    assert set(found.configs) == {"dc_xx"}
    assert set(found.unavailable.values()) == {"the audit failed with the rows of all languages of the task: length"}
    assert set(found.inputs) == {"dc_xx"}, "the rows of other languages decide: they are built again"
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith("bso_")]


def test_configs_of_earlier_runs_are_left_out_too(tmp_path):
    _release(tmp_path / "out", {"qa": 0.95}, leave_out=False)
    left_out, found = _release(tmp_path / "out", {"qb": 0.5}, task="so")
    assert [one.name for one in left_out] == ["bso_qa"]
    assert set(found.configs) == {"so_qb"}
    assert found.unavailable == {
        "bso_qa": "the audit failed: fatal: length accuracy 0.950 [0.861, 0.990] (threshold 0.520)"
    }


@pytest.mark.parametrize(("accuracy", "word"), [(0.5, OPEN), (0.62, ABOVE), (0.95, ABOVE)])
def test_a_config_s_card_and_the_release_s_print_the_same_verdict(tmp_path, accuracy, word):
    """At .62 no config fails by itself, but the task does: what was written before the others were known is renewed."""
    _, found = _release(tmp_path / "out", dict.fromkeys(LANGUAGES, accuracy), leave_out=False)
    release = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    (advice,) = {verdict.advice for verdict in verdicts(found.configs).values()}
    assert f"Use it? 20 {word_of(advice)}." in release
    for name, verdict in verdicts(found.configs).items():
        lines = re.findall(r"^Audit: .*$", read_card(tmp_path / "out", name), re.MULTILINE)
        once, text = word.capitalize(), markdown(verdict.text)
        told = text.removeprefix(once) if text.startswith(once) else f". {text}"
        assert lines == [f"Audit: **{once}**{told}"]
        assert once not in told
        advice = advice.replace(" ", "\u00a0")
        assert f"\u00a0{advice}](cards/{found.configs[name].lang}.md#{name})" in release
    for path in (tmp_path / "out" / "cards").iterdir():
        assert found.files[f"cards/{path.name}"].bytes == path.stat().st_size


@pytest.mark.parametrize(("accuracy", "cells"), [(0.5, "length +.000 | – | –"), (0.62, "– | – | length +.120")])
def test_the_table_of_designs(tmp_path, accuracy, cells):
    _release(tmp_path / "out", dict.fromkeys(LANGUAGES, accuracy), leave_out=False)
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert f"\n| `bso` | 20 | 1,200 rows | {cells} |\n" in card


def test_a_check_that_was_not_measured_is_named_beside_the_others():
    few = msgspec.structs.replace(_finding(0.6, 8, "pairwise"), status=Status.UNMEASURED, detail="8 groups are too few")
    made = msgspec.structs.replace(report(config()), findings=(_finding(0.5, 10_000), few))
    assert verdict_of(made).text.startswith("Below: 1 solver is below its threshold.")
    assert "Not measured: pairwise." in verdict_of(made).text
    checks = [msgspec.structs.replace(few, check=check) for check in ("chars", "words", "edges", "overlap", "pairwise")]
    made = msgspec.structs.replace(made, findings=(_finding(0.5, 10_000), *checks))
    assert "Not measured: chars, words, edges and 2 more." in verdict_of(made).text


@pytest.mark.parametrize(("check", "words"), [("altered-dup", "that lacks"), ("paraphrase", "that has most words of")])
def test_copies_in_data_of_others_are_named_although_they_are_only_noted(check, words):
    copies = Finding(check, Kind.INTEGRITY, Severity.NOTE, Status.NOTED, 0.308, 0.02, n=498, cost=0.308)
    made = msgspec.structs.replace(report(config()), findings=(copies, _finding(0.5, 10_000)), external=True)
    said = verdict_of(made).text
    assert "30.8% of 498 rows with a sentence" in said
    assert words in said
    other = {"altered-dup": "paraphrase", "paraphrase": "altered-dup"}[check]
    less = msgspec.structs.replace(copies, check=other, measured=0.1)
    assert verdict_of(msgspec.structs.replace(made, findings=(less, *made.findings))).text == said
    fewer = msgspec.structs.replace(copies, status=Status.BELOW)
    assert (
        "earlier split" not in verdict_of(msgspec.structs.replace(made, findings=(fewer, _finding(0.5, 10_000)))).text
    )


def test_one_word_that_decides_the_label_is_a_cue_in_data_of_others():
    token = msgspec.structs.replace(
        _finding(1.0, 1200, "token", None), detail="'Well' is the first word → yes", cost=1.0
    )
    made = msgspec.structs.replace(report(config()), findings=(_finding(0.55, 200), token))
    verdict = verdict_of(msgspec.structs.replace(made, external=True))
    assert (verdict.word, verdict.checks, verdict.advice) == (CUE, ("token",), "cue: one word")
    assert verdict.text.startswith(
        "Cue: 'Well' is the first word → yes. This alone reaches 1.000 (token; majority baseline 0.500). If the labels "
        "are about this, say so with --expected words; if not, do not use these data. Too few rows to decide 1 of the "
        "1 solvers"
    )
    expected = verdict_of(msgspec.structs.replace(made, external=True, expected=("token", "words")))
    assert (expected.word, expected.advice) == (OPEN, "beat 100%")
    assert "Open, which is no failure" in verdict_of(made).text
    repeated = Finding("dup-within", Kind.INTEGRITY, Severity.ERROR, Status.ABOVE, 1, 0, n=600, cost=1 / 600)
    with_fault = msgspec.structs.replace(made, findings=(repeated, *made.findings), external=True)
    assert verdict_of(with_fault).word == CUE  # a minor fault does not hide it
    serious = msgspec.structs.replace(repeated, measured=100, cost=1 / 6)
    with_fault = msgspec.structs.replace(made, findings=(serious, *made.findings), external=True)
    assert (verdict_of(with_fault).word, verdict_of(with_fault).advice) == (ABOVE, "no: repeated rows")


PAIRS_OF_FEW_ROWS = msgspec.structs.replace(
    _finding(0.828, 29, "pairwise", 0.6), interval=(0.488, 0.981), status=Status.OPEN, detail="edges"
)
"""Of a suite of 29 pairs: 33 points better than chance, and the interval of the best of 16 holds the threshold."""


@pytest.mark.parametrize(
    ("findings", "trick", "advice"),
    [
        ([_finding(0.5, 10_000)], "", "yes"),
        ([_finding(0.5, 10_000), _finding(0.731, 400, "chars", None)], "spelling 73%", "beat 73%"),
        ([_finding(0.5, 10_000), _finding(0.731, 300, "chars", None)], "spelling 73%", "beat 73% ±6"),
        ([_finding(0.5, 10_000), _finding(0.51, 400, "chars", None)], "spelling 51%", "yes"),
        ([_finding(0.54, 100)], "length 54%", "careful ±11"),
        ([_finding(0.54, 100), _finding(0.857, 400, "chars", None)], "spelling 86%", "beat 86%"),
        ([_finding(0.54, 100), _finding(0.62, 400, "chars", None)], "spelling 62%", "beat 62%"),
        ([_finding(0.54, 100), _finding(0.55, 400, "chars", None)], "spelling 55%", "careful ±11"),
        ([_finding(0.54, 60, "words", 0.6)], "words 54%", "careful ±14"),
        ([_finding(0.54, 60, "case", 0.9)], "capitals 54%", "yes ±14"),
        ([PAIRS_OF_FEW_ROWS, _finding(0.55, 60)], "pairs by first/last words 83%", "beat 83% ±25"),
        ([_finding(0.54, 100, "row-order"), _finding(0.62, 400, "chars", None)], "spelling 62%", "beat 62%"),
        ([_finding(0.63, 10_000)], "length 63%", "no: length"),
        ([_finding(0.63, 10_000), _finding(0.9, 400, "chars", None)], "length 63%", "no: length"),
        ([msgspec.structs.replace(_finding(0.5, 60), status=Status.UNMEASURED, resolution=None)], "", "not measured"),
        (
            [_finding(0.5, 10_000, "overlap"), msgspec.structs.replace(_finding(0.95, 400), status=Status.EXEMPT)],
            "length 95%",
            "yes (task)",
        ),
        ([msgspec.structs.replace(_finding(0.9, 60), status=Status.EXEMPT)], "length 90%", "yes (task) ±9"),
    ],
)
def test_advice_is_a_function_of_the_report(findings, trick, advice):
    verdict = verdict_of(msgspec.structs.replace(report(config()), findings=tuple(findings)))
    assert (verdict.chance, verdict.trick, verdict.advice) == ("50%", trick, advice)


CUE_OF_WORDS = msgspec.structs.replace(_finding(0.9, 400, "words", None), cost=0.8)
ALTERED = Finding("altered-dup", Kind.INTEGRITY, Severity.NOTE, Status.NOTED, 0.5, 0.01, n=2000, cost=0.5)
"""Rows of test are those of train with a word changed, which a cue may be from."""


def _rows_of(check, share, n=2000, **more):
    return Finding(check, Kind.INTEGRITY, Severity.ERROR, Status.ABOVE, round(share * n), 0, n=n, cost=share, **more)


@pytest.mark.parametrize(
    ("faults", "advice"),
    [
        ([_rows_of("near-dup", 0.021)], "careful: near copies 2%"),
        ([_rows_of("near-dup", 0.021), _rows_of("dup-within", 0.08)], "careful: repeated rows 8%"),
        ([_rows_of("near-dup", 0.021), _rows_of("dup-within", 0.01)], "careful: near copies 2%"),
        ([_rows_of("near-dup", 0.11)], "no: near copies"),
        ([_rows_of("near-dup", 0.03), _rows_of("label-set", 0.03)], "no: near copies"),
        ([_rows_of("near-dup", 0.03, dropped=0.3)], "no: near copies"),
        ([_rows_of("near-dup", 0.01)], "yes"),
        ([_rows_of("near-dup", 0.03), _finding(0.63, 10_000)], "no: length"),
        ([_rows_of("near-dup", 0.03), _finding(0.7, 400, "words", None)], "careful: near copies 3%"),
        ([_rows_of("near-dup", 0.03), CUE_OF_WORDS], "careful: near copies 3%"),
        ([_rows_of("near-dup", 0.03), CUE_OF_WORDS, ALTERED], "no: near copies"),
    ],
)
def test_few_rows_that_can_be_left_out_are_no_reason_against_the_data(faults, advice):
    made = msgspec.structs.replace(report(config()), findings=(*faults, _finding(0.5, 10_000, "overlap")))
    verdict = verdict_of(msgspec.structs.replace(made, external=True))
    assert (verdict.word, verdict.advice) == (ABOVE, advice)


@pytest.mark.parametrize(
    ("groups", "advice"),
    [
        (Groups("documents", 5, 324, 188, 2.5), "careful: 5 documents"),
        (Groups("documents", 60, 324, 12, 5.2), "careful: 60 documents"),
        (Groups("documents", 8, 324, 60, 6.5), "beat 73%"),
        (None, "beat 73%"),
    ],
)
def test_a_test_of_few_documents_is_said(groups, advice):
    findings = (_finding(0.5, 10_000), _finding(0.731, 400, "chars", None))
    verdict = verdict_of(msgspec.structs.replace(report(config()), findings=findings, groups=groups))
    assert verdict.advice == advice
    assert ("of them: they count as" in verdict.text) == advice.startswith("careful")


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([_finding(0.54, 200)], "(threshold 0.520). About 2,600 rows would decide. With so few rows"),
        ([_finding(0.56, 100), _finding(0.53, 100, "case", 0.55)], "About 670 rows would decide."),
        ([_finding(0.599, 400, "chars", 0.6)], "threshold 0.600). With so few rows"),
    ],
)
def test_an_open_verdict_says_how_many_rows_would_decide(findings, said):
    verdict = verdict_of(msgspec.structs.replace(report(config()), findings=tuple(findings)))
    assert verdict.word == OPEN
    assert said in verdict.text


def test_pairs_are_two_rows_each():
    found = _finding(0.54, 200, "pairwise", 0.6)
    assert found.interval[1] > 0.6
    made = msgspec.structs.replace(report(config()), findings=(found,))
    wanted = 200 * 2 * ((found.interval[1] - 0.54) / 0.06) ** 2
    assert wanted <= made.deciding_rows <= 1.1 * wanted
    enough = msgspec.structs.replace(made, counts={"train": 9000, "test": 1000})
    assert enough.deciding_rows is None  # they are there, and were not all measured


def test_every_check_has_a_name_that_people_know():
    assert list(KNOWN_AS) == list(BY_ID)
    assert len(set(KNOWN_AS.values())) == len(KNOWN_AS)


def test_rows_are_given_in_thousands_from_ten_thousand_on_and_splits_that_are_missing_are_shown():
    rows = {"train": 43_108, "validation": 9_999, "test": 10_000}
    line = line_of("zwar", rows, Verdict("below", advice="yes"))
    assert (line.task, line.rows, line.advice) == ("zwar", "43k/9999/10k", "yes")
    assert line_of("suite", {"test": 42}, Verdict("open")).rows == "-/-/42"
    assert line_of("two", {"train": 9, "test": 4}, Verdict("open")).rows == "9/-/4"
    assert meanings([line]) == []


@pytest.mark.parametrize(
    ("advice", "said"),
    [
        ("careful ±9", ["careful ±: too few rows", "±: points of accuracy"]),
        ("careful: near copies 2%", ["careful, with %: so many rows"]),
        ("careful: 5 documents", ["careful, with a number: test"]),
        ("beat 73% ±9", ["beat: a model has to do better", "±: points of accuracy"]),
        ("beat 73%", ["beat: a model has to do better"]),
        ("yes ±6", ["±: points of accuracy"]),
        ("yes (task) ±9", ["(task): ", "±: points of accuracy"]),
        ("no: length", ["no: "]),
        ("not measured", ["not measured: "]),
    ],
)
def test_the_meaning_of_an_advice_is_said_below_the_table(advice, said):
    line = line_of("x", {"test": 100}, Verdict("open", advice=advice))
    sentences = meanings([line])
    assert len(sentences) == len(said)
    assert all(sentence.startswith(start) for sentence, start in zip(sentences, said, strict=True))


def test_a_trick_says_what_it_compares_and_which_text_it_reads():
    for check, detail, trick in (
        ("pairwise", "length", "pairs by length 70%"),
        ("single", "words of text 2", "text 2 alone 70%"),
        ("single", "the candidate without its context, words", "one text alone 70%"),
    ):
        finding = msgspec.structs.replace(_finding(0.7, 400, check, None), detail=detail)
        made = msgspec.structs.replace(report(config()), findings=(_finding(0.5, 10_000), finding))
        assert verdict_of(made).trick == trick


@pytest.mark.parametrize(
    ("advices", "best"),
    [
        ({"dc_es": "careful ±18", "so_es": "beat 61% ±9", "bso_es": "beat 57%"}, "bso_es"),
        ({"dc_es": "no: length", "so_es": "careful ±9", "bso_es": "not measured"}, "so_es"),
        ({"dc_es": "yes ±7", "so_es": "yes (task)", "bso_es": "beat 57%"}, "dc_es"),
        ({"dc_es": "not audited", "so_es": "cue: one word"}, "so_es"),
        ({"dc_es": "yes", "dc_en": "yes"}, "dc_en"),
        ({"dc_en": "careful ±9", "dc_es": "yes"}, "dc_es"),
        ({}, ""),
    ],
)
def test_examples_load_the_config_with_the_best_advice(advices, best):
    rows = {"dc": 300, "so": 200, "bso": 500}
    entries = {name: SimpleNamespace(lang=name[-2:], counts={"test": {"a": rows[name[:-3]]}}) for name in advices}
    assert best_advised(entries, {name: Verdict("open", advice=advice) for name, advice in advices.items()}) == best
