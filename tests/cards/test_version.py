"""The number of a release says whether scores compare."""

import datetime as dt

import pytest

from discoprobe.cards.release import (
    FIRST,
    Changes,
    ConfigChange,
    Level,
    SplitChange,
    Version,
    check_number,
    latest,
    level,
    parse,
    propose,
    section,
    sections,
    with_section,
)
from discoprobe.loaders import DiscoprobeError, UsageError


def rows(**counts):
    return Changes(changed=(ConfigChange("dc_es", {"test": SplitChange(**counts)}),))


CASES = [
    (rows(removed=1), Level.MAJOR),
    (rows(relabelled=1), Level.MAJOR),
    (rows(edited=1, added=5), Level.MAJOR),
    (Changes(removed={"dc_es": 4}, added={"dc_de": 4}), Level.MAJOR),
    (Changes(changed=(ConfigChange("dc_es", definition=("labels: a → b",)),)), Level.MAJOR),
    (rows(added=1), Level.MINOR),
    (Changes(added={"dc_de": 4}), Level.MINOR),
    (Changes(changed=(ConfigChange("dc_es", wording=True),)), Level.PATCH),
    (Changes(changed=(ConfigChange("dc_es", settings=("seed: 1 → 2",)),)), Level.PATCH),
    (Changes(software=("pyarrow: 25 → 26",)), Level.PATCH),
    (Changes(files=("README.md",)), Level.PATCH),
    (Changes(), Level.NONE),
]


@pytest.mark.parametrize(("changes", "expected"), CASES)
def test_level(changes, expected):
    assert level(changes) is expected


@pytest.mark.parametrize(
    ("changes", "number"),
    [(rows(removed=1), "2.0.0"), (rows(added=1), "1.3.0"), (Changes(files=("README.md",)), "1.2.4")],
)
def test_proposal(changes, number):
    last = Version(1, 2, 3)
    assert str(propose(last, changes)) == number
    assert check_number(parse(number), last, changes) == parse(number)
    assert check_number(Version(7, 0, 0), last, changes) == Version(7, 0, 0)
    with pytest.raises(DiscoprobeError, match=r"not above 1\.2\.3"):
        check_number(last, last, changes)


def test_a_number_that_promises_too_much():
    with pytest.raises(
        DiscoprobeError, match=r"1\.3\.0 is too small a step.*dc_es: test 2 rows relabelled.*--release 2\.0\.0"
    ):
        check_number(Version(1, 3, 0), Version(1, 2, 3), rows(relabelled=2))
    with pytest.raises(DiscoprobeError, match="is too small a step"):
        check_number(Version(1, 2, 4), Version(1, 2, 3), rows(added=2))


def test_the_first_release():
    changes = Changes(added={"dc_de": 4}, first=True)
    assert propose(None, changes) == FIRST
    assert check_number(Version(0, 1, 0), None, changes) == Version(0, 1, 0)


@pytest.mark.parametrize("text", ["1.2", "1.2.3.4", "1.02.3", "x", "", "1.2.3-rc1", "v1.2.3 "])
def test_what_is_no_number(text):
    with pytest.raises(UsageError, match=r"1\.2\.0"):
        parse(text)


def test_latest():
    assert latest(["v1.10.0", "v1.9.0", "main", "v2-beta", "1.11.0"]) == Version(1, 10, 0)
    assert latest([]) is None


def test_changelog():
    day = dt.date(2026, 1, 2)
    first = section(FIRST, Changes(added={"dc_de": 4}, first=True), day)
    second = section(Version(2, 0, 0), rows(relabelled=2, removed=1), day)
    log = with_section(with_section("", first), second)
    assert log.startswith("# Changelog\n\n## 2.0.0 (2026-01-02)\n")
    assert "- `dc_es`: test 1 rows removed, 2 rows relabelled" in log
    assert sections(log) == [second.strip() + "\n", first.strip() + "\n"]
    assert log.count("# Changelog") == 1


def test_names_of_corpora_are_no_markdown():
    text = section(FIRST, Changes(sources=("[x](http://evil) <b>: new\n## 9.9.9",)), dt.date(2026, 1, 2))
    assert "<b>" not in text
    assert "[x](" not in text
    assert len(sections(text)) == 1
