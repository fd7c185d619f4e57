"""What `build corpora` reports: rows about the catalogue's corpora and their files in the cache."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.hub_texts import HubText, hub_texts
from discoprobe.loaders.catalogue.licences import normalise
from discoprobe.loaders.catalogue.pins import LeftOut, PinnedCorpus
from discoprobe.loaders.errors import UnknownNameError
from discoprobe.loaders.fetch.catalogue_files import FileState, Show, check, fetch, location, silent

TEXT = "raw text"
"""The value of ``documents`` for a corpus that has to be annotated first."""
HUB_TEXT = "rows"
"""The value of ``documents`` for a dataset of the Hub: a row is a document."""


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A corpus of the catalogue.

    Attributes:
        lang: the code of its language.
        language: the English name of the language.
        name: as its publisher calls it.
        licence: the normalised identifier.
        documents: how documents are told apart, or `TEXT`.
        default: whether the corpus is used when none is named.
        files: the number of files.
        bytes: the sum of their sizes; None where a size is not known.
        cached: the number of files in the cache; they are not read.
        offered: whether the corpus can be downloaded.
        note: why it cannot, or what is particular about it.
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
    """The corpora with these names or prefixes, and all corpora of the languages with these codes or names.

    Without names: all corpora. Each corpus is listed once, in the order given; those that are not used by default are
    included.

    Raises:
        UnknownNameError: a name is neither a language nor a corpus; the message lists similar ones.
        UnsupportedError: a language has no openly licensed corpus, or a corpus is not offered.
    """
    wanted = list(names) or [language.code for language in treebanks.languages()]
    return list(dict.fromkeys(corpus for name in wanted for corpus in _named(name)))


def list_corpora(names: Iterable[str] = ()) -> list[CorpusRow]:
    """The corpora of the languages with these codes or names, or of all; those not offered come with the reason.

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    languages = [treebanks.language(name) for name in names] or treebanks.languages(every=True)
    return [row for language in languages for row in _rows(language)]


def fetch_corpora(names: Iterable[str] = (), *, jobs: int = 4, show: Show = silent) -> list[Path]:
    """Download the corpora that `select` finds; see `fetch` for errors and progress."""
    return fetch(select(names), jobs=jobs, show=show)


def check_corpora(names: Iterable[str] = ()) -> list[FileState]:
    """The state in the cache of every file of the corpora that `select` finds, by reading them."""
    return check(select(names))


def _named(name: str) -> Sequence[PinnedCorpus]:
    try:
        language = treebanks.language(name)
    except UnknownNameError:
        return (treebanks.corpus(name),)
    return (*language.treebanks, *language.texts) or treebanks.open_treebanks(name)


def _rows(language: treebanks.Language) -> list[CorpusRow]:
    offered = [_offered(language, treebank, str(treebank.documents)) for treebank in language.treebanks]
    offered += [_offered(language, text, TEXT) for text in language.texts]
    offered += [_of_hub(language, text) for text in hub_texts() if language.code not in text.without]
    return offered + [_left_out(language, left) for left in language.left_out]


def _of_hub(language: treebanks.Language, text: HubText) -> CorpusRow:
    return CorpusRow(
        lang=language.code,
        language=language.name,
        name=text.corpus(language.code),
        licence=normalise(text.licence),
        documents=HUB_TEXT,
        default=text.default,
        files=0,
        bytes=None,
        cached=0,
        offered=True,
        note=f"{text.note}; {text.repo} at {text.commit[:7]}, read with --segment",
    )


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


def _left_out(language: treebanks.Language, left: LeftOut) -> CorpusRow:
    return CorpusRow(
        lang=language.code,
        language=language.name,
        name=left.name,
        licence=normalise(left.licence),
        documents=str(left.documents),
        default=False,
        files=0,
        bytes=None,
        cached=0,
        offered=False,
        note=left.reason,
    )
