"""Reads CoNLL-U files and RST trees, of any number of treebanks and languages, into a :class:`Corpus` per language.

A shard is a file, a group of small files of one treebank, or a block of a large file. The order of shards, and
everything in them, depends only on contents and on names inside the treebanks: not on the order of arguments, the
working directory or the place of the files. Parsed shards are stored in the cache (:mod:`discoprobe.loaders.cache`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import polars as pl

from discoprobe.loaders import cache
from discoprobe.loaders.annotation_manifest import annotation_of
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.catalogue.pins import DocumentRule, TreebankFacts
from discoprobe.loaders.catalogue.treebanks import facts_for
from discoprobe.loaders.conllu.documents import Carried, blocks, place
from discoprobe.loaders.conllu.parse import Parsed, Piece, parse
from discoprobe.loaders.corpus import VERSION, Corpus, Counts, Shard, Source, SourceFile
from discoprobe.loaders.discourse_layers.disrpt_relations import read_relations, running_text, word_marks
from discoprobe.loaders.discourse_layers.mentions import read_mentions
from discoprobe.loaders.discourse_layers.mentions import table as mention_table
from discoprobe.loaders.discourse_layers.rst_trees import read_trees
from discoprobe.loaders.errors import BadLine, CorpusFormatError, OnError, UnknownNameError, UnsupportedError
from discoprobe.loaders.file_hashes import FileHashes, hash_of_json, hashes_of
from discoprobe.loaders.folders import cache_folder
from discoprobe.loaders.paths import RELS, CorpusFile, describe, find_files
from discoprobe.loaders.process_pool import process_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    Facts = Callable[[str], TreebankFacts | None]
    BytesProgress = Callable[[int, int], None]

Documents = Literal["auto", "newdoc", "file", "none"]

LARGE: Final = 16 * 2**20
"""A file with more bytes than this is read in blocks of about this size; small files are grouped up to it."""
SMALL: Final = 2**20
"""Files with fewer bytes than this are read together."""
PLACES: Final = 100
"""Largest number of dropped sentences whose places a corpus lists."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a treebank with the digest of its bytes, and what is read with it."""

    file: CorpusFile
    digest: FileHashes
    rels: FileHashes | None = None  # the digest of the table of relations beside it
    texts: tuple[tuple[Path, FileHashes], ...] = ()  # of a tree, files of its name that may hold its text

    @classmethod
    def of(cls, file: CorpusFile) -> Member:
        """A file with its digest, and with that of the table of relations beside it."""
        rels = file.path.with_suffix(RELS)
        has_rels = file.path.suffix == ".conllu" and rels.is_file()
        return cls(file, hashes_of(file.path, with_git=False), hashes_of(rels, with_git=False) if has_rels else None)

    def files(self) -> Iterator[tuple[str, Path, FileHashes]]:
        """Its files: name in the treebank, place, digest."""
        yield self.file.name, self.file.path, self.digest
        if self.rels:
            yield f"{self.file.name.removesuffix('.conllu')}{RELS}", self.file.path.with_suffix(RELS), self.rels


@dataclass(frozen=True, slots=True)
class FileBatch:
    """Files of one treebank that are read together: one large file, or some small ones."""

    treebank: str
    rule: DocumentRule
    members: tuple[Member, ...]

    @property
    def key(self) -> str:
        """The digest of everything that the batch's shards depend on."""
        names = [
            (
                *(member.file.name, member.file.stem, member.digest.sha256),
                *([member.rels.sha256] if member.rels else []),
                *(digest.sha256 for _, digest in member.texts),
            )
            for member in self.members
        ]
        parts = [VERSION, LARGE, self.treebank, self.rule.kind, self.rule.pattern, names]
        return hash_of_json(parts)

    @property
    def size(self) -> int:
        """Bytes of its files, as stored."""
        return sum(member.digest.bytes for member in self.members)

    @property
    def files(self) -> list[tuple[str, Path]]:
        """Name in the treebank and place of every file: those of the members, then the tables of relations."""
        files = [[(name, path) for name, path, _ in member.files()] for member in self.members]
        return [*(first for first, *_ in files), *(other for _, *others in files for other in others)]


