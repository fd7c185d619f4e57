"""Corpora of text whose parts are the row groups of parquet files; a part is read when it is loaded, and cached.

Rows are read, filtered and divided into sentences, which have no tokens. What needs other documents is counted inside
the part: lines that recur, and paragraphs that repeat earlier ones. What repeats from part to part is found when rows
are sampled (`near_duplicates`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from discoprobe.loaders import cache
from discoprobe.loaders.annotation_manifest import entries, summary
from discoprobe.loaders.corpus import DOCUMENTS, SENTENCES, TOKENS, VERSION, Corpus, Counts, Shard, Source, SourceFile
from discoprobe.loaders.errors import CorpusFormatError, UnsupportedError, first_line
from discoprobe.loaders.fetch.remote_files import PARQUET, files_at, pinned, reaching
from discoprobe.loaders.file_hashes import hash_of_json
from discoprobe.loaders.folders import cache_folder
from discoprobe.loaders.keys import record_keys, text_keys
from discoprobe.loaders.raw.annotate.placed_sentences import loaded, placed
from discoprobe.loaders.raw.document import DropCounts
from discoprobe.loaders.raw.raw_corpus import usable_documents
from discoprobe.loaders.raw.tables import find_columns, known_column, rows_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from discoprobe.loaders.fetch.remote_files import TextFile
    from discoprobe.loaders.raw.annotate.annotate_corpus import CorpusFacts
    from discoprobe.loaders.raw.annotate.placed_sentences import Engine, PlacedSentence
    from discoprobe.loaders.raw.document import RawDocument
    from discoprobe.loaders.raw.options import ReadOptions

FORMAT: Final = 7
"""Version of how text is read, filtered and divided into sentences; a higher one makes all cached parts anew."""
ABOUT: Final = {"title": ("title",), "url": ("url", "source_url", "link")}
"""What the attribution says of a document, and the names of its column in lower case."""
FOOTERS_AT_ONCE: Final = 8
"""Number of files whose footers are read at the same time."""

_LINK: Final = r"[\p{wb=Extend}\p{wb=Format}\p{wb=ZWJ}]*"
_LETTERS: Final = rf"(?:[\p{{wb=ALetter}}\p{{wb=Hebrew_Letter}}]{_LINK})+"
_DIGITS: Final = rf"(?:\p{{wb=Numeric}}{_LINK})+"
_JOINS: Final = rf"(?:\p{{wb=ExtendNumLet}}{_LINK})*"
_IN_WORD: Final = rf"[\p{{wb=MidLetter}}\p{{wb=MidNumLet}}\p{{wb=Single_Quote}}]{_LINK}"
_IN_NUMBER: Final = rf"[\p{{wb=MidNum}}\p{{wb=MidNumLet}}\p{{wb=Single_Quote}}]{_LINK}"
_PART: Final = rf"(?:{_LETTERS}(?:{_IN_WORD}{_LETTERS})*|{_DIGITS}(?:{_IN_NUMBER}{_DIGITS})*)"
WORD: Final = rf"{_JOINS}(?:{_PART}{_JOINS})+|(?:\p{{wb=Katakana}}{_LINK})+|[\p{{L}}\p{{N}}]{_LINK}"
"""A word with a letter or digit, by Unicode's word boundaries, as `placed_sentences.words`; for polars to count."""


