"""What the shallow solvers see of a unit: counts, punctuation, capitals and shared words, as dense arrays.

Every function gives an array of shape (units, features). The texts of a unit have slots: in the order of the texts, but
the candidate of a context comes first. Texts beyond ``SLOTS`` only count in sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy import sparse

from discoprobe.builders.audit.words import lowered_words
from discoprobe.builders.grams import char_grams, tfidf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discoprobe.builders.audit.problem import Floats, Ints, Problem, Units

SLOTS = 8
"""The longest rows of the discourse tasks have seven sentences; contexts have eight."""
_FUNCTION_WORDS = 150
"""The most frequent words of train say nothing about topic."""
_WIDTH = 1 << 16
"""Columns of n-gram hashes for cosines."""

_TEXT = pl.col("text")
_QUOTES = "\"'«»„“”‘’「」『』"
LENGTH_MEASURES: Mapping[str, pl.Expr] = {
    "words": _TEXT.str.count_matches(r"\w+|[^\w\s]"),
    "characters": _TEXT.str.len_chars(),
}
_PUNCTUATION: Mapping[str, pl.Expr] = {
    name: _TEXT.str.count_matches(pattern)
    for name, pattern in {
        "commas": "[,،、，]",
        "dashes": "[-–—―]",
        "quotes": f"[{_QUOTES}]",
        "colons": "[:：]",
        "semicolons": "[;；؛]",
        "brackets": r"[()\[\]（）]",
        "stops": "[.。।]",
        "questions": "[?？؟]",
        "exclamations": "[!！]",
        "others": r"[^\w\s]",
        "ends in a stop": r"[.。।]\s*$",
        "ends in a question mark": r"[?？؟]\s*$",
        "ends in an exclamation mark": r"[!！]\s*$",
        "ends in a comma or colon": r"[,،、，:：;]\s*$",
        "ends in a quote": f"[{_QUOTES}]\\s*$",
        "begins with punctuation": r"^\s*[^\w\s]",
    }.items()
}
_CASE: Mapping[str, pl.Expr] = {
    name: _TEXT.str.count_matches(pattern)
    for name, pattern in {
        "first word": r"^\W*\p{Lu}",
        "second word": r"^\W*\w+\W+\p{Lu}",
        "third word": r"^\W*\w+\W+\w+\W+\p{Lu}",
        "first in lower case, second not": r"^\W*\p{Ll}\w*\W+\p{Lu}",
        "last word": r"\b\p{Lu}\w*\W*$",
        "words": r"\b\p{Lu}",
        "words in capitals": r"\b\p{Lu}{2,}\b",
        "letters": r"\p{Lu}",
    }.items()
}


def slots_of(problem: Problem) -> int:
    """Number of slots: texts of the longest unit, at most ``SLOTS``."""
    return min(SLOTS, int(problem.train.texts.list.len().to_numpy().max(initial=1)))


def slotted(units: Units) -> pl.DataFrame:
    """One row per text: ``unit``, ``place`` in the unit, ``slot``, ``text``."""
    frame = pl.DataFrame({"text": units.texts, "n_context": units.n_context}).with_row_index("unit")
    frame = frame.with_columns(place=pl.int_ranges(pl.col("text").list.len()), n=pl.col("text").list.len())
    frame = frame.explode("text", "place", empty_as_null=False)
    last = pl.col("place") == pl.col("n") - 1
    slot = pl.when(pl.col("n_context") == 0).then("place").when(last).then(0).otherwise(pl.col("place") + 1)
    return frame.select("unit", "place", "text", slot=slot)


def length(units: Units, slots: int) -> Floats:
    """Words and characters: of each text, their sums, differences to the first, which is longest and shortest."""
    grid = _grid(units, slots, LENGTH_MEASURES)
    features = [_flat(grid), _flat(np.log1p(grid)), grid.sum(axis=1), np.log1p(grid.sum(axis=1))]
    if slots > 1:
        features += [
            _flat(grid[:, 1:] - grid[:, :1]),
            _flat(_extreme(grid, 1)),
            _flat(_extreme(grid, -1)),
        ]
    return np.hstack([*features, _beside(grid[:, 0], units)])


def punctuation(units: Units, slots: int) -> Floats:
    """Counts of punctuation marks, and which stand at the ends, of each text and in all."""
    return _counts(units, slots, _PUNCTUATION)


def case(units: Units, slots: int) -> Floats:
    """Capitals by position, of each text and in all."""
    return _counts(units, slots, _CASE)


def _counts(units: Units, slots: int, measures: Mapping[str, pl.Expr]) -> Floats:
    grid = _grid(units, slots, measures)
    return np.hstack([_flat(grid), grid.sum(axis=1), _beside(grid[:, 0], units)])


def _grid(units: Units, slots: int, measures: Mapping[str, pl.Expr]) -> Floats:
    """Measures of texts by slot, shape (units, slots, measures); 0 where a unit has no text."""
    long = slotted(units).filter(pl.col("slot") < slots)
    values = long.select(**measures).to_numpy().astype(np.float64)
    grid = np.zeros((len(units.y), slots, len(measures)))
    grid[long["unit"].to_numpy(), long["slot"].to_numpy()] = values
    return grid


def _flat(grid: Floats) -> Floats:
    return grid.reshape(len(grid), -1)


def _extreme(grid: Floats, sign: int) -> Floats:
    """1 where a slot holds the largest (smallest, with sign -1) value of its unit."""
    found = np.zeros_like(grid)
    np.put_along_axis(found, np.expand_dims((sign * grid).argmax(axis=1), 1), 1.0, axis=1)
    return found


def _beside(values: Floats, units: Units) -> Floats:
    """How values differ from the mean of the row's other candidates, and whether they are its largest or smallest."""
    n_rows = int(units.row.max(initial=-1)) + 1
    if n_rows == len(units.row):
        return np.empty((len(values), 0))
    largest, smallest = np.full((n_rows, values.shape[1]), -np.inf), np.full((n_rows, values.shape[1]), np.inf)
    np.maximum.at(largest, units.row, values)
    np.minimum.at(smallest, units.row, values)
    sums = np.zeros_like(largest)
    np.add.at(sums, units.row, values)
    mean = sums / np.bincount(units.row)[:, None]
    extremes = [values == bound[units.row] for bound in (largest, smallest)]
    return np.hstack([values - mean[units.row], *extremes])


