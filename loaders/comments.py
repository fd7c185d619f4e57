"""The comments of a CoNLL-U text: what the reader needs of them, one row per sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
import pyarrow as pa

from discoprobe.loaders.cells import has_white_edge, starts_with, strings
from discoprobe.loaders.lines import COMMENT, is_utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.loaders.lines import Flags, Ints, Lines

GENRE_KEYS: Final = ("meta::genre", "genre", "document_genre")
NEWDOC_KEYS: Final = ("newdoc", "newdoc id", "newdoc_id")
NONE: Final = -1
COLUMNS_KEY: Final = "global.columns"
KEYS: Final = ("sent_id", "text", COLUMNS_KEY, *GENRE_KEYS, *NEWDOC_KEYS)
NUMBERS: Final = {key: number for number, key in enumerate(KEYS)}
USUAL: Final = {key: f"# {key} = ".encode() for key in ("sent_id", "text", *GENRE_KEYS)}
"""What nearly all comments that count begin with; the value follows."""
OPENINGS: Final = np.array(
    [f"# {key}{after}"[:7].encode() for key in KEYS for after in "= \t\v\f\r\n\x1c\x1d\x1e\x1f\x85"]
)
"""What the first seven bytes can be of a comment that counts, if it begins with a number sign and one space."""


def read_comments(lines: Lines) -> pl.DataFrame:
    """The comments the reader uses, in order: ``block``, ``row`` (of the line), ``key`` (index in KEYS) and ``value``.

    A comment is ``# key = value``, ``# key=value`` or ``# key``; white space around key and value does not count, and
    other comments are left out.
    """
    rows = lines.rows(COMMENT)
    found_rows, found_keys, found_values = [], [], []
    for key, opening in USUAL.items() if is_utf8(lines.data) else ():
        usual = starts_with(lines.data, lines.starts[rows], opening)
        starts, ends = lines.starts[rows[usual]] + len(opening), lines.ends[rows[usual]]
        plain = (starts < ends) & ~has_white_edge(lines.data, starts, ends)
        found_rows.append(rows[usual[plain]])
        found_keys.append(np.full(len(found_rows[-1]), NUMBERS[key], np.int64))
        found_values.append(strings(lines.data, starts[plain], ends[plain]))
        rows = np.delete(rows, usual[plain])
    others = [(row, *found) for row in _possible(lines, rows).tolist() if (found := _read(lines.line(row)))]
    found_rows.append(np.array([row for row, _, _ in others], np.int64))
    found_keys.append(np.array([key for _, key, _ in others], np.int64))
    found_values.append(pl.Series([value for _, _, value in others], dtype=pl.String))
    row = np.concatenate(found_rows)
    order = np.argsort(row)
    values = pl.concat(found_values).gather(order)
    row = row[order]
    return pl.DataFrame(
        {"row": row, "key": np.concatenate(found_keys)[order], "value": values, "block": lines.blocks[row]}
    )


def _possible(lines: Lines, rows: Ints) -> Ints:
    """The comments that may be of use, by their first letters."""
    starts = lines.starts[rows]
    windows = np.ndarray((len(lines.data) - 6,), "S7", lines.data, strides=(1,))
    unspaced = (lines.array[starts + 1] != ord(" ")) | has_white_edge(lines.data, starts + 2, lines.ends[rows])
    found: Ints = rows[unspaced | np.isin(windows[starts], OPENINGS)]
    return found


def _read(line: bytes) -> tuple[int, str | None] | None:
    """The number of a comment's key and its value, null for none; None for a comment of no use."""
    key, _, value = line[1:].decode(errors="replace").partition("=")
    number = NUMBERS.get(key.strip())
    return None if number is None else (number, value.strip() or None)


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
        wanted = np.isin(np.arange(len(KEYS)), [NUMBERS[name] for name in keys])
        chosen = np.flatnonzero(wanted[key] & where)
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
    absent = at == NONE
    if absent.all():
        return pl.Series([None], dtype=values.dtype).new_from_index(0, len(at))
    return values.gather(pl.Series(pa.array(at, mask=absent)) if absent.any() else at)