def read_corpora(  # noqa: PLR0913 - one keyword per choice of the user
    paths: Sequence[Path],
    *,
    lang: str | None = None,
    on_error: OnError = "stop",
    facts: Facts = facts_for,
    documents: Documents = "auto",
    jobs: int = 1,
    progress: BytesProgress | None = None,
) -> dict[str, Corpus]:
    """Read CoNLL-U files, gzipped or with a table of relations beside them, RST trees, and folders of them.

    Args:
        paths: files and folders.
        lang: the code of the language of files whose names do not tell it.
        on_error: whether a malformed sentence ends the reading, or is left out and counted.
        facts: gives what is known of a treebank, by the name of its folder or file; by default from the catalogue.
        documents: how documents are recognised; ``auto`` uses the rules of the facts.
        jobs: number of processes.
        progress: called with the bytes read so far and the total.

    Returns:
        A corpus per language code, in the order of the codes.

    Raises:
        CorpusFormatError: a sentence is malformed, and ``on_error`` is ``"stop"``.
        DiscoprobeError: a path or language is not usable, or the cache cannot be written.
    """
    all_treebanks = [replace(treebank, documents=documents) for treebank in _treebanks(paths, lang, facts)]
    batches = [batch for treebank in all_treebanks for batch in treebank.batches()]
    entries = _entries(batches, jobs, progress)
    if on_error == "stop":
        for batch, entry in zip(batches, entries, strict=True):
            _stop_at_problem(batch, entry)
    by_batch = dict(zip(batches, entries, strict=True))
    return {
        code: _corpus(code, list(group), by_batch)
        for code, group in groupby(all_treebanks, key=lambda treebank: treebank.lang)
    }


@dataclass(frozen=True, slots=True)
class _Treebank:
    """The files of a treebank, by name, and what is known of it."""

    name: str
    lang: str
    facts: TreebankFacts | None
    members: tuple[Member, ...]
    documents: Documents = "auto"

    @property
    def rule(self) -> DocumentRule:
        """How its documents are recognised."""
        if self.documents != "auto":
            return DocumentRule(self.documents)
        return self.facts.documents if self.facts else DocumentRule()

    def batches(self) -> Iterator[FileBatch]:
        """Its files: each by itself, or with its neighbours where they are small."""
        rule = self.rule
        group: list[Member] = []
        if trees := tuple(member for member in self.members if member.file.is_tree):
            yield FileBatch(self.name, rule, trees)
        for member in self.members:
            if member.file.is_tree:
                continue
            alone = member.digest.bytes >= SMALL
            if group and (alone or sum(other.digest.bytes for other in group) + member.digest.bytes > LARGE):
                yield FileBatch(self.name, rule, tuple(group))
                group = []
            if alone:
                yield FileBatch(self.name, rule, (member,))
            else:
                group.append(member)
        if group:
            yield FileBatch(self.name, rule, tuple(group))

    def source(self) -> Source:
        """Where the treebank comes from.

        The licence, repository and commit of the facts are used if all files have the pinned content, or if discoprobe
        annotated them. A file with other content is a user's text, whatever its name is; its licence is unknown.
        """
        files = tuple(
            SourceFile(name, digest.sha256, digest.bytes)
            for member in self.members
            for name, _, digest in member.files()
        )
        known, made = self.facts, annotation_of(self.members[0].file.path)
        if known is None or (made is None and not all(_is_pinned(known, member) for member in self.members)):
            return Source(self.name, self.lang, files=files)
        return Source(
            self.name, self.lang, known.licence, known.repo, known.commit, known.citation, files, made, known.genre
        )


def _is_pinned(known: TreebankFacts, member: Member) -> bool:
    """Whether a file is, to the byte, one that is pinned for a treebank."""
    if known.sha256:
        return member.digest.sha256 in known.sha256
    try:
        return treebanks.treebank(known.name).pins(member.file.path, member.digest.sha256)
    except (UnknownNameError, UnsupportedError):
        return False


def _treebanks(paths: Sequence[Path], lang: str | None, facts: Facts) -> list[_Treebank]:
    """The treebanks among the files, by language and name; a file that is there twice counts once."""
    groups: dict[tuple[str, str], list[Member]] = {}
    for path, top in find_files(paths).items():
        file = describe(path, top, lang, facts)
        groups.setdefault((file.lang, file.treebank), []).append(Member.of(file))
    named: dict[tuple[str, str], list[tuple[Path, FileHashes]]] = defaultdict(list)
    for (code, _), members in groups.items():
        for member in members:
            named[code, member.file.stem] += [] if member.file.is_tree else [(member.file.path, member.digest)]
    return [
        _treebank(*key, [_with_texts(member, named[key[0], member.file.stem]) for member in groups[key]])
        for key in sorted(groups)
    ]


def _with_texts(member: Member, named: Sequence[tuple[Path, FileHashes]]) -> Member:
    """A tree with the files that may hold its text, sorted by hash; other files are returned unchanged.

    ``named`` are the CoNLL-U files with the same stem and language.
    """
    if not member.file.is_tree:
        return member
    texts = {digest: path for path, digest in [*named, *((path, hashes_of(path)) for path in member.file.plain_texts)]}
    return replace(member, texts=tuple((texts[digest], digest) for digest in sorted(texts, key=lambda d: d.sha256)))


