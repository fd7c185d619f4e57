"""Marks: a file that only grows, that two writers share and a kill does not spoil; figures that count blind answers."""

import datetime as dt
import subprocess
import sys
import threading
from types import SimpleNamespace

import msgspec
import pytest
from msgspec import UNSET
from sklearn.metrics import cohen_kappa_score

from discoprobe.cards import (
    Mark,
    append,
    blind_answers,
    cohen_kappa,
    figures,
    merge,
    read_marks,
    to_exclude,
    verdicts_now,
)
from discoprobe.cards import readers as marks_module
from discoprobe.cards.readers import LEAST_ROWS, ReaderFigures
from discoprobe.cards.text.card import reader_lines, with_readers
from discoprobe.loaders import DiscoprobeError


def at(second):
    return f"2026-11-22T08:00:{second:02}.000Z"


def mark(row, verdict, second=0, reader="ana", kind="person", **more):
    return Mark("mark", reader, kind, at(second), "dc_es", row, verdict, **more)


def answer(row, label, second=0, reader="ana", kind="person", **more):
    return Mark("answer", reader, kind, at(second), "dc_es", row, answer=label, round="r1", **more)


def reveal(second, reader="ana"):
    return Mark("reveal", reader, "person", at(second), round="r1")


def test_lines_are_read_back_in_the_order_of_time(tmp_path):
    path = tmp_path / "a" / "x.marks.jsonl"
    said = [mark("r1", "fine", 5), mark("r2", "other", 3, comment='naïve "quote"\n'), reveal(9)]
    append(path, said)
    assert read_marks(path) == [said[1], said[0], said[2]]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


@pytest.mark.parametrize("cut", [b'{"kind":"mark","reader":"a', b"{"])
def test_a_line_that_a_killed_program_left_is_passed_over_and_ended(tmp_path, cut):
    path = tmp_path / "x.jsonl"
    append(path, [mark("r1", "fine")])
    path.write_bytes(path.read_bytes() + cut)
    assert read_marks(path) == [mark("r1", "fine")]
    append(path, [mark("r2", "fine")])
    assert read_marks(path) == [mark("r1", "fine"), mark("r2", "fine")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "not a mark"),
        ('{"kind":"mark"}', "not a mark"),
        ('{"kind":"mark","reader":"a","reader_kind":"human","time":"2026-11-22T08:00:00Z"}', "not a mark"),
        ('{"kind":"mark","reader":"a","reader_kind":"person","time":"yesterday"}', "not ISO 8601 with"),
        (
            '{"kind":"mark","reader":"a","reader_kind":"person","time":"2026-11-22T08:00:00"}',
            "not ISO 8601 with a time zone",
        ),
        ('{"kind":"mark","reader":" ","reader_kind":"person","time":"2026-11-22T08:00:00Z"}', "no reader"),
        ('{"kind":"mark","reader":"a","reader_kind":"person","time":"2026-11-22T08:00:00Z"}', "no row"),
        (
            '{"kind":"mark","reader":"a","reader_kind":"person","time":"2026-11-22","config":"c","row":"r","verdict":"x"}',
            "not ISO 8601 with a time zone",
        ),
        (
            '{"kind":"mark","reader":"a","reader_kind":"person","time":"2026-11-22T08Z","config":"c","row":"r","verdict":"bad"}',
            "verdict 'bad' is none of fine",
        ),
    ],
)
def test_what_is_no_mark_is_named_with_its_line(tmp_path, line, message):
    path = tmp_path / "x.jsonl"
    append(path, [mark("r1", "fine")])
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(DiscoprobeError, match=rf"x\.jsonl:2.*{message}"):
        read_marks(path)


WRITER = """
import sys
from pathlib import Path
from discoprobe.cards.readers import Mark, append
for n in range(200):
    append(Path(sys.argv[1]), [Mark("mark", sys.argv[2], "model", "2026-11-22T08:00:00Z", "dc_es", f"r{n}", "fine",
                                    comment="x" * 300)])
"""


