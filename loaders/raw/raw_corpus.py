"""Reads raw text from a file, a folder, a table or a dataset, as documents in the order of their ids.

The files of a source give rows, and these give documents (``usable_documents``): lines that recur in many documents are
removed, then unusable paragraphs (by letters, length, script and language), then paragraphs and documents that repeat
earlier ones. What recurs or repeats is known only after all documents were read; until then hashes of the text are in
memory, and the text is in a temporary file.

The documents depend on ids and contents only: text files, a table and a dataset with the same texts give the same
documents. Memory holds few documents, and hashes of all.

The language of a text is identified with py3langid, a naive Bayes classifier on byte n-grams that includes its model.
Measured on 600 news segments in each of 20 languages (NTREX-128): of the segments with 50 letters or more at most two
per language are classified wrongly (three of 145 in Chinese), except that Indonesian and Malay are confused. No wrong
answer has a probability above 0.83.
"""

import math
import os
import pickle  # noqa: TID251 (in a temporary file of this process)
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from hashlib import blake2b
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import polars as pl
from msgspec import field
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import softmax

from discoprobe.loaders import near_duplicates
from discoprobe.loaders.catalogue.treebanks import HUB
from discoprobe.loaders.errors import DiscoprobeError, RemoteError, UnknownNameError, UsageError
from discoprobe.loaders.files import File
from discoprobe.loaders.languages.language import script_share
from discoprobe.loaders.raw.document import (
    RUNNING,
    DropCounts,
    Paragraph,
    RawDocument,
    ReadOptions,
    group_by_size,
    with_gaps,
)
from discoprobe.loaders.raw.plain_text import HEADING, inner_sentences, lines_of, row_document
from discoprobe.loaders.raw.text_rows import find_files, place_of, rows_in
from discoprobe.loaders.words import word_count

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
"""The id of a dataset on the Hub."""
MIN_WORDS: Final = 4
"""A line with fewer words is not boilerplate: short exclamations and answers recur in every novel."""
SHARE: Final = 0.002
"""In large corpora, the share of the documents in which a line must occur to be boilerplate."""
CERTAIN: Final = 0.9
"""A paragraph is in another language if the probability of that language is at least this."""
# fmt: off
SAME: Final = tuple(frozenset(languages.split()) for languages in (
    "bs hr sh sr cnr", "id ms", "nb nn no", "yue wuu zh lzh", "ar ary arz apc ajp", "grc el", "he hbo", "es ext",
    "it vec lij",
))
# fmt: on
"""Groups of languages that the classifier confuses or does not distinguish; each group counts as one language."""
MIN_LETTERS: Final = 50
"""Texts with fewer letters are not classified."""
CHARACTERS: Final = 500
"""Number of characters at the beginning of a text that are classified."""
FILTERED_AT_ONCE: Final = 1_000_000
"""Characters of documents whose languages are identified together."""
TEXTS_AT_ONCE: Final = 2_000
"""Texts that the classifier reads together; it bounds memory, which grows with the longest of them."""
PARAGRAPH_WORDS: Final = 8
"""Paragraphs with fewer words are not dropped as repetitions, since short ones recur in every novel."""
PARAGRAPHS_AT_ONCE: Final = 10_000
"""Number of paragraphs whose text is in memory at a time."""


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
    if REPOSITORY.fullmatch(name):
        return RawCorpus(name, None, options or ReadOptions())
    raise DiscoprobeError(f"{source}: no such file or folder, and not the id of a dataset on the Hub (org/name)")


class Spool:
    """Stores documents by key in a temporary file; iteration reads them one at a time, in the order of keys.

    The file has no name, so that it disappears when it is closed or the process is killed.
    """

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (`close` closes it)
        self._starts: dict[str | int, int] = {}

    def add(self, key: str | int, value: RawDocument) -> bool:
        """Add a document, unless there is one with this key; returns whether it was added.

        Raises:
            OSError: the disk is full.
        """
        if key in self._starts:
            return False
        self._starts[key] = self._file.seek(0, os.SEEK_END)
        pickle.dump(value, self._file, pickle.HIGHEST_PROTOCOL)
        self._file.flush()
        return True

    def __iter__(self) -> Iterator[RawDocument]:
        """The documents in the order of their keys."""
        for _, start in sorted(self._starts.items()):
            self._file.seek(start)
            yield pickle.load(self._file)  # noqa: S301 (this process wrote it)

    def close(self) -> None:
        """Delete the file."""
        self._file.close()


