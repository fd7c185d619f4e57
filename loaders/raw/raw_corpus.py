"""Reads raw text from a file, a folder, a table or a dataset, as documents in the order of their ids.

The documents depend on ids and contents only: text files, a table and a dataset with the same texts give the same
documents. Memory holds one document, and hashes of all.

Identifies the language of a text with py3langid, a naive Bayes classifier on byte n-grams that includes its model.

Measured on 600 news segments in each of 20 languages (NTREX-128): of the segments with 50 letters or more at most two
per language are classified wrongly (three of 145 in Chinese), except that Indonesian and Malay are confused. No wrong
answer has a probability above 0.83.

Filters on documents: by letters, length, script and language of paragraphs, and by repetition in the corpus.

Boilerplate lines, and paragraphs and documents that repeat earlier ones, are known only after all documents were read.
Until then hashes of the text are kept in memory, not the text.
"""

import math
import os
import pickle
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np
import polars as pl

from discoprobe.loaders import near_duplicates
from discoprobe.loaders.catalogue.treebanks import HUB
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UsageError
from discoprobe.loaders.languages.language import script_share
from discoprobe.loaders.raw import tables
from discoprobe.loaders.raw.document import (
    COLUMNS,
    RUNNING,
    TEI,
    DropCounts,
    Paragraph,
    RawDocument,
    RawFile,
    ReadOptions,
    Row,
    check_kind,
    document_id,
    files_in,
    grouped,
    read_text,
    with_gaps,
)
from discoprobe.loaders.raw.plain_text import HEADING, inner_sentences, lines_of, row_document
from discoprobe.loaders.raw.tei import read_tei
from discoprobe.loaders.words import word_count

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


# fmt: off
SAME: Final = tuple(frozenset(languages.split()) for languages in (
    "bs hr sh sr cnr", "id ms", "nb nn no", "yue wuu zh lzh", "ar ary arz apc ajp", "grc el", "he hbo", "es ext",
    "it vec lij",
))
# fmt: on
"""Groups of languages that the classifier confuses or does not distinguish; each group counts as one language."""
LETTER: Final = re.compile(r"[^\W\d_]")
MIN_LETTERS: Final = 50
"""Texts with fewer letters are not classified."""
CHARACTERS: Final = 500
"""Number of characters at the beginning of a text that are classified."""


@cache
def is_known(lang: str) -> bool:
    """Whether the classifier knows a language, or one that counts as the same."""
    return not _same_as(lang).isdisjoint(_classifier().nb_classes)


def is_long_enough(text: str) -> bool:
    """Whether a text has enough letters to be classified."""
    return len(LETTER.findall(text[:CHARACTERS])) >= MIN_LETTERS


def probabilities(text: str, lang: str) -> tuple[float, float]:
    """The probability that a text is in a language, and that of the most probable other language."""
    same, ranked = _same_as(lang), _classifier().rank(text[:CHARACTERS])
    other = next(float(share) for code, share in ranked if code not in same)
    return sum(float(share) for code, share in ranked if code in same), other


def _same_as(lang: str) -> frozenset[str]:
    return next((languages for languages in SAME if lang in languages), frozenset({lang}))


@cache
def _classifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - the model takes a second to load

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


T = TypeVar("T")

CERTAIN: Final = 0.9
"""A paragraph is in another language if the probability of that language is at least this."""
MIN_WORDS: Final = 4
"""A line with fewer words is not boilerplate: short exclamations and answers recur in every novel."""
SHARE: Final = 0.002
"""In large corpora, the share of the documents in which a line must occur to be boilerplate."""
PARAGRAPH_WORDS: Final = 8
"""Paragraphs with fewer words are not dropped as repetitions, since short ones recur in every novel."""
PARAGRAPHS_AT_ONCE: Final = 10_000
"""Number of paragraphs whose text is in memory at a time."""


def filtered(document: RawDocument, options: ReadOptions, counts: DropCounts) -> RawDocument | None:
    """A document without unusable paragraphs; None if too little is left, or most is in another language."""
    parts = chain.from_iterable(_cut(p, document.source, options.max_characters, counts) for p in document.paragraphs)
    cut = replace(document, paragraphs=tuple(with_gaps(parts)))
    sizes: Counter[bool] = Counter()
    reasons = {i: reason for i, p in enumerate(cut.paragraphs) if (reason := _unusable(p, options, sizes))}
    rest = without(cut, reasons, counts)
    if sizes and sizes[True] / sizes.total() < options.language_share:
        counts.add("document-language", document.source)
        return None
    return rest if long_enough(rest, options, counts) else None


