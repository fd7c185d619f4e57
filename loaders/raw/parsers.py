"""Parsers: Stanza, a module that somebody wrote, or text that was parsed before; what ``--parser`` names.

A parser of a module is a Python file, in the folder ``parsers`` of a plugin (``loaders.plugins``) or anywhere else::

    def describe(lang):
        "What the result depends on, as JSON values; ``software`` has the versions of packages."
        return {"software": {"natasha": "1.6.0"}}

    def parse(lang, sentences):
        "For each sentence its words (`loaders.corpus.Word`), or None where the parser has no tree of it."

The sentences are found by rules, and the parser gets one text each. Its words have ``start`` and ``end``, as characters
of that text; words that have both in common are one multiword token. ``upos``, ``feats``, ``head`` and ``deprel`` are
those of Universal Dependencies. ``confidence`` has two natural logarithms of probabilities, of UPOS and FEATS and of
head and relation, if the parser knows them. What is wrong with a result is an error with the sentence.

Text that was parsed before are files of CoNLL-U. As a parser they have the trees of the sentences in them, so that
sentences of a treebank that the same program parsed show how often it is right.
"""

import functools
import importlib.util
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec
import polars as pl

from discoprobe.loaders import cache, plugins
from discoprobe.loaders.conllu.parse import well_formed_feats
from discoprobe.loaders.conllu.reader import find_files, is_corpus_file, read_corpora
from discoprobe.loaders.corpus import VERSION, Corpus, Loadable, Shard, Word, joined
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UnsupportedError, UsageError, first_line
from discoprobe.loaders.files import cache_folder, hash_of_json, hashes_of
from discoprobe.loaders.languages.language import UPOS
from discoprobe.loaders.raw.document import Paragraph
from discoprobe.loaders.raw.row_groups import parsed_by
from discoprobe.loaders.raw.segmentation import (
    LONG_SENTENCE,
    MAX_WORDS,
    OTHER_LENGTH,
    UNANNOTATED,
    Engine,
    Sentence,
    boundary_rules,
    correct_boundaries,
    versions,
)
from discoprobe.loaders.words import alphanumeric_words_of

STANZA: Final = "stanza"
PARSED: Final = "parsed"
"""The engine in the identity of Stanza, and of text that was parsed before."""
FUNCTIONS: Final = ("describe", "parse")
"""What a module that is a parser has."""


def parser_files() -> dict[str, Path]:
    """The parsers of the plugins in use, by name.

    Raises:
        UsageError: two plugins have one of a name.
    """
    found: dict[str, Path] = {}
    for folder in plugins.plugin_folders():
        for file in sorted((folder / plugins.PARSERS).glob("[!_]*.py")):
            if file.stem in found:
                raise UsageError(f"plugins: {found[file.stem]} and {file} are parsers of one name; use one of them")
            found[file.stem] = file
    return found


def is_stanza(name: str) -> bool:
    """Whether the name of a parser is ``stanza``, or that of a package of its models: ``stanza=gsd``."""
    return name.partition("=")[0] == STANZA


def check_parser(name: str) -> None:
    """Raise UnknownNameError if there is no parser of a name."""
    if not (is_stanza(name) or is_parsed_text(name)):
        _file_of(name)


def _file_of(name: str) -> Path:
    """The Python file of a parser."""
    path, of_plugins = Path(name), parser_files()
    file = path if path.suffix == ".py" and path.is_file() else of_plugins.get(name)
    if file is None:
        kinds = "(or a Python file with the functions describe and parse, or CoNLL-U files)"
        raise UnknownNameError("parser", name, [STANZA, *of_plugins], remedy=kinds)
    return file.resolve()


def is_parsed_text(name: str) -> bool:
    """Whether the name of a parser is that of CoNLL-U files, or of a folder."""
    path = Path(name)
    return path.is_dir() or (path.is_file() and is_corpus_file(path))


