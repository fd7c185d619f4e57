"""A sentence of the corpus in two versions: as it is, and edited."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.sampling.stratify import cap
from discoprobe.builders.sentences.candidates import if_enough, unedited, usable_of
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Edit, Sample


def original_and_edited(frame: pl.DataFrame, context: Context, lost: Mapping[str, int] | None = None) -> Sample:
    """Two rows per candidate: the original (label 0) and its edited form (label 1), with the same ``pair``.

    ``lost`` are the candidates that the task has left out already, by reason.
    """
    usable, drops = usable_of(frame, context)
    drops |= lost or {}
    capped = cap(usable, context.settings, *context.seed_key, weight=2)
    drops |= {"over-size": usable.height - capped.height}
    return if_enough(Sample(in_two_versions(capped), drops, candidates=frame.height * 2), context.labels, context)


def in_two_versions(rows: pl.DataFrame, **edited: pl.Expr | str) -> pl.DataFrame:
    """The original (label 0) and the edited form (label 1) of each row, with its key as ``pair``.

    ``edited`` gives the columns whose values differ in the edited form.
    """
    return pl.concat(
        unedited(rows).with_columns(
            label=pl.lit(label, pl.Int64), edited=pl.lit(bool(label)), pair="key",
            key=pl.Series(hashing.mix(rows["key"].to_numpy(), "row", label)), **(edited if label else {}),
        )
        for label in (0, 1)
    )  # fmt: skip


def planned_edit(_text: str, plan: Mapping[str, Any]) -> Edit:
    """The edit that a plan describes: ``new`` takes the place of what stands from ``start`` to ``end``."""
    return Edit(plan["start"], plan["end"], plan["new"])


def word_bags(trees: Trees) -> pl.DataFrame:
    """``sent`` and ``bag``: equal for sentences of the same words in any order.

    A task that changes the order of words uses only one of them, because another could equal its edited version.
    """
    word = pl.col("form").str.to_lowercase().hash(0)
    return trees.words.group_by("sent", maintain_order=True).agg(bag=word.sum())
