"""From the bytes of CoNLL-U files to tables of words and sentences, and what is wrong with them; and back to lines.

`parse` tells the order. `read_text` divides files into lines, `read_rows` and `find_words` the word lines into words
and multiword tokens, `read_comments` and `read_sentences` make a row per sentence. Then come the checks for malformed
sentences, each over all lines at once: a check gives a :data:`Fault` for the first wrong line of a sentence, and
:func:`first_problems` keeps the first fault of each sentence. Some checks use the message of the ``conllu`` library, if
it rejects the line too. Last, `align` finds the words in the texts of their sentences.

`sentence_text` writes a sentence (https://universaldependencies.org/format.html).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa
from conllu.exceptions import ParseException
from conllu.models import Metadata, Token, TokenList
from conllu.parser import DEFAULT_FIELDS, parse_line
from numpy.typing import NDArray

from discoprobe.loaders.corpus import TOKENS, UPOS, Word
from discoprobe.loaders.errors import CorpusFormatError
from discoprobe.loaders.hashing import WHITE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping


Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NAMES: Final = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
READ: Final = ("id", "form", "lemma", "upos", "feats", "head", "deprel", "misc")
HEADS: Final = ("head", "deprel")
MISSING: Final = "_"
NO_NUMBER: Final = -1
"""Stands for a cell without a 32-bit whole number in its usual notation; ``01`` is not a number here."""
RANGE: Final = r"^([1-9][0-9]{0,8})-([1-9][0-9]{0,8})$"
"""The ID of a multiword token."""


class Piece(msgspec.Struct, frozen=True):
    """A file, or a block of a large one."""

    stem: str  # the file's name without folder and suffixes, from which missing sentence ids are made
    data: bytes  # the text, with ``\n`` line ends and no byte order mark
    line: int = 0  # number of lines of the file before the block
    sentence: int = 0  # number of sentences of the file before the block
    forest: bool = False  # whether a sentence may have several roots; it is then read without heads and relations


class Text(msgspec.Struct, frozen=True):
    """The lines of several pieces as one text, in which no sentence continues from one piece to the next."""

    pieces: Sequence[Piece]  # where the lines come from
    starts: Ints  # number of the first line of each piece
    lines: pl.Series  # without their ends; bytes that are not UTF-8 are replaced
    is_comment: Flags  # whether each line begins with ``#``
    is_blank: Flags  # whether each line has only white space
    block: Ints  # number of the block (lines between blank lines) of each line; of a blank line, that of the next one
    first: Ints  # number of the first line of each block
    faults: dict[int, tuple[str, str]]  # number of a line with invalid bytes → reason and message

    def piece(self, lines: Ints) -> Ints:
        """The index of the piece that each of the lines is in."""
        return np.searchsorted(self.starts, lines, side="right") - 1


class Parsed(msgspec.Struct, frozen=True):
    """Sentences and words of some pieces, in source order.

    ``sentences`` has ``piece`` (index), ``number`` (1-based in its file, bad sentences counted), ``sent_id``, ``text``,
    ``has_text``, ``genre``, ``newdoc``, ``newdoc_id``, ``n_words``, ``aligned`` and :data:`STRUCTURE`.
    """

    sentences: pl.DataFrame
    tokens: pl.DataFrame  # the columns of :data:`discoprobe.loaders.corpus.TOKENS`
    problems: list[
        tuple[int, CorpusFormatError]
    ]  # index of the piece, and the first problem of each sentence that is left out
    n_found: int  # number of sentences, including those that are left out
    universal_words: int  # number of words in files whose UPOS column holds universal tags
    notes: list[str]  # a message on the files whose UPOS column holds other tags, which are not read


def parse(pieces: Sequence[Piece]) -> Parsed:
    """Parse pieces of one treebank; malformed sentences are left out, and listed in ``problems``."""
    text = read_text(pieces)
    rows = read_rows(text)
    comments = read_comments(text)
    sentences = read_sentences(text, comments, rows)
    unreadable = list(check_lines(text, rows))
    if forests := [number for number, piece in enumerate(pieces) if piece.forest]:
        of_forest = np.isin(text.piece(rows["line"].to_numpy()), forests)
        roots = rows.filter(pl.Series(of_forest), pl.col("head") == "0").group_by("block").len()
        several = pl.col("block").is_in(roots.filter(pl.col("len") > 1)["block"].implode())
        rows = rows.with_columns(pl.when(~several).then(name).otherwise(pl.lit("_")).alias(name) for name in HEADS)
    words = find_words(rows, {block for block, _ in unreadable})
    upos = words.rows["upos"].cast(UPOS, strict=False)
    unknown = (upos.is_null() & (words.rows["upos"] != "_")).to_numpy()
    # Some corpora fill the column UPOS with another tag set (GCDT: that of the Penn Chinese Treebank). If most tags of
    # a file are unknown, UPOS is read as missing there, which is no error: tasks that need no tags can use the file.
    universal, notes = np.ones(len(unknown), bool), list[str]()
    if unknown.any():
        piece = text.piece(words.rows["line"].to_numpy())
        universal = (2 * np.bincount(piece, unknown) <= np.bincount(piece))[piece]
    if not universal.all():
        tags = " ".join(words.rows["upos"].filter(~universal & unknown).unique().sort().head(5).to_list())
        stems = ", ".join(text.pieces[number].stem for number in np.unique(piece[~universal]))
        notes.append(f"the UPOS column of {stems} holds other tags than the universal ones ({tags} …): not read")
    bad = first_problems(
        [
            *unreadable,
            *check_ids(words),
            *check_heads(words),
            *check_cells(words, unknown & universal),
            *check_ranges(words),
            *check_sentences(text, sentences, comments),
        ]
    )
    problems, n_found = [], sentences.height
    if bad:
        ids = dict(sentences.select("block", "given_id").iter_rows())
        for block, fault in bad.items():
            at = int(text.piece(np.array(fault.line)))
            line = fault.line - int(text.starts[at]) + text.pieces[at].line + 1
            of_file = CorpusFormatError(fault.problem, line=line, sent_id=ids.get(block), reason=fault.reason)
            problems.append((at, of_file))
        good = ~np.isin(words.block, list(bad))
        words, upos, universal = find_words(rows, bad), upos.filter(pl.Series(good)), universal[good]
        sentences = without(sentences, np.isin(sentences["block"].to_numpy(), list(bad)))
    if not universal.all():
        upos = words.rows["upos"].set(pl.Series(~universal), None).cast(UPOS, strict=False)
    texts, aligned, places = align(words, sentences["text"])
    form, lemma, feats, deprel = words.rows.select("form", "lemma", "feats", "deprel")
    tokens = {
        "sent": words.sentence.astype(np.uint32),
        "index": words.number.astype(np.uint16),
        "form": form,
        "lemma": lemma.set((lemma == "_") & (form != "_"), None),
        "upos": upos,
        "feats": feats.set((feats == "_") | (feats == ""), None),
        "head": pa.array(words.head.astype(np.uint16), mask=words.head == NO_NUMBER),
        "deprel": deprel.set(deprel == "_", None),
        **places,
    }
    sentences = sentences.select(
        *("piece", "number", "sent_id", "genre", "newdoc", "newdoc_id", *STRUCTURE),
        texts.alias("text"),
        pl.col("text").is_not_null().alias("has_text"),
        pl.Series("n_words", np.bincount(words.sentence, minlength=sentences.height).astype(np.uint32)),
        pl.Series("aligned", aligned),
    )
    return Parsed(sentences, pl.DataFrame(tokens, TOKENS), problems, n_found, int(universal.sum()), notes)


def read_text(pieces: Sequence[Piece]) -> Text:
    """The lines of pieces, in order."""
    data = b"\n\n".join(piece.data for piece in pieces)
    starts = np.cumsum([0, *(piece.data.count(b"\n") + 2 for piece in pieces[:-1])])
    faults = _faults(data) if b"\r" in data else {}
    try:
        characters = data.decode()
    except UnicodeDecodeError:
        faults, characters = _faults(data), data.decode(errors="replace")
    whole = pl.Series("line", [characters.removesuffix("\n")] if characters else [], pl.String)
    lines = whole.str.split("\n").explode().rechunk()
    perhaps_blank = (lines < "!") | (lines > "~")  # empty, or beginning with white space or a letter outside ASCII
    blank = perhaps_blank.to_numpy().copy()
    blank[blank] = (lines.filter(perhaps_blank).str.strip_chars(WHITE) == "").to_numpy()
    opens = ~blank & np.concatenate([[True], blank[:-1]])[: len(blank)]
    block, is_comment = np.cumsum(opens) - ~blank, lines.str.starts_with("#").to_numpy()
    return Text(pieces, starts, lines, is_comment, blank, block, np.flatnonzero(opens), faults)


def _faults(data: bytes) -> dict[int, tuple[str, str]]:
    """What is wrong with the bytes of lines, as in :class:`Text`."""
    faults = {}
    for i, line in enumerate(data.split(b"\n")):
        if b"\r" in line:
            faults[i] = ("line end", "a carriage return inside the line")
        try:
            line.decode()
        except UnicodeDecodeError as error:
            where = f"byte 0x{line[error.start]:02x} at position {error.start + 1} of the line"
            faults[i] = ("encoding", f"invalid UTF-8: {where}")
    return faults


def read_rows(text: Text) -> pl.DataFrame:
    """The word lines: the cells by name (empty if missing), ``n_cells``, and ``line`` and ``block`` (numbers)."""
    line = np.flatnonzero(~text.is_comment & ~text.is_blank)
    cells = text.lines.gather(line).str.split("\t")
    n_cells = cells.list.len()
    if (n_cells != len(NAMES)).any():
        cells = cells.list.concat(pl.Series([[""] * len(NAMES)])).list.head(len(NAMES))
    columns = [pl.col("line").gather_every(len(NAMES), NAMES.index(name)).alias(name) for name in READ]
    numbers = {"n_cells": n_cells, "line": pl.Series(line), "block": pl.Series(text.block[line])}
    return cells.explode().to_frame().select(*columns, **numbers)


def changes(blocks: Ints) -> Flags:
    """Whether each element of an ascending array differs from the one before it; true for the first."""
    return np.concatenate([[True], blocks[1:] != blocks[:-1]])[: len(blocks)]


def position_in_block(blocks: Ints) -> Ints:
    """0-based position of each row inside its block; ``blocks`` is ascending."""
    at = np.arange(len(blocks))
    return at - np.maximum.accumulate(np.where(changes(blocks), at, 0))


class WordLines(msgspec.Struct, frozen=True):
    """The syntactic words (lines with a whole number as ID) and the multiword tokens (``a-b``) among word lines."""

    lines: pl.DataFrame  # all word lines, as :func:`read_rows` gives them
    heads: Ints  # the HEAD of each of them, or :data:`NO_NUMBER`
    is_word: Flags  # whether each of them is a word
    rows: pl.DataFrame  # the lines of the words
    number: Ints  # the ID of each word
    head: Ints  # the HEAD of each word
    block: Ints  # the block of each word
    sentence: Ints  # index of the sentence of each word, among those with words
    ranges: pl.DataFrame  # multiword tokens: ``at`` (index of the line), ``first``, ``last``, ``word`` (index of first)


def find_words(lines: pl.DataFrame, left_out: Collection[int] = ()) -> WordLines:
    """The words and multiword tokens among word lines, without the blocks ``left_out``."""
    if left_out:
        lines = lines.filter(~pl.col("block").is_in(list(left_out)))
    cell = pl.col("id", "head")
    is_plain = (cell >= "1") | (cell == "0")  # no zero and no sign before the first digit
    numbers = pl.when(is_plain).then(cell.cast(pl.UInt32, strict=False).cast(pl.Int64)).fill_null(NO_NUMBER)
    number, heads = (column.to_numpy() for column in lines.select(numbers))
    is_word = number != NO_NUMBER
    rows = lines if is_word.all() else lines.filter(pl.Series(is_word))
    at = np.flatnonzero(~is_word)
    first, last = (pl.col("id").str.extract(RANGE, group).cast(pl.Int64) for group in (1, 2))
    ranges = lines[at].with_columns(at=at, word=np.cumsum(is_word)[at], first=first, last=last).drop_nulls("first")
    block = rows["block"].to_numpy()
    sentence = np.cumsum(changes(block)) - 1
    return WordLines(lines, heads, is_word, rows, number[is_word], heads[is_word], block, sentence, ranges)


EMPTY_NODE: Final = r"^(0|[1-9][0-9]*)\.[1-9][0-9]*$"
LARGEST: Final = 2**16 - 1
"""The largest word number the tables hold."""


Fault = tuple[int, CorpusFormatError]
"""The number of a block, and what is wrong in it, with the number of the line (from 0) in the text of all pieces."""


def problems(
    rows: pl.DataFrame, where: Flags, reason: str, message: str, *, conllu_words: bool = False, **numbers: Ints
) -> Iterator[Fault]:
    """A fault for the first row of each block where a condition holds (``where``).

    ``message`` is a format string over the columns of ``rows``, which include ``line`` and ``block``, and ``numbers``.
    With ``conllu_words`` the message of the ``conllu`` library is used instead, if it rejects the line.
    """
    if where.any():
        first = rows.with_columns(**numbers).filter(pl.Series(where)).unique("block", keep="first", maintain_order=True)
        for row in first.iter_rows(named=True):
            words = message.format(**row)
            try:
                if conllu_words:
                    parse_line("\t".join(row.get(name, "_") for name in NAMES), DEFAULT_FIELDS)
            except ParseException as error:
                words = str(error)
            yield row["block"], CorpusFormatError(words, line=row["line"], reason=reason)


def first_problems(reported: Iterable[Fault]) -> dict[int, CorpusFormatError]:
    """The fault on the first line of each block, by block; of several on one line, the first one reported."""
    first: dict[int, CorpusFormatError] = {}
    for block, fault in sorted(reported, key=lambda fault: (fault[0], fault[1].line)):
        first.setdefault(block, fault)
    return first


def check_lines(text: Text, rows: pl.DataFrame) -> Iterator[Fault]:
    """Check that every line is UTF-8 without a carriage return inside, and that every word line has ten columns."""
    for line, (reason, message) in text.faults.items():
        yield int(text.block[line]), CorpusFormatError(message, line=line, reason=reason)
    message = f"{{n_cells}} columns where a word line has {len(NAMES)}, separated by tabs"
    yield from problems(rows, (rows["n_cells"] != len(NAMES)).to_numpy(), "columns", message)


def check_ids(words: WordLines) -> Iterator[Fault]:
    """Check that words are numbered 1, 2, 3 …, and that every other line is a multiword token or an empty node."""
    expected = position_in_block(words.block) + 1
    rows, message = words.rows, "ID {id} where {expected} was expected"
    yield from problems(rows, words.number != expected, "ID sequence", message, expected=expected)
    yield from problems(rows, expected > LARGEST, "sentence length", f"more than {LARGEST} words")
    unknown = ~words.is_word
    unknown[words.ranges["at"].to_numpy()] = False
    if unknown.any():
        unknown[unknown] = ~words.lines.filter(pl.Series(unknown))["id"].str.contains(EMPTY_NODE).to_numpy()
    yield from problems(words.lines, unknown, "ID", "'{id}' is not a valid ID", conllu_words=True)
    wordless = ~np.isin(words.lines["block"].to_numpy(), words.block)
    yield from problems(words.lines, wordless, "no words", "the sentence has no words")


def check_ranges(words: WordLines) -> Iterator[Fault]:
    """Check that a multiword token ``a-b`` is before word a, in one sentence with its words, and overlaps no other."""
    at, first, last, block = (words.ranges[name].to_numpy() for name in ("word", "first", "last", "block"))
    end = at + last - first
    numbers, blocks, n = np.append(words.number, NO_NUMBER), np.append(words.block, NO_NUMBER), len(words.number)
    inside = (first <= last) & (numbers[at] == first) & (blocks[at] == block) & (blocks[end.clip(0, n)] == block)
    before = np.maximum.accumulate(np.append(-1, np.where(inside, end, -1)))[:-1]
    message = "multiword token {id} does not stand before its words, or overlaps another"
    yield from problems(words.ranges, ~inside | (at <= before), "multiword token", message)


def check_heads(words: WordLines) -> Iterator[Fault]:
    """Check that HEAD is ``_`` for all words of a sentence, or that every word has one and they form a tree."""
    rows, sentence = words.rows, words.sentence
    length = np.bincount(sentence)[sentence]
    no_number = words.head == NO_NUMBER
    missing = (rows["head"] == "_").to_numpy() if no_number.any() else no_number
    message = "HEAD '{head}' is not a word number"
    yield from problems(rows, no_number & ~missing, "HEAD", message, conllu_words=True)
    other = ~words.is_word & (words.heads == NO_NUMBER) & (words.lines["head"] != "_").to_numpy()
    yield from problems(words.lines, other, "HEAD", "HEAD '{head}' of a line that is no word", conllu_words=True)
    outside = words.head > length
    message = "HEAD {head} points outside the sentence ({length} words)"
    yield from problems(rows, outside, "HEAD range", message, length=length)
    partly = missing & (np.bincount(sentence, missing)[sentence] < length)
    yield from problems(rows, partly, "HEAD missing", "HEAD is missing here, but not on the other words")
    skipped = np.isin(words.block, words.block[no_number | outside])  # sentences in which a word has no valid head
    opens = changes(words.block)
    is_root = (words.head == 0) & ~skipped
    roots = np.bincount(sentence, is_root)[sentence]
    earlier = np.cumsum(is_root) - is_root
    second = is_root & (earlier > earlier[opens][sentence])
    rootless = opens & (roots == 0) & ~skipped
    reached = is_root | skipped  # words whose heads lead to a root within 1, 2, 4, … steps
    parent = np.where(reached, np.arange(len(reached)), np.flatnonzero(opens)[sentence] + words.head - 1)
    for _ in range(LARGEST.bit_length() + 1):
        if reached.all():
            break
        reached, parent = reached | reached[parent], parent[parent]
    yield from problems(rows, rootless, "root", "no word has HEAD 0: the sentence has no root")
    yield from problems(rows, second, "root", "a second word with HEAD 0: a sentence has one root")
    yield from problems(rows, ~reached & (roots > 0), "HEAD cycle", "the HEADs from this word run in a circle")


def check_cells(words: WordLines, unknown_tag: Flags) -> Iterator[Fault]:
    """Check that cells are not empty, UPOS is no ``unknown_tag`` (a flag per word), and FEATS are ``A=b|C=d``."""
    empty = np.logical_or.reduce([(words.lines[name] == "").to_numpy() for name in ("form", "lemma", "upos", "deprel")])
    yield from problems(words.lines, empty, "empty cell", "a column is empty; a missing value is written _")
    feats = words.lines["feats"]
    wrong = [value for value in feats.unique().to_list() if value not in {"", "_"} and not well_formed_feats(value)]
    message = "FEATS '{feats}' is not of the form Name=Value|Name=Value"
    yield from problems(words.lines, feats.is_in(wrong).to_numpy(), "FEATS", message) if wrong else ()
    yield from problems(words.rows, unknown_tag, "UPOS", "unknown UPOS '{upos}'")


@lru_cache(maxsize=2**16)
def well_formed_feats(value: str) -> bool:
    """Whether FEATS are pairs ``Name=Value`` with names that differ, separated by ``|``."""
    pairs = [pair.partition("=") for pair in value.split("|")]
    names = {name for name, _, _ in pairs}
    return len(names) == len(pairs) and all(name and filled and "=" not in filled for name, _, filled in pairs)


NO_SPACE: Final = r"(^|\|)SpaceAfter=No(\||$)"


def align(words: WordLines, texts: pl.Series) -> tuple[pl.Series, Flags, dict[str, pa.Array]]:
    """Find the words of well-formed sentences in their texts; words of a multiword token have the offsets of the token.

    Nearly always the text is the tokens joined by one space, or by nothing after ``SpaceAfter=No``. Otherwise the
    tokens must follow each other in the text with only white space between them. A sentence in which they do not is
    not aligned; its text is not changed.

    Args:
        words: of the sentences.
        texts: the ``# text`` of each sentence, null if there is none.

    Returns:
        The text of each sentence, without a ``# text`` the tokens joined; whether it is aligned; and ``start``, ``end``
        and ``mwt`` of ``corpus.TOKENS``.
    """
    first, last, word, at = (words.ranges[name].to_numpy() for name in ("first", "last", "word", "at"))
    steps = np.zeros(len(words.number) + 1, np.int64)
    steps[word] += first
    np.subtract.at(steps, word + last - first + 1, first)
    mwt = np.cumsum(steps[:-1])  # the number of the first word of each word's multiword token; 0 outside any
    is_token = words.is_word.copy()  # tokens are multiword tokens, and words outside any
    is_token[is_token] = mwt == 0
    is_token[at] = True
    of_word = np.cumsum((mwt == 0) | (mwt == words.number)) - 1  # the index of each word's token
    tokens = words.lines.select("form", "misc", "block").filter(pl.Series(is_token))
    form = tokens["form"]
    first = np.flatnonzero(changes(tokens["block"].to_numpy()))
    sizes = np.diff(first, append=len(form))
    gaps = ~tokens["misc"].str.contains(NO_SPACE).to_numpy()
    gaps[first + sizes - 1] = False
    joined = _join_forms(form, gaps, first)
    length = form.str.len_chars().to_numpy().astype(np.int64)
    end = np.cumsum(length + gaps) - gaps
    end -= np.repeat((end - length)[first], sizes)
    start = end - length
    text = texts.zip_with(texts.is_not_null(), joined)
    aligned = (text == joined).to_numpy().copy()
    for sentence in np.flatnonzero(~aligned).tolist():
        inside = slice(first[sentence], first[sentence] + sizes[sentence])
        starts = _find_forms(text[sentence], form[inside].to_list())
        if starts is not None:
            aligned[sentence] = True
            start[inside], end[inside] = starts, starts + length[inside]
    unplaced = ~aligned[words.sentence]
    places = {
        name: pa.array(at[of_word].astype(np.uint32), mask=unplaced) for name, at in (("start", start), ("end", end))
    }
    return text, aligned, {**places, "mwt": pa.array(mwt.astype(np.uint16), mask=mwt == 0)}


def _join_forms(forms: pl.Series, gaps: Flags, first: Ints) -> pl.Series:
    """The forms of each sentence joined, with a space where there is a gap after a form.

    Arrow stores the strings of a column one after the other in one buffer: a sentence is a slice of that buffer.
    """
    _, offsets, data = forms.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()
    ends = np.frombuffer(offsets, np.int64)
    letters = np.insert(np.frombuffer(data, np.uint8), ends[1:][gaps], ord(" "))
    edges = (ends + np.append(0, np.cumsum(gaps)))[np.append(first, len(forms))]
    return pl.Series(pa.Array.from_buffers(pa.large_string(), len(first), [None, *map(pa.py_buffer, (edges, letters))]))


def _find_forms(text: str, forms: list[str]) -> Ints | None:
    """The offsets of forms that follow each other in the text, only white space between; None if they do not."""
    starts, at, size = [], 0, len(text)
    for form in forms:
        while at < size and text[at].isspace() and not text.startswith(form, at):
            at += 1
        if not text.startswith(form, at):
            return None
        starts.append(at)
        at += len(form)
    return None if text[at:].strip() else np.array(starts)


STRUCTURE: Final = (
    "section_number",
    "title",
    "speaker",
    "newpar_block",
    "gap",
    "source",
    "reference",
    "orig_file_sentence",
)
"""Columns of comments on the structure of documents."""
KEYS: Final = {
    "sent_id": "given_id",
    "text": "text",
    "global.columns": "columns",
    **dict.fromkeys(("newdoc", "newdoc id", "newdoc_id"), "newdoc_id"),
    **dict.fromkeys(("meta::genre", "genre", "document_genre"), "genre"),
    "section_number": "section_number",  # of the section that a sentence is in, from 0, the lead (`build annotate`)
    **dict.fromkeys(("newpar_block", "newpar"), "newpar_block"),  # elements that begin (``head (1 s)``), as in GUM
    "meta::title": "title",
    "speaker": "speaker",
    "gap": "gap",  # text of the source is missing before the sentence; GAP has its other names
    "source": "source",  # the text or site that a sentence is from
    "reference": "reference",  # of the sentence in its source
    "orig_file_sentence": "orig_file_sentence",
}
"""The comments that the reader uses, and the column that each belongs to."""
COLUMNS: Final = list(dict.fromkeys(KEYS.values()))
GAP: Final = r"(?i)^ *(?:\w+[ _-])?gaps?\b.*"
"""Comments on a gap before the sentence: ``# gap``, ``# annotation_gap = 2 sentences``."""
WITHOUT_SIGN: Final = r"^ *(orig_file_sentence) +([^=]+)$"
"""A comment that treebanks write without ``=``: ``# orig_file_sentence 001#12``."""


