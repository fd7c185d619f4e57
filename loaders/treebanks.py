"""The catalogue of corpora: ``loaders/catalogue/<code>.toml`` as frozen values.

A file of the catalogue is one language: a ``[language]`` table, a ``[[treebank]]`` table per openly licensed treebank
and a ``[[text]]`` table per corpus of raw text, pinned to a commit with the hash of every file, and a ``[[left_out]]``
table per corpus that is known and not offered, with the reason. The files are made by ``scripts/pin_corpora.py``;
nothing here touches the network. Of a text corpus the pinned files are offered and no others: a part of its repository.

Only what is asked for is parsed: `languages` reads the head of each file, `language` and `treebank` one whole file.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
import tomllib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UnsupportedError
from discoprobe.loaders.pinned import PinnedCorpus, PinnedFile, TextCorpus

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

RULES: Final = ("auto", "newdoc", "none", "file", "sent_id")

_NAMES = re.compile(r'^(?:name|prefix) = "([^"]+)"$', re.MULTILINE)
_FILES = re.compile(r'^  \{ path = "(?:[^"]*/)?([^"/]+\.conllu)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DocumentRule:
    """How the documents of a treebank are told apart.

    ``kind`` is one of `RULES`:

    * ``auto``: by ``# newdoc`` comments where there are any and not on every sentence, else none;
    * ``newdoc``: by ``# newdoc`` comments; sentences before the first belong to no document, and where there is a
      ``pattern`` neither do one whose ``sent_id`` it does not match and those that follow up to the next ``newdoc``;
    * ``none``: sentences are shuffled or single, there are no documents;
    * ``file``: every file is one document;
    * ``sent_id``: the first group of the regular expression ``pattern``, matched at the start of ``sent_id``, is the
      document; a sentence that does not match belongs to none.
    """

    kind: str = "auto"
    pattern: str = ""

    def __post_init__(self) -> None:
        needed = self.kind == "sent_id"
        if self.kind not in RULES or (needed != bool(self.pattern) and self.kind != "newdoc"):
            raise DiscoprobeError(f"no document rule: kind '{self.kind}', pattern '{self.pattern}'")
        if needed and re.compile(self.pattern).groups < 1:
            raise DiscoprobeError(f"document rule '{self.pattern}' has no group to name the document")


@dataclass(frozen=True, slots=True)
class TreebankFacts:
    """What a reader needs to know of a treebank whose files it was given.

    ``licence`` is the name its README uses, ``commit`` the catalogue's pin: `Treebank.pins` tells whether a file at
    hand is of that commit. Where a manifest pins another commit, ``sha256`` has the hashes of its files there.
    """

    name: str
    lang: str
    licence: str
    repo: str
    commit: str
    citation: str
    documents: DocumentRule
    sha256: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Treebank(PinnedCorpus):
    """An openly licensed treebank; ``prefix`` is what its file names begin with in Universal Dependencies."""

    documents: DocumentRule

    @property
    def facts(self) -> TreebankFacts:
        """The part of the record that a reader needs."""
        return TreebankFacts(self.name, self.lang, self.licence, self.repo, self.commit, self.citation, self.documents)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A corpus that is known and not offered for download; ``facts`` still describe a copy that a user has."""

    facts: TreebankFacts
    prefix: str
    reason: str


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the catalogue: its code as Universal Dependencies has it, and its English name."""

    code: str
    name: str

    @property
    def treebanks(self) -> tuple[Treebank, ...]:
        """Its openly licensed treebanks, by name; empty where there is none."""
        return _contents(self.code).treebanks

    @property
    def texts(self) -> tuple[TextCorpus, ...]:
        """Its openly licensed corpora of raw text, by name; empty where there is none."""
        return _contents(self.code).texts

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Its corpora that are not offered, by name."""
        return _contents(self.code).left_out


@dataclass(frozen=True, slots=True)
class _Contents:
    treebanks: tuple[Treebank, ...]
    texts: tuple[TextCorpus, ...]
    left_out: tuple[LeftOut, ...]


def languages(*, every: bool = False) -> list[Language]:
    """The languages that have an openly licensed corpus, by code; all known ones with ``every``."""
    offered = ("\n[[treebank]]", "\n[[text]]")
    return [language for code, language in _heads().items() if every or any(table in _text(code) for table in offered)]


def language(name: str) -> Language:
    """The language with this code (``es``) or English name (``Spanish``, ``ancient greek``).

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    heads = _heads()
    if name in heads:
        return heads[name]
    wanted = name.replace("_", " ").casefold()
    for known in heads.values():
        if wanted in (known.code, known.name.casefold()):
            return known
    names = [*heads, *(known.name for known in heads.values())]
    raise UnknownNameError("language", name, names, remedy="(`build languages` lists them)")


def open_treebanks(name: str) -> tuple[Treebank, ...]:
    """The openly licensed treebanks of a language that are taken by default, given its code or name: at least one.

    Raises:
        UnknownNameError: the catalogue has no such language.
        UnsupportedError: it has only treebanks that are left out; the message gives the reasons.
    """
    known = language(name)
    if taken := tuple(treebank for treebank in known.treebanks if treebank.default):
        return taken
    reasons = "; ".join(f"{left.facts.name}: {left.reason}" for left in known.left_out)
    raise UnsupportedError(f"{known.name} has no openly licensed treebank ({reasons}); give files of your own")


def open_texts(name: str) -> tuple[TextCorpus, ...]:
    """The corpora of raw text that are taken by default for a language, given its code or name; most have none.

    They stand in where no openly licensed treebank of the language is known to have documents.

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    return tuple(text for text in language(name).texts if text.default)