def find_parser(name: str, lang: str, lengths: tuple[int, int] | None = None) -> "ModuleParser | ParsedFiles":
    """The parser of a name: a Python file, one of a plugin, or CoNLL-U files.

    Args:
        name: what ``--parser`` has, but `STANZA`.
        lang: the language.
        lengths: least and largest number of words of a sentence that is parsed; None for all.

    Raises:
        UnknownNameError: there is no such parser.
        DiscoprobeError: the file cannot be imported, or lacks a function.
    """
    path = Path(name)
    if is_parsed_text(name):
        files = tuple(sorted(file for file in find_files([path]) if file.suffix in {".conllu", ".gz"}))
        return ParsedFiles(lang, files, tuple(hashes_of(file, with_git=False).sha256 for file in files))
    file = _file_of(name)
    digest = hashes_of(file, with_git=False).sha256
    module = _module(file, digest)
    try:
        described = msgspec.json.encode(module.describe(lang), order="sorted").decode()
        if not isinstance(msgspec.json.decode(described), dict):
            raise TypeError("describe returned no dict")
    except Exception as error:
        raise DiscoprobeError(f"{file}: describe: {first_line(error)}") from error
    return ModuleParser(lang, file, digest, described, lengths)


def parser_module(file: Path) -> ModuleType:
    """A Python file as a module with the functions of a parser.

    Raises:
        DiscoprobeError: it cannot be imported, or lacks one of them.
    """
    return _module(file, hashes_of(file, with_git=False).sha256)


