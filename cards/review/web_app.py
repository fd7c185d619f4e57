"""The review application: rows of a release in a browser of this machine, to be read, marked, and labelled blind.

Every page works without JavaScript; `app.js` adds keyboard shortcuts and saves marks without reloading the page. The
server listens on the loopback interface only, and opens only files that the manifest lists.
"""

from __future__ import annotations

import functools
import importlib.resources
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from flask import Flask, Response, abort, jsonify, redirect, request
from msgspec.structs import replace
from werkzeug.serving import BaseWSGIServer, make_server

from discoprobe.builders.audit.thresholds import CHECKS, Kind
from discoprobe.builders.settings import SPLITS
from discoprobe.cards import readers
from discoprobe.cards.metadata import manifest
from discoprobe.cards.metadata.yaml_header import n_rows
from discoprobe.cards.readers import FAULTS, VERDICTS, Mark
from discoprobe.cards.release.diff import KINDS
from discoprobe.cards.release.language_files import LanguageFiles
from discoprobe.cards.release.release_folder import OVERVIEW
from discoprobe.cards.release.rows import RowFilter, configs_asked
from discoprobe.cards.review.blind_round import BlindPages
from discoprobe.cards.review.pages import card_html, read_card, shown_row, side_by_side
from discoprobe.cards.review.site import Site, inside, whole_number
from discoprobe.cards.text.questions import labels_of
from discoprobe.cards.text.verdicts import trick_of, verdicts
from discoprobe.loaders.catalogue.treebanks import language_name
from discoprobe.loaders.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from werkzeug.datastructures import MultiDict
    from werkzeug.wrappers import Response as BaseResponse

    from discoprobe.cards.release.diff import Changes

HOST: Final = "127.0.0.1"
PAGE_ROWS: Final = 25
PAGE_CONFIGS: Final = 100
_MOST_BYTES: Final = 2_000_000


def server(release: Path, port: int = 0, **options: Any) -> tuple[BaseWSGIServer, str]:
    """A server for a release folder, ready to start, and the address of its first page with its key.

    Port 0 is any free one.

    ``options`` are those of `Site`.

    Raises:
        UsageError: there is nothing to show, or the port is taken.
    """
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # no log line per request
    app = Flask("discoprobe.cards.review", static_folder=None)
    site = Site(app, release, **options)
    RowPages(site)
    BlindPages(site)
    try:
        listening = make_server(HOST, port, app, threaded=True)
    except (OSError, SystemExit):
        raise UsageError(f"port {port} is in use; give another --port, or none") from None
    hosts = {f"{name}:{listening.server_port}" for name in (HOST, "localhost")}
    app.config |= {"MAX_CONTENT_LENGTH": _MOST_BYTES, "HOSTS": hosts}
    return listening, f"http://{HOST}:{listening.server_port}/?key={site.key}"


