"""Marks: what people and models said of rows, one line of JSON each, in a file beside the release.

`Mark` is a line. Lines are only added (`append`, `merge`): a changed mark is another line, and the last one counts. So
two programs can write to one file, and files of several readers are merged by joining their lines. A line names the row
by config and id, and has a hash of what the row showed: a mark does not count for a row whose text or label has changed
since. `read_marks` reads a file; `verdicts_now`, `blind_answers` and `to_exclude` say what counts; `figures` sums it up
for a card, people and models apart: rows read, faults, accuracy, agreement.
"""

import datetime as dt
import hashlib
import itertools
import json
import logging
import operator
import os
import statistics
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from discoprobe.builders.audit.intervals import exact, independent_rows
from discoprobe.loaders.errors import DiscoprobeError

FINE: Final = "fine"
VERDICTS: Final = (FINE, "wrong label", "undecidable", "unnatural text", "other")
FAULTS: Final = VERDICTS[1:]
CANNOT_TELL: Final = "cannot tell"
"""The answer of a reader who does not know, in place of a label's name."""
TEXT_COLUMNS: Final = (
    "text", "sentences", "sentence1", "sentence2", "context", "candidate", "choices", "sentence_good", "sentence_bad",
)  # fmt: skip
"""Columns with what a row shows, in the order shown; each shape has some of them."""
PLACES: Final = ("first", "second")
"""The answers to a row of a suite: which text is better."""
READER_KINDS: Final = ("person", "model")
ReaderKind = Literal["person", "model"]

ON_THE_HUB: Final = "hub "
"""How the sitting of a mark begins that is a correction on the Hub; the names of these readers are public."""

_LONGEST = 4_000
_DIGITS: Final = 3
_latest = ""
_writing = threading.Lock()
_log = logging.getLogger(__name__)

LEAST_ROWS: Final = 20
"""Fewest answers, verdicts or shared rows of which a share or an agreement is printed: with fewer, the 95 % interval of
a share of one half is wider than .45."""
FASTEST: Final = 1.25
"""Seconds per answer below which nobody reads: the shortest sentences of a row have five words, and readers take 238
words a minute (Brysbaert 2019)."""
_BREAK: Final = 600.0
"""Seconds without an answer that are a break."""

OfReaders = dict[tuple[str, str], dict[str, "Mark"]]
"""(config, row) → reader → mark."""