class RawCorpus(msgspec.Struct):
    """The documents of a source; each iteration reads it again."""

    name: str  # of the file or folder, or the id of a dataset on the Hub
    path: Path | None  # None for a dataset on the Hub
    options: ReadOptions
    counts: DropCounts = field(default_factory=DropCounts)  # what was removed, complete when iteration has ended
    files: list[File] = field(default_factory=list)  # that were read, by name

    def __iter__(self) -> Iterator[RawDocument]:
        """The documents in the order of their ids.

        Raises:
            CorpusFormatError: something in the source is malformed, and ``on_error`` is ``"stop"``.
            RemoteError: the Hub does not provide the dataset.
            DiscoprobeError: something cannot be read.
        """
        self.counts = DropCounts()
        self.files = find_files(self.name, self.path, self.options, self.counts)
        repeated: Counter[str] = Counter()  # ids; to those that occur again ``~2``, ``~3``, … are appended
        with closing(Spool()) as rows:
            for file in self.files:
                refused, empty = self.counts.reasons["unreadable"], True
                try:
                    for row in rows_in(file, self.name, self.options, self.counts):
                        empty, unique = False, row.doc_id
                        if among := self.options.among:
                            text = row.source_text or " ".join(each.text for each in row.paragraphs)
                            if language_among(text, among) != self.options.lang:
                                self.counts.add("other-language", row.source)
                                continue
                        while not rows.add(unique, replace(row, doc_id=unique)):
                            repeated[row.doc_id] += 1
                            unique = f"{row.doc_id}~{repeated[row.doc_id] + 1}"
                except (UsageError, UnknownNameError, RemoteError):
                    raise
                except DiscoprobeError as error:
                    self.counts.refuse(error, self.options.on_error)
                if empty and refused == self.counts.reasons["unreadable"]:
                    self.counts.add("empty-document", place_of(file))
            yield from usable_documents(rows, self.options, self.counts)


def usable_documents(rows: Iterable[RawDocument], options: ReadOptions, counts: DropCounts) -> Iterator[RawDocument]:
    """The documents of rows without boilerplate, unusable paragraphs and repetitions, which ``counts`` counts.

    The rows are iterated over twice. If they are a list, the documents are kept in memory, else in a temporary file.
    """
    with_lines = with_boilerplate(rows, options.boilerplate)
    documents = (row_document(row, options, counts, boilerplate) for row, boilerplate in with_lines)
    groups = group_by_size(documents, lambda document: len(document.source_text), FILTERED_AT_ONCE)
    usable = chain.from_iterable(filter_paragraphs(group, options, counts) for group in groups)
    return drop_repeats(list(usable) if isinstance(rows, list) else usable, options, counts)


def with_boilerplate(rows: Iterable[RawDocument], least: int) -> Iterator[tuple[RawDocument, Collection[str]]]:
    """Each row with its boilerplate: the lines of its plain text that occur in at least ``least`` documents.

    In a large corpus more documents are required (``SHARE``); if ``least`` is 0, there is no boilerplate. Headings and
    short lines are never boilerplate, and a text that has only such lines keeps them. The rows are iterated over twice.
    """
    texts = (row.source_text for row in rows if not row.paragraphs) if least else ()
    keys = [np.array([*{*_line_keys(text).values()} - {None}], np.uint64) for text in texts]
    lines, documents = np.unique(np.concatenate([*keys, np.empty(0, np.uint64)]), return_counts=True)
    recurring = frozenset(lines[documents >= max(least, round(SHARE * len(keys)))].tolist())
    of_texts = iter(keys)
    for row in rows:
        of_row = next(of_texts, ()) if not row.paragraphs else ()
        key_of = {} if recurring.isdisjoint(map(int, of_row)) else _line_keys(row.source_text)
        boilerplate = {line for line, key in key_of.items() if key in recurring}
        yield row, boilerplate if len(boilerplate) < len(key_of) else ()


