"""The blocks in which a file is read, and the document, section and run of each sentence.

`blocks` reads a file, gzipped or not, in blocks that end between sentences. `place` makes the tables of documents and
sentences of a parsed block. How the documents of a treebank are recognised is its ``DocumentRule`` in the catalogue:
by ``# newdoc`` comments, or by sentence ids. A ``# newdoc`` without an id gets an id made of the file name and a
running number.

Sentence ids show documents if they have a stem and consecutive numbers: ``mt-03J01:1``, ``mt-03J01:2`` …
``mt-05J01:1`` are two documents. But ids of this form may also number the sentences of a split (``test-s1``) or of a
genre. So stems count as documents only with evidence: see :class:`Evidence`. Where the sentences of a stem are not in
the order of their numbers (``x:1``, ``x:10``, ``x:2``), the numbers give the order. If the ids of a file show no
documents, the comments ``reference`` and ``orig_file_sentence`` may (:data:`SOURCES`).

``# newdoc`` comments are not believed if every sentence of a file has one, if the only one of a file is before its
first sentence and its ids show documents, or if its sentences are shuffled by their ids (:func:`is_shuffled`). Then the
ids decide, and if they show no documents, there are none, which `Carried.notes` says.

A *run* is a sequence of sentences that follow each other in the original text. A run ends with its document, at a
sentence that was left out, at a comment that says so (``# gap``, ``# annotation_gap``), where the ``# source`` changes,
and at a gap in the numbers of the ids.

``# section_number = 2`` gives the number of the section itself. ``# newpar_block = head (1 s)``, as in GUM, marks a
sentence as a heading. A heading begins a section, unless it is the title at the beginning of the document. A document
that begins with a heading other than its title (``meta::title``) is an excerpt from a longer one, and has no lead.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
import zlib
from collections import Counter
from itertools import pairwise
from operator import sub
from typing import IO, TYPE_CHECKING, Any, Final, cast

import msgspec
import numpy as np
import polars as pl
from msgspec.structs import replace

from discoprobe.loaders.conllu.parse import (
    Piece,
    changes,
    position_in_block,
    read_comments,
    read_sentences,
    read_text,
)
from discoprobe.loaders.corpus import DOCUMENTS, SENTENCES
from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError
from discoprobe.loaders.hashing import document_keys, loose_sentence_keys, sentence_keys, text_keys

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discoprobe.loaders.catalogue.treebanks import DocumentRule
    from discoprobe.loaders.conllu.parse import Flags, Ints


_BETWEEN: Final = r"[-_.,:;/#|='\"]+"
PATTERNS: Final = (
    rf"^(.+?){_BETWEEN}p(?:{_BETWEEN})?(\d+)(?:{_BETWEEN})?s(?:{_BETWEEN})?(\d+)[a-zA-Z]?$",
    r"^(.+?)[.,:](\d+)[.:](\d+)[a-zA-Z]?$",
    rf"^(.+?){_BETWEEN}(?i:s|sent|sentence)?(\d+)[a-zA-Z]?['\"]?$",
)
"""Stem and numbers: paragraph and sentence (``x.p.1.s.2``, ``x-p1s2``), two numbers (``x,1.2``), one number (``x-s3``,
``x_SENT003``)."""
SOURCES: Final = ("sent_id", "plain_id", "reference", "orig_file_sentence")
"""The comments that may name the document of a sentence, in this order; ``plain_id`` is the id without a remark."""
NAMED: Final = "named_id"
"""The column with ``newdoc id`` and ``sent_id``, which may name it where every sentence has both."""
REMARK: Final = r"(\d[a-zA-Z]?)_[a-zA-Z]{2,}(?:-\d+)?$"
"""What follows the number of the sentence in an id, such as the language and year of the writer (``1-08_fr-3``)."""

SPLIT_NAME: Final = re.compile(r"(?:.*[-_.])?(?:train|dev|devel|test|valid|validation)(?:[-_.]?\d+)?", re.IGNORECASE)
LEAST_STEMS: Final = 3
LEAST_MEAN: Final = 2.0
"""Sentences per stem, on average."""
LEAST_MATCHED: Final = 0.5
"""Least share of the ids that match the pattern; sentences with other ids are in no document."""
LEAST_RISING: Final = 0.95
"""If the numbers rise in a smaller share of neighbours with the same stem, the sentences are put in their order. A few
ids are out of order in most corpora."""
LEAST_PIECE: Final = 10
"""Stems that all have the same number of sentences, at least this many, are parts into which a corpus was cut."""


class Evidence(msgspec.Struct, frozen=True):
    """Whether the stems of the sentence ids of a file are documents."""

    pattern: str  # the regular expression, whose first group is the stem
    sentences: int  # number of sentences
    matched: int  # number of ids that match the pattern
    stems: int  # number of different stems
    passages: int  # number of contiguous passages with the same stem; equal to ``stems`` if no stem occurs in two
    rising: float  # share of neighbours with the same stem whose numbers rise
    consecutive: float  # share of neighbours with the same stem with a number that differs by one, in numerical order
    source: str  # the comment that has the ids, one of :data:`SOURCES`
    objection: str  # why the stems are not documents; empty if they are

    @property
    def ordered(self) -> bool:
        """Whether the sentences of a stem stand together, in the order of their numbers."""
        return self.passages == self.stems and self.rising >= LEAST_RISING

    def __str__(self) -> str:
        if self.objection:
            return f"none: {self.objection}"
        order = f"each in one passage, numbers rise in {self.rising:.0%}" if self.ordered else "sorted by their numbers"
        return (
            f"{self.stems} by {self.source} ({self.matched} of {self.sentences} sentences): {order}, consecutive in "
            f"{self.consecutive:.0%} of the neighbours"
        )


def find_stems(ids: Sequence[str], source: str = "sent_id") -> Evidence:
    """The evidence for the first of :data:`PATTERNS` whose stems are documents.

    If there is none, for the one that most ids match.
    """
    rejected: list[Evidence] = []
    for pattern in PATTERNS:
        # If none of the first half matches, less than LEAST_MATCHED of all match.
        if pattern == PATTERNS[-1] or any(map(re.compile(pattern).match, ids[: len(ids) // 2 + 1])):
            evidence = _evidence(ids, pattern, source)
            if not evidence.objection:
                return evidence
            rejected.append(evidence)
    return max(reversed(rejected), key=lambda evidence: evidence.matched)


def _evidence(ids: Sequence[str], pattern: str, source: str) -> Evidence:
    matches = re.findall(pattern, "\n".join(ids), re.MULTILINE)
    places = [(stem, *map(int, numbers)) for stem, *numbers in matches]
    steps = _steps(places)
    sizes = Counter(stem for stem, *_ in places)
    stems, passages = len(sizes), len(places) - len(steps)
    rising = sum(after >= before for before, after in steps) / max(len(steps), 1)
    steps = steps if passages == stems and rising >= LEAST_RISING else _steps(sorted(places))
    consecutive = sum(1 in map(sub, after, before) for before, after in steps) / max(len(steps), 1)
    named = sorted(stem for stem in sizes if SPLIT_NAME.fullmatch(stem))
    size = max(sizes.values(), default=0)
    # a stem that is another stem with a number is a sentence that was divided later (``x_184_1``, ``x_184_2``)
    divided = {stem for stem in sizes if (match := re.match(pattern, stem)) and match[1] in sizes}
    several = sum(n > 1 for stem, n in sizes.items() if stem not in divided)
    kind = f"values of {source}" if source in SOURCES[2:] else "sentence ids"
    objections = {
        f"{len(places)} of {len(ids)} {kind} are a stem and a number": len(places) < LEAST_MATCHED * max(len(ids), 1),
        f"the {kind} name splits ({', '.join(named[:3])})": bool(named),
        f"the {kind} have {stems} stems": stems < LEAST_STEMS,
        f"{len(places)} sentences have {stems} stems": len(places) < LEAST_MEAN * stems,
        f"only {several} stems of the {kind} have more than one sentence": several < LEAST_STEMS,
        f"no two numbers of a stem of the {kind} are consecutive": not consecutive,
        f"all {stems} stems of the {kind} but one have {size} sentences": (
            size >= LEAST_PIECE and sum(n == size for n in sizes.values()) >= stems - 1
        ),
    }
    objection = next((words for words, holds in objections.items() if holds), "")
    return Evidence(pattern, len(ids), len(places), stems, passages, rising, consecutive, source, objection)


def _steps(places: Sequence[tuple[Any, ...]]) -> list[tuple[list[int], list[int]]]:
    """The numbers of neighbours with the same stem."""
    return [(before, after) for (stem, *before), (other, *after) in pairwise(places) if stem == other]


def by_stem(sent_ids: Iterable[str], pattern: str) -> list[str | None]:
    """The first group of a pattern in each sentence id, from its start; None where it does not match."""
    form = re.compile(pattern)
    return [match and match[1] for match in map(form.match, sent_ids)]


CHUNK: Final = 2**20
MOST_RATIO: Final = 200
"""The largest number of unpacked bytes per byte of a gzip file."""
MOST_SURE: Final = 2**26
"""The number of unpacked bytes up to which any ratio is accepted."""
SENTENCE_END: Final = b"\n\n"
NEWDOC: Final = re.compile(rb"^# ?newdoc\b", re.MULTILINE)
SENT_ID: Final = re.compile(rb"^# ?sent_id *= *(.*?) *$", re.MULTILINE)


def blocks(path: Path, size: int, rule: DocumentRule) -> Iterator[bytes]:
    r"""The text of a file, in blocks of about ``size`` bytes with ``\n`` line ends.

    A block ends before the start of a document if there is one in it, else at the end of a sentence, so a sentence is
    never cut, and memory holds one block. A file smaller than ``size`` is one block.

    Raises:
        CorpusFormatError: the file is a damaged or truncated gzip file, or one that unpacks to far more than its size.
        DiscoprobeError: the file cannot be read.
    """
    rest = b""
    for chunk in _chunks(path, size):
        text = rest + chunk
        end = _end_of_block(text, rule) if len(text) >= size else 0
        if end:
            yield text[:end]
        rest = text[end:]
    if rest:
        yield rest


def _chunks(path: Path, size: int) -> Iterator[bytes]:
    r"""Pieces of the text of a file, line ends made ``\n`` and no byte order mark."""
    held, first, unpacked, is_gzip = b"", True, 0, path.suffix == ".gz"
    try:
        with cast("IO[bytes]", gzip.open(path) if is_gzip else path.open("rb")) as file:
            stored = path.stat().st_size
            size = size if is_gzip else min(size, stored + 1)  # a larger buffer takes longer
            while data := file.read(size):
                unpacked += len(data)
                # gzip makes CoNLL-U ten times smaller, rarely thirty times
                if is_gzip and unpacked > max(MOST_SURE, MOST_RATIO * stored):
                    problem = (
                        f"unpacks to more than {MOST_RATIO} times its size: is it a corpus? If so, unpack it first"
                    )
                    raise CorpusFormatError(problem, path=str(path))
                data = (held + data).removeprefix(b"\xef\xbb\xbf" if first else b"")
                first = False
                held = b"\r" if data.endswith(b"\r") else b""
                data = data.removesuffix(held)
                yield data.replace(b"\r\n", b"\n") if b"\r" in data else data
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise CorpusFormatError(f"damaged or truncated gzip file: {error}", path=str(path)) from error
    except OSError as error:
        raise DiscoprobeError(f"{path}: cannot be read: {error.strerror}") from error
    if held:
        yield held


def _end_of_block(text: bytes, rule: DocumentRule) -> int:
    """The end of a block: before the last document that begins in the text, else after the last sentence, else 0."""
    end = text.rfind(SENTENCE_END) + len(SENTENCE_END)
    if end < len(SENTENCE_END):
        return 0
    text, start = text[:end], 0  # ``start``: a comment in the first sentence of the last document
    if rule.kind in {"auto", "newdoc"} and (comments := list(NEWDOC.finditer(text))):
        start = comments[-1].start()
    elif rule.kind in {"auto", "sent_id"}:
        ids = list(SENT_ID.finditer(text))
        names = [match[1].decode(errors="replace") for match in ids]
        evidence = find_stems(names) if rule.kind == "auto" else None
        pattern = rule.pattern if evidence is None else "" if evidence.objection else evidence.pattern
        documents = by_stem(names, pattern) if pattern else []
        changed = (i for i in range(1, len(documents)) if documents[i] != documents[i - 1])
        start = max((ids[i].start() for i in changed), default=0)
    before = text.rfind(SENTENCE_END, 0, start + 1) if start else -1
    return before + len(SENTENCE_END) if before > 0 else end


ELEMENT: Final = re.compile(r'(\w+)(?:\s+[\w:-]+:::"[^"]*")*\s*\((\d+) s\)')
"""An element of the source with its attributes, and how many sentences it has."""
NOT_RUNNING: Final = {
    "head": "heading",
    **dict.fromkeys(("caption", "figure"), "caption"),
    **dict.fromkeys(("item", "list"), "list-item"),
    **dict.fromkeys(("note", "incident"), "note"),
    **dict.fromkeys(("table", "row", "cell"), "table"),
}
"""Elements that are not running text, and the value of ``element`` for their sentences."""
SHARED: Final = 0.5
"""A heading is the title if at least this share of its words are in the title."""


def elements(comments: pl.Series, doc: Ints) -> pl.Series:
    """The column ``element`` of ``corpus.SENTENCES``: null for running text, else ``heading``, ``caption``, ….

    The innermost element decides: a paragraph in an item of a list is running text. ``hi`` is ignored, since it marks
    single words.

    Args:
        comments: ``newpar_block`` of each sentence: the elements that begin with it, outermost first; null for none.
        doc: number of the document of each sentence.
    """
    column: list[str | None] = [None] * len(doc)
    for i in np.flatnonzero(comments.is_not_null()).tolist():
        begun = [(name, int(n)) for name, n in ELEMENT.findall(comments[i]) if name != "hi" and int(n)]
        name, n = begun[-1] if begun else ("", 0)
        for at in range(i, min(i + n, len(doc))):
            column[at] = NOT_RUNNING.get(name) if doc[at] == doc[i] else column[at]
    return pl.Series("element", column, pl.String)


def sections(sentences: pl.DataFrame, element: pl.Series, doc: Ints, index: Ints, before: int) -> tuple[pl.Series, int]:
    """The section of each sentence, null for headings and in documents without sections.

    Args:
        sentences: as :class:`discoprobe.loaders.conllu.parse.Parsed` has them.
        element: of each sentence, from `elements`.
        doc: number of the document of each sentence.
        index: position of each sentence in its document.
        before: number of headings of the first document in earlier blocks of the file.

    Returns:
        The numbers of the sections, and the number of headings of the last document so far.
    """
    numbered = sentences["section_number"].cast(pl.UInt32)
    heading = element.eq_missing("heading")
    if not heading.any() and not before:
        return numbered, 0
    texts, titles, begins = sentences["text"], sentences["title"], np.zeros(len(doc), np.int64)
    for i in np.flatnonzero(heading & sentences["newpar_block"].is_not_null()).tolist():
        words, of_title = _plain_words(texts[i] or ""), _plain_words(titles[i] or "")
        # the first heading of a document is its title if they share words, or if the title is not known
        begins[i] = index[i] > 0 or (bool(of_title) and len(words & of_title) < SHARED * len(words))
    begins[0] += before
    counted = pl.DataFrame({"doc": doc, "begins": begins, "heading": heading}).select(
        number=pl.col("begins").cum_sum().over("doc"),
        inside=(pl.col("begins").sum().over("doc") > 0) & ~pl.col("heading"),
    )
    by_heading = counted.select(pl.when("inside").then("number").cast(pl.UInt32)).to_series()
    return numbered.zip_with(numbered.is_not_null(), by_heading), int(counted["number"][-1])


def _plain_words(text: str) -> set[str]:
    """The words of a text in small letters without diacritics."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return set(re.findall(r"\w+", plain))


