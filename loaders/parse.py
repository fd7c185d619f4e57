"""From the bytes of CoNLL-U files to words, sentences and what is wrong with them, many sentences at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa

from discoprobe.loaders.cells import NO_NUMBER, PADDING
from discoprobe.loaders.comments import COLUMNS_KEY, KEYS, by_sentence, read_comments
from discoprobe.loaders.corpus import UPOS
from discoprobe.loaders.lines import BLANK, COLUMNS, RETURN, WORD, find_tabs, is_utf8, split_lines
from discoprobe.loaders.offsets import Alignment, Cells, align
from discoprobe.loaders.validate import (
    Finding,
    check_cells,
    check_heads,
    check_ids,
    check_ranges,
)
from discoprobe.loaders.words import (
    NAMES,
    Table,
    Units,
    Words,
    changes,
    find_units,
    find_words,
    pick,
    read_table,
    space_follows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.loaders.lines import Flags, Ints, Lines

BETWEEN: Final = b"\n" * PADDING


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
        n_lines: number of lines.
        universal_words: number of words in files whose UPOS column holds universal tags; elsewhere it is not read.
        notes: a line on each such file.
    """

    sentences: pl.DataFrame
    tokens: pl.DataFrame
    problems: tuple[Problem, ...]
    n_found: int
    n_lines: int
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
    lines = split_lines(b"".join([BETWEEN, *(part for piece in pieces for part in (piece.data, BETWEEN))]))
    opens = np.cumsum([len(BETWEEN), *(len(piece.data) + len(BETWEEN) for piece in pieces)])[:-1]
    return Text(pieces, np.searchsorted(lines.starts, opens), lines)


def parse(pieces: Sequence[Piece]) -> Parsed:
    """Parse pieces of one treebank; sentences in which something is wrong are left out and listed."""
    text = run_together(pieces)
    lines, rows = text.lines, text.lines.rows(WORD)
    all_blocks = _distinct(lines.blocks[rows])
    tabs = find_tabs(lines, rows, COLUMNS - 1)
    findings = [_check_encoding(lines), _check_line_ends(lines), _check_columns(lines, rows, tabs.counts)]
    readable = ~np.isin(lines.blocks[rows], _blocks(findings))
    table = read_table(lines, pick(rows, np.flatnonzero(readable)), tabs.of(readable, COLUMNS - 1))
    words = find_words(table)
    upos = table.strings("upos", words.rows).cast(UPOS, strict=False)
    unknown = upos.is_null().to_numpy() & ~pick(table.is_missing("upos"), words.rows)
    universal, notes = _tag_sets(text, table, words, unknown)
    findings += check_ids(table, words)
    findings += check_heads(table, words)
    feats = table.strings("feats", valid=~(table.is_missing("feats") | table.is_empty("feats")))
    findings += check_cells(table, feats, words.rows[unknown & universal])
    findings.append(check_ranges(table, words))
    comments = read_comments(lines)
    sentences = _sentences(text, all_blocks, comments)
    findings += [_check_sent_ids(sentences), _check_column_names(text, sentences, comments)]
    bad = _blocks(findings)
    problems = _problems(text, sentences, findings) if len(bad) else ()
    if len(bad):
        good = ~np.isin(table.blocks, bad)
        kept = good[words.rows]
        universal, upos = universal[kept], upos.filter(kept)
        table, feats = table.take(good), feats.filter(good)
        words = find_words(table)
        sentences = _without(sentences, np.isin(sentences["block"].to_numpy(), bad))
    tokens, sentences = _tokens(table, words, sentences, _where(universal, upos), feats)
    n_lines = len(lines.starts) - len(BETWEEN) * (len(pieces) + 1)
    return Parsed(sentences, tokens, problems, len(all_blocks), n_lines, int(universal.sum()), notes)


def _tag_sets(text: Text, table: Table, words: Words, unknown: Flags) -> tuple[Flags, tuple[str, ...]]:
    """Whether each word is in a file whose UPOS column holds universal tags, and a note on the files where it does not.

    Some corpora fill the column with the tags of another tag set (GCDT: the Penn Chinese Treebank's). That is no error
    in a sentence, and tasks that need no tags can use the file: there UPOS is read as absent.
    """
    universal = np.ones(len(unknown), bool)
    if not unknown.any():
        return universal, ()
    piece = text.piece(table.rows[words.rows])
    size = len(text.pieces)
    foreign = 2 * np.bincount(piece, weights=~unknown, minlength=size) < np.bincount(piece, minlength=size)
    universal = ~foreign[piece]
    if universal.all():
        return universal, ()
    other = table.strings("upos", words.rows[~universal & unknown])
    tags = " ".join(other.unique().sort().head(5).to_list())
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


