"""The review application: rows of a release in a browser of this machine, to be read, marked, and labelled blind.

Every page works without a script; `app.js` adds the keyboard and sends marks without loading the page again. The server
listens on the loopback interface only. It answers no other host name (against DNS rebinding), takes a form only with
the token that its own pages have (against forms of other sites), and opens only files that the manifest lists.
"""

from __future__ import annotations

import hmac
import json
import logging
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast
from urllib.parse import quote, unquote, urlencode, urlsplit

from flask import Flask, Response, abort, jsonify, redirect, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import BaseWSGIServer, make_server

from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import manifest, yaml_header
from discoprobe.cards.readers import marks
from discoprobe.cards.readers.marks import CANNOT_TELL, FAULTS, READER_KINDS, VERDICTS, Mark
from discoprobe.cards.review import pages
from discoprobe.cards.review.blind_round import BlindRound, answer_names, possible_answers, round_rows, scores
from discoprobe.cards.review.row_store import RowFilter, RowStore
from discoprobe.cards.review.row_view import question_texts, shown_row, side_by_side
from discoprobe.cards.review.terminal_view import card_text
from discoprobe.cards.text import card
from discoprobe.cards.text.render import render
from discoprobe.cards.text.verdicts import verdicts
from discoprobe.loaders.errors import DiscoprobeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from werkzeug.datastructures import MultiDict
    from werkzeug.wrappers import Response as BaseResponse

    from discoprobe.cards.readers.marks import ReaderKind
    from discoprobe.cards.release.diff import Changes
    from discoprobe.cards.review.row_store import ReleaseRow
    from discoprobe.cards.review.row_view import ShownRow

View: TypeAlias = "Callable[..., BaseResponse | tuple[str, int]]"
"""What answers a request."""
HOST: Final = "127.0.0.1"
PAGE_ROWS: Final = 25
_MOST_BYTES: Final = 2_000_000
_ROUND_ROWS: Final = 30
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src"
    " 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ContextLine(Protocol):
    """A sentence of the source of a row."""

    @property
    def text(self) -> str:
        """What it says."""

    @property
    def shown(self) -> bool:
        """Whether the row has it."""

    @property
    def after_gap(self) -> bool:
        """Whether sentences of the source stand between it and the one before."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: a name, and whether that is a person or a model."""

    name: str = ""
    kind: ReaderKind = "person"


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """What the application shows.

    Attributes:
        languages: of these languages only; all by default.
        reader: who reads, until the browser says otherwise.
        changes: what changed since another release.
        against: the name of that release.
        context: (language, corpus, sent_ids) → the sentences of the source around these.
    """

    languages: tuple[str, ...] = ()
    reader: Reader = Reader()
    changes: Changes | None = None
    against: str = ""
    context: Callable[[str, str, Collection[str]], Sequence[ContextLine]] | None = None


def server(release: Path, options: ReviewOptions, port: int = 0) -> tuple[BaseWSGIServer, str]:
    """A server for a release folder that is ready to serve, and the address of its first page.

    Args:
        release: the release folder.
        options: what is shown.
        port: where it listens; any free one by default.

    Raises:
        UsageError: there is nothing to show, or the port is taken.
    """
    app = make_app(release, options)
    try:
        made = make_server(HOST, port, app, threaded=True)
    except (OSError, SystemExit):
        raise UsageError(f"port {port} is in use; give --port another, or none") from None
    app.config["HOSTS"] = {f"{name}:{made.server_port}" for name in (HOST, "localhost")}
    return made, f"http://{HOST}:{made.server_port}/"