NUMBERED: Final = 0.5
"""If at least this share of neighbours have consecutive numbers, the numbers count sentences."""
ASCENDING: Final = 0.9
"""If at least this share of neighbours have rising numbers, the sentences are a sample in the original order."""
COMPLETE: Final = 0.9
"""If a smaller share of neighbours in a paragraph have consecutive numbers, paragraphs may lack their last sentence."""

DIGITS: Final = re.compile(r"([0-9]+)")


class Carried(msgspec.Struct, frozen=True):
    """The state that a block of a file passes on to the next."""

    notes: tuple[str, ...] = ()  # why ``newdoc`` comments of the block are not believed
    doc_id: str | None = None  # the document at the end of the block
    sentences: int = 0  # number of its sentences so far
    unnamed: int = 0  # number of documents without an id in the file so far
    begun: bool = False  # whether a block of the file was read
    evidence: Evidence | None = None  # of the ids, if they decide
    headings: int = 0  # number of headings of that document so far
    key: int = 0  # of that document, made of its sentences in the block in which it begins


def document_ids(
    sentences: pl.DataFrame,
    stems: Sequence[str],
    rule: DocumentRule,
    carried: Carried,
    evidence: Mapping[int, Evidence],
) -> tuple[pl.Series, Flags]:
    """The id of the document of each sentence (null for none), and whether a document or file begins with it.

    Args:
        sentences: in the order of the text, with ``piece``, ``place_id``, ``newdoc`` and ``newdoc_id``.
        stems: name of each piece's file.
        rule: how the documents of the treebank are recognised.
        carried: the state after the block before.
        evidence: of pieces whose ids show documents, as `stem_evidence` gives it.
    """
    piece = sentences["piece"].to_numpy().astype(np.int64)
    ids, begins = pl.Series([None] * len(piece), dtype=pl.String), changes(piece)
    if rule.kind == "file":
        return pl.Series([stems[i] for i in piece.tolist()], dtype=pl.String), begins
    if rule.kind == "none":
        return ids, begins
    patterns = {number: "" if stem.objection else stem.pattern for number, stem in evidence.items()}
    if rule.kind == "sent_id":
        patterns = dict.fromkeys(piece.tolist(), rule.pattern)
    if len(patterns) < len(set(piece.tolist())):
        ids, begins = _ids_by_newdoc(sentences, stems, rule, carried)
    for number, pattern in patterns.items():
        rows = np.flatnonzero(piece == number)
        of_piece = by_stem(sentences["place_id"].gather(rows).to_list(), pattern) if pattern else [None] * len(rows)
        ids = ids.scatter(rows, pl.Series(of_piece, dtype=pl.String))
    return ids, begins | (np.isin(piece, list(patterns)) & ids.ne_missing(ids.shift()).to_numpy())


