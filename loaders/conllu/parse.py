"""From the bytes of CoNLL-U files to tables of words and sentences and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from discoprobe.loaders.conllu import check
from discoprobe.loaders.conllu.align import align
from discoprobe.loaders.conllu.comments import STRUCTURE, check_sentences, read_comments, read_sentences, without
from discoprobe.loaders.conllu.word_lines import NO_NUMBER, find_words, read_rows, read_text
from discoprobe.loaders.corpus import TOKENS, UPOS
from discoprobe.loaders.errors import BadLine

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from discoprobe.loaders.conllu.word_lines import Flags, Piece, Text, Words


@dataclass(frozen=True, slots=True)
class Parsed:
    """Sentences and words of some pieces, in source order.

    ``sentences`` has ``piece`` (index), ``number`` (1-based in its file, bad sentences counted), ``sent_id``, ``text``,
    ``has_text``, ``genre``, ``newdoc``, ``newdoc_id``, ``n_words``, ``aligned`` and :data:`comments.STRUCTURE`.
    """

    sentences: pl.DataFrame
    tokens: pl.DataFrame  # the columns of :data:`discoprobe.loaders.corpus.TOKENS`
    problems: list[tuple[int, BadLine]]  # index of the piece, and the first problem of each sentence that is left out
    n_found: int  # number of sentences, including those that are left out
    universal_words: int  # number of words in files whose UPOS column holds universal tags
    notes: tuple[str, ...]  # a message on the files whose UPOS column holds other tags, which are not read


def parse(pieces: Sequence[Piece]) -> Parsed:
    """Parse pieces of one treebank; malformed sentences are left out, and listed in ``problems``."""
    text = read_text(pieces)
    rows = read_rows(text)
    comments = read_comments(text)
    sentences = read_sentences(text, comments, rows)
    unreadable = list(check.check_lines(text, rows))
    words = find_words(rows, {fault.block for fault in unreadable})
    upos = words.rows["upos"].cast(UPOS, strict=False)
    unknown = (upos.is_null() & (words.rows["upos"] != "_")).to_numpy()
    universal, notes = _tag_sets(text, words, unknown)
    faults = [
        *unreadable,
        *check.check_ids(words),
        *check.check_heads(words),
        *check.check_cells(words, unknown & universal),
        *check.check_ranges(words),
        *check_sentences(text, sentences, comments),
    ]
    bad = check.first_problems(faults)
    problems, n_found = list(_placed(text, sentences, bad.values())), sentences.height
    if bad:
        good = ~np.isin(words.block, list(bad))
        words, upos, universal = find_words(rows, bad), upos.filter(pl.Series(good)), universal[good]
        sentences = without(sentences, np.isin(sentences["block"].to_numpy(), list(bad)))
    tokens, sentences = _tables(words, sentences, upos.set(pl.Series(~universal), None))
    return Parsed(sentences, tokens, problems, n_found, int(universal.sum()), notes)


def _tag_sets(text: Text, words: Words, unknown: Flags) -> tuple[Flags, tuple[str, ...]]:
    """Whether each word is in a file whose UPOS column holds universal tags, and a note on the files where it does not.

    Some corpora fill the column with another tag set (GCDT: that of the Penn Chinese Treebank). If most tags of a file
    are unknown, UPOS is read as missing there, which is no error: tasks that need no tags can use the file.
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


def _placed(text: Text, sentences: pl.DataFrame, faults: Collection[check.Fault]) -> Iterator[tuple[int, BadLine]]:
    """The faults with the index of their piece, and with line numbers of its file."""
    ids = dict(sentences.select("block", "given_id").iter_rows()) if faults else {}
    for fault in faults:
        piece = int(text.piece(np.array(fault.line)))
        line = fault.line - int(text.starts[piece]) + text.pieces[piece].line + 1
        yield piece, BadLine(fault.reason, line, fault.message, ids.get(fault.block))


def _tables(words: Words, sentences: pl.DataFrame, upos: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The token table of well-formed sentences, and the sentences with text, number of words and alignment."""
    placed = align(words, sentences["text"])
    unknown = ~placed.aligned[words.sentence]
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
        "start": pa.array(placed.start.astype(np.uint32), mask=unknown),
        "end": pa.array(placed.end.astype(np.uint32), mask=unknown),
        "mwt": pa.array(placed.mwt.astype(np.uint16), mask=placed.mwt == 0),
    }
    return pl.DataFrame(tokens, TOKENS), sentences.select(
        *("piece", "number", "sent_id", "genre", "newdoc", "newdoc_id", *STRUCTURE),
        placed.text.alias("text"),
        pl.col("text").is_not_null().alias("has_text"),
        pl.Series("n_words", np.bincount(words.sentence, minlength=sentences.height).astype(np.uint32)),
        pl.Series("aligned", placed.aligned),
    )