def make_app(release: Path, options: ReviewOptions) -> Flask:
    """The application for a release folder; ``config["HOSTS"]`` has the names by which it may be called."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # a line per request says nothing
    app = Flask("discoprobe.cards.review", static_folder=None)
    app.config |= {"MAX_CONTENT_LENGTH": _MOST_BYTES, "HOSTS": {HOST, "localhost"}}
    _Review(app, release, options)
    return app


class _Review:
    """The pages of the application and what they need."""

    def __init__(self, app: Flask, release: Path, options: ReviewOptions) -> None:
        self.app, self.release, self.options = app, release, options
        self.store = RowStore(release, options.languages)
        self.path = marks.marks_file(release)
        self.token = secrets.token_urlsafe(24)
        self.verdicts = verdicts(self.store.manifest["configs"])
        marks.read_marks(self.path)  # a file that cannot be read is said before the first page
        app.before_request(self._guard)
        app.after_request(_with_headers)
        app.register_error_handler(DiscoprobeError, self._failed)
        app.register_error_handler(HTTPException, self._refused)
        shown: dict[str, View] = {
            "/": self.overview, "/rows": self.rows, "/row/<config>/<row_id>": self.row, "/card": self.release_card,
            "/card/<config>": self.config_card, "/changes": self.changes_page, "/surest/<config>": self.surest,
            "/blind": self.blind, "/blind/round": self.blind_question, "/blind/round.json": self.blind_json,
            "/blind/result": self.blind_result, "/marks.jsonl": self.export, "/assets/<name>": self.plot,
            "/app.css": self.style, "/app.js": self.script, "/favicon.ico": self.no_icon,
        }  # fmt: skip
        sent: dict[str, View] = {
            "/mark": self.save_mark, "/answer": self.save_answer, "/answers.json": self.save_answers,
            "/reveal": self.reveal, "/reader": self.set_reader,
        }  # fmt: skip
        for rule, view in shown.items():
            app.add_url_rule(rule, rule, view)
        for rule, view in sent.items():
            app.add_url_rule(rule, rule, view, methods=["POST"])

    # who may ask

    def _guard(self) -> None:
        if request.host not in self.app.config["HOSTS"]:
            abort(400, "this server answers to its own address only")
        if request.method != "POST":
            return
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            abort(403, "the form is not from this application")
        given = self._posted().get("token", "")
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), self.token.encode()):
            abort(403, "the form is from an earlier start of this program; load the page again")

    @staticmethod
    def _posted() -> Mapping[str, Any]:
        """What a form or a JSON request sent."""
        if request.is_json:
            found = request.get_json(silent=True)
            if not isinstance(found, dict):
                abort(400, "not a JSON object")
            return found
        return request.form

    @staticmethod
    def _wants_json() -> bool:
        return request.is_json or request.accept_mimetypes.best == "application/json"

    def _failed(self, error: DiscoprobeError) -> tuple[Response, int]:
        status = 404 if "no row" in str(error) or "unknown" in str(error) else 400
        return self._problem(str(error), status)

    def _refused(self, error: HTTPException) -> tuple[Response, int]:
        return self._problem(error.description or error.name, error.code or 500)

    def _problem(self, message: str, status: int) -> tuple[Response, int]:
        if self._wants_json():
            return jsonify(error=message), status
        return self._page("problem.html", "Problem", message=message), status

    # who reads

    def reader(self) -> Reader:
        """Who reads, by the cookie, else by the options of the program."""
        try:
            name, kind = json.loads(unquote(request.cookies.get("reader", "")))
        except ValueError:
            return self.options.reader
        known = isinstance(name, str) and kind in READER_KINDS
        return Reader(name[:80], kind) if known else self.options.reader

    def set_reader(self) -> BaseResponse:
        """Keeps who reads in a cookie."""
        name, kind = request.form.get("name", "").strip()[:80], request.form.get("kind", "person")
        if not name or kind not in READER_KINDS:
            abort(400, "give the reader's name, and say whether it is a person or a model")
        answer = redirect(_inside(request.form.get("next", "/")), 303)
        answer.set_cookie(
            "reader", quote(json.dumps([name, kind])), samesite="Strict", httponly=True, max_age=31_536_000
        )
        return answer

    def _named_reader(self) -> Reader:
        found = self.reader()
        if not found.name:
            abort(400, "say first who reads: a name, and whether it is a person or a model")
        return found

    # pages

    def overview(self) -> Response:
        """All configs, with what was read of each."""
        current = marks.verdicts_now(self._marks())
        answered = marks.blind_answers(self._marks())
        read = {
            name: {place for place in current.keys() | answered.keys() if place[0] == name}
            for name in self.store.configs
        }
        lines = [
            {
                "name": name, "entry": entry, "language": card.language_name(entry["lang"]),
                "rows": yaml_header.n_rows(entry), "verdict": self.verdicts[name].word, "read": len(read[name]),
                "faults": len(self._faulty(current, name)), "changed": pages.changes_of(name, self.options.changes),
            }
            for name, entry in self.store.configs.items()
        ]  # fmt: skip
        return self._page("overview.html", "Review", lines=lines, total=sum(cast("int", one["rows"]) for one in lines))

    @staticmethod
    def _faulty(current: Mapping[tuple[str, str], Mapping[str, Mark]], config: str) -> set[tuple[str, str]]:
        return {
            place
            for place, of_row in current.items()
            if place[0] == config and any(mark.verdict in FAULTS for mark in of_row.values())
        }

    def rows(self) -> Response:
        """Rows that meet the conditions of the form, page by page."""
        current = marks.verdicts_now(self._marks())
        wanted = self._filter(request.args, current)
        number = max(1, _whole_number(request.args.get("page"), 1))
        found = self.store.find(wanted, (number - 1) * PAGE_ROWS, PAGE_ROWS)
        query = [(key, value) for key, value in request.args.items(multi=True) if key != "page" and value]
        values = {
            "page": number, "pages": max(1, -(-found.total // PAGE_ROWS)), "total": found.total,
            "start": (number - 1) * PAGE_ROWS, "query": urlencode(query), "chosen": request.args,
        }  # fmt: skip
        shown = [(shown_row(row), current.get(row.place, {})) for row in found.rows]
        return self._page("rows.html", "Rows", shown=shown, choices=self._choices(wanted), **values)

    def _filter(self, args: MultiDict[str, str], current: Mapping[tuple[str, str], Mapping[str, Mark]]) -> RowFilter:
        """The conditions of the form on the page of rows."""
        split = args.get("split", "")
        if split and split not in SPLITS:
            abort(400, f"there is no split {split[:40]}")
        wanted = RowFilter(
            tuple(filter(None, args.getlist("config"))), tuple(filter(None, args.getlist("task"))),
            tuple(filter(None, args.getlist("lang"))), split, args.get("label", ""), args.get("corpus", ""),
            args.get("words", "").strip(),
        )  # fmt: skip
        verdict = args.get("verdict", "")
        if verdict == "none":
            return replace(wanted, without=frozenset(current))
        if verdict:
            found = {
                place
                for place, of_row in current.items()
                if any(verdict in {"any", mark.verdict} for mark in of_row.values())
            }
            return replace(wanted, places=frozenset(found))
        return wanted

    def _choices(self, wanted: RowFilter) -> dict[str, list[str]]:
        """What each field of the form can be set to, given the task, language and config that are set."""
        configs = self.store.chosen(RowFilter(wanted.configs, wanted.tasks, wanted.languages))
        whole = self.store.configs.values()
        labels = dict.fromkeys(label for one in configs.values() for label in possible_answers(one))
        return {
            "task": sorted({one["task"] for one in whole}), "lang": sorted({one["lang"] for one in whole}),
            "split": list(SPLITS), "label": [*labels], "verdict": ["none", "any", *VERDICTS],
            "corpus": sorted({source for one in configs.values() for source in one["sources"]}),
        }  # fmt: skip

    def row(self, config: str, row_id: str) -> Response:
        """One row: its texts, its pair, its source, and what readers said of it."""
        found = self.store.row(config, row_id)
        pair = self.store.pair_of(found)
        of_row = marks.verdicts_now(self._marks()).get(found.place, {})
        before, after = self._neighbours(found)
        return self._page(
            "row.html", f"{config} {row_id}", shown=shown_row(found), sides=side_by_side(found, pair),
            marks=of_row, context=self._context(found), before=before, after=after,
            asks=found.entry["summary"], answers=self._answers_on(found),
        )  # fmt: skip

    def _neighbours(self, row: ReleaseRow) -> tuple[str, str]:
        """Addresses of the rows before and after in the config; empty where there is none."""
        wanted = RowFilter(configs=(row.config,), split=row.split)
        first = max(0, row.number - 1)
        near = {one.number: one for one in self.store.find(wanted, first, 3).rows}
        places = (near.get(row.number - 1), near.get(row.number + 1))
        before, after = (f"/row/{one.config}/{one.id}" if one else "" for one in places)
        return before, after

    def _context(self, row: ReleaseRow) -> Sequence[ContextLine]:
        if self.options.context is None:
            return []
        return self.options.context(row.entry["lang"], str(row.values["corpus"]), set(row.values["sent_ids"] or ()))

    def _answers_on(self, row: ReleaseRow) -> dict[str, Mark]:
        return marks.blind_answers(self._marks()).get(row.place, {})

    def surest(self, config: str) -> Response:
        """The rows that each solver of the audit got right and was surest of."""
        entry = self.store.entry(config)
        path = self.release / config / "audit.json"
        if "audit.json" not in entry["files"] or not path.is_file():
            abort(404, f"{config} was not audited")
        findings = json.loads(path.read_text(encoding="utf-8"))["findings"]
        named = {one["check"]: one["rows"] for one in findings if one["kind"] == "shortcut" and one["rows"]}
        places = frozenset((config, row_id) for ids in named.values() for row_id in ids)
        rows = {
            row.id: row for row in self.store.find(RowFilter(configs=(config,), places=places), 0, len(places)).rows
        }
        of_solver: dict[str, list[tuple[ShownRow, dict[str, Mark]]]] = {
            check: [(shown_row(rows[row_id]), {}) for row_id in ids if row_id in rows] for check, ids in named.items()
        }
        return self._page(
            "surest.html", f"{config}: rows that solvers are surest of", config=config, of_solver=of_solver
        )

    def release_card(self) -> Response:
        """The card of the release."""
        return self._card("", "Release card")

    def config_card(self, config: str) -> Response:
        """The card of a config."""
        self.store.entry(config)
        return self._card(config, config)

    def _card(self, config: str, title: str) -> Response:
        html = pages.card_html(card_text(self.release, config), _card_address)
        return self._page(
            "card.html", title, html=html, config=config, changed=pages.changes_of(config, self.options.changes)
        )

    def changes_page(self) -> Response:
        """What changed since another release."""
        if self.options.changes is None:
            abort(404, "start `build review` with --against and a release to see what changed since")
        changed = {
            name: lines for name in self.store.configs if (lines := pages.changes_of(name, self.options.changes))
        }
        return self._page(
            "changes.html", f"Changes since {self.options.against}", against=self.options.against,
            news=pages.news(self.options.changes), changed=changed,
        )  # fmt: skip

    # blind rounds

    def blind(self) -> Response:
        """The form that begins a blind round."""
        whole = self.store.configs.values()
        return self._page(
            "blind_start.html", "Blind round", n=_ROUND_ROWS, splits=SPLITS,
            tasks=sorted({one["task"] for one in whole}), langs=sorted({one["lang"] for one in whole}),
            rounds=self._rounds(),
        )  # fmt: skip

    def _rounds(self) -> list[str]:
        """The rounds that the reader has begun."""
        name = self.reader().name
        return sorted({mark.round for mark in self._marks() if mark.kind == "answer" and mark.reader == name})

    def _round(self, args: MultiDict[str, str]) -> BlindRound:
        split = args.get("split", "test")
        name = args.get("name", "").strip()
        if split not in SPLITS or not name:
            abort(400, "a round has a name and a split")
        configs = self.store.chosen(
            RowFilter(
                tuple(filter(None, args.getlist("config"))), tuple(filter(None, args.getlist("task"))),
                tuple(filter(None, args.getlist("lang"))),
            )
        )  # fmt: skip
        if not configs:
            abort(404, "no config is of these tasks and languages")
        return BlindRound(
            name[:80], tuple(configs), split, min(1000, max(1, _whole_number(args.get("n"), _ROUND_ROWS)))
        )

    def _answered(self, wanted: BlindRound, reader: Reader) -> tuple[dict[tuple[str, str], Mark], bool]:
        """The reader's answers in a round by row, and whether the reader has seen its results."""
        of_round = [mark for mark in self._marks() if mark.reader == reader.name and mark.round == wanted.name]
        answers = {mark.place: mark for mark in of_round if mark.kind == "answer"}
        return answers, any(mark.kind == "reveal" for mark in of_round)

    def blind_question(self) -> BaseResponse:
        """A row of a round without its label: the one that is asked for, else the first that is not answered."""
        wanted, reader = self._round(request.args), self._named_reader()
        rows = round_rows(self.store, wanted)
        answers, revealed = self._answered(wanted, reader)
        address = _round_address(request.args)
        if revealed:
            return redirect(f"/blind/result?{address}", 303)
        at = next((number for number, row in enumerate(rows) if row.place not in answers), len(rows))
        at = min(max(0, _whole_number(request.args.get("at"), at)), len(rows))
        values = {"at": at, "n": len(rows), "answered": sum(row.place in answers for row in rows), "address": address}
        if at == len(rows):
            return self._page("blind_end.html", "Blind round", **values)
        row = rows[at]
        given = answers.get(row.place)
        return self._page(
            "blind_question.html", f"{row.config}: {at + 1} of {len(rows)}", row=row, texts=question_texts(row),
            lang=shown_row(row).lang, answers=answer_names(row.entry), given=given.answer if given else "",
            comment=given.comment if given else "", cannot_tell=CANNOT_TELL, **values,
        )  # fmt: skip

    def blind_json(self) -> Response:
        """All rows of a round without their labels, as JSON, with the token that answers need."""
        wanted, reader = self._round(request.args), self._named_reader()
        answers, revealed = self._answered(wanted, reader)
        items = [
            {
                "config": row.config, "row": row.id, "asks": row.entry["summary"],
                "texts": [{"name": one.name, "text": one.pieces[0].text} for one in question_texts(row)],
                "answers": [*possible_answers(row.entry), CANNOT_TELL],
                "answered": answers[row.place].answer if row.place in answers else None,
            }
            for row in round_rows(self.store, wanted)
        ]  # fmt: skip
        return jsonify(round=wanted.name, token=self.token, revealed=revealed, items=items)

    def blind_result(self) -> BaseResponse:
        """How the reader did, once the labels have been revealed."""
        wanted, reader = self._round(request.args), self._named_reader()
        answers, revealed = self._answered(wanted, reader)
        if not revealed:
            return redirect(f"/blind/round?{_round_address(request.args)}", 303)
        found = scores(self.store, round_rows(self.store, wanted), answers)
        if self._wants_json():
            return jsonify([{name: getattr(one, name) for name in one.__slots__} for one in found])
        return self._page("blind_result.html", "Result of the blind round", scores=found, round=wanted, who=reader)

    # what is sent

    def save_mark(self) -> BaseResponse:
        """Writes a mark to the file; its row must be in the release."""
        sent, reader = self._posted(), self._named_reader()
        row = self.store.row(str(sent.get("config", "")), str(sent.get("row", "")))
        mark = Mark(
            "mark", reader.name, reader.kind, marks.now(), row.config, row.id, str(sent.get("verdict", "")),
            comment=str(sent.get("comment", "")).strip(), shown=row.shown,
        )  # fmt: skip
        marks.append(self.path, [mark])
        if self._wants_json():
            return jsonify(saved=1, verdict=mark.verdict, comment=mark.comment)
        return redirect(_inside(str(sent.get("next", "/"))), 303)

    def save_answer(self) -> BaseResponse:
        """Writes one answer of a round."""
        address = request.form.get("round", "")
        args = _args_of(address)
        self._save(self._round(args), [request.form])
        at = _whole_number(request.form.get("at"), 0) + 1
        return redirect(f"/blind/round?{_round_address(args)}&at={at}", 303)

    def save_answers(self) -> BaseResponse:
        """Writes answers of a round that come as JSON: ``token``, ``round`` (its address), ``answers``."""
        sent = self._posted()
        answers = sent.get("answers")
        if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
            abort(400, "answers is a list of objects with config, row and answer")
        return jsonify(saved=self._save(self._round(_args_of(str(sent.get("round", "")))), answers))

    def _save(self, wanted: BlindRound, answers: Sequence[Mapping[str, Any]]) -> int:
        reader = self._named_reader()
        if self._answered(wanted, reader)[1]:
            abort(409, "the results of this round have been shown; begin another one")
        rows = {row.place: row for row in round_rows(self.store, wanted)}
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
        marks.append(self.path, made)
        return len(made)

    def reveal(self) -> BaseResponse:
        """Ends a round: from now on its labels may be seen, and answers to it do not count."""
        sent, reader = self._posted(), self._named_reader()
        args = _args_of(str(sent.get("round", "")))
        wanted = self._round(args)
        if not self._answered(wanted, reader)[1]:
            made = Mark("reveal", reader.name, reader.kind, marks.now(), round=wanted.name)
            marks.append(self.path, [made])
        return redirect(f"/blind/result?{_round_address(args)}", 303)

    # files

    def export(self) -> Response:
        """All marks as they are in the file."""
        text = self.path.read_bytes() if self.path.exists() else b""
        answer = Response(text, mimetype="application/jsonl")
        answer.headers["Content-Disposition"] = f'attachment; filename="{self.path.name}"'
        return answer

    def plot(self, name: str) -> Response:
        """A plot of a card; only files that the manifest lists."""
        path = f"{manifest.PLOTS}/{name}"
        listed = path in self.store.manifest["files"] and manifest.is_plot_of(path, self.store.manifest["configs"])
        file = self.release / path
        if not listed or file.is_symlink() or not file.is_file():
            abort(404, "there is no such plot")
        kinds = {"svg": "image/svg+xml", "png": "image/png"}
        return Response(file.read_bytes(), mimetype=kinds.get(name.rpartition(".")[2], "application/octet-stream"))

    def style(self) -> Response:
        """The style sheet of all pages."""
        return Response(pages.asset("review.css") + pages.asset("app.css"), mimetype="text/css")

    def script(self) -> Response:
        """The script of all pages."""
        return Response(pages.asset("app.js"), mimetype="text/javascript")

    def no_icon(self) -> tuple[str, int]:
        """Browsers ask for an icon; there is none."""
        return "", 204

    # help

    def _marks(self) -> list[Mark]:
        return marks.read_marks(self.path)

    def _page(self, template: str, title: str, **values: object) -> Response:
        shared = {
            "title": title, "token": self.token, "reader": self.reader(), "reader_kinds": READER_KINDS,
            "verdict_names": VERDICTS, "here": request.full_path.rstrip("?"),
            "compared": self.options.changes is not None,
        }  # fmt: skip
        return Response(render(template, room="review", **shared, **values), mimetype="text/html")


def _with_headers(answer: Response) -> Response:
    for name, value in _HEADERS.items():
        answer.headers[name] = value
    return answer


def _inside(address: str) -> str:
    """An address of this application; the first page for any other."""
    parts = urlsplit(address)
    inside = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if inside else "/"


def _whole_number(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else default  # noqa: PLR2004 (digits of an int32)


_ROUND_KEYS = ("name", "config", "task", "lang", "split", "n")


def _round_address(args: MultiDict[str, str]) -> str:
    """The part of an address that names a round."""
    return urlencode([(key, value) for key, value in args.items(multi=True) if key in _ROUND_KEYS and value])


def _args_of(address: str) -> MultiDict[str, str]:
    from urllib.parse import parse_qsl  # noqa: PLC0415

    from werkzeug.datastructures import MultiDict  # noqa: PLC0415

    return MultiDict(parse_qsl(address))


def _card_address(target: str) -> str:
    """Where a link of a card leads in this application; links into the web stay."""
    if "://" in target or target.startswith("#"):
        return target
    folder, _, name = target.removeprefix("../").rpartition("/")
    if name == "README.md":
        return f"/card/{folder}" if folder else "/card"
    return f"/assets/{name}" if folder == manifest.PLOTS else "/"
