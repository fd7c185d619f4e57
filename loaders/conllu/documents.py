"""Finds the document of each sentence, and the gaps where sentences of the original text are missing.

How the documents of a treebank are recognised is its ``DocumentRule`` in the catalogue. A ``# newdoc`` without an id
gets an id made of the file name and a running number.

A *run* is a sequence of sentences that follow each other in the original text. A run ends with its document, at a
sentence that was left out, and at a gap in the numbers of the ``sent_id``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from discoprobe.loaders.conllu.blocks import NEWDOC, SENT_ID, blocks
from discoprobe.loaders.conllu.sections import elements, sections
from discoprobe.loaders.conllu.sent_id_stems import by_stem, find_stems
from discoprobe.loaders.conllu.word_lines import changes, position_in_block
from discoprobe.loaders.corpus import DOCUMENTS, SENTENCES
from discoprobe.loaders.keys import record_keys, text_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discoprobe.loaders.catalogue.pins import DocumentRule
    from discoprobe.loaders.conllu.word_lines import Flags, Ints

NUMBERED: Final = 0.5
"""If at least this share of neighbours have consecutive numbers, the numbers count sentences."""
ASCENDING: Final = 0.9
"""If at least this share of neighbours have rising numbers, the sentences are a sample in the original order."""

DIGITS: Final = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True)
class Carried:
    """The state that a block of a file passes on to the next."""

    doc_id: str | None = None  # the document at the end of the block
    sentences: int = 0  # number of its sentences so far
    unnamed: int = 0  # number of documents without an id in the file so far
    marked: bool | None = None  # whether the file's ``newdoc`` comments mark documents; None before its first sentence
    pattern: str = ""  # gives the document of a sentence id (`stem_patterns`); empty if ids do not show documents
    headings: int = 0  # number of headings of that document so far


def document_ids(
    sentences: pl.DataFrame,
    stems: Sequence[str],
    rule: DocumentRule,
    carried: Carried,
    patterns: Mapping[int, str],
) -> tuple[pl.Series, Flags]:
    """The id of the document of each sentence (null for none), and whether a document or file begins with it.

    Args:
        sentences: in source order, with ``piece``, ``sent_id``, ``newdoc`` and ``newdoc_id``.
        stems: name of each piece's file.
        rule: how the documents of the treebank are recognised.
        carried: the state after the block before.
        patterns: piece → pattern, as :func:`stem_patterns` gives them.
    """
    piece = sentences["piece"].to_numpy().astype(np.int64)
    opens = np.ones(len(piece), bool)
    opens[1:] = piece[1:] != piece[:-1]
    if rule.kind == "file":
        return pl.Series([stems[i] for i in piece.tolist()], dtype=pl.String), opens
    if rule.kind == "none":
        return pl.Series([None] * len(piece), dtype=pl.String), opens
    if rule.kind == "sent_id":
        patterns = dict.fromkeys(piece.tolist(), rule.pattern)
    if len(patterns) == len(set(piece.tolist())):
        ids, begins = pl.Series([None] * len(piece), dtype=pl.String), opens
    else:
        ids, begins = _marked(sentences, stems, opens, carried, rule)
    for number, pattern in patterns.items():
        rows = np.flatnonzero(piece == number)
        names = pl.Series(by_stem(sentences["sent_id"].gather(rows).to_list(), pattern), dtype=pl.String)
        ids = ids.scatter(rows, names)
    return ids, begins | (np.isin(piece, list(patterns)) & ids.ne_missing(ids.shift()).to_numpy())


def stem_patterns(sentences: pl.DataFrame, rule: DocumentRule, carried: Carried) -> dict[int, str]:
    """For pieces whose sentence ids show documents: piece → the pattern whose first group is the document.

    Only the rule ``auto`` uses such patterns, for files without ``newdoc`` comments. The first block of a large file
    decides for the whole file.
    """
    if rule.kind != "auto" or sentences.is_empty():
        return {}
    if carried.marked is not None:
        return {0: carried.pattern} if carried.pattern else {}
    piece, newdoc, sent_ids = (sentences[name] for name in ("piece", "newdoc", "sent_id"))
    first = np.flatnonzero(changes(piece.to_numpy()))
    found = {}
    for start, n in zip(first.tolist(), np.diff(first, append=len(piece)).tolist(), strict=True):
        stems = None if newdoc.slice(start, n).any() else find_stems(sent_ids.slice(start, n).to_list())
        if stems and not stems.objection:
            found[int(piece[start])] = stems.pattern
    return found


def _marked(
    sentences: pl.DataFrame,
    stems: Sequence[str],
    opens: Flags,
    carried: Carried,
    rule: DocumentRule,
) -> tuple[pl.Series, Flags]:
    """As `document_ids`, by ``newdoc`` comments; the rule ``auto`` ignores them if every sentence of a file has one."""
    piece = sentences["piece"].to_numpy().astype(np.int64)
    newdoc = sentences["newdoc"].to_numpy()
    marks = newdoc if rule.kind == "newdoc" else newdoc & _is_marked(piece, newdoc, carried)[piece]
    outside = _outside(sentences["sent_id"], rule.pattern)
    given = sentences["newdoc_id"].to_list()
    ids: list[str | None] = [carried.doc_id]
    unnamed = carried.unnamed
    steps = np.flatnonzero(marks | opens | outside)
    for i in steps.tolist():
        if opens[i] and i:
            unnamed = 0
        if marks[i]:
            unnamed += given[i] is None
            ids.append(None if outside[i] else given[i] or f"{stems[piece[i]]}#{unnamed}")
        else:
            ids.append(None if i or outside[i] else carried.doc_id)
    which = np.searchsorted(steps, np.arange(len(piece)), side="right")
    return pl.Series(ids, dtype=pl.String).gather(which), opens | newdoc


def _outside(sent_ids: pl.Series, pattern: str) -> Flags:
    """Whether each sentence is in no document, because its id does not match the pattern; False without a pattern."""
    if not pattern:
        return np.zeros(len(sent_ids), bool)
    within = re.compile(pattern)
    return np.array([within.match(sent_id) is None for sent_id in sent_ids.to_list()], bool)


def _is_marked(piece: Ints, newdoc: Flags, carried: Carried) -> Flags:
    """Whether the ``newdoc`` comments of each piece mark documents: not if each of several sentences has one.

    The first block of a large file decides for the whole file.
    """
    sizes = np.bincount(piece)
    if carried.marked is not None:
        return np.full(len(sizes), carried.marked)
    return (sizes <= 1) | (np.bincount(piece, weights=newdoc) < sizes)


def gaps(sent_ids: pl.Series, same_document: Flags, *, by_id: bool) -> Flags:
    """Where a sentence does not follow the one before it in the original text, by the numbers in their ids.

    The numbers are used only if they count sentences: if they are consecutive in most pairs of neighbours in a
    document, if they nearly always rise (then the sentences are a sample), or if the documents come from the ids.

    Args:
        sent_ids: in source order.
        same_document: whether each sentence is in the document of the one before it.
        by_id: whether the documents come from the ids.
    """
    has_gap = np.zeros(len(sent_ids), bool)
    at = np.flatnonzero(same_document)
    if not len(at):
        return has_gap
    steps = _rises(sent_ids)[at]
    unknown = np.flatnonzero(np.isnan(steps))
    pairs = list(zip(*(sent_ids.gather(at[unknown] - back).to_list() for back in (1, 0)), strict=True))
    strict = steps == 1
    strict[unknown] = [follows(before, after) for before, after in pairs]
    if strict.mean() >= NUMBERED:
        has_gap[at] = ~strict
        return has_gap
    steps[unknown] = [first_step(before, after) for before, after in pairs]
    if (steps == 1).mean() >= NUMBERED:
        has_gap[at] = steps != 1
    elif by_id or (steps > 0).mean() >= ASCENDING:
        has_gap[at] = ~strict
    return has_gap


def _rises(sent_ids: pl.Series) -> NDArray[np.float64]:
    """The final number of each id minus that of the id before; NaN if the ids differ in anything else."""
    sent_id, stem = pl.col("sent_id"), pl.col("stem")
    stems = sent_ids.to_frame("sent_id").with_columns(stem=sent_id.str.strip_chars_end("0123456789"))
    number = sent_id.str.slice(stem.str.len_chars()).cast(pl.Int64, strict=False)
    rises = stems.select(pl.when(stem == stem.shift()).then(number.diff()).cast(pl.Float64).fill_null(np.nan))
    return rises.to_series().to_numpy().copy()


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
    if differ is None:
        return _split_in_two(a, b)
    rest = numbers_b[differ + 1 :]
    if numbers_b[differ] == numbers_a[differ] + 1 and all(n <= 1 for n in rest):
        return True
    return len(numbers_a) == len(numbers_b) and numbers_b[-1] == numbers_a[-1] + 1 and differ >= len(numbers_a) - 2


def _split_in_two(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether two ids with the same numbers are parts of a sentence that was split: a letter or number was added."""
    if len(a) != len(b):
        return len(b) == len(a) + 2 and int(b[-2]) in {1, 2}
    x, y = a[-1].strip("-_."), b[-1].strip("-_.")
    if not y or len(y) != 1 or len(x) > 1:
        return y == "bis" and not x
    return y.lower() in "ab" if not x else ord(y) == ord(x) + 1


