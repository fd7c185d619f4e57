"""The files of a language: what a release has of each config besides its rows, in one file per kind.

``cards/es.md`` has the cards, ``audits/es.json`` the reports of the audit, ``assets/es.svg`` the plots, and
``attribution/es.parquet`` the documents whose licence asks to name them. A file of its own for each of these would give
a repository of 1,600 configs 6,500 more files, and the Hub recommends few.
"""

import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec
import polars as pl
from msgspec import field

from discoprobe.builders.audit.report import JSON
from discoprobe.cards.metadata.manifest import ATTRIBUTION, AUDITS, CARDS, PLOTS
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
            files.reports = json.loads(audits)
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
            _one_a_line(self.reports) if self.reports else "",
            plots.sheet(dict(sorted(self.plots.items()))) if self.plots else "",
        ]
        files = {path: text.encode() for path, text in zip(paths(self.lang), texts, strict=False) if text}
        if self.documents:
            tables = [
                table.select(pl.lit(name).alias("config"), pl.all()) for name, table in sorted(self.documents.items())
            ]
            pl.concat(tables).write_parquet(buffer := io.BytesIO())
            files[paths(self.lang)[-1]] = buffer.getvalue()
        return files


def paths(lang: str) -> tuple[str, str, str, str]:
    """The paths of the files of a language inside a release: cards, audits, plots, documents."""
    return f"{CARDS}/{lang}.md", f"{AUDITS}/{lang}.json", f"{PLOTS}/{lang}.svg", f"{ATTRIBUTION}/{lang}.parquet"


def _one_a_line(values: dict[str, JSON]) -> str:
    lines = (
        f"{json.dumps(name)}:{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for name, value in sorted(values.items())
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"
