"""From the bytes of CoNLL-U files to words, sentences and what is wrong with them, many sentences at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discoprobe.loaders.comments import COLUMNS_KEY, by_sentence, read_comments
from discoprobe.loaders.lines import BLANK, COLUMNS, RETURN, WORD, is_utf8, split_lines, tab_counts
from discoprobe.loaders.offsets import align
from discoprobe.loaders.validate import (
    Finding,
    check_cells,
    check_heads,
    check_ids,
    check_ranges,
)
from discoprobe.loaders.words import NAMES, NO_NUMBER, Table, Words, changes, find_units, find_words, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.loaders.lines import Flags, Ints, Lines


@dataclass(frozen=True, slots=True)
class Piece:
    r"""A file, or a stretch of a large one.

    Attributes:
        stem: the file's name without folder and suffixes, from which missing sentence ids are made.
        data: the text, with ``\n`` line ends and no byte order mark.
        line: lines of the file before the stretch.
        sentence: sentences of the file before the stretch.
    """

    stem: str
    data: bytes
    line: int = 0
    sentence: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: kind, place (index of the piece, line of its file, sentence) and words."""

    reason: str
    piece: int
    line: int
    sent_id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """Sentences and words of some pieces.

    Attributes:
        sentences: ``piece`` (index), ``number`` (1-based in its file, bad sentences counted), ``sent_id``, ``text``,
            ``has_text``, ``genre``, ``newdoc``, ``newdoc_id``, ``n_words``, ``aligned``; in source order.
        tokens: the columns of :data:`discoprobe.loaders.corpus.TOKENS`.
        problems: the first thing wrong with each bad sentence, in source order; those sentences are in no table.
        n_found: number of sentences, good and bad.
        universal_words: number of words in files whose UPOS column holds universal tags; elsewhere it is not read.
        notes: a line on each such file.
    """

    sentences: pl.DataFrame
    tokens: pl.DataFrame
    problems: tuple[Problem, ...]
    n_found: int
    universal_words: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """The lines of several pieces, run together."""

    pieces: Sequence[Piece]
    first_rows: Ints
    lines: Lines

    def piece(self, rows: Ints) -> Ints:
        """Index of the piece that each of the lines is in."""
        if len(self.pieces) == 1:
            return np.zeros(len(rows), np.int64)
        return np.searchsorted(self.first_rows, rows, side="right") - 1


def run_together(pieces: Sequence[Piece]) -> Text:
    """The lines of the pieces as one text, in which no sentence crosses from one piece to the next."""
    parts = [piece.data + b"\n\n" for piece in pieces]
    lines = split_lines(b"".join(parts) if len(parts) > 1 else parts[0])
    opens = np.cumsum([0, *map(len, parts)])[:-1]
    return Text(pieces, np.searchsorted(lines.starts, opens), lines)


def parse(pieces: Sequence[Piece]) -> Parsed:
    """Parse pieces of one treebank; sentences in which something is wrong are left out and listed."""
    text = run_together(pieces)
    lines, rows = text.lines, text.lines.rows(WORD)
    all_blocks = _distinct(lines.blocks[rows])
    findings = [_check_encoding(lines), _check_line_ends(lines), _check_columns(lines, rows)]
    if len(broken := _blocks(findings)):
        rows = rows[~np.isin(lines.blocks[rows], broken)]
    table = read_table(lines, rows)
    words = find_words(table)
    universal, notes = _tag_sets(text, table, words)
    findings += check_ids(table, words)
    findings += check_heads(table, words)
    findings += check_cells(table, words, universal)
    findings.append(check_ranges(table, words))
    comments = read_comments(lines)
    sentences = _sentences(text, all_blocks, comments)
    findings += [_check_sent_ids(sentences), _check_column_names(text, sentences, comments)]
    bad = _blocks(findings)
    problems = _problems(text, sentences, findings) if len(bad) else ()
    if len(bad):
        good = ~np.isin(table.blocks, bad)
        universal = universal[good[words.rows]]
        table = table.take(good)
        words = find_words(table)
        sentences = _without(sentences, np.isin(sentences["block"].to_numpy(), bad))
    tokens, sentences = _tokens(table, words, sentences, universal)
    return Parsed(sentences, tokens, problems, len(all_blocks), int(universal.sum()), notes)


