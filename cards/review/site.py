"""What all pages of the review application share: access, the reader, the marks, and the frame of a page.

The server answers no other host name than its own (against DNS rebinding), and only who has the key in the address that
`build review` prints (against other accounts of the machine); it takes a form only with the token that its own pages
have (against forms of other sites).
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlsplit

import msgspec
from flask import Flask, Response, abort, jsonify, redirect, request
from werkzeug.exceptions import HTTPException

from discoprobe.cards import readers
from discoprobe.cards.readers import READER_KINDS, VERDICTS, Mark, ReaderKind
from discoprobe.cards.release.rows import RowStore
from discoprobe.cards.text.templating import render
from discoprobe.loaders.errors import DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from werkzeug.wrappers import Response as BaseResponse

    from discoprobe.cards.release.diff import Changes
    from discoprobe.cards.text.examples import ContextSentence


_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src"
    " 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Reader(msgspec.Struct, frozen=True):
    """Who reads: a name, and whether that is a person or a model."""

    name: str = ""
    kind: ReaderKind = "person"


class Site:
    """The application with the rows of a release and the marks on them; pages are added by others.

    Args:
        app: the application.
        release: the folder.
        languages: of these languages only; all by default.
        reader: who reads, until the browser says otherwise.
        changes: what changed since another release.
        against: the name of that release.
        context: (language, corpus, sent_ids) → the sentences of the source around these.
    """

    def __init__(  # noqa: PLR0913 (what a user chooses)
        self, app: Flask, release: Path, *, languages: Sequence[str] = (), reader: Reader | None = None,
        changes: Changes | None = None, against: str = "",
        context: Callable[[str, str, Collection[str]], Sequence[ContextSentence]] | None = None,
    ) -> None:  # fmt: skip
        self.app, self.release, self.first_reader = app, release, reader or Reader()
        self.changes, self.against, self.context = changes, against, context
        self.store = RowStore(release, languages)
        self.path = readers.marks_file(release)
        self.token, self.key = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.sitting = secrets.token_hex(6)
        readers.read_marks(self.path)  # an error in the file is shown before the first page
        app.before_request(self._guard)
        app.after_request(self._remember_key)
        app.after_request(_with_headers)
        app.register_error_handler(
            DiscoprobeError,
            lambda error: self._problem(str(error), 404 if re.search("no row|unknown", str(error)) else 400),
        )
        app.register_error_handler(
            HTTPException, lambda error: self._problem(error.description or error.name, error.code or 500)
        )
        self.add({}, {"/reader": self.set_reader})

    def add(self, pages: Mapping[str, Callable[..., Any]], forms: Mapping[str, Callable[..., Any]]) -> None:
        """Adds what answers GET (``pages``) and what answers POST (``forms``), by path."""
        for views, method in ((pages, "GET"), (forms, "POST")):
            for rule, view in views.items():
                self.app.add_url_rule(rule, rule, view, methods=[method])

    # who may ask

    def _guard(self) -> None:
        if request.host not in self.app.config["HOSTS"]:
            abort(400, "this server answers to its own address only")
        if not self._has_key():
            abort(403, "open the address that `build review` printed: it has the key of this program")
        if request.method != "POST":
            return
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            abort(403, "the form is not from this application")
        token = self.posted().get("token", "")
        if not isinstance(token, str) or not hmac.compare_digest(token.encode(), self.token.encode()):
            abort(403, "the form is from an earlier start of this program; load the page again")

    def _has_key(self) -> bool:
        return self._is_key(request.args.get("key", "")) or self._is_key(request.cookies.get(self._cookie(), ""))

    def _is_key(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.key.encode())

    @staticmethod
    def _cookie() -> str:
        """The name of the cookie with the key; browsers have one for all ports of a machine."""
        return f"key-{urlsplit(request.host_url).port}"

    def _remember_key(self, answer: Response) -> Response:
        if self._is_key(request.args.get("key", "")):
            answer.set_cookie(self._cookie(), self.key, samesite="Strict", httponly=True)
        return answer

    @staticmethod
    def posted() -> Mapping[str, Any]:
        """What a form or a JSON request sent."""
        if request.is_json:
            sent = request.get_json(silent=True)
            if not isinstance(sent, dict):
                abort(400, "not a JSON object")
            return sent
        return request.form

    @staticmethod
    def wants_json() -> bool:
        """Whether the answer is to be JSON."""
        return request.is_json or request.accept_mimetypes.best == "application/json"

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
            return self.first_reader
        is_valid = isinstance(name, str) and kind in READER_KINDS
        return Reader(name[:80], kind) if is_valid else self.first_reader

    def set_reader(self) -> BaseResponse:
        """Writes who reads into a cookie."""
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
        reader = self.reader()
        if not reader.name:
            abort(400, "say first who reads: a name, and whether it is a person or a model")
        return reader

    # what pages are made of

    def marks(self) -> list[Mark]:
        """All marks on the release, in the order of their times."""
        return readers.read_marks(self.path)

    def page(self, template: str, title: str, **values: object) -> Response:
        """A page from a template in ``cards/review/templates``."""
        shared = {
            "title": title, "token": self.token if self._has_key() else "", "reader": self.reader(),
            "reader_kinds": READER_KINDS, "verdict_names": VERDICTS, "here": request.full_path.rstrip("?"),
            "compared": self.changes is not None,
        }  # fmt: skip
        return Response(render(template, package="review", **shared, **values), mimetype="text/html")


def _with_headers(answer: Response) -> Response:
    answer.headers.update(_HEADERS)
    if answer.mimetype == "image/svg+xml":  # a plot that is opened alone; its style is in it
        answer.headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'"
    return answer


def inside(address: str) -> str:
    """An address of this application; the first page for any other."""
    parts = urlsplit(address)
    inside = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if inside else "/"


def whole_number(text: str | None, default: int) -> int:
    """A number that a form sent; the default if it is none."""
    return int(text) if text and text.isdecimal() and len(text) < 10 else default  # noqa: PLR2004 (digits of an int32)
