"""What is wrong with a corpus file: every check of the reader, over all lines at once.

A check gives a :class:`Finding`: a reason and the lines it holds for. The wording of one message is made when it is
shown; where the ``conllu`` library rejects the line too, its words are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import conllu.parser
import numpy as np
from conllu.exceptions import ParseException

from discoprobe.loaders.cells import NO_NUMBER
from discoprobe.loaders.words import NAMES, READ, Table, Words, changes, pick, position_in_block

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from discoprobe.loaders.lines import Flags, Ints

EMPTY_NODE: Final = r"^(0|[1-9][0-9]*)\.[1-9][0-9]*$"
LARGEST: Final = 2**16 - 1
"""The largest word number the tables hold."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong on some lines.

    Attributes:
        reason: what kind of error, the key under which it is counted.
        rows: numbers of the lines.
        blocks: number of the block of each line.
        message: what is wrong with the i-th of those lines.
    """

    reason: str
    rows: Ints
    blocks: Ints
    message: Callable[[int], str]


def finding(table: Table, where: Flags | Ints, reason: str, message: Callable[[int], str]) -> Finding:
    """What is wrong with the rows of a table where a condition holds; ``message`` takes the row of the table."""
    rows = np.flatnonzero(where) if where.dtype == bool else where
    return Finding(reason, table.rows[rows], table.blocks[rows], lambda i: message(int(rows[i])))


def in_words_of_conllu(table: Table, row: int, otherwise: str) -> str:
    """The ``conllu`` library's complaint about a line, or other words if it has none."""
    line = "\t".join(table.cell(row, name) if name in READ else "_" for name in NAMES)
    try:
        conllu.parser.parse_line(line, conllu.parser.DEFAULT_FIELDS)
    except ParseException as error:
        return str(error)
    return otherwise


def check_ids(table: Table, words: Words) -> list[Finding]:
    """Word numbers run 1, 2, 3 … in each sentence; every other line is a multiword token or an empty node."""
    expected = position_in_block(words.blocks) + 1

    def sequence(i: int) -> str:
        return f"ID {words.numbers[i]} where {expected[i]} was expected"

    wrong = np.flatnonzero(words.numbers != expected)
    rows = words.rows[wrong]
    out_of_order = Finding("ID sequence", table.rows[rows], table.blocks[rows], lambda i: sequence(int(wrong[i])))
    too_many = finding(table, words.rows[expected > LARGEST], "sentence length", lambda _: f"more than {LARGEST} words")
    neither = np.zeros(0, bool)
    if len(words.others):
        neither = ~(table.strings("id", words.others).str.contains(EMPTY_NODE).to_numpy())
        neither[np.isin(words.others, words.ranges.row)] = False
    bad = finding(
        table,
        words.others[neither],
        "ID",
        lambda row: in_words_of_conllu(table, row, f"'{table.cell(row, 'id')}' is not a valid ID"),
    )
    wordless = np.setdiff1d(table.blocks[changes(table.blocks)], words.blocks[changes(words.blocks)])
    first = np.searchsorted(table.blocks, wordless)
    return [out_of_order, too_many, bad, finding(table, first, "no words", lambda _: "the sentence has no words")]


def check_ranges(table: Table, words: Words) -> Finding:
    """A multiword token ``a-b`` stands before word a, its words are in the sentence, and no other has them too."""
    ranges, n = words.ranges, len(words.rows)
    last = ranges.word + ranges.last - ranges.first
    inside = (ranges.first <= ranges.last) & (last < n)
    held = np.where(inside, ranges.word, 0), np.where(inside, last, 0)
    if n:
        block = table.blocks[ranges.row]
        inside &= words.numbers[held[0]] == ranges.first
        inside &= (words.blocks[held[0]] == block) & (words.blocks[held[1]] == block)
    apart = np.ones(len(last), bool)
    apart[1:] = ranges.word[1:] > np.maximum.accumulate(np.where(inside, last, -1))[:-1]
    return finding(
        table,
        ranges.row[~(inside & apart)],
        "multiword token",
        lambda row: f"multiword token {table.cell(row, 'id')} does not stand before its words, or overlaps another",
    )