class Mark(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A line of the file.

    Attributes:
        kind: ``mark`` says what a row is, its label being shown; ``answer`` says what its label is, without having seen
            it; ``reveal`` says that the reader has seen the labels of a round.
        config: the config of the row; empty for ``reveal``.
        row: the row's id; empty for ``reveal``.
        reader: name of who read.
        reader_kind: whether that is a person or a model.
        time: when, ISO 8601 in UTC.
        verdict: of a mark, one of ``VERDICTS``; empty takes an earlier one back.
        answer: of an answer, a label's name or ``CANNOT_TELL``.
        comment: what else the reader says.
        shown: hash of what the row showed (`shown_hash`).
        round: the blind round that an answer belongs to.
        sitting: the start of the program in which the mark was made, or the file that it came from; empty if unknown.
    """

    kind: Literal["mark", "answer", "reveal"]
    reader: str
    reader_kind: ReaderKind
    time: str
    config: str = ""
    row: str = ""
    verdict: str = ""
    answer: str = ""
    comment: str = ""
    shown: str = ""
    round: str = ""
    sitting: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """Config and id of the row."""
        return self.config, self.row


def marks_file(release: Path) -> Path:
    """Where the marks on a release are: ``dist/discoprobe.marks.jsonl`` beside ``dist/discoprobe``."""
    folder = release.absolute()
    return folder.with_name(f"{folder.name}.marks.jsonl")


def shown_hash(row: Mapping[str, Any], labels: Sequence[str]) -> str:
    """A hash of the texts and the label of a row; ids, order and other columns do not count."""
    content = [row["label"], list(labels), *(row[column] for column in TEXT_COLUMNS if column in row)]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:16]


def sides(row_id: str) -> tuple[str, str]:
    """The order in which a reader who is asked for the better one sees the texts of a pair, by the row's id."""
    return ("good", "bad") if int(row_id[-1], 16) % 2 else ("bad", "good")


def right_answer(row: Mapping[str, Any], labels: Sequence[str]) -> str:
    """What a reader has to answer: the name of the label, or in a suite which of the two texts is the good one."""
    if "sentence_good" in row:
        return PLACES[sides(row["id"]).index("good")]
    return labels[row["label"]] if 0 <= row["label"] < len(labels) else str(row["label"])


def now() -> str:
    """The time as a mark has it: ISO 8601 in UTC, to the millisecond, so that times sort as text.

    It never goes back within a program, though a clock that is set right may: the later of two marks has to count.
    """
    global _latest  # noqa: PLW0603 (the clock of this program)
    clock = dt.datetime.now(tz=dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    with _writing:
        _latest = max(_latest, clock)
        return _latest


def read_marks(path: Path) -> list[Mark]:
    """The marks of a file in the order of their times; none if there is no such file.

    Raises:
        DiscoprobeError: a line is no mark; the message says which and why. A line without its end, which a killed
            program leaves, is not read, and the log says so.
    """
    if not path.exists():
        return []
    marks = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}"):
            _log.warning("%s:%d was cut off and is not read", path, number)
        elif line.strip():
            try:
                mark = msgspec.json.decode(line, type=Mark)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                place = f"{path}:{number}"
                raise DiscoprobeError(f"{place}: not a mark ({error}); correct or delete the line") from None
            if problem := _mark_problem(mark):
                raise DiscoprobeError(f"{path}:{number}: {problem}")
            marks.append(mark)
    return sorted(marks, key=lambda mark: mark.time)


def _mark_problem(mark: Mark) -> str:
    """What a mark lacks; empty for a good one."""
    try:
        has_zone = dt.datetime.fromisoformat(mark.time).tzinfo is not None
    except ValueError:
        has_zone = False
    problems = {
        f"time '{mark.time}' is not ISO 8601 with a time zone, such as 2026-11-22T08:00:00Z": not has_zone,
        "it names no reader": not mark.reader.strip(),
        "a reveal names its round": mark.kind == "reveal" and not mark.round,
        "it names no row (config, row)": mark.kind != "reveal" and not (mark.config and mark.row),
        f"verdict '{mark.verdict}' is none of {', '.join(VERDICTS)}": mark.verdict not in {"", *VERDICTS},
        f"an answer names a label, or says '{CANNOT_TELL}'": mark.kind == "answer" and not mark.answer,
        "its comment is too long": len(mark.comment) > _LONGEST,
    }
    return next((problem for problem, applies in problems.items() if applies), "")


def append(path: Path, marks: Iterable[Mark]) -> None:
    """Writes marks to the end of a file; they are on the disk when this returns.

    Lines go in with one write to a file that is open for appending, which does not mix with that of another program. A
    line that a killed program has not ended is ended first.

    Raises:
        DiscoprobeError: a mark lacks something; nothing is written.
    """
    lines = []
    for mark in marks:
        if problem := _mark_problem(mark):
            raise DiscoprobeError(problem)
        lines.append(msgspec.json.encode(mark) + b"\n")
    if not lines:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with _writing, path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                lines.insert(0, b"\n")
        os.write(file.fileno(), b"".join(lines))
        os.fsync(file.fileno())


def merge(path: Path, others: Iterable[Mark]) -> int:
    """Adds the marks that a file does not have yet, from whatever sitting, and returns their number."""
    present = {msgspec.structs.replace(mark, sitting="") for mark in read_marks(path)}
    fresh = [mark for mark in dict.fromkeys(others) if msgspec.structs.replace(mark, sitting="") not in present]
    append(path, fresh)
    return len(fresh)


def verdicts_now(marks: Iterable[Mark]) -> OfReaders:
    """The mark that each reader stands by on each row: (config, row) → reader → mark."""
    verdicts: OfReaders = {}
    for mark in marks:
        if mark.kind == "mark":
            of_row = verdicts.setdefault(mark.place, {})
            of_row.pop(mark.reader, None)
            if mark.verdict:
                of_row[mark.reader] = mark
    return {place: of_row for place, of_row in verdicts.items() if of_row}


def blind_answers(marks: Iterable[Mark]) -> OfReaders:
    """The answer that each reader gave on each row without having seen its label: (config, row) → reader → answer.

    It is the last one before the reader marked the row (marks are made with the label in view) or saw the results of a
    round that has it.
    """
    answers: OfReaders = {}
    seen: set[tuple[str, tuple[str, str]]] = set()
    of_round: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for mark in marks:
        if mark.kind == "reveal":
            seen |= {(mark.reader, place) for place in of_round.get((mark.reader, mark.round), ())}
        elif mark.kind == "mark":
            seen.add((mark.reader, mark.place))
        else:
            of_round.setdefault((mark.reader, mark.round), set()).add(mark.place)
            if (mark.reader, mark.place) not in seen:
                answers.setdefault(mark.place, {})[mark.reader] = mark
    return answers


def to_exclude(marks: Iterable[Mark]) -> dict[str, dict[str, str]]:
    """The rows that readers find faulty: config → row id → verdict.

    A row is faulty if at least as many readers say so as find it fine; the verdict is the most frequent one. It is
    followed by the names of those who corrected the row on the Hub: ``wrong label (rita)``.
    """
    rows: dict[str, dict[str, str]] = {}
    for (config, row), of_row in sorted(verdicts_now(marks).items()):
        faults = Counter(mark.verdict for mark in of_row.values() if mark.verdict != FINE)
        if faults and 2 * faults.total() >= len(of_row):
            verdict = min(faults, key=lambda verdict: (-faults[verdict], verdict))
            names = sorted(name for name, mark in of_row.items() if mark.sitting.startswith(ON_THE_HUB))
            rows.setdefault(config, {})[row] = f"{verdict} ({', '.join(names)})" if names else verdict
    return rows


class ReaderFigures(msgspec.Struct, frozen=True):
    """What the readers of one kind found in a config.

    ``readers`` is their number (``names`` of one sitting count as one reader) and ``rows`` that of the rows that
    any of them read. ``verdicts`` are all their marks, of which ``faults`` counts those by name that are not
    *fine*. ``answers`` are those given without having seen the label; of these ``correct`` are the label,
    ``cannot_tell`` were no label, and ``interval`` is that of 95 % for their share (`interval_of`). ``edited`` are the
    answers on edited rows, if there are any; of these ``acceptable`` are the label of the original: the reader
    found nothing wrong with the edit. ``kappa`` is Cohen's κ over pairs of readers, of verdicts and of answers;
    None where no two readers have ``LEAST_ROWS`` rows in common, or all of them say the same. ``seconds`` is the
    median time between two answers of a reader; breaks are left out. Manifests that an earlier version wrote have
    neither ``names`` nor ``seconds``.
    """

    readers: int
    rows: int
    verdicts: int
    faults: dict[str, int]
    answers: int
    correct: int
    cannot_tell: int
    interval: list[float]
    kappa: dict[str, float | None]
    names: int = 0
    seconds: float | None = None
    edited: int | UnsetType = UNSET
    acceptable: int | UnsetType = UNSET


def interval_of(correct: Sequence[bool], documents: Sequence[str]) -> tuple[float, float]:
    """The exact 95 % interval of the share of answers that are correct; answers to rows of one document count as fewer.

    ``documents`` names that of each row, empty for a row without one.
    """
    names = [name or f"\x00{at}" for at, name in enumerate(documents)]
    if len(set(names)) == len(correct):
        return exact(sum(correct), len(correct))
    numbers = np.unique(names, return_inverse=True)[1].astype(np.int64)
    independent = independent_rows(np.array(correct, np.float64), [numbers])
    return exact(sum(correct) / len(correct) * independent, independent)


def figures(
    marks: Iterable[Mark], labels: Mapping[str, str], shown: Mapping[str, str], original: str = "",
    documents: Mapping[str, str] | None = None,
) -> dict[str, ReaderFigures]:  # fmt: skip
    """What readers of each kind found in one config; kinds that read nothing are not there.

    Args:
        marks: of the config, and reveals of rounds, in the order of their times.
        labels: name of the label of each row, by id; for rows that have gone there is none, and marks on them do not
            count.
        shown: hash of what each row shows, by id; marks on what a row showed before do not count.
        original: of a config of originals and edited versions, the label of originals; else empty.
        documents: the document of each row, by id, of those that have one.
    """
    document_of = documents or {}
    valid = _valid(marks, shown)
    by_kind: dict[str, ReaderFigures] = {}
    for kind in READER_KINDS:
        of_kind = [mark for mark in valid if mark.reader_kind == kind]
        reader_of = _readers_apart(of_kind)
        apart = [msgspec.structs.replace(mark, reader=reader_of[mark.reader]) for mark in of_kind]
        verdicts, answers = verdicts_now(apart), blind_answers(apart)
        if not (verdicts or answers):
            continue
        faults = Counter(mark.verdict for of_row in verdicts.values() for mark in of_row.values())
        answered = [mark for of_row in answers.values() for mark in of_row.values()]
        correct = sum(mark.answer == labels[mark.row] for mark in answered)
        edited = [mark for mark in answered if original and labels[mark.row] != original]
        by_kind[kind] = ReaderFigures(
            readers=len({reader for of_row in [*verdicts.values(), *answers.values()] for reader in of_row}),
            names=len({mark.reader for mark in of_kind if mark.kind != "reveal"}),
            seconds=_seconds_per_answer(apart),
            rows=len(verdicts.keys() | answers.keys()),
            verdicts=faults.total(),
            faults={verdict: faults[verdict] for verdict in FAULTS if faults[verdict]},
            answers=len(answered),
            correct=correct,
            cannot_tell=sum(mark.answer == CANNOT_TELL for mark in answered),
            interval=[
                round(end, _DIGITS)
                for end in interval_of(
                    [mark.answer == labels[mark.row] for mark in answered],
                    [document_of.get(mark.row, "") for mark in answered],
                )
            ]
            if answered
            else [],
            kappa={
                "verdicts": _mean_kappa(verdicts, operator.attrgetter("verdict")),
                "answers": _mean_kappa(answers, operator.attrgetter("answer")),
            },
            edited=len(edited) if edited else UNSET,
            acceptable=sum(mark.answer == original for mark in edited) if edited else UNSET,
        )
    return by_kind


def _valid(marks: Iterable[Mark], shown: Mapping[str, str]) -> list[Mark]:
    """The reveals, and the marks on rows that are there and show what they showed."""
    return [
        mark for mark in marks if mark.kind == "reveal" or (mark.row in shown and mark.shown in {"", shown[mark.row]})
    ]


def accuracy_by_row(marks: Iterable[Mark], labels: Mapping[str, str], shown: Mapping[str, str]) -> dict[str, float]:
    """The share of people whose blind answer is the label, by row; *cannot tell* is not.

    Args:
        marks: of one config, and reveals of rounds, in the order of their times.
        labels: as in `figures`.
        shown: as in `figures`.
    """
    of_people = [mark for mark in _valid(marks, shown) if mark.reader_kind == "person"]
    return {
        row: statistics.fmean(mark.answer == labels[row] for mark in of_row.values())
        for (_, row), of_row in blind_answers(of_people).items()
    }


def _readers_apart(marks: Sequence[Mark]) -> dict[str, str]:
    """The reader behind each name: names that occur in one sitting are one reader, whom the first of them names.

    Names that are in no sitting in common may be several people; nothing but the files can show that they are.
    """
    reader_of: dict[str, str] = {}
    first_in: dict[str, str] = {}
    for mark in marks:
        name = reader_of.setdefault(mark.reader, mark.reader)
        first = first_in.setdefault(mark.sitting, name)
        same = {name, reader_of[first]}
        reader_of |= {each: reader_of[first] for each, reader in reader_of.items() if reader in same}
    return reader_of


def _seconds_per_answer(marks: Sequence[Mark]) -> float | None:
    """The median of the seconds between two answers of a reader in a sitting, breaks left out; None without any."""
    times: dict[tuple[str, str], list[dt.datetime]] = {}
    for mark in marks:
        if mark.kind == "answer":
            times.setdefault((mark.reader, mark.sitting), []).append(dt.datetime.fromisoformat(mark.time))
    seconds = [
        (after - before).total_seconds()
        for of_sitting in times.values()
        for before, after in itertools.pairwise(sorted(of_sitting))
    ]
    without_breaks = [each for each in seconds if each <= _BREAK]
    return round(statistics.median(without_breaks), 1) if without_breaks else None


def _mean_kappa(of_rows: OfReaders, value_of: Callable[[Mark], str]) -> float | None:
    """Cohen's κ, the mean over pairs of readers weighted by the rows that they share."""
    shared: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for of_row in of_rows.values():
        for readers in itertools.combinations(sorted(of_row), 2):
            first, second = (value_of(of_row[reader]) for reader in readers)
            shared.setdefault(readers, []).append((first, second))
    values = [(cohen_kappa(pairs), len(pairs)) for pairs in shared.values() if len(pairs) >= LEAST_ROWS]
    defined = [(value, n) for value, n in values if value is not None]
    return round(sum(value * n for value, n in defined) / sum(n for _, n in defined), _DIGITS) if defined else None


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Agreement beyond chance of two readers (Cohen 1960); None where both say the same of every row.

    >>> cohen_kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")])
    0.5
    """
    n = len(pairs)
    first, second = (Counter(values) for values in zip(*pairs, strict=True))
    by_chance = sum(first[value] * second[value] for value in first) / n**2
    same = sum(value == other for value, other in pairs) / n
    return None if by_chance == 1 else (same - by_chance) / (1 - by_chance)
