"""The review application: rows of a release in a browser of this machine, to be read, marked, and labelled blind.

Every page works without JavaScript; `app.js` adds keyboard shortcuts and saves marks without reloading the page. The
server listens on the loopback interface only, and opens only files that the manifest lists.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from flask import Flask, Response, abort, jsonify, redirect, request
from werkzeug.serving import BaseWSGIServer, make_server

from discoprobe.builders.audit.thresholds import CHECKS, Kind
from discoprobe.builders.settings import SPLITS
from discoprobe.cards import readers
from discoprobe.cards.metadata import manifest
from discoprobe.cards.readers import FAULTS, VERDICTS, Mark
from discoprobe.cards.release.rows import RowFilter, configs_asked
from discoprobe.cards.review import pages
from discoprobe.cards.review.blind_round import BlindPages, labels_of
from discoprobe.cards.review.pages import card_text
from discoprobe.cards.review.site import Site, inside, shown_row, side_by_side, whole_number
from discoprobe.loaders.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from werkzeug.datastructures import MultiDict
    from werkzeug.wrappers import Response as BaseResponse

    from discoprobe.cards.release.rows import ReleaseRow
    from discoprobe.cards.review.site import ContextSentence, ReviewOptions

HOST: Final = "127.0.0.1"
PAGE_ROWS: Final = 25
_MOST_BYTES: Final = 2_000_000


def server(release: Path, options: ReviewOptions, port: int = 0) -> tuple[BaseWSGIServer, str]:
    """A server for a release folder, ready to start, and the address of its first page; port 0 is any free one.

    Raises:
        UsageError: there is nothing to show, or the port is taken.
    """
    app = make_app(release, options)
    try:
        made = make_server(HOST, port, app, threaded=True)
    except (OSError, SystemExit):
        raise UsageError(f"port {port} is in use; give another --port, or none") from None
    app.config["HOSTS"] = {f"{name}:{made.server_port}" for name in (HOST, "localhost")}
    return made, f"http://{HOST}:{made.server_port}/"


def make_app(release: Path, options: ReviewOptions) -> Flask:
    """The application for a release folder; ``config["HOSTS"]`` holds the host names that requests may use."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # no log line per request
    app = Flask("discoprobe.cards.review", static_folder=None)
    app.config |= {"MAX_CONTENT_LENGTH": _MOST_BYTES, "HOSTS": {HOST, "localhost"}}
    site = Site(app, release, options)
    RowPages(site)
    BlindPages(site)
    return app