@dataclass(frozen=True, slots=True)
class TextCorpusPart:
    """A row group as a part of a corpus; its rows are documents."""

    corpus: str
    file: TextFile
    number: int  # of the row group
    before: int  # rows of the file before it
    n_documents: int
    size: int  # bytes of its text, uncompressed
    options: ReadOptions  # how it is read and filtered
    engine: Engine  # what finds sentences
    fills: bool = False  # it is read only when other parts are at their end

    @property
    def identity(self) -> str:
        """Corpus, file and number of the row group."""
        return f"{self.corpus}/{self.file.name}#{self.number}"

    @property
    def key(self) -> str:
        """The digest of everything that its shard depends on."""
        depends = [
            VERSION, FORMAT, self.identity, self.file.digest, dataclasses.asdict(self.options), self.engine.identity
        ]  # fmt: skip
        return hash_of_json(depends)

    def load(self) -> Shard:
        """The shard: from the cache, or read from the file now.

        Raises:
            RemoteError: the file cannot be read.
            CorpusFormatError: it is damaged, or a row is malformed and ``on_error`` is ``"stop"``.
        """
        entry = cache.find(cache_folder(), self.key)
        return (self._made() if entry is None else entry).shards[0].load()

    def record(self) -> Mapping[str, Any] | None:
        """What is known of the part since it was read; None if the cache does not have it.

        ``about``: id, title and URL of each document; ``documents``, ``sentences`` and ``words``: how many there are;
        ``drops`` and ``corrections``: as in the manifest of an annotated corpus.
        """
        return cache.record(cache_folder(), self.key)

    def _made(self) -> cache.Entry:
        with _opened(self.file) as parquet:
            names = parquet.schema_arrow.names
            about = [known_column(names, wanted) for wanted in ABOUT.values()]
            used = {*find_columns(names, self.options, self.file.name).values(), *filter(None, about)}
            records = parquet.read_row_group(self.number, columns=sorted(used)).to_pylist()
        reading, dropped, corrections = DropCounts(), Counter[str](), Counter[str]()
        rows = rows_of(enumerate(records, self.before + 1), self.file.name, self.options, reading)
        documents, found, about_each = [], [], []
        annotator = loaded(self.engine)
        for document in usable_documents(sorted(rows, key=lambda row: row.id), self.options, reading):
            spans = annotator.annotate(document.running, corrections, tokens=False)
            if sentences := list(placed(document, spans, dropped)):
                documents.append(document)
                found.append(sentences)
                number = int(document.source.rpartition(":")[2])  # of the row in the file, from 1
                cells = records[number - self.before - 1]
                about_each.append([document.doc_id, *(str(cells.get(column) or "") for column in about)])
        shard = _shard(documents, found, self.corpus)
        record = {
            "about": about_each,
            "documents": len(documents),
            "sentences": shard.sentences.height,
            "words": int(shard.sentences["n_words"].sum()),
            "drops": {"reading": reading.reasons, "annotation": dropped},
            "corrections": corrections,
        }
        return cache.store(cache_folder(), self.key, [shard], lambda: record)


def _shard(documents: Sequence[RawDocument], found: Sequence[Sequence[PlacedSentence]], corpus: str) -> Shard:
    """The tables of documents with some sentences each; ``n_words`` counts words with a letter or digit."""
    names = [document.doc_id for document in documents]
    of_documents = pl.DataFrame({
        "doc": range(len(names)), "corpus": [corpus] * len(names), "doc_id": names,
        "genre": [document.genre or None for document in documents], "n_sentences": list(map(len, found)),
        "key": record_keys(repeat(corpus, len(names)), names),
    }, DOCUMENTS)  # fmt: skip
    rows = [(doc, index, one) for doc, placed_ones in enumerate(found) for index, one in enumerate(placed_ones)]
    texts = [one.text for _, _, one in rows]
    sent_ids = [f"{names[doc]}-{one.number}" for doc, _, one in rows]
    table = pl.DataFrame({
        "sent": range(len(rows)), "doc": [doc for doc, _, _ in rows], "index": [index for _, index, _ in rows],
        "run": [n - 1 for n in accumulate(one.opens_passage for _, _, one in rows)], "sent_id": sent_ids,
        "text": texts, "n_words": [one.sentence.spoken_words for _, _, one in rows], "aligned": [True] * len(rows),
        "key": record_keys(repeat(corpus, len(rows)), [names[doc] for doc, _, _ in rows], sent_ids, texts),
        "text_key": text_keys(texts), "section": [one.paragraph.section for _, _, one in rows],
        "speaker": [None] * len(rows), "element": [None] * len(rows),
    }, SENTENCES)  # fmt: skip
    counted = pl.coalesce("n_words", pl.col("text").str.count_matches(WORD))
    return Shard(of_documents, table.with_columns(n_words=counted), pl.DataFrame(schema=TOKENS))


_FOOTERS: dict[TextFile, pq.FileMetaData] = {}
"""The footers that this process has read."""


@contextmanager
def _opened(file: TextFile) -> Iterator[pq.ParquetFile]:
    """An open parquet file; what goes wrong with it names it."""
    with reaching(file.url), file.open() as stream:
        try:
            parquet = pq.ParquetFile(stream, metadata=_FOOTERS.get(file), pre_buffer=True)
            _FOOTERS[file] = parquet.metadata
            yield parquet
        except pa.ArrowException as error:
            problem = f"not a readable parquet file: {first_line(error)}"
            raise CorpusFormatError(problem, path=file.url) from error


