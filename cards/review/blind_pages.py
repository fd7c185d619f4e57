"""The pages of blind rounds: the form that begins one, its questions, its answers and its result."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode

from flask import Response, abort, jsonify, redirect, request
from werkzeug.datastructures import MultiDict

from discoprobe.builders.settings import SPLITS
from discoprobe.cards.readers import marks
from discoprobe.cards.readers.marks import CANNOT_TELL, Mark
from discoprobe.cards.review import blind_round
from discoprobe.cards.review.blind_round import BlindRound, possible_answers
from discoprobe.cards.review.row_store import configs_asked
from discoprobe.cards.review.row_view import language, question_texts
from discoprobe.cards.review.site import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from werkzeug.wrappers import Response as BaseResponse

    from discoprobe.cards.review.blind_round import Draw
    from discoprobe.cards.review.site import Reader, Site

_ROUND_ROWS: Final = 30
_ROUND_KEYS: Final = ("name", "config", "task", "lang", "split", "n", "repeat")


class BlindPages:
    """The pages of blind rounds."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.draw = functools.lru_cache(maxsize=8)(functools.partial(blind_round.draw, site.store))
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
        return blind_round.unread(self.site.store, wanted, self.draw(wanted), of_reader)

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
            asks=blind_round.question_of(row.entry), lang=language(row), answers=blind_round.answer_names(row.entry),
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
                "config": row.config, "row": row.id, "asks": blind_round.question_of(row.entry),
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
        found = blind_round.scores(self.site.store, self._asked(wanted, reader).rows, answers)
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
                    "answer", reader.name, reader.kind, marks.now(), row.config, row.id, answer=answer,
                    comment=str(one.get("comment", "")).strip(), shown=row.shown, round=wanted.name,
                )
            )  # fmt: skip
        marks.append(self.site.path, made)
        return len(made)

    def reveal(self) -> BaseResponse:
        """Ends a round: from now on its labels may be seen, and answers to it do not count."""
        sent, reader = self.site.posted(), self.site.named_reader()
        args = _args_of(str(sent.get("round", "")))
        wanted = self._round(args)
        if not self._answered(wanted, reader)[1]:
            made = Mark("reveal", reader.name, reader.kind, marks.now(), round=wanted.name)
            marks.append(self.site.path, [made])
        return redirect(f"/blind/result?{_round_address(args)}", 303)


def _round_address(args: MultiDict[str, str]) -> str:
    """The part of an address that names a round."""
    return urlencode([(key, value) for key, value in args.items(multi=True) if key in _ROUND_KEYS and value])


def _args_of(address: str) -> MultiDict[str, str]:
    return MultiDict(parse_qsl(address))
