"""What `build corpora` reports: rows about the catalogue's corpora and their files in the cache."""

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
    from discoprobe.loaders.pinned import PinnedCorpus
    from discoprobe.loaders.treebanks import DocumentRule

TEXT = "raw text"
"""What stands for the rule of documents of a corpus that is to be annotated first."""


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A corpus of the catalogue.

    ``licence`` is the normalised one; ``documents`` how they are told apart, or that this is raw text; ``default``
    whether it is taken when none is named; ``bytes`` the sum where every file's size
    is known, else None; ``cached`` the number of ``files`` that are in the cache (not read); ``offered`` whether it can
    be downloaded, and ``note`` why not, or what is particular about it.
    """

    lang: str
    language: str
    name: str
    licence: str
    documents: str
    default: bool
    files: int
    bytes: int | None
    cached: int
    offered: bool
    note: str


def select(names: Iterable[str]) -> list[PinnedCorpus]:
    """The corpora that are meant by codes or names of languages and names or prefixes of corpora; all for none.

    Each once, in the order given; those that are not taken by default are included.

    Raises:
        UnknownNameError: a name is neither; the message lists near ones.
        UnsupportedError: a language has no openly licensed corpus, or a corpus is not offered.
    """
    wanted = list(names) or [language.code for language in treebanks.languages()]
    return list(dict.fromkeys(corpus for name in wanted for corpus in _meant(name)))


def list_corpora(names: Iterable[str] = ()) -> list[CorpusRow]:
    """The corpora of the languages named by code or name, or of all; those left out come with the reason.

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    languages = [treebanks.language(name) for name in names] or treebanks.languages(every=True)
    return [row for language in languages for row in _rows(language)]


def fetch_corpora(names: Iterable[str] = (), *, jobs: int = 4, show: Show | None = None) -> list[Path]:
    """Download the corpora that `select` finds; see `fetch` for errors and progress."""
    return fetch(select(names), jobs=jobs, show=show)


def check_corpora(names: Iterable[str] = ()) -> list[FileState]:
    """The state in the cache of every file of the corpora that `select` finds, by reading them."""
    return check(select(names))


def _meant(name: str) -> Sequence[PinnedCorpus]:
    try:
        language = treebanks.language(name)
    except UnknownNameError:
        return (treebanks.corpus(name),)
    return (*language.treebanks, *language.texts) or treebanks.open_treebanks(name)


def _rows(language: treebanks.Language) -> list[CorpusRow]:
    offered = [_offered(language, treebank, _documents(treebank.documents)) for treebank in language.treebanks]
    offered += [_offered(language, text, TEXT) for text in language.texts]
    return offered + [_left_out(language, left) for left in language.left_out]


def _offered(language: treebanks.Language, corpus: PinnedCorpus, documents: str) -> CorpusRow:
    sizes = [file.bytes for file in corpus.files]
    return CorpusRow(
        lang=language.code,
        language=language.name,
        name=corpus.name,
        licence=normalise(corpus.licence),
        documents=documents,
        default=corpus.default,
        files=len(corpus.files),
        bytes=None if None in sizes else sum(size or 0 for size in sizes),
        cached=sum(location(corpus, file).is_file() for file in corpus.files),
        offered=True,
        note=corpus.note or corpus.licence_note * (documents == TEXT),
    )


def _left_out(language: treebanks.Language, left: treebanks.LeftOut) -> CorpusRow:
    return CorpusRow(
        lang=language.code,
        language=language.name,
        name=left.facts.name,
        licence=normalise(left.facts.licence),
        documents=_documents(left.facts.documents),
        default=False,
        files=0,
        bytes=None,
        cached=0,
        offered=False,
        note=left.reason,
    )


def _documents(rule: DocumentRule) -> str:
    return f"{rule.kind} {rule.pattern}".rstrip()
