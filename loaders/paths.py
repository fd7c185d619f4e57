"""Finding corpus files, and which treebank and language each of them belongs to, by names alone."""

import functools
import glob
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import langcodes

from discoprobe.loaders.annotation_manifest import corpus_facts
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.treebanks import TreebankFacts
from discoprobe.loaders.errors import DiscoprobeError

SUFFIXES: Final = (".conllu", ".conllu.gz", ".rs3", ".rs4")
RELS: Final = ".rels"
"""Relations of DISRPT, which are read with the ``.conllu`` of the same name."""
DISRPT: Final = re.compile(r"^(([a-z]{3})\.\w+\.\w+)_(?:train|dev|test)\.")
TREE_FOLDERS: Final = frozenset({"rst", "rs3", "rs4"})
"""Folders of trees inside a corpus, which do not name it."""
UNRELEASED: Final = "not-to-release"
"""The folder of a treebank of Universal Dependencies that has drafts and sources of what it releases."""
UD_FILE: Final = re.compile(r"^(([a-z]{2,3})_[a-z0-9]+)-ud-")
UD_FOLDER: Final = re.compile(r"^UD_[A-Z]\w*-\w+$")


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A CoNLL-U file, or a tree of Rhetorical Structure Theory.

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

    @property
    def plain_texts(self) -> list[Path]:
        """The ``.txt`` files with its stem, which may be its text: in the treebank's folder or directly below it."""
        home = self.path.parents[self.name.count("/")]
        name = f"{glob.escape(self.stem)}.txt"
        return sorted({*home.glob(name), *home.glob(f"*/{name}")})

    @property
    def is_tree(self) -> bool:
        """Whether it is a tree of Rhetorical Structure Theory."""
        return self.path.suffix in {".rs3", ".rs4"}


def stem(path: Path) -> str:
    """The name of a file without its suffix, such as ``.conllu`` or ``.conllu.gz``."""
    name = path.name.removesuffix(".gz")
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def find_files(paths: Iterable[Path]) -> dict[Path, Path]:
    """The CoNLL-U files and RST trees among paths and in the folders among them: absolute, sorted, each once.

    All levels of a folder are searched, except hidden files and folders and those named ``UNRELEASED``. For a ``.rels``
    file the ``.conllu`` file beside it is found.

    Returns:
        File → the path among ``paths`` through which it was found.

    Raises:
        DiscoprobeError: a path does not exist, is neither a folder nor such a file, or is a folder that holds none;
            or a ``.rels`` file has no ``.conllu`` file beside it.
    """
    files: dict[Path, Path] = {}
    for path in sorted(paths):
        if not path.exists():
            raise DiscoprobeError(f"{path}: no such file or folder")
        corpus_files = [path]
        if path.is_dir():
            below = (file for file in path.rglob("*") if _is_corpus_file(file.relative_to(path)) and file.is_file())
            corpus_files = [_conllu_beside(file) if file.suffix == RELS else file for file in below]
            if not corpus_files:
                raise DiscoprobeError(f"{path}: no .conllu, .conllu.gz, .rels, .rs3 or .rs4 file in this folder")
        elif path.suffix == RELS:
            corpus_files = [_conllu_beside(path)]
        elif not path.name.endswith(SUFFIXES):
            raise DiscoprobeError(f"{path}: not a .conllu, .conllu.gz, .rels, .rs3 or .rs4 file")
        files |= {file.resolve(): path.resolve() for file in corpus_files}
    return dict(sorted(files.items()))


def _conllu_beside(rels: Path) -> Path:
    """The CoNLL-U file of a table of relations."""
    text = rels.with_suffix(".conllu")
    if not text.is_file():
        raise DiscoprobeError(f"{rels}: {text.name} is missing beside it; DISRPT publishes both")
    return text


def _is_corpus_file(relative: Path) -> bool:
    passed_over = any(part.startswith(".") or part == UNRELEASED for part in relative.parts)
    return relative.name.endswith((*SUFFIXES, RELS)) and not passed_over


def holds_corpus(folder: Path) -> bool:
    """Whether there is a CoNLL-U file, or one with relations or trees, in a folder, however deep."""
    return any(_is_corpus_file(file.relative_to(folder)) for file in folder.rglob("*"))


def describe(path: Path, top: Path, lang: str | None, facts: Callable[[str], TreebankFacts | None]) -> CorpusFile:
    """The treebank and the language of a file.

    The name of the treebank is the first of these that exists:

    * the name in ``annotate.json`` beside the file (text that discoprobe annotated);
    * the treebank of the catalogue that has the name of the folder, or of the file;
    * the part of a UD file's name before ``-ud-``, if no folder above is named like ``UD_Spanish-AnCora``;
    * the part of a DISRPT file's name before the split (``deu.rst.pcc`` of ``deu.rst.pcc_dev.conllu``);
    * the nearest folder above that is named like ``UD_Spanish-AnCora``;
    * its folder, or the one above if it is named ``rst``, ``rs3`` or ``rs4``.

    The language is the code at the beginning of a UD or DISRPT file name; else that of the known treebank; else the
    name of the file, or of the nearest folder above, that is a code of Universal Dependencies (``de.conllu``,
    ``de/x.conllu``; if ``lang`` is given, only ``top`` and folders below it count); else ``lang``.

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
    disrpt = DISRPT.match(path.name)
    folder = home or (path.parent.parent if path.parent.name in TREE_FOLDERS else path.parent)
    of_treebank = corpus_facts(path) or facts(folder.name) or facts(path.name.removesuffix(".gz"))
    if of_treebank is not None:
        treebank = of_treebank.name
    elif ud and home is None:
        treebank = ud[1]
    else:
        treebank = disrpt[1] if disrpt else folder.name
    if ud:
        code: str | None = ud[2]
    elif disrpt and (standard := langcodes.get(disrpt[2]).language) in _codes():
        code = standard
    elif of_treebank is not None:
        code = of_treebank.lang
    else:
        above = [parent for parent in path.parents if lang is None or parent == top or top in parent.parents]
        names = (stem(path), *(parent.name for parent in above))
        code = next((name for name in names if name in _codes()), lang)
    if code is None:
        raise DiscoprobeError(f"{path}: cannot tell the language from the name; give it with --lang")
    return CorpusFile(path, path.relative_to(folder).as_posix(), treebank, code, of_treebank)


@functools.cache
def _codes() -> frozenset[str]:
    """The language codes of Universal Dependencies."""
    return frozenset(language.code for language in treebanks.languages(every=True))