@functools.lru_cache(maxsize=4)
def _module(file: Path, digest: str) -> ModuleType:
    """A Python file as a module."""
    spec = importlib.util.spec_from_file_location(f"_discoprobe_parser_{digest[:16]}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise DiscoprobeError(f"{file}: cannot be imported: {first_line(error)}") from error
    for function in FUNCTIONS:
        if not callable(getattr(module, function, None)):
            raise DiscoprobeError(f"{file}: a parser has the functions {' and '.join(FUNCTIONS)}; {function} is none")
    return module


class ModuleParser(msgspec.Struct, frozen=True):
    """A Python file that parses sentences of one language; ``digest`` is its SHA-256, ``described`` JSON."""

    lang: str
    file: Path
    digest: str
    described: str
    lengths: tuple[int, int] | None = None

    @property
    def identity(self) -> Mapping[str, object]:
        """What the module says of itself, the hash of its file, and the versions that find sentences."""
        said = msgspec.json.decode(self.described, type=dict[str, Any])
        return {
            **said,
            "engine": self.file.stem,
            "software": versions() | said.get("software", {}),
            "parser": self.digest,
            **({"lengths": list(self.lengths)} if self.lengths else {}),
            **boundary_rules(self.lang),
        }

    @property
    def tags(self) -> bool:
        """It annotates words."""
        return True

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, found by rules, with the words of the parser.

        Raises:
            DiscoprobeError: the parser fails, or what it returns is no tree of the sentence.
        """
        found, texts = _found(paragraphs, self.lang, corrections, self.lengths)
        try:
            parsed = list(_module(self.file, self.digest).parse(self.lang, texts)) if texts else []
        except Exception as error:
            raise DiscoprobeError(f"{self.file}: parse: {first_line(error)}") from error
        if len(parsed) != len(texts):
            raise DiscoprobeError(f"{self.file}: parse: {len(parsed)} results for {len(texts)} sentences")
        for text, words in zip(texts, parsed, strict=True):
            if words is not None and (problem := problem_of_words(words, text)):
                remedy = "parse returns None where it has no tree"
                raise DiscoprobeError(f"{self.file}: parse: {problem} ({remedy}): {' '.join(text.split())}")
        return _with_words(found, parsed)


class ParsedPart(msgspec.Struct, frozen=True):
    """A part of a corpus of text that was parsed before: its shard, maybe with a second annotation of its sentences."""

    part: Loadable
    witness: Engine | None = None
    fills: bool = True

    @property
    def size(self) -> int:
        """Bytes of text."""
        return self.part.size

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return self.part.n_documents

    @property
    def prepared(self) -> bool:
        """Whether it takes no time to load."""
        return self.witness is None and self.part.prepared

    @property
    def slow(self) -> bool:
        """Whether it takes long to load: where it is annotated again."""
        return self.witness is not None

    @property
    def identity(self) -> str:
        """That of the shard."""
        return self.part.identity

    def load(self) -> Shard:
        """The shard; the second annotation is kept in the cache."""
        shard = self.part.load()
        if self.witness is None:
            return shard
        key = hash_of_json([VERSION, self.identity, dict(self.witness.identity)])
        entry = cache.find(cache_folder(), key)
        if entry is None:
            entry = cache.store(cache_folder(), key, [parsed_by(self.witness, shard.sentences)], dict)
        return msgspec.structs.replace(shard, witness=entry[0][0].load())


class ParsedFiles(msgspec.Struct, frozen=True):
    """Text that was parsed before: the trees of the sentences in CoNLL-U files, whose SHA-256 are ``digests``."""

    lang: str
    files: tuple[Path, ...]
    digests: tuple[str, ...]

    def corpus(self, witness: Engine | None = None) -> Corpus:
        """The text of the files, as a corpus that fills what treebanks leave.

        Args:
            witness: annotates the sentences a second time.

        Raises:
            CorpusFormatError: a file is malformed.
            UnsupportedError: no file has a sentence of the language.
        """
        of_files = read_corpora(self.files, lang=self.lang)
        if self.lang not in of_files:
            raise UnsupportedError(f"--parser {self.files[0]}: no sentence of {self.lang} among these files")
        corpus = of_files[self.lang]
        made: dict[str, Any] = {
            "made_by": dict(self.identity),
            "fills": True,
            "read": {"source": ""},
            **({"witness": dict(witness.identity)} if witness else {}),
        }
        sources = tuple(
            msgspec.structs.replace(source, annotation={**(source.annotation or {}), **made})
            for source in corpus.sources
        )
        return msgspec.structs.replace(
            corpus, sources=sources, parts=tuple(ParsedPart(part, witness) for part in corpus.parts)
        )

    @property
    def identity(self) -> Mapping[str, object]:
        """The hashes of the files."""
        return {"engine": PARSED, "software": versions(), "files": sorted(self.digests), **boundary_rules(self.lang)}

    @property
    def tags(self) -> bool:
        """It annotates words."""
        return True

    def annotate(self, paragraphs: Sequence[Paragraph], corrections: Counter[str]) -> list[list[Sentence]]:
        """The sentences of each paragraph, found by rules; those that the files do not have are dropped.

        Raises:
            CorpusFormatError: a file is malformed.
        """
        found, texts = _found(paragraphs, self.lang, corrections, None)
        trees = _trees(self)
        return _with_words(found, [trees.get(text) for text in texts])


@functools.lru_cache(maxsize=1)
def _trees(parsed: ParsedFiles) -> Mapping[str, Sequence[Word]]:
    """The words of each sentence of files of CoNLL-U, by its text."""
    shard = joined([part.load() for part in parsed.corpus().parts])
    names = ("form", "lemma", "upos", "feats", "deprel")
    tokens = shard.tokens.with_columns(
        *(pl.col(name).cast(pl.String).fill_null("") for name in names), pl.col("start", "end").cast(pl.Int64)
    )
    aligned = shard.sentences.filter("aligned").select("sent", "text")
    of_sentence = tokens.join(aligned.select("sent"), on="sent", how="semi", maintain_order="left")
    words: dict[int, list[Word]] = {}
    for sent, form, lemma, upos, feats, deprel, head, start, end in of_sentence.select(
        "sent", *names, "head", "start", "end"
    ).iter_rows():
        words.setdefault(sent, []).append(Word(form, lemma, upos, "", feats, head, deprel, start, end))
    return {text: words[sent] for sent, text in aligned.iter_rows() if sent in words}


def _found(
    paragraphs: Sequence[Paragraph], lang: str, corrections: Counter[str], lengths: tuple[int, int] | None
) -> tuple[list[list[Sentence]], list[str]]:
    """The sentences of paragraphs, and the texts of those that are not dropped by their length."""
    found = [
        [
            Sentence(paragraph, start, end)
            for start, end in paragraph.sentences or correct_boundaries(paragraph.text, lang, corrections)
        ]
        for paragraph in paragraphs
    ]
    flat = [sentence for each in found for sentence in each]
    least, most = lengths or (0, MAX_WORDS)
    too_long = LONG_SENTENCE if lengths is None else OTHER_LENGTH
    counts = iter(alphanumeric_words_of([sentence.text for sentence in flat]) if flat else ())
    found = [
        [
            msgspec.structs.replace(sentence, dropped="" if least <= next(counts) <= most else too_long)
            for sentence in each
        ]
        for each in found
    ]
    return found, [sentence.text for each in found for sentence in each if not sentence.dropped]


def _with_words(found: Sequence[Sequence[Sentence]], parsed: Sequence[Sequence[Word] | None]) -> list[list[Sentence]]:
    """The sentences with the words of a parser, at their places in the paragraph; without words they are dropped."""
    results = iter(parsed)

    def with_words(sentence: Sentence) -> Sentence:
        if sentence.dropped:
            return sentence
        words = [
            msgspec.structs.replace(word, start=word.start + sentence.start, end=word.end + sentence.start)
            for word in next(results) or ()
        ]
        return msgspec.structs.replace(sentence, words=tuple(words), dropped="" if words else UNANNOTATED)

    return [[with_words(sentence) for sentence in each] for each in found]


def problem_of_words(words: Sequence[Word], text: str) -> str:
    """What is wrong with the words that a parser gives for a sentence; empty if they are its words, and a tree.

    As in CoNLL-U, there is one root, every other word has a head, and the heads lead to the root.
    """
    return next(_problems(words, text), "")


def _problems(words: Sequence[Word], text: str) -> Iterator[str]:
    if not words:
        yield "no words"
    heads = [0, *(-1 if word.head is None else word.head for word in words)]
    before = 0
    for number, word in enumerate(words, 1):
        name = f"word {number} ({word.form})"
        place = word.start, word.end
        beside = *words[max(number - 2, 0) : number - 1], *words[number : number + 1]
        is_part = place in {(each.start, each.end) for each in beside}
        if not 0 <= word.start < word.end <= len(text) or (word.start < before and not is_part):
            yield f"{name} is at {word.start}:{word.end}, after {before} of {len(text)} characters"
        before = max(before, word.end)
        if not is_part and text[word.start : word.end] != word.form:
            yield f"{name} is not what the text has at {word.start}:{word.end}"
        if word.upos and word.upos not in UPOS:
            yield f"{name} has the part of speech {word.upos}, which Universal Dependencies do not have"
        if word.feats and not well_formed_feats(word.feats):
            yield f"{name} has the features {word.feats}, which are not as in CoNLL-U"
        if not 0 <= heads[number] <= len(words) or heads[number] == number:
            yield f"{name} has the head {word.head}"
        if not word.deprel:
            yield f"{name} has no relation"
        if word.confidence is not None and not all(math.isfinite(each) and each <= 0 for each in word.confidence):
            yield f"{name} has the confidence {word.confidence}, which are no logarithms of probabilities"
    if (n_roots := heads[1:].count(0)) != 1:
        yield f"{n_roots} words have no head; a sentence has one root"
    for number, word in enumerate(words, 1):
        at, steps = number, 0
        while at and steps <= len(words):
            at, steps = heads[at], steps + 1
        if at:
            yield f"the head of word {number} ({word.form}) leads to no root"
