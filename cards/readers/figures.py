"""Figures of the marks on a config: rows read, faults, accuracy, agreement; people and models apart."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypedDict

from discoprobe.builders.audit.intervals import exact
from discoprobe.cards.readers.marks import CANNOT_TELL, FAULTS, READER_KINDS, Mark, blind_answers, verdicts_now

_DIGITS: Final = 3

OfReaders = dict[tuple[str, str], dict[str, "Mark"]]


class ReaderFigures(TypedDict):
    """What the readers of one kind found in a config.

    ``readers`` is their number and ``rows`` that of the rows that any of them read. ``verdicts`` are all their marks,
    of which ``faults`` counts those by name that are not *fine*. ``answers`` are those given without having seen the
    label; of these ``correct`` are the label, ``cannot_tell`` were no label, and ``interval`` is the exact one of 95 %
    for their share. ``kappa`` is Cohen's κ over pairs of readers, of verdicts and of answers; None where no two readers
    have two rows in common, or all of them say the same.
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


def figures(marks: Iterable[Mark], labels: Mapping[str, str], shown: Mapping[str, str]) -> dict[str, ReaderFigures]:
    """What readers of each kind found in one config; kinds that read nothing are not there.

    Args:
        marks: of the config, and reveals of rounds, in the order of their times.
        labels: name of the label of each row, by id; for rows that have gone there is none, and marks on them do not
            count.
        shown: hash of what each row shows, by id; marks on what a row showed before do not count.
    """
    known = [mark for mark in marks if mark.kind == "reveal" or _speaks_of(mark, labels, shown)]
    verdicts, answers = verdicts_now(known), blind_answers(known)
    by_kind = {kind: _of_kind(_only(verdicts, kind), _only(answers, kind), labels) for kind in READER_KINDS}
    return {kind: one for kind, one in by_kind.items() if one["rows"]}


def _speaks_of(mark: Mark, labels: Mapping[str, str], shown: Mapping[str, str]) -> bool:
    return mark.row in labels and mark.shown in {"", shown[mark.row]}


def _only(of_rows: OfReaders, kind: str) -> OfReaders:
    of_kind = {
        place: {reader: mark for reader, mark in of_row.items() if mark.reader_kind == kind}
        for place, of_row in of_rows.items()
    }
    return {place: of_row for place, of_row in of_kind.items() if of_row}


def _of_kind(verdicts: OfReaders, answers: OfReaders, labels: Mapping[str, str]) -> ReaderFigures:
    verdicts_given = [mark.verdict for of_row in verdicts.values() for mark in of_row.values()]
    given = [mark for of_row in answers.values() for mark in of_row.values()]
    correct = sum(mark.answer == labels[mark.row] for mark in given)
    counted = Counter(verdicts_given)
    return {
        "readers": len({reader for of_row in [*verdicts.values(), *answers.values()] for reader in of_row}),
        "rows": len(verdicts.keys() | answers.keys()),
        "verdicts": len(verdicts_given),
        "faults": {verdict: counted[verdict] for verdict in FAULTS if counted[verdict]},
        "answers": len(given),
        "correct": correct,
        "cannot_tell": sum(mark.answer == CANNOT_TELL for mark in given),
        "interval": [round(end, _DIGITS) for end in exact(correct, len(given))] if given else [],
        "kappa": {
            "verdicts": _kappa(verdicts, lambda mark: mark.verdict),
            "answers": _kappa(answers, lambda mark: mark.answer),
        },
    }


def _kappa(of_rows: OfReaders, value_of: Callable[[Mark], str]) -> float | None:
    """Cohen's κ, the mean over pairs of readers weighted by the rows that they share."""
    shared: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for of_row in of_rows.values():
        for one, other in itertools.combinations(sorted(of_row), 2):
            shared.setdefault((one, other), []).append((value_of(of_row[one]), value_of(of_row[other])))
    values = [(cohen_kappa(pairs), len(pairs)) for pairs in shared.values() if len(pairs) > 1]
    known = [(value, n) for value, n in values if value is not None]
    return round(sum(value * n for value, n in known) / sum(n for _, n in known), _DIGITS) if known else None


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Agreement beyond chance of two readers (Cohen 1960); None where both say the same of every row.

    >>> cohen_kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")])
    0.5
    """
    n = len(pairs)
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(first[value] * second[value] for value in first) / n**2
    same = sum(one == other for one, other in pairs) / n
    return None if by_chance == 1 else (same - by_chance) / (1 - by_chance)