def with_place_ids(sentences: pl.DataFrame) -> pl.DataFrame:
    """Sentences with the columns of :data:`SOURCES` and :data:`NAMED` that are made of others."""
    return sentences.with_columns(
        plain_id=pl.col("sent_id").str.replace(REMARK, "$1"),
        **{NAMED: pl.format("{}|{}", "newdoc_id", "sent_id")},
    )


def stem_evidence(sentences: pl.DataFrame, rule: DocumentRule, carried: Carried) -> dict[int, Evidence]:
    """For pieces whose ids decide on documents: piece → the evidence; the first group of its pattern is the document.

    It has an objection where ``newdoc`` comments are not believed and the ids show no documents. Only the rule ``auto``
    uses ids. The first block of a large file decides for the whole file.

    Args:
        sentences: as `with_place_ids` gives them.
        rule: how the documents of the treebank are recognised.
        carried: the state after the block before.
    """
    if rule.kind != "auto" or sentences.is_empty():
        return {}
    if carried.begun:
        return {0: carried.evidence} if carried.evidence else {}
    of_piece = {}
    for part in sentences.partition_by("piece", maintain_order=True):
        begins = int(part["newdoc"].sum())
        sources: tuple[str, ...] = SOURCES
        doubt = ""
        if begins == part.height > 1:
            sources, doubt = (NAMED,), "every sentence has a newdoc comment"
        elif begins and is_shuffled(part):
            sources, doubt = SOURCES[:2], "the sentences are shuffled, by their ids"
        elif begins == 1 and part["newdoc"][0]:
            sources = SOURCES[:2]
        elif begins:
            continue
        every = [find_stems(part[source].fill_null("").to_list(), source) for source in sources]
        believed = next((evidence for evidence in every if not evidence.objection), None)
        if believed or doubt:
            evidence = believed or replace(every[0], objection=f"{doubt}, and {every[0].objection}")
            of_piece[int(part["piece"][0])] = evidence
    return of_piece