def _tag_sets(text: Text, table: Table, words: Words) -> tuple[Flags, tuple[str, ...]]:
    """Whether each word is in a file whose UPOS column holds universal tags, and a note on the files where it does not.

    Some corpora fill the column with the tags of another tag set (GCDT: the Penn Chinese Treebank's). That is no error
    in a sentence, and tasks that need no tags can use the file: there UPOS is read as absent.
    """
    known = (table.values["upos"].is_not_null().to_numpy() | table.array("no_upos"))[words.rows]
    if known.all():
        return known, ()
    piece = text.piece(table.rows[words.rows])
    size = len(text.pieces)
    foreign = 2 * np.bincount(piece, weights=known, minlength=size) < np.bincount(piece, minlength=size)
    universal = ~foreign[piece]
    if universal.all():
        return universal, ()
    tags = " ".join(table.cells["upos"].gather(words.rows[~universal & ~known]).unique().sort().head(5).to_list())
    stems = ", ".join(part.stem for part, is_foreign in zip(text.pieces, foreign.tolist(), strict=True) if is_foreign)
    return universal, (f"the UPOS column of {stems} holds other tags than the universal ones ({tags} …): not read",)


def _blocks(findings: Sequence[Finding]) -> Ints:
    """The blocks in which something was found."""
    return np.unique(np.concatenate([found.blocks for found in findings]))


def _distinct(blocks: Ints) -> Ints:
    """The distinct values of an ascending array."""
    return blocks[changes(blocks)]


def _first_rows(lines: Lines, blocks: Ints) -> Ints:
    """Number of the first line of each block; blank lines have the number of the block that follows them."""
    filled = np.flatnonzero(lines.kinds != BLANK)
    return np.asarray(filled[np.searchsorted(lines.blocks[filled], blocks)])


def _check_encoding(lines: Lines) -> Finding:
    """Every line is valid UTF-8."""
    if is_utf8(lines.data):
        return Finding("encoding", lines.starts[:0], lines.starts[:0], str)
    bad = {row: error for row in range(len(lines.starts)) if (error := _decoding_error(lines.line(row)))}
    rows = np.array(list(bad), np.int64)
    messages = [
        f"invalid UTF-8: byte 0x{error.object[error.start]:02x} at position {error.start + 1} of the line"
        for error in bad.values()
    ]
    return Finding("encoding", rows, lines.blocks[rows], messages.__getitem__)


def _decoding_error(line: bytes) -> UnicodeDecodeError | None:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return error
    return None


def _check_line_ends(lines: Lines) -> Finding:
    """No line has a carriage return inside: some programs take it for the end of the line, and some do not."""
    rows = lines.starts[:0]
    if b"\r" in lines.data:
        returns = np.flatnonzero(np.frombuffer(lines.data, np.uint8) == RETURN)
        rows = np.unique(np.searchsorted(lines.ends, returns))
    return Finding("line end", rows, lines.blocks[rows], lambda _: "a carriage return inside the line")


def _check_columns(lines: Lines, rows: Ints) -> Finding:
    """Every word line has ten columns."""
    tabs = tab_counts(lines, rows, COLUMNS - 1)
    wrong = np.flatnonzero(tabs != COLUMNS - 1)

    def message(i: int) -> str:
        return f"{tabs[wrong[i]] + 1} columns where a word line has {COLUMNS}, separated by tabs"

    return Finding("columns", rows[wrong], lines.blocks[rows[wrong]], message)


def _sentences(text: Text, blocks: Ints, comments: pl.DataFrame) -> pl.DataFrame:
    """One row per block with word lines, good or bad, with what its comments say."""
    first = _first_rows(text.lines, blocks)
    piece = text.piece(first)
    stems = pl.Series([part.stem for part in text.pieces], dtype=pl.String)
    before = np.array([part.sentence for part in text.pieces], np.int64)
    opens = np.searchsorted(piece, np.arange(len(before)))
    number = np.arange(len(blocks)) - opens[piece] + before[piece] + 1
    found = by_sentence(comments, blocks)
    made_up = stems.gather(piece) + "-" + pl.Series(number).cast(pl.String)
    return found.with_columns(
        block=pl.Series(blocks),
        piece=pl.Series(piece, dtype=pl.UInt32),
        number=pl.Series(number, dtype=pl.UInt32),
        row=pl.Series(first),
        given_id=pl.col("sent_id"),
        sent_id=pl.col("sent_id").fill_null(made_up),
    )


def _check_sent_ids(sentences: pl.DataFrame) -> Finding:
    """No two sentences of a file have the same ``sent_id``."""
    several = sentences.filter(pl.col("given_id").is_duplicated() & pl.col("given_id").is_not_null())
    again = several.filter(pl.int_range(pl.len()).over("piece", "given_id") > 0)
    ids = again["given_id"]
    return Finding(
        "duplicate sent_id",
        again["sent_id_row"].to_numpy(),
        again["block"].to_numpy(),
        lambda i: f"sent_id {ids[i]} occurs earlier in the file",
    )


