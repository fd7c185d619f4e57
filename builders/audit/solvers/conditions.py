"""What may hold of a unit: the conditions that single rules are made of, each in the words of a person.

``token_conditions`` and ``surface_conditions`` are those of two solvers. ``all_conditions`` are those that rules are
mined from: words and where they are, lengths of a text and of the difference of two, marks such as commas, and what two
texts have in common (the heuristics of Iazykova et al. 2021).
"""

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from discoprobe.builders.audit.solvers.classifiers import Floats, Ints
from discoprobe.builders.audit.solvers.features import LENGTH_MEASURES, PUNCTUATION, SURFACE, SURFACE_PATTERNS, Features
from discoprobe.builders.audit.solvers.problem import Problem
from discoprobe.loaders.corpus import exploded

COVERAGE = 0.02
"""Least share of units that a rule applies to; rarer ones cannot carry a score."""
_QUANTILES = np.arange(1, 10) / 10
_DISTINCT = 20
"""Most values of a count of which each is a threshold; of more, so many quantiles are."""
_FEW_TEXTS = 3
"""Of so many texts each two are compared; of more, neighbours."""
_STEPS = 20
"""Steps of a share of words: 5 %."""
_LOOKED_AT = 1_000
"""Texts whose characters show which of several code points a way of writing is about."""

_TEXT = pl.col("text")
_FAMILIES = (
    "part", "punctuation", "first word", "last word", "word of a text", "token", "word of one text", "word of both",
    "bigram", "length", "difference", "overlap",
)  # fmt: skip
"""Families of conditions: of several that hold of the same units, the first one is the simplest to say."""
_MARKS = {
    "comma": PUNCTUATION["commas"], "dash": PUNCTUATION["dashes"], "quotation mark": PUNCTUATION["quotes"],
    "colon": PUNCTUATION["colons"], "semicolon": PUNCTUATION["semicolons"], "bracket": PUNCTUATION["brackets"],
    "question mark": PUNCTUATION["questions"], "exclamation mark": PUNCTUATION["exclamations"],
    "number": _TEXT.str.count_matches(r"\d+"),
}  # fmt: skip
"""What is counted in a text, by its name in the singular."""
_LENGTHS = {"word": _TEXT.str.count_matches(r"\w+"), "character": LENGTH_MEASURES["characters"]}


class Conditions(msgspec.Struct, frozen=True):
    """Which condition holds of which unit.

    Attributes:
        family: of each condition.
        text: each condition in words.
        holds: 1 where it holds, shape (units, conditions).
    """

    family: tuple[str, ...]
    text: tuple[str, ...]
    holds: sparse.csc_array

    def __add__(self, other: "Conditions") -> "Conditions":
        holds = sparse.csc_array(sparse.hstack([self.holds, other.holds]))
        return Conditions(self.family + other.family, self.text + other.text, holds)

    def column(self, number: int, units: Ints) -> npt.NDArray[np.bool_]:
        """Whether a condition holds of each of some units."""
        return np.asarray(self.holds[:, [number]].toarray().ravel()[units] > 0)


def token_conditions(problem: Problem, features: Features) -> Conditions:
    """Tokens anywhere, or first or last in a text, that at least 2 % of the units have."""
    several = features.slots > 1 and not problem.choice
    where = pl.format(" of {}", _named(name_texts(problem, features))) if several else pl.lit("")
    form = features.token_of(pl.col("key"))
    at_end = pl.format("'{}' is the {}{}", form, "family", where)
    parts = [_frequent(features.tokens.select("unit", key="written"), "token", pl.format("'{}' occurs", form), problem)]
    ends = features.ends()
    for name, column in (("first word", "first_written"), ("last word", "last_written")):
        parts.append(_frequent(ends.select("unit", "slot", key=column), name, at_end, problem))
    return _conditions(parts, problem)


