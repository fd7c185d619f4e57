"""What the comments of CoNLL-U files say, one row per sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa

from discoprobe.loaders.conllu.check import Fault, problems
from discoprobe.loaders.conllu.word_lines import NAMES, WHITE, changes, position_in_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discoprobe.loaders.conllu.word_lines import Flags, Text

STRUCTURE: Final = ("section_number", "title", "speaker", "newpar_block")
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
}
"""The comments that the reader uses, and the column that each belongs to."""


def read_comments(text: Text) -> pl.DataFrame:
    """The comments the reader uses, in order: ``line`` and ``block`` (numbers), ``column``, and ``value`` or null.

    A comment is ``# key = value``, ``# key=value`` or ``# key``; white space around key and value does not count.
    """
    line = np.flatnonzero(text.is_comment)
    parts = text.lines.gather(line).str.strip_prefix("#").str.splitn("=", 2).alias("parts").to_frame()
    key, value = (pl.col("parts").struct[part].str.strip_chars(WHITE) for part in ("field_0", "field_1"))
    column = key.replace_strict(KEYS, default=None, return_dtype=pl.String)
    used = parts.with_columns(column=column, line=line, block=text.block[line]).drop_nulls("column")
    return used.select("line", "block", "column", value=pl.when(value != "").then(value))


def read_sentences(text: Text, comments: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """One row per block with word lines, good or bad.

    Of several comments with one key the last with a value counts, as in ``conllu``. A ``# newdoc`` in a block of
    comments alone belongs to the next sentence.

    Returns:
        ``block``, ``line`` (the first of the block), ``piece`` (index), ``number`` (1-based in the file), ``sent_id``
        (made of file name and number where there is none), ``id_line`` (its line), ``newdoc`` (whether a document
        begins), ``newdoc_id``, ``given_id`` (the ``sent_id`` as written), ``text``, ``genre`` and :data:`STRUCTURE`.
    """
    block = rows["block"].to_numpy()
    block = block[changes(block)]
    line = text.first[block]
    piece = text.piece(line)
    number = position_in_block(piece) + np.array([part.sentence for part in text.pieces])[piece] + 1
    owner = np.searchsorted(block, comments["block"].to_numpy())
    is_followed = owner < len(block)
    is_filled = comments["value"].is_not_null().to_numpy() & is_followed
    is_inside = is_filled & (np.append(block, -1)[owner] == comments["block"].to_numpy())

    def last(column: str, where: Flags) -> pl.Series:
        """Per sentence the index of the last comment of a column for which a condition holds; else null."""
        chosen = np.flatnonzero((comments["column"] == column).to_numpy() & where)
        at = np.full(len(block), -1)
        at[owner[chosen]] = chosen
        return pl.Series(pa.array(at, mask=at < 0))

    written = {name: last(name, is_inside) for name in ("given_id", "text", "genre", *STRUCTURE)}
    found = pl.DataFrame(
        {
            "block": block,
            "line": line,
            "piece": piece.astype(np.uint32),
            "number": number.astype(np.uint32),
            "id_line": comments["line"].gather(written["given_id"]),
            "newdoc": last("newdoc_id", is_followed).is_not_null(),
            "newdoc_id": comments["value"].gather(last("newdoc_id", is_filled)),
            **{name: comments["value"].gather(at) for name, at in written.items()},
        }
    )
    stems = pl.Series([part.stem for part in text.pieces], dtype=pl.String).gather(piece)
    return found.with_columns(sent_id=pl.coalesce("given_id", stems + "-" + pl.col("number").cast(pl.String)))


def check_sentences(text: Text, sentences: pl.DataFrame, comments: pl.DataFrame) -> Iterator[Fault]:
    """No two sentences of a file have the same ``sent_id``, and a file that names its columns has those of CoNLL-U."""
    ids = sentences.select("piece", "block", "given_id", line="id_line").drop_nulls("given_id")
    if ids["given_id"].n_unique() < ids.height:
        again = ids.select(~pl.struct("piece", "given_id").is_first_distinct()).to_series().to_numpy()
        yield from problems(ids, again, "duplicate sent_id", "sent_id {given_id} occurs earlier in the file")
    numbers = comments.filter(pl.col("column") == "section_number", pl.col("block").is_in(sentences["block"].implode()))
    odd = numbers["value"].str.contains(r"^\d{1,9}$").not_().fill_null(value=True).to_numpy()
    yield from problems(numbers, odd, "section", "section_number is '{value}'; sections are numbered from 0, the lead")
    usual, named = " ".join(NAMES).upper(), comments.filter(pl.col("column") == "columns")
    other = [" ".join((value or "").upper().split()) != usual for value in named["value"].to_list()]
    unread = np.isin(sentences["piece"].to_numpy(), text.piece(named["line"].to_numpy()[np.array(other, bool)]))
    yield from problems(sentences, unread, "columns", f"the file's columns (global.columns) are not {usual}")


def without(sentences: pl.DataFrame, bad: Flags) -> pl.DataFrame:
    """The good sentences; where a bad one begins a document, the next one of the file begins it instead."""
    piece, newdoc = sentences["piece"].to_numpy(), sentences["newdoc"].to_numpy().copy()
    ids = sentences["newdoc_id"].to_list()
    for i in np.flatnonzero(bad[:-1]).tolist():
        if newdoc[i] and piece[i + 1] == piece[i] and not newdoc[i + 1]:
            newdoc[i + 1], ids[i + 1] = True, ids[i]
    moved = sentences.with_columns(newdoc=newdoc, newdoc_id=pl.Series(ids, dtype=pl.String))
    return moved.filter(pl.Series(~bad))