def treebank(name: str) -> Treebank:
    """The treebank with this name (``UD_Spanish-AnCora``) or prefix (``es_ancora``), in any case.

    Raises:
        UnknownNameError: the catalogue has no such treebank.
        UnsupportedError: it is known and not offered; the message gives the reason.
    """
    found = corpus(name, kind="treebank")
    if isinstance(found, TextCorpus):
        raise UnknownNameError("treebank", name, _index_names())
    return found


def corpus(name: str, *, kind: str = "corpus") -> Treebank | TextCorpus:
    """The treebank or corpus of raw text with this name (``Klexikon``) or prefix (``de_klexikon``), in any case.

    Args:
        name: its name or prefix.
        kind: what a message calls it.

    Raises:
        UnknownNameError: the catalogue has no such corpus.
        UnsupportedError: it is known and not offered; the message gives the reason.
    """
    code = _index().get(name.casefold())
    if code is None:
        raise UnknownNameError(kind, name, _index_names())
    record = _named(name, code)
    if isinstance(record, LeftOut):
        raise UnsupportedError(f"{record.facts.name} is not offered for download: {record.reason}")
    return record


def facts_for(name: str) -> TreebankFacts | None:
    """What is known of the treebank that a file or folder name belongs to, or None.

    Args:
        name: the name of a folder (``UD_Spanish-AnCora``), a prefix (``es_ancora``) or the name of a file
            (``es_ancora-ud-train.conllu``, ``GUM_news_asylum.conllu``), without the folders above it.

    Treebanks that are not offered for download are described too, so that a copy that a user has keeps its licence.
    Where licences differ from file to file, as in GUM, only the files of the catalogue are recognised.
    """
    wanted = name.casefold()
    for guess in (wanted, wanted.removesuffix(".conllu").split("-ud-")[0]):
        if (code := _index().get(guess)) is not None:
            found = _named(guess, code)
            return None if isinstance(found, TextCorpus) else found.facts
    if (code := _file_index().get(wanted)) is not None:
        return next(known.facts for known in _contents(code).treebanks if known.has(wanted))
    return None


def _named(name: str, code: str) -> Treebank | TextCorpus | LeftOut:
    """The record of a language's file that has this name or prefix."""
    wanted = name.casefold()
    contents = _contents(code)
    offered: tuple[Treebank | TextCorpus, ...] = (*contents.treebanks, *contents.texts)
    for known in offered:
        if wanted in (known.name.casefold(), known.prefix.casefold()):
            return known
    return next(left for left in contents.left_out if wanted in (left.facts.name.casefold(), left.prefix.casefold()))


def _folder() -> Traversable:
    return importlib.resources.files("discoprobe.loaders") / "catalogue"


@functools.cache
def _text(code: str) -> str:
    return (_folder() / f"{code}.toml").read_text(encoding="utf-8")


@functools.cache
def _heads() -> Mapping[str, Language]:
    """Every language by code; the tables of treebanks are cut off before parsing, which is what takes time."""
    names = sorted(entry.name for entry in _folder().iterdir())
    codes = [name.removesuffix(".toml") for name in names if name.endswith(".toml")]
    heads = (tomllib.loads(_text(code).partition("\n[[")[0])["language"] for code in codes)
    return MappingProxyType({head["code"]: Language(head["code"], head["name"]) for head in heads})


@functools.cache
def _index() -> Mapping[str, str]:
    """The code of the language of every corpus, by its name and by its prefix, in lower case.

    Read off the lines ``name = "…"`` and ``prefix = "…"`` after the head: parsing all files takes ten times as long.
    """
    return MappingProxyType({name.casefold(): code for code in _heads() for name in _names_in(code)})


@functools.cache
def _file_index() -> Mapping[str, str]:
    """The code of the language of every treebank's file in the catalogue, by the file's name in lower case."""
    return MappingProxyType({name.casefold(): code for code in _heads() for name in _FILES.findall(_text(code))})


def _index_names() -> list[str]:
    return [name for code in _heads() for name in _names_in(code)]


def _names_in(code: str) -> list[str]:
    return _NAMES.findall(_text(code).partition("\n[[")[2])


@functools.cache
def _contents(code: str) -> _Contents:
    data = tomllib.loads(_text(code))
    return _Contents(
        tuple(_treebank(code, table) for table in data.get("treebank", ())),
        tuple(_text_corpus(code, table) for table in data.get("text", ())),
        tuple(_left_out(code, table) for table in data.get("left_out", ())),
    )


def _treebank(code: str, table: Mapping[str, Any]) -> Treebank:
    return Treebank(**_record(code, table) | {"documents": _rule(table["documents"])})


def _text_corpus(code: str, table: Mapping[str, Any]) -> TextCorpus:
    return TextCorpus(**_record(code, table) | {"read": tuple(table["read"])})


def _record(code: str, table: Mapping[str, Any]) -> dict[str, Any]:
    files = tuple(PinnedFile(**file) for file in table["files"])
    return {**table, "lang": code, "files": files, "genre": tuple(table["genre"])}


def _left_out(code: str, table: Mapping[str, Any]) -> LeftOut:
    facts = TreebankFacts(
        table["name"],
        code,
        table["licence"],
        table["repo"],
        table["commit"],
        table["citation"],
        _rule(table["documents"]),
    )
    return LeftOut(facts, table["prefix"], table["reason"])


def _rule(value: str | Mapping[str, str]) -> DocumentRule:
    """The rule as the catalogue writes it: the kind, or ``{ sent_id = "pattern" }`` (or ``newdoc``)."""
    return DocumentRule(value) if isinstance(value, str) else DocumentRule(*next(iter(value.items())))