JUDGED: Final = 20
"""Fewer neighbours do not show that sentences are shuffled."""
TOGETHER: Final = 0.5
"""In shuffled sentences, a smaller share of those that are not the first of their stem follows one of the same stem."""
RISING: Final = 0.75
"""In shuffled sentences, the numbers of a smaller share of neighbours with the same stem rise; by chance it is half."""


def is_shuffled(sentences: pl.DataFrame) -> bool:
    """Whether the ids of a file with ``newdoc`` comments show that its sentences are not in the order of a text.

    So it is in UD_Bororo-BDT, whose comments stayed with the sentences that they stood before. The ids have stems that
    recur all over a document, or numbers that fall as often as they rise.
    """
    ids = sentences["sent_id"].to_list()
    evidence = find_stems(ids)
    if evidence.matched < LEAST_MATCHED * len(ids):
        return False
    form = re.compile(evidence.pattern)
    matches = [form.match(name) for name in ids]
    places = [None if match is None else (match[1], [*map(int, match.groups()[1:])]) for match in matches]
    begins = sentences["newdoc"].to_list()
    together = rising = same = n = 0
    seen: set[str] = set()
    for before, after, begin in zip([None, *places], places, begins, strict=False):
        if after is None:
            continue
        recurs, follows_same = after[0] in seen, before is not None and before[0] == after[0]
        seen.add(after[0])
        n, together = n + recurs, together + (recurs and follows_same)
        if before is not None and follows_same and not begin:
            same, rising = same + 1, rising + (after[1] > before[1])
    return (n >= JUDGED and together < TOGETHER * n) or (same >= JUDGED and rising < RISING * same)


