"""Reads CoNLL-U files, RST trees and coreference, of any number of treebanks and languages: a :class:`Corpus` for each.

`find_files` finds the files, and `describe` says by their names to which treebank and language each belongs.

A shard is a file, a group of small files of one treebank, or a block of a large file. The order of shards, and
everything in them, depends only on contents and on names inside the treebanks: not on the order of arguments, the
working directory or the place of the files. Parsed shards are stored in the cache (:mod:`discoprobe.loaders.cache`).
"""

from __future__ import annotations

import glob
import os
import re
from collections import Counter, defaultdict
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, Literal

import langcodes
import msgspec
import numpy as np
import polars as pl
from msgspec.structs import asdict, astuple, replace

from discoprobe.loaders import cache
from discoprobe.loaders.annotation_manifest import annotation_of, corpus_facts
from discoprobe.loaders.archives import is_archive, unpacked_in_cache
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.treebanks import DocumentRule, Source, facts_of
from discoprobe.loaders.conllu.documents import Carried, blocks, place
from discoprobe.loaders.conllu.parse import Piece, parse
from discoprobe.loaders.corpus import BLANKS, MENTIONS, TOKENISED, VERSION, Corpus, Counts, Shard
from discoprobe.loaders.discourse_layers.brat import read_brat, read_sacr
from discoprobe.loaders.discourse_layers.conll2012 import read_conll2012, read_facts
from discoprobe.loaders.discourse_layers.disrpt_relations import (
    ANNOTATED,
    read_annotated,
    read_relations,
    running_text,
    word_marks,
)
from discoprobe.loaders.discourse_layers.knp import read_knp
from discoprobe.loaders.discourse_layers.mentions import Annotated, read_mentions
from discoprobe.loaders.discourse_layers.rst_trees import read_trees
from discoprobe.loaders.discourse_layers.webanno import read_webanno
from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError, OnError
from discoprobe.loaders.files import File, cache_folder, hash_of_json, hashes_of
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.languages.spacing import Spacing
from discoprobe.loaders.process_pool import process_pool
from discoprobe.loaders.running_text import with_blanks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from discoprobe.loaders.discourse_layers.brat import FindSentences

    FactsOf = Callable[[Path, File], Source | None]
    BytesProgress = Callable[[int, int], None]

Documents = Literal["auto", "newdoc", "file", "none"]

LARGE: Final = 16 * 2**20
"""A file with more bytes than this is read in blocks of about this size; small files are grouped up to it."""
SMALL: Final = 2**20
"""Files with fewer bytes than this are read together."""
PLACES: Final = 100
"""Largest number of dropped sentences whose places a corpus lists."""
TREES: Final = (".rs3", ".rs4")
"""Trees of Rhetorical Structure Theory."""
COREFERENCE: Final = (".conll", ".ann", ".sacr", ".knp", ".tsv")
"""Coreference without trees, which is read as CoNLL-U with mentions."""
SUFFIXES: Final = (".conllu", ".conllu.gz", *TREES, *COREFERENCE)
RELS: Final = ".rels"
"""Relations of DISRPT, which are read with the ``.conllu`` of the same name."""
BESIDE: Final = {
    ".conllu": ("{}.rels",), ".conll": ("../tsv/{}.ann", "../features/{}.tsv"), ".ann": ("{}.txt",),
}  # fmt: skip
"""Suffix of a file → places of a second file that is read with it; ``{}`` is the name of both."""
DISRPT: Final = re.compile(r"^(([a-z]{3})\.\w+\.\w+)_(?:train|dev|test)\.")
BY_RULE: Final = f"{BLANKS}, because the files have words only"
IN_SOME: Final = f"{BLANKS} in some documents, whose text was tokenised"
MUCH: Final = 0.3
"""A larger share of tokenised sentences is much of a shard: .93 to 1 in four tokenised treebanks, .5 in one that is
tokenised in part."""
FIRST: Final = {".conll": b"#begin document", ".tsv": b"#FORMAT=WebAnno TSV 3"}
"""Suffix → how a file of coreference begins; files of other formats have the same suffix."""
KINDS: Final = ".conllu, .conllu.gz, .rels, .rs3, .rs4, .conll, .ann, .sacr, .knp or WebAnno .tsv"
TREE_FOLDERS: Final = frozenset({"rst", "rs3", "rs4"})
"""Folders of trees inside a corpus, which do not name it."""
UNRELEASED: Final = "not-to-release"
"""The folder of a treebank of Universal Dependencies that has drafts and sources of what it releases."""
UD_FILE: Final = re.compile(r"^(([a-z]{2,3})_[a-z0-9]+)-(?:coref)?ud-")
UD_FOLDER: Final = re.compile(r"^(?:Coref)?UD_[A-Z]\w*-\w+$")
READMES: Final = ("README.md", "README.txt", "README")
GENRE: Final = re.compile(r"^Genre: *(\S.*?) *$", re.MULTILINE)
"""The line of a treebank's README with its genres."""