class RowPages:
    """The pages of configs, rows and cards, and the request that saves a mark."""

    def __init__(self, site: Site) -> None:
        self.site = site
        site.add(
            {
                "/": self.overview, "/rows": self.rows, "/row/<config>/<row_id>": self.row, "/card": self.card,
                "/card/<config>": self.card, "/changes": self.changes_page,
                "/marks.jsonl": self.export, "/assets/<name>": self.plot, "/app.css": self.style,
                "/app.js": self.script, "/favicon.ico": self.no_icon,
            },
            {"/mark": self.save_mark},
        )  # fmt: skip

    def overview(self) -> Response:
        """All configs, with the number of rows that were read and of those with a fault."""
        current, store = readers.verdicts_now(self.site.marks()), self.site.store
        read = current.keys() | readers.blind_answers(self.site.marks()).keys()
        faulty = [place for place, of_row in current.items() if any(mark.verdict in FAULTS for mark in of_row.values())]
        return self.site.page(
            "overview.html", "Review", rows=pages.config_rows(store.configs, store.manifest, self.site.options.changes),
            marked={"read": Counter(config for config, _ in read), "faults": Counter(config for config, _ in faulty)},
        )  # fmt: skip

    def rows(self) -> Response:
        """One page of the rows that match the filters of the form."""
        current = readers.verdicts_now(self.site.marks())
        wanted = self._filter(request.args, current)
        number = max(1, whole_number(request.args.get("page"), 1))
        page = self.site.store.find(wanted, (number - 1) * PAGE_ROWS, PAGE_ROWS)
        query = [(key, value) for key, value in request.args.items(multi=True) if key != "page" and value]
        values = {
            "page": number, "pages": max(1, -(-page.total // PAGE_ROWS)), "total": page.total,
            "start": (number - 1) * PAGE_ROWS, "query": urlencode(query), "chosen": request.args,
        }  # fmt: skip
        rows = page.rows
        if solver := request.args.get("surest", ""):  # the surest rows of a config fit on one page
            order = {name: self._surest(name, solver) for name in {row.config for row in rows}}
            rows = sorted(rows, key=lambda row: (row.config, order[row.config].index(row.id)))
        shown = [(shown_row(row), current.get(row.place, {})) for row in rows]
        return self.site.page("rows.html", "Rows", shown=shown, choices=self._choices(wanted), **values)

    def _filter(self, args: MultiDict[str, str], current: Mapping[tuple[str, str], Mapping[str, Mark]]) -> RowFilter:
        """The filters that are set in the form."""
        split = args.get("split", "")
        if split and split not in SPLITS:
            abort(400, f"there is no split {split[:40]}")
        words, label, corpus = args.get("words", "").strip(), args.get("label", ""), args.get("corpus", "")
        wanted = replace(configs_asked(args), split=split, label=label, corpus=corpus, words=words)
        if solver := args.get("surest", ""):
            named = {(name, row) for name in self.site.store.chosen(wanted) for row in self._surest(name, solver)}
            wanted = replace(wanted, places=frozenset(named))
        verdict = args.get("verdict", "")
        if verdict == "none":
            return replace(wanted, without=frozenset(current))
        if verdict:
            found = {
                place
                for place, of_row in current.items()
                if any(verdict in {"any", mark.verdict} for mark in of_row.values())
            }
            return replace(wanted, places=frozenset(found if wanted.places is None else wanted.places & found))
        return wanted

    def _surest(self, config: str, solver: str) -> list[str]:
        """Ids of the rows that an audit solver predicted correctly with the most confidence, surest first."""
        path = self.site.release / config / "audit.json"
        if "audit.json" not in self.site.store.entry(config)["files"] or not path.is_file():
            return []
        found = json.loads(path.read_text(encoding="utf-8"))["findings"]
        return next((one["rows"] for one in found if one["check"] == solver and one["kind"] == Kind.SHORTCUT), [])

    def _choices(self, wanted: RowFilter) -> dict[str, dict[str, str]]:
        """The options of each field of the form, with what they are called; some depend on what else is chosen."""
        configs = self.site.store.chosen(RowFilter(wanted.configs, wanted.tasks, wanted.languages))
        labels = dict.fromkeys(label for one in configs.values() for label in labels_of(one))
        options = {
            "task": self.site.store.tasks(), "lang": (), "split": SPLITS, "label": labels, "verdict": VERDICTS,
            "corpus": sorted({source for one in configs.values() for source in one["sources"]}),
            "surest": [check.id for check in CHECKS if check.kind is Kind.SHORTCUT],
        }  # fmt: skip
        named = {field: {value: value for value in values} for field, values in options.items()}
        return named | {
            "lang": self.site.store.languages(),
            "verdict": {"none": "not marked", "any": "marked"} | named["verdict"],
        }

    def row(self, config: str, row_id: str) -> Response:
        """One row: its texts, its pair, its source, and the verdicts of readers."""
        found = self.site.store.row(config, row_id)
        pair = self.site.store.pair_of(found)
        every = self.site.marks()
        before, after = self._neighbours(found)
        return self.site.page(
            "row.html", f"{config} {row_id}", shown=shown_row(found), sides=side_by_side(found, pair),
            marks=readers.verdicts_now(every).get(found.place, {}),
            answers=readers.blind_answers(every).get(found.place, {}),
            context=self._context(found), before=before, after=after, asks=found.entry["summary"],
        )  # fmt: skip

    def _neighbours(self, row: ReleaseRow) -> tuple[str, str]:
        """Addresses of the previous and the next row of the config; empty where there is none."""
        wanted = RowFilter(configs=(row.config,), split=row.split)
        first = max(0, row.number - 1)
        near = {one.number: one for one in self.site.store.find(wanted, first, 3).rows}
        places = (near.get(row.number - 1), near.get(row.number + 1))
        before, after = (f"/row/{one.config}/{one.id}" if one else "" for one in places)
        return before, after

    def _context(self, row: ReleaseRow) -> Sequence[ContextSentence]:
        if self.site.options.context is None:
            return []
        return self.site.options.context(
            row.entry["lang"], str(row.values["corpus"]), set(row.values["sent_ids"] or ())
        )

    def card(self, config: str = "") -> Response:
        """The card of a config, or of the release."""
        html = pages.card_html(card_text(self.site.release, config), _card_address)
        changed = pages.changes_of(config, self.site.options.changes)
        return self.site.page("card.html", config or "Release card", html=html, config=config, changed=changed)

    def changes_page(self) -> Response:
        """What changed since another release."""
        if self.site.options.changes is None:
            abort(404, "start `build review` with --against and a release to see what changed since")
        changed = {
            name: lines
            for name in self.site.store.configs
            if (lines := pages.changes_of(name, self.site.options.changes))
        }
        return self.site.page(
            "changes.html", f"Changes since {self.site.options.against}", against=self.site.options.against,
            news=pages.news(self.site.options.changes), changed=changed,
        )  # fmt: skip

    def save_mark(self) -> BaseResponse:
        """Writes a mark to the file; its row must be in the release."""
        sent, reader = self.site.posted(), self.site.named_reader()
        row = self.site.store.row(str(sent.get("config", "")), str(sent.get("row", "")))
        mark = Mark(
            "mark", reader.name, reader.kind, readers.now(), row.config, row.id, str(sent.get("verdict", "")),
            comment=str(sent.get("comment", "")).strip(), shown=row.shown,
        )  # fmt: skip
        readers.append(self.site.path, [mark])
        if self.site.wants_json():
            return jsonify(saved=1, verdict=mark.verdict, comment=mark.comment)
        return redirect(inside(str(sent.get("next", "/"))), 303)

    # files

    def export(self) -> Response:
        """All marks as they are in the file."""
        text = self.site.path.read_bytes() if self.site.path.exists() else b""
        answer = Response(text, mimetype="application/jsonl")
        answer.headers["Content-Disposition"] = f'attachment; filename="{self.site.path.name}"'
        return answer

    def plot(self, name: str) -> Response:
        """A plot of a card; only files that the manifest lists."""
        path = f"{manifest.PLOTS}/{name}"
        listed = path in self.site.store.manifest["files"] and manifest.is_plot_of(
            path, self.site.store.manifest["configs"]
        )
        file = self.site.release / path
        if not listed or not file.is_file():
            abort(404, "there is no such plot")
        kinds = {"svg": "image/svg+xml", "png": "image/png"}
        return Response(file.read_bytes(), mimetype=kinds.get(name.rpartition(".")[2], "application/octet-stream"))

    def style(self) -> Response:
        """The style sheet of all pages."""
        return Response(pages.asset("review.css") + pages.asset("app.css"), mimetype="text/css")

    def script(self) -> Response:
        """The script of all pages."""
        return Response(pages.asset("review.js") + pages.asset("app.js"), mimetype="text/javascript")

    def no_icon(self) -> tuple[str, int]:
        """Browsers ask for an icon; there is none."""
        return "", 204


def _card_address(target: str) -> str:
    """The address in this application that a link of a card leads to; links to other sites stay as they are."""
    if "://" in target or target.startswith("#"):
        return target
    folder, _, name = target.removeprefix("../").rpartition("/")
    if name == "README.md":
        return f"/card/{folder}" if folder else "/card"
    return f"/assets/{name}" if folder == manifest.PLOTS else "/"