def _unusable(paragraph: Paragraph, options: ReadOptions, sizes: Counter[bool]) -> str:
    """The reason why a paragraph is unusable, or an empty text.

    ``sizes`` counts the characters of paragraphs whose language could be identified: True for that of the corpus.
    """
    text, lang = paragraph.text, options.lang
    if not any(map(str.isalpha, text)):
        return "no-letters"
    if paragraph.kind not in RUNNING:
        return ""
    if lang and script_share(text, lang) < options.script_share:
        return "script"
    if lang and options.language_share and is_known(lang) and is_long_enough(text):
        same, other = probabilities(text, lang)
        sizes[same >= other] += len(text)
        if other >= CERTAIN:
            return "paragraph-language"
    return "short-paragraph" if word_count(text) < options.min_words else ""


def without(document: RawDocument, reasons: Mapping[int, str], counts: DropCounts) -> RawDocument:
    """A document without some paragraphs: ``reasons`` maps their indices to the reasons, which are counted."""
    for reason in reasons.values():
        counts.add(reason, document.source)
    rest = with_gaps(None if i in reasons else paragraph for i, paragraph in enumerate(document.paragraphs))
    return replace(document, paragraphs=tuple(rest))


def long_enough(document: RawDocument, options: ReadOptions, counts: DropCounts) -> bool:
    """Whether a document has enough words of running text; if not, it is counted as dropped."""
    words = sum(word_count(paragraph.text) for paragraph in document.running)
    if words >= max(options.min_document_words, 1):
        return True
    counts.add("short-document" if words else "empty-document", document.source)
    return False


def _cut(paragraph: Paragraph, source: str, longest: int, counts: DropCounts) -> Iterator[Paragraph | None]:
    """A paragraph in parts of at most ``longest`` characters that end with a sentence; None for a longer sentence."""
    if len(paragraph.text) <= longest:
        yield paragraph
        return
    spans = paragraph.sentences
    ends = inner_sentences(paragraph.text) if spans is None else [start for start, _ in spans[1:]]
    start = 0
    for end, following in pairwise([*ends, len(paragraph.text), math.inf]):
        if following - start <= longest:
            continue
        text = paragraph.content.cut(start, int(end)).stripped()
        if len(text.text) <= longest:
            inside = None if spans is None else tuple((a - start, b - start) for a, b in spans if start <= a < end)
            yield replace(paragraph, content=text, sentences=inside, gap=paragraph.gap and not start)
        else:
            counts.add("long-paragraph", f"{source}:{text.source_span(0, 1)[0]}")
            yield None
        start = int(end)


def with_boilerplate(rows: Iterable[Row], least: int) -> Iterator[tuple[Row, Collection[str]]]:
    """Each row with its boilerplate: the lines of its plain text that occur in at least ``least`` documents.

    In a large corpus more documents are required (``SHARE``); if ``least`` is 0, there is no boilerplate. Headings and
    short lines are never boilerplate, and a text that has only such lines keeps them. The rows are iterated over twice.
    """
    texts = (row.text for row in rows if row.parts is None) if least else ()
    keys = [np.array([*{*_line_keys(text).values()} - {None}], np.uint64) for text in texts]
    lines, documents = np.unique(np.concatenate([*keys, np.empty(0, np.uint64)]), return_counts=True)
    recurring = frozenset(lines[documents >= max(least, round(SHARE * len(keys)))].tolist())
    for row in rows:
        key_of = _line_keys(row.text) if recurring and row.parts is None else {}
        boilerplate = {line for line, key in key_of.items() if key in recurring}
        yield row, boilerplate if len(boilerplate) < len(key_of) else ()


def _line_keys(source: str) -> dict[str, int | None]:
    """The lines of a text that have a letter and are not headings → hash, or None for a short line."""
    lines = (line.text for line in lines_of(source))
    return {line: _key(line) for line in lines if any(map(str.isalpha, line)) and not HEADING.match(line)}


def _key(line: str) -> int | None:
    if word_count(line) < MIN_WORDS:
        return None
    text = " ".join(line.casefold().split())
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


