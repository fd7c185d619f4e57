"""The table of mined rules: found on train, measured on test, and the score of the list."""

from __future__ import annotations

import pytest
from audit_parts import heuristics_of, rules_of

from discoprobe.builders import Shape


def _heuristics(data):
    return heuristics_of(data)


def _rule(heuristics, family):
    return next(rule for rule in heuristics.rules if rule.family == family)


def test_a_token_rule_with_its_coverage_and_share_correct(make, build):
    rows = make.rows(2000, 2, 1)
    for row in rows:
        if make.source.random() < (0.4 if row["label"] else 0.1):
            row["texts"] = [row["texts"][0][:-1] + " however."]
    heuristics = _heuristics(build(rows))
    rule = next(rule for rule in heuristics.rules if "however" in rule.condition)
    assert rule.label == "label1"
    assert rule.coverage == pytest.approx(0.25, abs=0.05)
    assert rule.correct == pytest.approx(0.8, abs=0.08)
    assert rule.interval[0] <= rule.correct <= rule.interval[1]
    assert rule.train_correct == pytest.approx(0.8, abs=0.08)


def test_a_token_of_one_row_in_forty_that_is_always_right(make, build):
    """As the colon of section titles: all 191 rows that have it are of the same label, and accuracy hides it."""
    rows = make.rows(4000, 2, 1)
    for at, row in enumerate(rows):
        if row["label"] and at % 20 == 1:
            row["texts"] = [row["texts"][0].replace(" ", ": ", 1)]
    colons = [row for row in rows if ":" in row["texts"][0]]
    rule = next(rule for rule in _heuristics(build(rows)).rules if rule.condition == "the text has a colon")
    assert (rule.label, rule.correct, rule.train_correct) == ("label1", 1.0, 1.0)
    assert rule.train_coverage == pytest.approx(len(colons) / len(rows), abs=0.005)


@pytest.mark.parametrize(
    ("family", "change"),
    [
        (
            "first word",
            lambda row, _: ["Because " + row["texts"][0] if row["label"] else row["texts"][0] + " Because of it."],
        ),
        ("last word", lambda row, _: [row["texts"][0][:-1] + (" too." if row["label"] else " or so.")]),
        (
            "bigram",
            lambda row, _: [f"{row['texts'][0][:-1]} {'go home' if row['label'] else 'home go'} now it is too late."],
        ),
        ("length", lambda row, make: [make.sentence(14, 20) if row["label"] else make.sentence(6, 13)]),
    ],
)
def test_families_of_rules(make, build, family, change):
    rows = make.rows(1000, 2, 1)
    for row in rows:
        row["texts"] = change(row, make)
    heuristics = _heuristics(build(rows))
    assert _rule(heuristics, family).correct > 0.9
    assert heuristics.fallbacks[0].accuracy > 0.9


def test_an_overlap_rule(make, build):
    rows = make.rows(1000, 2, 2)
    for row in rows:
        if row["label"]:
            row["texts"][1] = f"{row['texts'][1]} {row['texts'][0]}"
            row["texts"][1] = " ".join(sorted(row["texts"][1].split()))
    assert _rule(_heuristics(build(rows, shape=Shape.PAIR)), "overlap").correct > 0.9


def test_the_fallbacks_differ_on_uncovered_rows(make, build):
    rows = make.rows(2000, 2, 1)
    for row in [row for row in rows if row["label"]][::3]:
        row["label"] = 0  # two thirds have label 0
    for row in rows:
        if row["label"] and make.source.random() < 0.5:
            row["texts"] = ["However " + row["texts"][0]]
    heuristics = _heuristics(build(rows, natural=True))
    scores = {fallback.name: fallback.accuracy for fallback in heuristics.fallbacks}
    assert list(scores) == ["majority", "random", "class-prior random"]
    assert scores["majority"] > scores["class-prior random"] > scores["random"]
    assert scores["majority"] == pytest.approx(0.83, abs=0.05)


def test_no_rule_in_clean_data_is_worth_much(make):
    heuristics = _heuristics(make.data(3000))
    assert heuristics.fallbacks
    assert all(abs(fallback.accuracy - 0.5) < 0.06 for fallback in heuristics.fallbacks)


def test_rules_about_candidates(make, build):
    rows = make.rows(1000, 4, 4)
    for row in rows:
        row["texts"][row["label"]] += " indeed."
        row |= {"texts": [make.sentence(), *row["texts"]], "n_context": 1}
    heuristics = _heuristics(build(rows, shape=Shape.CHOICE, k=4))
    assert heuristics.rules[0].label in {"right", "wrong"}
    assert [fallback.name for fallback in heuristics.fallbacks] == ["random"]
    assert heuristics.fallbacks[0].accuracy > 0.95


def test_a_rule_that_holds_on_train_and_not_on_test_is_named_as_shift(make, build):
    """A token that gives the label in 95 of 100 train rows, and says nothing on test."""

    def planted(shift):
        rows = make.rows(4000, 2, 1)
        for at, row in enumerate(rows):
            label = row["label"] if at % 20 or (shift and row["split"] == "test") else 1 - row["label"]
            cue = at % 4 == 0 if shift and row["split"] == "test" else label == 1 and at % 4 < 2
            row["texts"] = [f"{row['texts'][0]} Zzz"] if cue else row["texts"]
        return rules_of(build(rows))

    notes = [note for note in planted(shift=True).notes if note.startswith("shift:")]
    assert any("'Zzz'" in note and "→ label1" in note for note in notes)
    assert not [note for note in planted(shift=False).notes if note.startswith("shift:")]