def check_heads(table: Table, words: Words) -> list[Finding]:
    """HEAD is ``_`` on all words of a sentence, or every word has one, and together they are a tree."""
    heads, blocks = words.heads, words.blocks
    if not len(heads):
        return []
    missing = pick(table.is_missing("head"), words.rows)
    opens = np.flatnonzero(changes(blocks))
    sizes = np.diff(np.append(opens, len(blocks)))
    n_missing = np.add.reduceat(missing.astype(np.int64), opens)
    partly = np.repeat((n_missing > 0) & (n_missing < sizes), sizes) & missing
    length = np.repeat(sizes, sizes)
    no_number = (heads == NO_NUMBER) & ~missing
    outside = heads > length
    rows = words.rows

    def far(row: int) -> str:
        word = int(np.searchsorted(rows, row))
        return f"HEAD {table.cell(row, 'head')} points outside the sentence ({length[word]} words)"

    return [
        finding(
            table,
            rows[no_number],
            "HEAD",
            lambda row: in_words_of_conllu(table, row, f"HEAD '{table.cell(row, 'head')}' is not a word number"),
        ),
        *_check_other_heads(table, words),
        finding(table, rows[outside], "HEAD range", far),
        finding(table, rows[partly], "HEAD missing", lambda _: "HEAD is missing here, but not on the other words"),
        *_check_trees(table, words, _whole_blocks(no_number | outside | missing, opens, sizes)),
    ]


def _check_other_heads(table: Table, words: Words) -> list[Finding]:
    """HEAD of a multiword token or an empty node is ``_``, or at least a number."""
    wrong = ~table.is_missing("head")[words.others] & (table.head[words.others] == NO_NUMBER)

    def message(row: int) -> str:
        return in_words_of_conllu(table, row, f"HEAD '{table.cell(row, 'head')}' of a line that is no word")

    return [finding(table, words.others[wrong], "HEAD", message)]


def _whole_blocks(where: Flags, opens: Ints, sizes: Ints) -> Flags:
    """Whether each word is in a sentence in which a condition holds for some word."""
    return np.repeat(np.logical_or.reduceat(where, opens), sizes)


def _check_trees(table: Table, words: Words, skip: Flags) -> list[Finding]:
    """One root, and no cycles, in the sentences whose words are not to be skipped."""
    rows, heads, blocks = words.rows[~skip], words.heads[~skip], words.blocks[~skip]
    opens = np.flatnonzero(changes(blocks))
    if not len(opens):
        return []
    sizes = np.diff(np.append(opens, len(blocks)))
    is_root = heads == 0
    roots = np.add.reduceat(is_root.astype(np.int64), opens)
    several = is_root & np.repeat(roots > 1, sizes)
    several[np.flatnonzero(several)[changes(blocks[several])]] = False
    parent = np.where(is_root, np.arange(len(rows)), np.repeat(opens, sizes) + heads - 1)
    lost = ~_reaches_root(parent, is_root) & np.repeat(roots > 0, sizes)
    return [
        finding(table, rows[opens[roots == 0]], "root", lambda _: "no word has HEAD 0: the sentence has no root"),
        finding(table, rows[several], "root", lambda _: "a second word with HEAD 0: a sentence has one root"),
        finding(table, rows[lost], "HEAD cycle", lambda _: "the HEADs from this word run in a circle"),
    ]


def _reaches_root(parent: Ints, is_root: Flags) -> Flags:
    """Whether each word comes to a root when its heads are followed; a root's parent is itself."""
    reached = is_root.copy()
    for _ in range(LARGEST.bit_length() + 1):
        if reached.all():
            break
        before = int(reached.sum())
        reached = reached | reached[parent]
        parent = parent[parent]
        if int(reached.sum()) == before and bool((parent == parent[parent]).all()):
            break
    return reached


def check_cells(table: Table, feats: pl.Series, unknown_tags: Ints) -> list[Finding]:
    """Cells are not empty, UPOS is one of the 17 where it is to be universal, FEATS are ``A=b|C=d``.

    Args:
        table: all word lines.
        feats: FEATS of each, null for none.
        unknown_tags: the rows in which UPOS is not one of the 17, and should be.
    """
    empty = np.logical_or.reduce([table.is_empty(name) for name in ("form", "lemma", "upos", "deprel")])
    wrong = [value for value in feats.unique().to_list() if value is not None and not well_formed_feats(value)]
    return [
        finding(table, empty, "empty cell", lambda _: "a column is empty; a missing value is written _"),
        finding(
            table,
            feats.is_in(wrong).fill_null(value=False).to_numpy() if wrong else table.rows[:0],
            "FEATS",
            lambda row: f"FEATS '{feats[row]}' is not of the form Name=Value|Name=Value",
        ),
        finding(table, unknown_tags, "UPOS", lambda row: f"unknown UPOS '{table.cell(row, 'upos')}'"),
    ]


@lru_cache(maxsize=2**16)
def well_formed_feats(value: str) -> bool:
    """Whether FEATS are pairs ``Name=Value`` with names that differ, separated by ``|``."""
    pairs = [pair.partition("=") for pair in value.split("|")]
    names = {name for name, _, _ in pairs}
    return len(names) == len(pairs) and all(name and filled and "=" not in filled for name, _, filled in pairs)