def first_step(before: str, after: str) -> int:
    """The difference of the first numbers that differ; 0 if the text between the numbers differs before them."""
    for x, y in zip(DIGITS.split(before), DIGITS.split(after), strict=False):
        if x != y:
            return int(y) - int(x) if x.isdigit() and y.isdigit() else 0
    return 0


@dataclass(frozen=True, slots=True)
class Placed:
    """Sentences with their documents: the two tables of a shard, and what the next block of the file needs."""

    documents: pl.DataFrame
    sentences: pl.DataFrame
    carried: Carried


def place(sentences: pl.DataFrame, corpus: str, stems: Sequence[str], rule: DocumentRule, carried: Carried) -> Placed:
    """The document and sentence tables of parsed sentences, in source order.

    Args:
        sentences: as :class:`discoprobe.loaders.conllu.parse.Parsed` has them.
        corpus: name of the treebank.
        stems: name of each piece's file.
        rule: how the documents of the treebank are recognised.
        carried: the state after the block before.
    """
    patterns = stem_patterns(sentences, rule, carried)
    ids, begins = document_ids(sentences, stems, rule, carried, patterns)
    names = ids.to_list()
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    doc = np.array([numbers[name] for name in names], np.int64)
    index = _position_among_equals(doc)
    goes_on = bool(names) and names[0] is not None and names[0] == carried.doc_id
    index[doc == 0] += carried.sentences if goes_on else 0
    element = elements(sentences["newpar_block"], doc)
    section, headings = sections(sentences, element, doc, index, carried.headings if goes_on else 0)
    texts = sentences["text"].to_list()
    columns = {
        "sent": np.arange(len(doc), dtype=np.uint32),
        "doc": doc.astype(np.uint32),
        "index": index.astype(np.uint32),
        "run": _runs(sentences, ids, begins, by_id=rule.kind == "sent_id" or bool(patterns)),
        "key": record_keys(repeat(corpus, len(names)), names, sentences["sent_id"].to_list(), texts),
        "text_key": text_keys(texts),
        "section": section,
        "element": element,
    }
    placed = pl.DataFrame({name: columns[name] if name in columns else sentences[name] for name in SENTENCES})
    documents = _documents(corpus, list(numbers), doc, sentences["genre"])
    carried = _carried_on(sentences, names, index, carried, patterns.get(0, ""))
    return Placed(documents, placed, replace(carried, headings=headings))


