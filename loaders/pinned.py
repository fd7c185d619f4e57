"""Corpora at a commit: what the catalogue says of any of them, and of their files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote

HOST: Final = "https://raw.githubusercontent.com"
"""Where the pinned files are: ``<HOST>/<repo>/<commit>/<path>``."""


@dataclass(frozen=True, slots=True)
class PinnedFile:
    r"""A file of a corpus at its commit.

    ``git_blob_sha1`` is the SHA-1 of ``blob <size>\0`` and the content, as git names it; ``bytes`` and ``sha256`` are
    None where they are not known. A file of another commit than the catalogue's, which a manifest pins, has ``sha256``
    and no ``git_blob_sha1``.
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
    def digest(self) -> str:
        """The hash that names the content: git's, or the SHA-256 where that is not known."""
        return self.git_blob_sha1 or self.sha256 or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedCorpus:
    """An openly licensed corpus, pinned: what it is called, where it is, what is in it and how to cite it.

    ``prefix`` is a short name (``es_ancora``, ``de_klexikon``); ``date`` is the day of the commit where known;
    ``default`` is whether the corpus is taken when a language is asked for and no corpus is named, and ``note`` says
    why not, or what is particular about it.
    """

    name: str
    prefix: str
    lang: str
    repo: str
    commit: str
    licence: str
    citation: str
    genre: tuple[str, ...]
    files: tuple[PinnedFile, ...]
    date: str = ""
    licence_note: str = ""
    default: bool = True
    note: str = ""

    def url(self, file: PinnedFile) -> str:
        """Where the file is on the catalogue's host."""
        return f"{HOST}/{self.repo}/{self.commit}/{quote(file.path)}"

    def has(self, name: str) -> bool:
        """Whether one of its files has this name, without folders and in any case."""
        return any(file.name.casefold() == name.casefold() for file in self.files)

    def pins(self, git_blob_sha1: str) -> bool:
        """Whether a file with this content is one of the corpus's files at its commit."""
        return any(file.git_blob_sha1 == git_blob_sha1 for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCorpus(PinnedCorpus):
    """A corpus of raw text, which is annotated before anything is built from it.

    ``read`` has what differs from the defaults of reading, as ``build annotate --set`` takes it (``lines=sentences``).
    """

    read: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """The short name without the language: ``klexikon``."""
        return self.prefix.partition("_")[2]