def in_order(sentences: pl.DataFrame, evidence: Mapping[int, Evidence]) -> tuple[Ints, Flags]:
    """The order of the text, as source indices, and whether each sentence, in this order, was sorted by its id."""
    piece = sentences["piece"].to_numpy().astype(np.int64)
    order, is_sorted = np.arange(len(piece)), np.zeros(len(piece), bool)
    for number, stem in evidence.items():
        if stem.ordered or stem.objection:
            continue
        rows = np.flatnonzero(piece == number)
        ids = sentences["place_id"].gather(rows).to_list()
        matches = [re.match(stem.pattern, name) for name in ids]
        places = [("", []) if match is None else (match[1], [*map(int, match.groups()[1:])]) for match in matches]
        order[rows] = rows[sorted(range(len(rows)), key=places.__getitem__)]
        is_sorted[rows] = True
    return order, is_sorted


def _ids_by_newdoc(
    sentences: pl.DataFrame, stems: Sequence[str], rule: DocumentRule, carried: Carried
) -> tuple[pl.Series, Flags]:
    """As `document_ids`, by ``newdoc`` comments."""
    piece, newdoc = sentences["piece"].to_numpy().astype(np.int64), sentences["newdoc"].to_numpy()
    opens, outside, begins = changes(piece), np.zeros(len(piece), bool), newdoc
    if rule.pattern:  # a sentence whose id does not match it is in no document
        within = re.compile(rule.pattern)
        outside = np.array([within.match(sent_id) is None for sent_id in sentences["sent_id"].to_list()], bool)
    names = sentences["newdoc_id"].to_list()
    ids: list[str | None] = [carried.doc_id]
    unnamed = carried.unnamed
    steps = np.flatnonzero(begins | opens | outside)
    for i in steps.tolist():
        if opens[i] and i:
            unnamed = 0
        if begins[i]:
            unnamed += names[i] is None
            ids.append(None if outside[i] else names[i] or f"{stems[piece[i]]}#{unnamed}")
        else:
            ids.append(None if i or outside[i] else carried.doc_id)
    which = np.searchsorted(steps, np.arange(len(piece)), side="right")
    return pl.Series(ids, dtype=pl.String).gather(which), opens | newdoc


