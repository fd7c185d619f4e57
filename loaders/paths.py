"""Finding corpus files, and which treebank and language each of them belongs to, by names alone."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from discoprobe.loaders.annotation_manifest import corpus_facts
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.errors import DiscoprobeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from discoprobe.loaders.catalogue.pins import TreebankFacts

SUFFIXES: Final = (".conllu", ".conllu.gz")
UD_FILE: Final = re.compile(r"^(([a-z]{2,3})_[a-z0-9]+)-ud-")
UD_FOLDER: Final = re.compile(r"^UD_[A-Z]\w*-\w+$")


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A CoNLL-U file.

    Attributes:
        path: where it is.
        name: its name in the treebank: relative to the treebank's folder, with ``/``.
        treebank: the name of the treebank.
        lang: the code of its language.
        facts: what the catalogue knows of the treebank, if it is there.
    """

    path: Path
    name: str
    treebank: str
    lang: str
    facts: TreebankFacts | None

    @property
    def stem(self) -> str:
        """The file's name without folder and suffix."""
        return stem(self.path)


def stem(path: Path) -> str:
    """The name of a file without ``.conllu`` or ``.conllu.gz``."""
    return path.name.removesuffix(".gz").removesuffix(".conllu")


def find_files(paths: Iterable[Path]) -> dict[Path, Path]:
    """The CoNLL-U files among paths and in the folders among them, however deep: absolute, sorted, each once.

    Each comes with the path through which it was found. Inside folders, names that begin with a dot are passed over.

    Raises:
        DiscoprobeError: a path does not exist, is neither a folder nor a ``.conllu`` or ``.conllu.gz`` file, or is a
            folder that holds none.
    """
    files = {file.resolve(): path.resolve() for path in sorted(paths) for file in _files_in(path)}
    return dict(sorted(files.items()))


def _files_in(path: Path) -> Sequence[Path]:
    if not path.exists():
        raise DiscoprobeError(f"{path}: no such file or folder")
    if path.is_dir():
        files = [file for file in path.rglob("*.conllu*") if _is_corpus_file(file.relative_to(path)) and file.is_file()]
        if not files:
            raise DiscoprobeError(f"{path}: no .conllu or .conllu.gz file in this folder")
        return files
    if not path.name.endswith(SUFFIXES):
        raise DiscoprobeError(f"{path}: not a .conllu or .conllu.gz file")
    return [path]


def _is_corpus_file(relative: Path) -> bool:
    return relative.name.endswith(SUFFIXES) and not any(part.startswith(".") for part in relative.parts)


def holds_corpus(folder: Path) -> bool:
    """Whether there is a CoNLL-U file in a folder, however deep."""
    return any(_is_corpus_file(file.relative_to(folder)) for file in folder.rglob("*.conllu*"))


def describe(path: Path, top: Path, lang: str | None, facts: Callable[[str], TreebankFacts | None]) -> CorpusFile:
    """The treebank and the language of a file.

    The treebank of a file that was annotated from raw text is the one that ``annotate.json`` beside it names. Else it
    is the one in the catalogue that the folder, or else the file, is named after. Failing that, it is
    called after the nearest folder above whose name is like ``UD_Spanish-AnCora``; else after the part of the file's
    name before ``-ud-``; else after its folder.

    The language is the code that a UD file name begins with; else the one the catalogue gives; else the file's name, or
    that of the nearest folder above, if it is a code of Universal Dependencies, as in ``de.conllu`` and ``de/x.conllu``
    (where ``lang`` is given, only folders in ``top`` count); else ``lang``.

    Args:
        path: the file, absolute.
        top: the file or folder among the user's paths through which it was found.
        lang: the code of the language, where the names do not tell.
        facts: what is known of a treebank, by the name of a folder or file.

    Raises:
        DiscoprobeError: the language cannot be told, or the annotation of the folder is unfinished.
    """
    ud = UD_FILE.match(path.name)
    home = next((folder for folder in path.parents if UD_FOLDER.match(folder.name)), None)
    folder = home or path.parent
    known = corpus_facts(path) or facts(folder.name) or facts(path.name.removesuffix(".gz"))
    if known is not None:
        treebank = known.name
    elif ud and home is None:
        treebank = ud[1]
    else:
        treebank = folder.name
    return CorpusFile(
        path=path,
        name=path.relative_to(folder).as_posix(),
        treebank=treebank,
        lang=_language(path, ud, known, lang, top),
        facts=known,
    )


@functools.cache
def _codes() -> frozenset[str]:
    """The language codes of Universal Dependencies."""
    return frozenset(language.code for language in treebanks.languages(every=True))


def _language(path: Path, ud: re.Match[str] | None, known: TreebankFacts | None, lang: str | None, top: Path) -> str:
    if ud:
        return ud[2]
    if known is not None:
        return known.lang
    above = [folder for folder in path.parents if lang is None or folder == top or top in folder.parents]
    names = (stem(path), *(folder.name for folder in above))
    found = next((name for name in names if name in _codes()), lang)
    if found is None:
        raise DiscoprobeError(f"{path}: cannot tell the language from the name; give it with --lang")
    return found