def _line_keys(source: str) -> dict[str, int | None]:
    """The lines of a text that have a letter and are not headings → hash, or None for a short line."""
    keys: dict[str, int | None] = {}
    for line in dict.fromkeys(line.text for line in lines_of(source)):
        if any(map(str.isalpha, line)) and not HEADING.match(line):
            text = " ".join(line.casefold().split()).encode(errors="surrogatepass")
            is_short = word_count(line) < MIN_WORDS
            keys[line] = None if is_short else int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    return keys


def filter_paragraphs(
    documents: Sequence[RawDocument], options: ReadOptions, counts: DropCounts
) -> Iterator[RawDocument]:
    """Documents without unusable paragraphs; none of which too little is left, or most is in another language."""
    lang = options.lang
    is_classified = bool(lang and options.language_share and is_known(lang))
    divided = []
    for document in documents:
        parts = chain.from_iterable(
            _split_long(paragraph, document.source, options.max_characters, counts) for paragraph in document.paragraphs
        )
        divided.append(replace(document, paragraphs=tuple(with_gaps(parts))))
    reasons: list[dict[int, str]] = [{} for _ in divided]
    running: list[tuple[int, int, str]] = []  # number of a document, index of a paragraph, its text
    for number, document in enumerate(divided):
        for i, paragraph in enumerate(document.paragraphs):
            if not any(map(str.isalpha, paragraph.text)):
                reasons[number][i] = "no-letters"
            elif paragraph.kind not in RUNNING:
                continue
            elif lang and script_share(paragraph.text, lang) < options.script_share:
                reasons[number][i] = "script"
            else:
                running.append((number, i, paragraph.text))
    long = [is_classified and sum(map(str.isalpha, text[:CHARACTERS])) >= MIN_LETTERS for _, _, text in running]
    judged = iter(probabilities([text for (_, _, text), asked in zip(running, long, strict=True) if asked], lang))
    # characters of paragraphs whose language is identified, by document; True: that of the corpus
    sizes: defaultdict[int, Counter[bool]] = defaultdict(Counter)
    for (number, i, text), asked in zip(running, long, strict=True):
        if asked:
            same, other = next(judged)
            sizes[number][same >= other] += len(text)
            if other >= CERTAIN:
                reasons[number][i] = "paragraph-language"
                continue
        if options.min_words > 1 and word_count(text) < options.min_words:
            reasons[number][i] = "short-paragraph"
    for number, document in enumerate(divided):
        rest, of_document = drop_paragraphs(document, reasons[number], counts), sizes[number]
        if of_document and of_document[True] / of_document.total() < options.language_share:
            counts.add("document-language", document.source)
        elif is_long_enough(rest, options, counts):
            yield rest


def _split_long(paragraph: Paragraph, source: str, longest: int, counts: DropCounts) -> Iterator[Paragraph | None]:
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


@cache
def is_known(lang: str) -> bool:
    """Whether the classifier knows a language, or one that counts as the same."""
    return not _same_as(lang).isdisjoint(_classifier().nb_classes)


def check_languages(among: Sequence[str]) -> None:
    """Raise an error if texts of several languages cannot be told apart.

    Raises:
        UsageError: the classifier does not know a language, or confuses two.
    """
    for number, lang in enumerate(among):
        other = next((other for other in among[:number] if other in _same_as(lang)), "")
        if other or not is_known(lang):
            why = f"texts of {other} and {lang} cannot be told apart" if other else f"{lang} cannot be told from others"
            raise UsageError(f"{why}; annotate each from a folder of its own")


def language_among(text: str, among: Sequence[str]) -> str:
    """The most probable of some languages for a text, however short it is."""
    return max(among, key=lambda lang: probabilities([text], lang)[0][0])