class CorpusFile(msgspec.Struct, frozen=True):
    """A file of a treebank, with what is read with it: CoNLL-U, trees of RST, or coreference in another format.

    Attributes:
        file: its name in the treebank (relative to the treebank's folder, with ``/``), its hash, and where it is.
        treebank: the name of the treebank.
        lang: the code of its language.
        facts: what the catalogue knows of the treebank, if the file has the content that is pinned there.
        second: the second file that is read with it, if it is there.
        texts: of a tree, files of its name that may hold its text.
    """

    file: File
    treebank: str
    lang: str
    facts: Source | None
    second: File | None
    texts: tuple[File, ...] = ()

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.file.url)

    @property
    def stem(self) -> str:
        """The file's name without folder and suffix."""
        return stem(self.path)

    @property
    def plain_texts(self) -> list[Path]:
        """The ``.txt`` files with its stem, which may be its text: in the treebank's folder or directly below it."""
        home = self.path.parents[self.file.path.count("/")]
        name = f"{glob.escape(self.stem)}.txt"
        return sorted({*home.glob(name), *home.glob(f"*/{name}")})

    @property
    def is_tree(self) -> bool:
        """Whether it is a tree of Rhetorical Structure Theory."""
        return self.path.suffix in TREES

    @property
    def is_coreference(self) -> bool:
        """Whether it has coreference in another format than CoNLL-U."""
        return self.path.suffix in COREFERENCE

    @property
    def has_rels(self) -> bool:
        """Whether a table of relations is read with it."""
        return self.second is not None and not self.is_coreference


def _located(path: Path, name: str) -> File:
    """A file with its hash, its name, and where it is."""
    return replace(hashes_of(path, with_git=False), path=name, url=str(path))


def stem(path: Path) -> str:
    """The name of a file without its suffix, such as ``.conllu`` or ``.conllu.gz``."""
    name = path.name.removesuffix(".gz")
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def find_files(paths: Iterable[Path]) -> dict[Path, Path]:
    """The files of corpora among paths and in the folders and archives among them: absolute, sorted, each once.

    All levels of a folder are searched, except hidden files and folders and those named ``UNRELEASED``. For a second
    file, such as ``.rels``, the first is found.

    Returns:
        File → the path among ``paths`` through which it was found, or the folder in the cache of an archive.

    Raises:
        DiscoprobeError: a path does not exist, is neither a folder nor such a file, or is a folder that holds none;
            or a ``.rels`` file has no ``.conllu`` file beside it.
    """
    files: dict[Path, Path] = {}
    for path in sorted(paths):
        if not path.exists():
            raise DiscoprobeError(f"{path}: no such file or folder")
        named, place = path, "archive" if path.is_file() and is_archive(path) else "folder"
        if place == "archive":
            path = unpacked_in_cache(path, _is_needed)  # noqa: PLW2901 (the folder with its files)
        corpus_files = [path]
        if path.is_dir():
            corpus_files = [_first_of(file) for file in _files_below(path)]
            if not corpus_files:
                raise DiscoprobeError(f"{named}: no {KINDS} file in this {place}")
        elif not (corpus_files := [_first_of(path)])[0].name.endswith(SUFFIXES):
            raise DiscoprobeError(f"{path}: not a {KINDS} file")
        files |= {file.resolve(): path.resolve() for file in corpus_files}
    return dict(sorted(files.items()))