def test_writers_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / "x.jsonl"
    programs = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), f"p{n}"]) for n in range(3)]
    threads = [
        threading.Thread(target=lambda: [append(path, [mark(f"r{n}", "fine", reader="t")]) for n in range(100)])
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [program.wait(60) for program in programs] == [0, 0, 0]
    assert len(read_marks(path)) == 3 * 200 + 2 * 100


def test_merging_twice_adds_nothing(tmp_path):
    path = tmp_path / "x.jsonl"
    append(path, [mark("r1", "fine")])
    other = [mark("r1", "fine"), mark("r1", "wrong label", 1, reader="ben"), mark("r2", "fine", 2)]
    assert merge(path, [*other, other[1]]) == 2
    assert merge(path, other) == 0
    assert len(read_marks(path)) == 3


def test_the_last_word_counts_and_can_be_taken_back():
    said = [mark("r1", "fine"), mark("r1", "wrong label", 1), mark("r2", "other", 2), mark("r2", "", 3)]
    now = verdicts_now(said)
    assert {place: one["ana"].verdict for place, one in now.items()} == {("dc_es", "r1"): "wrong label"}


def test_the_last_mark_counts_though_the_clock_was_set_back(monkeypatch, tmp_path):
    start = dt.datetime.now(tz=dt.UTC)
    ticks = iter([start, start - dt.timedelta(seconds=2)])
    clock = SimpleNamespace(now=lambda tz: next(ticks).astimezone(tz))
    monkeypatch.setattr(marks_module, "dt", SimpleNamespace(datetime=clock, UTC=dt.UTC))
    said = [
        Mark("mark", "ana", "person", marks_module.now(), "dc_es", "r1", "other", comment=text) for text in ("", "late")
    ]
    monkeypatch.undo()
    append(tmp_path / "marks.jsonl", said)
    (one,) = verdicts_now(read_marks(tmp_path / "marks.jsonl")).values()
    assert one["ana"].comment == "late"


def test_answers_after_the_label_was_seen_do_not_count():
    said = [
        answer("r1", "a", 1), answer("r1", "b", 2), mark("r2", "fine", 3), answer("r2", "a", 4), reveal(5),
        answer("r1", "a", 6), answer("r3", "a", 7), answer("r1", "a", 8, reader="ben"),
    ]  # fmt: skip
    found = {
        (place[1], reader): one.answer for place, row in blind_answers(said).items() for reader, one in row.items()
    }
    assert found == {("r1", "ana"): "b", ("r3", "ana"): "a", ("r1", "ben"): "a"}


def test_what_at_least_half_of_the_readers_call_faulty_is_left_out():
    said = [
        mark("r1", "fine"), mark("r1", "wrong label", reader="ben"), mark("r2", "fine"),
        mark("r2", "fine", reader="ben"), mark("r2", "other", reader="eva"), mark("r3", "undecidable"),
        mark("r4", "other"), mark("r4", ""),
    ]  # fmt: skip
    assert to_exclude(said) == {"dc_es": {"r1": "wrong label", "r3": "undecidable"}}


LABELS = {f"r{n}": "ab"[n % 2] for n in range(30)}
SHOWN = dict.fromkeys(LABELS, "hash")


def test_figures_of_people_and_models_are_apart():
    said = [
        *(answer(f"r{n}", "a", 1) for n in range(4)), reveal(2), mark("r0", "fine", 3), mark("r1", "wrong label", 3),
        answer("r0", "a", 1, "m", "model"), answer("r2", "cannot tell", 1, "m", "model"),
    ]  # fmt: skip
    found = figures(said, LABELS, SHOWN)
    assert found["person"] == ReaderFigures(
        readers=1, names=1, seconds=0.0, rows=4, verdicts=2, faults={"wrong label": 1}, answers=4, correct=2,
        cannot_tell=0, interval=[0.068, 0.932], kappa={"verdicts": None, "answers": None},
    )  # fmt: skip
    assert (found["model"].answers, found["model"].correct, found["model"].cannot_tell) == (2, 1, 1)
    assert figures([reveal(1)], LABELS, SHOWN) == {}


def test_an_edit_that_a_reader_takes_for_an_original_is_still_acceptable():
    said = [*(answer(f"r{n}", "a", 1) for n in range(5)), answer("r5", "b", 1), answer("r7", "cannot tell", 1)]
    found = figures(said, LABELS, SHOWN, original="a")["person"]
    assert (found.edited, found.acceptable) == (4, 2)
    assert figures(said, LABELS, SHOWN)["person"].edited is UNSET
    assert figures([answer("r0", "a", 1)], LABELS, SHOWN, original="a")["person"].edited is UNSET


def test_marks_on_what_a_row_showed_before_do_not_count():
    said = [mark("r1", "fine", shown="hash"), mark("r2", "fine", shown="other"), mark("gone", "fine", shown="hash")]
    assert figures(said, LABELS, SHOWN)["person"].rows == 1


def test_kappa_is_scikit_learn_s():
    pairs = [("a", "a"), ("a", "b"), ("b", "b"), ("c", "b"), ("c", "c"), ("a", "a")]
    assert cohen_kappa(pairs) == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert cohen_kappa([("a", "a")] * 3) is None
    said = [
        answer(f"r{n}", one, reader=reader, sitting=reader)
        for n, pair in enumerate(pairs * 4)
        for one, reader in zip(pair, "xy", strict=True)
    ]
    assert figures(said, LABELS, SHOWN)["person"].kappa["answers"] == round(cohen_kappa(pairs), 3)
    few = [each for each in said if int(each.row[1:]) < LEAST_ROWS - 1]
    assert figures(few, LABELS, SHOWN)["person"].kappa["answers"] is None


def test_names_of_one_sitting_are_one_reader():
    """A script that answers under two names is one reader, and has no agreement with itself."""
    said = [answer(f"r{n}", "a", reader=reader) for n in range(25) for reader in ("ana", "ben")]

    def found(sitting_of):
        marks = [msgspec.structs.replace(each, sitting=sitting_of(each.reader)) for each in said]
        return figures(marks, LABELS, SHOWN)["person"]

    posing, apart = found(lambda _: "s1"), found(lambda reader: reader)
    assert (posing.readers, posing.names, posing.answers) == (1, 2, 25)
    assert (apart.readers, apart.names, apart.answers) == (2, 2, 50)
    assert found(lambda _: "").readers == 1, "marks of an unknown sitting show no two people"


def test_readers_are_the_same_through_another_sitting():
    names = [("ana", "1"), ("ben", "2"), ("eva", "3"), ("ben", "1"), ("eva", "2")]
    said = [answer(f"r{n}", "a", n, reader, sitting=sitting) for n, (reader, sitting) in enumerate(names)]
    assert (figures(said, LABELS, SHOWN)["person"].readers) == 1
    assert (figures(said[:3], LABELS, SHOWN)["person"].readers) == 3


def test_seconds_per_answer_are_a_median_without_breaks():
    times = ["08:00:00", "08:00:04", "08:00:10", "08:00:13", "10:00:00"]
    said = [
        msgspec.structs.replace(answer(f"r{n}", "a"), time=f"2026-11-22T{time}.000Z") for n, time in enumerate(times)
    ]
    assert figures(said, LABELS, SHOWN)["person"].seconds == 4.0
    assert figures(said[:1], LABELS, SHOWN)["person"].seconds is None


def test_the_file_is_beside_the_release(tmp_path):
    assert marks_module.marks_file(tmp_path / "dist" / "discoprobe") == tmp_path / "dist" / "discoprobe.marks.jsonl"


def test_a_card_shows_that_a_script_posed_as_two_people():
    said = [answer(f"r{n}", "a", reader=reader, sitting="s1") for n in range(25) for reader in ("ana", "ben")]
    found = figures(said, LABELS, SHOWN)
    text = with_readers("# x\n\n## Sources\n", SimpleNamespace(task="dc", lang="es", readers=found, audit=None))
    assert "2 names were used for 1 person: names of one sitting or file count as one reader" in text
    assert "The answers of 1 person came faster than anybody reads (less than 1.25 seconds each)" in text
    assert "no person has read any, so no figure here is human" in text
    (row,) = (line for line in text.splitlines() if line.startswith("| 1 person |"))
    assert [cell.strip() for cell in row.split("|")][6:8] == ["", "0.0"], "no agreement, and the time per answer"
    (line,) = reader_lines(found, None)
    assert line.endswith("0.0 seconds per answer: too fast for a person")


def test_few_answers_give_no_figure():
    found = figures([answer(f"r{n}", "a", n) for n in range(LEAST_ROWS - 1)], LABELS, SHOWN)
    text = with_readers("# x\n\n## Sources\n", SimpleNamespace(task="dc", lang="es", readers=found, audit=None))
    assert "| 1 person | 19 | fewer than 20 |  | 19 |" in text
