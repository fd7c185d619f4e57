"""The verdict on the configs of a release."""

from __future__ import annotations

import dataclasses

from releases import config, report

from discoprobe.builders.audit.limits import Kind, Severity
from discoprobe.builders.audit.report import Finding, Status
from discoprobe.builders.audit.stats import wilson
from discoprobe.cards import manifest
from discoprobe.cards.release import open_release
from discoprobe.cards.verdicts import FAILED, MARKS, NOT_AUDITED, PASSED, UNDECIDED, WITH_TASK, of_audits, verdicts


def _audit(accuracy=0.5, n=60, undecided=("length",), failed=()):
    tally = {
        "n": n, "independent": float(n), "baseline": n / 2, "limit": 0.52 * n, "correct": {"length": accuracy * n},
    }  # fmt: skip
    return {
        "failed": list(failed), "undecided": list(undecided), "majority": 0.5, "strongest": None, "accuracy": None,
        "lift": None, "tallies": {"length": tally},
    }  # fmt: skip


def _words(audits, task="so"):
    said = of_audits(audits, dict.fromkeys(audits, task))
    assert list(said) == list(audits)
    assert {one.word for one in said.values()} <= set(MARKS)
    return said


def test_what_a_config_leaves_open_its_task_decides():
    audits = {f"so_{i}": _audit() for i in range(20)}
    audits["so_sure"] = _audit(undecided=())
    said = _words(audits)
    assert said["so_0"] == (WITH_TASK, ())
    assert said["so_sure"] == (PASSED, ())


def test_another_tasks_configs_decide_nothing():
    audits = {f"so_{i}": _audit() for i in range(20)}
    said = of_audits(audits, {name: name for name in audits})
    assert set(said.values()) == {(UNDECIDED, ("length",))}


def test_a_check_that_no_other_config_has_stays_open():
    audits = {f"so_{i}": _audit() for i in range(20)}
    audits["so_0"] = _audit(undecided=("length", "overlap"))
    assert _words(audits)["so_0"] == (UNDECIDED, ("overlap",))


def test_a_design_with_a_shortcut_fails_though_no_config_shows_it():
    said = _words({f"so_{i}": _audit(0.64) for i in range(20)})
    assert set(said.values()) == {(FAILED, ("length",))}


def test_what_failed_by_itself_stays_so_and_what_was_not_audited_too():
    audits = {f"so_{i}": _audit() for i in range(20)}
    audits |= {"so_bad": _audit(failed=("order",)), "so_none": None}
    said = _words(audits)
    assert said["so_bad"] == (FAILED, ("order",))
    assert said["so_none"] == (NOT_AUDITED, ())
    assert said["so_0"].word == WITH_TASK


LANGUAGES = [f"q{letter}" for letter in "abcdefghijklmnopqrst"]


def _report(made, accuracy, n=60):
    """Length was measured on a few rows, which leave it open."""
    finding = Finding(
        "length", Kind.SHORTCUT, Severity.ERROR, Status.UNDECIDED, accuracy, 0.52, 0.5,
        wilson(n * accuracy, n), n, independent=float(n),
    )  # fmt: skip
    return dataclasses.replace(report(made), findings=(finding,))


def _release(folder, accuracies, leave_out, task="bso"):
    with open_release(folder) as release:
        for lang, accuracy in accuracies.items():
            made = config(task, lang)
            release.add(made, _report(made, accuracy), "inputs")
        left = release.leave_out(leave_out)
        release.finish()
    return left, manifest.read(folder)


def test_a_design_that_fails_is_left_out_of_a_release_whole(tmp_path):
    left, found = _release(tmp_path / "out", dict.fromkeys(LANGUAGES, 0.64), {FAILED})
    assert [one.name for one in left] == [f"bso_{lang}" for lang in LANGUAGES]
    assert not found["configs"]
    assert set(found["unavailable"].values()) == {"the audit failed with the rows of all languages of the task: length"}
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith("bso_")]


def test_what_is_left_open_is_left_out_only_if_asked(tmp_path):
    few = dict.fromkeys(LANGUAGES[:2], 0.5)
    assert _release(tmp_path / "kept", few, {FAILED})[0] == []
    left, found = _release(tmp_path / "left", few, {FAILED, UNDECIDED})
    assert {one.reason for one in left} == {"there are too few rows to decide on length"}
    assert not found["configs"]
    assert not found.get("inputs"), "with more languages they may be decided: they are built again"


def test_what_stays_is_decided_by_what_stays(tmp_path):
    """Four small configs are decided by a large one; it is left open in another check, goes, and takes them along."""
    large = config("bso", "qz")
    known = _report(large, 0.5, n=3000)
    (length,) = known.findings
    other = dataclasses.replace(length, check="overlap", limit=0.55, n=20, independent=20.0)
    with open_release(tmp_path / "out") as release:
        for lang in LANGUAGES[:4]:
            release.add(config("bso", lang), _report(config("bso", lang), 0.5))
        release.add(large, dataclasses.replace(known, findings=(length, other)))
        before = {name: said.word for name, said in verdicts(release.finish()["configs"]).items()}
        left = release.leave_out({UNDECIDED})
        assert not release.finish()["configs"]
    assert before == dict.fromkeys([f"bso_{lang}" for lang in LANGUAGES[:4]], WITH_TASK) | {"bso_qz": UNDECIDED}
    assert [one.name for one in left] == ["bso_qz", *(f"bso_{lang}" for lang in LANGUAGES[:4])]


def test_configs_of_earlier_runs_are_left_out_too(tmp_path):
    _release(tmp_path / "out", {"qa": 0.5}, set())
    left, found = _release(tmp_path / "out", {"qb": 0.5}, {UNDECIDED}, task="so")
    assert [one.name for one in left] == ["bso_qa", "so_qb"]
    assert set(found["unavailable"]) == {"bso_qa", "so_qb"}


def test_the_release_says_what_passed_with_its_task(tmp_path):
    _release(tmp_path / "out", dict.fromkeys(LANGUAGES, 0.5), {FAILED, UNDECIDED})
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Audit: 20 passed with its task." in card
    assert "[12 / 4 / 8 (✓)](bso_qa/README.md)" in card