def _first_of(path: Path) -> Path:
    """The file with which a second file is read; any other file itself.

    Raises:
        DiscoprobeError: there is none with a table of relations.
    """
    if path.suffix == RELS:
        if not (text := path.with_suffix(".conllu")).is_file():
            raise DiscoprobeError(f"{path}: {text.name} is missing beside it; DISRPT publishes both")
        return text
    if path.suffix == ".txt" and (annotation := path.with_suffix(".ann")).is_file():
        return annotation
    if path.suffix in {".ann", ".tsv"}:
        return next(iter(sorted(path.parent.parent.glob(f"*/{glob.escape(path.stem)}.conll"))), path)
    return path


def _files_below(folder: Path) -> Iterator[Path]:
    """The files of corpora in a folder, however deep."""
    for path in folder.rglob("*"):
        passed_over = any(part.startswith(".") or part == UNRELEASED for part in path.relative_to(folder).parts)
        if not passed_over and is_corpus_file(path):
            yield path


def is_corpus_file(path: Path) -> bool:
    """Whether a file can be read, by its name; of coreference, also by its first line and its text."""
    if not path.name.endswith((*SUFFIXES, RELS)) or not path.is_file():
        return False
    if first := FIRST.get(path.suffix):
        with path.open("rb") as file:
            return file.read(len(first)) == first
    return path.suffix != ".ann" or (path.with_suffix(".txt").is_file() and _first_of(path) == path)


def _is_needed(name: str) -> bool:
    """Whether a file of an archive is one of a corpus or is read beside one, by its name."""
    return name.endswith((*SUFFIXES, RELS, ".txt")) or name in READMES


def holds_corpus(place: Path) -> bool:
    """Whether there is a CoNLL-U file, or one with relations, trees or coreference, in a folder or archive.

    Raises:
        CorpusFormatError: the archive is damaged, encrypted or too large.
    """
    folder = unpacked_in_cache(place, _is_needed) if place.is_file() else place
    return any(_files_below(folder))


def describe(path: Path, top: Path, lang: str | None, facts: FactsOf = facts_of) -> CorpusFile:
    """A file with its treebank and language.

    The name of the treebank is the first of these that exists:

    * the name in ``annotate.json`` beside the file (text that discoprobe annotated);
    * the treebank of the catalogue that has a file with the same content;
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
        facts: gives what is known of the treebank, by the content of the file.

    Raises:
        DiscoprobeError: the language cannot be told, the annotation of the folder is unfinished, or the file cannot be
            read.
    """
    digest = hashes_of(path, with_git=False)
    ud = UD_FILE.match(path.name)
    home = next((folder for folder in path.parents if UD_FOLDER.match(folder.name)), None)
    disrpt = DISRPT.match(path.name)
    folder = home or (path.parent.parent if path.parent.name in TREE_FOLDERS else path.parent)
    of_treebank = corpus_facts(path) or facts(path, digest)
    if of_treebank is not None:
        treebank = of_treebank.name
        folder = next((above for above in path.parents if above.name == treebank), folder)
    elif ud and home is None:
        treebank = ud[1]
    else:
        treebank = disrpt[1] if disrpt else folder.name
    if ud:
        code: str | None = ud[2]
    elif disrpt and (standard := langcodes.get(disrpt[2]).language) in treebanks.language_codes():
        code = standard
    elif of_treebank is not None:
        code = of_treebank.lang
    else:
        above = [parent for parent in path.parents if lang is None or parent == top or top in parent.parents]
        names = (stem(path), *(parent.name for parent in above))
        code = next((name for name in names if name in treebanks.language_codes()), lang)
    if code is None:
        raise DiscoprobeError(f"{path}: cannot tell the language from the name; give it with --lang")
    places = (path.parent / place.format(stem(path)) for place in BESIDE.get(path.suffix, ()))
    second = next((place.resolve() for place in places if place.is_file()), None)
    return CorpusFile(
        replace(digest, path=path.relative_to(folder).as_posix(), url=str(path)), treebank, code, of_treebank,
        _located(second, PurePath(os.path.relpath(second, folder)).as_posix()) if second else None,
    )  # fmt: skip


