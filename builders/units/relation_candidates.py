"""Relations of DISRPT and of RST trees as candidates, labelled with a class, the nucleus or a connective."""

from typing import Final

import polars as pl

from discoprobe.builders.sentences.connectives import capitalised, lower
from discoprobe.builders.task import Context
from discoprobe.builders.units.binary_trees import SEVERAL, binary_relations
from discoprobe.builders.units.relation_labels import LABELS, class_of
from discoprobe.builders.units.relation_rows import candidates
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.keys import record_keys
from discoprobe.loaders.languages.language import LanguageData


def published(shard: Shard, _context: Context) -> pl.DataFrame:
    """All relations of a shard, labelled with the class of DISRPT that the table gives or its label belongs to."""
    return candidates(with_units(shard.relations).with_columns(label=_class()))


def with_units(relations: pl.DataFrame) -> pl.DataFrame:
    """Relations with their units in the columns of a row."""
    return relations.rename({"unit1": "sentence1", "unit2": "sentence2"})


def _class() -> pl.Expr:
    known = pl.col("label").is_in(LABELS)
    return pl.when(known).then("label").otherwise(pl.col("label").map_elements(class_of, return_dtype=pl.String))


NUCLEARITY: Final = {"NS": "nucleus_first", "SN": "nucleus_second", "NN": "both"}
SAME_UNIT: Final = r"(?i)^same(?:[-_ ]?unit)?$"
"""How corpora name the relation of the parts of a unit that another interrupts (PCC *sameunit*, PRSTC *same*)."""
WRITTEN_CLOSE: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\x{2010}-\x{2027}\x{3000}-\x{303F}\x{FF00}-\x{FFEF}]"
"""Characters of Chinese and Japanese, with their punctuation, beside which the texts of trees have blanks."""


def by_class(shard: Shard, context: Context) -> pl.DataFrame:
    """The relations of a shard's trees with their class."""
    return _labelled(shard, context, pl.col("orig_label").map_elements(class_of, return_dtype=pl.String))


def by_nuclearity(shard: Shard, context: Context) -> pl.DataFrame:
    """The relations of a shard's trees with their nucleus."""
    return _labelled(shard, context, pl.col("nuclearity").replace_strict(NUCLEARITY, return_dtype=pl.String))


def _labelled(shard: Shard, context: Context, label: pl.Expr) -> pl.DataFrame:
    documents = shard.documents.select("doc", document=pl.col("key").cast(pl.String))
    found = binary_relations(shard.rst_nodes).join(documents, on="doc", maintain_order="left")
    nodes = [found["ids"].list.get(n) for n in (0, 1)]
    relations = found.select(
        "doc", "orig_label", "ids", label=label, direction="nuclearity",
        sentence1=_text("unit1", context), sentence2=_text("unit2", context),
        reason=pl.coalesce(
            pl.when(pl.col("orig_label").str.contains(SAME_UNIT)).then(pl.lit("same-unit")),
            pl.when(pl.col("orig_label") == SEVERAL).then(pl.lit("several-labels")),
            pl.when(~pl.col("adjacent")).then(pl.lit("not-adjacent")),
        ),
        rel_type=pl.lit(None, pl.String), native=pl.lit(None, pl.String),
        key=record_keys(found["document"], *nodes),
    )  # fmt: skip
    return candidates(relations)


def _text(unit: str, context: Context) -> pl.Expr:
    """A unit; if it is words with blanks between them, without those that the script of the language does not have."""
    if context.language.spaces:
        return pl.col(unit)
    close = pl.col(unit).str.replace_all(rf"({WRITTEN_CLOSE}) +", "$1").str.replace_all(rf" +({WRITTEN_CLOSE})", "$1")
    return pl.when("as_written").then(unit).otherwise(close)


CONNECTIVE_REASONS: Final = {
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
    bare = pl.select(units.str.slice(leads.fill_null(0)).str.strip_chars_start(" ,،、，…")).to_series()
    return capitalised(bare, units.str.contains(r"^\p{Uppercase}"), language)
