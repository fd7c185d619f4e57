"""Rows for `build languages` and `build corpora`, from what the loaders report."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from discoprobe.loaders import corpora_report, language, treebanks
from discoprobe.sources import sample_languages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.loaders.fetch import FileState

Row = dict[str, str | int | bool | None]


def language_rows() -> list[Row]:
    """A row per language: the catalogue's treebanks and texts, whether it has a file of its own, and a sample."""
    known, sampled = set(language.languages()), set(sample_languages())
    return [
        {
            "code": each.code,
            "name": each.name,
            "treebanks": len(each.treebanks),
            "texts": len(each.texts),
            "language data": each.code in known,
            "sample": each.code in sampled,
        }
        for each in treebanks.languages(every=True)
    ]


def corpus_rows(names: Sequence[str]) -> list[Row]:
    """A row per corpus of the catalogue."""
    return [dataclasses.asdict(row) for row in corpora_report.list_corpora(names)]


def fetch_rows(names: Sequence[str], jobs: int) -> list[Row]:
    """Downloads and verifies; a row per file of what is there."""
    corpora_report.fetch_corpora(names, jobs=jobs)
    return _states(names)


def check_rows(names: Sequence[str]) -> list[Row]:
    """A row per file of the cache: ok, missing or corrupt."""
    return _states(names)


def _states(names: Sequence[str]) -> list[Row]:
    return [_state(found) for found in corpora_report.check_corpora(names)]


def _state(found: FileState) -> Row:
    return {"corpus": found.corpus, "file": found.file.path, "state": found.state, "problem": found.problem}