def _check_columns(lines: Lines, rows: Ints, tabs: Ints) -> Finding:
    """Every word line has ten columns."""
    wrong = np.flatnonzero(tabs != COLUMNS - 1)

    def message(i: int) -> str:
        return f"{tabs[wrong[i]] + 1} columns where a word line has {COLUMNS}, separated by tabs"

    return Finding("columns", rows[wrong], lines.blocks[rows[wrong]], message)


def _sentences(text: Text, blocks: Ints, comments: pl.DataFrame) -> pl.DataFrame:
    """One row per block with word lines, good or bad, with what its comments say."""
    first = _first_rows(text.lines, blocks)
    piece = text.piece(first)
    before = np.array([part.sentence for part in text.pieces], np.int64)
    opens = np.searchsorted(piece, np.arange(len(before)))
    number = np.arange(len(blocks)) - opens[piece] + before[piece] + 1
    found = by_sentence(comments, blocks)
    given = found["sent_id"]
    sent_id = given
    if given.null_count():
        stems = pl.Series([part.stem for part in text.pieces], dtype=pl.String)
        sent_id = given.fill_null(stems.gather(piece) + "-" + pl.Series(number).cast(pl.String))
    more = {
        "block": blocks,
        "piece": piece.astype(np.uint32),
        "number": number.astype(np.uint32),
        "row": first,
        "given_id": given,
    }
    return pl.DataFrame({**found.to_dict(), "sent_id": sent_id, **more})


def _check_sent_ids(sentences: pl.DataFrame) -> Finding:
    """No two sentences of a file have the same ``sent_id``."""
    if sentences["given_id"].n_unique() == sentences.height:
        return Finding("duplicate sent_id", *(np.zeros(0, np.int64),) * 2, str)
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
    named = np.flatnonzero(comments["key"].to_numpy() == KEYS.index(COLUMNS_KEY))
    usual = [name.upper() for name in NAMES]
    other = [(comments["value"][i] or "").upper().split() != usual for i in named.tolist()]
    odd = text.piece(comments["row"].to_numpy()[named[np.array(other, bool)]])
    unread = np.isin(sentences["piece"].to_numpy(), odd)
    rows, blocks = sentences["row"].to_numpy()[unread], sentences["block"].to_numpy()[unread]
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
    table: Table, words: Words, sentences: pl.DataFrame, upos: pl.Series, feats: pl.Series
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The token table of well-formed sentences, and the sentences with text, number of words and alignment.

    Args:
        table: the word lines.
        words: the words among them.
        sentences: one row per sentence.
        upos: tag of each word.
        feats: features of each word line.
    """
    blocks = sentences["block"].to_numpy()
    sent = np.cumsum(changes(words.blocks)) - 1
    units = find_units(words)
    found = _aligned(table, units, blocks, sentences["text"])
    aligned = found.aligned[sent]
    rows = words.rows
    tokens = {
        "sent": pl.Series(sent.astype(np.uint32)),
        "index": pl.Series(words.numbers.astype(np.uint16)),
        "form": table.strings("form", rows),
        "lemma": table.strings("lemma", rows, ~table.is_missing("lemma") | table.is_missing("form")),
        "upos": upos,
        "feats": feats if len(rows) == len(feats) else feats.gather(rows),
        "head": _nullable(words.heads, words.heads != NO_NUMBER, np.uint16),
        "deprel": table.strings("deprel", rows, ~table.is_missing("deprel")),
        "start": _nullable(found.start[units.of_word], aligned, np.uint32),
        "end": _nullable(found.end[units.of_word], aligned, np.uint32),
        "mwt": _nullable(units.first, units.first > 0, np.uint16),
    }
    told = {name: sentences[name] for name in ("piece", "number", "sent_id", "genre", "newdoc", "newdoc_id")}
    seen = {
        "text": found.text,
        "has_text": sentences["text"].is_not_null(),
        "n_words": np.bincount(sent, minlength=len(blocks)).astype(np.uint32),
        "aligned": found.aligned,
    }
    return pl.DataFrame(tokens), pl.DataFrame({**told, **seen})


def _aligned(table: Table, units: Units, blocks: Ints, texts: pl.Series) -> Alignment:
    """The places of the units in the texts of the sentences."""
    sizes = np.bincount(np.searchsorted(blocks, pick(table.blocks, units.row)), minlength=len(blocks))
    starts, ends = (pick(edges, units.row) for edges in table.span("form"))
    return align(Cells(table.lines.data, starts, ends), pick(space_follows(table), units.row), sizes, texts)


def _where(keep: Flags, values: pl.Series) -> pl.Series:
    """The values, null where they are not to be kept."""
    return values if keep.all() else values.set(pl.Series(~keep), None)


def _nullable(values: Ints, valid: Flags, dtype: type[np.unsignedinteger]) -> pl.Series:
    """Numbers as a column, null where they are not valid."""
    return pl.Series(pa.array(values.astype(dtype), mask=~valid))
