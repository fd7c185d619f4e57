"""The relations of RST trees as candidates, labelled with their class or with their nucleus."""

from typing import Final

import polars as pl

from discoprobe.builders.task import Context
from discoprobe.builders.units.binary_trees import SEVERAL, binary_relations
from discoprobe.builders.units.relation_labels import class_of
from discoprobe.builders.units.relation_rows import candidates
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.keys import record_keys

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