def bigram_conditions(problem: Problem, features: Features) -> Conditions:
    """Neighbouring tokens that at least 2 % of the units have."""
    n = len(features.vocabulary)
    pair = pl.col("written").cast(pl.UInt64) * n + pl.col("next_written")
    entries = features.tokens.drop_nulls("next_written").select("unit", key=pair)
    text = pl.format("'{} {}' occurs", features.token_of(pl.col("key") // n), features.token_of(pl.col("key") % n))
    return _conditions([_frequent(entries, "bigram", text, problem)], problem)


def _frequent(entries: pl.DataFrame, family: str, condition: pl.Expr, problem: Problem) -> pl.DataFrame:
    """What enough units have: ``family``, ``condition``, list of ``unit``; ``entries``: a ``unit`` and what it has."""
    keys = [name for name in entries.columns if name != "unit"]
    distinct = entries.unique()
    frequent = distinct.group_by(keys).len().filter(pl.col("len") >= max(2, COVERAGE * len(problem.y)))
    units = distinct.join(frequent, on=keys).group_by(keys).agg("unit")
    return units.with_columns(family=pl.lit(family)).select("family", "unit", condition=condition)


def _conditions(parts: Sequence[pl.DataFrame], problem: Problem) -> Conditions:
    """Conditions of what is frequent, most frequent first."""
    rows = pl.concat(parts).with_columns(n=pl.col("unit").list.len())
    rows = rows.sort("n", "family", "condition", descending=[True, False, False])
    units, shape = exploded(rows.select("unit"), "unit")["unit"].to_numpy(), (len(problem.y), rows.height)
    starts = np.concatenate([[0], np.cumsum(rows["n"].to_numpy())])
    holds = sparse.csc_array((np.ones(len(units)), units, starts), shape=shape)
    return Conditions(tuple(rows["family"]), tuple(rows["condition"]), holds)


def all_conditions(problem: Problem, features: Features, tokens: Conditions) -> Conditions:
    """Everything that rules are mined from; of conditions that hold of the same units, the simplest comes first.

    Args:
        problem: whose units they are.
        features: of these units.
        tokens: ``token_conditions``.
    """
    of_words = [tokens, bigram_conditions(problem, features)]
    if features.slots > 1 and not problem.choice:
        of_words.append(place_conditions(problem, features))
    counted = [*_counts(problem, features), *_comparisons(problem, features)]
    counted = [condition for condition in counted if COVERAGE <= condition[2].mean() < 1]
    where = [np.flatnonzero(holds) for _, _, holds in counted]
    starts = np.cumsum([0, *map(len, where)])
    inside = (np.ones(starts[-1]), np.concatenate([np.empty(0, np.int64), *where]), starts)
    holds = sparse.csc_array(inside, shape=(len(problem.y), len(where)))
    every = Conditions(tuple(family for family, _, _ in counted), tuple(text for _, text, _ in counted), holds)
    for conditions in of_words:
        every += conditions
    order = sorted(range(len(every.text)), key=lambda number: _FAMILIES.index(every.family[number]))
    family, text = (tuple(names[number] for number in order) for names in (every.family, every.text))
    return Conditions(family, text, sparse.csc_array(every.holds[:, order]))


def name_texts(problem: Problem, features: Features) -> list[str]:
    """What a person calls the text of each slot: ``the text``, ``text 2``, ``the choice``, ``the context``."""
    if (problem.n_context == 0).all():
        only = "the choice" if problem.choice else "the text"
        return [f"text {slot + 1}" for slot in range(features.slots)] if features.slots > 1 else [only]
    context = [f"text {slot} of the context" for slot in range(1, features.slots)]
    return ["the choice" if problem.choice else "the candidate", *(context if len(context) > 1 else ["the context"])]


def place_conditions(problem: Problem, features: Features) -> Conditions:
    """Tokens of each of several texts; of two texts also those that are in one of them only, and in both."""
    entries = features.tokens.select("unit", "slot", key="written").unique()
    of_texts = name_texts(problem, features)
    form, where, elsewhere = features.token_of(pl.col("key")), _named(of_texts), _named(of_texts[::-1])
    parts = [_frequent(entries, "word of a text", pl.format("'{}' is in {}", form, where), problem)]
    if features.slots == 2:  # noqa: PLR2004
        texts = entries.with_columns(n=pl.len().over("unit", "key"))
        alone, both = (texts.filter(pl.col("n") == n).drop("n") for n in (1, 2))
        only = pl.format("'{}' is in {} and not in {}", form, where, elsewhere)
        parts.append(_frequent(alone, "word of one text", only, problem))
        parts.append(_frequent(both.drop("slot"), "word of both", pl.format("'{}' is in both texts", form), problem))
    return _conditions(parts, problem)


def _named(of_texts: Sequence[str]) -> pl.Expr:
    """The name of the text in each ``slot``."""
    return pl.lit(pl.Series(of_texts, dtype=pl.String)).gather(pl.col("slot"))


_Condition: TypeAlias = tuple[str, str, npt.NDArray[np.bool_]]
"""The family of a condition, the condition in words, and whether it holds of each unit."""


def _counts(problem: Problem, features: Features) -> Iterator[_Condition]:
    """Words, characters and marks of each text that is read, and of the texts of a unit together."""
    of_texts = name_texts(problem, features)[: len(features.read_slots)]
    lengths = {name: measure for name, measure in _LENGTHS.items() if name != "word" or not problem.unspaced}
    grid = features.grid(lengths | _MARKS)
    for number, name in enumerate(lengths | _MARKS):
        family = "length" if name in lengths else "punctuation"
        subjects = {f"{of_text} has": grid[:, slot, number] for slot, of_text in enumerate(of_texts)}
        if name == "word":
            for subject, values in subjects.items():
                yield family, f"{subject} an odd number of words", values % 2 == 1
                yield family, f"{subject} an even number of words", values % 2 == 0
        if len(of_texts) > 1:
            subjects["the texts together have"] = grid[:, :, number].sum(axis=1)
        for subject, values in subjects.items():
            for bound, more, holds in _thresholds(values):
                yield family, f"{subject} {_amount(bound, name, more=more)}", holds
        if problem.choice:
            yield from _extremes(problem, grid[:, 0, number], family, f"{name}s")


def _thresholds(values: Floats) -> Iterator[tuple[float, bool, npt.NDArray[np.bool_]]]:
    """Values of a measure, and of which units it is at least (True) or at most (False) as large."""
    distinct = np.unique(values)
    if len(distinct) > _DISTINCT:
        distinct = np.unique(np.quantile(values, np.arange(1, _DISTINCT) / _DISTINCT, method="inverted_cdf"))
    for bound in distinct.tolist():
        yield bound, True, values >= bound
        yield bound, False, values <= bound


def _amount(bound: float, name: str, *, more: bool) -> str:
    """``a comma``, ``at least 2 commas``, with ``more``; ``no comma``, ``at most 1 comma``, without."""
    if bound == more:
        return f"a {name}" if more else f"no {name}"
    return f"{'at least' if more else 'at most'} {bound:.0f} {name}{'s' * (bound != 1)}"


def _extremes(problem: Problem, values: Floats, family: str, what: str) -> Iterator[_Condition]:
    """That a choice has more of something than every other choice of its row, or less."""
    for sign, name in ((1, "most"), (-1, "fewest")):
        largest = np.full(int(problem.row.max()) + 1, -np.inf)
        np.maximum.at(largest, problem.row, sign * values)
        at_largest = sign * values == largest[problem.row]
        alone = np.bincount(problem.row, weights=at_largest)[problem.row] == 1
        yield family, f"the choice has the {name} {what}", at_largest & alone


class _Side(msgspec.Struct, frozen=True):
    """One of two sides that are compared in each unit: a text, or all texts of a context.

    Attributes:
        name: what a person calls it.
        text: of each unit, in lower case, without marks at its ends; empty if it has none.
        words: ``unit`` and ``word``, each once.
        n: number of these words, shape (units,).
        lengths: number of words (characters, in scripts without spaces), shape (units,).
    """

    name: str
    text: pl.Series
    words: pl.DataFrame
    n: Ints
    lengths: Floats


def _comparisons(problem: Problem, features: Features) -> Iterator[_Condition]:
    """What texts have in common: each two of three, neighbours of more, a candidate and its context."""
    if features.slots == 1:
        return
    of_texts = name_texts(problem, features)
    name = "character" if problem.unspaced else "word"
    lengths = features.grid({name: _LENGTHS[name]})[:, :, 0]
    units = pl.DataFrame({"unit": pl.int_range(len(problem.y), dtype=pl.UInt32, eager=True)})
    plain = _TEXT.str.join(" ").str.to_lowercase().str.replace_all(r"\s+", " ").str.replace_all(r"^\W+|\W+$", "")

    def side(slots: list[int], called: str) -> _Side:
        inside = pl.col("slot").is_in(slots)
        joined = features.slotted.filter(inside).sort("unit", "slot").group_by("unit", maintain_order=True).agg(plain)
        text = units.join(joined, on="unit", how="left", maintain_order="left")["text"].fill_null("")
        words = features.lowered.filter(inside).select("unit", "word").unique()
        n = np.bincount(words["unit"], minlength=len(problem.y))
        return _Side(called, text, words, n, lengths[:, slots].sum(axis=1))

    if (problem.n_context == 0).all():
        sides = [side([slot], called) for slot, called in enumerate(of_texts)]
        numbered = list(enumerate(sides))
        for (a, first), (b, second) in combinations(numbered, 2) if len(sides) <= _FEW_TEXTS else pairwise(numbered):
            both = "the texts" if len(sides) == 2 else f"{first.name} and {second.name}"  # noqa: PLR2004
            yield from _compare(first, second, both, name)
            yield from _same_ends(problem, features, (a, b), both)
        return
    context = side(list(range(1, features.slots)), "the context")
    yield from _compare(candidate := side([0], of_texts[0]), context, f"{of_texts[0]} and the context", name)
    if problem.choice:
        shared = _shared_words(candidate, context).astype(np.float64)
        yield from _extremes(problem, shared, "overlap", "words in common with the context")


def _shared_words(a: _Side, b: _Side) -> Ints:
    """How many different words the two sides of each unit have in common."""
    return np.bincount(a.words.join(b.words, on=["unit", "word"])["unit"], minlength=len(a.n))


def _compare(a: _Side, b: _Side, both: str, unit: str) -> Iterator[_Condition]:
    """Whether one text is a part of the other, which words they have in common, and which one is longer."""
    there = (a.n > 0) & (b.n > 0)
    yield "part", f"{both} are equal", (a.text == b.text).to_numpy() & there
    texts, shared = pl.DataFrame({a.name: a.text, b.name: b.text}), _shared_words(a, b)
    for part, whole in ((a, b), (b, a)):
        contains = texts.select(pl.col(whole.name).str.contains(pl.col(part.name), literal=True)).to_series()
        yield "part", f"{part.name} is a part of {whole.name}", contains.to_numpy() & there
    for part, whole in ((a, b), (b, a)):
        yield "part", f"all words of {part.name} are in {whole.name}", (shared == part.n) & there
    for bound, more, holds in _thresholds(shared.astype(np.float64)):
        yield "overlap", f"{both} have {_amount(bound, 'word', more=more)} in common", holds
    for bound, more, holds in _thresholds((a.n + b.n - 2 * shared).astype(np.float64)):
        verb = "is" if bound == more else "are"
        yield "overlap", f"{_amount(bound, 'word', more=more)} {verb} in one of {both} only", holds
    for part, whole in ((a, b), (b, a)):
        share = np.floor(_STEPS * shared / np.maximum(part.n, 1)) / _STEPS
        for bound, more, holds in _thresholds(share):
            text = f"{bound:.0%} or {'more' if more else 'fewer'} of the words of {part.name} are in {whole.name}"
            yield "overlap", text, holds
    yield "difference", f"{both} have the same number of {unit}s", a.lengths == b.lengths
    for longer, shorter in ((a, b), (b, a)):
        difference = longer.lengths - shorter.lengths
        yield "difference", f"{longer.name} has more {unit}s than {shorter.name}", difference > 0
        for bound, more, holds in _thresholds(np.maximum(difference, 0)):
            if more and bound > 1:
                yield "difference", f"{longer.name} has at least {bound:.0f} {unit}s more than {shorter.name}", holds


def _same_ends(problem: Problem, features: Features, slots: tuple[int, int], both: str) -> Iterator[_Condition]:
    """Whether two texts have the same first, or the same last word."""
    ends = features.ends()
    first, second = (ends.filter(pl.col("slot") == slot).select("unit", "first", "last") for slot in slots)
    joined = first.join(second, on="unit", suffix="_second")
    for name in ("first", "last"):
        same = joined.filter(pl.col(name) == pl.col(f"{name}_second"))["unit"]
        yield "part", f"{both} have the same {name} word", np.bincount(same, minlength=len(problem.y)) > 0


def surface_conditions(problem: Problem, features: Features) -> Conditions:
    """Ways of writing that a text of a unit has at all, or as often as a decile of texts; in 2 % of the units at least.

    A way of writing is named with the characters that are most often meant: ``blank at the end (U+0020 SPACE)``.
    """
    several, text, holds = features.slots > 1 and not problem.choice, [], []
    for slot in range(1 if problem.choice else features.slots):
        where = f" in text {slot + 1}" if several else ""
        texts = features.slotted.filter(pl.col("slot") == slot)
        for number, name in enumerate(SURFACE):
            values = features.surface[:, slot, number]
            if not values.any():
                continue
            bounds = [bound for bound in np.unique([1, *np.quantile(values, _QUANTILES).round()]) if bound]
            often = [bound for bound in bounds if COVERAGE <= (values >= bound).mean() < 1]
            if not often:
                continue
            written = texts.filter(pl.col("unit").is_in(np.flatnonzero(values)[:_LOOKED_AT]))["text"]
            named = _with_characters(name, written) + where
            text += [named if bound == 1 else f"at least {bound:.0f} times {named}" for bound in often]
            holds += [values >= bound for bound in often]
    columns = np.column_stack(holds).astype(np.float64) if holds else np.empty((len(problem.y), 0))
    return Conditions(("surface",) * len(text), tuple(text), sparse.csc_array(columns))


def _with_characters(name: str, texts: pl.Series) -> str:
    """A way of writing with the characters that are most often written so in texts that have it."""
    if name not in SURFACE_PATTERNS:
        return name
    matches = texts.str.extract_all(SURFACE_PATTERNS[name]).explode().value_counts(sort=True)[:, 0]
    match = str(matches[0])
    marks = [mark for mark in dict.fromkeys(match) if not mark.isalnum()] or dict.fromkeys(match)
    points = " and ".join(f"U+{ord(mark):04X} {unicodedata.name(mark, '')}".strip() for mark in marks)
    return points if name.startswith("U+") else f"{name} ({points})"
