"""What `build corpora` reports: rows about the catalogue's corpora and their files in the cache."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.hub_texts import HubText, hub_texts
from discoprobe.loaders.catalogue.licences import normalise
from discoprobe.loaders.catalogue.pins import LeftOut, PinnedCorpus
from discoprobe.loaders.errors import UnknownNameError
from discoprobe.loaders.fetch.catalogue_files import location

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
        documents: how documents are recognised, `TEXT` or `HUB_TEXT`.
        default: whether the corpus is used when none is named.
        files: the number of files.
        bytes: the sum of their sizes; None where a size is not known.
        cached: the number of files in the cache; their content is not checked.
        offered: whether the corpus can be downloaded.
        note: why it cannot be downloaded, or other information on it.
    """

    lang: str
    language: str
    name: str
    licence: str
    documents: str
    default: bool
    files: int = 0
    bytes: int | None = None
    cached: int = 0
    offered: bool = True
    note: str = ""


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


def _named(name: str) -> Sequence[PinnedCorpus]:
    try:
        language = treebanks.language(name)
    except UnknownNameError:
        return (treebanks.corpus(name),)
    return (*language.treebanks, *language.texts) or treebanks.open_treebanks(name)


def _rows(language: treebanks.Language) -> list[CorpusRow]:
    offered = [_offered(language, bank, str(bank.documents), bank.note) for bank in language.treebanks]
    offered += [_offered(language, text, TEXT, text.note or text.licence_note) for text in language.texts]
    of_hub = [_of_hub(language, text) for text in hub_texts() if language.code not in text.without]
    return [*offered, *of_hub, *(_left_out(language, left) for left in language.left_out)]


def _offered(language: treebanks.Language, corpus: PinnedCorpus, documents: str, note: str) -> CorpusRow:
    cached = sum(location(corpus, file).is_file() for file in corpus.files)
    return CorpusRow(
        language.code, language.name, corpus.name, normalise(corpus.licence), documents, corpus.default,
        len(corpus.files), corpus.bytes, cached, note=note,
    )  # fmt: skip


def _of_hub(language: treebanks.Language, text: HubText) -> CorpusRow:
    note = f"{text.note}; {text.repo} at {text.commit[:7]}, read with --segment"
    name, licence = text.corpus(language.code), normalise(text.licence)
    return CorpusRow(language.code, language.name, name, licence, HUB_TEXT, text.default, note=note)


def _left_out(language: treebanks.Language, left: LeftOut) -> CorpusRow:
    return CorpusRow(
        language.code, language.name, left.name, normalise(left.licence), str(left.documents), default=False,
        offered=False, note=left.reason,
    )  # fmt: skip
