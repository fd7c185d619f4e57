"""What `build corpora` reports: rows about the catalogue's treebanks and their files in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discoprobe.loaders import treebanks
from discoprobe.loaders.errors import UnknownNameError
from discoprobe.loaders.fetch import check, fetch, location
from discoprobe.loaders.licences import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from discoprobe.loaders.fetch import FileState, Show
    from discoprobe.loaders.treebanks import DocumentRule, Treebank


@dataclass(frozen=True, slots=True)
class TreebankRow:
    """A treebank of the catalogue.

    ``licence`` is the normalised one; ``documents`` how they are told apart; ``bytes`` the sum where every file's size
    is known, else None; ``cached`` the number of ``files`` that are in the cache (not read); ``offered`` whether it can
    be downloaded, and ``note`` why not, or what is particular about it.
    """

    lang: str
    language: str
    name: str
    licence: str
    documents: str
    files: int
    bytes: int | None
    cached: int
    offered: bool
    note: str


def select(names: Iterable[str]) -> list[Treebank]:
    """The treebanks that are meant by codes or names of languages and names or prefixes of treebanks; all for none.

    Each once, in the order given; those that are not taken by default are included.

    Raises:
        UnknownNameError: a name is neither; the message lists near ones.
        UnsupportedError: a language has no openly licensed treebank, or a treebank is not offered.
    """
    wanted = list(names) or [language.code for language in treebanks.languages()]
    return list(dict.fromkeys(treebank for name in wanted for treebank in _meant(name)))


def list_corpora(names: Iterable[str] = ()) -> list[TreebankRow]:
    """The treebanks of the languages named by code or name, or of all; those left out come with the reason.

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    languages = [treebanks.language(name) for name in names] or treebanks.languages(every=True)
    return [row for language in languages for row in _rows(language)]


def fetch_corpora(names: Iterable[str] = (), *, jobs: int = 4, show: Show | None = None) -> list[Path]:
    """Download the treebanks that `select` finds; see `fetch` for errors and progress."""
    return fetch(select(names), jobs=jobs, show=show)


def check_corpora(names: Iterable[str] = ()) -> list[FileState]:
    """The state in the cache of every file of the treebanks that `select` finds, by reading them."""
    return check(select(names))


def _meant(name: str) -> Sequence[Treebank]:
    try:
        language = treebanks.language(name)
    except UnknownNameError:
        return (treebanks.treebank(name),)
    return language.treebanks or treebanks.open_treebanks(name)


def _rows(language: treebanks.Language) -> list[TreebankRow]:
    offered = [_offered(language, treebank) for treebank in language.treebanks]
    return offered + [_left_out(language, left) for left in language.left_out]


def _offered(language: treebanks.Language, treebank: Treebank) -> TreebankRow:
    sizes = [file.bytes for file in treebank.files]
    return TreebankRow(
        lang=language.code,
        language=language.name,
        name=treebank.name,
        licence=normalise(treebank.licence),
        documents=_documents(treebank.documents),
        files=len(treebank.files),
        bytes=None if None in sizes else sum(size or 0 for size in sizes),
        cached=sum(location(treebank, file).is_file() for file in treebank.files),
        offered=True,
        note=treebank.note,
    )


def _left_out(language: treebanks.Language, left: treebanks.LeftOut) -> TreebankRow:
    return TreebankRow(
        lang=language.code,
        language=language.name,
        name=left.facts.name,
        licence=normalise(left.facts.licence),
        documents=_documents(left.facts.documents),
        files=0,
        bytes=None,
        cached=0,
        offered=False,
        note=left.reason,
    )


def _documents(rule: DocumentRule) -> str:
    return f"{rule.kind} {rule.pattern}".rstrip()
