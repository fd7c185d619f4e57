"""Reads the comments of CoNLL-U files into a table with a row per sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from discoprobe.loaders.conllu.check import Fault, problems
from discoprobe.loaders.conllu.word_lines import NAMES, changes, position_in_block
from discoprobe.loaders.keys import WHITE

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
COLUMNS: Final = list(dict.fromkeys(KEYS.values()))


def read_comments(text: Text) -> pl.DataFrame:
    """The comments that the reader uses, in order, as ``line`` and ``block`` (numbers), ``column``, ``value`` or null.

    A comment is ``# key = value``, ``# key=value`` or ``# key``; white space around key and value is ignored.
    """
    line = np.flatnonzero(text.is_comment)
    parts = text.lines.gather(line).str.strip_prefix("#").str.splitn("=", 2).struct.unnest()
    key, value = (pl.col(part).str.strip_chars(WHITE) for part in ("field_0", "field_1"))
    number = key.cast(pl.Enum(list(KEYS)), strict=False).to_physical()
    column = pl.lit(pl.Series(KEYS.values(), dtype=pl.Enum(COLUMNS))).gather(number)
    found = parts.select(column=column, value=pl.when(value != "").then(value))
    return found.with_columns(line=line, block=text.block[line]).drop_nulls("column")


def read_sentences(text: Text, comments: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """One row per block with word lines, well-formed or not.

    If a sentence has several comments with the same key, the last one with a value is used, as by the ``conllu``
    library. A ``# newdoc`` in a block of comments alone belongs to the next sentence.

    Returns:
        ``block``, ``line`` (the first of the block), ``piece`` (index), ``number`` (1-based in the file), ``sent_id``
        (made of file name and number where there is none), ``id_line`` (its line, or -1), ``newdoc`` (whether a
        document begins), and the columns of comments (``given_id`` is the ``sent_id`` as written).
    """
    block = rows["block"].to_numpy()
    block = block[changes(block)]
    line = text.first[block]
    piece = text.piece(line)
    number = position_in_block(piece) + np.array([part.sentence for part in text.pieces])[piece] + 1
    column, of_block = comments["column"].to_physical().to_numpy(), comments["block"].to_numpy()
    owner = np.searchsorted(block, of_block)
    is_newdoc = column == COLUMNS.index("newdoc_id")
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
        }
    )


def check_sentences(text: Text, sentences: pl.DataFrame, comments: pl.DataFrame) -> Iterator[Fault]:
    """Check comments: each ``sent_id`` is unique in its file, sections have numbers, declared columns are CoNLL-U's."""
    given = sentences["given_id"].drop_nulls()
    if given.n_unique() < len(given):
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
