"""Blind rounds: a sample of rows to be labelled by a reader who does not see their labels.

The address of a round has the configs, the split, the number of rows of each, and a name, which is the seed of the
sample. The same round has the same rows in every browser, so only the answers need to be stored.

No two rows of a round come from one document or show the same sentence: otherwise a row of one task could show the
answer to a row of another (the order of the sentences, or which sentence is edited).

The pages of blind rounds: the form that begins one, its questions, its answers and its result.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from flask import Response, abort, jsonify, redirect, request
from werkzeug.datastructures import MultiDict

from discoprobe.builders.audit.intervals import exact
from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.cards import readers
from discoprobe.cards.readers import CANNOT_TELL, PLACES, TEXT_COLUMNS, Mark, right_answer
from discoprobe.cards.release.rows import ReleaseRow, RowStore, configs_asked
from discoprobe.cards.review.site import language, question_texts, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from werkzeug.wrappers import Response as BaseResponse

    from discoprobe.cards.metadata.manifest import ConfigEntry
    from discoprobe.cards.review.site import Reader, Site


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


_ROUND_ROWS: Final = 30
_ROUND_KEYS: Final = ("name", "config", "task", "lang", "split", "n", "repeat")


class BlindPages:
    """The pages of blind rounds."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.draw = functools.lru_cache(maxsize=8)(functools.partial(draw, site.store))
        site.add(
            {
                "/blind": self.start, "/blind/round": self.question, "/blind/round.json": self.questions,
                "/blind/result": self.result,
            },
            {"/answer": self.save_answer, "/answers.json": self.save_answers, "/reveal": self.reveal},
        )  # fmt: skip

    def start(self) -> Response:
        """The form that begins a blind round."""
        return self.site.page(
            "blind_start.html", "Blind round", n=_ROUND_ROWS, splits=SPLITS, tasks=self.site.store.tasks(),
            langs=self.site.store.languages(), rounds=self._rounds(),
        )  # fmt: skip

    def _rounds(self) -> list[str]:
        """The rounds that the reader has begun."""
        name = self.site.reader().name
        return sorted({mark.round for mark in self.site.marks() if mark.kind == "answer" and mark.reader == name})

    def _round(self, args: MultiDict[str, str]) -> BlindRound:
        split = args.get("split", "test")
        name = args.get("name", "").strip()
        if split not in SPLITS or not name:
            abort(400, "a round has a name and a split")
        configs = self.site.store.chosen(configs_asked(args))
        configs = {config: entry for config, entry in configs.items() if split in entry["counts"]}
        if not configs:
            abort(404, f"no config of these tasks and languages has a {split} split")
        n = min(1000, max(1, whole_number(args.get("n"), _ROUND_ROWS)))
        return BlindRound(name[:80], tuple(configs), split, n, bool(args.get("repeat")))

    def _asked(self, wanted: BlindRound, reader: Reader) -> Draw:
        """The rows of a round that the reader is asked for."""
        of_reader = [mark for mark in self.site.marks() if mark.reader == reader.name]
        return unread(self.site.store, wanted, self.draw(wanted), of_reader)

    def _answered(self, wanted: BlindRound, reader: Reader) -> tuple[dict[tuple[str, str], Mark], bool]:
        """The reader's answers in a round by row, and whether the reader has seen its results."""
        of_round = [mark for mark in self.site.marks() if mark.reader == reader.name and mark.round == wanted.name]
        answers = {mark.place: mark for mark in of_round if mark.kind == "answer"}
        return answers, any(mark.kind == "reveal" for mark in of_round)

    def question(self) -> BaseResponse:
        """A row of a round without its label: the one that is asked for, else the first that is not answered."""
        wanted, reader = self._round(request.args), self.site.named_reader()
        drawn = self._asked(wanted, reader)
        rows = drawn.rows
        answers, revealed = self._answered(wanted, reader)
        address = _round_address(request.args)
        if revealed:
            return redirect(f"/blind/result?{address}", 303)
        at = next((number for number, row in enumerate(rows) if row.place not in answers), len(rows))
        at = min(max(0, whole_number(request.args.get("at"), at)), len(rows))
        answered = sum(row.place in answers for row in rows)
        values = {"at": at, "n": len(rows), "answered": answered, "address": address, "drawn": drawn}
        if at == len(rows):
            return self.site.page("blind_end.html", "Blind round", **values)
        row = rows[at]
        given = answers.get(row.place)
        return self.site.page(
            "blind_question.html", f"{row.config}: {at + 1} of {len(rows)}", row=row, texts=question_texts(row),
            asks=question_of(row.entry), lang=language(row), answers=answer_names(row.entry),
            given=given.answer if given else "", comment=given.comment if given else "", cannot_tell=CANNOT_TELL,
            **values,
        )  # fmt: skip

    def questions(self) -> Response:
        """All rows of a round without their labels, as JSON, with the token that answers need."""
        wanted, reader = self._round(request.args), self.site.named_reader()
        answers, revealed = self._answered(wanted, reader)
        drawn = self._asked(wanted, reader)
        items = [
            {
                "config": row.config, "row": row.id, "asks": question_of(row.entry),
                "texts": [{"name": one.name, "text": one.pieces[0].text} for one in question_texts(row)],
                "answers": [*possible_answers(row.entry), CANNOT_TELL],
                "answered": answers[row.place].answer if row.place in answers else None,
            }
            for row in drawn.rows
        ]  # fmt: skip
        return jsonify(
            round=wanted.name, token=self.site.token, revealed=revealed, items=items, missing=drawn.missing,
            read_before=drawn.read_before,
        )  # fmt: skip

    def result(self) -> BaseResponse:
        """How the reader did, once the labels have been revealed."""
        wanted, reader = self._round(request.args), self.site.named_reader()
        answers, revealed = self._answered(wanted, reader)
        if not revealed:
            return redirect(f"/blind/round?{_round_address(request.args)}", 303)
        found = scores(self.site.store, self._asked(wanted, reader).rows, answers)
        if self.site.wants_json():
            return jsonify([{name: getattr(one, name) for name in one.__slots__} for one in found])
        return self.site.page("blind_result.html", "Result of the blind round", scores=found, round=wanted, who=reader)

    def save_answer(self) -> BaseResponse:
        """Writes one answer of a round."""
        address = request.form.get("round", "")
        args = _args_of(address)
        self._save(self._round(args), [request.form])
        at = whole_number(request.form.get("at"), 0) + 1
        return redirect(f"/blind/round?{_round_address(args)}&at={at}", 303)

    def save_answers(self) -> BaseResponse:
        """Writes answers of a round that come as JSON: ``token``, ``round`` (its address), ``answers``."""
        sent = self.site.posted()
        answers = sent.get("answers")
        if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
            abort(400, "answers is a list of objects with config, row and answer")
        return jsonify(saved=self._save(self._round(_args_of(str(sent.get("round", "")))), answers))

    def _save(self, wanted: BlindRound, answers: Sequence[Mapping[str, Any]]) -> int:
        reader = self.site.named_reader()
        if self._answered(wanted, reader)[1]:
            abort(409, "the results of this round have been shown; begin another one")
        rows = {row.place: row for row in self.draw(wanted).rows}
        made = []
        for one in answers:
            place, answer = (str(one.get("config", "")), str(one.get("row", ""))), str(one.get("answer", ""))
            if place not in rows:
                abort(404, f"the round has no row {place[1][:40]} of {place[0][:40]}")
            row = rows[place]
            if answer not in {*possible_answers(row.entry), CANNOT_TELL}:
                abort(400, f"'{answer[:40]}' is no answer for {row.config}")
            made.append(
                Mark(
                    "answer", reader.name, reader.kind, readers.now(), row.config, row.id, answer=answer,
                    comment=str(one.get("comment", "")).strip(), shown=row.shown, round=wanted.name,
                )
            )  # fmt: skip
        readers.append(self.site.path, made)
        return len(made)

    def reveal(self) -> BaseResponse:
        """Ends a round: from now on its labels may be seen, and answers to it do not count."""
        sent, reader = self.site.posted(), self.site.named_reader()
        args = _args_of(str(sent.get("round", "")))
        wanted = self._round(args)
        if not self._answered(wanted, reader)[1]:
            made = Mark("reveal", reader.name, reader.kind, readers.now(), round=wanted.name)
            readers.append(self.site.path, [made])
        return redirect(f"/blind/result?{_round_address(args)}", 303)


def _round_address(args: MultiDict[str, str]) -> str:
    """The part of an address that names a round."""
    return urlencode([(key, value) for key, value in args.items(multi=True) if key in _ROUND_KEYS and value])


def _args_of(address: str) -> MultiDict[str, str]:
    return MultiDict(parse_qsl(address))
