"""Blind rounds: a sample of rows to be labelled by a reader who does not see their labels.

The address of a round has the configs, the split, the number of rows of each, and a name, which is the seed of the
sample. The same round has the same rows in every browser, so only the answers need to be stored.

No two rows of a round show the same sentence, and none come from one document: otherwise a row of one task could show
the answer to a row of another (the order of the sentences, or which sentence is edited). Documents are repeated if the
reader asks for it, and if a config has too few for a figure; intervals then count rows of a document as fewer.

``sample`` chooses the rows, ``unread`` leaves out what the reader has seen, ``scores`` compares the answers with the
labels; ``BlindPages`` has the form that begins a round, its questions, its answers and its result.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
from flask import Response, abort, jsonify, redirect, request
from werkzeug.datastructures import MultiDict

from discoprobe.builders.settings import SPLITS
from discoprobe.cards import readers
from discoprobe.cards.readers import (
    CANNOT_TELL,
    LEAST_ROWS,
    TEXT_COLUMNS,
    Mark,
    interval_of,
    right_answer,
)
from discoprobe.cards.release.rows import ReleaseRow, RowStore, configs_asked
from discoprobe.cards.review.pages import language
from discoprobe.cards.review.site import whole_number
from discoprobe.cards.text.questions import answer_names, possible_answers, question_of, question_texts
from discoprobe.cards.text.verdicts import trick_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from werkzeug.wrappers import Response as BaseResponse

    from discoprobe.cards.metadata.manifest import ConfigEntry
    from discoprobe.cards.review.site import Reader, Site

Place = tuple[str, str]
"""The config and the id of a row."""
Traces = frozenset[tuple[str, ...]]
"""What a row reveals: its pair, its document, its sentences."""


class BlindRound(msgspec.Struct, frozen=True):
    """A round: its name, the configs that it reads, the split, and how many rows of each config at most.

    With ``repeat_documents`` several rows may come from one document, but no two show the same sentence.
    """

    name: str
    configs: tuple[str, ...]
    split: str
    n: int
    repeat_documents: bool = False

    def rank(self, *parts: str) -> bytes:
        """A hash that puts what the parts name into an order that depends on the name of the round."""
        return hashlib.blake2b("\x1f".join((self.name, *parts)).encode(), digest_size=8).digest()

    def traces(self, config: str, entry: ConfigEntry, row: Mapping[str, Any]) -> Traces:
        """What a row reveals to its reader, its document too unless documents may be repeated.

        Sentences are named by their ids in the corpus, which an edited sentence shares with its original, and by their
        texts, as data of others have no ids.
        """
        corpus = entry.lang, row["corpus"]
        columns = (row[column] for column in TEXT_COLUMNS if column in row)
        texts = itertools.chain.from_iterable([text] if isinstance(text, str) else text for text in columns)
        traces: set[tuple[str, ...]] = {("text", entry.lang, text) for text in texts}
        traces |= {("sentence", *corpus, sentence) for sentence in row["sent_ids"] or ()}
        if row["pair_id"]:
            traces.add(("pair", config, row["pair_id"]))
        if row["doc_id"] and not self.repeat_documents:
            traces.add(("document", *corpus, row["doc_id"]))
        return frozenset(traces)


class RoundSample(msgspec.Struct, frozen=True):
    """The rows of a round in the order in which they are asked, and how many of each config are not asked.

    ``missing``: because every other row shares a document or sentence with rows of the round. ``read_before``: because
    the reader has read them, or rows that share something with them. Configs without such rows are not listed.
    ``repeated`` counts the rows of each config whose documents are in other rows, because it has too few documents.
    """

    rows: list[ReleaseRow]
    missing: Mapping[str, int]
    read_before: Mapping[str, int]
    repeated: Mapping[str, int] = {}


def sample(store: RowStore, blind_round: BlindRound) -> RoundSample:
    """The rows of a round: config by config, labels mixed.

    No two share a sentence or a pair, nor a document, unless a config would have fewer than ``LEAST_ROWS``: it may
    then repeat documents of its own, none of another config. Rows are chosen from each config in turn, so that no
    config uses up the documents, and from each label of a config in turn, so that labels are about equally frequent.
    """
    configs, split = blind_round.configs, blind_round.split
    used: set[tuple[str, ...]] = set()
    chosen: dict[str, list[str]] = {config: [] for config in configs}
    ids_of = {config: _ids_to_ask(store, config, blind_round, used) for config in configs}
    for config in itertools.islice(itertools.cycle(configs), blind_round.n * len(configs)):
        chosen[config] += itertools.islice(ids_of[config], 1)
    least, repeated = min(blind_round.n, LEAST_ROWS), {}
    repeating = msgspec.structs.replace(blind_round, repeat_documents=True)
    documents = {
        config: {
            trace
            for row in store.rows_with(config, split, ids).values()
            for trace in blind_round.traces(config, row.entry, row.values)
            if trace[0] == "document"
        }
        for config, ids in chosen.items()
    }
    for config in configs:
        lacking = max(0, least - len(chosen[config]))
        of_others = set().union(*(of_one for other, of_one in documents.items() if other != config))
        own = _ids_to_ask(store, config, repeating, used, of_others)
        if more := list(itertools.islice(own, lacking)):
            repeated[config] = len(more)
            chosen[config] += more
    rows: list[ReleaseRow] = []
    missing = {}
    for config, ids in chosen.items():
        by_id = store.rows_with(config, split, ids)
        order = {row_id: blind_round.rank(config, row_id, "order") for row_id in ids}
        rows += [by_id[row_id] for row_id in sorted(ids, key=order.__getitem__)]
        if n := min(blind_round.n, sum(store.entry(config).counts[split].values())) - len(ids):
            missing[config] = n
    return RoundSample(rows, missing, {}, repeated)


def _ids_to_ask(
    store: RowStore, config: str, blind_round: BlindRound, used: set[tuple[str, ...]],
    of_others: Collection[tuple[str, ...]] = (),
) -> Iterator[str]:  # fmt: skip
    """Ids of rows of a config, one of each label in turn, whose traces are not in ``used``; the traces are added.

    None is of a document in ``of_others``, which are those of rows of other configs.
    """
    entry = store.entry(config)
    strict = msgspec.structs.replace(blind_round, repeat_documents=False)
    names = ["id", "label", "corpus", "doc_id", "sent_ids", "pair_id", *TEXT_COLUMNS]
    columns = store.columns(config, blind_round.split, names)
    of_label: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(columns.iter_rows(named=True), key=lambda row: blind_round.rank(config, row["id"])):
        of_label[row["label"]].append(row)
    labels = [iter(of_label[label]) for label in sorted(of_label)]
    while labels:
        for rows in list(labels):
            for row in rows:
                traces = blind_round.traces(config, entry, row)
                if used.isdisjoint(traces) and strict.traces(config, entry, row).isdisjoint(of_others):
                    used |= traces
                    yield row["id"]
                    break
            else:
                labels.remove(rows)


def unread(store: RowStore, blind_round: BlindRound, sampled: RoundSample, of_reader: Iterable[Mark]) -> RoundSample:
    """The rows of a round without those that share something with rows that the reader has read outside of it.

    ``of_reader`` are the reader's marks. A verdict counts as read too: its row was shown with the label.
    """
    of_reader = [mark for mark in of_reader if mark.kind != "reveal" and mark.config in store.configs]
    answered = {mark.place for mark in of_reader if mark.kind == "answer" and mark.round == blind_round.name}
    answered &= {row.place for row in sampled.rows}
    read = frozenset(mark.place for mark in of_reader) - answered
    if not read:
        return sampled
    seen = set().union(*(blind_round.traces(row.config, row.entry, row.values) for row in store.at(read)))
    rows = [
        row
        for row in sampled.rows
        if row.place in answered or seen.isdisjoint(blind_round.traces(row.config, row.entry, row.values))
    ]
    read_before = Counter(row.config for row in sampled.rows) - Counter(row.config for row in rows)
    return msgspec.structs.replace(sampled, rows=rows, read_before=dict(read_before))


class RoundScore(msgspec.Struct, frozen=True):
    """How a reader did in a config of a round; ``majority`` and the best cheap ``trick`` are the audit's, if any.

    ``interval`` is that of 95 % for the share of the rows answered (not of those asked) that are correct.
    """

    config: str
    asked: int
    answered: int
    correct: int
    cannot_tell: int
    interval: tuple[float, float]
    majority: float | None
    trick: str
    wrong: tuple[str, ...]


def scores(store: RowStore, rows: Sequence[ReleaseRow], answers: Mapping[Place, Mark]) -> list[RoundScore]:
    """How a reader did, config by config in the order of the round; ``answers`` are by the place of the row."""
    results = []
    for config, of_config in itertools.groupby(rows, key=lambda row: row.config):
        asked, entry = list(of_config), store.entry(config)
        answered = [row for row in asked if row.place in answers]
        wrong = [row.id for row in answered if answers[row.place].answer != right_answer(row.values, entry.labels)]
        correct, audit = len(answered) - len(wrong), entry.audit
        score = RoundScore(
            config, len(asked), len(answered), correct,
            cannot_tell=sum(answers[row.place].answer == CANNOT_TELL for row in answered),
            interval=interval_of([row.id not in wrong for row in answered], [_document(row) for row in answered]),
            majority=audit.majority if audit else None,
            trick=trick_of(audit) if audit else "", wrong=tuple(wrong),
        )  # fmt: skip
        results.append(score)
    return results


def _document(row: ReleaseRow) -> str:
    document = row.values.get("doc_id")
    return f"{row.values['corpus']}\x1f{document}" if document is not None else ""


_ROUND_ROWS: Final = 30
_ROUND_KEYS: Final = ("name", "config", "task", "lang", "split", "n", "repeat")


class BlindPages:
    """The pages of blind rounds."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.sample = functools.lru_cache(maxsize=8)(functools.partial(sample, site.store))
        site.add(
            {
                "/blind": self.start, "/blind/round": self.question, "/blind/round.json": self.questions,
                "/blind/result": self.result,
            },
            {"/answer": self.save_answer, "/answers.json": self.save_answers, "/reveal": self.reveal},
        )  # fmt: skip

    def start(self) -> Response:
        """The form that begins a blind round; it names the rounds that the reader has begun."""
        name = self.site.reader().name
        rounds = sorted({mark.round for mark in self.site.marks() if mark.kind == "answer" and mark.reader == name})
        return self.site.page(
            "blind_start.html", "Blind round", n=_ROUND_ROWS, splits=SPLITS, tasks=self.site.store.tasks(),
            langs=self.site.store.languages(), rounds=rounds, least=LEAST_ROWS,
        )  # fmt: skip

    def _round(self, args: MultiDict[str, str]) -> BlindRound:
        """The round that an address names."""
        split = args.get("split", "test")
        name = args.get("name", "").strip()
        if split not in SPLITS or not name:
            abort(400, "a round has a name and a split")
        entries = self.site.store.chosen(configs_asked(args))
        configs = tuple(config for config, entry in entries.items() if split in entry.counts)
        if not configs:
            abort(404, f"no config of these tasks and languages has a {split} split")
        n = min(1000, max(1, whole_number(args.get("n"), _ROUND_ROWS)))
        return BlindRound(name[:80], configs, split, n, bool(args.get("repeat")))

    def _progress(self, blind_round: BlindRound, reader: Reader) -> tuple[RoundSample, dict[Place, Mark], bool]:
        """What a reader is asked in a round, the reader's answers by row, and whether the results have been shown."""
        of_reader = [mark for mark in self.site.marks() if mark.reader == reader.name]
        sampled = unread(self.site.store, blind_round, self.sample(blind_round), of_reader)
        of_round = [mark for mark in of_reader if mark.round == blind_round.name]
        answers = {mark.place: mark for mark in of_round if mark.kind == "answer"}
        return sampled, answers, any(mark.kind == "reveal" for mark in of_round)

    def question(self) -> BaseResponse:
        """A row of a round without its label: the one that is asked for, else the first that is not answered."""
        blind_round, reader, address = self._round(request.args), self.site.named_reader(), _round_address(request.args)
        sampled, answers, revealed = self._progress(blind_round, reader)
        if revealed:
            return redirect(f"/blind/result?{address}", 303)
        rows = sampled.rows
        first = next((number for number, row in enumerate(rows) if row.place not in answers), len(rows))
        at = min(max(0, whole_number(request.args.get("at"), first)), len(rows))
        answered = sum(row.place in answers for row in rows)
        values = {"at": at, "n": len(rows), "answered": answered, "address": address, "sampled": sampled}
        if at == len(rows):
            return self.site.page("blind_end.html", "Blind round", **values)
        row, answer = rows[at], answers.get(rows[at].place)
        return self.site.page(
            "blind_question.html", f"{row.config}: {at + 1} of {len(rows)}", row=row,
            texts=question_texts(row.entry, row.values),
            asks=question_of(row.entry), lang=language(row), answers=answer_names(row.entry),
            answer=answer.answer if answer else "", comment=answer.comment if answer else "",
            cannot_tell=CANNOT_TELL, **values,
        )  # fmt: skip

    def questions(self) -> Response:
        """All rows of a round without their labels, as JSON, with the token that answers need."""
        blind_round = self._round(request.args)
        sampled, answers, revealed = self._progress(blind_round, self.site.named_reader())
        items = [
            {
                "config": row.config, "row": row.id, "asks": question_of(row.entry),
                "texts": [{"name": text.name, "text": text.text} for text in question_texts(row.entry, row.values)],
                "answers": [*possible_answers(row.entry), CANNOT_TELL],
                "answered": answers[row.place].answer if row.place in answers else None,
            }
            for row in sampled.rows
        ]  # fmt: skip
        return jsonify(
            round=blind_round.name, token=self.site.token, revealed=revealed, items=items, missing=sampled.missing,
            read_before=sampled.read_before,
        )  # fmt: skip

    def result(self) -> BaseResponse:
        """How the reader did, once the labels have been revealed."""
        blind_round, reader = self._round(request.args), self.site.named_reader()
        sampled, answers, revealed = self._progress(blind_round, reader)
        if not revealed:
            return redirect(f"/blind/round?{_round_address(request.args)}", 303)
        results = scores(self.site.store, sampled.rows, answers)
        if self.site.wants_json():
            return jsonify([msgspec.to_builtins(score) for score in results])
        return self.site.page(
            "blind_result.html", "Result of the blind round", scores=results, round=blind_round, who=reader
        )

    def save_answer(self) -> BaseResponse:
        """Writes one answer of a round."""
        args = _args_of(request.form.get("round", ""))
        self._save(self._round(args), [request.form])
        at = whole_number(request.form.get("at"), 0) + 1
        return redirect(f"/blind/round?{_round_address(args)}&at={at}", 303)

    def save_answers(self) -> BaseResponse:
        """Writes answers of a round that come as JSON: ``token``, ``round`` (its address), ``answers``."""
        sent = self.site.posted()
        answers = sent.get("answers")
        if not isinstance(answers, list) or not all(isinstance(answer, dict) for answer in answers):
            abort(400, "answers is a list of objects with config, row and answer")
        return jsonify(saved=self._save(self._round(_args_of(str(sent.get("round", "")))), answers))

    def _save(self, blind_round: BlindRound, answers: Sequence[Mapping[str, Any]]) -> int:
        """Writes answers if all of them can be given, and returns their number."""
        reader = self.site.named_reader()
        if self._progress(blind_round, reader)[2]:
            abort(409, "the results of this round have been shown; begin another one")
        rows = {row.place: row for row in self.sample(blind_round).rows}
        marks = []
        for sent in answers:
            place, answer = (str(sent.get("config", "")), str(sent.get("row", ""))), str(sent.get("answer", ""))
            if place not in rows:
                abort(404, f"the round has no row {place[1][:40]} of {place[0][:40]}")
            row = rows[place]
            if answer not in {*possible_answers(row.entry), CANNOT_TELL}:
                abort(400, f"'{answer[:40]}' is no answer for {row.config}")
            comment = str(sent.get("comment", "")).strip()
            mark = Mark(
                "answer", reader.name, reader.kind, readers.now(), row.config, row.id, answer=answer, comment=comment,
                shown=row.shown, round=blind_round.name, sitting=self.site.sitting,
            )  # fmt: skip
            marks.append(mark)
        readers.append(self.site.path, marks)
        return len(marks)

    def reveal(self) -> BaseResponse:
        """Ends a round: from now on its labels may be seen, and answers to it do not count."""
        args = _args_of(str(self.site.posted().get("round", "")))
        blind_round, reader = self._round(args), self.site.named_reader()
        if not self._progress(blind_round, reader)[2]:
            mark = Mark(
                "reveal", reader.name, reader.kind, readers.now(), round=blind_round.name, sitting=self.site.sitting
            )
            readers.append(self.site.path, [mark])
        return redirect(f"/blind/result?{_round_address(args)}", 303)


def _round_address(args: MultiDict[str, str]) -> str:
    """The part of an address that names a round."""
    return urlencode([(key, value) for key, value in args.items(multi=True) if key in _ROUND_KEYS and value])


def _args_of(address: str) -> MultiDict[str, str]:
    return MultiDict(parse_qsl(address))
