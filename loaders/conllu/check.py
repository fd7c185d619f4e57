"""The checks of the reader for malformed sentences; each runs over all lines at once.

A check gives a :class:`Fault` for the first wrong line of a sentence; :func:`first_problems` keeps the first fault of
each sentence. Some checks use the message of the ``conllu`` library, if it rejects the line too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from conllu.exceptions import ParseException
from conllu.parser import DEFAULT_FIELDS, parse_line

from discoprobe.loaders.conllu.word_lines import NAMES, NO_NUMBER, changes, position_in_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from discoprobe.loaders.conllu.word_lines import Flags, Ints, Text, Words

EMPTY_NODE: Final = r"^(0|[1-9][0-9]*)\.[1-9][0-9]*$"
LARGEST: Final = 2**16 - 1
"""The largest word number the tables hold."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in a sentence: the reason by which it is counted, the numbers of line and block, the message."""

    reason: str
    line: int
    block: int
    message: str


def problems(
    rows: pl.DataFrame, where: Flags, reason: str, message: str, *, conllu_words: bool = False, **numbers: Ints
) -> Iterator[Fault]:
    """A fault for the first row of each block where a condition holds (``where``).

    ``message`` is a format string over the columns of ``rows``, which include ``line`` and ``block``, and ``numbers``.
    With ``conllu_words`` the message of the ``conllu`` library is used instead, if it rejects the line.
    """
    if where.any():
        first = rows.with_columns(**numbers).filter(pl.Series(where)).unique("block", keep="first", maintain_order=True)
        for row in first.iter_rows(named=True):
            words = message.format(**row)
            try:
                if conllu_words:
                    parse_line("\t".join(row.get(name, "_") for name in NAMES), DEFAULT_FIELDS)
            except ParseException as error:
                words = str(error)
            yield Fault(reason, row["line"], row["block"], words)


def first_problems(reported: Iterable[Fault]) -> dict[int, Fault]:
    """The fault on the first line of each block, by block; of several on one line, the first one reported."""
    first: dict[int, Fault] = {}
    for fault in sorted(reported, key=lambda fault: (fault.block, fault.line)):
        first.setdefault(fault.block, fault)
    return first


def check_lines(text: Text, rows: pl.DataFrame) -> Iterator[Fault]:
    """Check that every line is UTF-8 without a carriage return inside, and that every word line has ten columns."""
    for line, (reason, message) in text.faults.items():
        yield Fault(reason, line, int(text.block[line]), message)
    message = f"{{n_cells}} columns where a word line has {len(NAMES)}, separated by tabs"
    yield from problems(rows, (rows["n_cells"] != len(NAMES)).to_numpy(), "columns", message)


def check_ids(words: Words) -> Iterator[Fault]:
    """Check that words are numbered 1, 2, 3 …, and that every other line is a multiword token or an empty node."""
    expected = position_in_block(words.block) + 1
    rows, message = words.rows, "ID {id} where {expected} was expected"
    yield from problems(rows, words.number != expected, "ID sequence", message, expected=expected)
    yield from problems(rows, expected > LARGEST, "sentence length", f"more than {LARGEST} words")
    unknown = ~words.is_word
    unknown[words.ranges["at"].to_numpy()] = False
    if unknown.any():
        unknown[unknown] = ~words.lines.filter(pl.Series(unknown))["id"].str.contains(EMPTY_NODE).to_numpy()
    yield from problems(words.lines, unknown, "ID", "'{id}' is not a valid ID", conllu_words=True)
    wordless = ~np.isin(words.lines["block"].to_numpy(), words.block)
    yield from problems(words.lines, wordless, "no words", "the sentence has no words")


def check_ranges(words: Words) -> Iterator[Fault]:
    """Check that a multiword token ``a-b`` is before word a, in one sentence with its words, and overlaps no other."""
    at, first, last, block = (words.ranges[name].to_numpy() for name in ("word", "first", "last", "block"))
    end = at + last - first
    numbers, blocks, n = np.append(words.number, NO_NUMBER), np.append(words.block, NO_NUMBER), len(words.number)
    inside = (first <= last) & (numbers[at] == first) & (blocks[at] == block) & (blocks[end.clip(0, n)] == block)
    before = np.maximum.accumulate(np.append(-1, np.where(inside, end, -1)))[:-1]
    message = "multiword token {id} does not stand before its words, or overlaps another"
    yield from problems(words.ranges, ~inside | (at <= before), "multiword token", message)


