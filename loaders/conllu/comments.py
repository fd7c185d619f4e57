"""What the comments of CoNLL-U files say, one row per sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa

from discoprobe.loaders.conllu.check import Fault, problems
from discoprobe.loaders.conllu.word_lines import NAMES, WHITE, changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discoprobe.loaders.conllu.word_lines import Flags, Text

GENRE_KEYS: Final = ("meta::genre", "genre", "document_genre")
NEWDOC_KEYS: Final = ("newdoc", "newdoc id", "newdoc_id")
COLUMNS_KEY: Final = "global.columns"
SECTION_KEY: Final = "section_number"
"""The number of the section that a sentence is in, from 0, the lead (written by `build annotate`)."""
PARAGRAPH_KEYS: Final = ("newpar_block", "newpar")
"""Elements of the source that begin with a sentence (``head (1 s)``), as in GUM and AMALGUM."""
TITLE_KEY, SPEAKER_KEY = "meta::title", "speaker"
"""Title of the document, and speaker, as in GUM."""
KEYS: Final = pl.Enum(
    ["sent_id", "text", COLUMNS_KEY, *GENRE_KEYS, *NEWDOC_KEYS, SECTION_KEY, *PARAGRAPH_KEYS, TITLE_KEY, SPEAKER_KEY]
)
"""The comments that the reader uses."""
STRUCTURE: Final = {key: (key,) for key in (SECTION_KEY, TITLE_KEY, SPEAKER_KEY)} | {PARAGRAPH_KEYS[0]: PARAGRAPH_KEYS}
"""The columns of comments on the structure of documents, and the comments that they are from."""
COLUMNS: Final = {"given_id": ("sent_id",), "text": ("text",), "genre": GENRE_KEYS, **STRUCTURE}
"""All columns of what is written in the comments of a sentence."""
CODES: Final = {key: code for code, key in enumerate(KEYS.categories)}


def read_comments(text: Text) -> pl.DataFrame:
    """The comments the reader uses, in order: ``line`` and ``block`` (numbers), ``key``, and ``value`` or null.

    A comment is ``# key = value``, ``# key=value`` or ``# key``; white space around key and value does not count.
    """
    line = np.flatnonzero(text.is_comment)
    parts = text.lines.gather(line).str.strip_prefix("#").str.splitn("=", 2).alias("parts").to_frame()
    key, value = (pl.col("parts").struct[part].str.strip_chars(WHITE) for part in ("field_0", "field_1"))
    used = parts.with_columns(key=key.cast(KEYS, strict=False), line=line, block=text.block[line]).drop_nulls("key")
    return used.select("line", "block", "key", value=pl.when(value != "").then(value))


def read_sentences(text: Text, comments: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """One row per block with word lines, good or bad.

    Of several comments with one key the last with a value counts, as in ``conllu``. A ``# newdoc`` in a block of
    comments alone belongs to the next sentence.

    Returns:
        ``block``, ``line`` (the first of the block), ``piece`` (index), ``number`` (1-based in the file), ``sent_id``
        (made of file name and number where there is none), ``id_line`` (its line), ``newdoc`` (whether a document
        begins), ``newdoc_id``, and the columns of :data:`COLUMNS`.
    """
    block = rows["block"].to_numpy()
    block = block[changes(block)]
    line = text.first[block]
    piece = text.piece(line)
    before = np.array([part.sentence for part in text.pieces])
    number = np.arange(len(block)) - np.searchsorted(piece, np.arange(len(before)))[piece] + before[piece] + 1
    owner = np.searchsorted(block, comments["block"].to_numpy())
    is_inside = np.append(block, -1)[owner] == comments["block"].to_numpy()
    is_filled = comments["value"].is_not_null().to_numpy()
    code = comments["key"].to_physical().to_numpy()

    def last(keys: Sequence[str], where: Flags) -> pl.Series:
        """Per sentence the index of the last comment with one of the keys, where a condition holds; else null."""
        chosen = np.flatnonzero(np.isin(code, [CODES[key] for key in keys]) & where)
        at = np.full(len(block), -1)
        at[owner[chosen]] = chosen
        return pl.Series(pa.array(at, mask=at < 0))

    given = {name: last(keys, is_inside & is_filled) for name, keys in COLUMNS.items()}
    is_followed = owner < len(block)
    found = pl.DataFrame(
        {
            "block": block,
            "line": line,
            "piece": piece.astype(np.uint32),
            "number": number.astype(np.uint32),
            "id_line": comments["line"].gather(given["given_id"]),
            "newdoc": last(NEWDOC_KEYS, is_followed).is_not_null(),
            "newdoc_id": comments["value"].gather(last(NEWDOC_KEYS, is_followed & is_filled)),
            **{name: comments["value"].gather(at) for name, at in given.items()},
        }
    )
    stems = pl.Series([part.stem for part in text.pieces], dtype=pl.String).gather(piece)
    return found.with_columns(sent_id=pl.coalesce("given_id", stems + "-" + pl.col("number").cast(pl.String)))


def check_sentences(text: Text, sentences: pl.DataFrame, comments: pl.DataFrame) -> Iterator[Fault]:
    """No two sentences of a file have the same ``sent_id``, and a file that names its columns has those of CoNLL-U."""
    ids = sentences.select("piece", "block", "given_id", line="id_line").drop_nulls("given_id")
    if ids["given_id"].n_unique() < ids.height:
        again = ids.select(pl.int_range(pl.len()).over("piece", "given_id") > 0).to_series().to_numpy()
        yield from problems(ids, again, "duplicate sent_id", "sent_id {given_id} occurs earlier in the file")
    numbers = comments.filter(pl.col("key") == SECTION_KEY, pl.col("block").is_in(sentences["block"].implode()))
    odd = numbers["value"].str.contains(r"^\d{1,9}$").not_().fill_null(value=True).to_numpy()
    yield from problems(numbers, odd, "section", "section_number is '{value}'; sections are numbered from 0, the lead")
    usual = [name.upper() for name in NAMES]
    named = comments.filter(pl.col("key") == COLUMNS_KEY)
    other = [(value or "").upper().split() != usual for value in named["value"].to_list()]
    unread = np.isin(sentences["piece"].to_numpy(), text.piece(named["line"].to_numpy()[np.array(other, bool)]))
    yield from problems(sentences, unread, "columns", f"the file's columns (global.columns) are not {' '.join(usual)}")


def without(sentences: pl.DataFrame, bad: Flags) -> pl.DataFrame:
    """The good sentences; where a bad one begins a document, the next one of the file begins it instead."""
    piece, newdoc = sentences["piece"].to_numpy(), sentences["newdoc"].to_numpy().copy()
    ids = sentences["newdoc_id"].to_list()
    for i in np.flatnonzero(bad[:-1]).tolist():
        if newdoc[i] and piece[i + 1] == piece[i] and not newdoc[i + 1]:
            newdoc[i + 1], ids[i + 1] = True, ids[i]
    moved = sentences.with_columns(newdoc=newdoc, newdoc_id=pl.Series(ids, dtype=pl.String))
    return moved.filter(pl.Series(~bad))