_PARAGRAPHS: Final = {"document": pl.Int64, "paragraph": pl.Int64, "text": pl.String, "words": pl.Int64}


def _repeats(documents: Iterable[RawDocument]) -> tuple[dict[int, str], dict[int, dict[int, str]]]:
    """What repeats earlier text.

    Documents are compared first, so that a paragraph is dropped only if the one that it repeats is kept.

    Returns:
        Number of a document → reason; number of a document → index of a paragraph → reason.
    """
    running = (
        [(n, i, p.text, word_count(p.text)) for i, p in enumerate(document.paragraphs) if p.kind in RUNNING]
        for n, document in enumerate(documents)
    )
    wholes, long = [], []
    for batch in chain([[]], grouped(running, len, PARAGRAPHS_AT_ONCE)):  # an empty one, if there is no document
        table = pl.DataFrame([row for rows in batch for row in rows], _PARAGRAPHS, orient="row")
        wholes.append(_compared(table.group_by("document", maintain_order=True).agg(pl.col("text").str.join(" "))))
        long.append(_compared(table.filter(pl.col("words") >= PARAGRAPH_WORDS)))
    repeated = dict(_later(_clustered(wholes)).select("document", pl.col("reason") + "-document").rows())
    rest = _clustered(long).filter(~pl.col("document").is_in(list(repeated)))
    paragraphs: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for number, i, reason in _later(rest).select("document", "paragraph", pl.col("reason") + "-paragraph").rows():
        paragraphs[number][i] = reason
    return repeated, paragraphs


def _compared(texts: pl.DataFrame) -> tuple[pl.DataFrame, near_duplicates.Shingles]:
    """Rows without their text, and the shingles of the texts."""
    return texts.drop("text"), near_duplicates.shingles(texts["text"])


def _clustered(parts: Sequence[tuple[pl.DataFrame, near_duplicates.Shingles]]) -> pl.DataFrame:
    """The rows of all parts with ``key``, which is equal for equal texts, and ``cluster``, for near-duplicates too."""
    texts = near_duplicates.together([shingles for _, shingles in parts])
    rows = pl.concat([table for table, _ in parts])
    return rows.with_columns(key=pl.Series(texts.keys), cluster=near_duplicates.clusters(texts))


