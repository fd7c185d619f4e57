"""From the bytes of CoNLL-U files to tables of words and sentences and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from discoprobe.loaders.conllu import check
from discoprobe.loaders.conllu.align import align
from discoprobe.loaders.conllu.comments import STRUCTURE, check_sentences, read_comments, read_sentences, without
from discoprobe.loaders.conllu.word_lines import NO_NUMBER, changes, find_words, read_rows, read_text
from discoprobe.loaders.corpus import UPOS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from discoprobe.loaders.conllu.word_lines import Flags, Ints, Piece, Text, Words


@dataclass(frozen=True, slots=True)
class BadSentence:
    """A sentence that is left out: kind of problem, place (index of the piece, line of its file, id) and words."""

    reason: str
    piece: int
    line: int
    sent_id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """Sentences and words of some pieces, in source order.

    ``sentences`` has ``piece`` (index), ``number`` (1-based in its file, bad sentences counted), ``sent_id``, ``text``,
    ``has_text``, ``genre``, ``newdoc``, ``newdoc_id``, ``n_words``, ``aligned`` and :data:`comments.STRUCTURE`;
    ``tokens`` has the columns of :data:`discoprobe.loaders.corpus.TOKENS`.
    """

    sentences: pl.DataFrame
    tokens: pl.DataFrame
    problems: tuple[BadSentence, ...]  # the first thing wrong with each bad sentence; those sentences are in no table
    n_found: int  # number of sentences, good and bad
    n_lines: int
    universal_words: int  # number of words in files whose UPOS column holds universal tags; elsewhere it is not read
    notes: tuple[str, ...]  # a line on each file where it does not


def parse(pieces: Sequence[Piece]) -> Parsed:
    """Parse pieces of one treebank; sentences in which something is wrong are left out and listed."""
    text = read_text(pieces)
    rows = read_rows(text)
    comments = read_comments(text)
    sentences = read_sentences(text, comments, rows)
    unreadable = list(check.check_lines(text, rows))
    words = find_words(_outside(rows, {fault.block for fault in unreadable}))
    upos = words.rows["upos"].cast(UPOS, strict=False)
    unknown = (upos.is_null() & (words.rows["upos"] != "_")).to_numpy()
    universal, notes = _tag_sets(text, words, unknown)
    faults = chain(
        unreadable,
        check.check_ids(words),
        check.check_heads(words),
        check.check_cells(words, unknown & universal),
        check.check_ranges(words),
        check_sentences(text, sentences, comments),
    )
    bad = check.first_problems(faults)
    problems, n_found = _bad_sentences(text, sentences, bad.values()), sentences.height
    if bad:
        good = ~np.isin(words.block, list(bad))
        words, upos, universal = find_words(_outside(rows, bad)), upos.filter(pl.Series(good)), universal[good]
        sentences = without(sentences, np.isin(sentences["block"].to_numpy(), list(bad)))
    upos = upos if universal.all() else upos.set(pl.Series(~universal), None)
    tokens, sentences = _tables(words, sentences, upos)
    n_lines = sum(piece.data.count(b"\n") for piece in pieces)
    return Parsed(sentences, tokens, problems, n_found, n_lines, int(universal.sum()), notes)


def _outside(rows: pl.DataFrame, blocks: Collection[int]) -> pl.DataFrame:
    """The rows that are in none of the blocks."""
    return rows.filter(~pl.col("block").is_in(list(blocks))) if blocks else rows


def _tag_sets(text: Text, words: Words, unknown: Flags) -> tuple[Flags, tuple[str, ...]]:
    """Whether each word is in a file whose UPOS column holds universal tags, and a note on the files where it does not.

    Some corpora fill the column with the tags of another tag set (GCDT: the Penn Chinese Treebank's). That is no error
    in a sentence, and tasks that need no tags can use the file: there UPOS is read as absent.
    """
    universal = np.ones(len(unknown), bool)
    if unknown.any():
        piece = text.piece(words.rows["line"].to_numpy())
        universal = (2 * np.bincount(piece, unknown) <= np.bincount(piece))[piece]
    if universal.all():
        return universal, ()
    tags = " ".join(words.rows["upos"].filter(~universal & unknown).unique().sort().head(5).to_list())
    stems = ", ".join(text.pieces[number].stem for number in np.unique(piece[~universal]))
    return universal, (f"the UPOS column of {stems} holds other tags than the universal ones ({tags} …): not read",)


def _bad_sentences(text: Text, sentences: pl.DataFrame, faults: Collection[check.Fault]) -> tuple[BadSentence, ...]:
    """The faults with their places in the files."""
    ids = dict(sentences.select("block", "given_id").iter_rows()) if faults else {}
    pieces = text.piece(np.array([fault.line for fault in faults], np.int64)).tolist()
    lines = [text.pieces[piece].line + 1 - int(text.starts[piece]) for piece in pieces]
    return tuple(
        BadSentence(fault.reason, piece, line + fault.line, ids.get(fault.block), fault.message)
        for fault, piece, line in zip(faults, pieces, lines, strict=True)
    )


def _tables(words: Words, sentences: pl.DataFrame, upos: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The token table of well-formed sentences, and the sentences with text, number of words and alignment."""
    placed = align(words, sentences["text"])
    sent = np.cumsum(changes(words.block)) - 1
    aligned = placed.aligned[sent]
    form, lemma, feats, deprel = (pl.col(name) for name in ("form", "lemma", "feats", "deprel"))
    tokens = words.rows.select(
        pl.Series("sent", sent.astype(np.uint32)),
        pl.Series("index", words.number.astype(np.uint16)),
        form,
        pl.when((lemma != "_") | (form == "_")).then(lemma),
        upos.alias("upos"),
        pl.when((feats != "_") & (feats != "")).then(feats),
        _nullable(words.head, words.head != NO_NUMBER, np.uint16).alias("head"),
        pl.when(deprel != "_").then(deprel),
        _nullable(placed.start, aligned, np.uint32).alias("start"),
        _nullable(placed.end, aligned, np.uint32).alias("end"),
        _nullable(placed.mwt, placed.mwt > 0, np.uint16).alias("mwt"),
    )
    return tokens, sentences.select(
        *("piece", "number", "sent_id", "genre", "newdoc", "newdoc_id", *STRUCTURE),
        placed.text.alias("text"),
        pl.col("text").is_not_null().alias("has_text"),
        pl.Series("n_words", np.bincount(sent, minlength=sentences.height).astype(np.uint32)),
        pl.Series("aligned", placed.aligned),
    )


def _nullable(values: Ints, valid: Flags, dtype: type[np.unsignedinteger]) -> pl.Series:
    """Numbers as a column, null where they are not valid."""
    return pl.Series(pa.array(values.astype(dtype), mask=~valid))