def _treebank(lang: str, name: str, members: list[Member]) -> _Treebank:
    distinct = {(member.file.name, member.digest.sha256): member for member in reversed(members)}
    return _Treebank(name, lang, members[0].file.facts, tuple(distinct[key] for key in sorted(distinct)))


def _entries(batches: Sequence[FileBatch], jobs: int, progress: BytesProgress | None) -> list[cache.Entry]:
    """The cache entry of each batch, in order; missing ones are made, in several processes if ``jobs`` is above 1."""
    total, done = sum(batch.size for batch in batches), 0
    make = partial(cached, cache_folder())
    entries = []
    with process_pool(min(jobs, len(batches))) as pool:
        for batch, entry in zip(batches, pool.map(make, batches) if pool else map(make, batches), strict=True):
            entries.append(entry)
            done += batch.size
            if progress:
                progress(done, total)
    return entries


def cached(folder: Path, batch: FileBatch) -> cache.Entry:
    """The cache entry of a batch: found, or parsed and stored."""
    entry = cache.find(folder, batch.key)
    if entry is not None:
        return entry
    tally = _Tally()
    return cache.store(folder, batch.key, _shards(batch, tally), tally.record)


class _Tally:
    """Counts what the shards of a batch hold, and what is left out, while they are made."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.drops: Counter[str] = Counter()
        self.places: list[tuple[int, int, str | None, str]] = []
        self.notes: list[str] = []

    def add(self, problems: Iterable[tuple[int, BadLine]]) -> None:
        """Count problems, given with the index of their file in the batch."""
        for number, problem in problems:
            self.drops[problem.reason] += 1
            if len(self.places) < PLACES:
                self.places.append((number, problem.line, problem.sent_id, problem.message))

    def record(self) -> dict[str, Any]:
        """The record of the cache entry, as JSON values."""
        return {"counts": asdict(self.counts), "drops": self.drops, "places": self.places, "notes": self.notes}


def _shards(batch: FileBatch, tally: _Tally) -> Iterator[Shard]:
    """The shards of a batch, counted as they are made."""
    if batch.members[0].file.is_tree:
        yield _trees(batch, tally)
        return
    tables = _RelationTables(batch, tally)
    stems = [member.file.stem for member in batch.members]
    carried, line, sentence = Carried(), 0, 0
    fields: list[Sequence[str]] = [()] * len(stems)
    for texts in _texts(batch):
        pieces = [Piece(stem, text, line, sentence) for stem, text in zip(stems, texts, strict=True)]
        parsed = parse(pieces)
        placed = place(parsed.sentences, batch.treebank, stems, batch.rule, carried)
        carried = placed.carried
        # Only a single file is read in several blocks. NumPy counts five times as fast as bytes.count.
        line += int(np.count_nonzero(np.frombuffer(texts[0], np.uint8) == ord("\n")))
        sentence += parsed.n_found
        shard = Shard(placed.documents, placed.sentences, parsed.tokens)
        tally.add(parsed.problems)
        tally.notes += [note for note in parsed.notes if note not in tally.notes]
        shard = tables.added_to(shard, parsed, pieces)
        shard = replace(shard, mentions=_mentions(parsed, pieces, fields, tally))
        tally.counts += _counts(shard, parsed)
        yield shard
    tables.check_documents()


def _mentions(parsed: Parsed, pieces: Sequence[Piece], fields: list[Sequence[str]], tally: _Tally) -> pl.DataFrame:
    """The mentions of the parsed sentences; ``fields`` are those declared so far in each piece, and are updated."""
    found = []
    for number, piece in enumerate(pieces):
        mentions, problems, fields[number] = read_mentions(
            piece.data, fields[number], sentence=piece.sentence, line=piece.line
        )
        found += [((number, mention.sentence), mention) for mention in mentions]
        tally.add((number, problem) for problem in problems)
    kept = parsed.sentences.select("piece", "number").iter_rows() if found else ()
    places = {place: sent for sent, place in enumerate(kept)}
    return mention_table([(places[place], mention) for place, mention in found if place in places])


def _trees(batch: FileBatch, tally: _Tally) -> Shard:
    """The trees of a batch as one shard."""
    files = [(member.file.stem, member.file.path.read_bytes()) for member in batch.members]
    texts = {member.file.stem: [_text_of(path, batch.rule) for path, _ in member.texts] for member in batch.members}
    shard, problems = read_trees(files, batch.treebank, texts)
    tally.counts += shard.counts()
    tally.add(problems)
    return shard


def _text_of(path: Path, rule: DocumentRule) -> str:
    """The text of a CoNLL-U or ``.txt`` file."""
    data = b"".join(blocks(path, LARGE, rule))
    if path.suffix == ".txt":
        return data.decode(errors="replace")
    return running_text(parse([Piece(path.name, data, 0, 0)]).sentences["text"].to_list())


class _RelationTables:
    """The tables of relations beside the files of a batch; each shard gets the relations of its documents."""

    def __init__(self, batch: FileBatch, tally: _Tally) -> None:
        with_rels = [member.file for member in batch.members if member.rels]
        self._tables = [(file.stem, file.path.with_suffix(RELS).read_bytes()) for file in with_rels]
        self._batch, self._tally = batch, tally
        self._documents: set[str] = set()
        self._named: dict[tuple[int, int], str] = {}
        self._problems: set[tuple[int, int]] = set()

    def added_to(self, shard: Shard, parsed: Parsed, pieces: Sequence[Piece]) -> Shard:
        """The shard, made from ``parsed`` and ``pieces``, with the relations of its documents."""
        if not self._tables:
            return shard
        self._documents |= set(shard.documents["doc_id"].drop_nulls())
        kept = set(parsed.sentences.select("piece", "number").iter_rows())
        marks = [
            word
            for number, piece in enumerate(pieces)
            for word in word_marks(piece.data, piece.sentence)
            if (number, word.sentence) in kept
        ]
        found = [shard.relations]
        for number, (stem, data) in enumerate(self._tables, len(self._batch.members)):
            relations, problems, named = read_relations(data, stem, self._batch.treebank, shard, marks)
            found.append(relations)
            self._named |= {(number, line): doc for line, doc in named.items()}
            for problem in problems:
                self._report(number, problem)
        return replace(shard, relations=pl.concat(found))

    def _report(self, number: int, problem: BadLine) -> None:
        """Counts a problem once, however many blocks the file has."""
        if (number, problem.line) not in self._problems:
            self._problems.add((number, problem.line))
            self._tally.add([(number, problem)])

    def check_documents(self) -> None:
        """Reports the relations of documents that are in none of the files."""
        for (number, line), doc in self._named.items():
            if doc not in self._documents:
                message = f"document {doc} is not in the .conllu file; both files must be of the same release"
                self._report(number, BadLine("malformed-relation", line, message))


def _texts(batch: FileBatch) -> Iterator[list[bytes]]:
    """What is parsed at once: all files of a group, or one block of a single file."""
    read = [blocks(member.file.path, LARGE, batch.rule) for member in batch.members]
    if len(read) == 1:
        yield from ([text] for text in read[0])
    else:
        yield [b"".join(texts) for texts in read]


def _counts(shard: Shard, parsed: Parsed) -> Counts:
    """The counts of a shard. In files without universal tags dependencies do not count: they are not those of UD."""
    named = shard.documents["doc_id"].is_not_null().to_numpy()
    begun = int(named[shard.sentences["doc"].to_numpy()][shard.sentences["index"].to_numpy() == 0].sum())
    counts = shard.counts()
    layers = {**counts.layers, "text": int(parsed.sentences["has_text"].sum())}
    layers["deps"] = min(layers["deps"], parsed.universal_words)
    return Counts(begun, counts.sentences, counts.words, layers)


def _stop_at_problem(batch: FileBatch, entry: cache.Entry) -> None:
    for index, line, sent_id, message in entry.record["places"]:
        _, path = batch.files[index]
        raise CorpusFormatError(message, path=str(path), line=line, sent_id=sent_id)


def _corpus(lang: str, members: Sequence[_Treebank], entries: Mapping[FileBatch, cache.Entry]) -> Corpus:
    """The corpus of a language, from the cache entries of its treebanks' batches."""
    batches = [batch for treebank in members for batch in treebank.batches()]
    records = [entries[batch].record for batch in batches]
    drops: Counter[str] = sum((Counter(record["drops"]) for record in records), Counter())
    places = [str(error) for batch in batches for error in _errors(batch, entries[batch])]
    return Corpus(
        lang=lang,
        sources=tuple(treebank.source() for treebank in members),
        parts=tuple(shard for batch in batches for shard in entries[batch].shards),
        counts=sum((Counts(**record["counts"]) for record in records), Counts()),
        drops=dict(sorted(drops.items())),
        drop_places=tuple(places[:PLACES]),
        notes=tuple(dict.fromkeys(f"{b.treebank}: {n}" for b in batches for n in entries[b].record["notes"])),
    )


def _errors(batch: FileBatch, entry: cache.Entry) -> Iterator[CorpusFormatError]:
    """The problems of the first sentences that a batch left out, with the names of files in the treebank."""
    for index, line, sent_id, message in entry.record["places"]:
        name, _ = batch.files[index]
        yield CorpusFormatError(message, path=f"{batch.treebank}/{name}", line=line, sent_id=sent_id)
