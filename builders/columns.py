"""The columns of the frames that pass from one step of a build to the next, and their check.

A frame may have more columns than its schema names. The errors are for the author of a task: a user never sees them.
"""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from discoprobe.builders.config import Shape
from discoprobe.builders.sampling.splits import Split

INTEGER: Final = "an integer"

PROBING_CANDIDATES: Final = {"sent": pl.UInt32, "label": pl.String}
"""What ``ProbingTask.select`` returns. ``label`` is a name. Further columns with a meaning: ``target`` (row of the word
in ``Trees.words``), ``cell`` (labels are balanced inside each value), ``plan`` (a struct for ``edit``) and
``hindrance`` (the reason why a candidate may not be used, null if it may)."""

_ROWS: Final = {"key": pl.UInt64, "pair": pl.UInt64, "label": pl.Int64, "split": Split, "row": INTEGER}
"""``key`` is unique; ``pair`` is null where there are no pairs; ``label`` is an index; ``row`` is the candidate that
gives corpus and document."""

PROBING_ROWS: Final = {**_ROWS, "edited": pl.Boolean}
"""What ``ProbingTask.sample`` returns: ``edited`` says whether the text is shown as ``edit`` makes it."""

DISCOURSE_ROWS: Final = {
    **_ROWS, "members": pl.List(pl.Int64), "order": pl.List(pl.Int32), "position": pl.Int32,
}  # fmt: skip
"""What ``DiscourseTask.sample`` returns: ``members`` are the rows of the sentences shown, ``order`` their source order,
``position`` the edited place (-1 if none). Choices also have ``n_context``, how many of the members are the context;
``distractor`` says where wrong sentences come from (a string, or one per choice);
``trim`` is the number of characters that the last sentence loses at its beginning. Rows that show one sentence also
have ``n_words``, and may have a ``stratum`` inside whose values labels are balanced."""

SHAPE_ROWS: Final = {Shape.SENTENCE: {"n_words": INTEGER}, Shape.CHOICE: {"n_context": INTEGER}}
"""What ``DiscourseTask.sample`` returns beside ``DISCOURSE_ROWS``, for some shapes of rows."""

RELATION_CANDIDATES: Final = {
    "doc": pl.UInt32, "sentence1": pl.String, "sentence2": pl.String, "label": pl.String, "reason": pl.String,
    "direction": pl.String, "rel_type": pl.String, "orig_label": pl.String, "removed": pl.String,
    "native": pl.String, "ids": pl.List(pl.String), "key": pl.UInt64,
}  # fmt: skip
"""What ``RelationTask.select`` returns: the texts of both units in their order, ``label`` (the name), ``reason`` (why
the candidate cannot be used, null if it can), ``native`` (the published split) and what the row shows beside."""

RELATION_ROWS: Final = {**_ROWS, "sentence1": pl.String, "sentence2": pl.String}
"""What ``RelationTask.sample`` returns, beside the columns of the candidates."""


def crossed(rows: pl.DataFrame) -> bool:
    """Whether every ``group`` of a suite has one row of each ``condition``, of which there are several: an item."""
    n = rows["condition"].n_unique()
    groups = rows.group_by("group").agg(rows=pl.len(), conditions=pl.col("condition").drop_nulls().n_unique())
    return n > 1 and bool(((groups["rows"] == n) & (groups["conditions"] == n)).all())


def checked(frame: pl.DataFrame, schema: Mapping[str, Any], origin: str) -> pl.DataFrame:
    """The frame itself, if it has every column of a schema.

    Args:
        frame: what a task returned.
        schema: one of the schemas of this module.
        origin: what returned it, for the message.

    Raises:
        TypeError: a column is missing or has another type, or a ``key`` occurs twice.
    """
    for name, kind in schema.items():
        dtype = frame.schema.get(name)
        fits = dtype is not None and (dtype.is_integer() if kind is INTEGER else dtype == kind)
        if not fits:
            returned = f"no column {name}" if dtype is None else f"{name}: {dtype}"
            raise TypeError(f"{origin} returned {returned}; expected {name}: {kind}")
    if "key" in schema and frame["key"].n_unique() < frame.height:
        raise TypeError(f"{origin} returned rows with equal keys")
    return frame