def gaps(ids: pl.Series, same_document: Flags, *, by_id: bool) -> Flags:
    """Where a sentence does not follow the one before it in the original text, by the numbers in their ids.

    The numbers are used only if they count sentences: if they are consecutive in most pairs of neighbours in a
    document, if they nearly always rise (then the sentences are a sample), or if the documents come from the ids. In a
    sample it is not known whether the last sentence of a paragraph is there, so that a passage ends with it.

    Args:
        ids: in the order of the text.
        same_document: whether each sentence is in the document of the one before it.
        by_id: whether the documents come from the ids.
    """
    has_gap = np.zeros(len(ids), bool)
    at = np.flatnonzero(same_document)
    if not len(at):
        return has_gap
    # the final number of each id minus that of the id before; NaN if the ids differ in anything else
    name, stem = pl.col("name"), pl.col("stem")
    stems = ids.to_frame("name").with_columns(stem=ids.str.strip_chars_end("0123456789"))
    number = name.str.slice(stem.str.len_chars()).cast(pl.Int64, strict=False)
    rises = stems.select(pl.when(stem == stem.shift()).then(number.diff()).cast(pl.Float64).fill_null(np.nan))
    steps = rises.to_series().to_numpy()[at]
    unknown = np.flatnonzero(np.isnan(steps))
    pairs = list(zip(*(ids.gather(at[unknown] - back).to_list() for back in (1, 0)), strict=True))
    strict = steps == 1
    strict[unknown] = [follows(before, after) for before, after in pairs]
    ends = np.array([step_across(before, after) for before, after in pairs], float)
    across, inside = ~np.isnan(ends), np.delete(strict, unknown)
    if across.any() and len(inside) and (ends[across] > 0).mean() < ASCENDING and inside.mean() < COMPLETE:
        strict[unknown[across]] = False
    if strict.mean() >= NUMBERED:
        has_gap[at] = ~strict
        return has_gap
    steps[unknown] = [first_step(before, after) for before, after in pairs]
    if len(unknown) >= ASCENDING * len(at) and (steps == 1).mean() >= NUMBERED:
        has_gap[at] = steps != 1
    elif by_id or (steps > 0).mean() >= ASCENDING:
        has_gap[at] = ~strict
    return has_gap


