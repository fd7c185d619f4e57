"""The files of a language: what a release has of each config besides its rows, in one file per kind.

``cards/es.md`` has the cards, ``audits/es.parquet`` the reports of the audit (a row per config, the report as JSON),
``assets/es.svg`` the plots, and ``attribution/es.parquet`` the documents whose licence asks to name them. A file of
its own for each of these would give a repository of 1,600 configs 6,500 more files, and the Hub recommends few. Tables
go to the storage of large files, not into the request of the commit, which has a minute.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec
import polars as pl
from msgspec import field

from discoprobe.builders.audit.report import JSON
from discoprobe.cards.metadata.manifest import ATTRIBUTION, AUDITS, CARDS, PLOTS, parquet
from discoprobe.cards.text import plots
from discoprobe.cards.text.templating import render

_CARD: Final = re.compile(r"^(?=# [a-z0-9][a-z0-9_-]*$)", re.MULTILINE)
"""Where the card of a config begins; the heading of the page is no name of a config."""


class LanguageFiles(msgspec.Struct):
    """The contents of the files of a language.

    Attributes:
        lang: the language.
        cards: the card of each config, by its name.
        reports: the report of its audit, as JSON holds it.
        plots: the plot of its audit, as SVG.
        documents: ``corpus``, ``doc_id``, ``title`` and ``url`` of documents of a config; only where there are some.
    """

    lang: str
    cards: dict[str, str] = field(default_factory=dict)
    reports: dict[str, JSON] = field(default_factory=dict)
    plots: dict[str, str] = field(default_factory=dict)
    documents: dict[str, pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def of_folder(cls, folder: Path, lang: str, only: str = "") -> "LanguageFiles":
        """The files of a language in a release folder; empty where there are none. ``only`` names a folder to read."""

        def content_of(path: str) -> bytes | None:
            is_read = path.startswith(only) and (folder / path).is_file()
            return (folder / path).read_bytes() if is_read else None

        return cls.read(lang, content_of)

    @classmethod
    def read(cls, lang: str, content_of: Callable[[str], bytes | None]) -> "LanguageFiles":
        """The files of a language; ``content_of`` gives the bytes at a path inside the release, None without a file."""
        files = cls(lang)
        cards, audits, svg, table = map(content_of, paths(lang))
        if cards:
            parts = _CARD.split(cards.decode())[1:]
            files.cards = {part[2:].partition("\n")[0]: part.rstrip("\n") + "\n" for part in parts}
        if audits:
            files.reports = {name: json.loads(report) for name, report in pl.read_parquet(audits).iter_rows()}
        if svg:
            files.plots = plots.split_sheet(svg.decode())
        if table:
            of_config = pl.read_parquet(table).partition_by("config", as_dict=True, include_key=False)
            files.documents = {str(config): documents for (config,), documents in of_config.items()}
        return files

    def remove(self, configs: Iterable[str]) -> None:
        """Removes all of these configs."""
        gone = set(configs)
        for parts in (self.cards, self.reports, self.plots, self.documents):
            for name in gone & parts.keys():
                del parts[name]

    def add(self, other: "LanguageFiles") -> None:
        """Adds the configs of other files of the language, in place of those with the same names."""
        self.remove(other.cards)
        self.cards |= other.cards
        self.reports |= other.reports
        self.plots |= other.plots
        self.documents |= other.documents

    def contents(self) -> dict[str, bytes]:
        """The bytes of the files, by path; only of those that hold something. They do not depend on any order."""
        texts = [
            render("cards.md", lang=self.lang, cards=dict(sorted(self.cards.items()))) if self.cards else "",
            plots.sheet(dict(sorted(self.plots.items()))) if self.plots else "",
        ]
        cards, audits, svg, attribution = paths(self.lang)
        files = {path: text.encode() for path, text in zip((cards, svg), texts, strict=True) if text}
        if self.reports:
            rows = [(name, _compact(report)) for name, report in sorted(self.reports.items())]
            files[audits] = parquet(pl.DataFrame(rows, ["config", "report"], orient="row"))
        if self.documents:
            tables = [
                table.select(pl.lit(name).alias("config"), pl.all()) for name, table in sorted(self.documents.items())
            ]
            files[attribution] = parquet(pl.concat(tables))
        return files


def paths(lang: str) -> tuple[str, str, str, str]:
    """The paths of the files of a language inside a release: cards, audits, plots, documents."""
    return f"{CARDS}/{lang}.md", f"{AUDITS}/{lang}.parquet", f"{PLOTS}/{lang}.svg", f"{ATTRIBUTION}/{lang}.parquet"


def _compact(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
