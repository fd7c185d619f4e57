"""What all pages of the review application share: access, the reader, the rows, the marks, and templates.

The server answers no other host name than its own (against DNS rebinding), and takes a form only with the token that
its own pages have (against forms of other sites).

A row as a reader sees it: its texts in pieces, what was edited marked, and its pair beside it.
"""

from __future__ import annotations

import hmac
import itertools
import json
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from flask import Flask, Response, abort, jsonify, redirect, request
from werkzeug.exceptions import HTTPException

from discoprobe.builders.config import Shape
from discoprobe.cards import readers
from discoprobe.cards.metadata import yaml_header
from discoprobe.cards.readers import PLACES, READER_KINDS, VERDICTS, Mark, sides
from discoprobe.cards.release.rows import ReleaseRow, RowStore
from discoprobe.cards.text.examples import RowText, ShownText, TextPiece, pieces, row_texts
from discoprobe.cards.text.render import render
from discoprobe.loaders.errors import DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from werkzeug.wrappers import Response as BaseResponse

    from discoprobe.cards.readers import ReaderKind
    from discoprobe.cards.release.diff import Changes


_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_NAMES = {
    "sentences": "sentence", "choices": "choice", "sentence1": "first sentence", "sentence2": "second sentence",
}  # fmt: skip
"""Columns that are called otherwise."""


class ContextSentence(NamedTuple):
    """A sentence of the source of a row.

    ``shown`` says that the row has it, ``after_gap`` that it does not follow the one before in the source.
    """

    sent_id: str
    text: str
    shown: bool
    after_gap: bool


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row to be printed; ``lang`` is the code for its texts, ``facts`` are its other columns."""

    row: ReleaseRow
    texts: tuple[ShownText, ...]
    lang: str
    facts: Mapping[str, str]


def question_texts(row: ReleaseRow) -> tuple[ShownText, ...]:
    """The texts of a row without anything that gives its label away: no edit, no target, no place in the source."""
    texts = {name: one.text for name, one in _texts(row)}
    if row.entry["shape"] == Shape.SUITE:
        texts = {place: texts[side] for place, side in zip(PLACES, sides(row.id), strict=True)}
    return tuple(ShownText(name, (TextPiece(text),)) for name, text in texts.items())


def shown_row(row: ReleaseRow) -> ShownRow:
    """A row with what was edited, or is asked about, marked."""
    return ShownRow(row, tuple(_marked(row)), language(row), _facts(row))


def side_by_side(row: ReleaseRow, pair: Sequence[ReleaseRow]) -> list[ShownRow]:
    """The versions of a pair, each marked where it differs from the first (the original).

    An edited sentence whose original is not a row is compared with the column ``original``.
    """
    if len(pair) > 1:
        return _compared(pair) if row.entry["shape"] == Shape.SENTENCE else [_against(one, pair) for one in pair]
    if row.values.get("original"):
        left, right = differences(row.values["original"], row.values["text"])
        original = ShownRow(row, (ShownText("original", left),), language(row), {})
        return [original, ShownRow(row, (ShownText("text", right),), language(row), {})]
    return []


def _compared(pair: Sequence[ReleaseRow]) -> list[ShownRow]:
    texts = [str(one.values["text"]) for one in pair]
    sides = [differences(texts[0], text) for text in texts[1:]]
    return [
        ShownRow(one, (ShownText("text", found),), language(one), _facts(one))
        for one, found in zip(pair, [sides[0][0], *(right for _, right in sides)], strict=True)
    ]


def _against(row: ReleaseRow, pair: Sequence[ReleaseRow]) -> ShownRow:
    """A row of several texts, those marked that no other row of its pair has in the same place."""
    shown, own = shown_row(row), [one.text for _, one in _texts(row)]
    others = [[text.text for _, text in _texts(one)] for one in pair if one.id != row.id]
    texts = [
        ShownText(one.name, (TextPiece(text, any(other[number : number + 1] != [text] for other in others)),), one.note)
        for number, (one, text) in enumerate(zip(shown.texts, own, strict=True))
    ]
    return ShownRow(row, tuple(texts), shown.lang, shown.facts)


def differences(left: str, right: str) -> tuple[tuple[TextPiece, ...], tuple[TextPiece, ...]]:
    """Two texts in pieces, each marked from the first word that differs to the last."""
    start = _shared(_WORD.findall(left), _WORD.findall(right))
    end = _shared(_WORD.findall(left[start:])[::-1], _WORD.findall(right[start:])[::-1])

    def marked(text: str) -> tuple[TextPiece, ...]:
        edit = text[start : len(text) - end]
        return _pieces(text, start + len(edit) - len(edit.lstrip()), start + len(edit.rstrip()))

    return marked(left), marked(right)


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    """The number of characters of the words with which both begin."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return sum(len(word) for word, _ in same)


def language(row: ReleaseRow) -> str:
    """The code of the language of a row's texts, as HTML has it."""
    return yaml_header.language_code(row.entry["lang"])


def _texts(row: ReleaseRow) -> Iterator[tuple[str, RowText]]:
    """The texts of a row with what they are called."""
    for one in row_texts(Shape(row.entry["shape"]), row.values):
        name = _NAMES.get(one.column, one.column)
        yield name if one.number is None else f"{name} {one.number + 1}", one


def _marked(row: ReleaseRow) -> Iterator[ShownText]:
    order = row.values.get("order")
    for name, one in _texts(row):
        note = "" if order is None or one.number is None else _source_place(order, one.number)
        yield ShownText(name, _pieces(one.text, one.start, one.end), note)


