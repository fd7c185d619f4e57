"""Connectives of clauses that take each other's place, in both directions, where the clause after them allows it."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.edits.versions import original_and_edited
from discoprobe.builders.sentences.candidates import usable_of
from discoprobe.builders.sentences.connectives import REASONS as OF_CLAUSES
from discoprobe.builders.sentences.connectives import capitalised, clause_connectives, with_senses
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Sample
from discoprobe.loaders.languages.language import LanguageData

OTHER, SAME = CONDITIONS = ("other_sense", "same_sense")
EXCLUDE = frozenset({"reason", "concession"})
"""Senses that exclude each other: a reason for something is not an obstacle to it. Contrast (*but*) is not among them,
because it is possible between most clauses, even if one gives the reason for the other."""

REASONS = {
    **OF_CLAUSES,
    "no-exchange": "no other connective stands as often before the same word, or the pair is a control too many",
}

CONTROLS = 1 / 3
"""Share of the connectives with a counterpart of the same sense that are controls, which never outnumber the others."""


def excluding_connectives(trees: Trees, context: Context) -> pl.DataFrame:
    """Every connective that introduces a clause and has a sense that excludes another."""
    found = clause_connectives(trees.shard.sentences, context.language)
    return found.filter(pl.col("sense").is_in(EXCLUDE)).with_columns(label=pl.lit(context.labels[0]))


def with_other_connective(frame: pl.DataFrame, context: Context) -> Sample:
    """The sentences whose connective takes the place of another one, as often as the other way round."""
    usable, drops = usable_of(frame, context)
    rows = usable.join(_exchanged(usable, context), on="key", maintain_order="left")
    new = capitalised(rows["other"], rows["start"] == 0, context.language)
    rows = rows.with_columns(
        plan=pl.struct("start", end="until", new=new),
        target_form="form", target_start=pl.col("start").cast(pl.UInt32), target_end=pl.col("until").cast(pl.UInt32),
    )  # fmt: skip
    return original_and_edited(rows, context, drops | {"no-exchange": usable.height - rows.height})


def _exchanged(usable: pl.DataFrame, context: Context) -> pl.DataFrame:
    """``key``, ``other`` (the connective that replaces its own), ``condition`` and ``ring`` of every candidate used."""
    controls = hashing.unit(usable["key"].to_numpy(), "control", *context.seed_key) < CONTROLS
    senses = dict(usable.select("connective", "sense").iter_rows())
    order = hashing.ranking(usable["key"].to_numpy(), *context.seed_key)
    made: list[tuple[int, str, str, int]] = []
    columns = usable.with_columns(control=pl.Series(controls)).select("key", "connective", "frame", "control")[order]
    for _, cell in columns.group_by("frame", maintain_order=True):
        both = [*combinations(sorted(set(cell["connective"])), 2)]
        pairs = {
            OTHER: [pair for pair in both if senses[pair[0]] != senses[pair[1]]],
            SAME: [pair for pair in both if senses[pair[0]] == senses[pair[1]]],
        }
        left = cell
        for part, condition in ((cell.filter("control"), SAME), (None, OTHER), (None, SAME)):
            pool = dict((left if part is None else part).group_by("connective").agg("key").iter_rows())
            used = [(key, other, condition, ring) for key, other, ring in _swapped(pool, pairs[condition])]
            made += used
            left = left.filter(~pl.col("key").is_in([key for key, *_ in used]))
    schema: dict[str, Any] = {"key": pl.UInt64, "other": pl.String, "condition": pl.String, "ring": pl.UInt64}
    frame = pl.DataFrame(made, schema, orient="row")
    others, same = (frame.filter(condition=condition) for condition in CONDITIONS)
    return pl.concat([others, same.head(others.height)])


def _swapped(keys: Mapping[str, list[int]], pairs: list[tuple[str, str]]) -> Iterator[tuple[int, str, int]]:
    """Pairs up keys of two connectives, which then take each other's place; the largest pairs of connectives first.

    Yields the key, the connective that it gets, and the number of the ring (the first key of the two).
    """
    left = dict(keys)
    while pairs:
        n, one, other = max((min(len(left.get(one, ())), len(left.get(other, ()))), one, other) for one, other in pairs)
        if not n:
            return
        for key, exchanged in zip(left[one][:n], left[other][:n], strict=True):
            yield key, other, key
            yield exchanged, one, key
        left |= {form: left[form][n:] for form in (one, other)}


def no_exchange(language: LanguageData) -> str:
    """Why no connectives of a language can take each other's place; empty where some can."""
    senses = {(entry.sense, mood) for entry in with_senses(language) for mood in entry.moods}
    listed = any({(sense, mood) for sense in EXCLUDE} <= senses for mood in ("Ind", "Sub"))
    return "" if listed else f"no subordinators of two senses that take the same mood are listed for {language.name}"
