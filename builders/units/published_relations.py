"""The relations that a corpus of DISRPT publishes, as candidates."""

from typing import Final

import polars as pl

from discoprobe.builders.papers import Paper
from discoprobe.builders.task import Context
from discoprobe.builders.units.relation_labels import LABELS, class_of
from discoprobe.builders.units.relation_rows import candidates
from discoprobe.loaders.corpus import Shard

DISRPT: Final = Paper(
    ("DISRPT",),
    "Braud, Zeldes, Rivière, Liu, Muller, Sileo & Aoyama 2024. DISRPT: A Multilingual, Multi-domain, Cross-framework "
    "Benchmark for Discourse Processing. LREC-COLING.",
    "https://aclanthology.org/2024.lrec-main.447",
)


def published(shard: Shard, _context: Context) -> pl.DataFrame:
    """All relations of a shard with their class: that of the table, or what its own name stands for."""
    return candidates(with_units(shard.relations).with_columns(label=_class()))


def with_units(relations: pl.DataFrame) -> pl.DataFrame:
    """Relations with their units in the columns of a row."""
    return relations.rename({"unit1": "sentence1", "unit2": "sentence2"})


def _class() -> pl.Expr:
    known = pl.col("label").is_in(LABELS)
    return pl.when(known).then("label").otherwise(pl.col("label").map_elements(class_of, return_dtype=pl.String))
