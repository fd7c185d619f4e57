"""Explicit relations as candidates, whose label is the connective that was taken away."""

from typing import Final

import polars as pl

from discoprobe.builders.sentences.connectives import lower
from discoprobe.builders.task import Context
from discoprobe.builders.units.relation_rows import candidates
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.languages.language import LanguageData

REASONS: Final = {
    "not-explicit": "no connective marks the relation",
    "connective-inside": "the connective does not stand at the beginning of a unit",
    "two-connectives": "both units begin with a connective, and the first depends on the second",
}


def without_connective(shard: Shard, context: Context) -> pl.DataFrame:
    """All relations of a shard; the explicit ones without the connective that their second (or first) unit begins with.

    Where both units begin with one, that of the first mostly joins it to what is before.
    """
    second = pl.col("lead2").is_not_null()
    frame = shard.relations.with_columns(
        lead=pl.coalesce("lead2", "lead1"), bare=pl.when(second).then("unit2").otherwise("unit1")
    )
    frame = frame.with_columns(removed=pl.col("bare").str.head("lead")).with_columns(
        rest=_rest(frame["bare"], frame["lead"], context.language)
    )
    explicit = pl.col("rel_type") == "explicit"
    return candidates(
        frame.with_columns(
            label=lower(pl.col("removed"), context.language),
            reason=pl.coalesce(
                pl.when(~explicit.fill_null(value=False)).then(pl.lit("not-explicit")),
                pl.when(pl.col("lead").is_null()).then(pl.lit("connective-inside")),
                pl.when(second, pl.col("lead1").is_not_null(), pl.col("direction") == "1>2").then(
                    pl.lit("two-connectives")
                ),
            ),
            sentence1=pl.when(second).then("unit1").otherwise("rest"),
            sentence2=pl.when(second).then("rest").otherwise("unit2"),
        )
    )


def _rest(units: pl.Series, leads: pl.Series, language: LanguageData) -> pl.Series:
    """The units after their connectives and a comma; with a capital where the connective had one."""
    shown = []
    for unit, lead in zip(units, leads, strict=True):
        rest = unit[lead or 0 :].lstrip(" ,،、，…")
        shown.append(language.capitalise(rest) if unit[:1].isupper() else rest)
    return pl.Series(shown, dtype=pl.String)