def _position_among_equals(numbers: Ints) -> Ints:
    """For each number, how many equal numbers there are before it."""
    order = np.argsort(numbers, kind="stable")
    position = np.empty_like(order)
    position[order] = position_in_block(numbers[order])
    return position


def _runs(sentences: pl.DataFrame, ids: pl.Series, begins: Flags, *, by_id: bool) -> pl.Series:
    """The run of each sentence. A run begins with a document, after a left-out sentence, and after a gap in the ids."""
    inside = ids.is_not_null().to_numpy()
    breaks = begins | ~inside
    breaks[1:] |= np.diff(sentences["number"].to_numpy().astype(np.int64)) != 1
    breaks |= gaps(sentences["sent_id"], ~begins & inside, by_id=by_id)
    return pl.Series(np.cumsum(breaks) - 1, dtype=pl.UInt32)


def _documents(corpus: str, names: list[str | None], doc: Ints, genre: pl.Series) -> pl.DataFrame:
    """The document table, in the order of first sentences; a document whose sentences differ in genre has none.

    Args:
        corpus: name of the treebank.
        names: id of each document, null for sentences outside documents.
        doc: number of the document, per sentence.
        genre: per sentence, null where it is not known.
    """
    genres_of: dict[int, set[str]] = {}
    for number, value in dict.fromkeys(zip(doc.tolist(), genre.to_list(), strict=True)):
        if value is not None:
            genres_of.setdefault(number, set()).add(value)
    genres = [min(genres_of[i]) if len(genres_of.get(i, ())) == 1 else None for i in range(len(names))]
    columns = {
        "doc": range(len(names)),
        "corpus": [corpus] * len(names),
        "doc_id": names,
        "genre": genres,
        "n_sentences": np.bincount(doc, minlength=len(names)),
        "key": record_keys(repeat(corpus, len(names)), names),
    }
    return pl.DataFrame([pl.Series(name, columns[name], dtype) for name, dtype in DOCUMENTS.items()])


def _carried_on(
    sentences: pl.DataFrame, names: Sequence[str | None], index: Ints, before: Carried, pattern: str
) -> Carried:
    """The state for the next block of the file, from the documents of these sentences and their positions there."""
    if not names:
        return before
    newdoc = sentences["newdoc"].to_numpy()
    unnamed = newdoc & sentences["newdoc_id"].is_null().to_numpy()
    marked = len(names) == 1 or not newdoc.all() if before.marked is None else before.marked
    return Carried(
        doc_id=names[-1],
        sentences=0 if names[-1] is None else int(index[-1]) + 1,
        unnamed=before.unnamed + int(unnamed.sum()),
        marked=bool(marked),
        pattern=pattern,
    )


def explain_documents(path: Path, rule: DocumentRule) -> str:
    """How the documents of a file are recognised, in words: the rule of its treebank, or its comments and ids.

    Raises:
        DiscoprobeError: the file cannot be read.
    """
    if rule.kind != "auto":
        return f"{rule} (catalogue)"
    text = b"".join(blocks(path, 2**24, rule))
    sent_ids = [match[1].decode(errors="replace") for match in SENT_ID.finditer(text)]
    n = sum(1 for _ in NEWDOC.finditer(text))
    if n and n >= len(sent_ids):
        return "none: every sentence has a newdoc comment"
    return f"{n} by newdoc" if n else str(find_stems(sent_ids))