class TreebankFiles(msgspec.Struct, frozen=True):
    """Files of a treebank, by name: all of them, or a batch of those that are read together.

    Attributes:
        name: of the treebank.
        lang: its language.
        facts: what is known of it, if all of its files have the pinned content.
        rule: how its documents are recognised.
        members: the files.
    """

    name: str
    lang: str
    facts: Source | None
    rule: DocumentRule
    members: tuple[CorpusFile, ...]

    def batches(self) -> Iterator[TreebankFiles]:
        """Its files: each by itself, or with its neighbours where they are small."""
        group: list[CorpusFile] = []
        if trees := tuple(member for member in self.members if member.is_tree):
            yield replace(self, members=trees)
        for member in self.members:
            if member.is_tree:
                continue
            size = member.file.bytes or 0
            alone = size >= SMALL
            if group and (alone or sum(other.file.bytes or 0 for other in group) + size > LARGE):
                yield replace(self, members=tuple(group))
                group = []
            if alone:
                yield replace(self, members=(member,))
            else:
                group.append(member)
        if group:
            yield replace(self, members=tuple(group))

    @property
    def key(self) -> str:
        """The digest of everything that the shards of a batch depend on."""
        names = [
            (
                *(member.file.path, member.stem, member.file.sha256),
                *([member.second.sha256] if member.second else []),
                *([member.lang] if member.is_coreference else []),
                *(text.sha256 for text in member.texts),
            )
            for member in self.members
        ]
        spacing = language_data(self.lang)
        blanks = [spacing.spaces, msgspec.to_builtins(spacing.section(Spacing), order="deterministic")]
        return hash_of_json([VERSION, LARGE, self.name, self.rule.kind, self.rule.pattern, names, blanks])

    @property
    def size(self) -> int:
        """Bytes of its files, as stored."""
        return sum(member.file.bytes or 0 for member in self.members)

    @property
    def files(self) -> list[File]:
        """Every file: the members, then those that are read with them."""
        return [*(member.file for member in self.members), *(each.second for each in self.members if each.second)]

    def source(self) -> Source:
        """Where the treebank comes from.

        The licence, repository and commit of the facts are used if all files have the pinned content, or if discoprobe
        annotated them. A file with other content is a user's text, whatever its name is; its licence is unknown.
        """
        both = (file for member in self.members for file in (member.file, member.second) if file)
        files = tuple(replace(file, url="") for file in both)
        facts = self.facts
        if facts is None:
            return Source(self.name, self.lang, files=files, genre=self._genre())
        pin = facts.licence, facts.repo, facts.commit, facts.citation
        return Source(self.name, self.lang, *pin, files, annotation_of(self.members[0].path), facts.genre)

    def _genre(self) -> tuple[str, ...]:
        """The genres that READMEs name, beside the files or in the folder of the treebank."""
        folders = [path for each in self.members for path in each.path.parents[: each.file.path.count("/") + 1]]
        readmes = (folder / name for folder in dict.fromkeys(folders) for name in READMES)
        texts = (path.read_text(encoding="utf-8", errors="replace") for path in readmes if path.is_file())
        lines = (line for text in texts for line in GENRE.findall(text))
        return tuple(dict.fromkeys(genre for line in lines for genre in re.findall(r"[\w-]+", line.lower())))


