"""Corpora of text whose parts are the row groups of parquet files; a part is read when it is loaded, and cached.

Rows are read, filtered and divided into sentences, which have tokens if the engine annotates words. As that takes long,
a part is then only some rows of a row group. Filters that compare documents (for recurring lines and repeated
paragraphs) see only the documents of one part. Repetitions across parts are found when rows are sampled
(`near_duplicates`).
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import accumulate, chain
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec
import polars as pl
import pyarrow.parquet as pq

from discoprobe.loaders import cache
from discoprobe.loaders.catalogue.treebanks import DocumentRule, Source
from discoprobe.loaders.conllu.documents import Carried, place
from discoprobe.loaders.conllu.parse import Piece, parse
from discoprobe.loaders.corpus import CONFIDENCE, DOCUMENTS, SENTENCES, TOKENS, VERSION, Corpus, Counts, Shard
from discoprobe.loaders.errors import UnsupportedError
from discoprobe.loaders.fetch.remote_files import PARQUET, files_at, open_file, pinned, reaching
from discoprobe.loaders.files import File, cache_folder, hash_of_json
from discoprobe.loaders.hashing import document_keys, sentence_keys, text_keys
from discoprobe.loaders.raw.document import DropCounts, Paragraph, RawDocument, ReadOptions, TextWithOffsets
from discoprobe.loaders.raw.raw_corpus import usable_documents
from discoprobe.loaders.raw.segmentation import Engine, Sentence, annotated_documents, conllu_text
from discoprobe.loaders.raw.text_rows import document_id, find_column, find_columns, rows_of
from discoprobe.loaders.tables import reading_parquet
from discoprobe.loaders.words import alphanumeric_words_of

FORMAT: Final = 12
"""Version of the code that reads, filters and divides text. Raise it when results change: parts are then made again."""
ABOUT: Final = {"title": ("title",), "url": ("url", "source_url", "link")}
"""What an attribution of a document contains → possible names of its column, in lower case."""
ANNOTATED: Final = 250_000
"""Bytes of text in a part that is annotated, about: 40,000 words, some twenty seconds on one core."""
FOOTERS_AT_ONCE: Final = 8
"""Number of files whose footers are read at the same time."""


_FOOTERS: dict[File, pq.FileMetaData] = {}
"""The footers that this process has read."""


@contextmanager
def _open_parquet(file: File) -> Iterator[pq.ParquetFile]:
    """An open parquet file; the messages of errors name it."""
    with reaching(file.url), open_file(file) as stream, reading_parquet(file.url):
        parquet = pq.ParquetFile(stream, metadata=_FOOTERS.get(file), pre_buffer=True)
        _FOOTERS[file] = parquet.metadata
        yield parquet


class TextCorpusPart(msgspec.Struct, frozen=True):
    """A row group, or some rows of it, as a part of a corpus; its rows are documents."""

    corpus: str
    file: File
    number: int  # of the row group
    before: int  # number of rows of the file before it
    n_documents: int  # number of its rows
    size: int  # bytes of its text, uncompressed
    options: ReadOptions  # how it is read and filtered
    engine: Engine  # finds the sentences, and may annotate them
    fills: bool = False  # whether it is read only after all other parts of the corpus
    first: int | None = None  # of its rows in the row group; None if it is the whole row group
    witness: Engine | None = None  # annotates the sentences a second time

    @property
    def identity(self) -> str:
        """``digest#number`` of the row group; with ``:first`` if it is not the whole row group.

        It has the digest of the file and no name, so that the folder can be moved or renamed.
        """
        rows = "" if self.first is None else f":{self.first}"
        return f"{self.file.sha256}#{self.number}{rows}"

    @property
    def slow(self) -> bool:
        """Whether it takes long to load, so that few parts should be read together."""
        return self.engine.tags

    @property
    def prepared(self) -> bool:
        """Whether the cache has its shard."""
        return self.record() is not None

    @property
    def key(self) -> str:
        """The digest of everything that its shard depends on."""
        depends = [
            VERSION, FORMAT, self.corpus, self.file.path, self.identity, msgspec.structs.asdict(self.options),
            self.engine.identity,
        ]  # fmt: skip
        if self.first is not None:
            depends.append(self.n_documents)
        if self.witness is not None:
            depends.append(self.witness.identity)
        return hash_of_json(depends)

    def load(self) -> Shard:
        """The shard: from the cache, or read from the file now.

        Raises:
            RemoteError: the file cannot be read.
            CorpusFormatError: it is damaged, or a row is malformed and ``on_error`` is ``"stop"``.
        """
        entry = cache.find(cache_folder(), self.key)
        shard, *others = [stored.load() for stored in (self._make() if entry is None else entry)[0]]
        return msgspec.structs.replace(shard, witness=others[0]) if others else shard

    def record(self) -> Mapping[str, Any] | None:
        """The record of the part, made when it was read; None if the cache does not have the part.

        ``about`` has id, title and URL of each document; ``documents``, ``sentences`` and ``words`` are numbers;
        ``drops`` and ``corrections`` are as in the manifest of an annotated corpus.
        """
        return cache.record(cache_folder(), self.key)

    def _make(self) -> cache.Entry:
        with _open_parquet(self.file) as parquet:
            names = parquet.schema_arrow.names
            columns = [find_column(names, usual) for usual in ABOUT.values()]
            used = {*find_columns(names, self.options, self.file.path).values(), *filter(None, columns)}
            group = parquet.read_row_group(self.number, columns=sorted(used))
            records = group.slice(self.first or 0, self.n_documents).to_pylist()
        reading, dropped, corrections = DropCounts(), Counter[str](), Counter[str]()
        rows = rows_of(enumerate(records, self.before + 1), self.file.path, self.options, reading)
        # an id that is made of the name of the file begins with its folder, which must not change the order
        folder = document_id(f"{PurePosixPath(self.file.path).parent}/")
        in_order = sorted(rows, key=lambda row: row.doc_id.removeprefix(folder))
        usable = list(usable_documents(in_order, self.options, reading))
        documents = list(annotated_documents(usable, self.engine, dropped, corrections))
        id_column = find_columns(names, self.options, self.file.path).get("id")
        about, made_up = [], set[str]()
        for document, _ in documents:
            record = records[int(document.source.rpartition(":")[2]) - self.before - 1]
            about.append([document.doc_id, *(str(record.get(column) or "") for column in columns)])
            given = record.get(id_column) if id_column else None
            if given is None or document_id(str(given)) != document.doc_id:
                made_up.add(document.doc_id)
        shard = (annotated_shard if self.engine.tags else _make_shard)(documents, self.corpus, made_up)
        counts = {
            "about": about, "documents": len(documents), "sentences": shard.sentences.height,
            "words": int(shard.sentences["n_words"].sum()), "corrections": corrections,
            "drops": {"reading": reading.reasons, "annotation": dropped},
        }  # fmt: skip
        others = [] if self.witness is None else [parsed_by(self.witness, shard.sentences)]
        return cache.store(cache_folder(), self.key, [shard, *others], lambda: counts)


def _make_shard(
    documents: Sequence[tuple[RawDocument, Sequence[Sentence]]], corpus: str, made_up: Collection[str]
) -> Shard:
    """The tables of documents with their sentences; ``n_words`` counts words with a letter or digit.

    ``made_up`` has the ids that are made of the name of the file, and are no part of the content.
    """
    names = [document.doc_id for document, _ in documents]
    keys = document_keys(
        [None if name in made_up else name for name in names],
        ([placed.text for placed in sentences] for _, sentences in documents),
    )
    of_documents = pl.DataFrame({
        "doc": range(len(names)), "corpus": [corpus] * len(names), "doc_id": names,
        "genre": [document.genre or None for document, _ in documents],
        "n_sentences": [len(sentences) for _, sentences in documents],
        "key": keys,
    }, DOCUMENTS)  # fmt: skip
    rows = [(doc, index, placed) for doc, (_, sents) in enumerate(documents) for index, placed in enumerate(sents)]
    texts = [placed.text for _, _, placed in rows]
    n_words = [
        placed.alphanumeric_words if placed.words else n
        for (_, _, placed), n in zip(rows, alphanumeric_words_of(texts), strict=True)
    ]
    sent_ids = [f"{names[doc]}-{placed.number}" for doc, _, placed in rows]
    table = pl.DataFrame({
        "sent": range(len(rows)), "doc": [doc for doc, _, _ in rows], "index": [index for _, index, _ in rows],
        "run": [n - 1 for n in accumulate(placed.opens_passage for _, _, placed in rows)], "sent_id": sent_ids,
        "text": texts, "n_words": n_words, "aligned": [True] * len(rows),
        "key": sentence_keys(keys.to_numpy()[[doc for doc, _, _ in rows]], [index for _, index, _ in rows]),
        "text_key": text_keys(texts), "section": [placed.paragraph.section for _, _, placed in rows],
        "speaker": [None] * len(rows), "element": [None] * len(rows),
    }, SENTENCES)  # fmt: skip
    return Shard(of_documents, table, pl.DataFrame(schema=TOKENS))


def annotated_shard(
    documents: Sequence[tuple[RawDocument, Sequence[Sentence]]], corpus: str, made_up: Collection[str]
) -> Shard:
    """The tables of annotated documents, those of their CoNLL-U; ``made_up`` as in `_make_shard`."""
    texts = [conllu_text(document, sentences, document.source) for document, sentences in documents]
    parsed = parse([Piece(corpus, "".join(texts).encode())])
    of_documents, placed, _ = place(parsed.sentences, corpus, [corpus], DocumentRule("newdoc"), Carried(), made_up)
    of_words = [
        word.confidence or (None, None)
        for _, sentences in documents for each in sentences for word in each.words
    ]  # fmt: skip
    columns = [(name, CONFIDENCE[name]) for name in ("tags", "arc")]
    both = pl.DataFrame(of_words, schema=columns, orient="row")
    confidence = pl.concat([parsed.tokens.select("sent", "index"), both], how="horizontal").drop_nulls()
    return Shard(of_documents, placed, parsed.tokens, confidence=confidence)


def parsed_by(engine: Engine, sentences: pl.DataFrame) -> Shard:
    """The sentences of a table (``sent_id``, ``text``) as an engine annotates them.

    A sentence that the engine divides, or cannot read, is left out.
    """
    documents = [
        RawDocument(sent_id, (Paragraph(TextWithOffsets(text), sentences=((0, len(text)),)),), sent_id, text)
        for sent_id, text in sentences.select("sent_id", "text").iter_rows()
    ]
    annotated = [
        (document, of_document)
        for document, of_document in annotated_documents(documents, engine, Counter(), Counter())
        if len(of_document) == 1 and of_document[0].text == document.paragraphs[0].text
    ]
    return annotated_shard(annotated, "parsed", ())


def text_corpus(
    url: str, source: Source, options: ReadOptions, engine: Engine, witness: Engine | None = None
) -> Corpus:
    """The corpus of text in parquet files, given by a path, URL or pattern; only the footers of the files are read.

    The corpus has the layer ``sections`` in any case: whether texts have headings is known only when they are read.

    Args:
        url: of the files; a branch or tag of the Hub is replaced by its current commit.
        source: name, language, licence and citation; repository and commit, if the URL is not of the Hub.
        options: how the text is read and filtered; ``lang`` in it is ignored.
        engine: finds the sentences, and may annotate them.
        witness: annotates the sentences a second time; None for no second annotation.

    Raises:
        UnsupportedError: the files have no rows.
        UsageError: no column has a known name for the text, or the column that the user names is missing.
        CorpusFormatError: a file is not parquet.
        RemoteError: a file does not exist or cannot be read.
    """
    options = msgspec.structs.replace(options, lang=source.lang)
    place, repository, commit = pinned(url)
    files = files_at(place, PARQUET)
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
        of_files = pool.map(lambda file: list(_parts_of_file(source.name, file, options, engine, witness)), files)
        parts = tuple(chain.from_iterable(of_files))
    if not parts:
        raise UnsupportedError(f"{url}: the parquet files have no row")
    rows = sum(part.n_documents for part in parts)
    source = msgspec.structs.replace(
        source, repo=repository or source.repo, commit=commit or source.commit,
        files=tuple(msgspec.structs.replace(file, url="") for file in files),
        annotation={
            "made_by": dict(engine.identity),
            "read": msgspec.structs.asdict(options) | {"source": place},
            **({"witness": dict(witness.identity)} if witness else {}),
        },
    )  # fmt: skip
    layers = ["sections", "text", *(("lemma", "upos", "feats", "deps") if engine.tags else ())]
    return Corpus(source.lang, (source,), parts, Counts(rows, rows, 0, dict.fromkeys(layers, rows)))


def _parts_of_file(
    corpus: str, file: File, options: ReadOptions, engine: Engine, witness: Engine | None
) -> Iterator[TextCorpusPart]:
    """The parts of a file from its footer."""
    with _open_parquet(file) as parquet:
        columns = find_columns(parquet.schema_arrow.names, options, file.path)
        text = columns.get("sentences") or columns["text"]
        before = 0
        for number in range(parquet.metadata.num_row_groups):
            group = parquet.metadata.row_group(number)
            leaves = (group.column(i) for i in range(group.num_columns))
            size = sum(leaf.total_uncompressed_size for leaf in leaves if leaf.path_in_schema.split(".")[0] == text)
            n_parts = min(group.num_rows, -(-size // ANNOTATED)) if engine.tags else 1
            for n in range(n_parts if group.num_rows else 0):
                first, end = (group.num_rows * each // n_parts for each in (n, n + 1))
                part = TextCorpusPart(
                    corpus, file, number, before + first, end - first, size * (end - first) // group.num_rows, options,
                    engine, first=first if engine.tags else None, witness=witness,
                )  # fmt: skip
                yield part
            before += group.num_rows
