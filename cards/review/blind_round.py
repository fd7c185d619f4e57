"""Blind rounds: a sample of rows to be labelled by a reader who does not see their labels.

A round is named by its address: which configs, which split, how many rows of each, and the name that the sample is
drawn with. The same round has the same rows in every browser, so nothing of it needs to be stored but the answers.
"""

from __future__ import annotations

import functools
import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discoprobe.builders.audit.intervals import wilson
from discoprobe.builders.config import Shape
from discoprobe.cards.readers.marks import CANNOT_TELL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from discoprobe.cards.metadata.manifest import ConfigEntry
    from discoprobe.cards.readers.marks import Mark
    from discoprobe.cards.review.row_store import ReleaseRow, RowStore


@dataclass(frozen=True, slots=True)
class BlindRound:
    """A round: its name, the configs that it reads, the split, and how many rows of each config at most."""

    name: str
    configs: tuple[str, ...]
    split: str
    n: int


@dataclass(frozen=True, slots=True)
class RoundScore:
    """How a reader did in a config of a round; ``majority`` and ``shortcut`` are the audit's, None without."""

    config: str
    asked: int
    answered: int
    correct: int
    cannot_tell: int
    interval: tuple[float, float]
    majority: float | None
    shortcut: str
    shortcut_accuracy: float | None
    wrong: tuple[str, ...]


def round_rows(store: RowStore, wanted: BlindRound) -> list[ReleaseRow]:
    """The rows of a round in the order in which they are asked: config by config, labels mixed.

    The labels of a config are in the sample as evenly as they are in the split, at most one row of a pair is in it, and
    of a document or group as few as possible.
    """
    rows: list[ReleaseRow] = []
    for config in wanted.configs:
        ids = _sampled(store, config, wanted)
        found = store.rows_with(config, wanted.split, ids)
        rows += [found[row_id] for row_id in ids]
    return rows


def _sampled(store: RowStore, config: str, wanted: BlindRound) -> list[str]:
    columns = store.columns(config, wanted.split, ["id", "label", "pair_id", "group"])
    rank = functools.partial(_rank, wanted.name, config)
    of_label: defaultdict[int, list[tuple[int, str, str, str]]] = defaultdict(list)
    repeats: defaultdict[tuple[int, str], int] = defaultdict(int)
    for row_id, label, pair, group in sorted(columns.iter_rows(), key=lambda row: rank(row[0])):
        of_label[label].append((repeats[label, group], row_id, pair or row_id, group))
        repeats[label, group] += 1
    queues = [iter(sorted(of_label[label], key=lambda one: one[0])) for label in sorted(of_label)]
    chosen: list[str] = []
    pairs: set[str] = set()
    while queues and len(chosen) < wanted.n:
        queues = [queue for queue in queues if _take(queue, chosen, pairs, wanted.n)]
    return sorted(chosen, key=lambda row_id: rank(row_id, "order"))


def _take(queue: Iterable[tuple[int, str, str, str]], chosen: list[str], pairs: set[str], n: int) -> bool:
    """Takes the next row of a label whose pair is not taken; False if there is none, or there are enough."""
    for _, row_id, pair, _ in queue:
        if len(chosen) >= n:
            return False
        if pair not in pairs:
            pairs.add(pair)
            chosen.append(row_id)
            return True
    return False


def _rank(*parts: str) -> bytes:
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).digest()


def possible_answers(entry: ConfigEntry) -> tuple[str, ...]:
    """The names of the labels that rows of a config have, in their order."""
    used = {label for counts in entry["counts"].values() for label, n in counts.items() if n}
    return tuple(label for label in entry["labels"] if label in used)


def answer_names(entry: ConfigEntry) -> dict[str, str]:
    """What a reader sees for each answer: a choice by its number, any other label by its name."""
    answers = possible_answers(entry)
    if entry["shape"] == Shape.CHOICE:
        return {label: f"choice {entry['labels'].index(label) + 1}" for label in answers}
    return {label: label.replace("_", " ") for label in answers}


def scores(store: RowStore, rows: Sequence[ReleaseRow], answers: dict[tuple[str, str], Mark]) -> list[RoundScore]:
    """How a reader did, config by config in the order of the round.

    Args:
        store: the release.
        rows: of the round.
        answers: the reader's answer by the place of the row.
    """
    by_config: defaultdict[str, list[ReleaseRow]] = defaultdict(list)
    for row in rows:
        by_config[row.config].append(row)
    return [_score(config, store.entry(config), own, answers) for config, own in by_config.items()]


def _score(
    config: str, entry: ConfigEntry, rows: Sequence[ReleaseRow], answers: dict[tuple[str, str], Mark]
) -> RoundScore:
    given = {row.id: answers[row.place].answer for row in rows if row.place in answers}
    wrong = tuple(row.id for row in rows if row.id in given and given[row.id] != row.label)
    correct, audit = len(given) - len(wrong), entry["audit"]
    return RoundScore(
        config, len(rows), len(given), correct, sum(answer == CANNOT_TELL for answer in given.values()),
        wilson(correct, len(given)), audit["majority"] if audit else None, (audit and audit["strongest"]) or "",
        audit["accuracy"] if audit else None, wrong,
    )  # fmt: skip