def read_corpora(  # noqa: PLR0913 - one keyword per choice of the user
    paths: Sequence[Path],
    *,
    lang: str | None = None,
    only: Collection[str] = (),
    on_error: OnError = "stop",
    facts: FactsOf = facts_of,
    documents: Documents = "auto",
    texts: Callable[[Collection[str]], Sequence[Path]] = lambda _: (),
    find_sentences: FindSentences | None = None,
    jobs: int = 1,
    progress: BytesProgress | None = None,
    broken: dict[str, DiscoprobeError] | None = None,
) -> dict[str, Corpus]:
    """Read CoNLL-U files, gzipped or with a table of relations beside them, RST trees, coreference, and their folders.

    Args:
        paths: files and folders.
        lang: the code of the language of files whose names do not tell it.
        only: codes of the languages that are read; files of others are passed over, whatever is wrong in them. Empty
            for all.
        on_error: whether a malformed sentence ends the reading, or is left out and counted. In files that the
            catalogue pins it always is: nobody can mend them.
        facts: gives what is known of the treebank of a file, by its content; by default from the catalogue.
        documents: how documents are recognised; ``auto`` uses the rules of the facts.
        texts: gives CoNLL-U files with the texts of trees of these names, which no given file has; they are no part of
            a corpus.
        find_sentences: finds sentences in the texts of brat, which have none; it must be picklable.
        jobs: number of processes.
        progress: called with the bytes read so far and the total.
        broken: takes what would end the reading, by the language whose corpus is then left out.

    Returns:
        A corpus per language code, in the order of the codes.

    Raises:
        CorpusFormatError: a sentence is malformed, ``on_error`` is ``"stop"``, and there is no ``broken``.
        DiscoprobeError: a path or language is not usable, or the cache cannot be written.
    """
    found = _find_treebanks(paths, lang, facts, documents, texts)
    all_treebanks = [treebank for treebank in found if not only or treebank.lang in only]
    batches = [batch for treebank in all_treebanks for batch in treebank.batches()]
    make = partial(cached, cache_folder(), find_sentences)
    entries: dict[TreebankFiles, cache.Entry] = {}
    total, done = sum(batch.size for batch in batches), 0
    with process_pool(min(jobs, len(batches))) as pool:
        for batch, entry in zip(batches, pool.map(make, batches) if pool else map(make, batches), strict=True):
            entries[batch] = entry
            done += batch.size
            if progress:
                progress(done, total)
    faults: dict[str, DiscoprobeError] = {} if broken is None else broken
    if on_error == "stop":
        for batch in (batch for batch in batches if not batch.facts):
            for index, line, sent_id, message in entries[batch][1]["places"][:1]:
                fault = CorpusFormatError(message, path=batch.files[index].url, line=line, sent_id=sent_id)
                faults.setdefault(batch.lang, fault)
    if broken is None and faults:
        raise next(iter(faults.values()))
    by_lang = groupby(all_treebanks, key=lambda treebank: treebank.lang)
    return {code: _corpus(code, list(group), entries) for code, group in by_lang if code not in faults}


def _find_treebanks(
    paths: Sequence[Path], lang: str | None, facts: FactsOf, documents: Documents,
    texts: Callable[[Collection[str]], Sequence[Path]],
) -> list[TreebankFiles]:  # fmt: skip
    """The treebanks among the files, by language and name; a file that is there twice counts once."""
    groups: dict[tuple[str, str], list[CorpusFile]] = defaultdict(list)
    text_of: dict[tuple[str, str], dict[str, File]] = defaultdict(dict)  # language, document → CoNLL-U files by hash
    for path, top in find_files(paths).items():
        file = describe(path, top, lang, facts)
        groups[file.lang, file.treebank].append(file)
    trees = [file for files in groups.values() for file in files if file.is_tree]
    with_trees = {tree.lang for tree in trees}
    for file in (file for files in groups.values() for file in files if not file.is_tree):
        if file.lang in with_trees and not file.is_coreference:
            for doc_id in {file.stem, *_documents_in(file.file)}:
                text_of[file.lang, doc_id][file.file.sha256] = file.file
    if without := [tree for tree in trees if (tree.lang, tree.stem) not in text_of and not tree.plain_texts]:
        found = {stem(path): path for path in texts({tree.stem for tree in without})}
        for tree in (tree for tree in without if tree.stem in found):
            text = _located(found[tree.stem], found[tree.stem].name)
            text_of[tree.lang, tree.stem][text.sha256] = text
    banks = []
    for (code, name), files in sorted(groups.items()):
        distinct: dict[tuple[str, str], CorpusFile] = {}
        for file in reversed(files):
            key = file.file.path, file.file.sha256
            distinct[key] = file
            if file.is_tree:  # with the files that may hold its text
                plain = {text.sha256: text for text in (_located(path, path.name) for path in file.plain_texts)}
                candidates = text_of[code, file.stem] | plain
                distinct[key] = replace(file, texts=tuple(candidates[digest] for digest in sorted(candidates)))
        about = files[0].facts if all(file.facts for file in files) else None
        rule = DocumentRule(documents) if documents != "auto" else about.documents if about else DocumentRule()
        banks.append(TreebankFiles(name, code, about, rule, tuple(distinct[key] for key in sorted(distinct))))
    return banks