def read_comments(text: Text) -> pl.DataFrame:
    """The comments that the reader uses, in order, as ``line`` and ``block`` (numbers), ``column``, ``value`` or null.

    A comment is ``# key = value``, ``# key=value`` or ``# key``; white space around key and value is ignored.
    """
    line = np.flatnonzero(text.is_comment)
    comment = text.lines.gather(line).str.strip_prefix("#").str.replace(GAP, "gap").str.replace(WITHOUT_SIGN, "$1=$2")
    parts = comment.str.splitn("=", 2).struct.unnest()
    key, value = (pl.col(part).str.strip_chars(WHITE) for part in ("field_0", "field_1"))
    number = key.cast(pl.Enum(list(KEYS)), strict=False).to_physical()
    column = pl.lit(pl.Series(KEYS.values(), dtype=pl.Enum(COLUMNS))).gather(number)
    comments = parts.select(column=column, value=pl.when(value != "").then(value))
    return comments.with_columns(line=line, block=text.block[line]).drop_nulls("column")


def read_sentences(text: Text, comments: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """One row per block with word lines, well-formed or not.

    If a sentence has several comments with the same key, the last one with a value is used, as by the ``conllu``
    library. A ``# newdoc`` or ``# gap`` in a block of comments alone belongs to the next sentence.

    Returns:
        ``block``, ``line`` (the first of the block), ``piece`` (index), ``number`` (1-based in the file), ``sent_id``
        (made of file name and number where there is none), ``id_line`` (its line, or -1), ``newdoc`` (whether a
        document begins), ``gap`` (whether text is missing before it), and the columns of comments (``given_id`` is the
        ``sent_id`` as written).
    """
    block = rows["block"].to_numpy()
    block = block[changes(block)]
    line = text.first[block]
    piece = text.piece(line)
    number = position_in_block(piece) + np.array([part.sentence for part in text.pieces])[piece] + 1
    column, of_block = comments["column"].to_physical().to_numpy(), comments["block"].to_numpy()
    owner = np.searchsorted(block, of_block)
    is_newdoc, is_gap = (column == COLUMNS.index(name) for name in ("newdoc_id", "gap"))
    is_used = (owner < len(block)) & comments["value"].is_not_null().to_numpy()
    is_used &= is_newdoc | (np.append(block, -1)[owner] == of_block)
    last = np.full((len(COLUMNS), len(block)), -1)  # the comment of each column and sentence, or -1
    last[column[is_used], owner[is_used]] = np.flatnonzero(is_used)
    values = comments["value"].extend_constant(None, 1).gather(last.ravel())
    written = {name: values.slice(i * len(block), len(block)) for i, name in enumerate(COLUMNS)}
    unnamed = np.flatnonzero(written["given_id"].is_null())
    names = [f"{text.pieces[piece[i]].stem}-{number[i]}" for i in unnamed.tolist()]
    return pl.DataFrame(
        {
            "block": block,
            "line": line,
            "piece": piece.astype(np.uint32),
            "number": number.astype(np.uint32),
            "sent_id": written["given_id"].clone().scatter(unnamed, names),
            "id_line": np.append(comments["line"].to_numpy(), -1)[last[COLUMNS.index("given_id")]],
            "newdoc": np.isin(np.arange(len(block)), owner[is_newdoc]),
            **written,
            "gap": np.isin(np.arange(len(block)), owner[is_gap]),
        }
    )


def check_sentences(text: Text, sentences: pl.DataFrame, comments: pl.DataFrame) -> Iterator[Fault]:
    """Check comments: each ``sent_id`` is unique in its file, sections have numbers, declared columns are CoNLL-U's."""
    written = sentences["given_id"].drop_nulls()
    if written.n_unique() < len(written):
        ids = sentences.select("piece", "block", "given_id", line="id_line").drop_nulls("given_id")
        again = ids.select(~pl.struct("piece", "given_id").is_first_distinct()).to_series().to_numpy()
        yield from problems(ids, again, "duplicate sent_id", "sent_id {given_id} occurs earlier in the file")
    column = comments["column"].to_physical().to_numpy()
    if (is_number := column == COLUMNS.index("section_number")).any():
        inside = np.isin(comments["block"].to_numpy(), sentences["block"].to_numpy())
        odd = is_number & inside & ~comments["value"].fill_null("").str.contains(r"^\d{1,9}$").to_numpy()
        message = "section_number is '{value}'; sections are numbered from 0, the lead"
        yield from problems(comments, odd, "section", message)
    if (is_named := column == COLUMNS.index("columns")).any():
        usual, named = " ".join(NAMES).upper(), comments.filter(is_named)
        other = [" ".join((value or "").upper().split()) != usual for value in named["value"].to_list()]
        unread = np.isin(sentences["piece"].to_numpy(), text.piece(named["line"].to_numpy()[other]))
        yield from problems(sentences, unread, "columns", f"the file's columns (global.columns) are not {usual}")


def without(sentences: pl.DataFrame, bad: Flags) -> pl.DataFrame:
    """The sentences that are not ``bad``. If a bad one begins a document, the next one of the file begins it."""
    piece, newdoc = sentences["piece"].to_numpy(), sentences["newdoc"].to_numpy().copy()
    ids = sentences["newdoc_id"].to_list()
    for i in np.flatnonzero(bad[:-1]).tolist():
        if newdoc[i] and piece[i + 1] == piece[i] and not newdoc[i + 1]:
            newdoc[i + 1], ids[i + 1] = True, ids[i]
    moved = sentences.with_columns(newdoc=newdoc, newdoc_id=pl.Series(ids, dtype=pl.String))
    return moved.filter(pl.Series(~bad))


def sentence_text(comments: Mapping[str, str | int | None], tokens: Iterable[tuple[str, Sequence[Word], str]]) -> str:
    """The lines of a sentence and the empty line after it.

    Args:
        comments: key → value; an empty string gives a comment without value (``# newpar``), None no comment.
        tokens: form, words and MISC of each token; a token with several words is a multiword token.
    """
    metadata = {key: str(value) for key, value in comments.items() if value is not None}
    lines: list[tuple[str, ...]] = []
    n = 0
    for form, words, misc in tokens:
        of_word = misc
        if len(words) > 1:
            lines.append((f"{n + 1}-{n + len(words)}", form, *[MISSING] * 7, misc))
            of_word = MISSING
        for word in words:
            n += 1
            head = "" if word.head is None else str(word.head)
            cells = (word.lemma, word.upos, word.xpos, word.feats, head, word.deprel)
            lines.append((str(n), word.form, *(cell or MISSING for cell in cells), MISSING, of_word))
    rows = [Token(zip(DEFAULT_FIELDS, line, strict=True)) for line in lines]
    return str(TokenList(rows, Metadata(metadata)).serialize())