def _check_column_names(text: Text, sentences: pl.DataFrame, comments: pl.DataFrame) -> Finding:
    """A file that names its columns (CoNLL-U Plus) has those of CoNLL-U; otherwise none of its sentences is read."""
    named = comments.filter(pl.col("key") == COLUMNS_KEY)
    usual = [name.upper() for name in NAMES]
    other = [(value or "").upper().split() != usual for value in named["value"].to_list()]
    odd = text.piece(named["row"].to_numpy()[np.array(other, bool)])
    unread = sentences.filter(pl.col("piece").is_in(odd))
    rows, blocks = unread["row"].to_numpy(), unread["block"].to_numpy()
    return Finding("columns", rows, blocks, lambda _: f"the file's columns (global.columns) are not {' '.join(usual)}")


def _problems(text: Text, sentences: pl.DataFrame, findings: Sequence[Finding]) -> tuple[Problem, ...]:
    """The first problem of each block, in the order of the lines."""
    first: dict[int, tuple[int, Finding, int]] = {}
    for found in findings:
        for i, (block, row) in enumerate(zip(found.blocks.tolist(), found.rows.tolist(), strict=True)):
            if block not in first or row < first[block][0]:
                first[block] = (row, found, i)
    ids = dict(sentences.select("block", "given_id").iter_rows())
    return tuple(_problem(text, ids.get(block), *first[block]) for block in sorted(first))


def _without(sentences: pl.DataFrame, bad: Flags) -> pl.DataFrame:
    """The good sentences; the document that a bad one begins is begun by the next one of the file instead."""
    piece, newdoc = sentences["piece"].to_numpy(), sentences["newdoc"].to_numpy().copy()
    ids = sentences["newdoc_id"].to_list()
    for i in np.flatnonzero(bad[:-1]).tolist():
        if newdoc[i] and piece[i + 1] == piece[i] and not newdoc[i + 1]:
            newdoc[i + 1], ids[i + 1] = True, ids[i]
    moved = sentences.with_columns(newdoc=pl.Series(newdoc), newdoc_id=pl.Series(ids, dtype=pl.String))
    return moved.filter(~bad)


def _problem(text: Text, sent_id: str | None, row: int, found: Finding, i: int) -> Problem:
    index = int(text.piece(np.array([row]))[0])
    piece = text.pieces[index]
    line = row - int(text.first_rows[index]) + piece.line + 1
    return Problem(found.reason, index, line, sent_id, found.message(i))


def _tokens(
    table: Table,
    words: Words,
    sentences: pl.DataFrame,
    universal: Flags,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The token table of well-formed sentences, and the sentences with text, number of words and alignment."""
    blocks = sentences["block"].to_numpy()
    sent = np.cumsum(changes(words.blocks)) - 1
    n_words = np.bincount(sent, minlength=len(blocks))
    units = find_units(words)
    unit_sizes = np.bincount(np.searchsorted(blocks, table.blocks[units.row]), minlength=len(blocks))
    unit = pick(table.values.select("form", "length", "spaced"), units.row)
    found = align(unit["form"], unit["length"], unit["spaced"].to_numpy(), unit_sizes, sentences["text"])
    aligned = found.aligned[sent]
    tokens = pick(table.values.select("form", "lemma", "upos", "feats", "deprel"), words.rows).select(
        sent=pl.Series(sent, dtype=pl.UInt32),
        index=pl.Series(words.numbers, dtype=pl.UInt16),
        form="form",
        lemma="lemma",
        upos="upos" if universal.all() else pl.when(pl.Series(universal)).then("upos"),
        feats="feats",
        head=_nullable(words.heads, words.heads != NO_NUMBER, pl.UInt16),
        deprel="deprel",
        start=_nullable(found.start[units.of_word], aligned, pl.UInt32),
        end=_nullable(found.end[units.of_word], aligned, pl.UInt32),
        mwt=_nullable(units.first, units.first > 0, pl.UInt16),
    )
    return tokens, sentences.select(
        "piece",
        "number",
        "sent_id",
        found.text.alias("text"),
        pl.col("text").is_not_null().alias("has_text"),
        "genre",
        "newdoc",
        "newdoc_id",
        n_words=pl.Series(n_words, dtype=pl.UInt32),
        aligned=pl.Series(found.aligned),
    )


def pick(frame: pl.DataFrame, rows: Ints) -> pl.DataFrame:
    """Some rows of a frame, in ascending order; the frame itself if that is all of them."""
    return frame if len(rows) == frame.height else frame.select(pl.all().gather(rows))


def _nullable(values: Ints, valid: Flags, dtype: pl.DataType | type[pl.DataType]) -> pl.Series:
    """Numbers as a column, null where they are not valid."""
    column = pl.Series(np.where(valid, values, 0), dtype=dtype)
    return column if valid.all() else column.zip_with(pl.Series(valid), pl.Series([None], dtype=dtype))