def follows(before: str, after: str) -> bool:
    """Whether two sentence ids are consecutive.

    ``a-3`` and ``a-4``; ``p2.s5`` and ``p3.s1`` (the first number that differs is one higher, those after it start
    again at 0 or 1); ``p2.s5`` and ``p3.s6`` (the last number is one higher, the one before may differ); ``s15`` and
    ``s15b``, ``s15A`` and ``s15B``, ``s15B`` and ``s16`` (a sentence that was split later).
    """
    a, b = DIGITS.split(before), DIGITS.split(after)
    numbers_a, numbers_b = [int(n) for n in a[1::2]], [int(n) for n in b[1::2]]
    differ = next((i for i, (m, n) in enumerate(zip(numbers_a, numbers_b, strict=False)) if m != n), None)
    if a[0] != b[0]:
        return False
    if differ is None and len(a) != len(b):  # a sentence that was split: a number was added, or a letter
        return len(b) == len(a) + 2 and int(b[-2]) in {1, 2}
    if differ is None:
        x, y = a[-1].strip("-_."), b[-1].strip("-_.")
        if len(y) != 1 or len(x) > 1:
            return y == "bis" and not x
        return y.lower() in "ab" if not x else ord(y) == ord(x) + 1
    rest = numbers_b[differ + 1 :]
    if numbers_b[differ] == numbers_a[differ] + 1 and all(n <= 1 for n in rest):
        return True
    return len(numbers_a) == len(numbers_b) and numbers_b[-1] == numbers_a[-1] + 1 and differ >= len(numbers_a) - 2


def step_across(before: str, after: str) -> float:
    """The difference of the last numbers of two ids if an earlier number differs (``p2.s5``, ``p3.s1``), else NaN."""
    a, b = DIGITS.split(before), DIGITS.split(after)
    if len(a) != len(b) or len(a) < len(("", "2", "-", "5", "")) or a[::2] != b[::2] or a[:-2] == b[:-2]:
        return np.nan
    return int(b[-2]) - int(a[-2])


def first_step(before: str, after: str) -> int:
    """The difference of the first numbers that differ; 0 if the text between the numbers differs before them."""
    for x, y in zip(DIGITS.split(before), DIGITS.split(after), strict=False):
        if x != y:
            return int(y) - int(x) if x.isdigit() and y.isdigit() else 0
    return 0


def place(  # noqa: PLR0913, PLR0917 (what the tables depend on)
    sentences: pl.DataFrame, corpus: str, stems: Sequence[str], rule: DocumentRule, carried: Carried,
    made_up: Collection[str] = (),
) -> tuple[pl.DataFrame, pl.DataFrame, Carried]:  # fmt: skip
    """The document and sentence tables of parsed sentences, in source order.

    Args:
        sentences: as :class:`discoprobe.loaders.conllu.parse.Parsed` has them.
        corpus: name of the treebank.
        stems: name of each piece's file.
        rule: how the documents of the treebank are recognised.
        carried: the state after the block before.
        made_up: ids of documents that are no part of their content, beside those that are made of names of files.

    Returns:
        The tables, and the state after the block.
    """
    sentences = with_place_ids(sentences)
    evidence = stem_evidence(sentences, rule, carried)
    source = pl.col("piece").replace_strict(
        {number: stem.source for number, stem in evidence.items()}, default=SOURCES[0], return_dtype=pl.String
    )
    place_id = pl.coalesce(pl.when(source == name).then(pl.col(name).fill_null("")) for name in (*SOURCES, NAMED))
    sentences = sentences.with_columns(place_id=place_id)
    order, is_sorted = in_order(sentences, evidence)
    sentences = sentences[order]
    ids, begins = document_ids(sentences, stems, rule, carried, evidence)
    names = ids.to_list()
    # sentences outside documents are in one row for each genre
    owners = [(name, genre if name is None else None) for name, genre in zip(names, sentences["genre"], strict=True)]
    numbers = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    doc = np.array([numbers[owner] for owner in owners], np.int64)
    by_doc = np.argsort(doc, kind="stable")
    index = np.empty_like(by_doc)
    index[by_doc] = position_in_block(doc[by_doc])
    goes_on = bool(names) and names[0] is not None and names[0] == carried.doc_id
    index[doc == 0] += carried.sentences if goes_on else 0
    inside = ids.is_not_null().to_numpy()
    breaks = begins | ~inside | sentences["gap"].to_numpy() | _other_source(sentences)
    breaks[1:] |= (np.diff(sentences["number"].to_numpy().astype(np.int64)) != 1) & ~is_sorted[1:]
    breaks |= gaps(sentences["place_id"], ~begins & inside, by_id=rule.kind == "sent_id" or bool(evidence))
    element = elements(sentences["newpar_block"], doc)
    section, headings = sections(sentences, element, doc, index, carried.headings if goes_on else 0)
    texts, sent_ids = sentences["text"].to_list(), sentences["sent_id"].to_list()
    made_up = {*made_up, *_made_of_file_names(sentences, ids, stems, rule)}
    ends = np.cumsum(np.bincount(doc, minlength=len(numbers)))
    texts_by_doc = [texts[at] for at in by_doc.tolist()]
    of_documents = document_keys(
        [None if name in made_up else name for name, _ in numbers],
        (texts_by_doc[end - n : end] for end, n in zip(ends.tolist(), np.bincount(doc).tolist(), strict=True)),
    ).to_numpy().copy()  # fmt: skip
    if goes_on:
        of_documents[0] = carried.key
    keys, outside = sentence_keys(of_documents[doc], index), np.flatnonzero(~inside)
    keys[outside] = loose_sentence_keys([sent_ids[at] for at in outside], [texts[at] for at in outside]).to_numpy()
    columns = {
        "sent": order.astype(np.uint32),
        "doc": doc.astype(np.uint32),
        "index": index.astype(np.uint32),
        "run": pl.Series(np.cumsum(breaks) - 1, dtype=pl.UInt32),
        "key": keys,
        "text_key": text_keys(texts),
        "section": section,
        "element": element,
    }
    placed = pl.DataFrame({name: columns[name] if name in columns else sentences[name] for name in SENTENCES})
    placed = placed.sort("sent")
    # documents in the order of their first sentences; a document whose sentences differ in genre has none
    genres = pl.col("genre").drop_nulls().unique()
    documents = (
        pl.DataFrame({"doc": doc, "genre": sentences["genre"]}, {"doc": pl.UInt32, "genre": pl.String})
        .group_by("doc", maintain_order=True)
        .agg(pl.when(genres.len() == 1).then(genres.first()).alias("genre"), pl.len().alias("n_sentences"))
        .with_columns(
            pl.lit(corpus).alias("corpus"),
            pl.Series("doc_id", [name for name, _ in numbers], pl.String),
            pl.Series("key", of_documents, pl.UInt64),
            pl.col("n_sentences").cast(pl.UInt32),
        )
        .select(*DOCUMENTS)
    )
    if names:
        newdoc = sentences["newdoc"].to_numpy()
        refused = {number: stem.objection for number, stem in evidence.items() if stem.objection and not carried.begun}
        sizes = sentences.group_by("piece").len()
        n_sentences = dict(sizes.iter_rows())
        carried = Carried(
            notes=tuple(f"{stems[n]}: no documents in {n_sentences[n]:,} sentences: {refused[n]}" for n in refused),
            doc_id=names[-1],
            sentences=0 if names[-1] is None else int(index[-1]) + 1,
            unnamed=carried.unnamed + int((newdoc & sentences["newdoc_id"].is_null().to_numpy()).sum()),
            begun=True,
            evidence=evidence.get(0),
            key=int(of_documents[doc[-1]]),
        )
    return documents, placed, replace(carried, headings=headings)