def _later(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that are not the first of their cluster, with the reason to drop them."""
    is_equal, is_near = (pl.int_range(pl.len()).over(column) > 0 for column in ("key", "cluster"))
    reason = pl.when(is_equal).then(pl.lit("duplicate")).otherwise(pl.lit("near-duplicate"))
    return rows.with_columns(reason=reason).filter(is_near)


class Spool(Generic[T]):
    """Stores values by key in a temporary file; iteration reads them one at a time, in the order of keys.

    The file has no name, so that it disappears when it is closed or the process is killed.
    """

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (`close` closes it)
        self._starts: dict[str | int, int] = {}

    def add(self, key: str | int, value: T) -> bool:
        """Add a value, unless there is one with this key; returns whether it was added.

        Raises:
            OSError: the disk is full.
        """
        if key in self._starts:
            return False
        self._starts[key] = self._file.seek(0, os.SEEK_END)
        pickle.dump(value, self._file, pickle.HIGHEST_PROTOCOL)
        self._file.flush()
        return True

    def __iter__(self) -> Iterator[T]:
        """The values in the order of their keys."""
        for _, start in sorted(self._starts.items()):
            self._file.seek(start)
            yield pickle.load(self._file)  # noqa: S301 (this process wrote it)

    def close(self) -> None:
        """Delete the file."""
        self._file.close()


def without_repeats(
    documents: Iterable[RawDocument], options: ReadOptions, counts: DropCounts
) -> Iterator[RawDocument]:
    """The documents without what repeats earlier text; ``counts`` counts what is dropped.

    All documents are read before the first is given. Without the option ``duplicates`` they are given as they are.
    """
    if not options.duplicates:
        yield from documents
        return
    with closing(Spool[RawDocument]()) as stored:
        repeated, paragraphs = _repeats(one for number, one in enumerate(documents) if stored.add(number, one))
        for number, document in enumerate(stored):
            if reason := repeated.get(number):
                counts.add(reason, document.source)
                continue
            rest = without(document, paragraphs.get(number, {}), counts)
            if long_enough(rest, options, counts):
                yield rest


def read_documents(source: Path | str, options: ReadOptions | None = None) -> "RawCorpus":
    """A raw corpus; iterating over it reads the documents.

    The source is a file or folder, or the id of a dataset on the Hub (``org/name``, ``hf://org/name``).

    Raises:
        DiscoprobeError: there is no such file. Errors in files are raised by iteration.
    """
    path = Path(source)
    name = str(source).removeprefix(HUB)
    if path.exists():
        return RawCorpus(path.resolve().name, path, options or ReadOptions())
    if tables.REPOSITORY.fullmatch(name):
        return RawCorpus(name, None, options or ReadOptions())
    raise DiscoprobeError(f"{source}: no such file or folder, and not the id of a dataset on the Hub (org/name)")


@dataclass(slots=True)
class RawCorpus:
    """The documents of a source; each iteration reads it again."""

    name: str  # of the file or folder, or the id of a dataset on the Hub
    path: Path | None  # None for a dataset on the Hub
    options: ReadOptions
    counts: DropCounts = field(default_factory=DropCounts)  # what was removed, complete when iteration has ended
    files: list[RawFile] = field(default_factory=list)  # that were read, by name

    def __iter__(self) -> Iterator[RawDocument]:
        """The documents in the order of their ids.

        Raises:
            CorpusFormatError: something in the source is malformed, and ``on_error`` is ``"stop"``.
            RemoteError: the Hub does not provide the dataset.
            DiscoprobeError: something cannot be read.
        """
        self.counts = DropCounts()
        with closing(Spool[Row]()) as rows:
            self._read(rows)
            yield from usable_documents(rows, self.options, self.counts)

    def _read(self, rows: Spool[Row]) -> None:
        """Add the rows of all files under unique ids: ``~2``, ``~3``, … are appended to ids that occur again."""
        again: Counter[str] = Counter()
        self.files = self._found()
        for file in self.files:
            refused, empty = self.counts.reasons["unreadable"], True
            try:
                for row in self._rows(file):
                    empty, unique = False, row.id
                    while not rows.add(unique, replace(row, id=unique)):
                        again[row.id] += 1
                        unique = f"{row.id}~{again[row.id] + 1}"
            except (UsageError, UnknownNameError, RemoteError):
                raise
            except DiscoprobeError as error:
                self.counts.refuse(error, self.options.on_error)
            if empty and refused == self.counts.reasons["unreadable"]:
                self.counts.add("empty-document", file.place)

    def _found(self) -> list[RawFile]:
        """The files of the source, by name; a dataset on the Hub counts as one without path."""
        if self.path is None:
            return [RawFile(None, self.name)]
        if self.path.is_file():
            check_kind(self.path)
            found = [RawFile(self.path, self.path.name)]
        else:
            found = files_in(self.path, self.counts)
            for ids, n in Counter(file.ids for file in found if file.ids).items():
                if n > 1:
                    problem = f"has {n} texts beside {ids.name}, which are the same documents; name the file to read"
                    raise DiscoprobeError(f"{ids.parent}: {problem}")
        for option in () if any(file.is_table for file in found) else COLUMNS:
            if column := getattr(self.options, option):
                raise UsageError(f"{self.name}: --{option} names a column, '{column}', but there is no table")
        return found

    def _rows(self, file: RawFile) -> Iterable[Row]:
        path, options = file.path, self.options
        if path is None or file.is_table:
            name = self.name if path is None or file.name == "." else file.place
            return tables.table_rows(path or self.name, name, options, self.counts)
        doc_id = document_id(file.name)
        if path.suffix.lower() in TEI:
            return read_tei(path, file.place, doc_id, self.counts, options.min_document_words)
        text, ids = read_text(path, file.place, options.encoding), file.ids
        return (
            tables.aligned_rows(text, read_text(ids, ids.name), file.place) if ids else [Row(file.place, doc_id, text)]
        )


def usable_documents(rows: Iterable[Row], options: ReadOptions, counts: DropCounts) -> Iterator[RawDocument]:
    """The documents of rows without boilerplate, unusable paragraphs and repetitions, which ``counts`` counts.

    The rows are iterated over twice.
    """
    with_lines = with_boilerplate(rows, options.boilerplate)
    documents = (row_document(row, options, counts, boilerplate) for row, boilerplate in with_lines)
    usable = filter(None, (filtered(document, options, counts) for document in documents))
    return without_repeats(usable, options, counts)