def text_corpus(sources: Sequence[str], facts: CorpusFacts, options: ReadOptions, engine: Engine) -> Corpus:
    """The corpus of text in parquet files, named by paths, URLs or patterns; only their footers are read.

    It counts as having sections: whether there are headings is seen when texts are read.

    Raises:
        UnsupportedError: the files have no row.
        UsageError: no column is known to hold the text, or the one that is named is not there.
        CorpusFormatError: a file is no parquet.
        RemoteError: a file is not there or cannot be read.
    """
    options = dataclasses.replace(options, lang=facts.lang)
    files: list[TextFile] = []
    urls: list[str] = []
    for source in sources:
        url, repository, commit = pinned(source)
        urls.append(url)
        files += files_at(url, PARQUET)
        facts = dataclasses.replace(facts, repo=repository or facts.repo, commit=commit or facts.commit)
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
        of_files = pool.map(
            lambda file: list(_parts(TextCorpusPart(facts.name, file, 0, 0, 0, 0, options, engine))), files
        )
        parts = tuple(part for of_file in of_files for part in of_file)
    if not parts:
        raise UnsupportedError(f"{', '.join(sources)}: the parquet files have no row")
    rows = sum(part.n_documents for part in parts)
    source_of = Source(
        facts.name, facts.lang, facts.licence, facts.repo, facts.commit, facts.citation,
        tuple(SourceFile(file.name, file.digest, file.bytes) for file in files),
        {"made_by": dict(engine.identity), "read": dataclasses.asdict(options) | {"source": urls[0]}},
    )  # fmt: skip
    return Corpus(facts.lang, (source_of,), parts, Counts(rows, rows, 0, {"sections": rows, "text": rows}))


def _parts(first: TextCorpusPart) -> Iterator[TextCorpusPart]:
    """The parts of a file from its footer, given what its first part has in common with them."""
    with _opened(first.file) as parquet:
        columns = find_columns(parquet.schema_arrow.names, first.options, first.file.name)
        text = columns.get("sentences") or columns["text"]
        before = 0
        for number in range(parquet.metadata.num_row_groups):
            group = parquet.metadata.row_group(number)
            leaves = (group.column(i) for i in range(group.num_columns))
            size = sum(leaf.total_uncompressed_size for leaf in leaves if leaf.path_in_schema.split(".")[0] == text)
            if group.num_rows:
                yield dataclasses.replace(first, number=number, before=before, n_documents=group.num_rows, size=size)
            before += group.num_rows


def as_fill(corpus: Corpus) -> Corpus:
    """A corpus of text whose parts are read when those of other corpora are at their end."""
    parts = tuple(dataclasses.replace(part, fills=True) for part in corpus.parts if isinstance(part, TextCorpusPart))
    sources = tuple(
        dataclasses.replace(source, annotation={**(source.annotation or {}), "fills": True})
        for source in corpus.sources
    )
    return dataclasses.replace(corpus, parts=parts, sources=sources)


def read_parts(corpus: Corpus, identities: Collection[str]) -> list[TextCorpusPart]:
    """The parts of a corpus that are row groups and were read, among those with some identities; of all, if none."""
    wanted = {identity.partition("[:")[0] for identity in identities}  # of some, only the first documents were read
    parts = [part for part in corpus.parts if isinstance(part, TextCorpusPart)]
    return [part for part in parts if (not wanted or part.identity in wanted) and part.record() is not None]


def with_what_was_read(corpus: Corpus, parts: Sequence[TextCorpusPart]) -> Corpus:
    """A corpus whose sources of text list the files and row groups that were read, and what was counted in them."""
    sources = tuple(
        _as_read(source, [part for part in parts if part.corpus == source.name]) for source in corpus.sources
    )
    return dataclasses.replace(corpus, sources=sources)


def _as_read(source: Source, parts: Sequence[TextCorpusPart]) -> Source:
    if not parts:
        return source
    names = sorted({part.file.name for part in parts})
    files = tuple(file for file in source.files if file.path in names)
    records = [part.record() or {} for part in parts]
    drops = [record.get("drops", {}) for record in records]
    annotation = {
        **(source.annotation or {}),
        **{name: sum(record.get(name, 0) for record in records) for name in ("documents", "sentences", "words")},
        "row_groups": {name: sorted(part.number for part in parts if part.file.name == name) for name in names},
        "drops": {kind: _total(counts.get(kind, {}) for counts in drops) for kind in ("reading", "annotation")},
        "corrections": _total(record.get("corrections", {}) for record in records),
        "text": summary(entries(files)),
    }
    return dataclasses.replace(source, files=files, annotation=annotation)


def _total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    return dict(sorted(sum((Counter(count) for count in counts), Counter[str]()).items()))


def about_documents(parts: Sequence[TextCorpusPart], doc_ids: Collection[str]) -> pl.DataFrame:
    """``corpus``, ``doc_id``, ``title`` and ``url`` of documents that were read and have a title or URL, by id."""
    rows = [
        (part.corpus, *about)
        for part in parts
        for about in (part.record() or {}).get("about", ())
        if about[0] in doc_ids and any(about[1:])
    ]
    names = ("corpus", "doc_id", *ABOUT)
    return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row").unique().sort("corpus", "doc_id")