def check_heads(words: Words) -> Iterator[Fault]:
    """Check that HEAD is ``_`` for all words of a sentence, or that every word has one and they form a tree."""
    rows, sentence = words.rows, words.sentence
    length = np.bincount(sentence)[sentence]
    no_number = words.head == NO_NUMBER
    missing = (rows["head"] == "_").to_numpy() if no_number.any() else no_number
    message = "HEAD '{head}' is not a word number"
    yield from problems(rows, no_number & ~missing, "HEAD", message, conllu_words=True)
    other = ~words.is_word & (words.heads == NO_NUMBER) & (words.lines["head"] != "_").to_numpy()
    yield from problems(words.lines, other, "HEAD", "HEAD '{head}' of a line that is no word", conllu_words=True)
    outside = words.head > length
    message = "HEAD {head} points outside the sentence ({length} words)"
    yield from problems(rows, outside, "HEAD range", message, length=length)
    partly = missing & (np.bincount(sentence, missing)[sentence] < length)
    yield from problems(rows, partly, "HEAD missing", "HEAD is missing here, but not on the other words")
    yield from _check_trees(words, np.isin(words.block, words.block[no_number | outside]))


def _check_trees(words: Words, skipped: Flags) -> Iterator[Fault]:
    """Check for one root and no cycles; ``skipped`` are the words of sentences in which some word has no valid head."""
    opens = changes(words.block)
    is_root = (words.head == 0) & ~skipped
    roots = np.bincount(words.sentence, is_root)[words.sentence]
    earlier = np.cumsum(is_root) - is_root
    second = is_root & (earlier > earlier[opens][words.sentence])
    parent = np.flatnonzero(opens)[words.sentence] + words.head - 1
    lost = ~_reaches_root(parent, is_root | skipped) & (roots > 0)
    rootless = opens & (roots == 0) & ~skipped
    yield from problems(words.rows, rootless, "root", "no word has HEAD 0: the sentence has no root")
    yield from problems(words.rows, second, "root", "a second word with HEAD 0: a sentence has one root")
    yield from problems(words.rows, lost, "HEAD cycle", "the HEADs from this word run in a circle")


def _reaches_root(parent: Ints, is_root: Flags) -> Flags:
    """Whether following the heads from each word leads to a root."""
    reached, parent = is_root, np.where(is_root, np.arange(len(parent)), parent)
    for _ in range(LARGEST.bit_length() + 1):
        if reached.all():
            break
        reached, parent = reached | reached[parent], parent[parent]
    return reached


def check_cells(words: Words, unknown_tag: Flags) -> Iterator[Fault]:
    """Check that cells are not empty, UPOS is no ``unknown_tag`` (a flag per word), and FEATS are ``A=b|C=d``."""
    empty = np.logical_or.reduce([(words.lines[name] == "").to_numpy() for name in ("form", "lemma", "upos", "deprel")])
    yield from problems(words.lines, empty, "empty cell", "a column is empty; a missing value is written _")
    feats = words.lines["feats"]
    wrong = [value for value in feats.unique().to_list() if value not in {"", "_"} and not well_formed_feats(value)]
    message = "FEATS '{feats}' is not of the form Name=Value|Name=Value"
    yield from problems(words.lines, feats.is_in(wrong).to_numpy(), "FEATS", message) if wrong else ()
    yield from problems(words.rows, unknown_tag, "UPOS", "unknown UPOS '{upos}'")


@lru_cache(maxsize=2**16)
def well_formed_feats(value: str) -> bool:
    """Whether FEATS are pairs ``Name=Value`` with names that differ, separated by ``|``."""
    pairs = [pair.partition("=") for pair in value.split("|")]
    names = {name for name, _, _ in pairs}
    return len(names) == len(pairs) and all(name and filled and "=" not in filled for name, _, filled in pairs)