class RowPages:
    """The pages of configs, rows and cards, and the request that saves a mark."""

    def __init__(self, site: Site) -> None:
        self.site = site
        site.add(
            {
                "/": self.overview, "/rows": self.rows, "/row/<config>/<row_id>": self.row, "/card": self.card,
                "/card/<config>": self.card, "/overview.svg": self.overview_picture,
                "/changes": self.changes_page, "/marks.jsonl": self.export,
                "/assets/<name>": self.plot, "/app.css": self.asset, "/app.js": self.asset,
                "/favicon.ico": self.no_icon,
            },
            {"/mark": self.save_mark},
        )  # fmt: skip

    def overview(self) -> Response:
        """One page of the configs with the words that are searched, sorted by a column: at first by the gain.

        A config has the number of rows that were read and of those with a fault. Configs without a value of the column
        are the first, as an audit that says nothing has to be looked at.
        """
        marks, store, wanted = self.site.marks(), self.site.store, request.args.get("q", "")
        current = readers.verdicts_now(marks)
        n_read = Counter(config for config, _ in current.keys() | readers.blind_answers(marks).keys())
        n_faults = Counter(
            config for (config, _), of_row in current.items() if any(mark.verdict in FAULTS for mark in of_row.values())
        )
        judged = verdicts(store.manifest.configs)  # a verdict depends on all configs of a task, shown or not
        rows: list[dict[str, Any]] = []
        for name, entry in store.configs.items():
            audit, language = entry.audit, language_name(entry.lang)
            change = "; ".join(changes_of(name, self.site.changes))
            about = [
                name, language, entry.summary, *entry.labels[:20], *entry.sources, judged[name].advice, change,
            ]  # fmt: skip
            if not all(word in " ".join(about).casefold() for word in wanted.casefold().split()):
                continue
            values: dict[str, str | float | None] = {
                "config": name, "language": language, "rows": n_rows(entry),
                "test rows": sum(entry.counts.get("test", {}).values()), "use it?": judged[name].advice,
                "best cheap trick": judged[name].trick, "gain": audit.gain if audit else None,
                "read": n_read[name], "faults": n_faults[name],
            }  # fmt: skip
            if self.site.changes is not None:
                values["changed"] = change
            solvers = (*judged[name].checks, audit.strongest or "") if audit else ()
            solver = next((each for each in solvers if audit and trick_of(audit, each) == judged[name].trick), "")
            rows.append({"values": values, "entry": entry, "verdict": judged[name], "solver": solver})
        columns = list(rows[0]["values"]) if rows else []
        sort = request.args.get("sort", "")
        column = sort.removeprefix("-") if sort.removeprefix("-") in columns else "gain"
        descending = sort.startswith("-") if sort else True

        def key(row: dict[str, Any]) -> tuple[bool, str | float]:
            value = row["values"].get(column)
            return (value is None) == descending, "" if value is None else value

        rows.sort(key=lambda row: row["values"]["config"])
        rows.sort(key=key, reverse=descending)
        number, pages = max(1, whole_number(request.args.get("page"), 1)), max(1, -(-len(rows) // PAGE_CONFIGS))
        return self.site.page(
            "overview.html", "Review", rows=rows[(number - 1) * PAGE_CONFIGS : number * PAGE_CONFIGS], columns=columns,
            total=len(rows), all_configs=len(store.configs), n_rows=sum(map(n_rows, store.configs.values())),
            wanted=wanted, column=column, descending=descending, page=number, pages=pages,
            query=urlencode([(name, request.args[name]) for name in ("q", "sort") if request.args.get(name)]),
        )  # fmt: skip

    def rows(self) -> Response:
        """One page of the rows that match the filters of the form."""
        current = readers.verdicts_now(self.site.marks())
        conditions = self._filter(request.args, current)
        number = max(1, whole_number(request.args.get("page"), 1))
        rows, total = self.site.store.find(conditions, (number - 1) * PAGE_ROWS, PAGE_ROWS)
        if solver := request.args.get("surest", ""):  # the surest rows of a config fit on one page
            order = {name: self._surest(name, solver) for name in {row.config for row in rows}}
            rows = sorted(rows, key=lambda row: (row.config, order[row.config].index(row.id)))
        query = [(key, value) for key, value in request.args.items(multi=True) if key != "page" and value]
        return self.site.page(
            "rows.html", "Rows", rows=[(shown_row(row), current.get(row.place, {})) for row in rows], page=number,
            pages=max(1, -(-total // PAGE_ROWS)), total=total, start=(number - 1) * PAGE_ROWS,
            query=urlencode(query), chosen=request.args, choices=self._choices(conditions),
        )  # fmt: skip

    def _filter(self, args: MultiDict[str, str], current: Mapping[tuple[str, str], Mapping[str, Mark]]) -> RowFilter:
        """The filters that are set in the form."""
        split, verdict = args.get("split", ""), args.get("verdict", "")
        if split and split not in SPLITS:
            abort(400, f"there is no split {split[:40]}")
        words, label, corpus = args.get("words", "").strip(), args.get("label", ""), args.get("corpus", "")
        conditions = replace(configs_asked(args), split=split, label=label, corpus=corpus, words=words)
        if solver := args.get("surest", ""):
            names = sorted(chosen := self.site.store.chosen(conditions), key=lambda name: chosen[name].lang)
            surest = frozenset((name, row) for name in names for row in self._surest(name, solver))
            conditions = replace(conditions, places=surest)
        if verdict == "none":
            return replace(conditions, without=frozenset(current))
        if verdict:
            places = frozenset(
                place
                for place, of_row in current.items()
                if any(verdict in {"any", mark.verdict} for mark in of_row.values())
            )
            return replace(conditions, places=places if conditions.places is None else conditions.places & places)
        return conditions

    def _surest(self, config: str, solver: str) -> list[str]:
        """Ids of the rows that an audit solver predicted correctly with the most confidence, surest first."""
        report: Any = self._reports(self.site.store.entry(config).lang).get(config)
        findings = report["findings"] if report else ()
        of_solver = (each["rows"] for each in findings if each["check"] == solver and each["kind"] == Kind.SHORTCUT)
        return next(of_solver, [])

    @functools.lru_cache(maxsize=1)  # noqa: B019 (one object as long as the program runs)
    def _reports(self, lang: str) -> Mapping[str, Any]:
        """The audits of the configs of a language, by config."""
        return LanguageFiles.of_folder(self.site.release, lang, manifest.AUDITS).reports

    def _choices(self, conditions: RowFilter) -> dict[str, dict[str, str]]:
        """The options of each field of the form, with what they are called; some depend on what else is chosen."""
        store = self.site.store
        entries = store.chosen(RowFilter(conditions.configs, conditions.tasks, conditions.languages)).values()
        options = {
            "task": store.tasks(), "split": SPLITS,
            "label": dict.fromkeys(label for entry in entries for label in labels_of(entry)), "verdict": VERDICTS,
            "corpus": sorted({source for entry in entries for source in entry.sources}),
            "surest": [check.id for check in CHECKS if check.kind is Kind.SHORTCUT],
        }  # fmt: skip
        fields = {field: {value: value for value in values} for field, values in options.items()}
        fields["verdict"] = {"none": "not marked", "any": "marked"} | fields["verdict"]
        return {"task": fields.pop("task"), "lang": store.languages()} | fields

    def row(self, config: str, row_id: str) -> Response:
        """One row: its texts, its pair, its source, the verdicts of readers, and the way to the rows beside it."""
        store, marks, context = self.site.store, self.site.marks(), self.site.context
        row = store.row(config, row_id)
        beside = RowFilter(configs=(config,), split=row.split)
        numbered = {each.number: each for each in store.find(beside, max(0, row.number - 1), 3)[0]}
        before, after = numbered.get(row.number - 1), numbered.get(row.number + 1)
        values = row.values
        sentences = context(row.entry.lang, str(values["corpus"]), set(values["sent_ids"] or ())) if context else []
        return self.site.page(
            "row.html", f"{config} {row_id}", shown=shown_row(row), sides=side_by_side(row, store.pair_of(row)),
            marks=readers.verdicts_now(marks).get(row.place, {}),
            answers=readers.blind_answers(marks).get(row.place, {}), context=sentences, before=before, after=after,
        )  # fmt: skip

    def card(self, config: str = "") -> Response:
        """The card of a config, or of the release; its links lead to pages of this application, or to other sites."""

        def address_of(target: str) -> str:
            if "://" in target or target.startswith("#"):
                return target
            path, _, part = target.removeprefix("../").partition("#")
            if path == "README.md":
                return "/card"
            if path.startswith(f"{manifest.CARDS}/"):
                return f"/card/{part}"
            if path.startswith(f"{manifest.PLOTS}/"):
                return f"/assets/{part}.svg"
            return f"/{OVERVIEW}" if path == OVERVIEW else "/"

        html = card_html(read_card(self.site.release, config), address_of)
        changed = changes_of(config, self.site.changes)
        names = ["", *self.site.store.configs]
        at = names.index(config) if config in names else 0
        return self.site.page(
            "card.html", config or "Release card", html=html, changed=changed,
            before=names[at - 1] if at else None, after=names[at + 1] if at + 1 < len(names) else None,
        )  # fmt: skip

    def changes_page(self) -> Response:
        """What changed since another release: in the release as a whole, then in each config."""
        changes, against = self.site.changes, self.site.against
        if changes is None:
            abort(404, "start `build review` with --against and a release to see what changed since")
        news = [("removed", f"{name} ({rows:,} rows)") for name, rows in changes.removed.items()]
        if changes.first:
            news.insert(0, ("first", "there is no earlier release"))
        else:
            news += [("new", f"{name} ({rows:,} rows)") for name, rows in changes.added.items()]
        news += [("changed", change.name) for change in changes.changed]
        news += [("source", line) for line in changes.sources] + [("software", line) for line in changes.software]
        lines = {name: changes_of(name, changes) for name in self.site.store.configs}
        return self.site.page(
            "changes.html", f"Changes since {against}", against=against, news=news,
            changed={name: of_config for name, of_config in lines.items() if of_config},
        )  # fmt: skip

    def save_mark(self) -> BaseResponse:
        """Writes a mark to the file; its row must be in the release."""
        sent, reader = self.site.posted(), self.site.named_reader()
        row = self.site.store.row(str(sent.get("config", "")), str(sent.get("row", "")))
        mark = Mark(
            "mark", reader.name, reader.kind, readers.now(), row.config, row.id, str(sent.get("verdict", "")),
            comment=str(sent.get("comment", "")).strip(), shown=row.shown, sitting=self.site.sitting,
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

    def overview_picture(self) -> Response:
        """The picture on the card of the release."""
        file = self.site.release / OVERVIEW
        if file.name not in self.site.store.manifest.files or not file.is_file():
            abort(404, "there is no such picture")
        return Response(file.read_bytes(), mimetype="image/svg+xml")

    def plot(self, name: str) -> Response:
        """The plot of a card, alone: ``/assets/dc_es.svg``."""
        config, configs = name.removesuffix(".svg"), self.site.store.manifest.configs
        if config not in configs or name == config:
            abort(404, "there is no such plot")
        plots = LanguageFiles.of_folder(self.site.release, configs[config].lang, manifest.PLOTS).plots
        if config not in plots:
            abort(404, "there is no such plot")
        return Response(plots[config], mimetype="image/svg+xml")

    @staticmethod
    def asset() -> Response:
        """The style sheet or the script of all pages."""
        name = request.path.removeprefix("/")
        file = importlib.resources.files("discoprobe.cards.review") / "templates" / name
        return Response(file.read_bytes(), mimetype="text/css" if name.endswith(".css") else "text/javascript")

    @staticmethod
    def no_icon() -> tuple[str, int]:
        """Browsers ask for an icon; there is none."""
        return "", 204


def changes_of(config: str, changes: Changes | None) -> list[str]:
    """What changed in a config since the other release, a line each: ``train: 3 added (4c50…, …), 1 removed (…)``."""
    if changes is None:
        return []
    if config in changes.added and not changes.first:
        return ["new in this release"]
    lines: list[str] = []
    for change in changes.changed:
        if change.name != config:
            continue
        lines += change.definition
        for split, rows in change.splits.items():
            counts = []
            for kind in KINDS:
                if number := getattr(rows, kind):
                    ids = ", ".join(rows.ids.get(kind, ()))
                    counts.append(f"{number:,} {kind} ({ids})" if ids else f"{number:,} {kind}")
            lines.append(f"{split}: {', '.join(counts)}")
        lines += [f"setting {line}" for line in change.settings]
        if change.wording:
            lines.append("wording of the definition")
    return lines