def probabilities(texts: Sequence[str], lang: str) -> list[tuple[float, float]]:
    """The probability that each text is in a language, and that of the most probable other language.

    They are those of ``LanguageIdentifier.rank``. Its automaton reads many texts at once, byte by byte, so that Python
    runs once for a byte of the longest text and not of every text.
    """
    if not hasattr(_classifier(), "tk_row"):
        return [_ranked(text, lang) for text in texts]
    starts = range(0, len(texts), TEXTS_AT_ONCE)
    return [pair for start in starts for pair in _probabilities(texts[start : start + TEXTS_AT_ONCE], lang)]


def _ranked(text: str, lang: str) -> tuple[float, float]:
    """The same for one text by the model of py3langid before 0.4, which knows fewer languages."""
    (short,) = _beginnings([text])
    ranked = [(name in _same_as(lang), float(share)) for name, share in _classifier().rank(short)]
    own, other = ([share for is_same, share in ranked if is_same is same] for same in (True, False))
    return sum(own), max(other, default=0.0)


def _beginnings(texts: Sequence[str]) -> list[str]:
    """What of each text is looked at: capitals say nothing of a text that has no other letters."""
    return [text[:CHARACTERS].lower() if text[:CHARACTERS].isupper() else text[:CHARACTERS] for text in texts]


def _probabilities(texts: Sequence[str], lang: str) -> list[tuple[float, float]]:
    model, (row, next_state, feature_of, names, columns) = _classifier(), _tables()
    short = _beginnings(texts)
    encoded = [unicodedata.normalize("NFC", text).encode(errors="surrogatepass") for text in short]
    lengths = np.array([len(each) for each in encoded])
    longest_first = np.argsort(-lengths, kind="stable")
    read = np.zeros((max(1, int(lengths.max())), len(texts)), np.uint8)
    for place, number in enumerate(longest_first):
        read[: lengths[number], place] = np.frombuffer(encoded[number], np.uint8)
    features = np.full(read.shape, -1, np.int32)
    state = np.zeros(len(texts), np.int64)
    left = np.searchsorted(-lengths[longest_first], -np.arange(len(read)))  # texts that are longer than so many bytes
    for at, n in enumerate(left):
        state[:n] = next_state[(row[state[:n]] << 8) + read[at, :n]]
        features[at, :n] = feature_of[state[:n]]
    of_text, feature = np.nonzero(features >= 0)[1], features[features >= 0]
    pairs, n_visits = np.unique(of_text * len(model.nb_ptc) + feature, return_counts=True)
    used, column = np.unique(pairs % len(model.nb_ptc), return_inverse=True)
    visits = csr_array(
        (np.log1p(n_visits, dtype=np.float32), (pairs // len(model.nb_ptc), column)), shape=(len(texts), len(used))
    )
    scores = (visits @ model.nb_ptc[used].astype(np.float32) + model.nb_pc) * (np.diff(visits.indptr) > 0)[:, None]
    scores /= np.sqrt(np.maximum(1, lengths[longest_first]))[:, None]
    shares = softmax(scores, axis=1) @ columns  # by language: a language with two scripts has two classes
    same = np.array([name in _same_as(lang) for name in names])
    both = np.column_stack([shares[:, same].sum(axis=1), shares[:, ~same].max(axis=1)])
    return [(float(own), float(other)) for own, other in both[np.argsort(longest_first)]]


def _same_as(lang: str) -> frozenset[str]:
    return next((languages for languages in SAME if lang in languages), frozenset({lang}))


@cache
def _tables() -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int32], list[str], NDArray[np.float32]]:
    """The automaton of the classifier, and which classes are which language.

    Row of the table of each state; the next state by row and byte; the feature of each state, or -1; the languages; and
    1 for each class (rows) that is one of a language (columns).
    """
    model = _classifier()
    names = model.labels
    columns = np.array([[label == name for name in names] for label in model.nb_classes], np.float32)
    row = np.array(model.tk_row, np.int64)
    return row, np.frombuffer(model.tk_nextmove, np.uint32), np.array(model.tk_output, np.int32), names, columns


@cache
def _classifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    load = getattr(LanguageIdentifier, "from_model_file", None) or LanguageIdentifier.from_pickled_model
    return load(MODEL_FILE, norm_probs=True)


