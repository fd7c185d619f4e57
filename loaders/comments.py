"""The comments of a CoNLL-U text: what the reader needs of them, one row per sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from discoprobe.loaders.lines import COMMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.loaders.lines import Flags, Ints, Lines

GENRE_KEYS: Final = ("meta::genre", "genre", "document_genre")
NEWDOC_KEYS: Final = ("newdoc", "newdoc id", "newdoc_id")
NONE: Final = -1
COLUMNS_KEY: Final = "global.columns"
KEYS: Final = ("sent_id", "text", COLUMNS_KEY, *GENRE_KEYS, *NEWDOC_KEYS)


def read_comments(lines: Lines) -> pl.DataFrame:
    """The comments the reader uses, in order: ``block``, ``row`` (of the line), ``key`` and ``value``.

    A comment is ``# key = value``, ``# key=value`` or ``# key``; white space around key and value does not count, and
    other comments are left out.
    """
    rows = lines.rows(COMMENT)
    raw = pl.Series("line", lines.text(rows).decode(errors="replace").split("\n")[:-1], pl.String)
    parts = pl.col("line").str.slice(1).str.splitn("=", 2).struct
    return (
        pl.DataFrame({"block": lines.blocks[rows], "row": rows, "line": raw})
        .select(
            "block",
            "row",
            key=parts.field("field_0").str.strip_chars(),
            value=parts.field("field_1").str.strip_chars().replace("", None),
        )
        .filter(pl.col("key").is_in(KEYS))
    )


def by_sentence(comments: pl.DataFrame, blocks: Ints) -> pl.DataFrame:
    """One row per sentence: ``sent_id``, ``sent_id_row`` (its line), ``text``, ``genre``, ``newdoc``, ``newdoc_id``.

    ``blocks`` are the blocks that hold words; a ``# newdoc`` in a block of comments alone belongs to the next sentence.
    Of several comments with one key the last with a value counts, as in ``conllu``.
    """
    block = comments["block"].to_numpy()
    owner = np.searchsorted(blocks, block)
    inside = owner < len(blocks)
    own = np.zeros(len(block), bool)
    own[inside] = blocks[owner[inside]] == block[inside]
    key, value = comments["key"], comments["value"]
    has_value = value.is_not_null().to_numpy()

    def last(keys: Sequence[str], where: Flags) -> pl.Series:
        chosen = np.flatnonzero(key.is_in(list(keys)).to_numpy() & where)
        found = np.full(len(blocks), NONE, np.int64)
        found[owner[chosen]] = chosen
        return pl.Series(found).replace(NONE, None)

    sent_id = last(["sent_id"], own & has_value)
    newdoc = last(NEWDOC_KEYS, inside)
    return pl.DataFrame(
        {
            "sent_id": value.gather(sent_id),
            "sent_id_row": comments["row"].gather(sent_id),
            "text": value.gather(last(["text"], own & has_value)),
            "genre": value.gather(last(GENRE_KEYS, own & has_value)),
            "newdoc": newdoc.is_not_null(),
            "newdoc_id": value.gather(last(NEWDOC_KEYS, inside & has_value)),
        },
    )
