"""The comments of a CoNLL-U text: what the reader needs of them, one row per sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from discoprobe.loaders.cells import strings
from discoprobe.loaders.lines import COMMENT, is_utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.loaders.lines import Flags, Ints, Lines

GENRE_KEYS: Final = ("meta::genre", "genre", "document_genre")
NEWDOC_KEYS: Final = ("newdoc", "newdoc id", "newdoc_id")
NONE: Final = -1
COLUMNS_KEY: Final = "global.columns"
KEYS: Final = ("sent_id", "text", COLUMNS_KEY, *GENRE_KEYS, *NEWDOC_KEYS)
KEY: Final = pl.Enum(KEYS)


def read_comments(lines: Lines) -> pl.DataFrame:
    """The comments the reader uses, in order: ``block``, ``row`` (of the line), ``key`` (index in KEYS) and ``value``.

    A comment is ``# key = value``, ``# key=value`` or ``# key``; white space around key and value does not count, and
    other comments are left out.
    """
    rows = lines.rows(COMMENT)
    parts = pl.col("line").str.splitn("=", 2).struct
    found = (
        pl.LazyFrame({"row": rows, "line": _texts(lines, rows)})
        .select(
            "row", key=parts.field("field_0").str.strip_chars().cast(KEY, strict=False), line=parts.field("field_1")
        )
        .filter(pl.col("key").is_not_null())
        .select("row", pl.col("key").to_physical(), value=pl.col("line").str.strip_chars().replace("", None))
        .collect()
    )
    return found.with_columns(block=pl.Series(lines.blocks[found["row"].to_numpy()]))


def _texts(lines: Lines, rows: Ints) -> pl.Series:
    """The comments with these numbers, without the number sign."""
    if is_utf8(lines.data):
        return strings(lines.data, lines.starts[rows] + 1, lines.ends[rows])
    return pl.Series([lines.line(row)[1:].decode(errors="replace") for row in rows.tolist()], dtype=pl.String)


def by_sentence(comments: pl.DataFrame, blocks: Ints) -> pl.DataFrame:
    """One row per sentence: ``sent_id``, ``sent_id_row`` (its line), ``text``, ``genre``, ``newdoc``, ``newdoc_id``.

    ``blocks`` are the blocks that hold words; a ``# newdoc`` in a block of comments alone belongs to the next sentence.
    Of several comments with one key the last with a value counts, as in ``conllu``.
    """
    block = comments["block"].to_numpy()
    owner = np.searchsorted(blocks, block)
    inside = owner < len(blocks)
    own = inside.copy()
    own[inside] = blocks[owner[inside]] == block[inside]
    key, value = comments["key"].to_numpy(), comments["value"]
    has_value = value.is_not_null().to_numpy()

    def last(keys: Sequence[str], where: Flags) -> Ints:
        chosen = np.flatnonzero(np.isin(key, [KEYS.index(name) for name in keys]) & where)
        found = np.full(len(blocks), NONE, np.int64)
        found[owner[chosen]] = chosen
        return found

    sent_id = last(["sent_id"], own & has_value)
    return pl.DataFrame(
        {
            "sent_id": _gather(value, sent_id),
            "sent_id_row": _gather(comments["row"], sent_id),
            "text": _gather(value, last(["text"], own & has_value)),
            "genre": _gather(value, last(GENRE_KEYS, own & has_value)),
            "newdoc": last(NEWDOC_KEYS, inside) != NONE,
            "newdoc_id": _gather(value, last(NEWDOC_KEYS, inside & has_value)),
        },
    )


def _gather(values: pl.Series, at: Ints) -> pl.Series:
    """The values at some places, null for :data:`NONE`."""
    if (at == NONE).all():
        return pl.Series([None], dtype=values.dtype).new_from_index(0, len(at))
    return values.gather(pl.Series(at).replace(NONE, None))