def shared_words(problem: Problem, units: Units, slots: int) -> Floats:
    """For each text the share of its content words that the row's other texts have, and that the next text has.

    Then mean and minimum, and which text shares least. Content words are all but the most frequent 150 of train.
    """
    words = _content(problem, units)
    elsewhere = words.with_columns(shared=pl.len().over("unit", "word") > 1)
    following = words.select("unit", "word", place=pl.col("place") - 1, following=pl.lit(value=True))
    both = elsewhere.join(following, on=["unit", "word", "place"], how="left").with_columns(
        pl.col("following").fill_null(value=False)
    )
    shares = both.group_by("unit", "slot").agg(pl.col("shared", "following").mean()).filter(pl.col("slot") < slots)
    grid = np.zeros((len(units.y), slots, 2))
    grid[shares["unit"].to_numpy(), shares["slot"].to_numpy()] = shares.select("shared", "following").to_numpy()
    least = _extreme(grid[:, :, :1], -1)
    return np.hstack([_flat(grid), grid.mean(axis=1), grid.min(axis=1), _flat(least), _beside(grid[:, 0], units)])


def _content(problem: Problem, units: Units) -> pl.DataFrame:
    """Content words of texts, each once per text: ``unit``, ``place``, ``slot``, ``word``."""
    frequent = (
        _words(problem.train, unspaced=problem.unspaced)["word"].value_counts().sort(["count", "word"], descending=True)
    )
    return _words(units, unspaced=problem.unspaced).join(frequent.head(_FUNCTION_WORDS), on="word", how="anti")


def _words(units: Units, *, unspaced: bool) -> pl.DataFrame:
    words = lowered_words(_TEXT, unspaced=unspaced).list.unique()
    return slotted(units).select("unit", "place", "slot", word=words).explode("word", empty_as_null=False)


def cosine(problem: Problem) -> tuple[Floats, Floats]:
    """How similar the last text of each train and test unit is to its others together (TF-IDF of character n-grams)."""
    sides = [_last_and_others(units.texts) for units in (problem.train, problem.test)]
    train_last, train_others = (char_grams(side, _WIDTH) for side, _ in sides[0])
    test_last, test_others = (char_grams(side, _WIDTH) for side, _ in sides[1])
    _, *weights = tfidf(
        sparse.csr_array(sparse.vstack([train_last, train_others])), train_last, train_others, test_last, test_others
    )
    (_, a_last), (_, a_others) = sides[0]
    (_, b_last), (_, b_others) = sides[1]
    return _dots(weights[0], a_last, weights[1], a_others), _dots(weights[2], b_last, weights[3], b_others)


def _last_and_others(texts: pl.Series) -> tuple[tuple[pl.Series, Ints], tuple[pl.Series, Ints]]:
    """Distinct last texts and distinct joined other texts, each with the index of every unit's."""
    columns = texts.to_frame("texts").select(
        last=pl.col("texts").list.last(),
        others=pl.col("texts").list.slice(0, pl.col("texts").list.len() - 1).list.join(" "),
    )
    return _distinct(columns["last"]), _distinct(columns["others"])


def _distinct(texts: pl.Series) -> tuple[pl.Series, Ints]:
    number = texts.rank("dense").to_numpy().astype(np.int64) - 1
    return texts.unique().sort(), number


def _dots(left: sparse.csr_array, i: Ints, right: sparse.csr_array, j: Ints) -> Floats:
    return np.asarray((left[i] * right[j]).sum(axis=1)).ravel()
