"""The records of the catalogue: corpora pinned to a commit, and known corpora that are not offered for download.

Each class is a table of ``loaders/catalogue/<code>.toml`` with the same fields; `msgspec` reads and checks them.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Final, Literal
from urllib.parse import quote

import msgspec

from discoprobe.loaders.file_hashes import hashes_of

HOST: Final = "https://raw.githubusercontent.com"
"""The host of the pinned files: ``<HOST>/<repo>/<commit>/<path>``."""


class DocumentRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the documents of a treebank are recognised.

    Attributes:
        kind: one of

            * ``auto``: decides for each file: by ``# newdoc`` comments if it has any, but not before every sentence; if
              it has none, by sentence ids if these show documents (``conllu.sent_id_stems``); else no documents;
            * ``newdoc``: by ``# newdoc`` comments. Sentences before the first one belong to no document. Where there is
              a ``pattern``, a sentence whose ``sent_id`` does not match it belongs to no document, nor do the following
              sentences up to the next ``newdoc``;
            * ``none``: sentences are shuffled or single, there are no documents;
            * ``file``: every file is one document;
            * ``sent_id``: the first group of ``pattern``, matched at the start of ``sent_id``, is the document. A
              sentence that does not match belongs to none.
        pattern: a regular expression; required for ``sent_id``, optional for ``newdoc``, forbidden for the others.
    """

    kind: Literal["auto", "newdoc", "none", "file", "sent_id"] = "auto"
    pattern: str = ""

    def __post_init__(self) -> None:
        needed = self.kind == "sent_id"
        if needed != bool(self.pattern) and self.kind != "newdoc":
            raise ValueError(f"a rule of kind '{self.kind}' {'needs a' if needed else 'takes no'} pattern")
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            raise ValueError(f"'{self.pattern}' is not a regular expression: {error}") from error
        if needed and groups == 0:
            raise ValueError(f"'{self.pattern}' needs a group that names the document, as in '^(.*)-s'")

    def __str__(self) -> str:
        return f"{self.kind} {self.pattern}".rstrip()


class TreebankFacts(msgspec.Struct, frozen=True):
    """What a reader needs to know of a treebank whose files it was given.

    Attributes:
        licence: as the treebank's README writes it.
        commit: the catalogue's pin; `PinnedCorpus.pins` tells whether a file has the content of that commit.
        sha256: the hashes of the files at ``commit``, if a manifest pins another commit than the catalogue; else empty.
        genre: the genres of its texts, where they are known.
    """

    name: str
    lang: str
    licence: str
    repo: str
    commit: str
    citation: str
    documents: DocumentRule
    sha256: frozenset[str] = frozenset()
    genre: tuple[str, ...] = ()


class PinnedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a corpus at its commit.

    Attributes:
        path: in the repository.
        git_blob_sha1: git's hash of the content; empty if a manifest pins another commit than the catalogue.
        bytes: the size; None where it is not known.
        sha256: None where it is not known.
    """

    path: str
    git_blob_sha1: str
    bytes: int | None = None
    sha256: str | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def content_hash(self) -> str:
        """The hash that names the content: git's, or the SHA-256 where git's is not known."""
        return self.git_blob_sha1 or self.sha256 or ""

    def mismatch(self, path: Path) -> str:
        """How the content of ``path`` differs from this file (``expected …, got …``); empty where it is the same.

        Raises:
            DiscoprobeError: ``path`` cannot be read.
            OSError: there is no file at ``path``.
        """
        size = path.stat().st_size
        if self.bytes not in {None, size}:
            return f"expected {self.bytes} bytes, got {size}"
        hashes = hashes_of(path)
        if self.git_blob_sha1 not in {"", hashes.git_blob_sha1}:
            return f"expected git blob SHA-1 {self.git_blob_sha1}, got {hashes.git_blob_sha1}"
        if self.sha256 not in {None, hashes.sha256}:
            return f"expected SHA-256 {self.sha256}, got {hashes.sha256}"
        return ""


class CorpusRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the catalogue says of every corpus.

    Attributes:
        name: as its publisher calls it (``UD_Spanish-AnCora``, ``Klexikon``).
        prefix: a short name (``es_ancora``, ``de_klexikon``); the file names of a treebank of Universal Dependencies
            begin with it.
        lang: the code of its language.
        repo: on GitHub.
        commit: the pinned one.
        licence: as its README writes it.
    """

    name: str
    prefix: str
    lang: str
    repo: str
    commit: str
    licence: str
    citation: str

    def is_named(self, name: str) -> bool:
        """Whether this is its name or prefix, in any case."""
        return name.casefold() in {self.name.casefold(), self.prefix.casefold()}


class PinnedCorpus(CorpusRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An openly licensed corpus that can be downloaded.

    Attributes:
        genre: the genres of its texts.
        files: its files at the commit.
        date: the day of the commit, where it is known.
        licence_note: the licences of the parts of the corpus, if they differ.
        default: whether the corpus is used when its language is requested and no corpus is named.
        note: why it is not used by default, or other information on it.
    """

    genre: tuple[str, ...]
    files: tuple[PinnedFile, ...]
    date: str = ""
    licence_note: str = ""
    default: bool = True
    note: str = ""

    @property
    def bytes(self) -> int | None:
        """The size of all files; None where that of one is not known."""
        sizes = [file.bytes for file in self.files if file.bytes is not None]
        return sum(sizes) if len(sizes) == len(self.files) else None

    def url(self, file: PinnedFile) -> str:
        """The address of the file on the catalogue's host."""
        return f"{HOST}/{self.repo}/{self.commit}/{quote(file.path)}"

    def has(self, name: str) -> bool:
        """Whether one of its files has this name, without folders and in any case."""
        return any(file.name.casefold() == name.casefold() for file in self.files)

    def pins(self, path: Path, sha256: str) -> bool:
        """Whether a file has exactly the content of one of the corpus's files at its commit.

        Git's hash of the file is computed only if the catalogue does not have the SHA-256 of all files.
        """
        if any(file.sha256 == sha256 for file in self.files):
            return True
        others = {file.git_blob_sha1 for file in self.files if file.sha256 is None}
        return bool(others) and hashes_of(path).git_blob_sha1 in others


class Treebank(PinnedCorpus, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An openly licensed treebank; ``documents`` is how its documents are recognised."""

    documents: DocumentRule

    @property
    def facts(self) -> TreebankFacts:
        """The part of the record that a reader needs."""
        return _facts(self, self.documents, self.genre)


class TextCorpus(PinnedCorpus, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A corpus of raw text, which is annotated before anything is built from it.

    Attributes:
        read: the options of reading that differ from the defaults, as ``build annotate --set`` takes them
            (``lines=sentences``).
    """

    read: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """The short name without the language: ``klexikon``."""
        return self.prefix.partition("_")[2]


class LeftOut(CorpusRecord, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A known corpus that is not offered for download, with the reason.

    A user may still have a copy: the record gives its licence and citation.
    """

    documents: DocumentRule
    reason: str

    @property
    def facts(self) -> TreebankFacts:
        """The part of the record that a reader needs."""
        return _facts(self, self.documents)


def _facts(record: CorpusRecord, documents: DocumentRule, genre: tuple[str, ...] = ()) -> TreebankFacts:
    return TreebankFacts(
        record.name, record.lang, record.licence, record.repo, record.commit, record.citation, documents, genre=genre
    )