def _other_source(sentences: pl.DataFrame) -> Flags:
    """Whether the ``# source`` of a sentence is another one than that of the sentence before.

    Sources divide texts only if each stands together and most have several sentences: an address or page may be that of
    one sentence, and a remark in it may come and go (UD_Portuguese-Bosque).
    """
    source = sentences["source"]
    different = (source != source.shift()).fill_null(value=False).to_numpy()
    distinct = source.drop_nulls().n_unique()
    if source.count() < LEAST_MEAN * distinct or different.sum() >= max(distinct, 1):
        return np.zeros(len(source), bool)
    return different


def _made_of_file_names(
    sentences: pl.DataFrame, ids: pl.Series, stems: Sequence[str], rule: DocumentRule
) -> frozenset[str]:
    """The ids of documents that the corpus does not give: they are made of the names of files."""
    if rule.kind == "file":
        return frozenset(stems)
    stem = pl.col("piece").replace_strict(dict(enumerate(stems)), return_dtype=pl.String)
    unnamed = sentences.with_columns(_doc=ids).filter(
        "newdoc", pl.col("newdoc_id").is_null(), pl.col("_doc").str.starts_with(pl.format("{}#", stem))
    )
    return frozenset(unnamed["_doc"])


def explain_documents(path: Path, rule: DocumentRule) -> str:
    """How the documents of a file are recognised, in words: the rule of its treebank, or its comments and ids.

    Raises:
        DiscoprobeError: the file cannot be read.
    """
    if rule.kind != "auto":
        return f"{rule} (catalogue)"
    text = read_text([Piece(path.name, b"".join(blocks(path, 2**24, rule)))])
    rows = pl.DataFrame({"block": text.block[~text.is_comment & ~text.is_blank]})
    sentences = with_place_ids(read_sentences(text, read_comments(text), rows))
    if evidence := stem_evidence(sentences, rule, Carried()):
        return str(evidence[0])
    if n := int(sentences["newdoc"].sum()):
        return f"{n} by newdoc"
    return str(find_stems(sentences["sent_id"].to_list()))
