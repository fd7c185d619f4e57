"""Is the sentence that ends a passage more probable than another one?

Story Cloze in the form of CoherenceGym (Beyer et al. 2021), on running text: rows as in `cloze`, with texts of their
own. Four consecutive sentences and the next one (good), or another one in its place (bad) that is as long, shares about
as many words with the passage, and is used once: from later in the same document or from another document, as `label`
says. Every sentence is a region, and the fifth is compared.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import polars as pl

from discoprobe.builders.discourse import cloze
from discoprobe.builders.discourse.order_last import PAPER
from discoprobe.builders.passages.continuations import CONTEXT, ORIGINS

if TYPE_CHECKING:
    from discoprobe.builders.task import Context, Sample


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """The rows of `cloze`, with the origin of the wrong ending as the condition."""
    found = cloze.sample(frame, context)
    if found.rows.is_empty():
        return found
    origin = pl.col("distractor").list.drop_nulls().list.first()
    return dataclasses.replace(found, rows=found.rows.with_columns(condition=origin))


TASK = dataclasses.replace(cloze.TASK, sample=sample, conditions=ORIGINS, region=CONTEXT + 1, papers=(PAPER,))
