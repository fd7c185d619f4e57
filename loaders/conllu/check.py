"""What is wrong with a corpus file: every check of the reader, over all lines at once.

Each check gives a :class:`Problem` for the first line of a sentence that it finds fault with; :func:`first_problems`
keeps the first of each sentence. Where the ``conllu`` library rejects the line too, its words are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import conllu.parser
import numpy as np
import polars as pl
from conllu.exceptions import ParseException

from discoprobe.loaders.conllu.columns import NAMES, NO_NUMBER, READ, changes, position_in_block, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from discoprobe.loaders.conllu.columns import Flags, Ints, Text, Words

    Row = dict[str, Any]

EMPTY_NODE: Final = r"^(0|[1-9][0-9]*)\.[1-9][0-9]*$"
LARGEST: Final = 2**16 - 1
"""The largest word number the tables hold."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a sentence: the kind under which it is counted, line and block (numbers), and the words."""

    reason: str
    line: int
    block: int
    message: str


def problems(rows: pl.DataFrame, where: Flags, reason: str, message: Callable[[Row], str] | str) -> Iterator[Problem]:
    """The first row of each block in which a condition holds, as a problem; rows have ``line`` and ``block``."""
    if where.any():
        for row in (
            rows.filter(pl.Series(where)).unique("block", keep="first", maintain_order=True).iter_rows(named=True)
        ):
            yield Problem(reason, row["line"], row["block"], message if isinstance(message, str) else message(row))


def first_problems(found: Iterable[Problem]) -> dict[int, Problem]:
    """The problem on the first line of each block, by block in order; of several on one line, the first one found."""
    first: dict[int, Problem] = {}
    for problem in found:
        if problem.block not in first or problem.line < first[problem.block].line:
            first[problem.block] = problem
    return dict(sorted(first.items()))


def in_words_of_conllu(row: Row, otherwise: str) -> str:
    """The ``conllu`` library's complaint about a line, or other words if it has none."""
    line = "\t".join(row[name] if name in READ else "_" for name in NAMES)
    try:
        conllu.parser.parse_line(line, conllu.parser.DEFAULT_FIELDS)
    except ParseException as error:
        return str(error)
    return otherwise


def check_lines(text: Text, rows: pl.DataFrame) -> Iterator[Problem]:
    """Every line is UTF-8 and has no carriage return inside, and every word line has ten columns."""
    for line, problem in text.not_utf8.items():
        yield Problem("encoding", line, int(text.block[line]), problem)
    for line in text.with_return:
        yield Problem("line end", line, int(text.block[line]), "a carriage return inside the line")
    where = (rows["misc"].is_null() | rows["more"].is_not_null()).to_numpy()

    def message(row: Row) -> str:
        n = text.lines[row["line"]].count("\t") + 1
        return f"{n} columns where a word line has {len(NAMES)}, separated by tabs"

    yield from problems(rows, where, "columns", message)


def check_ids(rows: pl.DataFrame, words: Words) -> Iterator[Problem]:
    """Word numbers run 1, 2, 3 … in each sentence; every other line is a multiword token or an empty node."""
    expected = position_in_block(words.block) + 1
    numbered = words.rows.with_columns(expected=expected)
    yield from problems(
        numbered,
        words.number != expected,
        "ID sequence",
        lambda row: f"ID {row['number']} where {row['expected']} was expected",
    )
    yield from problems(words.rows, expected > LARGEST, "sentence length", f"more than {LARGEST} words")
    others = words.others.filter(~pl.col("line").is_in(words.ranges["line"].implode()))
    yield from problems(
        others,
        ~others["id"].str.contains(EMPTY_NODE).to_numpy(),
        "ID",
        lambda row: in_words_of_conllu(row, f"'{row['id']}' is not a valid ID"),
    )
    wordless = ~np.isin(others["block"].to_numpy(), words.block)
    blocks = others.filter(pl.Series(wordless))["block"].unique()
    wordless = rows["block"].is_in(blocks.implode()).to_numpy() if len(blocks) else np.zeros(rows.height, bool)
    yield from problems(rows, wordless, "no words", "the sentence has no words")


def check_ranges(words: Words) -> Iterator[Problem]:
    """A multiword token ``a-b`` stands before word a, its words are in the sentence, and no other has them too."""
    at, first, last = (words.ranges[name].to_numpy() for name in ("word", "first", "last"))
    n = len(words.number)
    end = at + last - first
    inside = (first <= last) & (end < n)
    if n:
        block = words.ranges["block"].to_numpy()
        begin, close = np.where(inside, at, 0), np.where(inside, end, 0)
        inside &= (words.number[begin] == first) & (words.block[begin] == block) & (words.block[close] == block)
    apart = np.ones(len(end), bool)
    apart[1:] = at[1:] > np.maximum.accumulate(np.where(inside, end, -1))[:-1]
    yield from problems(
        words.ranges,
        ~(inside & apart),
        "multiword token",
        lambda row: f"multiword token {row['id']} does not stand before its words, or overlaps another",
    )