def cached(folder: Path, find_sentences: FindSentences | None, batch: TreebankFiles) -> cache.Entry:
    """The cache entry of a batch: found, or parsed and stored."""
    entry = cache.find(folder, batch.key)
    if entry is not None:
        return entry
    tally = _Tally()
    return cache.store(folder, batch.key, _shards(batch, find_sentences, tally), tally.record)


class _Tally:
    """Counts what the shards of a batch hold, and what is left out, while they are made."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.drops: Counter[str] = Counter()
        self.places: list[tuple[int, int, str | None, str]] = []
        self.notes: list[str] = []

    def add(self, problems: Iterable[tuple[int, CorpusFormatError]]) -> None:
        """Count problems, given with the index of their file in the batch."""
        for number, problem in problems:
            self.drops[problem.reason] += 1
            if len(self.places) < PLACES:
                self.places.append((number, problem.line, problem.sent_id, problem.problem))

    def record(self) -> dict[str, Any]:
        """The record of the cache entry, as JSON values."""
        return {"counts": asdict(self.counts), "drops": self.drops, "places": self.places, "notes": self.notes}


def _shards(batch: TreebankFiles, find_sentences: FindSentences | None, tally: _Tally) -> Iterator[Shard]:
    """The shards of a batch, counted as they are made: a shard of all its files, or one per block of a large file."""
    stems = [member.stem for member in batch.members]
    if batch.members[0].is_tree:
        files = [(member.stem, member.path.read_bytes()) for member in batch.members]
        texts = {member.stem: [_text_of(text, member.stem) for text in member.texts] for member in batch.members}
        shard, problems = read_trees(files, batch.name, texts)
        tally.counts += shard.counts()
        tally.add(problems)
        yield shard
        return
    relations = _RelationTables(batch, tally)
    carried, line, sentence = Carried(), 0, 0
    fields: list[Sequence[str]] = [()] * len(stems)
    annotated = {
        number: _annotated(member, find_sentences, tally, number)
        for number, member in enumerate(batch.members) if member.is_coreference
    }  # fmt: skip
    texts_of = [
        iter([annotated[number][0]]) if number in annotated else blocks(member.path, LARGE, batch.rule)
        for number, member in enumerate(batch.members)
    ]
    parts = ([text] for text in texts_of[0]) if len(stems) == 1 else iter([[b"".join(text) for text in texts_of]])
    for part in parts:
        pieces = [
            Piece(stem, text, line, sentence, forest=member.has_rels)
            for stem, text, member in zip(stems, part, batch.members, strict=True)
        ]
        parsed = parse(pieces)
        documents, sentences, carried = place(parsed.sentences, batch.name, stems, batch.rule, carried)
        shard, tokenised = with_blanks(Shard(documents, sentences, parsed.tokens), language_data(batch.lang))
        tally.add(parsed.problems)
        notes = [*parsed.notes, *carried.notes, *([TOKENISED if tokenised > MUCH else IN_SOME] if tokenised else [])]
        tally.notes += [note for note in notes if note not in tally.notes]
        mentions = []
        for number, piece in enumerate(pieces):
            if number in annotated:
                of_piece = annotated[number][1]
            else:
                of_piece, malformed, fields[number] = read_mentions(
                    piece.data, fields[number], sentence=piece.sentence, line=piece.line
                )
                tally.add((number, problem) for problem in malformed)
            mentions += [((number, mention.sent), mention) for mention in of_piece]
        in_misc = any(name in piece.data for piece in pieces for name in ANNOTATED)
        located = mentions or relations.tables or in_misc
        numbers = parsed.sentences.select("piece", "number").iter_rows() if located else ()
        places = {place: sent for sent, place in enumerate(numbers)}
        rows = [astuple(replace(mention, sent=places[at])) for at, mention in mentions if at in places]
        table = pl.DataFrame(rows, MENTIONS, orient="row")
        shard = replace(shard, mentions=table, relations=relations.of_shard(shard, places, pieces, in_misc=in_misc))
        counts = shard.counts()
        begun = shard.sentences.filter(index=0).join(shard.documents.drop_nulls("doc_id"), on="doc", how="semi").height
        # in files without universal tags dependencies do not count: they are not those of UD
        layers = {**counts.layers, "deps": min(counts.layers["deps"], parsed.universal_words)}
        layers["text"] = int(parsed.sentences["has_text"].sum())
        tally.counts += Counts(begun, counts.sentences, counts.words, layers)
        yield shard
        # Only a single file is read in several blocks. NumPy counts five times as fast as bytes.count.
        sentence += parsed.n_found
        line += int(np.count_nonzero(np.frombuffer(part[0], np.uint8) == ord("\n")))
    relations.check_documents()


def _annotated(file: CorpusFile, find_sentences: FindSentences | None, tally: _Tally, number: int) -> Annotated:
    """The text and the mentions of a file of coreference; what is malformed is counted for the file of this number.

    Raises:
        CorpusFormatError: the second file is malformed.
        DiscoprobeError: the text of the file is missing, or has to be divided into sentences and it is not said how.
    """
    data, second = b"".join(blocks(file.path, LARGE, DocumentRule())), Path(file.second.url) if file.second else None
    if file.path.suffix == ".ann":
        if second is None or find_sentences is None:
            raise DiscoprobeError(f"{file.path}: {file.stem}.txt is missing beside it; brat keeps the text there")
        text = second.read_bytes().decode(errors="replace")
        annotated = read_brat(data, text, file.stem, file.lang, find_sentences)
    elif file.path.suffix == ".sacr":
        if find_sentences is None:
            raise DiscoprobeError(f"{file.path}: its sentences have to be found, and it is not said how")
        annotated = read_sacr(data, file.stem, file.lang, find_sentences)
    elif file.path.suffix == ".tsv":
        annotated = read_webanno(data, file.stem)
    elif file.path.suffix == ".knp":
        annotated = read_knp(data, file.stem)
    else:
        facts, problems = read_facts(second.read_bytes(), second.suffix) if second else ({}, [])
        for problem in problems:
            raise CorpusFormatError(problem.problem, path=str(second), line=problem.line)
        annotated = read_conll2012(data, file.stem, file.lang, facts)
    text_as_conllu, _, problems = annotated
    if text_as_conllu and b"\n# text = " not in text_as_conllu:
        tally.notes = list(dict.fromkeys([*tally.notes, BY_RULE]))
    tally.add((number, problem) for problem in problems)
    return annotated


@lru_cache(maxsize=1)
def _documents_in(file: File) -> Mapping[str, bytes]:
    """The documents that a CoNLL-U file names: id and part of the file, and the whole file under the empty id."""
    whole = b"".join(blocks(Path(file.url), LARGE, DocumentRule()))
    named = {}
    for part in re.split(rb"(?m)^(?=# newdoc)", whole):
        if match := re.match(rb"# newdoc id *= *(.*)", part):
            named[match[1].decode(errors="replace").strip()] = part
    return {**named, "": whole}


def _text_of(file: File, doc_id: str) -> str:
    """The text of a document in a CoNLL-U file, of the whole file if it does not name the document, or of ``.txt``."""
    documents = _documents_in(file)
    data = documents.get(doc_id, documents[""])
    if file.url.endswith(".txt"):
        return data.decode(errors="replace")
    return running_text(parse([Piece(file.name, data)]).sentences["text"].to_list())


class _RelationTables:
    """The tables of relations beside the files of a batch; each shard gets the relations of its documents."""

    def __init__(self, batch: TreebankFiles, tally: _Tally) -> None:
        self.tables = [
            (number, (Path(file.url).stem, Path(file.url).read_bytes()))
            for number, file in enumerate(batch.files) if file.name.endswith(RELS)
        ]  # fmt: skip
        self._tally = tally
        self._documents: set[str] = set()
        self._named: dict[tuple[int, int], str] = {}
        self._problems: dict[tuple[int, int], CorpusFormatError] = {}

    def of_shard(
        self, shard: Shard, places: Collection[tuple[int, int]], pieces: Sequence[Piece], *, in_misc: bool
    ) -> pl.DataFrame:
        """The relations of a shard's documents; of tables if there are some, else those in MISC.

        Args:
            shard: whose relations they are.
            places: piece and number of its sentences.
            pieces: its files.
            in_misc: whether words have relations in MISC.
        """
        if not self.tables and not in_misc:
            return shard.relations
        self._documents |= set(shard.documents["doc_id"].drop_nulls())
        words = (word_marks(piece.data, piece.sentence, piece.line) for piece in pieces)
        marks = pl.concat(
            of_piece.filter([(number, sentence) in places for sentence in of_piece["sentence"]])
            for number, of_piece in enumerate(words)
        )
        if not self.tables:
            numbers = [number for number, _ in places]
            relations, malformed = read_annotated(shard, marks, [pieces[n].stem for n in numbers])
            self._report({(numbers[sent], problem.line): problem for sent, problem in malformed})
            return relations
        tables = [shard.relations]
        for number, (stem, data) in self.tables:
            relations, problems, named = read_relations(data, stem, shard, marks)
            tables.append(relations)
            self._named |= {(number, line): doc for line, doc in named.items()}
            self._report({(number, problem.line): problem for problem in problems})
        return pl.concat(tables)

    def check_documents(self) -> None:
        """Report the relations of documents that are in none of the files."""
        message = "document {} is not in the .conllu file; both files must be of the same release"
        absent = {place: doc for place, doc in self._named.items() if doc not in self._documents}
        self._report({
            place: CorpusFormatError(message.format(doc), line=place[1], reason="malformed-relation")
            for place, doc in absent.items()
        })  # fmt: skip

    def _report(self, problems: Mapping[tuple[int, int], CorpusFormatError]) -> None:
        """Count the problem of a line once, however many blocks the file has."""
        new = {place: problem for place, problem in problems.items() if place not in self._problems}
        self._problems |= new
        self._tally.add((number, problem) for (number, _), problem in new.items())


def _corpus(lang: str, members: Sequence[TreebankFiles], entries: Mapping[TreebankFiles, cache.Entry]) -> Corpus:
    """The corpus of a language, from the cache entries of its treebanks' batches."""
    batches = [(batch, *entries[batch]) for treebank in members for batch in treebank.batches()]
    counts: defaultdict[str, Counts] = defaultdict(Counts)
    for batch, _, record in batches:
        counts[batch.name] += Counts(**record["counts"])
    drops: Counter[str] = sum((Counter(record["drops"]) for _, _, record in batches), Counter())
    places = []  # with the names of files in the treebank
    for batch, _, record in batches:
        for index, line, sent_id, message in record["places"]:
            path = f"{batch.name}/{batch.files[index].path}"
            places.append(str(CorpusFormatError(message, path=path, line=line, sent_id=sent_id)))
    return Corpus(
        lang=lang,
        sources=tuple(treebank.source() for treebank in members),
        parts=tuple(shard for _, shards, _ in batches for shard in shards),
        counts=sum(counts.values(), Counts()),
        counts_of=tuple(counts.values()) if len(counts) > 1 else (),
        drops=dict(sorted(drops.items())),
        drop_places=tuple(places[:PLACES]),
        notes=tuple(dict.fromkeys(f"{b.name}: {note}" for b, _, record in batches for note in record["notes"])),
    )
