"""What tells a label without being the task, in every row of a class, in 40 % and in 15 %, and what the audit says.

``cue_sets`` has the sets: real text in published columns, read from files. ``docs/records/audit.md`` has the same for
other texts and more rows.
"""

from __future__ import annotations

import pytest
from audit_parts import finding_of, report_of
from cue_sets import CLEAN, CUES, Lots, read

from discoprobe.builders.audit import Kind, Status

SHARES = (1.0, 0.4, 0.15)
MUST_SHOW = 0.1
"""A gain over the majority baseline that a report must not be silent about."""

ABOVE, OPEN, BELOW, NAMED, SMALL = "above", "open", "below", "named", "small"
EXPECTED = {
    "trailing blank": ("surface", ABOVE, ABOVE, OPEN),
    "leading blank": ("surface", ABOVE, ABOVE, OPEN),
    "double blank": ("surface", ABOVE, ABOVE, ABOVE),
    "no-break blank": ("surface", ABOVE, ABOVE, ABOVE),
    "tab": ("surface", ABOVE, ABOVE, ABOVE),
    "carriage return": ("surface", ABOVE, ABOVE, OPEN),
    "zero-width blank": ("surface", ABOVE, ABOVE, ABOVE),
    "decomposed letters": ("surface", ABOVE, ABOVE, OPEN),
    "quote by code point": ("surface", ABOVE, ABOVE, OPEN),
    "dash by code point": ("surface", ABOVE, ABOVE, OPEN),
    "capitals": ("case", ABOVE, ABOVE, OPEN),
    "final punctuation": ("punctuation", ABOVE, ABOVE, OPEN),
    "a word": ("token", NAMED, NAMED, SMALL),
    "first word": ("token", NAMED, NAMED, SMALL),
    "last word": ("token", NAMED, NAMED, SMALL),
    "bigram": ("edges", NAMED, NAMED, SMALL),
    "word order": ("edges", SMALL, SMALL, SMALL),
    "length in words": ("length", ABOVE, ABOVE, OPEN),
    "length in characters": ("length", ABOVE, ABOVE, OPEN),
    "id": ("metadata", NAMED, NAMED, SMALL),
    "column of words": ("metadata", NAMED, NAMED, SMALL),
    "column of numbers": ("metadata", NAMED, NAMED, SMALL),
    "every second row": ("row-order", ABOVE, ABOVE, OPEN),
    "every third row": ("row-order", ABOVE, ABOVE, BELOW),
    "sorted by label": ("row-order", ABOVE, ABOVE, BELOW),
    "blocks of 25": ("row-order", ABOVE, ABOVE, BELOW),
    "position of the right choice": ("position", ABOVE, ABOVE, OPEN),
    "blank after the right choice": ("surface", ABOVE, ABOVE, OPEN),
    "one text of a pair": ("single", ABOVE, OPEN, OPEN),
    "blank in one text of a pair": ("surface", ABOVE, ABOVE, OPEN),
    "overlap of a pair": ("overlap", "exempt", "exempt", "exempt"),
    "swap in a pair": ("differences", ABOVE, BELOW, BELOW),
    "near duplicate, one word": ("near-dup", ABOVE, ABOVE, BELOW),
    "near duplicate, a part": ("words", NAMED, NAMED, SMALL),
    "near duplicate, reversed": ("words", NAMED, NAMED, SMALL),
    "document across splits": ("group-split", "noted", "noted", "noted"),
}
"""Cue → the check that measures it, and its outcome where every row has it, 40 % and 15 %.

A swap gains nothing outside pairs: in single texts no solver here sees it. Overlap is what a set of inference asks
for, so that it is exempt. Of near duplicates only long ones are found by their own check; words show the others.
"""


def said(finding):
    """The outcome of a check; ``named`` if it counts as no fault here, but gains so much that a verdict names it."""
    if finding.status is Status.NOTED and finding.kind is Kind.SHORTCUT:
        return NAMED if finding.gain > MUST_SHOW else SMALL
    return str(finding.status)


@pytest.mark.parametrize("cue", EXPECTED)
def test_a_planted_cue(cue, tmp_path):
    check, *expected = EXPECTED[cue]
    findings = [finding_of(read(CUES[cue](Lots(0, share)), tmp_path), check) for share in SHARES]
    assert [said(finding) for finding in findings] == expected


def test_every_cue_has_its_row():
    assert set(EXPECTED) == set(CUES)


@pytest.mark.parametrize("kind", CLEAN)
def test_a_set_without_a_cue(kind, tmp_path):
    result = report_of(read(CLEAN[kind](Lots(0)), tmp_path))
    assert not result.failed, [(finding.check, finding.measured) for finding in result.errors]
    assert result.strongest.gain < MUST_SHOW