def check_heads(words: Words) -> Iterator[Problem]:
    """HEAD is ``_`` on all words of a sentence, or every word has one, and together they are a tree."""
    opens = np.flatnonzero(changes(words.block))
    sizes = np.diff(np.append(opens, len(words.block)))
    length = np.repeat(sizes, sizes)
    missing = (words.rows["head"] == "_").to_numpy()
    no_number = (words.head == NO_NUMBER) & ~missing
    outside = words.head > length
    n_missing = np.repeat(np.add.reduceat(missing, opens, dtype=np.int64), sizes) if len(opens) else length
    rows = words.rows.with_columns(length=length)
    yield from problems(
        rows,
        no_number,
        "HEAD",
        lambda row: in_words_of_conllu(row, f"HEAD '{row['head']}' is not a word number"),
    )
    other = (words.others["head"] != "_").to_numpy() & (whole_numbers(words.others["head"]) == NO_NUMBER)
    yield from problems(
        words.others,
        other,
        "HEAD",
        lambda row: in_words_of_conllu(row, f"HEAD '{row['head']}' of a line that is no word"),
    )
    yield from problems(
        rows,
        outside,
        "HEAD range",
        lambda row: f"HEAD {row['head']} points outside the sentence ({row['length']} words)",
    )
    partly = missing & (n_missing < length)
    yield from problems(rows, partly, "HEAD missing", "HEAD is missing here, but not on the other words")
    bad = no_number | outside | missing
    if bad.any():
        bad = np.isin(words.block, words.block[bad])
        rows = rows.filter(pl.Series(~bad))
    yield from _check_trees(rows, words.head[~bad])


def _check_trees(rows: pl.DataFrame, heads: Ints) -> Iterator[Problem]:
    """One root, and no cycles, in sentences in which every word has a head."""
    if rows.is_empty():
        return
    starts = changes(rows["block"].to_numpy())
    opens = np.flatnonzero(starts)
    sizes = rows["length"].to_numpy()
    is_root = heads == 0
    roots = np.repeat(np.add.reduceat(is_root, opens, dtype=np.int64), sizes[opens])
    earlier = np.cumsum(is_root) - is_root
    second = is_root & (earlier > np.repeat(earlier[opens], sizes[opens]))
    parent = np.where(is_root, np.arange(len(heads)), np.repeat(opens, sizes[opens]) + heads - 1)
    lost = ~_reaches_root(parent, is_root) & (roots > 0)
    yield from problems(rows, starts & (roots == 0), "root", "no word has HEAD 0: the sentence has no root")
    yield from problems(rows, second, "root", "a second word with HEAD 0: a sentence has one root")
    yield from problems(rows, lost, "HEAD cycle", "the HEADs from this word run in a circle")


def _reaches_root(parent: Ints, is_root: Flags) -> Flags:
    """Whether each word comes to a root when its heads are followed; a root's parent is itself."""
    reached = is_root
    for _ in range(LARGEST.bit_length() + 1):
        if reached.all():
            break
        reached, parent = reached | reached[parent], parent[parent]
    return reached


def check_cells(rows: pl.DataFrame, words: Words, unknown_tag: Flags) -> Iterator[Problem]:
    """Cells are not empty, UPOS is one of the 17 where it is to be universal, FEATS are ``A=b|C=d``.

    Args:
        rows: all word lines.
        words: the words among them.
        unknown_tag: per word, whether UPOS is not one of the 17, and should be.
    """
    empty = rows.select(pl.any_horizontal(pl.col("form", "lemma", "upos", "deprel") == "")).to_series().to_numpy()
    yield from problems(rows, empty, "empty cell", "a column is empty; a missing value is written _")
    feats = rows["feats"]
    wrong = [value for value in feats.unique().to_list() if value not in {"", "_"} and not well_formed_feats(value)]
    if wrong:
        yield from problems(
            rows,
            feats.is_in(wrong).to_numpy(),
            "FEATS",
            lambda row: f"FEATS '{row['feats']}' is not of the form Name=Value|Name=Value",
        )
    yield from problems(words.rows, unknown_tag, "UPOS", lambda row: f"unknown UPOS '{row['upos']}'")


@lru_cache(maxsize=2**16)
def well_formed_feats(value: str) -> bool:
    """Whether FEATS are pairs ``Name=Value`` with names that differ, separated by ``|``."""
    pairs = [pair.partition("=") for pair in value.split("|")]
    names = {name for name, _, _ in pairs}
    return len(names) == len(pairs) and all(name and filled and "=" not in filled for name, _, filled in pairs)