def _source_place(order: Sequence[int], number: int) -> str:
    """Where a sentence of a passage that was changed stands in the source; empty for one that is in its place."""
    places = [place for place in order if place >= 0]
    if order[number] < 0:
        return "from elsewhere"
    return "" if places == sorted(places) else f"{order[number] + 1} in the source"


def _pieces(text: str, start: int, end: int) -> tuple[TextPiece, ...]:
    """The whole text in pieces, the characters from ``start`` to ``end`` marked."""
    return pieces(text, start, end, longest=len(text))


def _facts(row: ReleaseRow) -> dict[str, str]:
    """The columns of a row that are no texts, in words; those without a value are left out."""
    values = row.values
    found: dict[str, Any] = {name: values[name] for name in ("corpus", "doc_id", "group", "pair_id")}
    found |= {name: values.get(name) for name in ("orig_label", "direction", "rel_type", "removed")}
    found["sent_ids"] = ", ".join(values["sent_ids"] or ())
    if target := values.get("target"):
        found["target"] = f"{target['form']} ({target['lemma']}, {target['upos']})"
    if values.get("n_words") is not None:
        found["words"] = values["n_words"]
    distractor = values.get("distractor")
    found["distractor"] = ", ".join(filter(None, distractor)) if isinstance(distractor, list) else distractor
    return {name: str(value) for name, value in found.items() if value not in {None, ""}}


_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src"
    " 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


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
    context: Callable[[str, str, Collection[str]], Sequence[ContextSentence]] | None = None


class Site:
    """The application with the rows of a release and the marks on them; pages are added by others."""

    def __init__(self, app: Flask, release: Path, options: ReviewOptions) -> None:
        self.app, self.release, self.options = app, release, options
        self.store = RowStore(release, options.languages)
        self.path = readers.marks_file(release)
        self.token = secrets.token_urlsafe(24)
        readers.read_marks(self.path)  # an error in the file is shown before the first page
        app.before_request(self._guard)
        app.after_request(_with_headers)
        app.register_error_handler(DiscoprobeError, self._failed)
        app.register_error_handler(HTTPException, self._refused)
        self.add({}, {"/reader": self.set_reader})

    def add(self, shown: Mapping[str, Callable[..., Any]], sent: Mapping[str, Callable[..., Any]]) -> None:
        """Adds pages: what answers GET, and what answers POST, by path."""
        for views, method in ((shown, "GET"), (sent, "POST")):
            for rule, view in views.items():
                self.app.add_url_rule(rule, rule, view, methods=[method])

    # who may ask

    def _guard(self) -> None:
        if request.host not in self.app.config["HOSTS"]:
            abort(400, "this server answers to its own address only")
        if request.method != "POST":
            return
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            abort(403, "the form is not from this application")
        given = self.posted().get("token", "")
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), self.token.encode()):
            abort(403, "the form is from an earlier start of this program; load the page again")

    @staticmethod
    def posted() -> Mapping[str, Any]:
        """What a form or a JSON request sent."""
        if request.is_json:
            found = request.get_json(silent=True)
            if not isinstance(found, dict):
                abort(400, "not a JSON object")
            return found
        return request.form

    @staticmethod
    def wants_json() -> bool:
        """Whether the answer is to be JSON."""
        return request.is_json or request.accept_mimetypes.best == "application/json"

    def _failed(self, error: DiscoprobeError) -> tuple[Response, int]:
        status = 404 if "no row" in str(error) or "unknown" in str(error) else 400
        return self._problem(str(error), status)

    def _refused(self, error: HTTPException) -> tuple[Response, int]:
        return self._problem(error.description or error.name, error.code or 500)

    def _problem(self, message: str, status: int) -> tuple[Response, int]:
        if self.wants_json():
            return jsonify(error=message), status
        return self.page("problem.html", "Problem", message=message), status

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
        answer = redirect(inside(request.form.get("next", "/")), 303)
        answer.set_cookie(
            "reader", quote(json.dumps([name, kind])), samesite="Strict", httponly=True, max_age=31_536_000
        )
        return answer

    def named_reader(self) -> Reader:
        """Who reads; a request without a name is refused."""
        found = self.reader()
        if not found.name:
            abort(400, "say first who reads: a name, and whether it is a person or a model")
        return found

    # what pages are made of

    def marks(self) -> list[Mark]:
        """All marks on the release, in the order of their times."""
        return readers.read_marks(self.path)

    def page(self, template: str, title: str, **values: object) -> Response:
        """A page from a template in ``cards/review/templates``."""
        shared = {
            "title": title, "token": self.token, "reader": self.reader(), "reader_kinds": READER_KINDS,
            "verdict_names": VERDICTS, "here": request.full_path.rstrip("?"),
            "compared": self.options.changes is not None,
        }  # fmt: skip
        return Response(render(template, package="review", **shared, **values), mimetype="text/html")


def _with_headers(answer: Response) -> Response:
    for name, value in _HEADERS.items():
        answer.headers[name] = value
    return answer


def inside(address: str) -> str:
    """An address of this application; the first page for any other."""
    parts = urlsplit(address)
    inside = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if inside else "/"


def whole_number(text: str | None, default: int) -> int:
    """A number that a form sent; the default if it is none."""
    return int(text) if text and text.isdecimal() and len(text) < 10 else default  # noqa: PLR2004 (digits of an int32)