def drop_paragraphs(document: RawDocument, reasons: Mapping[int, str], counts: DropCounts) -> RawDocument:
    """A document without some paragraphs: ``reasons`` maps their indices to the reasons, which are counted."""
    for reason in reasons.values():
        counts.add(reason, document.source)
    rest = with_gaps(None if i in reasons else paragraph for i, paragraph in enumerate(document.paragraphs))
    return replace(document, paragraphs=tuple(rest))


def is_long_enough(document: RawDocument, options: ReadOptions, counts: DropCounts) -> bool:
    """Whether a document has enough words of running text; if not, it is counted as dropped."""
    words = 0
    for paragraph in document.running:
        words += word_count(paragraph.text)
        if words >= max(options.min_document_words, 1):
            return True
    counts.add("short-document" if words else "empty-document", document.source)
    return False


def drop_repeats(documents: Iterable[RawDocument], options: ReadOptions, counts: DropCounts) -> Iterator[RawDocument]:
    """The documents without what repeats earlier text; ``counts`` counts what is dropped.

    All documents are read before the first is given; those that are no list are stored in a temporary file. Without the
    option ``duplicates`` they are given as they are.
    Documents are compared first, so that a paragraph is dropped only if the one that it repeats is kept.
    """
    if not options.duplicates:
        yield from documents
        return
    with closing(Spool()) as spool:
        stored = documents if isinstance(documents, list) else spool
        columns = {"document": pl.Int64, "paragraph": pl.Int64, "text": pl.String, "words": pl.Int64}
        running = (
            [(n, i, p.text, word_count(p.text)) for i, p in enumerate(document.paragraphs) if p.kind in RUNNING]
            for n, document in enumerate(documents)
            if stored is documents or spool.add(n, document)
        )
        texts, long = [], []  # of documents, and of long paragraphs
        for batch in chain([[]], group_by_size(running, len, PARAGRAPHS_AT_ONCE)):  # [] if there is no document
            table = pl.DataFrame([row for rows in batch for row in rows], columns, orient="row")
            texts.append(_shingled(table.group_by("document", maintain_order=True).agg(pl.col("text").str.join(" "))))
            long.append(_shingled(table.filter(pl.col("words") >= PARAGRAPH_WORDS)))
        dropped = dict(_find_repeats(texts).select("document", pl.col("reason") + "-document").rows())
        reasons: defaultdict[int, dict[int, str]] = defaultdict(dict)  # number of a document → index of a paragraph
        repeats = _find_repeats(long, dropped).select("document", "paragraph", pl.col("reason") + "-paragraph")
        for number, i, reason in repeats.rows():
            reasons[number][i] = reason
        for number, document in enumerate(stored):
            if number in dropped:
                counts.add(dropped[number], document.source)
                continue
            rest = drop_paragraphs(document, reasons[number], counts)
            if is_long_enough(rest, options, counts):
                yield rest


def _shingled(texts: pl.DataFrame) -> tuple[pl.DataFrame, near_duplicates.Shingles]:
    """Rows without their text, and the shingles of the texts."""
    return texts.drop("text"), near_duplicates.shingles(texts["text"])


def _find_repeats(
    parts: Sequence[tuple[pl.DataFrame, near_duplicates.Shingles]], without: Collection[int] = ()
) -> pl.DataFrame:
    """The rows that repeat an earlier one, with ``reason``; rows of the documents ``without`` are ignored."""
    texts = near_duplicates.together([shingles for _, shingles in parts])
    rows = pl.concat([table for table, _ in parts])
    rows = rows.with_columns(key=pl.Series(texts.keys), cluster=near_duplicates.clusters(texts))
    rows = rows.filter(~pl.col("document").is_in([*without]))
    is_equal, is_near = (pl.int_range(pl.len()).over(column) > 0 for column in ("key", "cluster"))
    reason = pl.when(is_equal).then(pl.lit("duplicate")).otherwise(pl.lit("near-duplicate"))
    return rows.with_columns(reason=reason).filter(is_near)
