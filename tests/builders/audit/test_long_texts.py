"""Texts of 100 kB a row: what is read of them is bounded and said, and leaks between them are still found."""

from __future__ import annotations

import pytest
from audit_parts import finding_of, heuristics_of

from discoprobe.builders import Shape
from discoprobe.builders.audit import Status, audit
from discoprobe.builders.audit.frame import AT_EACH_END, LONGEST_READ
from discoprobe.builders.audit.solvers import Features, problem_of

_N = 60
_LONG = 30_000


def _long(make, least=_LONG):
    parts, length = [], 0
    while length < least:
        parts.append(make.sentence())
        length += len(parts[-1]) + 1
    return " ".join(parts)


@pytest.fixture
def rows(make):
    rows = make.rows(_N, 2, 1)
    for row in rows:
        row["texts"] = [_long(make)]
    return rows


def _changed(text, at, word="CHANGED"):
    return f"{text[:at]} {word} {text[at:]}"


_COPIES = {
    "whole": lambda text: text,
    "a word in the middle": lambda text: _changed(text, _LONG // 2),
    "a word near the beginning": lambda text: _changed(text, 500),
    "another case": str.upper,
    "without its end": lambda text: text[: _LONG // 2],
    "without its beginning": lambda text: text[_LONG // 2 :],
}


@pytest.mark.parametrize("kind", _COPIES)
def test_a_copy_of_a_long_text_of_train_is_a_leak(rows, build, kind):
    train, test = (next(row for row in rows if row["split"] == split) for split in ("train", "test"))
    test["texts"] = [_COPIES[kind](train["texts"][0])]
    data = build(rows)
    found = [finding_of(data, check) for check in ("dup-across", "sentence-leak", "near-dup")]
    assert any("test:0" in finding.rows for finding in found)
    assert all(finding.measured <= 1 for finding in found)


def test_long_texts_without_copies_are_no_leak(rows, build):
    data = build(rows)
    assert not any(finding_of(data, check).measured for check in ("dup-across", "sentence-leak", "near-dup"))


def test_the_sentences_that_are_compared_are_bounded(rows, build):
    sentences, texts = build(rows).sentences
    assert len(texts) == 2 * _N
    assert texts.str.len_chars().max() <= AT_EACH_END
    assert sentences["place"].n_unique() <= _N


def test_what_solvers_read_is_bounded_and_said(rows, build):
    data = build(rows)
    problem, _ = problem_of(data)
    features = Features(problem)
    read = features.slotted["text"]
    assert read.str.len_chars().max() <= LONGEST_READ + 1
    for text, whole in zip(read, problem.texts.list.first(), strict=True):
        assert whole.startswith(text[:AT_EACH_END])
        assert whole.endswith(text[-AT_EACH_END:])
    note = next(note for note in audit(data).notes if "characters" in note)
    assert note.startswith(f"long texts: {_N} of {_N} texts have more than 4,000 characters")


def test_nothing_is_said_of_short_texts(make):
    assert not [note for note in audit(make.data(200)).notes if note.startswith("long texts")]


def test_the_length_of_a_long_text_is_that_of_the_whole_text(make, build):
    rows = make.rows(120, 2, 1)
    for row in rows:
        row["texts"] = [_long(make, 20_000 if row["label"] else 12_000)]
    data = build(rows)
    assert finding_of(data, "length").measured > 0.95
    condition = heuristics_of(data).rules[0].condition
    assert "characters" in condition


def test_a_sentence_of_train_is_seen_although_it_is_a_long_text(rows, build):
    """Every second row of validation and test, all of one label, is a text of train."""
    train = [row for row in rows if row["split"] == "train"]
    for row, copied in zip((row for row in rows if row["split"] != "train" and row["label"]), train, strict=False):
        row["texts"] = copied["texts"]
    assert finding_of(build(rows), "seen").measured > 0.6


def test_a_cue_at_the_end_of_a_long_text_is_found(make, build):
    rows = make.rows(200, 2, 1)
    for row in rows:
        row["texts"] = [_long(make, 10_000) + (" So it is." if row["label"] else " It is so.")]
    assert finding_of(build(rows, perturbation=True), "token").status is Status.ABOVE
    assert _first(heuristics_of(build(rows, shape=Shape.SENTENCE))).endswith("the last word")


def test_marks_at_either_end_of_a_long_text_are_found(rows, build):
    """What is in between is not read, and the place where it is left out is no fault."""
    data = build(rows)
    assert finding_of(data, "clean-text").measured == 0
    for row, at in zip(rows, (500, _LONG // 2, _LONG - 500), strict=False):
        text = row["texts"][0][:_LONG]
        row["texts"] = [_changed(text, at, "&amp;")]
    for row in rows[3:6]:  # the passages that are read end and begin in a word, and beside a blank
        text = row["texts"][0]
        row["texts"] = [f"{text[: AT_EACH_END - 1]} x {text[AT_EACH_END : -AT_EACH_END - 1]} {text[-AT_EACH_END:]}"]
    finding = finding_of(build(rows), "clean-text")
    assert (finding.measured, finding.detail) == (2, "entity 2")
    assert {"train:0", "train:2"} <= set(finding.rows)


def _first(heuristics):
    return heuristics.rules[0].condition
