"""Blind rounds: a sample of rows to be labelled by a reader who does not see their labels.

The address of a round has the configs, the split, the number of rows of each, and a name, which is the seed of the
sample. The same round has the same rows in every browser, so only the answers need to be stored.

No two rows of a round come from one document or show the same sentence: otherwise a row of one task could show the
answer to a row of another (the order of the sentences, or which sentence is edited).
"""

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from discoprobe.builders.audit.intervals import exact
from discoprobe.builders.config import Shape
from discoprobe.cards.metadata.manifest import ConfigEntry
from discoprobe.cards.readers.marks import CANNOT_TELL, PLACES, TEXT_COLUMNS, Mark, right_answer
from discoprobe.cards.review.row_store import ReleaseRow, RowStore

Traces = frozenset[tuple[str, ...]]
"""What a row reveals: its pair, its document, its sentences."""


@dataclass(frozen=True, slots=True)
class BlindRound:
    """A round: its name, the configs that it reads, the split, and how many rows of each config at most.

    With ``repeat_documents`` several rows may come from one document, but no two show the same sentence.
    """

    name: str
    configs: tuple[str, ...]
    split: str
    n: int
    repeat_documents: bool = False


class Draw(NamedTuple):
    """The rows of a round in the order in which they are asked, and how many of each config cannot be given.

    ``missing``: because every other row shares a document or sentence with rows of the round. ``read_before``: because
    the reader has read them, or rows that share something with them. Configs without such rows are not listed.
    """

    rows: list[ReleaseRow]
    missing: Mapping[str, int]
    read_before: Mapping[str, int]


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


def draw(store: RowStore, wanted: BlindRound) -> Draw:
    """The rows of a round: config by config, labels mixed.

    No two share a document, a sentence or a pair. Rows are chosen from each config in turn, so that no config uses up
    the documents, and from each label of a config in turn, so that labels are about equally frequent.
    """
    used: set[tuple[str, ...]] = set()
    chosen: dict[str, list[str]] = {config: [] for config in wanted.configs}
    sampling = {config: _sampled(store, config, wanted, used) for config in wanted.configs}
    for config in itertools.islice(itertools.cycle(wanted.configs), wanted.n * len(wanted.configs)):
        chosen[config] += itertools.islice(sampling[config], 1)
    rows: list[ReleaseRow] = []
    missing = {}
    for config, ids in chosen.items():
        found = store.rows_with(config, wanted.split, ids)
        rows += [
            found[row_id] for row_id in sorted(ids, key=lambda row_id: _rank(wanted.name, config, row_id, "order"))
        ]
        there = sum(store.entry(config)["counts"][wanted.split].values())
        missing[config] = min(wanted.n, there) - len(ids)
    return Draw(rows, {config: n for config, n in missing.items() if n}, {})


def _sampled(store: RowStore, config: str, wanted: BlindRound, used: set[tuple[str, ...]]) -> Iterator[str]:
    """Ids of rows of a config, one of each label in turn, whose traces are not in ``used``; the traces are added."""
    entry = store.entry(config)
    columns = store.columns(config, wanted.split, ["id", "label", *_TRACED])
    of_label: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(columns.iter_rows(named=True), key=lambda row: _rank(wanted.name, config, row["id"])):
        of_label[row["label"]].append(row)
    labels = [iter(of_label[label]) for label in sorted(of_label)]
    while labels:
        for rows in list(labels):
            named = ((row["id"], traces(config, entry, row, documents=not wanted.repeat_documents)) for row in rows)
            row_id, found = next((one for one in named if used.isdisjoint(one[1])), ("", frozenset()))
            if not row_id:
                labels.remove(rows)
                continue
            used |= found
            yield row_id


_TRACED = ("corpus", "doc_id", "sent_ids", "pair_id", *TEXT_COLUMNS)


def traces(config: str, entry: ConfigEntry, row: Mapping[str, Any], *, documents: bool) -> Traces:
    """What a row reveals to its reader; with ``documents`` its document too.

    Sentences are named by their ids in the corpus, which an edited sentence shares with its original, and by their
    texts, as data of others have no ids.
    """
    corpus = entry["lang"], row["corpus"]
    shown = (row[column] for column in TEXT_COLUMNS if column in row)
    texts = itertools.chain.from_iterable([text] if isinstance(text, str) else text for text in shown)
    found: set[tuple[str, ...]] = {("text", entry["lang"], text) for text in texts}
    found |= {("sentence", *corpus, sentence) for sentence in row["sent_ids"] or ()}
    found |= {("pair", config, row["pair_id"])} if row["pair_id"] else set()
    found |= {("document", *corpus, row["doc_id"])} if documents and row["doc_id"] else set()
    return frozenset(found)


def unread(store: RowStore, wanted: BlindRound, drawn: Draw, of_reader: Iterable[Mark]) -> Draw:
    """The rows of a round without those that share something with rows that the reader has read outside of it.

    ``of_reader`` are the reader's marks. A verdict counts as read too: its row was shown with the label.
    """
    of_reader = [mark for mark in of_reader if mark.kind != "reveal" and mark.config in store.configs]
    places = {row.place for row in drawn.rows}
    own = places & {mark.place for mark in of_reader if mark.kind == "answer" and mark.round == wanted.name}
    read = frozenset(mark.place for mark in of_reader) - own
    if not read:
        return drawn
    known: set[tuple[str, ...]] = set()
    for row in store.at(read):
        known |= _traces_of(row, wanted)
    rows = [row for row in drawn.rows if row.place in own or known.isdisjoint(_traces_of(row, wanted))]
    lost = Counter(row.config for row in drawn.rows) - Counter(row.config for row in rows)
    return drawn._replace(rows=rows, read_before=dict(lost))


def _traces_of(row: ReleaseRow, wanted: BlindRound) -> Traces:
    return traces(row.config, row.entry, row.values, documents=not wanted.repeat_documents)


def _rank(*parts: str) -> bytes:
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).digest()


def question_of(entry: ConfigEntry) -> str:
    """What a reader is asked about a row of a config."""
    return ("Which text is better? " if entry["shape"] == Shape.SUITE else "") + entry["summary"]


def possible_answers(entry: ConfigEntry) -> tuple[str, ...]:
    """What a row may be answered: the names of the labels that rows have; in a suite, which text is the good one."""
    return PLACES if entry["shape"] == Shape.SUITE else labels_of(entry)


def labels_of(entry: ConfigEntry) -> tuple[str, ...]:
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
    """How a reader did, config by config in the order of the round; ``answers`` are by the place of the row."""
    by_config: defaultdict[str, list[ReleaseRow]] = defaultdict(list)
    for row in rows:
        by_config[row.config].append(row)
    return [_score(config, store.entry(config), own, answers) for config, own in by_config.items()]


def _score(
    config: str, entry: ConfigEntry, rows: Sequence[ReleaseRow], answers: dict[tuple[str, str], Mark]
) -> RoundScore:
    given = {row.id: answers[row.place].answer for row in rows if row.place in answers}
    wrong = tuple(
        row.id for row in rows if row.id in given and given[row.id] != right_answer(row.values, entry["labels"])
    )
    correct, audit = len(given) - len(wrong), entry["audit"]
    return RoundScore(
        config, len(rows), len(given), correct, sum(answer == CANNOT_TELL for answer in given.values()),
        exact(correct, len(given)), audit["majority"] if audit else None, (audit and audit["strongest"]) or "",
        audit["accuracy"] if audit else None, wrong,
    )  # fmt: skip
